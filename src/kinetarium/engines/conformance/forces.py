"""Forces explain motion: checks on random forests that fall onto the ground.

A forest is four trees of twenty capsules, 100 degrees of freedom, in contact with the ground,
with each other and with themselves. From the states before and after a step, M (v' - v) / h + bias
must equal what the joints and the reported contacts exert, by Pinocchio's M and bias. That needs no
engine's internals, and shows faults of a solver, contacts that are not reported and forces in a
wrong frame. Nothing drives a forest, so that its energy must not rise either: some engines move by
whatever force an unfinished solver has, and explain that.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.conformance.check import Check, Measurement, once_per_engine
from kinetarium.engines.conformance.models import SOURCE, solid_link
from kinetarium.engines.protocol import Capability, Contacts, Engine, State, Status
from kinetarium.model.robot import Capsule, Joint, JointType, RobotModel
from kinetarium.scene import Base, Material, PlacedRobot, Scene, ground
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion

_SEED = 112
"""A forest that MuJoCo 4.0.0, whose sparse factorisation is wrong, does not survive: of the first
120 it fails in 8, in this one first. Version 3.17.0 fails in none."""
_TIMESTEP, _STEPS = 2e-3, 200
_TREES, _LINKS, _DAMPING = 4, 20, 0.05
_RADIUS, _LENGTH = 0.02, 0.12
_ARM = 0.1
"""From a link's hinge to the middle of its capsule, and from there to the hinges of others [m]."""
_CLEAR = 2 * _RADIUS + 0.005
"""Least distance between points on the axes of capsules at the start [m]."""
_TRIES = 200


def forest(seed: int, *, friction: float = 0.8) -> Scene:
    """Make trees of capsules of 0.1 to 1 kg with hinges about random axes, close together.

    The parent of each link is one of the four before it. At the start no two links overlap.
    """
    rng = np.random.default_rng(seed)
    material = Material(friction)
    taken = np.zeros((0, 5, 3))
    robots = []
    for k in range(_TREES):
        model, axes = _tree(rng)
        for height in range(_TRIES):
            R = rotation_from_quaternion(rng.normal(size=4))
            placed = axes @ R.T
            at = np.append(rng.uniform(-0.2, 0.2, 2), 0.1 + 0.01 * height - placed[..., 2].min())
            if _is_clear(placed + at, taken):
                break
        taken = np.concatenate([taken, placed + at])
        X = frozen(pose(at, R))
        robots.append(
            PlacedRobot(f"tree{k}", model, Base.FREE, X, material=material, self_collision=True)
        )
    return Scene(tuple(robots), (ground(material),))


def _tree(rng: np.random.Generator) -> tuple[RobotModel, Array]:
    """Grow a tree; return it and points on the axes of its capsules, shape (links, 5, 3)."""
    capsule, up = Capsule(_RADIUS, _LENGTH), np.array([0.0, 0.0, 1.0])
    along = np.linspace(-0.5, 0.5, 5)[:, np.newaxis] * _LENGTH * up
    masses = rng.uniform(0.1, 1.0, _LINKS)
    # The root is centred, so that no engine's frame of it differs from ours.
    links = [solid_link("link0", capsule, mass=masses[0], touches=True)]
    frames, axes, parents = [np.eye(4)], [along], [-1]
    hinges: list[Joint] = []
    for i in range(1, _LINKS):
        for _ in range(_TRIES):
            parent = int(rng.integers(max(0, i - 4), i))
            tip = (_ARM if parent == 0 else 2 * _ARM) * up
            X = frozen(pose(tip, rotation_from_quaternion((1.0, *rng.uniform(-1, 1, 3)))))
            X_RL = frames[parent] @ X
            line = (along + _ARM * up) @ X_RL[:3, :3].T + X_RL[:3, 3]
            if _is_clear(line[np.newaxis], np.array(axes)):
                break
        axis = rng.normal(size=3)
        links.append(solid_link(f"link{i}", capsule, mass=masses[i], at=_ARM * up, touches=True))
        hinges.append(
            Joint(f"hinge{i}", JointType.CONTINUOUS, f"link{parent}", f"link{i}", X,
                  frozen(axis / np.linalg.norm(axis)), damping=_DAMPING)
        )  # fmt: skip
        frames.append(X_RL)
        axes.append(line)
        parents.append(parent)
    order = _depth_first(parents)
    ordered = tuple(links[i] for i in order), tuple(hinges[i - 1] for i in order[1:])
    return RobotModel("tree", *ordered, SOURCE, free_base=True), np.array(axes)


def _is_clear(ones: Array, others: Array) -> bool:
    """Return whether capsules are apart, by points on their axes, shapes (n, 5, 3), (m, 5, 3)."""
    ways = ones.reshape(-1, 1, 3) - others.reshape(1, -1, 3)
    return bool((np.linalg.norm(ways, axis=2) > _CLEAR).all())


def _depth_first(parents: list[int]) -> list[int]:
    """Return the numbers of links in the order of a model, a parent before its children."""
    order: list[int] = []
    waiting = [0]
    while waiting:
        order.append(waiting.pop())
        waiting += [i for i, parent in enumerate(parents) if parent == order[-1]][::-1]
    return order


