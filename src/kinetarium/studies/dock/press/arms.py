"""The two arms of a docking: any robot with an arm, where it starts, and what it can bear."""

from collections.abc import Iterator, Sequence
from math import degrees, pi, radians

import numpy as np

from kinetarium.batch.study import ConfigError
from kinetarium.control.arm.clik import LIMIT_MARGIN, SINGULAR
from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene.docking import (
    CENTER,
    CIRCUMRADIUS,
    SATELLITE_LENGTH,
    DockingScene,
    docking_scene,
    satellite_arm,
)
from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.dock.press.config import KR250, Contact, DockCase, DockConfig
from kinetarium.studies.dock.press.probe import SHAPE

GAP = 0.1674
"""Initial distance of the docking faces [m]."""
DISTANCE = 0.20
"""Length of the path [m]; it would end inside the target."""

CONTACT_SPEED = 0.06615
"""Speed at which the faces meet on this path [m/s]."""

KR250_START = (0.0, -90.0, 130.0, 0.0, -40.0, 0.0)
"""Initial joint positions A1 to A6 of the KR 250 [deg]."""

_GRID = (9, 7)
"""Numbers of distances and heights at which a start is searched."""
_LIMIT_ROOM = 0.3
"""Distance to a joint limit that is as good as none [rad or m]."""
PLACES = 9
"""Number of places of the path at which a start is judged."""


def path_scale(case: DockCase) -> float:
    """Return length and gap of the path of a case over those of the paper [-]."""
    return case.speed / CONTACT_SPEED if case.speed else 1.0


def open_arms(config: DockConfig) -> tuple[StudiedRobot, StudiedRobot]:
    """Load the chaser and the target of a config.

    Raises:
        KinetariumError: If a file is refused.
    """
    chaser = config.open(config.chaser)
    if config.target in ("", config.chaser):
        return chaser, chaser
    return chaser, _plain(config.reading).open(config.target)


def docking_of(case: DockCase, *, contact: bool = False) -> DockingScene:
    """Return the scene of a case.

    Args:
        contact: Whether the engine's own contact acts between the satellites.

    Raises:
        KinetariumError: If a file has changed since the case was created.
    """
    chaser = target = None
    if case.chaser != KR250 or case.target != KR250:
        chaser = case.reading.open(case.chaser, sha256=case.sha256)
        target = chaser
        if case.target != case.chaser:
            target = _plain(case.reading).open(case.target, sha256=case.target_sha256)
    arms = [satellite_arm(case.payload_kg, robot=robot) for robot in (chaser, target)]
    starts = (case.start_deg, case.target_start_deg or case.start_deg)
    placed = [_positions(model, start) for model, start in zip(arms, starts, strict=True)]
    return docking_scene(
        payload=case.payload_kg,
        gap=GAP * path_scale(case) + (SHAPE.length if case.contact is Contact.PROBE else 0.0),
        positions=placed[0],
        chaser=chaser,
        target=target,
        target_positions=None if placed[0] == placed[1] else placed[1],
        contact=contact,
        friction=case.friction if contact else 0.0,
        misalign=case.misalign,
    )


def _plain(reading: RoleOptions) -> RoleOptions:
    """Return how the target is read, where roles, SRDF and tool are those of the chaser."""
    return RoleOptions(mesh_root=reading.mesh_root, lenient=reading.lenient)


def _positions(model: RobotModel, start_deg: Sequence[float]) -> dict[str, float]:
    """Return the initial positions by joint [rad or m]."""
    joints = model.moving_joints
    if len(start_deg) != len(joints):
        raise ConfigError(
            f"--start-deg needs {len(joints)} numbers for {model.name}:"
            f" {', '.join(joint.name for joint in joints)}; not {len(start_deg)}"
        )
    return {
        joint.name: value if joint.type is JointType.PRISMATIC else radians(value)
        for joint, value in zip(joints, start_deg, strict=True)
    }


