"""Stepping through the adapters beside the engines' own calls doing the same.

Scene: the Panda with a cube on a table, held against gravity, one physics step
per command, the whole state read after every step. The raw loop works on the
very objects the adapter built: it sets the torques, steps, and reads joint
positions and velocities and the cube's pose and twist in the world frame, into
one record per step. ODE has neither contacts of its own accord nor coupled
joints: its raw loop finds contacts through ODE's space, as its manual shows, and
leaves the fingers uncoupled, which the adapter does not. DART couples no joints and
damps them in a way its contacts do not know of: its raw loop has neither coupling
nor damping, which the adapter solves beside DART at every step. Newton's raw loop plays
back the same recording of a step as the adapter, as Newton's examples do.

An engine that is not available has no row but a line that says why. Newton needs another MuJoCo
than the others' newest, hence `.venv-newton/bin/python -m benchmarks engine_overhead`.
"""

import sys
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, c_double, c_void_p, cast

import numpy as np

from benchmarks.ratio import Ratio, compare
from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.ode.library import CONTACT_SLOTS, GEOMETRY_SLOT
from kinetarium.engines.registry import EngineUnavailableError, open_engine
from kinetarium.scene import arm_with_cube

STEPS = 300


def ratios() -> Iterator[Ratio]:
    for name, raw in RAW.items():
        try:
            engine = open_engine(name)
        except EngineUnavailableError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        simulation = engine.compile(arm_with_cube(), timestep=1e-3)
        command = _weight_held(simulation)
        start = simulation.state()
        bare = raw(simulation, command)

        def ours(simulation=simulation, command=command, start=start) -> None:
            simulation.reset(start)
            for _ in range(STEPS):
                simulation.step(command)
                simulation.state()

        def peer(simulation=simulation, start=start, bare=bare) -> None:
            simulation.reset(start)
            for _ in range(STEPS):
                bare()

        yield compare(
            f"{name}: {STEPS} steps of Panda and cube",
            ours=ours,
            peer=peer,
            peer_name="the engine's own calls",
            repeats=1,
            rounds=61,
        )
        simulation.close()


def _weight_held(simulation) -> np.ndarray:
    """Return the torques that hold the arm where it starts."""
    forces = RobotDynamics(load_robot("panda")).gravity_forces(simulation.state().q)
    return forces[simulation.layout.command_joints]


def _mujoco(simulation, command: np.ndarray) -> Callable[[], tuple]:
    import mujoco

    model, data, at = simulation._model, simulation._data, simulation._at
    q, v, poses, twists = at.q, at.v, at.poses, at.twists
    ctrl, qpos, qvel = data.ctrl, data.qpos, data.qvel
    place, speed = int(poses[0, 0]), int(twists[0, 0])
    spin, quaternion = qvel[speed + 3 : speed + 6], qpos[place + 3 : place + 7]

    def step() -> tuple:
        ctrl[:] = command
        mujoco.mj_step(model, data)
        twist = qvel[twists]
        mujoco.mju_rotVecQuat(twist[0, 3:], spin, quaternion)
        return data.time, qpos[q], qvel[v], qpos[poses], twist

    return step


def _physx(simulation, command: np.ndarray) -> Callable[[], tuple]:
    model = simulation._model
    articulation = next(
        solid.component.articulation
        for solid in model.solids
        if hasattr(solid.component, "articulation")
    )
    (cube,) = model.floating
    torques = np.zeros(articulation.dof)
    limit = np.full(articulation.dof, 1e9)

    def step() -> tuple:
        torques[: len(command)] = command
        articulation.set_qf(np.clip(torques, -limit, limit))
        simulation._world.system.step()  # which a reset replaces
        pose = cube.pose
        return (
            np.asarray(articulation.get_qpos(), dtype=np.float64),
            np.asarray(articulation.get_qvel(), dtype=np.float64),
            np.concatenate([pose.p, pose.q], dtype=np.float64),
            np.concatenate([cube.linear_velocity, cube.angular_velocity], dtype=np.float64),
        )

    return step