class _Tree:
    """A tree of a forest, and its equation of motion."""

    def __init__(self, scene: Scene, number: int) -> None:
        robot = scene.robots[number]
        self._number, self._model = number, robot.model
        self._first = scene.solids.index(f"{robot.name}/{robot.model.root}")
        self._dynamics = RobotDynamics(robot.model, gravity=scene.gravity)
        joints = len(robot.model.moving_joints)
        self._own = slice(number * joints, (number + 1) * joints)
        self._damping = np.array([0.0] * 6 + [_DAMPING] * joints)

    def energy(self, state: State) -> float:
        """Return kinetic and potential energy [J]."""
        q, v = self._motion(state)
        return self._dynamics.kinetic_energy(q, v) + self._dynamics.potential_energy(q)

    def balance(self, before: State, after: State, contacts: Contacts) -> tuple[Array, Array]:
        """Return the force that nothing explains and the parts of the balance, shape (3, n)."""
        q, v = self._motion(before)
        _, v_after = self._motion(after)
        bias = self._dynamics.bias(q, v)
        inertial = self._dynamics.inverse_dynamics(q, v, (v_after - v) / _TIMESTEP) - bias
        pushed = self._pushed(q, contacts) - self._damping * v_after
        return inertial + bias - pushed, np.array([inertial, bias, pushed])

    def _motion(self, state: State) -> tuple[Array, Array]:
        return (
            np.concatenate([state.poses[self._number], state.q[self._own]]),
            np.concatenate([state.twists[self._number], state.v[self._own]]),
        )

    def _pushed(self, q: Array, contacts: Contacts) -> Array:
        """Return J' f of the contacts."""
        links = self._model.links
        origins = self._dynamics.link_poses(q)[:, :3, 3]
        F = np.zeros((len(links), 6))
        for side, sign in ((0, 1.0), (1, -1.0)):
            link = contacts.solids[:, side] - self._first
            own = (link >= 0) & (link < len(links))
            f = sign * contacts.forces[own]
            m = np.cross(contacts.points[own] - origins[link[own]], f)
            np.add.at(F, link[own], np.hstack([f, m]))
        pushed = np.zeros(len(self._damping))
        for i in np.flatnonzero(F.any(axis=1)):
            pushed += self._dynamics.jacobian(q, links[i].name).T @ F[i]
        return pushed


@dataclass(frozen=True, slots=True)
class _Fall:
    """How a forest fell: what no force explains, what energy rose, how often the solver gave up."""

    unexplained: float
    gain: float
    unfinished: float


@once_per_engine
def _fall(engine: Engine) -> _Fall:
    has = engine.info.capabilities
    scene = forest(_SEED, friction=0.8 if Capability.FRICTION_FORCES in has else 0.0)
    trees = [_Tree(scene, i) for i in range(_TREES)]
    simulation = engine.compile(scene, timestep=_TIMESTEP)
    off, whole, gain, unfinished = 0.0, 0.0, 0.0, 0
    before = simulation.state()
    start = energy = sum(tree.energy(before) for tree in trees)
    for _ in range(_STEPS):
        simulation.step(np.zeros(0))
        after = simulation.state()
        now = sum(tree.energy(after) for tree in trees)
        gain, energy = max(gain, now - energy), now
        if Capability.SOLVER_REPORT in has:
            report = simulation.solver()
            unfinished += report.iterations >= report.limit
        if simulation.status is Status.DIVERGED:
            off = inf
            break
        if Capability.CONTACT_FORCES in has:
            contacts = simulation.contacts()
            balances = [tree.balance(before, after, contacts) for tree in trees]
            off += float(np.linalg.norm([rest for rest, _ in balances]))
            whole += float(np.linalg.norm([parts for _, parts in balances]))
        before = after
    simulation.close()
    return _Fall(off / whole if whole else inf, gain / start, unfinished / _STEPS)


def _balance(engine: Engine) -> Measurement:
    info = engine.info
    reason = info.unexplained_reason
    if Capability.FRICTION_FORCES not in info.capabilities:
        reason = f"without friction, which it does not report; {reason}"
    return Measurement(_fall(engine).unexplained, 0.0, info.unexplained, "relative", reason)


def _energy(engine: Engine) -> Measurement:
    return Measurement(_fall(engine).gain, 0.0, 1e-3, "relative")


def _solver(engine: Engine) -> Measurement:
    return Measurement(_fall(engine).unfinished, 0.0, 0.0)


_FOREST = frozenset({Capability.JOINTS, Capability.CONTACT, Capability.FREE_BASE})

CHECKS = (
    Check("force-balance", "the reported contact forces explain how a forest moves", _balance,
          _FOREST | {Capability.CONTACT_FORCES},
          "M (v' - v) / h + C v + g = -D v' + J' f, norms summed over 200 steps",
          "equation of motion; M, C v, g and J by Pinocchio (Featherstone 2008)"),
    Check("forest-energy", "the energy of an undriven forest never rises in a step", _energy,
          _FOREST, "E' - E <= 0, over the energy at the start",
          "passivity of joint damping, friction and inelastic contact"),
    Check("solver-converges", "the solver finishes before its limit in a forest", _solver,
          _FOREST | {Capability.SOLVER_REPORT}, "share of steps at the limit of iterations = 0",
          "the engine's own report"),
)  # fmt: skip
