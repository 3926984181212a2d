"""DrakeSimulation: a scene inside Drake, and the equation of motion of its robots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.base.audit import LoadedFrames, lumped_solids, merged
from kinetarium.engines.base.simulation import LIMIT, AppliedWrench, Setup, SimulationBase
from kinetarium.engines.drake.build import DrakeWorld, build_world
from kinetarium.engines.drake.contacts import BodyWrench, StepContext
from kinetarium.engines.drake.drives import armature_of, friction_of, loaded_drives
from kinetarium.engines.drake.library import trees
from kinetarium.engines.drake.options import ContactModel, DrakeOptions
from kinetarium.engines.protocol import (
    Audit,
    Contacts,
    LoadedJoint,
    LoadedLoop,
    LoadedSurface,
    State,
)
from kinetarium.model.robot import Box, Capsule, Cylinder, Inertia, JointType, MeshData, MeshFile
from kinetarium.scene import Base, PlacedRobot, Scene, SceneError
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose

Indices = NDArray[np.intp]

# Drake writes what floats as [quaternion; position] and [w; v], both in world axes.
_POSE = np.array([4, 5, 6, 0, 1, 2, 3])
_TWIST = np.array([3, 4, 5, 0, 1, 2])


@dataclass(frozen=True, slots=True, eq=False)
class Addresses:
    """Indices into the state vector.

    Attributes:
        v: Of the velocity of each joint, shape (n,).
        twists: Of the twist [v; w] of each floating solid, shape (f, 6).
        quaternions: Of the first number of its quaternion, by floating solid.
        positions: Number of positions, which stand before all velocities.
        gather: Of q, v, poses and twists one after the other, shape (m,).
        scatter: Where each entry of the state vector stands in those, shape (m,).
    """

    v: Indices
    twists: Indices
    quaternions: tuple[int, ...]
    positions: int
    gather: Indices
    scatter: Indices

    @classmethod
    def of(cls, world: DrakeWorld) -> "Addresses":
        """Look up a scene in the plant built from it."""
        nq = world.plant.num_positions()
        q = np.array([joint.position_start() for joint in world.joints], dtype=np.intp)
        v = np.array([nq + joint.velocity_start() for joint in world.joints], dtype=np.intp)
        poses = [joint.position_start() + _POSE for joint in world.floating]
        twists = [nq + joint.velocity_start() + _TWIST for joint in world.floating]
        gather = np.concatenate([q, v, *poses, *twists])
        return cls(
            v,
            np.array(twists, dtype=np.intp).reshape(-1, 6),
            tuple(joint.position_start() for joint in world.floating),
            nq,
            gather,
            np.argsort(gather),
        )


class JointSpace:
    """The equation of motion of one robot, in Kinetarium's coordinates.

    Drake's own coordinates of a free base are its twist in world axes at its origin
    as well, only angular part first, so that nothing but the order differs. Joint
    damping and friction, contacts and constraints are no part of it; the inertia
    of the drives is.
    """

    def __init__(self, world: DrakeWorld, robot: PlacedRobot, *, addresses: Addresses) -> None:
        """Choose the robot."""
        self._plant = world.plant
        dofs: Indices = addresses.v[world.layout.robot_joints[robot.name]]
        if robot.base is Base.FREE:
            root = world.layout.floating.index(f"{robot.name}/{robot.model.root}")
            dofs = np.concatenate([addresses.twists[root], dofs])
        self._dofs = dofs - addresses.positions
        n = self._plant.num_velocities()
        self._block = n * self._dofs[:, np.newaxis] + self._dofs  # of M, row after row
        self._positions: Indices = addresses.gather[world.layout.robot_joints[robot.name]]
        self._forces = trees.MultibodyForces(self._plant)
        self._acceleration = np.zeros(n)

    def mass_matrix(self, context: Any) -> Array:
        """Return M, shape (n, n)."""
        M: Array = self._plant.CalcMassMatrix(context).T.take(self._block)
        return M

    def inverse_dynamics(self, context: Any, acceleration: Array) -> Array:
        """Return tau = M a + C v + g for an acceleration (recursive Newton-Euler), shape (n,)."""
        self._weigh(context)
        return self._own_forces(context, acceleration)

    def of_fixed_base(
        self, context: Any, q: Array, v: Array, *, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau at a state, which the context takes on."""
        plant, rest, velocity = self._plant, np.zeros_like(v), np.zeros_like(v)
        position = np.empty_like(q)
        position[self._positions], velocity[self._dofs] = q, v
        plant.SetPositions(context, position)
        plant.SetVelocities(context, rest)
        self._weigh(context)
        g = self._own_forces(context, rest)
        plant.SetVelocities(context, velocity)
        bias, tau = self._own_forces(context, rest), self._own_forces(context, a)
        return self.mass_matrix(context), g, bias, tau

    def _weigh(self, context: Any) -> None:
        """Find the forces of gravity, which acts on bodies; those on joints are of damping."""
        self._plant.CalcForceElementsContribution(context, self._forces)
        self._forces.mutable_generalized_forces()[:] = 0.0

    def _own_forces(self, context: Any, acceleration: Array) -> Array:
        self._acceleration[self._dofs] = acceleration
        tau: Array = self._plant.CalcInverseDynamics(context, self._acceleration, self._forces)
        return tau.take(self._dofs)


