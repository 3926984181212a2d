"""The wheels of a robot, found by roles and geometry, and their drives and surfaces."""

from dataclasses import replace
from math import atan2, cos, hypot, pi, sin

import numpy as np

from kinetarium.control.vehicle.wheeled_base import (
    DriveType,
    GroundWheel,
    Steering,
    WheeledBase,
    axles,
)
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.engines.protocol import FrictionRule
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Cylinder, JointType, Link, Sphere
from kinetarium.roles.roles import BaseKind, RolesError, Wheel
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene import Actuation, DriveMode, Material
from kinetarium.scene.robot import rigid_tree
from kinetarium.scene.standing import holding_servos
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import wrapped

SLICK = Material(friction=0.0)
_PARALLEL = 0.99
"""Least cosine between the axes of wheels that roll the same way [-]."""
_ROLLERS = 4
"""Joints below a wheel from which on they are the rollers of an omni wheel."""
_SAME_RADIUS = 0.01
"""Difference up to which a wheel's radius is that of its cylinder or sphere [-]."""
_ROUNDED = 1e-6
"""Offsets of the vehicle's frame below which it is the root's [m, rad]."""
_STEEPEST = 1.4
"""Largest steering angle [rad]."""
_SUPPORTED = 5e-3
"""Height over the ground up to which a caster carries load [m]: soft tyres and contacts yield."""
_STEERED_OFF = 2e-3
"""Steering error that the friction of a wheel may cause [rad]."""
_STEERED_LATE = 5e-3
"""Time by which steering lags [s]."""


def vehicle(robot: StudiedRobot) -> WheeledBase:
    """Find the wheels of a robot, how it turns, and the commands of its joints.

    Raises:
        RolesError: If it has no driven wheels, or its wheels cannot drive it.
    """
    roles, name = robot.roles, robot.roles.robot
    roles.driven_wheels()
    if roles.base.kind is not BaseKind.FREE:
        raise RolesError(f"{name} has a {roles.base.kind} base, and cannot drive: --base free")
    parts = _Parts(robot)
    wheels = [parts.wheel(each) for each in roles.wheels]
    if any(parts.rollers(wheel.link) >= _ROLLERS for wheel in roles.wheels):
        raise RolesError(
            f"the wheels of {name} have rollers: mecanum and omni wheels are not driven by this"
            " study, and no engine here has anisotropic friction to replace their rollers"
        )
    free = [w for w in wheels if w.steering is None and not w.caster]
    ways = np.array([parts.way[wheel.joint] for wheel in (free or wheels)])
    if (abs(ways @ ways[0]) < _PARALLEL).any():
        raise RolesError(
            f"the wheels of {name} roll in different directions: omnidirectional bases need"
            " rollers or anisotropic friction, which no engine here has"
        )
    if any(w.steering for w in wheels) and axles(_along(wheels, ways[0], steered=False)) > 1:
        raise RolesError(f"{name} has steered wheels and more than one axle that is not steered")
    base = parts.base(wheels, ways[0])
    if base.kind is not DriveType.STEERED and not base.track > 0:
        raise RolesError(f"{name} has driven wheels on one side only: it cannot be turned by them")
    return base


def check_turns_in_place(base: WheeledBase) -> None:
    """Refuse a vehicle that is steered, whose turns have a greatest curvature.

    Raises:
        RolesError: If it is steered.
    """
    if base.kind is DriveType.STEERED:
        raise RolesError(
            f"{base.name} is steered, and turns of its curvature are not planned;"
            " use a base that turns in place"
        )


def _along(wheels: list[GroundWheel], way: Array, *, steered: bool) -> list[GroundWheel]:
    """Return the wheels that are not casters with their distance along a direction as x."""
    chosen = [w for w in wheels if not w.caster and bool(w.steering) is steered]
    return [replace(w, x=float(way @ (w.x, w.y))) for w in chosen]


