"""A scene inside ODE: bodies, each joined to one above it, the world or nothing."""

from ctypes import CDLL
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.ode.joints import OdeJoint, reference_position
from kinetarium.engines.ode.library import MASS_SLOTS, POSITION, BodyMemory
from kinetarium.engines.ode.options import OdeOptions
from kinetarium.engines.protocol import Layout, State
from kinetarium.model.robot import Inertia, Joint, JointType, Loop, LoopKind
from kinetarium.scene import Base, Motion, PlacedRobot, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    quaternion_from_rotation,
    rotation_from_quaternion,
)

WORLD = -1
"""Stands for the index of a body where the world itself is meant."""
NONE = -1
"""Stands for an index where there is nothing to point at."""
_NEGLIGIBLE = 1e-6
"""Share of a robot's mass given to a body without any: ODE cannot move what has no mass."""


@dataclass(frozen=True, slots=True, eq=False)
class BodySpec:
    """A rigid body that moves.

    Attributes:
        name: The solid whose frame is the body's frame.
        parent: Index of the body above, or WORLD.
        joint: The joint to it, FIXED only where a sensor sits; None for what floats freely.
        X_PJ: Pose of the joint at position zero in the frame of the parent, shape (4, 4).
        coordinate: Index into `layout.joints`, or NONE.
        floating: Index into `layout.floating`, or NONE.
        inertia: Mass properties.
        members: The solids it consists of.
    """

    name: str
    parent: int
    joint: Joint | None
    X_PJ: Array
    coordinate: int
    floating: int
    inertia: Inertia
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """All moving bodies of a scene, a parent before its children.

    Attributes:
        specs: The bodies.
        homes: For each solid of the layout the body it is part of, or WORLD, and its pose there.
        massless: Names of the bodies that were given a negligible mass.
        centers: Centre of mass of each body in its frame [m], shape (n, 3, 1).
        moments: Its moment of inertia in its axes [kg m^2], shape (n, 3, 3).
        X_PJ: Pose of its joint at position zero in the frame of the parent, shape (n, 4, 4).
        axes: Axis of its joint, zero if that does not move, shape (n, 3).
        slides: Whether its joint is a slider, shape (n,).
    """

    specs: tuple[BodySpec, ...]
    homes: dict[str, tuple[int, Array]]
    massless: tuple[str, ...]
    centers: Array
    moments: Array
    X_PJ: Array
    axes: Array
    slides: NDArray[np.bool_]


def assemble(scene: Scene, layout: Layout) -> Assembly:
    """Find the moving bodies of a scene."""
    specs: list[BodySpec] = []
    homes: dict[str, tuple[int, Array]] = {}
    massless: list[str] = []
    for robot in scene.robots:
        kept = scene.sensed_joints(robot.name)
        massless += _add_robot(robot, kept, layout, specs, homes)
    for body in scene.bodies:
        if body.motion is Motion.FREE and body.inertia is not None:
            homes[body.name] = (len(specs), frozen(np.eye(4)))
            members, floating = (body.name,), layout.floating.index(body.name)
            specs.append(
                BodySpec(body.name, WORLD, None, body.X_WB, NONE, floating, body.inertia, members)
            )
        else:
            homes[body.name] = (WORLD, body.X_WB)
    centers = np.array([spec.inertia.center for spec in specs]).reshape(-1, 3, 1)
    moments = np.array([spec.inertia.moment for spec in specs]).reshape(-1, 3, 3)
    axes, slides = np.zeros((len(specs), 3)), np.zeros(len(specs), dtype=np.bool_)
    for i, spec in enumerate(specs):
        if spec.joint and spec.coordinate != NONE:
            axes[i], slides[i] = spec.joint.axis, spec.joint.type is JointType.PRISMATIC
    X_PJ = np.array([spec.X_PJ for spec in specs]).reshape(-1, 4, 4)
    return Assembly(tuple(specs), homes, tuple(massless), centers, moments, X_PJ, axes, slides)