def start_of(
    robot: StudiedRobot,
    *,
    given: Sequence[float],
    payload: float,
    wrench: Array,
    length: float = DISTANCE,
) -> tuple[float, ...]:
    """Return where an arm starts, and check that it is within its limits [deg or m].

    The KR 250 starts as in the paper. For other arms the start is searched on a grid in the
    plane of the arm: with the face along x, it is the one that stays farthest from
    singularities, joint limits and effort limits all along the path.

    Args:
        robot: The arm.
        given: The start that was asked for, or empty.
        payload: Mass of the satellite [kg].
        wrench: Desired wrench on the face in the frame of the satellite [N, N m], shape (6,).
        length: Length of the path [m].

    Raises:
        ConfigError: If it is beyond a limit, or none is found.
    """
    model = satellite_arm(payload, robot=robot)
    if not given and robot.model.source.file == KR250:
        given = KR250_START
    if not given:
        return _found(model, wrench, length)
    for joint, value in zip(model.moving_joints, _positions(model, given).values(), strict=True):
        lower, upper = joint.limits.lower, joint.limits.upper
        if not lower <= value <= upper:
            raise ConfigError(
                f"--start-deg: {joint.name} = {degrees(value):g} deg is outside its"
                f" limits {degrees(lower):g} .. {degrees(upper):g} deg"
            )
    return tuple(given)


def _found(model: RobotModel, wrench: Array, length: float) -> tuple[float, ...]:
    from kinetarium.reach.ik.solve import Policy, solve_ik

    dynamics = RobotDynamics(model)
    reach = sum(float(np.linalg.norm(joint.X_PJ[:3, 3])) for joint in model.joints)
    base = dynamics.link_pose(np.zeros(dynamics.nq), model.moving_joints[0].child)[2, 3]
    ahead = np.linspace(0.2, 1.0, _GRID[0]) * reach
    heights = base + np.linspace(-0.4, 0.5, _GRID[1]) * reach
    places = [(x, 0.0, z) for x in ahead for z in heights]
    solved = solve_ik(model, [pose(place) for place in places], tool=CENTER, policy=Policy.BEST)
    order = {joint.name: i for i, joint in enumerate(model.moving_joints)}
    columns = [order[name] for name in solved.joints]
    best, room = None, 0.0
    for q_chain in solved.q[solved.found]:
        q = np.zeros(dynamics.nq)
        q[columns] = q_chain
        found = _room(dynamics, q, wrench, length)
        if found > room:
            best, room = q, found
    if best is None:
        raise ConfigError(
            f"{model.name} cannot move its tool {length:g} m along x in its plane, away from"
            " singularities and limits; give a start by --start-deg"
        )
    return tuple(
        round(float(value if joint.type is JointType.PRISMATIC else np.degrees(value)), 9)
        for joint, value in zip(model.moving_joints, best, strict=True)
    )


def _room(dynamics: RobotDynamics, q: Array, wrench: Array, length: float) -> float:
    """Return how far a path along x stays from singularities and limits, 0 to about 1.

    Joint positions are followed by Newton's method; a step that does not converge ends it.
    Overload counts as almost no room: it is refused by name afterwards.
    """
    joints = dynamics.model.moving_joints
    lower = np.array([joint.limits.lower for joint in joints]) + LIMIT_MARGIN
    upper = np.array([joint.limits.upper for joint in joints]) - LIMIT_MARGIN
    efforts = np.array([joint.limits.rated_effort for joint in joints])
    room, places = np.inf, 0
    for at, J in joint_path(dynamics, q, length=length):
        places += 1
        single = float(np.linalg.svd(J, compute_uv=False)[-1])
        limit = float(np.minimum(at - lower, upper - at).min())
        spare = max(1 - float((np.abs(joint_load(dynamics, at, wrench)) / efforts).max()), 1e-3)
        room = min(room, single / SINGULAR - 1.0, limit / _LIMIT_ROOM, spare)
    return float(room) if places == PLACES else 0.0


