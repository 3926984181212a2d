"""An object between the fingers of any gripper, and what of the robot takes part in holding it.

The fingers are closed until they touch the object. From there on they hardly move, so that of
each finger only the joint that closes it best is left to move; the other joints of gripper and
robot are locked, and the robot's base is fixed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import Coupling, RobotDynamics, link_poses
from kinetarium.errors import KinetariumError
from kinetarium.model.load import attach
from kinetarium.model.mesh.solids import bounding_box, solid_properties, triangulate
from kinetarium.model.mesh.triangles import convex_hull
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Inertia,
    Joint,
    JointType,
    Link,
    Mimic,
    RobotModel,
    Shape,
    Source,
)
from kinetarium.roles.roles import Arm, Finger, Gripper
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene.body import DRY, Material, free_body
from kinetarium.scene.robot import Actuation, PlacedRobot, WrenchSensor
from kinetarium.scene.scene import Scene
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose

_SEGMENTS = 32
"""Edges of a full circle of round shapes: 0.5 % of their radius is lost between two corners."""
_GRID = 13
"""Openings at which the fingers are compared with the object first."""
_NEAR = 1e-3
"""Distance below which points coincide [m]."""
_PARALLEL = 1e-3
"""Motion along the object's surface below which a finger slides along the closing axis [-]."""
_STEEP = 0.02
"""Least opening by a closing joint, as a share of its distance [-]: less is a dead centre."""


class GripError(KinetariumError):
    """A gripper that cannot hold an object."""


@dataclass(frozen=True, eq=False)
class Side:
    """A finger, or a fixed jaw, at the object.

    Attributes:
        pad: The link that carries half of the object.
        links: The links that may touch it.
        joint: The joint that closes the finger; empty for a fixed jaw.
        opening: Motion of the pad away from the object by that joint [m/rad or m/m]; may be
            negative, 0 for a fixed jaw.
        slide: Motion of the pad along the object's surface, over that away from it [-].
        limit: Greatest effort of that joint in the robot file [N m or N]; infinite if none is
            stated. Drives that grip may exceed it, which reports say.
        sensed: The joint whose force-torque sensor measures the grip; empty if there is none.
    """

    pad: str
    links: tuple[str, ...]
    joint: str
    opening: float
    slide: float
    limit: float
    sensed: str