def _add_robot(
    robot: PlacedRobot,
    kept: frozenset[str],
    layout: Layout,
    specs: list[BodySpec],
    homes: dict[str, tuple[int, Array]],
) -> list[str]:
    """Add the bodies of a robot; return the names of those without mass."""
    massless = []
    # For each body of the tree its index and its pose there; a root that is held is the world.
    places: list[tuple[int, Array]] = []
    for body in rigid_tree(robot.model, keep=kept):
        name = f"{robot.name}/{body.name}"
        members = tuple(f"{robot.name}/{link}" for link, _ in body.members)
        if body.joint is None and robot.base is Base.FIXED:
            places.append((WORLD, robot.X_WB))
        else:
            parent, X_PB = places[body.parent] if body.joint else (WORLD, robot.X_WB)
            X_PJ = frozen(X_PB @ body.X_PJ)
            coordinate = floating = NONE
            if body.joint is None:
                floating = layout.floating.index(name)
            elif body.joint.type is not JointType.FIXED:
                coordinate = layout.joints.index(f"{robot.name}/{body.joint.name}")
            inertia = body.inertia
            if inertia is None:
                massless.append(name)
                mass = _NEGLIGIBLE * robot.model.mass
                inertia = Inertia(mass, frozen(np.zeros(3)), frozen(1e-4 * mass * np.eye(3)))
            places.append((len(specs), frozen(np.eye(4))))
            specs.append(
                BodySpec(name, parent, body.joint, X_PJ, coordinate, floating, inertia, members)
            )
        index, X = places[-1]
        for solid, (_, X_BL) in zip(members, body.members, strict=True):
            homes[solid] = (index, frozen(X @ X_BL))
    return massless


class Placement(NamedTuple):
    """Poses and velocities of n bodies.

    Attributes:
        X_WB: Poses, shape (n, 4, 4).
        centers: Centres of mass [m], shape (n, 3).
        V_WC: Velocities of the centres of mass and angular velocities, lagging behind by the
            time step to come [m/s, rad/s], shape (n, 6).
    """

    X_WB: Array
    centers: Array
    V_WC: Array


def placement(assembly: Assembly, state: State, *, timestep: float) -> Placement:
    """Return where every body is in a state, and the velocity to set it."""
    n = len(assembly.specs)
    # At the origins of the bodies; the last row is the world's, which the index WORLD finds.
    X_WB = np.tile(np.eye(4), (n + 1, 1, 1))
    V, A = np.zeros((2, n + 1, 6))
    X_PB = _on_parents(assembly, state)
    for i, spec in enumerate(assembly.specs):
        if spec.joint is None:
            X_WB[i] = pose(
                state.poses[spec.floating, :3],
                rotation_from_quaternion(state.poses[spec.floating, 3:]),
            )
            V[i] = state.twists[spec.floating]
            # What floats moves its centre of mass evenly if nothing accelerates it.
            A[i, :3] = -_centripetal(V[i, 3:], X_WB[i, :3, :3] @ spec.inertia.center)
        else:
            X_WB[i] = X_WB[spec.parent] @ X_PB[i]
            V[i], A[i] = _carried(spec, state, X_WB, V[spec.parent], A[spec.parent], i)
    arms = X_WB[:n, :3, :3] @ assembly.centers
    V_WC = _lagging(assembly, X_WB[:n, :3, :3], arms, V[:n], A[:n], timestep)
    return Placement(X_WB[:n], X_WB[:n, :3, 3] + arms[..., 0], V_WC)


def motion(spec: BodySpec, q: float) -> Array:
    """Return the pose of a moved joint [rad or m] against its position zero, shape (4, 4)."""
    if spec.joint is None or spec.coordinate == NONE:
        return pose()
    if spec.joint.type is JointType.PRISMATIC:
        return pose(q * spec.joint.axis)
    return pose(rotation=so3.exp(q * spec.joint.axis))


def _on_parents(assembly: Assembly, state: State) -> Array:
    """Return the pose of every body in the frame of its parent, shape (n, 4, 4)."""
    q = np.array([0.0 if s.coordinate == NONE else state.q[s.coordinate] for s in assembly.specs])
    ways = q[:, np.newaxis] * assembly.axes
    moved, slides = np.tile(np.eye(4), (len(q), 1, 1)), assembly.slides
    moved[~slides, :3, :3] = so3.exp(ways[~slides])
    moved[slides, :3, 3] = ways[slides]
    return assembly.X_PJ @ moved