def joint_path(
    dynamics: RobotDynamics, q: Array, *, length: float
) -> Iterator[tuple[Array, Array]]:
    """Yield joint positions and Jacobians along a path in x, by Newton's method.

    It ends where a step does not converge, before `PLACES` of them.

    Args:
        dynamics: The arm.
        q: Its initial joint positions [rad or m], shape (n,).
        length: Length of the path [m].
    """
    start = dynamics.link_pose(q, CENTER)
    for way in np.linspace(0.0, length, PLACES):
        for _ in range(6):
            X = dynamics.link_pose(q, CENTER)
            R = start[:3, :3] @ X[:3, :3].T
            turn = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
            off = np.concatenate([start[:3, 3] + (way, 0.0, 0.0) - X[:3, 3], turn])
            J = dynamics.jacobian(q, CENTER)
            q = q + np.linalg.pinv(J) @ off
        if np.abs(off).max() > 1e-6:
            return
        yield q, J


_SUDDEN = 0.15
"""Greatest share of a speed that the contact's damping may take away in one step [-]: the force
is that at the start of the step."""


def softer(
    robots: Sequence[StudiedRobot],
    *,
    starts: Sequence[Sequence[float]],
    payload: float,
    damping: float,
    step: float,
) -> float:
    """Return the factor, at most 1, by which light arms need a softer contact [-].

    Args:
        robots: Both arms.
        starts: Their initial joint positions [deg or m].
        payload: Mass of the satellites [kg].
        damping: Of the contact of the whole face [N s/m].
        step: Physics time step [s].
    """
    factor = 1.0
    for robot, start in zip(robots, starts, strict=True):
        model = satellite_arm(payload, robot=robot)
        dynamics = RobotDynamics(model)
        q = np.array(list(_positions(model, start).values()))
        J = dynamics.jacobian(q, CENTER)
        mobility = np.diag(J @ np.linalg.solve(dynamics.mass_matrix(q), J.T))
        # The damping of a face of circumradius R about its own axes is c R^2/2.
        lightest = 1 / max(mobility[0], (mobility[4:] * CIRCUMRADIUS**2 / 2).max())
        factor = min(factor, _SUDDEN * lightest / (step * damping))
    return factor


def refuse_overload(
    robot: StudiedRobot, *, start_deg: Sequence[float], payload: float, wrench: Array
) -> None:
    """Refuse a docking that a joint cannot bear at rest: the weight and the desired wrench.

    Args:
        robot: The arm.
        start_deg: Its initial joint positions [deg or m].
        payload: Mass of the satellite [kg].
        wrench: Desired wrench on the face in the frame of the satellite [N, N m], shape (6,).

    Raises:
        ConfigError: If one is overloaded.
    """
    model = satellite_arm(payload, robot=robot)
    dynamics = RobotDynamics(model)
    q = np.array(list(_positions(model, start_deg).values()))
    load = joint_load(dynamics, q, wrench)
    for joint, torque in zip(model.moving_joints, load, strict=True):
        most = joint.limits.rated_effort
        if abs(torque) > most:
            raise ConfigError(
                f"{model.name} cannot press with {np.linalg.norm(wrench[:3]):g} N holding"
                f" {payload:g} kg: {joint.name} needs {abs(torque):.0f} of {most:g} N m;"
                " choose another --case or --payload-kg"
            )


def reaction(wrench: Array, *, misalign: Sequence[float] = ()) -> Array:
    """Return the wrench on the target, in its frame, of one on the chaser [N, N m], shape (6,).

    The faces touch and are parallel, half a turn about z apart: forces along z and moments about
    it change sides, so that the target may be overloaded where the chaser is not.

    Args:
        wrench: On the chaser, in its frame about its centre of mass [N, N m], shape (6,).
        misalign: Displacement and roll, pitch, yaw of the target's face [m, rad].
    """
    _, aside, up, roll, *_ = (*misalign, 0.0, 0.0, 0.0, 0.0)
    turn = rotation_about((1.0, 0.0, 0.0), roll) @ rotation_about((0.0, 0.0, 1.0), pi)
    return se3.wrench_in_child(pose((SATELLITE_LENGTH, aside, up), turn), -np.asarray(wrench))


def joint_load(dynamics: RobotDynamics, q: Array, wrench: Array) -> Array:
    """Return the efforts that bear the weight and a wrench on the face [N m or N], shape (n,)."""
    R = dynamics.link_pose(q, CENTER)[:3, :3]
    F_W = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    return np.asarray(dynamics.gravity_forces(q) - dynamics.jacobian(q, CENTER).T @ F_W)
