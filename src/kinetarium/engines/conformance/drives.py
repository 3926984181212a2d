"""Checks on drives: joint friction behind the inertia of a drive, servos, legs that land."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kinetarium.engines.conformance.bodies import TIMESTEP, WEIGHTLESS
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import FOOT_RADIUS, quadruped, rotor
from kinetarium.engines.protocol import Capability, Engine, State
from kinetarium.model.robot import Inertia, Link, RobotModel
from kinetarium.scene import Actuation, Base, DriveMode, Material, PlacedRobot, Scene, ground
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

if TYPE_CHECKING:
    from kinetarium.dynamics import RobotDynamics


def _friction_armature(engine: Engine) -> Measurement:
    inertia, armature, friction, speed = 1e-3, 0.24, 1.5, 2.0
    wheel = Link("bar", Inertia(1.0, frozen(np.zeros(3)), frozen(np.eye(3) * inertia)))
    model = rotor()
    joint = replace(model.joints[0], friction=friction, armature=armature)
    model = replace(model, links=(model.links[0], wheel), joints=(joint,))
    scene = Scene((PlacedRobot("robot", model),), gravity=WEIGHTLESS)
    simulation = engine.compile(scene, timestep=TIMESTEP)
    simulation.reset(State(0.0, np.zeros(1), np.array([speed]), np.zeros((0, 7)), np.zeros((0, 6))))
    simulation.step(np.zeros(0), 400)
    stopped = float(simulation.state().q[0])
    simulation.close()
    # Friction takes up the energy of link and drive: (I + A) v^2 / 2 = c q.
    expected = (inertia + armature) * speed**2 / (2 * friction)
    reason = "a step of first order stops sooner by half a step at the first speed"
    return Measurement(stopped, expected, 2e-3, "rad", reason)


def _servo_step(engine: Engine) -> Measurement:
    """Let a servo bring a rotor to a new angle, underdamped, at 22 rad/s."""
    model, target = rotor(), 0.5
    bar = model.link("bar").inertia
    assert bar is not None
    inertia = float(bar.moment[2, 2])
    stiffness, damping = 500.0 * inertia, 20.0 * inertia
    servo = Actuation(DriveMode.POSITION, stiffness=stiffness, damping=damping)
    robot = PlacedRobot("robot", model, actuation={"spindle": servo})
    simulation = engine.compile(Scene((robot,), gravity=WEIGHTLESS), timestep=TIMESTEP)
    # The implicit spring: I (v' - v) / h = K (r - q - h v') - D v', q' = q + h v', so that the
    # error e = r - q and v continue as [e'; v'] = A [e; v].
    h, gives = TIMESTEP, inertia + TIMESTEP * damping + TIMESTEP**2 * stiffness
    speed = np.array([h * stiffness, inertia]) / gives
    A = np.array([np.array([1.0, 0.0]) - h * speed, speed])
    worst = 0.0
    for k in range(1, 11):
        simulation.step(np.array([target]), 30)
        error = np.linalg.matrix_power(A, 30 * k)[0, 0] * target
        worst = max(worst, abs(float(simulation.state().q[0]) - (target - error)))
    simulation.close()
    return Measurement(worst, 0.0, 1e-5, "rad")


def _servo_release(engine: Engine) -> Measurement:
    """Run a rotor up at the effort limit of a servo six times as stiff as its inertia over h."""
    model, target = rotor(effort=5.0), 10.1
    servo = Actuation(DriveMode.VELOCITY, damping=100.0)
    robot = PlacedRobot("robot", model, actuation={"spindle": servo})
    simulation = engine.compile(Scene((robot,), gravity=WEIGHTLESS), timestep=TIMESTEP)
    simulation.step(np.array([target]), 100)  # the limit alone takes 34 steps
    worst = 0.0
    for _ in range(10):
        simulation.step(np.array([target]))
        worst = max(worst, abs(float(simulation.state().v[0]) - target))
    simulation.close()
    return Measurement(worst, 0.0, 1e-3, "rad/s")


@dataclass(frozen=True, slots=True, eq=False)
class TouchDown:
    """A legged robot under servos that is let down on the ground.

    It begins with all feet on the ground and sinking. Forces are found from the motion,
    M (v' - v) / h + bias - tau = J' f, as not every engine reports friction.

    Attributes:
        model: The robot, with a free base.
        positions: Where its joints begin and where the servos hold them [rad].
        feet: The link of each foot and the centre of its ball in that link [m].
        radius: Radius of the balls [m].
        stiffness: Of the servos [N m/rad].
        damping: Of the servos [N m s/rad].
        speed: Speed at which it sinks [m/s].
        timestep: Time step [s].
    """

    model: RobotModel
    positions: Mapping[str, float]
    feet: tuple[tuple[str, tuple[float, float, float]], ...]
    radius: float
    stiffness: float = 60.0
    damping: float = 2.0
    speed: float = 0.4
    timestep: float = 2e-3

    @property
    def _steps(self) -> int:
        return round(0.2 / self.timestep)

    def friction_ratio(self, engine: Engine) -> float:
        """Return what the feet bear along the ground over what they bear upright, for 0.2 s."""
        servo = Actuation(DriveMode.POSITION, stiffness=self.stiffness, damping=self.damping)
        dynamics, start = self._start()
        robot = PlacedRobot(
            "robot",
            self.model,
            Base.FREE,
            frozen(pose(start.poses[0, :3])),
            positions=self.positions,
            actuation={joint.name: servo for joint in self.model.moving_joints},
            material=Material(_MU),
        )
        scene = Scene((robot,), (ground(Material(_MU)),))
        simulation = engine.compile(scene, timestep=self.timestep)
        simulation.reset(start)
        forces, now = [], simulation.state()
        for _ in range(self._steps):
            simulation.step(start.q)
            before, now = now, simulation.state()
            q, v = _coordinates(before)
            M, bias, J = dynamics.mass_matrix(q), dynamics.bias(q, v), self._jacobian(dynamics, q)
            servos = self.stiffness * (start.q - now.q) - self.damping * now.v
            unexplained = M @ (_coordinates(now)[1] - v) / self.timestep + bias
            unexplained[6:] -= servos
            forces.append(np.linalg.lstsq(J.T, unexplained, rcond=None)[0])
        simulation.close()
        return _ratio(np.array(forces))

    def rigid_ratio(self) -> float:
        """Return the same of feet that neither slip, yield nor leave the ground.

        The implicit step with J v' = 0 (Moreau's time stepping without a sliding contact):
        (M + h G) v' = M v + h (K (r - q) - bias) + J' f h, with G = D + h K of the servos.
        """
        dynamics, start = self._start()
        h, k = self.timestep, 3 * len(self.feet)
        gain = np.zeros(6 + len(start.q))
        gain[6:] = self.damping + h * self.stiffness
        q, v = _coordinates(start)
        forces = []
        for _ in range(self._steps):
            M, J = dynamics.mass_matrix(q), self._jacobian(dynamics, q)
            push = -dynamics.bias(q, v)
            push[6:] += self.stiffness * (start.q - q[7:])
            system = np.block([[M + h * np.diag(gain), -h * J.T], [J, np.zeros((k, k))]])
            solved = np.linalg.solve(system, np.concatenate([M @ v + h * push, np.zeros(k)]))
            v = solved[:-k]
            q = dynamics.integrate(q, h * v)
            forces.append(solved[-k:])
        return _ratio(np.array(forces))

    def _start(self) -> "tuple[RobotDynamics, State]":
        from kinetarium.dynamics import RobotDynamics

        dynamics = RobotDynamics(self.model, free_base=True)
        q = np.array([self.positions[joint.name] for joint in self.model.moving_joints])
        base = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        base[2] = self.radius - min(z for _, _, z in self._centers(dynamics, np.append(base, q)))
        sinking = np.array([[0.0, 0.0, -self.speed, 0.0, 0.0, 0.0]])
        return dynamics, State(0.0, q, np.zeros(len(q)), base[np.newaxis], sinking)

    def _centers(self, dynamics: "RobotDynamics", q: Array) -> Array:
        poses = [dynamics.link_pose(q, link) for link, _ in self.feet]
        return np.array([
            X[:3, :3] @ np.array(at) + X[:3, 3] for X, (_, at) in zip(poses, self.feet, strict=True)
        ])  # fmt: skip

    def _jacobian(self, dynamics: "RobotDynamics", q: Array) -> Array:
        """Return J of the lowest points of the feet, shape (3 feet, n)."""
        rows = []
        for link, at in self.feet:
            down = dynamics.link_pose(q, link)[2, :3] * -self.radius
            rows.append(dynamics.jacobian(q, link, point=np.array(at) + down)[:3])
        return np.concatenate(rows)


def _coordinates(state: State) -> tuple[Array, Array]:
    """Return q and v of the one robot, its free base first."""
    return np.append(state.poses[0], state.q), np.append(state.twists[0], state.v)


def _ratio(forces: Array) -> float:
    """Add up the forces of all steps, shape (steps, 3 feet), along the ground and upright."""
    each = forces.reshape(-1, 3)
    return float(np.hypot(each[:, 0], each[:, 1]).sum() / each[:, 2].sum())


def _touch_down(engine: Engine) -> Measurement:
    stance = {"spread": 0.1, "swing": 0.8, "knee": -1.5}
    case = TouchDown(
        quadruped(),
        {
            f"{joint}{i}": angle * (-1 if joint == "spread" and i % 2 else 1)
            for i in range(4)
            for joint, angle in stance.items()
        },
        tuple((f"shank{i}", (0.0, 0.0, -0.2)) for i in range(4)),
        FOOT_RADIUS,
    )
    expected = case.rigid_ratio()
    reason = "feet that yield and rebound a little bear the impact otherwise than rigid ones"
    return Measurement(case.friction_ratio(engine), expected, 0.1 * expected, "-", reason)


_MU = 0.8
"""Friction of the ground, more than feet that stand need [-]."""
_JOINTS = frozenset({Capability.JOINTS})

CHECKS = (
    Check("friction-armature", "joint friction stops a light link behind a heavy drive",
          _friction_armature, _JOINTS, "q = (I + A) v^2 / (2 c)", "work of friction"),
    Check("servo-step", "a position servo answers a step as its implicit spring", _servo_step,
          _JOINTS, "I (v' - v) / h = K (r - q - h v') - D v', q' = q + h v'",
          "implicit Euler (Tan, Liu and Turk 2011)"),
    Check("servo-release", "a stiff servo leaves its effort limit and comes to rest at its target",
          _servo_release, _JOINTS, "v = r, the only rest of I (v' - v) / h = clip(D (r - v'))",
          "the right side falls with v'"),
    Check("touch-down", "the feet of a legged robot let down on the ground hold at once",
          _touch_down, _JOINTS | {Capability.FREE_BASE, Capability.CONTACT},
          "ratio of forces of feet that stick, J v' = 0", "Moreau's time stepping"),
)  # fmt: skip
