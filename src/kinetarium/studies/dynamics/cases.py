"""Cases of the dynamics study: one robot in each backend."""

from dataclasses import replace
from typing import Any

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.dynamics.robot_dynamics import check_pinocchio
from kinetarium.errors import KinetariumError
from kinetarium.model.load import load_robot, robot_file
from kinetarium.model.robot import RobotModel
from kinetarium.ranges import check_ranges
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.roles import BaseKind
from kinetarium.studies.dynamics.backends.registry import AGAINST, REFERENCE, backend_names
from kinetarium.studies.dynamics.config import Case, Config
from kinetarium.studies.dynamics.loaders import loader_names

_MOST_NUMBERS = 20_000_000
"""Maximum size of the mass matrices of all states; several such arrays are in memory [-]."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for the reference, the closed form if there is one, and each engine.

    With a second robot there are two: the reference, and the second robot in it. With loaders
    there is one for each loader.

    Raises:
        KinetariumError: If a robot is refused, an engine is not available or values
            contradict each other.
    """
    check_ranges(config)
    check_pinocchio()
    reading = config.reading
    model, own = read_robot(config.robot, reading=reading, loaders=config.loaders)
    _check(config, model)
    other = ""
    if config.against:
        names: tuple[str, ...] = (REFERENCE, AGAINST)
        other = read_robot(config.against, reading=second_reading(reading))[1]
    elif config.loaders:
        robot_file(config.robot)
        names = loader_names(config.engine)
    else:
        names = backend_names(model, engines=config.engine)
    given = {"reading": reading, "sha256": own, "against_sha256": other}
    earlier: dict[str, Any] = {"mesh_root": (), "allow": (), "root": ""}
    return tuple(case_of(config, Case, backend=name, **given, **earlier) for name in names)


def read_robot(
    robot: str, *, reading: RoleOptions, loaders: bool = False, sha256: str = ""
) -> tuple[RobotModel, str]:
    """Read a robot, its root held unless another base is asked for.

    Args:
        robot: Name of a robot in the catalogue, or its file.
        reading: How it is read.
        loaders: Whether it is compared with what loaders read, without roles and with its own base.
        sha256: Hash of what was read when the case was created.

    Returns:
        The robot, and the hash of what was read.

    Raises:
        KinetariumError: If a file is refused, or differs from what was read before.
    """
    if not loaders:
        studied = replace(reading, base=reading.base or BaseKind.FIXED).open(robot, sha256=sha256)
        return studied.model, studied.sha256
    model = load_robot(
        robot,
        mesh_roots=reading.mesh_root,
        allow=reading.allow,
        arguments=reading.arguments,
        root=reading.root,
    )
    if sha256 and model.source.sha256 != sha256:
        raise KinetariumError(f"'{robot}' has changed since the case was created")
    return model, model.source.sha256


def second_reading(reading: RoleOptions) -> RoleOptions:
    """Return how the second robot is read: as the first, without what names parts of the first."""
    return replace(reading, root="", roles="", srdf="", tool="")


def _check(config: Config, model: RobotModel) -> None:
    if config.loaders:
        if config.against or config.at or config.at_velocity:
            raise ConfigError("--loaders compares links and joints; --against and --at have no use")
        if config.base or config.roles or config.srdf or config.tool:
            raise ConfigError("--loaders compares a file as it is; --base and roles have no use")
        return
    joints = [joint.name for joint in model.moving_joints]
    if not joints:
        raise ConfigError(f"robot '{config.robot}' has no moving joints")
    if config.states * len(joints) ** 2 > _MOST_NUMBERS:
        raise ConfigError(
            f"--states {config.states} is too many for {len(joints)} joints;"
            f" use at most {_MOST_NUMBERS // len(joints) ** 2}"
        )
    if config.against and config.engine:
        raise ConfigError("--against compares two robots in Pinocchio; --engine is not allowed")
    if config.at_velocity and not config.at:
        raise ConfigError("--at-velocity requires --at")
    for flag, values in (("--at", config.at), ("--at-velocity", config.at_velocity)):
        if values and len(values) != len(joints):
            raise ConfigError(
                f"{flag} needs {len(joints)} numbers, for {', '.join(joints)}; not {len(values)}"
            )