class _Parts:
    """The wheels and masses of a robot in its home pose, in the frame of its root."""

    def __init__(self, robot: StudiedRobot) -> None:
        self.robot = robot
        model = robot.model
        q = [robot.home[joint.name] for joint in model.moving_joints]
        self.poses = dict(zip((link.name for link in model.links), link_poses(model, q),
                              strict=True))  # fmt: skip
        self.joints = {joint.name: joint for joint in model.joints}
        self.places = {joint.name: i for i, joint in enumerate(model.moving_joints)}
        loose = passive_joints(robot)
        commanded = [j.name for j in model.moving_joints if j.mimic is None and j.name not in loose]
        self.commands = {name: i for i, name in enumerate(commanded)}
        self.way: dict[str, Array] = {}

    def rollers(self, link: str) -> int:
        """Return how many joints without limits are below a link."""
        below, count = {link}, 0
        for joint in self.robot.model.joints:
            if joint.parent in below:
                below.add(joint.child)
                count += joint.type is JointType.CONTINUOUS
        return count

    def wheel(self, role: Wheel) -> GroundWheel:
        """Return a wheel in the root's frame; its way of rolling is kept aside."""
        joint, link = self.joints[role.joint], self.robot.model.link(role.link)
        X_BL = self.poses[joint.child]
        axis = X_BL[:3, :3] @ joint.axis
        # What turns about `axis` rolls along axis x up.
        way = np.array([axis[1], -axis[0]]) / hypot(axis[0], axis[1])
        radius, width, along = _tread(link, X_BL, axis, role)
        middle = X_BL[:3, 3] + along * axis
        self.way[role.joint] = way
        effort, speed = joint.limits.rated_effort, joint.limits.velocity
        return GroundWheel(
            role.joint, role.link, float(middle[0]), float(middle[1]), radius, width, 1,
            role.caster, float(effort) if np.isfinite(effort) else None, joint.damping,
            joint.friction, self.places[role.joint],
            self.commands[role.joint] if role.driven else None,
            self._steering(role) if role.steered else None,
            float(speed) if speed and np.isfinite(speed) else None,
        )  # fmt: skip

    def _steering(self, role: Wheel) -> Steering:
        joint = self.joints[role.steering]
        X_BJ = self.poses[joint.child]
        sign = 1 if float((X_BJ[:3, :3] @ joint.axis)[2]) > 0 else -1
        return Steering(
            joint.name, float(X_BJ[0, 3]), float(X_BJ[1, 3]), sign, self.robot.home[joint.name],
            _STEEPEST, _STEEPEST, self.places[joint.name], self.commands[joint.name],
        )  # fmt: skip

    def base(self, wheels: list[GroundWheel], way: Array) -> WheeledBase:
        """Put the wheels into the vehicle's frame."""
        # Forwards is the root's x as far as the wheels allow, otherwise its y.
        ahead = way[0] if abs(way[0]) > sin(pi / 8) else way[1]
        forward = way * (1 if ahead > 0 else -1)
        heading = atan2(forward[1], forward[0])
        heading = 0.0 if abs(heading) < _ROUNDED else heading
        turned = [self._turned(wheel, forward, heading) for wheel in wheels]
        standing = [w for w in turned if not w.caster]
        rigid = [w for w in standing if w.steering is None] or standing
        middle = _middle([w.x for w in rigid]), _middle([w.y for w in rigid])
        x, y = (0.0 if abs(value) < _ROUNDED else value for value in middle)
        c, s = cos(heading), sin(heading)
        mass, center = self._center()
        return WheeledBase(
            self.robot.roles.robot,
            (c * x - s * y, s * x + c * y, heading),
            tuple(_moved(wheel, -x, -y) for wheel in turned),
            mass,
            (float(c * center[0] + s * center[1] - x), float(c * center[1] - s * center[0] - y)),
            tuple((c * u + s * v - x, c * v - s * u - y) for u, v in self._supports()),
            tuple(self._at_rest(name) for name in self.commands),
        )

    def _turned(self, wheel: GroundWheel, forward: Array, heading: float) -> GroundWheel:
        """Return a wheel in a frame turned to the front, its steering straight ahead."""
        c, s = cos(heading), sin(heading)
        x, y = c * wheel.x + s * wheel.y, c * wheel.y - s * wheel.x
        way = self.way[wheel.joint]
        sign = 1 if way @ forward > 0 else -1
        steering = wheel.steering
        if steering is None:
            return replace(wheel, x=x, y=y, forward=sign)
        px, py = c * steering.x + s * steering.y, c * steering.y - s * steering.x
        # The angle at home, by which the offset of the wheel from its axis is turned back.
        rolled = sign * way
        angle = wrapped(atan2(rolled[1], rolled[0]) - heading)
        back, aside = cos(angle), sin(angle)
        dx, dy = x - px, y - py
        zero = steering.ahead - steering.sign * angle
        limits = self.joints[steering.joint].limits
        ends = [steering.sign * (end - zero) for end in (limits.lower, limits.upper)]
        steering = replace(
            steering, x=px, y=py, ahead=zero,
            left=float(min(max(*ends, 0.0), _STEEPEST)),
            right=float(min(max(-ends[0], -ends[1], 0.0), _STEEPEST)),
        )  # fmt: skip
        return replace(
            wheel, x=px + back * dx + aside * dy, y=py + back * dy - aside * dx, forward=sign,
            steering=steering,
        )  # fmt: skip

    def _supports(self) -> list[tuple[float, float]]:
        """Return where shapes that are not wheels are as low as these."""
        rolling = {wheel.link for wheel in self.robot.roles.wheels}
        lowest: dict[bool, list[Array]] = {True: [], False: []}
        for link in self.robot.model.links:
            for geometry in link.collisions:
                X = self.poses[link.name] @ geometry.X_LG
                spots = triangulate(geometry.shape).vertices @ X[:3, :3].T + X[:3, 3]
                low = spots[spots[:, 2] < spots[:, 2].min() + 1e-3].mean(axis=0)
                lowest[link.name in rolling].append(np.array([*low[:2], spots[:, 2].min()]))
        ground = min((spot[2] for spot in lowest[True]), default=0.0)
        return [
            (float(spot[0]), float(spot[1]))
            for spot in lowest[False]
            if spot[2] - ground < _SUPPORTED
        ]

    def _at_rest(self, joint: str) -> float:
        rolling = {wheel.joint for wheel in self.robot.roles.wheels}
        return 0.0 if joint in rolling else self.robot.home[joint]

    def _center(self) -> tuple[float, Array]:
        mass, moment = 0.0, np.zeros(3)
        for link in self.robot.model.links:
            if link.inertia:
                X = self.poses[link.name]
                mass += link.inertia.mass
                moment += link.inertia.mass * (X[:3, 3] + X[:3, :3] @ link.inertia.center)
        return float(mass), moment / mass


