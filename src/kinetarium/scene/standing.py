"""Place any robot in a scene at its home pose: where it stands, and servos that hold it."""

from collections.abc import Mapping
from math import inf, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.model.mesh.solids import bounding_box, triangulate
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    JointType,
    Link,
    RobotModel,
    Shape,
    Sphere,
)
from kinetarium.roles.studied_robot import PLANAR_JOINTS, StudiedRobot
from kinetarium.scene.body import DRY, Material
from kinetarium.scene.robot import Actuation, Base, DriveMode, PlacedRobot
from kinetarium.scene.scene import rigid_groups
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose

SERVO_FREQUENCY = 10.0
"""Natural frequency of servos that hold any robot [Hz]: that of an industrial arm's joints."""

SERVO_SAG = 0.02
"""Largest angle or distance by which such a servo gives way under its load [rad or m]."""
_LINEAR = 0.05
"""Deviation up to which the effort of such a servo is below its limit [rad or m]."""
_TOUCHING = 5e-3
"""Height above the lowest point up to which surfaces touch the ground: soft contacts give [m]."""


def placed_robot(
    robot: StudiedRobot,
    *,
    name: str = "robot",
    positions: Mapping[str, float] | None = None,
    actuation: Mapping[str, Actuation] | None = None,
    X_WB: ArrayLike | None = None,
    height: float = 0.0,
    material: Material = DRY,
    link_materials: Mapping[str, Material] | None = None,
) -> PlacedRobot:
    """Place a robot; with a free base its lowest point is on the ground or above it.

    Args:
        robot: The robot and its roles.
        name: Its name in the scene.
        positions: Joint positions by joint, where they are not those of the home pose [rad or m].
        actuation: The drive of each joint by name; passive where not given.
        X_WB: Pose of its root, shape (4, 4); by default upright, on the ground if it is free.
        height: Height of its lowest point above the ground, if it is free [m].
        material: The surface of its links.
        link_materials: Surfaces of single links by name.
    """
    chosen = {**robot.home, **(positions or {})}
    free = robot.model.free_base
    if X_WB is None:
        X_WB = pose((0.0, 0.0, height - lowest_point(robot.model, chosen))) if free else IDENTITY
    return PlacedRobot(
        name,
        robot.model,
        Base.FREE if free else Base.FIXED,
        frozen(X_WB),
        positions=chosen,
        actuation=actuation or {},
        material=material,
        link_materials=link_materials or {},
    )


def home_command(placed: PlacedRobot) -> Array:
    """Return the command that holds a robot under position servos where it is placed [rad or m]."""
    driven = [joint.name for joint in placed.model.moving_joints if joint.name in placed.actuation]
    return np.array([placed.positions[name] for name in driven])


def lowest_point(model: RobotModel, positions: Mapping[str, float]) -> float:
    """Return the height of the lowest point of a robot's shapes in its root's frame [m].

    Args:
        positions: Positions of the moving joints by name [rad or m]; zero where not given.

    Returns:
        The height; 0 for a robot without shapes.
    """
    q = np.array([positions.get(joint.name, 0.0) for joint in model.moving_joints])
    lowest = inf
    for link, X_BL in zip(model.links, link_poses(model, q), strict=True):
        for geometry in link.collisions:
            X_BG = X_BL @ geometry.X_LG
            lowest = min(lowest, float(X_BG[2, 3] - extent(geometry.shape, -X_BG[2, :3])))
    return lowest if lowest < inf else 0.0


def extent(shape: Shape, direction: ArrayLike) -> Array:
    """Return how far a shape extends from its origin along unit vectors [m], shape (...).

    Args:
        direction: The vectors in the shape's frame, shape (..., 3).
    """
    d = np.asarray(direction, dtype=np.float64)
    match shape:
        case Sphere(radius=r):
            return np.full(d.shape[:-1], r)
        case Capsule(radius=r, length=h):
            along: Array = r + h / 2 * np.abs(d[..., 2])
            return along
        case Cylinder(radius=r, length=h):
            along = r * np.hypot(d[..., 0], d[..., 1]) + h / 2 * np.abs(d[..., 2])
            return along
        case Box():
            along = np.abs(d) @ bounding_box(shape)[1]
            return along
        case _:
            vertices = triangulate(shape).vertices.T
            # Row by row: a mesh may have a hundred thousand vertices.
            rows = [float((row @ vertices).max()) for row in d.reshape(-1, 3)]
            return np.array(rows).reshape(d.shape[:-1])