def _carried(
    spec: BodySpec, state: State, X_WB: Array, V_P: Array, A_P: Array, i: int
) -> tuple[Array, Array]:
    """Return the twist of a body on a moving parent and its acceleration at a steady joint."""
    assert spec.joint is not None
    arm = X_WB[i, :3, 3] - X_WB[spec.parent, :3, 3]
    V, A = V_P.copy(), A_P.copy()
    V[:3] += _cross(V_P[3:], arm)
    A[:3] += _cross(A_P[3:], arm) + _centripetal(V_P[3:], arm)
    if spec.coordinate != NONE:
        along = state.v[spec.coordinate] * (X_WB[i, :3, :3] @ spec.joint.axis)
        if spec.joint.type is JointType.PRISMATIC:
            V[:3] += along
            A[:3] += 2 * _cross(V_P[3:], along)
        else:
            V[3:] += along
            A[3:] += _cross(V_P[3:], along)
    return V, A


def _lagging(
    assembly: Assembly, R: Array, arms: Array, V: Array, A: Array, timestep: float
) -> Array:
    """Return the velocities to set of centres of mass and the angular velocities, shape (n, 6)."""
    v, w, a, alpha = (part[..., np.newaxis] for part in (V[:, :3], V[:, 3:], A[:, :3], A[:, 3:]))
    W = so3.hat(V[:, 3:])
    v = v + W @ arms - timestep * (a + so3.hat(A[:, 3:]) @ arms + W @ (W @ arms))
    moments = R @ assembly.moments @ R.mT
    wanted = moments @ (w - timestep * alpha) - timestep * W @ (moments @ w)
    u = np.linalg.solve(moments, wanted)
    L = np.linalg.solve(np.eye(3) - timestep * so3.hat(u[..., 0]), wanted)
    w = np.linalg.solve(moments, L)
    return np.concatenate([v, w], axis=1)[..., 0]


def _centripetal(w: Array, arm: Array) -> Array:
    return _cross(w, _cross(w, arm))