class DrakeSimulation(SimulationBase[Array]):
    """A scene inside Drake.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. A surface of contact
    counts as one contact at its centre of pressure. Mimic joints are coupled
    and loops closed by constraints of the solver, in which servos and joint
    damping are implicit as well. The solver starts every step from the state
    alone, so that a restored run continues bit by bit.
    """

    def __init__(self, setup: Setup[DrakeOptions]) -> None:
        """Build the scene.

        Raises:
            SceneError: If Drake refuses it, or a joint moves no inertia.
        """
        super().__init__(setup)
        self._scene = setup.scene
        self._world = world = build_world(setup)
        self._at = Addresses.of(world)
        self._quaternions = [slice(i, i + 4) for i in self._at.quaternions]
        joints, floating = len(world.joints), len(world.floating)
        self._ends = (joints, 2 * joints, 2 * joints + 7 * floating)
        self._present, self._before = StepContext(world), StepContext(world)
        self._spaces = {
            robot.name: JointSpace(world, robot, addresses=self._at) for robot in setup.scene.robots
        }
        self._write(setup.start)
        self._refuse_massless()

    def audit(self) -> Audit:
        """Read back the model as Drake loaded it."""
        return audit(self._world, self._scene, context=self._present.context)

    def _write(self, state: State) -> None:
        numbers = (state.q, state.v, state.poses.ravel(), state.twists.ravel())
        x = np.concatenate(numbers).take(self._at.scatter)
        self._normalize(x)
        self._restore(x)

    def _read(self) -> tuple[Array, Array, Array, Array]:
        y = self._x.take(self._at.gather)
        q, v, poses = self._ends
        return y[:q], y[q:v], y[v:poses].reshape(-1, 7), y[poses:].reshape(-1, 6)

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        for i in range(n):
            now, later = self._present, self._before
            now.command(command)
            if wrenches or now.wrenches:
                now.push([self._at_origin(wrench) for wrench in wrenches])
            try:
                x = now.following()
            except (RuntimeError, SystemExit):  # no solution, or an assertion of Drake's own
                self._diverge()
                return i
            self._normalize(x)
            self._x = x
            size = hypot(*x.tolist())
            if size < inf:
                later.place(x)
            self._present, self._before = later, now
            if not size < LIMIT:
                self._suspect()
                return i + 1
        return n

    def _contacts(self) -> Contacts:
        return self._before.contacts()

    def _wrench(self, sensor: str) -> Array:
        # Drake gives what the joint exerts on the child.
        return -self._before.reaction(self._world.sensed[sensor])

    def _save(self) -> Array:
        return self._x

    def _restore(self, memory: Array) -> None:
        self._x = memory
        self._present.place(memory)
        if self._present.wrenches:
            self._present.push(())

    def _mass_matrix(self, robot: str) -> Array:
        return self._spaces[robot].mass_matrix(self._present.context)

    def _inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        return self._spaces[robot].inverse_dynamics(self._present.context, acceleration)

    def _equation_of_motion(
        self, robot: str, q: Array, v: Array, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        return self._spaces[robot].of_fixed_base(self._present.context, q, v, a=a)

    def _at_origin(self, wrench: AppliedWrench) -> BodyWrench:
        """Move a wrench to the origin of the body that a solid is part of."""
        body = self._world.bodies[wrench.solid]
        arm = wrench.point - body.EvalPoseInWorld(self._present.context).translation()
        F = wrench.F_W.copy()
        F[3:] += np.cross(arm, F[:3])
        return body, F

    def _refuse_massless(self) -> None:
        for robot, space in self._spaces.items():
            try:
                np.linalg.cholesky(space.mass_matrix(self._present.context))
            except np.linalg.LinAlgError:
                raise SceneError(
                    f"a joint of robot '{robot}' moves no inertia; "
                    "give its links mass or the joint armature"
                ) from None

    def _normalize(self, x: Array) -> None:
        """Bring quaternions back to unit length, from which Drake lets them stray."""
        for part in self._quaternions:
            quaternion = x[part]
            quaternion /= sqrt(quaternion.dot(quaternion))


def audit(world: DrakeWorld, scene: Scene, *, context: Any) -> Audit:
    """Read back a scene in a context of the plant."""
    inertias: dict[str, Inertia] = {}
    joints: list[LoadedJoint] = []
    loops: list[LoadedLoop] = []
    for solid, body in world.bodies.items():
        # Of a body that stands for several links the topmost has the name.
        if solid.split("/", 1)[-1] == body.name() and body.get_mass(context) > 0:
            inertias[solid] = _inertia(body, context)
    loaded = zip(world.layout.joints, world.joints, strict=True)
    for robot in scene.robots:
        frames = _frames(world, robot, keep=scene.sensed_joints(robot.name))
        joints += [
            _joint(world, *next(loaded), context=context, X_PJ=X_PJ)
            for X_PJ in frames.joints.values()
        ]
        for loop in robot.model.loops:
            ends = world.ties[f"{robot.name}/{loop.name}"]
            loops.append(frames.loop(loop, ends, read_back=False))
    return Audit(
        tuple(lumped_solids(scene, inertias)),
        tuple(joints),
        frozen(world.plant.gravity_field().gravity_vector()),
        tuple(_remarks(world, scene)),
        drives=tuple(loaded_drives(world.plant, world.layout, joints=world.joints)),
        couplings=world.couplings,
        loops=tuple(loops),
        surfaces=merged(_surfaces(world)),
    )


def _frames(world: DrakeWorld, robot: PlacedRobot, *, keep: frozenset[str]) -> LoadedFrames:
    instance, loaded = world.plant.GetModelInstanceByName(f"{robot.name}/"), {}
    for body in rigid_tree(robot.model, keep=keep):
        if body.joint:
            joint = world.plant.GetJointByName(body.joint.name, instance)
            above, below = (
                frame.GetFixedPoseInBodyFrame().GetAsMatrix4()
                for frame in (joint.frame_on_parent(), joint.frame_on_child())
            )
            loaded[body.joint.name] = above @ inverse_pose(below)
    return LoadedFrames.of(robot, loaded, keep=keep)


def _surfaces(world: DrakeWorld) -> Iterator[LoadedSurface]:
    """Yield the friction between any two solids that Drake lets touch."""
    names, inspector = world.layout.solids, world.graph.model_inspector()
    pairs = inspector.GetCollisionCandidates()
    for ids in sorted(pairs, key=lambda pair: [geometry.get_value() for geometry in pair]):
        properties = map(inspector.GetProximityProperties, ids)
        first, second = (
            own.GetProperty("material", "coulomb_friction").dynamic_friction() for own in properties
        )
        a, b = sorted(world.solids[i] for i in ids)
        # Drake's own rule, see `FRICTION_RULE`; the two are equal.
        friction = 2 * first * second / (first + second) if first + second else 0.0
        yield LoadedSurface(names[a], friction, 0.0, against=(names[b],))


def _inertia(body: Any, context: Any) -> Inertia:
    """Read the inertia of a body in its own frame."""
    M_BBo = body.CalcSpatialInertiaInBodyFrame(context)
    center = M_BBo.get_com()
    central = M_BBo.Shift(center).CalcRotationalInertia().CopyToFullMatrix3()
    return Inertia(M_BBo.get_mass(), frozen(center), frozen(central))


def _joint(world: DrakeWorld, name: str, joint: Any, *, context: Any, X_PJ: Array) -> LoadedJoint:
    axis = (
        joint.translation_axis()
        if joint.type_name() == JointType.PRISMATIC
        else joint.revolute_axis()
    )
    return LoadedJoint(
        name=name,
        axis=frozen(axis),
        damping=float(joint.GetDamping(context)),
        friction=friction_of(world.plant, joint),
        armature=armature_of(world.plant, joint),
        lower=float(joint.position_lower_limit()),
        upper=float(joint.position_upper_limit()),
        X_PJ=X_PJ,
    )


def _remarks(world: DrakeWorld, scene: Scene) -> Iterator[str]:
    touching = {type(shape) for i in world.solids.values() for shape, _ in scene.geometry[i]}
    if touching & {MeshData, MeshFile}:
        yield "meshes touch as their convex hulls"
    if touching & {Cylinder, Capsule}:
        yield "cylinders and capsules touch a flat surface at one point, not along a line"
    if world.options.contact_model is ContactModel.POINT and touching & {Box, MeshData, MeshFile}:
        yield "boxes and meshes touch a flat surface at one point, not over an area"