@dataclass(frozen=True, eq=False)
class Holder:
    """An arm with an object between the fingers of its gripper.

    Attributes:
        model: The robot; only the joints of the arm and those that close fingers move, in this
            order, without friction, damping and rotor inertia.
        arm: Number of the arm's joints.
        sides: The two sides of the grip; those with joints in the order of the model.
        palm: The link that carries the fingers.
        X_PT: Pose of the grip frame in the palm, shape (4, 4): its origin in the object's
            centre, y from the second side to the first, z away from the palm.
        X_TO: Pose of the object's frame in the grip frame, shape (4, 4).
        home: Positions of the moving joints, the fingers touching, shape (n,).
        shape: The object.
        mass: Its mass [kg].
    """

    model: RobotModel
    arm: int
    sides: tuple[Side, Side]
    palm: str
    X_PT: Array
    X_TO: Array
    home: Array
    shape: Shape
    mass: float

    @property
    def moving(self) -> tuple[Side, ...]:
        """The sides that move, in the order of their joints."""
        return tuple(side for side in self.sides if side.joint)

    @property
    def openings(self) -> Array:
        """Motion of each moving side away from the object by its joint, shape (moving,)."""
        return np.array([side.opening for side in self.moving])

    @property
    def parallel(self) -> bool:
        """Whether both fingers slide along the closing axis.

        Only then does the closing force alone determine the grip: pads that swing also press
        along the object's surface, and how much is up to friction.
        """
        return len(self.moving) == 2 and all(side.slide < _PARALLEL for side in self.moving)

    @property
    def object(self) -> str:
        """Name of the object in a scene."""
        cube = isinstance(self.shape, Box) and len(set(self.shape.size)) == 1
        return "cube" if cube else type(self.shape).__name__.lower()

    @cached_property
    def inertia(self) -> Inertia:
        """Mass properties of the object, in its frame."""
        unit = solid_properties(self.shape, density=1.0)
        return Inertia(self.mass, unit.center, frozen(unit.moment * (self.mass / unit.mass)))

    def grip_frame(self, q: ArrayLike) -> Array:
        """Return the poses of the grip frame X_WT at configurations (..., n), (..., 4, 4)."""
        palm = [link.name for link in self.model.links].index(self.palm)
        return np.asarray(link_poses(self.model, q)[..., palm, :, :] @ self.X_PT)

    def at(self, home: ArrayLike) -> "Holder":
        """Return the same grip at other positions of the arm, shape (arm,)."""
        return replace(self, home=frozen([*np.asarray(home), *self.home[self.arm :]]))

    def driven(self, *, coupled: bool, armature: float = 0.0) -> "Holder":
        """Return it with drives of some inertia, and fingers that a gear may couple.

        Args:
            coupled: Whether the second moving finger follows the first.
            armature: Inertia of the drive of every joint [kg m^2 or kg].
        """
        gear: dict[str, Mimic] = {}
        if coupled and len(self.moving) == 2:
            first, second = self.moving
            ratio = first.opening / second.opening
            q_1, q_2 = self.home[self.arm :]
            gear[second.joint] = Mimic(first.joint, ratio, float(q_2 - ratio * q_1))
        joints = tuple(
            joint
            if joint.type is JointType.FIXED
            else replace(joint, armature=armature, mimic=gear.get(joint.name))
            for joint in self.model.joints
        )
        changes = f"{self.model.source.sha256} {coupled} {armature}"
        source = replace(self.model.source, sha256=sha256(changes.encode()).hexdigest())
        return replace(self, model=replace(self.model, joints=joints, source=source))

    def carrying(self, *, mass: float | None = None) -> RobotModel:
        """Return the robot with half of the object fixed to the pad of each side.

        Args:
            mass: Mass of the object, if it is not the true one [kg].
        """
        share = (self.mass if mass is None else mass) / self.mass / 2
        whole = self.inertia
        half = Inertia(share * whole.mass, whole.center, frozen(share * whole.moment))
        load = RobotModel("half", (Link("load", half),), (), Source("half", "built", "half"))
        X_WL = dict(zip((link.name for link in self.model.links),
                        link_poses(self.model, self.home), strict=True))  # fmt: skip
        X_WO = self.grip_frame(self.home) @ self.X_TO
        model = self.model
        for i, side in enumerate(self.sides):
            X_PO = inverse_pose(X_WL[side.pad]) @ X_WO
            model = attach(
                model, load, link=side.pad, X_LP=X_PO, prefix=f"{i}_half_", name=model.name
            )
        return model

    def scene(
        self, *, actuation: Mapping[str, Actuation] | None = None, material: Material = DRY
    ) -> Scene:
        """Return the robot "arm" and the object; nothing but the fingers touches it.

        Args:
            actuation: The drive of each joint by name.
            material: The surface of everything.

        Returns:
            A scene with a sensor for each side that has one, named after its pad.
        """
        positions = dict(zip((joint.name for joint in self.model.moving_joints),
                             self.home.tolist(), strict=True))  # fmt: skip
        robot = PlacedRobot(
            "arm",
            self.model,
            positions=positions,
            actuation=dict(actuation or {}),
            material=material,
        )
        X_WO = self.grip_frame(self.home) @ self.X_TO
        held = free_body(
            self.object,
            self.shape,
            mass=self.mass,
            position=X_WO[:3, 3],
            rotation=X_WO[:3, :3],
            material=material,
        )
        sensors = tuple(
            WrenchSensor(side.pad, "arm", side.sensed) for side in self.sides if side.sensed
        )
        touching = {link for side in self.sides for link in side.links}
        # An object that sinks into soft pads must not come to rest on the links behind them.
        bare = [link.name for link in self.model.links if link.name not in touching]
        no_contact = frozenset(frozenset((f"arm/{link}", held.name)) for link in bare)
        return Scene((robot,), (held,), sensors, no_contact=no_contact)