def _cross(a: Array, b: Array) -> Array:
    """As np.cross of two vectors to the bit, at a seventh of its time."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


class OdeWorld:
    """A world of bodies whose origins are their centres of mass, with the axes of their specs.

    Attributes:
        library: ODE.
        handle: The world.
        specs: What each body is.
        bodies: The bodies.
        memory: Their state.
        joints: The moving joints, in the order of coordinates.
        children: The body below each of them.
        welds: The fixed joints that carry sensors, by the body below.
        ties: The joint of each loop, by robot and name; None where both ends are of one body.
    """

    def __init__(self, library: CDLL, assembly: Assembly, *, setup: Setup[OdeOptions]) -> None:
        """Build the bodies of a scene."""
        scene, options = setup.scene, setup.options
        self.library = library
        self.specs = assembly.specs
        self.handle: int = library.dWorldCreate()
        library.dWorldSetGravity(self.handle, *scene.gravity)
        library.dWorldSetERP(self.handle, options.erp)
        library.dWorldSetCFM(self.handle, options.cfm)
        library.dWorldSetContactMaxCorrectingVel(self.handle, options.correcting_speed)
        library.dWorldSetQuickStepNumIterations(self.handle, options.iterations)
        library.dWorldSetQuickStepW(self.handle, options.relaxation)
        library.dWorldSetAutoDisableFlag(self.handle, 0)
        library.dWorldSetDamping(self.handle, 0.0, 0.0)
        self.bodies = [self._body(spec) for spec in self.specs]
        self.memory = BodyMemory(library, self.bodies)
        jointed = sorted((s.coordinate, i) for i, s in enumerate(self.specs) if s.coordinate >= 0)
        self.children = [i for _, i in jointed]
        self.joints = [self._joint(i) for i in self.children]
        self.welds = {
            i: self._weld(i)
            for i, spec in enumerate(self.specs)
            if spec.joint is not None and spec.coordinate == NONE
        }
        self.ties: dict[str, int | None] = {}
        for robot in scene.robots:
            for loop in robot.model.loops:
                homes = [assembly.homes[f"{robot.name}/{x}"] for x in (loop.link_a, loop.link_b)]
                self.ties[f"{robot.name}/{loop.name}"] = self._close(loop, homes)

    def body(self, index: int) -> int | None:
        """Return the body of an index; None, which is ODE's name for the world, for WORLD."""
        return None if index == WORLD else self.bodies[index]

    def place(self, placed: Placement) -> None:
        """Put every body in its place, with its velocity."""
        quaternions = np.ascontiguousarray(quaternion_from_rotation(placed.X_WB[:, :3, :3]))
        address: int = quaternions.ctypes.data
        numbers = zip(self.bodies, placed.centers.tolist(), placed.V_WC.tolist(), strict=True)
        for i, (body, center, velocity) in enumerate(numbers):
            self.library.dBodySetPosition(body, *center)
            self.library.dBodySetQuaternion(body, address + 32 * i)
            self.library.dBodySetLinearVel(body, *velocity[:3])
            self.library.dBodySetAngularVel(body, *velocity[3:])

    def notify(self) -> None:
        """Let ODE's geometries know that the memory of the bodies was written to."""
        for body, position in zip(self.bodies, self.memory.now[POSITION].T.tolist(), strict=False):
            self.library.dBodySetPosition(body, *position)

    def inertia(self, index: int) -> Inertia:
        """Read back the mass properties of a body, in the frame of its spec."""
        mass = np.zeros(MASS_SLOTS)
        self.library.dBodyGetMass(self.bodies[index], mass.ctypes.data)
        moment = mass[5:].reshape(3, 4)[:, :3]
        return Inertia(float(mass[0]), self.specs[index].inertia.center, frozen(moment))

    def gravity(self) -> Array:
        """Read back gravity [m/s^2], shape (3,)."""
        gravity = np.zeros(4)
        self.library.dWorldGetGravity(self.handle, gravity.ctypes.data)
        return frozen(gravity[:3])

    def close(self) -> None:
        """Destroy the world with its bodies and joints."""
        self.library.dWorldDestroy(self.handle)

    def _body(self, spec: BodySpec) -> int:
        body: int = self.library.dBodyCreate(self.handle)
        mass = np.zeros(MASS_SLOTS)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = spec.inertia.moment.tolist()
        self.library.dMassSetParameters(
            mass.ctypes.data, spec.inertia.mass, 0.0, 0.0, 0.0, xx, yy, zz, xy, xz, yz
        )
        self.library.dBodySetMass(body, mass.ctypes.data)
        # Turn by the finite rotation of each step, not by its tangent, which stretches.
        self.library.dBodySetFiniteRotationMode(body, 1)
        return body

    def _put(self, index: int, X: Array) -> None:
        center = X[:3, :3] @ self.specs[index].inertia.center + X[:3, 3]
        quaternion = quaternion_from_rotation(X[:3, :3])
        self.library.dBodySetPosition(self.bodies[index], *center.tolist())
        self.library.dBodySetQuaternion(self.bodies[index], quaternion.ctypes.data)

    def _at_reference(self, child: int, reference: float) -> tuple[int, int | None]:
        """Put a body where its joint has a position, its parent at the origin; return both."""
        spec = self.specs[child]
        if spec.parent != WORLD:
            self._put(spec.parent, pose())
        self._put(child, spec.X_PJ @ motion(spec, reference))
        return self.bodies[child], self.body(spec.parent)

    def _joint(self, child: int) -> OdeJoint:
        spec = self.specs[child]
        assert spec.joint is not None
        reference = reference_position(spec.joint)
        joint = OdeJoint(self.library, self.handle, spec.joint, reference=reference)
        bodies = self._at_reference(child, reference)
        axis = spec.X_PJ[:3, :3] @ spec.joint.axis
        joint.join(*bodies, anchor=spec.X_PJ[:3, 3], axis=axis)
        return joint

    def _weld(self, child: int) -> int:
        weld: int = self.library.dJointCreateFixed(self.handle, None)
        self.library.dJointAttach(weld, *self._at_reference(child, 0.0))
        self.library.dJointSetFixed(weld)
        return weld

    def _close(self, loop: Loop, homes: list[tuple[int, Array]]) -> int | None:
        """Tie two frames together where they coincide, unless they are of one body."""
        ends = [
            (index, X @ X_C) for (index, X), X_C in zip(homes, (loop.X_AC, loop.X_BC), strict=True)
        ]
        # ODE's first body must not be the world, whose frame cannot be moved either.
        (first, X_1), (second, X_2) = sorted(ends, key=lambda end: end[0] == WORLD)
        if first == second:
            return None
        if second != WORLD:
            self._put(second, pose())
        self._put(first, X_2 @ inverse_pose(X_1))
        point = loop.kind is LoopKind.POINT
        create = self.library.dJointCreateBall if point else self.library.dJointCreateFixed
        tie: int = create(self.handle, None)
        self.library.dJointAttach(tie, self.bodies[first], self.body(second))
        if point:
            self.library.dJointSetBallAnchor(tie, *X_2[:3, 3])
        else:
            self.library.dJointSetFixed(tie)
        return tie
