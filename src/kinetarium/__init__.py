"""Kinetarium: a proving ground for robots.

One robot, every physics engine, and the studies robot engineers run on them.
"""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.batch.check_study import check_study as check_study
    from kinetarium.batch.study import Study as Study
    from kinetarium.batch.study import list_studies as list_studies
    from kinetarium.batch.sweep import sweep as sweep
    from kinetarium.control.interface import Controller as Controller
    from kinetarium.control.interface import Interaction as Interaction
    from kinetarium.engines.conformance import check_engine as check_engine
    from kinetarium.engines.protocol import Engine as Engine
    from kinetarium.engines.protocol import Simulation as Simulation
    from kinetarium.engines.registry import list_engines as list_engines
    from kinetarium.errors import KinetariumError as KinetariumError
    from kinetarium.model.findings import Allowance as Allowance
    from kinetarium.model.findings import RobotFileError as RobotFileError
    from kinetarium.model.load import load_robot as load_robot
    from kinetarium.model.robot import RobotModel as RobotModel
    from kinetarium.recording.recording import Channel as Channel
    from kinetarium.recording.recording import Recording as Recording
    from kinetarium.rollout.loop import Probe as Probe
    from kinetarium.rollout.loop import run as run
    from kinetarium.scene import Scene as Scene
    from kinetarium.studies.dynamics.override import Override as Override
    from kinetarium.studies.dynamics.run import verify_dynamics as verify_dynamics
    from kinetarium.study_result import StudyResult as StudyResult
    from kinetarium.study_result import run_study as run_study

__version__ = "0.1.0"

_PACKAGES = (
    "control",
    "dynamics",
    "engines",
    "legs",
    "model",
    "reach",
    "recording",
    "scene",
    "spatial",
    "studies",
)

_HOMES = {
    "Allowance": "kinetarium.model.findings",
    "Channel": "kinetarium.recording.recording",
    "Controller": "kinetarium.control.interface",
    "Engine": "kinetarium.engines.protocol",
    "Interaction": "kinetarium.control.interface",
    "KinetariumError": "kinetarium.errors",
    "Override": "kinetarium.studies.dynamics.override",
    "Probe": "kinetarium.rollout.loop",
    "Recording": "kinetarium.recording.recording",
    "RobotFileError": "kinetarium.model.findings",
    "RobotModel": "kinetarium.model.robot",
    "Scene": "kinetarium.scene",
    "Simulation": "kinetarium.engines.protocol",
    "Study": "kinetarium.batch.study",
    "StudyResult": "kinetarium.study_result",
    "check_engine": "kinetarium.engines.conformance",
    "check_study": "kinetarium.batch.check_study",
    "list_engines": "kinetarium.engines.registry",
    "list_studies": "kinetarium.batch.study",
    "load_robot": "kinetarium.model.load",
    "run": "kinetarium.rollout.loop",
    "run_study": "kinetarium.study_result",
    "sweep": "kinetarium.batch.sweep",
    "verify_dynamics": "kinetarium.studies.dynamics.run",
    **{name: f"kinetarium.{name}" for name in _PACKAGES},
}

__all__ = ["__version__", *_HOMES]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