def hold(
    robot: StudiedRobot,
    arm: Arm,
    *,
    gripper: Gripper,
    shape: Shape,
    mass: float,
    X_TC: ArrayLike = IDENTITY,
    home: Mapping[str, float] | None = None,
) -> Holder:
    """Close a gripper on an object until both sides touch it.

    The object is moved along the closing axis to where both sides touch it.

    Args:
        robot: The robot and its roles.
        arm: The arm that carries the gripper.
        gripper: The gripper; the links of its fingers may touch the object.
        shape: The object; its z axis is that of the grip frame.
        mass: Its mass [kg].
        X_TC: Pose of the centre of the object's bounding box in the grip frame, shape (4, 4).
        home: Positions of the arm's joints, if not those of the home pose [rad or m].

    Raises:
        GripError: If the object is too wide or too thin, or fingers have no shapes.
    """
    low, high = bounding_box(shape)
    X_TO = np.asarray(X_TC) @ pose(-(low + high) / 2)
    closing = _Closing(robot.model, gripper, {**robot.home, **(home or {})})
    closure, X_PT = _touching(closing, shape=shape, X_TO=X_TO)
    q = closing.positions(closure)
    dynamics = RobotDynamics(replace(robot.model, loops=()), free_base=False)
    X_WT = dynamics.link_pose(q, gripper.palm) @ X_PT
    half = float(np.ptp(_corners(shape) @ X_TO[1, :3])) / 2
    sides = [
        _side(dynamics, q, finger=finger, palm=gripper.palm,
              outward=sign * X_WT[:3, 1], point=X_WT[:3, 3] + sign * half * X_WT[:3, 1])
        for sign, finger in zip((1.0, -1.0), gripper.fingers[:2], strict=True)
    ]  # fmt: skip
    fingers = [side.joint for side in sides if side.joint]
    names = [joint.name for joint in robot.model.moving_joints]
    moving = [name for name in names if name in (*arm.joints, *fingers)]
    if set(moving[: len(arm.joints)]) != set(arm.joints):
        raise GripError(f"the gripper is not at the end of the arm '{arm.name}'")
    if (len(fingers) == 2 and moving[-1] != fingers[1]) or not sides[0].joint:
        # The sides change places: the grip frame is turned by half a turn about z.
        sides.reverse()
        X_PT, X_TO = X_PT @ _HALF_TURN, _HALF_TURN @ X_TO
    positions = dict(zip(names, q.tolist(), strict=True))
    return Holder(
        model=_locked(robot.model, moving=frozenset(moving), fingers=fingers, positions=positions),
        arm=len(arm.joints),
        sides=(sides[0], sides[1]),
        palm=gripper.palm,
        X_PT=frozen(X_PT),
        X_TO=frozen(X_TO),
        home=frozen([positions[name] for name in moving]),
        shape=shape,
        mass=mass,
    )


_HALF_TURN = frozen(np.diag([-1.0, -1.0, 1.0, 1.0]))


def _locked(
    model: RobotModel,
    *,
    moving: frozenset[str],
    fingers: Sequence[str],
    positions: Mapping[str, float],
) -> RobotModel:
    """Return a robot with a fixed base of which only some joints move, without losses."""
    q = [positions[joint.name] for joint in model.moving_joints]
    X = dict(zip((link.name for link in model.links), link_poses(model, q), strict=True))

    def changed(joint: Joint) -> Joint:
        if joint.name not in moving:
            X_PJ = frozen(inverse_pose(X[joint.parent]) @ X[joint.child])
            return Joint(joint.name, JointType.FIXED, joint.parent, joint.child, X_PJ)
        # Drives of fingers have limits of their own.
        effort = inf if joint.name in fingers else joint.limits.rated_effort
        limits = replace(joint.limits, effort=effort)
        return Joint(
            joint.name, joint.type, joint.parent, joint.child, joint.X_PJ, joint.axis, limits
        )

    parts = f"{model.source.sha256} {sorted(moving)} {np.array(q).round(9).tolist()}"
    source = replace(model.source, sha256=sha256(parts.encode()).hexdigest())
    return replace(
        model,
        joints=tuple(map(changed, model.joints)),
        loops=(),
        free_base=False,
        source=source,
    )


