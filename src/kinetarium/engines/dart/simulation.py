"""DartSimulation: a scene inside DART."""

from collections.abc import Iterator, Mapping, Sequence
from ctypes import CDLL, c_double
from importlib import import_module
from math import hypot
from typing import Any, NamedTuple

import numpy as np

from kinetarium.engines.base.audit import LoadedFrames, lumped_solids, merged
from kinetarium.engines.base.joint_law import JointLaw
from kinetarium.engines.base.simulation import LIMIT, AppliedWrench, Setup, SimulationBase
from kinetarium.engines.dart.build import Articulation, Surfaces, World
from kinetarium.engines.dart.joint_space import Floating, JointSpace
from kinetarium.engines.dart.options import CONTACT_CFM, DartOptions
from kinetarium.engines.protocol import (
    NO_CONTACTS,
    Audit,
    Contacts,
    Layout,
    LoadedCoupling,
    LoadedDrive,
    LoadedJoint,
    LoadedLoop,
    LoadedSurface,
    State,
)
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Inertia
from kinetarium.scene import PlacedRobot, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose

_VIOLENT = 1e30
"""Force that no motion survives [N or N m]; DART would take it for zero."""
_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))
_SET_CFM = "_ZN4dart10constraint17ContactConstraint24setConstraintForceMixingEd"
"""ContactConstraint::setConstraintForceMixing(double), which dartpy has and does not show."""


class _Saved(NamedTuple):
    """The state of all skeletons, and what the adapter adds to it."""

    motion: tuple[tuple[Array, Array], ...]
    steps_before: tuple[Array | None, ...]


def read_contacts(world: Any, surfaces: Surfaces) -> Contacts:
    """Return the contacts of the last step of DART's world, with normal and friction forces."""
    found = world.getLastCollisionResult().getContacts()
    if not found:
        return NO_CONTACTS
    solid = surfaces.solids
    pairs = [
        (solid[c.collisionObject1.getShapeFrame()], solid[c.collisionObject2.getShapeFrame()])
        for c in found
    ]
    return Contacts(
        solids=np.array(pairs, dtype=np.int32),
        points=np.array([c.point for c in found]),
        normals=np.array([c.normal for c in found]),
        depths=np.array([c.penetrationDepth for c in found]),
        forces=np.array([c.force for c in found]),
    )


class _ContactCompliance:
    """The regularisation of contacts, which DART has once for all worlds of a process."""

    def __init__(self) -> None:
        """Start with DART's own."""
        self._in_force = CONTACT_CFM

    def use(self, cfm: float) -> None:
        """Put a value in force, unless it is."""
        if cfm == self._in_force:
            return
        try:
            setter = CDLL(import_module("dartpy").__file__)[_SET_CFM]
        except (OSError, AttributeError):
            raise KinetariumError(
                "engine 'dart': option contact_cfm cannot be set: this build of dartpy does not"
                " export DART's function for it"
            ) from None
        setter.argtypes, setter.restype = [c_double], None
        setter(cfm)
        self._in_force = cfm


_COMPLIANCE = _ContactCompliance()


