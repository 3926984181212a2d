"""Cases of reach-place and reach-follow: their files, checked and identified by digests."""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from hashlib import file_digest, sha256
from math import radians
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinetarium.batch.study import ConfigError
from kinetarium.dynamics.chain import serial_chain
from kinetarium.errors import KinetariumError
from kinetarium.model.diagnostics import RobotOptions
from kinetarium.model.load import catalogue_names, load_robot
from kinetarium.model.robot import MeshFile, RobotModel
from kinetarium.ranges import check_ranges
from kinetarium.reach.collision.arm_in_scene import NO_OBSTACLES, Obstacles
from kinetarium.reach.collision.obstacles import read_obstacles
from kinetarium.reach.maps.files import MANIFEST, open_map
from kinetarium.reach.placement.files import read_task, read_trajectory
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.reach.placement.query import Placer, check_robot_of_map
from kinetarium.recording.recording import Recording
from kinetarium.storage.regular_file import open_regular
from kinetarium.studies.reach.placement.config import (
    BaseDrive,
    FollowCase,
    FollowConfig,
    PlaceCase,
    PlaceConfig,
    SiteConfig,
    StopCount,
)

if TYPE_CHECKING:
    from kinetarium.control.vehicle.wheeled_base import WheeledBase
    from kinetarium.reach.placement.robust import BaseError
    from kinetarium.roles.roles import Roles
    from kinetarium.roles.studied_robot import StudiedRobot
    from kinetarium.studies.reach.markers import Stage

T = TypeVar("T")


Case = PlaceCase | FollowCase
ROLES = ("roles", "srdf")
"""Fields that name files of roles."""
FOUND = "found_roles"
"""Name of the digest of the files of roles that are found beside the robot."""


class _Survey(NamedTuple):
    robot: RobotModel
    plane: BasePlane
    obstacles: Obstacles
    digests: dict[str, str]


def cases(config: PlaceConfig | FollowConfig) -> tuple[Case, ...]:
    """Return the case of a config.

    Raises:
        KinetariumError: If a file or a value is invalid.
    """
    if isinstance(config, FollowConfig):
        case = FollowCase(**_opened(config, "trajectory", read_trajectory))
        vehicle_of(case)
        return (case,)
    return (PlaceCase(**_opened(config, "poses", read_task)),)


def read_unchanged(case: Case, field: str, read: Callable[[str], T]) -> T:
    """Read a file of a case.

    Raises:
        KinetariumError: If it cannot be read, or has changed since the case was made.
    """
    content = read(getattr(case, field))
    _check_unchanged(case, case.sha256, {field: _digest(getattr(case, field))})
    return content


def placer_of(case: Case) -> Placer:
    """Prepare map, robot and obstacles for queries, once for all cases that share them.

    Raises:
        KinetariumError: If a file has changed since the case was made.
    """
    site = SiteConfig(**{each.name: getattr(case, each.name) for each in fields(SiteConfig)})
    names = ("map", "robot", "obstacles", *ROLES, FOUND)
    return _placer(site, tuple((n, case.sha256[n]) for n in names if n in case.sha256))


@lru_cache(maxsize=2)
def _placer(site: SiteConfig, digests: tuple[tuple[str, str], ...]) -> Placer:
    survey = _survey(site)
    _check_unchanged(site, dict(digests), survey.digests | {"map": _digest(str(site.map))})
    alone = _arm_alone(
        replace(site, obstacles=None), tuple(each for each in digests if each[0] != "obstacles")
    )
    return alone.among(survey.obstacles) if survey.obstacles else alone


@lru_cache(maxsize=2)
def _arm_alone(site: SiteConfig, digests: tuple[tuple[str, str], ...]) -> Placer:
    """Prepare what does not depend on obstacles; the digests tell changed files apart."""
    base = _roles(site).base.kind if site.roles or site.srdf else site.base_kind
    return Placer(open_map(str(site.map)), robot=_robot(site), plane=site.plane, base=base)


def vehicle_of(case: FollowCase) -> "tuple[StudiedRobot, WheeledBase] | None":
    """Return the robot of a case and its wheels; None if it moves in all directions.

    Raises:
        KinetariumError: If it is steered, or its roles have changed since the case was made.
    """
    if case.drive is BaseDrive.OMNIDIRECTIONAL:
        return None
    # Imported here, as above: it loads what finds roles.
    from kinetarium.control.vehicle.robot_base import check_turns_in_place, vehicle
    from kinetarium.roles.roles import RolesError
    from kinetarium.roles.studied_robot import StudiedRobot, with_base

    model, found = _robot(case), _roles(case)
    _check_unchanged(case, case.sha256, _digest_roles(case))
    robot = StudiedRobot(with_base(model, found.base.kind), found)
    try:
        base = vehicle(robot)
    except RolesError:  # no wheels, or wheels with rollers
        return None
    check_turns_in_place(base)
    return robot, base


def stage_of(case: Case, recording: Recording) -> "Stage":
    """Return the arm and its surroundings, for figures; the map is not needed.

    Raises:
        KinetariumError: If a file has changed since the case was made.
    """
    # Imported here: a query without a report draws nothing.
    from kinetarium.studies.reach.markers import Stage

    robot, plane, obstacles, digests = _survey(case)
    _check_unchanged(case, case.sha256, digests)
    facts = recording.facts
    arm = serial_chain(robot, base_link=facts["base_link"], tool=facts["tool"])
    return Stage(arm, plane, obstacles.shapes, facts["radius_m"])