def passive_joints(robot: StudiedRobot) -> frozenset[str]:
    """Return the joints that nothing drives: of casters, and of wheels without a drive."""
    wheels = robot.roles.wheels
    swivels = {wheel.steering for wheel in wheels if wheel.caster}
    return frozenset(swivels | {wheel.joint for wheel in wheels if not wheel.driven})


def _middle(values: list[float]) -> float:
    return (min(values) + max(values)) / 2


def _moved(wheel: GroundWheel, x: float, y: float) -> GroundWheel:
    steering = wheel.steering
    if steering is not None:
        steering = replace(steering, x=steering.x + x, y=steering.y + y)
    return replace(wheel, x=wheel.x + x, y=wheel.y + y, steering=steering)


def _tread(link: Link, X_BL: Array, axis: Array, role: Wheel) -> tuple[float, float, float]:
    """Return radius and width of a wheel, and the distance of its middle along its axis [m]."""
    for geometry in link.collisions:
        shape = geometry.shape
        if isinstance(shape, Cylinder | Sphere):
            if abs(shape.radius - role.radius) <= _SAME_RADIUS * role.radius:
                along = float(axis @ X_BL[:3, :3] @ geometry.X_LG[:3, 3])
                width = shape.length if isinstance(shape, Cylinder) else 0.0
                return shape.radius, width, along
    spots = [
        (triangulate(g.shape).vertices @ g.X_LG[:3, :3].T + g.X_LG[:3, 3]) @ X_BL[:3, :3].T @ axis
        for g in link.collisions or link.visuals
    ]
    along = float(np.concatenate(spots).min() + np.concatenate(spots).max()) / 2 if spots else 0.0
    return role.radius, role.width, along


def tyre_links(robot: StudiedRobot) -> frozenset[str]:
    """Return the links that are wheels, or rigidly fixed to wheels."""
    rolling = {wheel.link for wheel in robot.roles.wheels}
    return frozenset(
        link
        for body in rigid_tree(robot.model)
        if rolling & {link for link, _ in body.members}
        for link, _ in body.members
    )


def wheel_drives(
    robot: StudiedRobot, base: WheeledBase, *, friction: float, wheel_damping: float
) -> dict[str, Actuation]:
    """Return the drive of every joint; steering is stiff enough for the friction of its wheel."""
    loose = passive_joints(robot)
    drives = {name: servo for name, servo in holding_servos(robot).items() if name not in loose}
    load = friction * base.mass * GRAVITY / len(base.wheels)
    for wheel in base.wheels:
        if wheel.command is not None:
            drives[wheel.joint] = Actuation(DriveMode.VELOCITY, damping=wheel_damping)
        if wheel.steering:
            arm = max(wheel.width / 2 + abs(wheel.y - wheel.steering.y), wheel.radius / 10)
            stiffness = load * arm / _STEERED_OFF
            drives[wheel.steering.joint] = Actuation(
                DriveMode.POSITION, stiffness=stiffness, damping=stiffness * _STEERED_LATE
            )
    return drives


def ground_surfaces(friction: float, rule: FrictionRule) -> tuple[Material, Material]:
    """Return materials of ground and tyres with which casters have no friction.

    In an engine that takes the greater or the average of two surfaces, a frictionless
    caster would still have friction on rough ground; there the ground is frictionless
    as well, and the tyres have all the friction.
    """
    match rule:
        case FrictionRule.MAXIMUM:
            return SLICK, Material(friction)
        case FrictionRule.AVERAGE:
            return SLICK, Material(2 * friction)
        case FrictionRule.GEOMETRIC_MEAN | FrictionRule.MINIMUM:
            return Material(friction), Material(friction)