def _bullet(simulation, command: np.ndarray) -> Callable[[], tuple]:
    bullet, (robot,) = simulation._bullet, simulation._robots
    (cube,) = simulation._floating
    driven = [simulation.layout.joints.index(name) for name in simulation.layout.commands]
    links = [robot.joints[i] for i in driven]

    def step() -> tuple:
        bullet.setJointMotorControlArray(
            robot.id, links, bullet.TORQUE_CONTROL, forces=command.tolist()
        )
        bullet.stepSimulation()
        states = bullet.getJointStates(robot.id, robot.joints)
        p, q = bullet.getBasePositionAndOrientation(cube._id)
        v, w = bullet.getBaseVelocity(cube._id)
        return (
            np.array([state[0] for state in states]),
            np.array([state[1] for state in states]),
            np.array((*p, q[3], *q[:3])),
            np.array((*v, *w)),
        )

    return step


def _ode(simulation, command: np.ndarray) -> Callable[[], tuple]:
    ode, world, finder = simulation._library, simulation._world, simulation._finder
    for name in ("HingeAngle", "HingeAngleRate", "SliderPosition", "SliderPositionRate"):
        getter = getattr(ode, f"dJointGet{name}")
        getter.restype, getter.argtypes = c_double, (c_void_p,)
    ode.dSimpleSpaceCreate.restype, ode.dSimpleSpaceCreate.argtypes = c_void_p, (c_void_p,)
    ode.dSpaceAdd.restype, ode.dSpaceAdd.argtypes = None, (c_void_p, c_void_p)
    ode.dSpaceCollide.restype = None
    ode.dSpaceCollide.argtypes = (c_void_p, c_void_p, c_void_p)
    space = ode.dSimpleSpaceCreate(None)
    for shape in simulation._shapes.shapes:
        ode.dSpaceAdd(space, shape.handle)
    pairs = {frozenset(pair): i for i, pair in enumerate(finder._handles)}
    contacts, stride = finder._contacts, 8 * CONTACT_SLOTS
    address = contacts.ctypes.data
    used = 0

    @CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
    def near(_, first: int, second: int) -> None:
        nonlocal used
        pair = pairs.get(frozenset((first, second)))
        if pair is None:
            return
        place = address + stride * used
        count = ode.dCollide(first, second, 16, place + 8 * GEOMETRY_SLOT, stride)
        for row in range(used, used + count):
            contacts[row, :GEOMETRY_SLOT] = finder._surfaces[pair]
            joint = ode.dJointCreateContact(world.handle, finder._group, address + stride * row)
            ode.dJointAttach(joint, *finder._bodies[pair])
        used += count

    joints = [
        (ode.dJointGetHingeAngle, ode.dJointGetHingeAngleRate, joint)
        if joint.revolute
        else (ode.dJointGetSliderPosition, ode.dJointGetSliderPositionRate, joint)
        for joint in world.joints
    ]
    pushes = [
        (joints[i][2].push, joints[i][2].handle, torque)
        for i, torque in zip(simulation.layout.command_joints, command.tolist(), strict=True)
    ]
    cube = world.bodies[int(simulation._floating[0])]
    double3, double4 = POINTER(c_double * 3), POINTER(c_double * 4)

    def step() -> tuple:
        nonlocal used
        for push, handle, torque in pushes:
            push(handle, torque)
        used = 0
        ode.dSpaceCollide(space, None, cast(near, c_void_p))
        ode.dWorldStep(world.handle, 1e-3)
        ode.dJointGroupEmpty(finder._group)
        return (
            np.array([angle(joint.handle) + joint.reference for angle, _, joint in joints]),
            np.array([rate(joint.handle) for _, rate, joint in joints]),
            np.array(
                [
                    *cast(ode.dBodyGetPosition(cube), double3).contents,
                    *cast(ode.dBodyGetQuaternion(cube), double4).contents,
                ]
            ),
            np.array(
                [
                    *cast(ode.dBodyGetLinearVel(cube), double3).contents,
                    *cast(ode.dBodyGetAngularVel(cube), double3).contents,
                ]
            ),
        )

    return step