def _opened(
    config: PlaceConfig | FollowConfig, field: str, read: Callable[[str], object]
) -> dict[str, Any]:
    """Return the fields of a config's case.

    Args:
        field: The field that names the file of poses or of the trajectory.
        read: Reads that file.
    """
    check_ranges(config)
    if isinstance(config, PlaceConfig):
        _check_errors(config)
    path = getattr(config, field)
    for name, value in (("map", config.map), (field, path)):
        if value is None:
            raise ConfigError(f"--{name} is missing")
    read(path)
    reach_map = open_map(str(config.map))
    if config.robot is None:
        config = replace(config, robot=reach_map.recipe.robot)
    survey = _survey(config)
    check_robot_of_map(reach_map, survey.robot)
    digests = {"map": _digest(str(config.map)), field: _digest(path), **survey.digests}
    return {each.name: getattr(config, each.name) for each in fields(config)} | {"sha256": digests}


def _check_errors(config: PlaceConfig) -> None:
    """Refuse a query for robust bases, or for several, that contradicts itself."""
    error = error_of(config)
    if config.continuous and (error is not None or config.stops is not StopCount.ONE):
        raise ConfigError("--continuous is for one base without --base-error")
    if config.k > 1 and (error is None or config.stops is not StopCount.ONE):
        raise ConfigError("--k is for one base with --base-error")


def error_of(config: PlaceConfig) -> "BaseError | None":
    """Return the box of errors of a query: metres, and radians or degrees ("3deg").

    Raises:
        ConfigError: If it is not three numbers in their range.
    """
    if config.base_error is None:
        return None
    from kinetarium.reach.placement.robust import BaseError

    try:
        x, y, turn = (text.strip() for text in config.base_error)
        yaw = radians(float(turn[:-3])) if turn.endswith("deg") else float(turn.removesuffix("rad"))
        return BaseError(float(x.removesuffix("m")), float(y.removesuffix("m")), yaw)
    except ValueError:
        given = " ".join(config.base_error)
        raise ConfigError(
            f"--base-error must be two lengths and an angle, such as 0.03 0.03 3deg, not {given!r}"
        ) from None


def _survey(site: SiteConfig) -> _Survey:
    """Load the robot and the obstacles."""
    robot = _robot(site)
    digests, obstacles = {"robot": robot.source.sha256}, NO_OBSTACLES
    if site.obstacles is not None:
        obstacles = read_obstacles(site.obstacles, plane=site.plane)
        files = [Path(site.obstacles)]
        files += [part.shape.path for part in obstacles.shapes if isinstance(part.shape, MeshFile)]
        digests["obstacles"] = sha256("".join(map(_digest, files)).encode()).hexdigest()
    digests |= {name: _digest(path) for name in ROLES if (path := getattr(site, name))}
    return _Survey(robot, site.plane, obstacles, digests | _digest_roles(site))


def _robot(site: SiteConfig) -> RobotModel:
    options = {each.name: getattr(site, each.name) for each in fields(RobotOptions)}
    name = str(site.robot)
    try:
        status = os.stat(name)
    except (OSError, ValueError):  # a name of the catalogue
        return _loaded(name, RobotOptions(**options), 0, 0)
    return _loaded(name, RobotOptions(**options), status.st_mtime_ns, status.st_size)


def _roles(site: SiteConfig) -> "Roles":
    # Imported here: without files of them roles are found only where they matter.
    from kinetarium.roles.find import find_roles

    return find_roles(
        _robot(site), roles=site.roles or None, srdf=site.srdf or None, base=site.base_kind
    )


def _digest_roles(site: SiteConfig) -> dict[str, str]:
    """Digest the files of roles that are found beside the robot, and used as if they were given."""
    if site.robot in catalogue_names():  # its roles are those of the release
        return {}
    from kinetarium.roles import file

    found = [file.file_beside(_robot(site), suffix) for suffix in (file.ROLES, file.SRDF)]
    return {FOUND: sha256("".join(_digest(path) for path in found if path).encode()).hexdigest()}


@lru_cache(maxsize=4)
def _loaded(robot: str, options: RobotOptions, changed_ns: int, size: int) -> RobotModel:
    """Load a robot, once while its file does not change."""
    return load_robot(
        robot,
        mesh_roots=options.mesh_root,
        allow=options.allow,
        arguments=options.arguments,
        root=options.root,
    )


def _digest(path: str | Path) -> str:
    """Digest a file, or the manifest of a map, which contains the digests of its fields."""
    file = Path(path)
    with open_regular(file / MANIFEST if file.is_dir() else file) as stream:
        return file_digest(stream, "sha256").hexdigest()


def _check_unchanged(site: SiteConfig, known: Mapping[str, str], found: Mapping[str, str]) -> None:
    for field, digest in found.items():
        if field == FOUND and field not in known:  # in cases of earlier releases
            continue
        if known.get(field) != digest:
            path = getattr(site, "robot" if field == FOUND else field)
            what = f"the roles of '{path}' have" if field == FOUND else f"'{path}' has"
            raise KinetariumError(f"{what} changed since the case was made")
