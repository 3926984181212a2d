"""OdeSimulation: a scene inside ODE."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from kinetarium.engines.base.audit import LoadedFrames, lumped_solids, merged
from kinetarium.engines.base.simulation import AppliedWrench, Setup, SimulationBase
from kinetarium.engines.ode import library
from kinetarium.engines.ode.build import (
    NONE,
    WORLD,
    BodySpec,
    OdeWorld,
    assemble,
    motion,
    placement,
)
from kinetarium.engines.ode.contacts import ContactFinder, OdeShapes
from kinetarium.engines.ode.drives import Couplings, Drives
from kinetarium.engines.ode.joints import OdeJoint, OdeLimits, Row
from kinetarium.engines.ode.library import POSE, POSITION, ROTATION, VELOCITY
from kinetarium.engines.ode.options import OdeOptions, OdeSolver
from kinetarium.engines.ode.readings import JointReadings, OdeSensors
from kinetarium.engines.protocol import (
    Audit,
    Contacts,
    LoadedJoint,
    LoadedLoop,
    State,
)
from kinetarium.model.robot import JointType, LoopKind
from kinetarium.scene import PlacedRobot
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose

_OVERFLOW = 1e9
"""Norm of all positions or velocities of bodies with which ODE is not asked to make another step:
it ends the process on numbers that are not finite."""
_PYRAMID = (
    "friction is a pyramid along two directions of the contact plane: across the corners it "
    "reaches 1.41 times the coefficient"
)


class _Saved(NamedTuple):
    """The bodies, and what is known of the joints and couplings."""

    bodies: Array
    near: Array
    start: State
    moved: bool
    couplings: tuple[Array, Array]


class OdeSimulation(SimulationBase[_Saved]):
    """A scene inside ODE: bodies in maximal coordinates, held together by joints.

    Joint positions are read from the poses of the bodies, which drift apart by
    micrometres before they are pulled together again. Coupled joints agree in
    speed to 1e-6 after every step (see `Couplings`). Contacts have their whole
    force, and sensors everything that passes through the joint, the effort of
    its drive included.
    """

    def __init__(self, setup: Setup[OdeOptions]) -> None:
        """Build the scene."""
        super().__init__(setup)
        self._library = ode = library.load()
        ode.dAllocateODEDataForThread(0xFFFFFFFF)
        scene, layout, options = setup.scene, setup.layout, setup.options
        self._scene = scene
        self._assembly = assemble(scene, layout)
        self._world = world = OdeWorld(ode, self._assembly, setup=setup)
        self._memory = world.memory
        self._shapes = OdeShapes(world, scene, self._assembly)
        self._finder = ContactFinder(world, scene, self._shapes.shapes, options=options)
        self._limits = OdeLimits(world.joints)
        self._drives = Drives(world.joints, layout, timestep=setup.timestep)
        inertias = [_inertia_along(world.specs[i]) for i in world.children]
        self._couplings = Couplings(setup, world.joints, inertias=inertias)
        self._sensors = OdeSensors(world, scene)
        self._joint_readings = JointReadings(self._assembly, world.children)
        self._direct, self._seed = options.solver is OdeSolver.DIRECT, setup.seed
        # Joints are read in every step where turns are counted or something depends on them.
        self._follows = bool(self._limits.rounds or self._drives.follow or self._couplings.count)
        floating = sorted(
            (spec.floating, i) for i, spec in enumerate(world.specs) if spec.floating >= 0
        )
        self._floating = np.array([i for _, i in floating], dtype=np.intp)
        centers = [world.specs[i].inertia.center for i in self._floating]
        self._centers = np.array(centers).reshape(-1, 3, 1)
        self._off_center = bool(self._centers.any())
        places = np.arange(self._memory.now.size).reshape(self._memory.now.shape)
        self._poses = places[POSE, self._floating].T
        self._twists = places[VELOCITY, self._floating].T
        # The state that was set; before the first step the velocities in ODE lag behind it.
        self._set, self._moved = setup.start, False
        self._near = setup.start.q  # joint positions less than half a turn away
        self._unsolved = 0

    def audit(self) -> Audit:
        """Read back the model as ODE loaded it."""
        world, limits = self._world, self._limits.limits()
        remarks = [_PYRAMID]
        if self._shapes.meshes:
            remarks.append("meshes touch as the triangles of their convex hulls")
        if self._unsolved:
            remarks.append(
                f"{self._unsolved} steps that the direct solver found no solution for were quick"
            )
        if self._assembly.massless:
            remarks.append(
                "given a millionth of the robot's mass, for ODE moves nothing without mass: "
                + ", ".join(self._assembly.massless)
            )
        joints = zip(self._layout.joints, world.joints, world.children, strict=True)
        loaded: list[LoadedJoint] = []
        loops: list[LoadedLoop] = []
        for robot in self._scene.robots:
            frames = self._frames(robot)
            for X_PJ in frames.joints.values():
                name, joint, child = next(joints)
                R_WB = world.memory.rotation(child)
                bounds = limits[len(loaded)]
                loaded.append(_joint(name, joint, R_WB, bounds, self._timestep, X_PJ))
            loops += self._loops(robot, frames)
        inertias = {spec.name: world.inertia(i) for i, spec in enumerate(world.specs)}
        return Audit(
            tuple(lumped_solids(self._scene, inertias)),
            tuple(loaded),
            world.gravity(),
            tuple(remarks),
            drives=tuple(self._drives.loaded()),
            couplings=tuple(self._couplings.loaded()),
            loops=tuple(loops),
            surfaces=merged(self._finder.surfaces()),
        )

    def _frames(self, robot: PlacedRobot) -> LoadedFrames:
        """Read back the frames of a robot; a root that is held is the world in ODE."""
        world, keep = self._world, self._scene.sensed_joints(robot.name)
        places = {spec.name: i for i, spec in enumerate(world.specs)}
        loaded = {}
        for body in rigid_tree(robot.model, keep=keep):
            if body.joint is None:
                continue
            child = places[f"{robot.name}/{body.name}"]
            spec = world.specs[child]
            if spec.coordinate == NONE:
                X_PJ = inverse_pose(_pose(world, spec.parent)) @ _pose(world, child)
            else:
                X_PJ = _frame(world, spec.coordinate)
            loaded[body.joint.name] = (
                inverse_pose(robot.X_WB) @ X_PJ if spec.parent == WORLD else X_PJ
            )
        return LoadedFrames.of(robot, loaded, keep=keep)

    def _loops(self, robot: PlacedRobot, frames: LoadedFrames) -> Iterator[LoadedLoop]:
        """Yield the loops of a robot; ODE returns their points, but not their frames."""
        world = self._world
        for loop in robot.model.loops:
            links = (loop.link_a, loop.link_b)
            homes = [self._assembly.homes[f"{robot.name}/{link}"] for link in links]
            ends = []
            for (body, X_BL), X_LC in zip(homes, (loop.X_AC, loop.X_BC), strict=True):
                X_TC, name = X_BL @ X_LC, robot.model.root
                if body == WORLD:
                    X_TC = inverse_pose(robot.X_WB) @ X_TC
                else:
                    name = world.specs[body].name.partition("/")[2]
                ends.append((name, X_TC))
            tie = world.ties[f"{robot.name}/{loop.name}"]
            points = loop.kind is LoopKind.POINT and tie is not None
            if points and tie is not None:
                # ODE's second body may be the world, which its first may not.
                there = _tied_points(world, tie)
                for k, (body, _) in enumerate(homes):
                    point = there[k if homes[0][0] != WORLD else 1 - k]
                    X_WT = robot.X_WB if body == WORLD else _pose(world, body)
                    p = inverse_pose(X_WT)[:3] @ np.append(point, 1.0)
                    ends[k] = (ends[k][0], pose(p))
            yield frames.loop(loop, ends, read_back=points)

    def _write(self, state: State) -> None:
        self._set, self._moved, self._unsolved = state, False, 0
        self._finder.forget()
        self._couplings.reset()
        self._near = state.q if self._follows else self._limits.references
        self._world.place(placement(self._assembly, state, timestep=self._timestep))
        self._memory.read()
        library.warnings.clear()

    def _read(self) -> tuple[Array, Array, Array, Array]:
        if not self._moved:
            start = self._set
            return start.q.copy(), start.v.copy(), start.poses.copy(), start.twists.copy()
        poses = self._memory.now.take(self._poses)
        twists = self._memory.now.take(self._twists)
        if self._off_center:
            R = self._memory.now[ROTATION, self._floating].T.reshape(-1, 3, 3)
            arms = (R @ self._centers)[..., 0]
            poses[:, :3] -= arms
            twists[:, :3] -= np.cross(twists[:, 3:], arms)
        q, v = self._joint_readings.read(self._memory, self._near)
        return q, v, poses, twists

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        self._drives.command(command.tolist())
        for i in range(n):
            if self._follows:
                q, v = self._joint_readings.read(self._memory, self._near)
                self._near = q
                self._drives.act(q, v if self._moved else self._set.v)
                self._limits.update(q)
            else:
                self._drives.push()
            if wrenches:
                self._push(wrenches)
            if not self._make_step(self._steps + i):
                self._diverge()
                return i
        return n

    def _contacts(self) -> Contacts:
        return self._finder.contacts()

    def _wrench(self, sensor: str) -> Array:
        efforts = np.asarray(self._drives.efforts) + self._couplings.efforts
        return self._sensors.wrench(sensor, self._memory.before, efforts)

    def _save(self) -> _Saved:
        bodies, couplings = self._memory.save(), self._couplings.save()
        return _Saved(bodies, self._near, self._set, self._moved, couplings)

    def _restore(self, memory: _Saved) -> None:
        self._memory.restore(memory.bodies)
        self._world.notify()
        self._near, self._set, self._moved = memory.near, memory.start, memory.moved
        self._couplings.restore(memory.couplings)
        self._finder.forget()

    def _close(self) -> None:
        self._finder.close()
        self._shapes.close()
        self._world.close()

    def _push(self, wrenches: Sequence[AppliedWrench]) -> None:
        for solid, F_W, point in wrenches:
            index, _ = self._assembly.homes[solid]
            if index == WORLD:
                continue
            moment = F_W[3:] + np.cross(point - self._memory.now[POSITION, index], F_W[:3])
            body = self._world.bodies[index]
            self._library.dBodyAddForce(body, *F_W[:3].tolist())
            self._library.dBodyAddTorque(body, *moment.tolist())

    def _make_step(self, number: int) -> bool:
        """Make one time step of a number; return whether ODE can make another."""
        memory = self._memory
        self._finder.find(memory.now)
        memory.begin_step()
        if self._couplings.count:
            self._solve_couplings(number)
        else:
            self._solve(number)
        self._moved = True
        positions, velocities = memory.now[POSITION], memory.now[VELOCITY]
        speed = sqrt(np.vdot(velocities, velocities))
        self._finder.moved(speed, timestep=self._timestep)
        good = sqrt(np.vdot(positions, positions)) + speed < _OVERFLOW and not library.warnings
        if not good:
            memory.go_back()
        return good

    def _solve(self, number: int) -> None:
        """Let ODE make the step and read the result."""
        library.warnings.clear()  # of others, or of a try that was not taken
        memory = self._memory
        if self._direct:
            forces = memory.forces()
            self._library.dWorldStep(self._world.handle, self._timestep)
            if library.warnings:
                library.warnings.clear()
                self._unsolved += 1
                memory.go_back()
                memory.set_forces(forces)
                self._step_quickly(number)
        else:
            self._step_quickly(number)
        memory.read()

    def _step_quickly(self, number: int) -> None:
        self._library.dRandSetSeed((self._seed + number) & 0xFFFFFFFF)
        self._library.dWorldQuickStep(self._world.handle, self._timestep)

    def _solve_couplings(self, number: int) -> None:
        memory = self._memory
        forces = memory.forces()

        def attempt() -> Array:
            memory.go_back()
            memory.set_forces(forces)
            self._couplings.push()
            self._solve(number)
            return self._joint_readings.read(memory, self._near)[1]

        self._couplings.solve(self._near, attempt)


def _inertia_along(spec: BodySpec) -> float:
    """Return the mass or the moment of inertia [kg or kg m^2] of a body along its joint."""
    assert spec.joint is not None
    if spec.joint.type is JointType.PRISMATIC:
        return spec.inertia.mass
    axis, arm = spec.joint.axis, np.cross(spec.joint.axis, spec.inertia.center)
    return float(axis @ spec.inertia.moment @ axis + spec.inertia.mass * (arm @ arm))


def _pose(world: OdeWorld, body: int) -> Array:
    """Return the present pose of a body in the frame of its spec, shape (4, 4)."""
    R = world.memory.rotation(body)
    center = np.zeros(3) if body == WORLD else world.specs[body].inertia.center
    return pose(world.memory.now[POSITION, body] - R @ center, R)


def _frame(world: OdeWorld, joint: int) -> Array:
    """Read back the pose of a joint at position zero in the body above, shape (4, 4).

    ODE returns the points of a hinge and the position of a joint; the rest follows from the
    poses of the two bodies.
    """
    child, own = world.children[joint], world.joints[joint]
    spec = world.specs[child]
    X_WP, X_WB = _pose(world, spec.parent), _pose(world, child)
    X_PJ = inverse_pose(X_WP) @ X_WB @ inverse_pose(motion(spec, own.position()))
    if own.revolute:
        on_child, on_parent = own.anchors()
        arm = inverse_pose(X_WB)[:3] @ np.append(on_child, 1.0)
        X_PJ[:3, 3] = inverse_pose(X_WP)[:3] @ np.append(on_parent, 1.0) - X_PJ[:3, :3] @ arm
    return frozen(X_PJ)


def _tied_points(world: OdeWorld, tie: int) -> list[Array]:
    """Read back the points of a loop on its first and second body [m], world frame."""
    points = np.zeros((2, 4))
    world.library.dJointGetBallAnchor(tie, points[0].ctypes.data)
    world.library.dJointGetBallAnchor2(tie, points[1].ctypes.data)
    return list(points[:, :3])


def _joint(
    name: str,
    joint: OdeJoint,
    R_WB: Array,
    limits: tuple[float, float],
    timestep: float,
    X_PJ: Array,
) -> LoadedJoint:
    passive, _ = joint.row(Row.PASSIVE)
    armature, stiffness = joint.joint.armature, joint.joint.stiffness
    return LoadedJoint(
        name=name,
        axis=frozen(R_WB.T @ joint.axis()),
        damping=max(passive - armature / timestep - timestep * stiffness, 0.0),
        friction=joint.row(Row.FRICTION)[1],
        armature=armature,
        lower=limits[0],
        upper=limits[1],
        X_PJ=X_PJ,
        # ODE returns neither the offset of a slider across its axis nor the shares of armature
        # and spring.
        read_back=joint.revolute and not armature and not stiffness,
    )
