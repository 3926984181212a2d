"""Kinetarium: a proving ground for robots.

One robot, every physics engine, and the studies robot engineers run on them.
"""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

__version__ = "0.2.0"

if TYPE_CHECKING:
    from kinetarium import batch as batch
    from kinetarium import control as control
    from kinetarium import dynamics as dynamics
    from kinetarium import engines as engines
    from kinetarium import export as export
    from kinetarium import figures as figures
    from kinetarium import gym as gym
    from kinetarium import legs as legs
    from kinetarium import model as model
    from kinetarium import plan as plan
    from kinetarium import reach as reach
    from kinetarium import recording as recording
    from kinetarium import roles as roles
    from kinetarium import rollout as rollout
    from kinetarium import scene as scene
    from kinetarium import spatial as spatial
    from kinetarium import studies as studies
    from kinetarium import study as study
    from kinetarium.batch.check_study import check_study as check_study
    from kinetarium.batch.study import Study as Study
    from kinetarium.batch.study import list_studies as list_studies
    from kinetarium.control.interface import Controller as Controller
    from kinetarium.control.interface import Interaction as Interaction
    from kinetarium.engines.conformance import check_engine as check_engine
    from kinetarium.engines.protocol import Engine as Engine
    from kinetarium.engines.protocol import Simulation as Simulation
    from kinetarium.engines.registry import list_engines as list_engines
    from kinetarium.errors import KinetariumError as KinetariumError
    from kinetarium.model.diagnostics import Allowance as Allowance
    from kinetarium.model.diagnostics import RobotFileError as RobotFileError
    from kinetarium.model.load import list_robots as list_robots
    from kinetarium.model.load import load_robot as load_robot
    from kinetarium.model.robot import RobotModel as RobotModel
    from kinetarium.recording.recording import Channel as Channel
    from kinetarium.recording.recording import Recording as Recording
    from kinetarium.rollout.loop import Probe as Probe
    from kinetarium.rollout.loop import run as run
    from kinetarium.rollout.many import run_many as run_many
    from kinetarium.scene.scene import Scene as Scene
    from kinetarium.studies.dynamics.override import Override as Override
    from kinetarium.studies.dynamics.run import verify_dynamics as verify_dynamics
    from kinetarium.study_result import RunPage as RunPage
    from kinetarium.study_result import StudyResult as StudyResult
    from kinetarium.study_result import run_study as run_study
    from kinetarium.study_result import show_runs as show_runs
    from kinetarium.study_result import sweep as sweep
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
