"""DockingController: from sensor readings to set points of both arms.

At every physics step it samples the sensor and interpolates the set points; at every tick of
its own rate it runs filter, gate, admittance law and inverse kinematics. The target's arm
holds its position. The arm's weight and the rate of the set point are fed forward to the
servos, so that they neither sag nor lag.
"""

from time import thread_time

import numpy as np

from kinetarium.control.admittance.law import AdmittanceSE3
from kinetarium.control.admittance.sensing import (
    ContactGate,
    PayloadWrench,
    RandomWalkKalman,
    TickAverage,
)
from kinetarium.control.admittance.tank import EnergyTank, VariableImpedance
from kinetarium.control.arm.clik import Clik
from kinetarium.control.arm.tracking import Setpoints
from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.scene.docking import CENTER, CHASER, X_SB, DockingScene
from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.dock.press.arms import path_scale
from kinetarium.studies.dock.press.cases import Approach, cruise
from kinetarium.studies.dock.press.config import DockCase
from kinetarium.studies.dock.press.presets import (
    MOMENT_NOISE,
    PRESETS,
    case_gains,
    pressing_gains,
    wanted_wrench,
)

ARMED_AFTER = 0.2
"""Time before which the gate stays closed [s]."""
TANK_CAPACITY = 10.0
"""Greatest energy of the tank [J], so that a long contact does not pay for a wild change."""
CLIK_GAIN = 5.0
"""Gain of the pose error in the inverse kinematics [1/s]."""


