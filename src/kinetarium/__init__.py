"""Kinetarium: a proving ground for robots.

One robot, every physics engine, and the studies robot engineers run on them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetarium.batch.check_study import check_study as check_study
    from kinetarium.batch.studies import list_studies as list_studies
    from kinetarium.batch.sweep import sweep as sweep
    from kinetarium.engines.conformance import check_engine as check_engine
    from kinetarium.engines.registry import list_engines as list_engines
    from kinetarium.errors import KinetariumError as KinetariumError
    from kinetarium.model.findings import Allowance as Allowance
    from kinetarium.model.findings import RobotFileError as RobotFileError
    from kinetarium.model.load import load_robot as load_robot
    from kinetarium.model.robot import RobotModel as RobotModel
    from kinetarium.recording.recording import Recording as Recording
    from kinetarium.rollout.loop import run as run
    from kinetarium.scene import Scene as Scene
    from kinetarium.studies.dynamics.override import Override as Override
    from kinetarium.studies.dynamics.verify import verify_dynamics as verify_dynamics

__version__ = "0.1.0"

_HOMES = {
    "Allowance": "kinetarium.model.findings",
    "KinetariumError": "kinetarium.errors",
    "Override": "kinetarium.studies.dynamics.override",
    "Recording": "kinetarium.recording.recording",
    "RobotFileError": "kinetarium.model.findings",
    "RobotModel": "kinetarium.model.robot",
    "Scene": "kinetarium.scene",
    "check_study": "kinetarium.batch.check_study",
    "list_studies": "kinetarium.batch.studies",
    "sweep": "kinetarium.batch.sweep",
    "check_engine": "kinetarium.engines.conformance",
    "list_engines": "kinetarium.engines.registry",
    "run": "kinetarium.rollout.loop",
    "load_robot": "kinetarium.model.load",
    "verify_dynamics": "kinetarium.studies.dynamics.verify",
}

_PACKAGES = ("control", "legs", "reach")

__all__ = ["__version__", *_HOMES, *_PACKAGES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import kinetarium` stays light."""
    if name in _PACKAGES:
        return import_module(f"kinetarium.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'kinetarium' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
