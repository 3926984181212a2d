"""M, g, c and tau of a Panda at one state through the dynamics study, beside the raw libraries.

The raw loop sets positions and velocities in the library's own order (Bullet takes
them as arguments), takes M once and inverse dynamics three times (at rest, without and
with acceleration), as the study does, on the very objects the adapter built; it checks
nothing.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pinocchio

from benchmarks.ratio import Ratio, compare
from kinetarium import load_robot
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.studies.dynamics.backends.registry import backend_names, open_backend
from kinetarium.studies.dynamics.states import States, draw_states

STATES = 100

Raw = Callable[[np.ndarray, np.ndarray, np.ndarray], object]
"""Computes all terms at one state."""


def ratios() -> Iterator[Ratio]:
    panda = load_robot("panda")
    states = draw_states(panda, count=STATES, seed=0)
    for name in backend_names(panda):
        backend = open_backend(name, panda, gravity=GRAVITY_VECTOR, reference=panda)
        backend.terms(states)
        raw = RAW[name](backend)

        def peer(raw: Raw = raw, states: States = states) -> None:
            for state in zip(states.q, states.v, states.a, strict=True):
                raw(*state)

        row = compare(
            f"{name}: M, g, c, tau of a Panda, per state",
            ours=lambda backend=backend: backend.terms(states),
            peer=peer,
            peer_name="the library's own calls",
            repeats=1,
            rounds=9,
        )
        yield Ratio(row.subject, row.peer, row.ours_us / STATES, row.peer_us / STATES)
        backend.close()


def _pinocchio(backend) -> Raw:
    model, data = backend._dynamics._model, backend._dynamics._data
    still = np.zeros(model.nv)

    def terms(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> object:
        M = pinocchio.crba(model, data, q)
        g = pinocchio.rnea(model, data, q, still, still)
        bias = pinocchio.rnea(model, data, q, v, still)
        return M, g, bias - g, pinocchio.rnea(model, data, q, v, a)

    return terms


def _mujoco(backend) -> Raw:
    import mujoco

    model, data = backend._simulation._model, backend._simulation._scratch
    M, tau, still = np.zeros((model.nv, model.nv)), np.zeros(model.nv), np.zeros(model.nv)

    def inverse(v: np.ndarray, a: np.ndarray) -> np.ndarray:
        data.qvel[:], data.qacc[:] = v, a
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, tau)
        return tau + model.dof_armature * a

    def terms(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> object:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_fullM(model, data, M)
        g, bias = inverse(still, still), inverse(v, still)
        return M.copy(), g, bias - g, inverse(v, a)

    return terms


def _bullet(backend) -> Raw:
    simulation = backend._simulation
    bullet, (robot, joints) = simulation._bullet, simulation._jointed[0]
    still = [0.0] * len(joints)

    def terms(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> object:
        q, v, a = q.tolist(), v.tolist(), a.tolist()
        M = np.array(bullet.calculateMassMatrix(robot, q))
        g = np.array(bullet.calculateInverseDynamics(robot, q, still, still))
        bias = np.array(bullet.calculateInverseDynamics(robot, q, v, still))
        return M, g, bias - g, np.array(bullet.calculateInverseDynamics(robot, q, v, a))

    return terms


def _dart(backend) -> Raw:
    skeleton = backend._simulation._spaces["robot"]._skeleton
    still = np.zeros(skeleton.getNumDofs())

    def inverse(v: np.ndarray, a: np.ndarray) -> np.ndarray:
        skeleton.setVelocities(v)
        skeleton.setAccelerations(a)
        skeleton.computeInverseDynamics(False, False, False)
        return skeleton.getForces()

    def terms(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> object:
        skeleton.setPositions(q)
        g, bias = inverse(still, still), inverse(v, still)
        return skeleton.getMassMatrix(), g, bias - g, inverse(v, a)

    return terms


def _drake(backend) -> Raw:
    from pydrake.multibody.tree import MultibodyForces

    plant = backend._simulation._spaces["robot"]._plant
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    still = np.zeros(plant.num_velocities())

    def inverse(v: np.ndarray, a: np.ndarray) -> np.ndarray:
        plant.SetVelocities(context, v)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    def terms(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> object:
        plant.SetPositions(context, q)
        g, bias = inverse(still, still), inverse(v, still)
        return plant.CalcMassMatrix(context), g, bias - g, inverse(v, a)

    return terms


RAW = {
    "pinocchio": _pinocchio,
    "mujoco": _mujoco,
    "bullet": _bullet,
    "dart": _dart,
    "drake": _drake,
}