def support_points(model: RobotModel, positions: Mapping[str, float]) -> dict[str, Array]:
    """Return the points of a robot's shapes that touch level ground under it, by link.

    Args:
        positions: Positions of the moving joints by name [rad or m]; zero where not given.

    Returns:
        Points in the root's frame [m], shape (n, 3), within a few millimetres of the lowest;
        empty for a robot without shapes.
    """
    q = np.array([positions.get(joint.name, 0.0) for joint in model.moving_joints])
    points: dict[str, Array] = {}
    for link, X_BL in zip(model.links, link_poses(model, q), strict=True):
        for geometry in link.collisions:
            X_BG = X_BL @ geometry.X_LG
            surface = triangulate(geometry.shape).vertices @ X_BG[:3, :3].T + X_BG[:3, 3]
            points[link.name] = np.vstack([points.get(link.name, np.zeros((0, 3))), surface])
    lowest = min((float(each[:, 2].min()) for each in points.values()), default=0.0)
    near = {link: each[each[:, 2] < lowest + _TOUCHING] for link, each in points.items()}
    return {link: each for link, each in near.items() if len(each)}


def holding_servos(
    robot: StudiedRobot, *, frequency: float = SERVO_FREQUENCY, damping_ratio: float = 1.0
) -> dict[str, Actuation]:
    """Return position servos for all independent joints of a robot, by joint.

    Joints that were added for a planar base stay passive.

    Each is as stiff as a spring that swings what the joint moves in the home pose, alone, at the
    given frequency: k = (2 pi f)^2 I. I is M_ii, what hangs on the joint; for a joint of a limb
    on which a free robot stands at least the limb's share of the rest of the robot, which the
    joint moves while the foot stays. It is softer where its effort limit would be reached within
    0.05 rad, since a servo that is often at its limit chatters, but no servo gives way by more than
    0.02 rad under the weight that it carries. d = 2 zeta (k I)^0.5. Efforts are limited as in the
    model.

    Args:
        robot: The robot and its roles.
        frequency: Natural frequency [Hz].
        damping_ratio: 1 for critical damping [-].
    """
    model = robot.model
    coupling = Coupling.of(model)
    q = [robot.home[joint.name] for joint in model.moving_joints]
    if not q:
        return {}
    dynamics = RobotDynamics(model, free_base=False)
    inertias = np.diag(coupling.matrix(dynamics.mass_matrix(q)))
    loads = np.abs(coupling.forces(dynamics.gravity_forces(q)))
    if model.free_base:
        carried, weights = np.array(_carried(robot)).T
        inertias = np.maximum(inertias, np.abs(coupling.E.T) @ carried)
        loads = loads + np.abs(coupling.E.T) @ weights
    w = 2 * pi * frequency
    servos = {}
    for name, inertia, load in zip(coupling.independent, inertias, loads, strict=True):
        if name not in PLANAR_JOINTS:
            most = model.joint(name).limits.rated_effort
            k = max(min(w**2 * float(inertia), most / _LINEAR), float(load) / SERVO_SAG)
            d = 2 * damping_ratio * sqrt(k * float(inertia))
            servos[name] = Actuation(DriveMode.POSITION, stiffness=k, damping=d)
    return servos


def _carried(robot: StudiedRobot) -> list[tuple[float, float]]:
    """Return what each moving joint carries while the feet below it stay on the ground.

    The weight of the robot is shared equally by the bodies that touch the ground.

    Returns:
        For each moving joint the inertia about its axis [kg m^2 or kg] of its share of the robot
        above it, and the moment or force of that weight [N m or N]; zero for joints with nothing
        on the ground below them.
    """
    model = robot.model
    q = np.array([robot.home[joint.name] for joint in model.moving_joints])
    X_BL = dict(zip((link.name for link in model.links), link_poses(model, q), strict=True))
    group = rigid_groups(model)
    feet: dict[str, list[Array]] = {}
    for link, points in support_points(model, robot.home).items():
        feet.setdefault(group[link], []).append(points.mean(axis=0))
    below = {link.name: {link.name} for link in model.links}
    for joint in reversed(model.joints):
        below[joint.parent] |= below[joint.child]
    carried = []
    for joint in model.moving_joints:
        standing = [np.mean(feet[foot], axis=0) for foot in feet if foot in below[joint.child]]
        share = len(standing) / len(feet) if feet else 0.0
        X_BJ = X_BL[joint.child]
        axis, origin = X_BJ[:3, :3] @ joint.axis, X_BJ[:3, 3]
        above = [link for link in model.links if link.name not in below[joint.child]]
        inertia = sum(
            _about(link, X_BL[link.name], axis=axis, origin=origin, kind=joint.type)
            for link in above
        )
        lever = axis
        if standing and joint.type is not JointType.PRISMATIC:
            lever = np.cross(axis, np.mean(standing, axis=0) - origin)
        carried.append((share * inertia, share * model.mass * GRAVITY * abs(float(lever[2]))))
    return carried


def _about(link: Link, X_BL: Array, *, axis: Array, origin: Array, kind: JointType) -> float:
    """Return the inertia of a link along or about an axis [kg or kg m^2]."""
    if link.inertia is None:
        return 0.0
    if kind is JointType.PRISMATIC:
        return link.inertia.mass
    own = X_BL[:3, :3].T @ axis
    arm = np.cross(axis, X_BL[:3, :3] @ link.inertia.center + X_BL[:3, 3] - origin)
    return float(own @ link.inertia.moment @ own + link.inertia.mass * arm @ arm)