def _dart(simulation, command: np.ndarray) -> Callable[[], tuple]:
    world, ((robot, _, _), (cube, _, _)) = simulation._world.bare, simulation._movers
    body = cube.getBodyNode(0)
    forces = np.zeros(robot.getNumDofs())
    forces[simulation.layout.command_joints] = command

    def step() -> tuple:
        robot.setForces(forces)
        world.step(False)
        pose = body.getWorldTransform()
        return (
            world.getTime(),
            robot.getPositions(),
            robot.getVelocities(),
            np.concatenate([pose.translation(), pose.quaternion().wxyz()]),
            np.concatenate([body.getLinearVelocity(), body.getAngularVelocity()]),
        )

    return step


def _drake(simulation, command: np.ndarray) -> Callable[[], tuple]:
    plant, drives = simulation._world.plant, simulation._world.drives
    (cube,) = (joint.child_body() for joint in simulation._world.floating)
    arm = simulation._world.joints[0].model_instance()
    torques = np.zeros(drives.count)
    torques[drives.inputs] = command

    def step() -> tuple:
        now = simulation._present  # which the adapter's steps exchange
        context = now.context
        now._actuation.GetMutableData().get_mutable_value().SetFromVector(torques)
        context.SetDiscreteState(plant.EvalUniquePeriodicDiscreteUpdate(context).value())
        pose = plant.EvalBodyPoseInWorld(context, cube)
        twist = plant.EvalBodySpatialVelocityInWorld(context, cube)
        return (
            plant.GetPositions(context, arm),
            plant.GetVelocities(context, arm),
            np.concatenate([pose.translation(), pose.rotation().ToQuaternion().wxyz()]),
            np.concatenate([twist.translational(), twist.rotational()]),
        )

    return step


def _rapier(simulation, command: np.ndarray) -> Callable[[], tuple]:
    model, torques = simulation._model, command.tolist()
    robot, part = model.multibodies[0], model.floating[0]
    driven = [int(i) for i in simulation.layout.command_joints]
    axes = [tuple(robot.joints[i].axis) for i in driven]
    world = multibody = cube = spin = None
    ends: list = []

    def look_up() -> None:
        nonlocal world, multibody, cube, spin, ends
        world = simulation._world  # which a reset replaces
        bodies = world.rigid_bodies
        multibody, spin = (
            world.multibody_joints.multibody(one.handles[0]) for one in model.multibodies
        )
        cube = bodies[part.handle]
        links = [bodies[link.handle] for link in robot.links]
        ends = [(links[i + 1], links[robot.parents[i + 1]]) for i in driven]

    def step() -> tuple:
        if world is not simulation._world:
            look_up()
        for below, above in ends:
            below.reset_torques(False)
            above.reset_torques(False)
        for (below, above), axis, torque in zip(ends, axes, torques, strict=True):
            x, y, z = below.rotation.transform_vector(axis).to_tuple()
            below.add_torque((x * torque, y * torque, z * torque), False)
            above.add_torque((-x * torque, -y * torque, -z * torque), False)
        world.step()
        x, y, z, w = cube.rotation.quaternion
        return (
            np.array(multibody.generalized_position()),
            np.array(multibody.generalized_velocity()),
            np.array((*cube.translation.to_tuple(), w, x, y, z)),
            np.array(spin.generalized_velocity()),
        )

    return step


def _newton(simulation, command: np.ndarray) -> Callable[[], tuple]:
    import warp

    model, state, double = simulation._model, simulation._state_now, np.float64
    forces = simulation._control.joint_f.numpy()
    q, v = state.joint_q.numpy(), state.joint_qd.numpy()
    cube = simulation._homes["cube"].index
    pose, twist = state.body_q.numpy()[cube], state.body_qd.numpy()[cube]
    numbers = model.model.joint_qd_start.numpy().searchsorted(model.dofs)
    places = model.model.joint_q_start.numpy()[numbers]
    driven = model.dofs[simulation.layout.command_joints]

    def step() -> tuple:
        forces[driven] = command
        warp.capture_launch(simulation._backend._step)  # replaced as contacts need more room
        return (
            q[places].astype(double),
            v[model.dofs].astype(double),
            pose.astype(double),
            twist.astype(double),
        )

    return step


RAW = {
    "mujoco": _mujoco,
    "bullet": _bullet,
    "ode": _ode,
    "physx": _physx,
    "dart": _dart,
    "drake": _drake,
    "rapier": _rapier,
    "newton": _newton,
}