class DartSimulation(SimulationBase[_Saved]):
    """A scene inside DART.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Position and
    velocity drives, joint damping, friction, armature and couplings are forces
    from outside DART's solver (`JointLaw`; friction alone is DART's): it solves
    springs and dampers of joints implicitly, but its contacts do not know of
    them. Loops are closed by constraints of its solver.
    """

    def __init__(self, setup: Setup[DartOptions], *, world: World) -> None:
        """Start a scene that has been built."""
        super().__init__(setup)
        scene, layout = setup.scene, setup.layout
        self._scene, self._world, self._step = scene, world, world.bare.step
        self._cfm = setup.options.contact_cfm
        _COMPLIANCE.use(self._cfm)  # refused before the first step
        self._stale = False  # whether DART may remember contacts
        self._laws: dict[str, JointLaw] = {}
        self._spaces: dict[str, JointSpace] = {}
        for robot, placed in zip(world.robots, scene.robots, strict=True):
            self._laws[robot.name] = law = JointLaw(
                setup, placed, base=6 * robot.free, coupling_erp=setup.options.coupling_erp
            )
            self._spaces[robot.name] = JointSpace(robot, armature=law.armature)
            if not law.only_torques:
                for joint in robot.joints:  # the law has the friction
                    joint.setCoulombFriction(0, 0.0)
        self._driven = [
            (robot.skeleton, self._laws[robot.name]) for robot in world.robots if robot.joints
        ]
        # What moves, the root it flies by if it does, and which joints are its own.
        moving = [part for part in (*world.robots, *world.free) if part.joints or part.free]
        self._movers = [
            (
                part.skeleton,
                None if part.p_BC is None else Floating(part.p_BC),
                layout.robot_joints.get(part.name, slice(0, 0)),
            )
            for part in moving
        ]
        self._sensors = {
            sensor.name: world.nodes[
                f"{sensor.robot}/{scene.robot(sensor.robot).model.joint(sensor.joint).child}"
            ][0]
            for sensor in scene.sensors
        }

    def audit(self) -> Audit:
        """Read back the model as DART loaded it."""
        return audit(self._scene, self._layout, world=self._world, laws=self._laws)

    def _write(self, state: State) -> None:
        self._forget_contacts()
        for law in self._laws.values():
            law.before = None
        root = 0
        for skeleton, floating, own in self._movers:
            q, v = state.q[own], state.v[own]
            if floating:
                placed, twist = floating.write(state.poses[root], state.twists[root])
                q, v = np.concatenate([placed, q]), np.concatenate([twist, v])
                root += 1
            skeleton.setPositions(q)
            skeleton.setVelocities(v)

    def _read(self) -> tuple[Array, Array, Array, Array]:
        q, v, poses, twists = [], [], [], []
        for skeleton, floating, _ in self._movers:
            positions, velocities = skeleton.getPositions(), skeleton.getVelocities()
            if floating:
                placed, twist = floating.read(positions, velocities)
                poses.append(placed)
                twists.append(twist)
                positions, velocities = positions[6:], velocities[6:]
            if len(positions):
                q.append(positions)
                v.append(velocities)
        return (
            q[0] if len(q) == 1 else np.concatenate(q) if q else np.zeros(0),
            v[0] if len(v) == 1 else np.concatenate(v) if v else np.zeros(0),
            np.array(poses or _NO_POSES),
            np.array(twists or _NO_TWISTS),
        )

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        _COMPLIANCE.use(self._cfm)
        for i in range(n):
            for solid, F_W, point in wrenches:
                node = self._world.nodes[solid][0]
                node.addExtForce(F_W[:3], point, False, False)
                node.addExtTorque(F_W[3:], False)
            if not self._drive(command, pushed=bool(wrenches)):
                self._diverge()
                return i
            self._step(False)
            for solid, _, _ in wrenches:
                self._world.nodes[solid][0].clearExternalForces()
            self._stale = True
        return n

    def _contacts(self) -> Contacts:
        return read_contacts(self._world.bare, self._world.surfaces)

    def _wrench(self, sensor: str) -> Array:
        # DART has what the parent exerts on the child, as [m; f].
        F = self._sensors[sensor].getBodyForce()
        return -np.concatenate([F[3:], F[:3]])

    def _save(self) -> _Saved:
        self._forget_contacts()
        return _Saved(
            tuple((s.getPositions(), s.getVelocities()) for s, _, _ in self._movers),
            tuple(law.before for law in self._laws.values()),
        )

    def _restore(self, memory: _Saved) -> None:
        self._forget_contacts()
        for (skeleton, _, _), (q, v) in zip(self._movers, memory.motion, strict=True):
            skeleton.setPositions(q)
            skeleton.setVelocities(v)
        for law, before in zip(self._laws.values(), memory.steps_before, strict=True):
            law.before = before

    def _mass_matrix(self, robot: str) -> Array:
        return self._spaces[robot].mass_matrix()

    def _inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        for sensor in self._sensors:
            self.wrench(sensor)  # while DART still knows the forces of the step
        return self._spaces[robot].inverse_dynamics(acceleration)

    def _equation_of_motion(
        self, robot: str, q: Array, v: Array, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        return self._spaces[robot].of_fixed_base(q, v, a=a)

    def _drive(self, command: Array, *, pushed: bool) -> bool:
        """Hand over the forces for the next step; return whether they make sense."""
        for skeleton, law in self._driven:
            v = skeleton.getVelocities()
            if law.only_torques:
                tau = law.torques(command)
            else:
                bias = skeleton.getCoriolisAndGravityForces()
                if pushed:
                    bias -= skeleton.getExternalForces()
                tau = law(
                    command,
                    q=skeleton.getPositions(),
                    v=v,
                    M=skeleton.getMassMatrix(),
                    bias=bias,
                )
            # Joints that run away may come back, which bodies that fly away do not.
            if not (hypot(*v.tolist()) < LIMIT and hypot(*tau.tolist()) < _VIOLENT):
                return False
            skeleton.setForces(tau)
        return True

    def _forget_contacts(self) -> None:
        """Leave no contact of earlier steps to DART, so that what follows is the same again."""
        if self._stale and self._world.surfaces.solids:
            self._world.forget_contacts()
        self._stale = False


def audit(scene: Scene, layout: Layout, *, world: World, laws: Mapping[str, JointLaw]) -> Audit:
    """Read back a scene.

    Args:
        laws: What applies drives, couplings, damping, friction and armature, by robot.
    """
    joints: list[LoadedJoint] = []
    drives: list[LoadedDrive] = []
    couplings: list[LoadedCoupling] = []
    loops: list[LoadedLoop] = []
    for robot, placed in zip(world.robots, scene.robots, strict=True):
        frames = _frames(robot, placed, keep=scene.sensed_joints(robot.name))
        joints += _joints(robot, placed, laws[robot.name], frames=frames)
        drives += laws[robot.name].loaded_drives(layout)
        couplings += laws[robot.name].loaded_couplings(placed)
        loops += _loops(robot, placed, frames=frames)
    inertias = {
        node.members[0][0]: _inertia(part, i)
        for part in (*world.robots, *world.free)
        for i, node in enumerate(part.nodes)
        if node.node.getInertia().getMass()
    }
    return Audit(
        tuple(lumped_solids(scene, inertias)),
        tuple(joints),
        frozen(world.bare.getGravity()),
        tuple(_remarks(scene)),
        drives=tuple(sorted(drives, key=lambda drive: layout.commands.index(drive.joint))),
        couplings=tuple(couplings),
        loops=tuple(loops),
        surfaces=merged(_surfaces(scene, world)),
    )


def _frames(robot: Articulation, placed: PlacedRobot, *, keep: frozenset[str]) -> LoadedFrames:
    """Read the frames of joints; DART has its own frame of a free root."""
    loaded = {}
    bodies = rigid_tree(placed.model, keep=keep)
    for body, node in zip(bodies, robot.nodes, strict=True):
        if body.joint:
            joint = node.node.getParentJoint()
            above, below = (
                end.matrix()
                for end in (
                    joint.getTransformFromParentBodyNode(),
                    joint.getTransformFromChildBodyNode(),
                )
            )
            X_NB = robot.nodes[body.parent].members[0][1]
            loaded[body.joint.name] = inverse_pose(X_NB) @ above @ inverse_pose(below)
    return LoadedFrames.of(placed, loaded, keep=keep)


def _loops(
    robot: Articulation, placed: PlacedRobot, *, frames: LoadedFrames
) -> Iterator[LoadedLoop]:
    """Yield the loops as set; dartpy cannot read them back."""
    homes = {
        solid.partition("/")[2]: (node.members[0][0].partition("/")[2], node.members[0][1], X_NL)
        for node in robot.nodes
        for solid, X_NL in node.members
    }
    for loop in placed.model.loops:
        ends = []
        for link, X_LC in ((loop.link_a, loop.X_AC), (loop.link_b, loop.X_BC)):
            body, X_NB, X_NL = homes[link]
            ends.append((body, inverse_pose(X_NB) @ X_NL @ X_LC))
        yield frames.loop(loop, ends, read_back=False)


def _surfaces(scene: Scene, world: World) -> Iterator[LoadedSurface]:
    for shape, solid in world.surfaces.solids.items():
        aspect = shape.getDynamicsAspect()
        # DART has the root of a restitution, see `Surfaces`.
        restitution = aspect.getRestitutionCoeff() ** 2
        yield LoadedSurface(scene.solids[solid], aspect.getFrictionCoeff(), restitution)


def _inertia(part: Articulation, node: int) -> Inertia:
    """Read the inertia of a body in the frame of its topmost link."""
    loaded = part.nodes[node].node.getInertia()
    center = loaded.getLocalCOM()
    if part.p_BC is not None and node == 0:
        center = center + part.p_BC
    return Inertia(loaded.getMass(), frozen(center), frozen(loaded.getMoment()))


def _joints(
    robot: Articulation, placed: PlacedRobot, law: JointLaw, *, frames: LoadedFrames
) -> Iterator[LoadedJoint]:
    joints = zip(robot.joints, placed.model.moving_joints, strict=True)
    for i, (there, joint) in enumerate(joints, 6 * robot.free):
        yield LoadedJoint(
            name=f"{robot.name}/{joint.name}",
            axis=frozen(there.getAxis()),
            damping=there.getDampingCoefficient(0) + float(law.damping[i]),
            friction=there.getCoulombFriction(0) + float(law.friction[i]),
            armature=float(law.armature[i]),
            lower=there.getPositionLowerLimit(0),
            upper=there.getPositionUpperLimit(0),
            X_PJ=frames.joints[joint.name],
            read_back=law.only_torques,
        )


def _remarks(scene: Scene) -> Iterator[str]:
    if any(joint.mimic for robot in scene.robots for joint in robot.model.moving_joints):
        yield "couplings hold against contacts with a delay of one time step"