class _Closing:
    """The positions of a robot's joints, and the grip frame, while its gripper closes."""

    def __init__(self, model: RobotModel, gripper: Gripper, home: Mapping[str, float]) -> None:
        self.model, self.gripper = model, gripper
        self._coupling = Coupling.of(model)
        independent = self._coupling.independent
        self._open = np.array([gripper.open.get(name, home[name]) for name in independent])
        self._closed = np.array([gripper.closed.get(name, home[name]) for name in independent])
        self.index = {link.name: i for i, link in enumerate(model.links)}
        self._pads = [self.index[finger.pad] for finger in gripper.fingers[:2]]
        X_WL = link_poses(model, self.positions(1.0))
        meeting = X_WL[self.index[gripper.palm]] @ [*gripper.center, 1.0]
        self._meeting = [inverse_pose(X_WL[pad]) @ meeting for pad in self._pads]

    def positions(self, closure: float) -> Array:
        """Return the positions of all joints; open at a closure of 0, closed at 1."""
        return self._coupling.positions((1 - closure) * self._open + closure * self._closed)

    def grip_frame(self, X_WL: Array) -> Array:
        """Return the pose of the grip frame in the palm, shape (4, 4), from those of all links.

        It is in the middle between the points of both pads that meet, and its y axis leads from
        one to the other.
        """
        X_PW = inverse_pose(X_WL[self.index[self.gripper.palm]])
        first, second = (
            (X_PW @ X_WL[pad] @ point)[:3]
            for pad, point in zip(self._pads, self._meeting, strict=True)
        )
        y = np.array(self.gripper.axis) / np.linalg.norm(self.gripper.axis)
        if np.linalg.norm(first - second) > _NEAR:
            y = (first - second) / np.linalg.norm(first - second)
        center = (first + second) / 2
        ahead = center - y * (y @ center)
        if np.linalg.norm(ahead) < _NEAR:
            ahead = np.eye(3)[np.argmin(np.abs(y))]
            ahead = ahead - y * (y @ ahead)
        z = ahead / np.linalg.norm(ahead)
        return pose(center, np.stack([np.cross(y, z), y, z], axis=1))


def _touching(closing: _Closing, *, shape: Shape, X_TO: Array) -> tuple[float, Array]:
    """Return the closure at which both sides touch an object, and the grip frame there."""
    gripper = closing.gripper
    solid = _corners(shape) @ X_TO[:3, :3].T + X_TO[:3, 3]
    jaws = [
        [(closing.index[name], _corners(part.shape) @ part.X_LG[:3, :3].T + part.X_LG[:3, 3])
         for name in _solid_links(closing.model, finger)
         for part in closing.model.link(name).collisions]
        for finger in gripper.fingers[:2]
    ]  # fmt: skip

    def clearances(closure: float) -> tuple[Array, Array]:
        X_WL = link_poses(closing.model, closing.positions(closure))
        X_PT = closing.grip_frame(X_WL)
        X_TW = inverse_pose(X_WL[closing.index[gripper.palm]] @ X_PT)
        ways = [
            min(clearance(solid, corners @ (X_TW @ X_WL[link])[:3, :3].T
                          + (X_TW @ X_WL[link])[:3, 3], sign=sign) for link, corners in parts)
            for sign, parts in zip((1.0, -1.0), jaws, strict=True)
        ]  # fmt: skip
        return np.array(ways), X_PT

    def room(closure: float) -> float:
        return float(clearances(closure)[0].sum())

    width = float(np.ptp(solid[:, 1]))
    grid = np.linspace(0.0, 1.0, _GRID)
    rooms = [room(closure) for closure in grid]
    widest = int(np.argmax(np.where(np.isfinite(rooms), rooms, -inf)))
    if rooms[widest] < 0:
        raise GripError(
            f"the object is {1e3 * width:.3g} mm wide between the fingers of '{gripper.name}',"
            f" which open to {1e3 * max(width + rooms[widest], 0.0):.3g} mm there"
        )
    last = next((k for k in range(widest, _GRID) if rooms[k] < 0), None)
    if last is None:
        left = f"leave {1e3 * rooms[-1]:.3g} mm beside it" if rooms[-1] < inf else "miss it"
        raise GripError(
            f"the object is {1e3 * width:.3g} mm wide: the closed fingers of"
            f" '{gripper.name}' {left}"
        )
    from scipy.optimize import brentq

    low, high = float(grid[last - 1]), float(grid[last])
    touch = low
    if rooms[last - 1] < inf:
        touch = brentq(room, low, high, xtol=1e-12)
    free, X_PT = clearances(touch)
    if not abs(float(free.sum())) < _NEAR:
        raise GripError(
            f"the fingers of '{gripper.name}' reach the object from the side, not face to face"
        )
    return float(touch), X_PT @ pose((0.0, float(free[0] - free[1]) / 2, 0.0))


