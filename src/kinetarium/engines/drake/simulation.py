"""DrakeSimulation: a scene inside Drake."""

from collections.abc import Iterator, Sequence
from math import hypot, inf, sqrt
from typing import Any

import numpy as np

from kinetarium.engines.base.audit import lumped_solids
from kinetarium.engines.base.simulation import LIMIT, AppliedWrench, Setup, SimulationBase
from kinetarium.engines.drake.build import DrakeWorld, build_world
from kinetarium.engines.drake.contacts import BodyWrench, StepContext
from kinetarium.engines.drake.drives import armature_of, friction_of
from kinetarium.engines.drake.joint_space import Addresses, JointSpace
from kinetarium.engines.drake.options import ContactModel, DrakeOptions
from kinetarium.engines.protocol import Audit, Contacts, LoadedJoint, LoadedSolid, State
from kinetarium.model.robot import Box, Capsule, Cylinder, Inertia, JointType, MeshData, MeshFile
from kinetarium.scene import Motion, Scene, SceneError
from kinetarium.spatial.arrays import Array, frozen


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
    """Read back masses, joints and gravity in a context of the plant."""
    solids: list[LoadedSolid] = []
    for robot in scene.robots:
        inertias = {}
        for link in robot.model.links:
            body = world.bodies[f"{robot.name}/{link.name}"]
            if body.name() == link.name and body.get_mass(context) > 0:
                inertias[link.name] = _inertia(body, context)
        solids += lumped_solids(robot, inertias)
    for free in scene.bodies:
        if free.motion is Motion.FREE:
            inertia = _inertia(world.bodies[free.name], context)
            solids.append(LoadedSolid(free.name, inertia, (free.name,)))
    joints = tuple(
        _joint(world, name, joint, context=context)
        for name, joint in zip(world.layout.joints, world.joints, strict=True)
    )
    gravity = frozen(world.plant.gravity_field().gravity_vector())
    return Audit(tuple(solids), joints, gravity, tuple(_remarks(world, scene)))


def _inertia(body: Any, context: Any) -> Inertia:
    """Read the inertia of a body in its own frame."""
    M_BBo = body.CalcSpatialInertiaInBodyFrame(context)
    center = M_BBo.get_com()
    central = M_BBo.Shift(center).CalcRotationalInertia().CopyToFullMatrix3()
    return Inertia(M_BBo.get_mass(), frozen(center), frozen(central))


def _joint(world: DrakeWorld, name: str, joint: Any, *, context: Any) -> LoadedJoint:
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
    )


def _remarks(world: DrakeWorld, scene: Scene) -> Iterator[str]:
    touching = {type(shape) for i in world.solids.values() for shape, _ in scene.geometry[i]}
    if touching & {MeshData, MeshFile}:
        yield "meshes touch as their convex hulls"
    if touching & {Cylinder, Capsule}:
        yield "cylinders and capsules touch a flat surface at one point, not along a line"
    if world.options.contact_model is ContactModel.POINT and touching & {Box, MeshData, MeshFile}:
        yield "boxes and meshes touch a flat surface at one point, not over an area"