class DockingController:
    """Controls both arms of a docking.

    Attributes:
        sensed: Filtered contact wrench in {b} at the last tick [N, N m], shape (6,).
        desired: Desired wrench at that tick, in {d} [N, N m], shape (6,).
        tick_times: CPU time of the thread in each tick so far [s].
    """

    def __init__(self, case: DockCase, docking: DockingScene, *, timestep: float) -> None:
        """Build the loop of a case.

        Args:
            timestep: Physics time step [s].
        """
        self._preset = preset = PRESETS[case.preset]
        self._case, self._docking, self._timestep = case, docking, timestep
        self._tick_steps = round(1 / (preset.tick_rate * timestep))
        self._tick = self._tick_steps * timestep
        arm, held = docking.chaser, docking.target
        self._dynamics = RobotDynamics(arm.model, gravity=docking.scene.gravity)
        self._wanted = wanted_wrench(case)
        self._law = AdmittanceSE3(
            case_gains(case), timestep=self._tick, form=case.form, anti_windup=case.anti_windup
        )
        self._impedance: VariableImpedance | None = None
        self._clik = Clik(arm.model, link=CENTER, gain=CLIK_GAIN, timestep=self._tick)
        self._gate = ContactGate(threshold=case.gate, armed_after=ARMED_AFTER)
        self._payload = PayloadWrench(
            mass=case.payload_kg, X_SB=X_SB, gravity=docking.scene.gravity
        )
        self._scatter = preset.noise * np.array([1.0] * 3 + [MOMENT_NOISE] * 3)
        self._average = TickAverage()
        self._kalman = RandomWalkKalman(preset.kalman) if preset.kalman else None
        # In a position servo a torque corresponds to an offset of its command.
        self._per_rate = arm.damping / arm.stiffness
        down = held.X_WA[:3, :3].T @ docking.scene.gravity
        weight = RobotDynamics(held.model, gravity=down)
        self._hold = held.q_start + weight.gravity_forces(held.q_start) / held.stiffness
        self.reset()

    @property
    def rate(self) -> float:
        """Update rate [Hz]: at every physics step."""
        return 1 / self._timestep

    def reset(self) -> None:
        """Reset to the initial state."""
        q = self._docking.chaser.q_start
        X_WB = self._dynamics.link_pose(q, CENTER)
        if self._case.contact_d:
            self._law.gains = case_gains(self._case)
            level = self._case.tank
            tank = EnergyTank(level, capacity=max(TANK_CAPACITY, level)) if level >= 0 else None
            self._impedance = VariableImpedance(self._law, tank=tank)
        self._noise = np.random.default_rng(self._case.seed)
        self._law.reset()
        self._clik.reset(X_WB)
        self._gate.reset()
        self._average.reset()
        if self._kalman:
            self._kalman.reset()
        self._approach = Approach(X_WB, scale=path_scale(self._case), cruise=cruise(self._case))
        self._V_ref = np.zeros(6)
        self._frozen: Array | None = None
        self._switched = False
        self._q_command = q.copy()
        self._setpoints = Setpoints(q, tick=self._tick, delay=self._case.delay_ms * 1e-3)
        self._steps = 0
        self.sensed, self.desired = np.zeros(6), np.zeros(6)
        self._warnings: Array | None = None
        self.tick_times: list[float] = []

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the positions of all joints for the servos [rad or m]."""
        if self._steps:  # there is no reading before the first step
            noise = self._scatter * self._noise.standard_normal(6)
            self._average.add(measurement.wrenches[CHASER] + noise)
            if self._steps % self._tick_steps == 0:
                n = self._dynamics.nq
                start = thread_time()
                self.tick(t, q=measurement.q[:n], v=measurement.v[:n])
                self.tick_times.append(thread_time() - start)
        self._steps += 1
        q, rates = self._setpoints.at(t + self._timestep)
        return np.concatenate([q + self._per_rate * rates + self._sag(q), self._hold])

    def tick(self, t: float, *, q: Array, v: Array) -> None:
        """Run filter, gate, law and inverse kinematics once.

        Args:
            t: Time [s].
            q: Joint positions of the chaser's arm [rad or m], shape (n,).
            v: Its joint velocities [rad/s or m/s], shape (n,).
        """
        F_S = self._average.take()
        if self._kalman:
            F_S = self._kalman.update(F_S)
        law, gate, clik = self._law, self._gate, self._clik
        X_WB = clik.locate(q)
        # On the path the payload's inertial force is known, and must not open the gate.
        on_path = None if gate.is_open else self._approach.acceleration(t)
        F_B = self._payload.contact(F_S, R_WB=X_WB[:3, :3], acceleration=on_path)
        X_WE = clik.X_WR if self._preset.from_reference else X_WB
        if gate.update(t, F_B) and self._preset.freeze:
            self._frozen = X_WE.copy()
            law.take_over(self._V_ref if self._preset.from_reference else self._twist(q, v, X_WB))
        if self._frozen is None:
            X_WD, V_D = self._approach.at(t)
        else:
            X_WD, V_D = self._frozen, np.zeros(6)
        F_D = self._ramp(t) * self._wanted
        if self._case.is_free:
            # The faces align, and with them the wrench: it is that of the body's frame, in {d}.
            F_D = se3.adjoint(inverse_pose(X_WE) @ X_WD).T @ F_D
        V_ref = law.step(X_WE, X_WD=X_WD, V_D=V_D, F_B=F_B, F_D=F_D, contact=gate.is_open)
        if self._impedance:
            if gate.is_open and not self._switched:
                self._impedance.request(pressing_gains(self._case))
                self._switched = True
            self._impedance.advance()
        self._V_ref = V_ref
        self._q_command = self._q_command + clik.rates(q, V_ref=V_ref) * self._tick
        self._setpoints.add(t, self._q_command)
        self.sensed, self.desired = F_B, F_D
        self._warnings = None

    @property
    def error(self) -> Array:
        """Exponential coordinates l = [eta; xi] of the last tick [m, rad], shape (6,)."""
        return self._law.error

    @property
    def energies(self) -> Array:
        """Virtual energy, energy added by changes of the gains, level of the tank [J], shape (3,).

        The level is NaN without a tank.
        """
        impedance = self._impedance
        assert impedance is not None
        level = impedance.tank.level if impedance.tank else np.nan
        return np.array([impedance.energy, impedance.added, level])

    @property
    def impulse(self) -> Array:
        """Integral of the wrench error [N s, N m s], shape (6,)."""
        return self._law.impulse.copy()

    @property
    def warnings(self) -> Array:
        """The warnings of the last tick, 0 or 1 each, shape (6,).

        Gate open, impulse at its bound, angle near pi, posture singular, joint at a limit,
        rates scaled down.
        """
        if self._warnings is None:  # they are recorded at every step, of which a tick has several
            arm = self._clik.warnings
            law = (self._gate.is_open, self._law.bounded, self._law.near_half_turn)
            seen = [*law, arm.singular, arm.at_limit, arm.too_fast]
            self._warnings = np.array(seen, dtype=np.float64)
        return self._warnings

    def _ramp(self, t: float) -> float:
        """Return the share of the desired wrench that is applied at a time."""
        since = t - self._gate.opened_at
        if since < 0:
            return 0.0
        return min(since / self._preset.ramp, 1.0) if self._preset.ramp else 1.0

    def _twist(self, q: Array, v: Array, X_WB: Array) -> Array:
        """Return the body twist of the satellite [m/s, rad/s], shape (6,)."""
        V = self._dynamics.jacobian(q, CENTER) @ v
        R = X_WB[:3, :3]
        return np.concatenate([R.T @ V[:3], R.T @ V[3:]])

    def _sag(self, q: Array) -> Array:
        """Return the offsets of the servo commands that compensate the arm's weight [rad]."""
        return np.asarray(self._dynamics.gravity_forces(q) / self._docking.chaser.stiffness)
