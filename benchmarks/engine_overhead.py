"""Stepping through the adapters beside the engines' own calls doing the same.

Scene: the Panda with a cube on a table, one physics step per command, the whole
state read after every step. The raw loop works on the very objects the adapter
built: it sets the torques, steps, and reads joint positions and velocities and
the cube's pose and twist in the world frame, into one record per step.
"""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.ratio import Ratio, compare
from kinetarium.engines.registry import open_engine
from kinetarium.scene import arm_with_cube

STEPS = 300


def ratios() -> Iterator[Ratio]:
    for name, raw in RAW.items():
        simulation = open_engine(name).compile(arm_with_cube(), timestep=1e-3)
        command = np.zeros(len(simulation.layout.commands))
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
        )
        simulation.close()


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
    parts = simulation._parts
    articulation = next(
        solid.component.articulation
        for solid in parts.solids
        if hasattr(solid.component, "articulation")
    )
    (cube,) = parts.floating
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


RAW = {"mujoco": _mujoco, "bullet": _bullet, "physx": _physx}
