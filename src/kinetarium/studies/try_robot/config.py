"""Config and cases of the try study: a robot itself, and each part in each engine."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.ranges import Seed, check_ranges
from kinetarium.roles.options import RoleOptions

if TYPE_CHECKING:
    from kinetarium.model.robot import RobotModel

NO_ENGINE = "none"
"""Engine of the case of the robot itself."""


class Part(StrEnum):
    """What is tried; all but the first are studies."""

    ROBOT = "robot"
    """What the file says: repairs, implausible values, roles."""
    HOLD = "hold"
    DROP = "drop"
    DYNAMICS = "dynamics"


@dataclass(frozen=True, kw_only=True)
class Config(RoleOptions):
    """A robot to try.

    Attributes:
        robot: Name of a robot in the catalogue, or a URDF, xacro or MJCF file.
        engine: Engines to run; all available ones by default.
        seed: Seed of all random numbers.
    """

    robot: str = ""
    engine: tuple[str, ...] = ()
    seed: Seed = 0

    def cases(self) -> tuple["Case", ...]:
        """Return a case for the robot itself, and for each part in each engine.

        Robots are dropped whose root has a mass; dynamics are compared in engines that have them,
        for robots that move.

        Raises:
            KinetariumError: If the robot is refused or an engine is not available.
        """
        from kinetarium.engines.protocol import Capability
        from kinetarium.engines.registry import chosen_engines, open_engine

        check_ranges(self)
        if not self.robot:
            raise ConfigError("try needs a robot, FILE|NAME (see: kinetarium try --help)")
        robot = self.open(self.robot)
        engines = chosen_engines(self.engine)
        pairs = [(Part.ROBOT, NO_ENGINE)]
        pairs += [(Part.HOLD, name) for name in engines]
        if can_fall(robot.model):
            pairs += [(Part.DROP, name) for name in engines]
        if robot.model.moving_joints:
            pairs += [
                (Part.DYNAMICS, name)
                for name in engines
                if Capability.INVERSE_DYNAMICS in open_engine(name).info.capabilities
            ]
        return tuple(
            case_of(self, Case, part=part, engine=name, sha256=robot.sha256) for part, name in pairs
        )


def can_fall(model: "RobotModel") -> bool:
    """Return whether the root has a mass; a root without one is part of the world."""
    from kinetarium.roles.studied_robot import PLANAR_JOINTS
    from kinetarium.scene.robot import rigid_tree

    added = [joint for joint in model.joints if joint.name in PLANAR_JOINTS]
    return rigid_tree(model)[len(added)].inertia is not None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One part in one engine; its values are those of the config.

    Attributes:
        part: What is tried.
        reading: How the robot is read and its roles are found.
        sha256: Hash of the robot's files, base and roles.
    """

    robot: str
    part: Part
    engine: str
    seed: Seed
    reading: RoleOptions
    sha256: str
