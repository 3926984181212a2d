"""Cases of the dynamics study: one robot in each backend."""

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.model.diagnostics import Allowance
from kinetarium.model.load import load_robot, robot_file
from kinetarium.model.robot import RobotModel
from kinetarium.ranges import check_ranges
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
    allow = tuple(dict.fromkeys((*config.allow, *map(Allowance, config.lenient))))
    model = load_robot(config.robot, mesh_roots=config.mesh_root, allow=allow, root=config.root)
    _check(config, model)
    other = ""
    if config.against:
        names: tuple[str, ...] = (REFERENCE, AGAINST)
        second = load_robot(config.against, mesh_roots=config.mesh_root, allow=allow)
        other = second.source.sha256
    elif config.loaders:
        robot_file(config.robot)
        names = loader_names(config.engine)
    else:
        names = backend_names(model, engines=config.engine)
    own = model.source.sha256
    return tuple(
        case_of(config, Case, backend=name, sha256=own, against_sha256=other, allow=allow)
        for name in names
    )


def _check(config: Config, model: RobotModel) -> None:
    if config.loaders:
        if config.against or config.at or config.at_velocity:
            raise ConfigError("--loaders compares links and joints; --against and --at have no use")
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