def _solid_links(model: RobotModel, finger: Finger) -> tuple[str, ...]:
    links = tuple(name for name in finger.links if model.link(name).collisions)
    if not links:
        raise GripError(f"'{finger.pad}' has no collision shape to hold an object with")
    return links


def _corners(shape: Shape) -> Array:
    """Return the corners of a shape's convex hull [m], shape (n, 3): engines use hulls."""
    points = triangulate(shape, segments=_SEGMENTS).vertices
    return np.asarray(points[np.unique(convex_hull(points))])


def clearance(solid: Array, other: Array, *, sign: float) -> float:
    """Return how far a solid can be moved along +y or -y before it touches another [m].

    Negative if they overlap: how far back it must be moved. Infinite if it never does. The solids
    are the convex hulls of points: a linear program, min t with a + t y = b.

    Args:
        solid: Points of the solid that moves [m], shape (n, 3).
        other: Points of the other [m], shape (m, 3).
        sign: 1 along +y, -1 along -y.
    """
    a, b = solid[:, ::2], other[:, ::2]
    if np.any(a.min(axis=0) > b.max(axis=0)) or np.any(b.min(axis=0) > a.max(axis=0)):
        return inf
    from scipy.optimize import linprog

    # In millimetres: the solver's tolerances are absolute.
    points = 1e3 * np.vstack([solid, -other])
    n, m = len(solid), len(other)
    A = np.zeros((5, n + m + 1))
    A[:3, :-1] = points.T
    A[1, -1] = sign
    A[3, :n] = A[4, n:-1] = 1.0
    cost = np.zeros(n + m + 1)
    cost[-1] = 1.0
    bounds = [(0.0, None)] * (n + m) + [(None, None)]
    found = linprog(cost, A_eq=A, b_eq=[0, 0, 0, 1, 1], bounds=bounds, method="highs")
    return float(found.x[-1]) * 1e-3 if found.status == 0 else inf


def _side(
    dynamics: RobotDynamics, q: Array, *, finger: Finger, palm: str, outward: Array, point: Array
) -> Side:
    """Find the joint that closes a finger best, by how fast it moves the pad off the object.

    Args:
        outward: Direction away from the object in the world, shape (3,).
        point: Where the pad touches it [m], shape (3,).
    """
    model = dynamics.model
    links = _solid_links(model, finger)
    chain = _chain(model, finger.pad, palm)
    if not chain:
        return Side(finger.pad, links, "", 0.0, 0.0, inf, "")
    X_WL = dynamics.link_pose(q, finger.pad)
    J = dynamics.jacobian(q, finger.pad, point=inverse_pose(X_WL)[:3] @ [*point, 1.0])
    names = [joint.name for joint in model.moving_joints]
    rates = [float(outward @ J[:3, names.index(joint.name)]) for joint in chain]
    best = int(np.argmax(np.abs(rates)))
    motion = J[:3, names.index(chain[best].name)]
    slide = float(np.linalg.norm(motion - rates[best] * outward))
    if abs(rates[best]) <= _STEEP * slide:
        raise GripError(f"no joint of the finger '{finger.pad}' presses on the object")
    # A pad that alone touches the object has the sensor, behind it rather than in the joint.
    sensed = chain[best].name if len(links) > 1 else model.parent_joint[finger.pad].name
    slide /= abs(rates[best])
    limit = chain[best].limits.rated_effort
    return Side(finger.pad, links, chain[best].name, rates[best], slide, limit, sensed)


def _chain(model: RobotModel, link: str, palm: str) -> list[Joint]:
    """Return the moving joints from the palm to a link; none if that is fixed to the palm."""
    chain = []
    while link != palm and link in model.parent_joint:
        joint = model.parent_joint[link]
        if joint.type is not JointType.FIXED:
            chain.append(joint)
        link = joint.parent
    return chain[::-1] if link == palm else []
