"""The studies: each a folder of its own, found through entry points."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.studies.dynamics.override import Override as Override
    from kinetarium.studies.dynamics.run import Verification as Verification
    from kinetarium.studies.dynamics.run import verify_dynamics as verify_dynamics
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
