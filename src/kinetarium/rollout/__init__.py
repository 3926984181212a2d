"""The one simulation loop."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.rollout.loop import ContactPoints as ContactPoints
    from kinetarium.rollout.loop import ContactProbe as ContactProbe
    from kinetarium.rollout.loop import End as End
    from kinetarium.rollout.loop import Probe as Probe
    from kinetarium.rollout.loop import Rollout as Rollout
    from kinetarium.rollout.loop import RunError as RunError
    from kinetarium.rollout.loop import run as run
    from kinetarium.rollout.many import OpenLoopSimulation as OpenLoopSimulation
    from kinetarium.rollout.many import RolloutResult as RolloutResult
    from kinetarium.rollout.many import run_many as run_many
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
