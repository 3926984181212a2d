"""Robots as Gymnasium environments: any scene, any engine, one interface."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.gym.environment import RobotEnv as RobotEnv
    from kinetarium.gym.environment import make as make
    from kinetarium.gym.environment import make_vec as make_vec
    from kinetarium.gym.tasks import DrivePath as DrivePath
    from kinetarium.gym.tasks import ReachPose as ReachPose
    from kinetarium.gym.tasks import RobotTask as RobotTask
    from kinetarium.gym.tasks import Score as Score
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
