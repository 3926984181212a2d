"""One run on two arms in an engine: simulated satellites move the arms that hold payloads.

Each sensor's wrench, compensated for weight and inertia of the payload, moves the simulated
satellite of its arm; the arms follow by inverse kinematics. The contact is prescribed and acts
between the payloads. The rows compare restitution, momentum and energy with the ideal contact.
"""

from dataclasses import replace

import numpy as np

from kinetarium.control.admittance.sensing import PayloadWrench
from kinetarium.control.arm.clik import Clik
from kinetarium.control.arm.tracking import Setpoints
from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene.docking import (
    CENTER,
    CHASER,
    TARGET,
    X_SB,
    DockingArm,
    DockingScene,
    docking_scene,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.dock.floating.config import (
    NO_ENGINE,
    RUN_UP,
    STEP,
    FloatCase,
    contact_frequency,
    duration,
    gap,
    lead_time,
    tick_steps,
)
from kinetarium.studies.dock.floating.pair import (
    FIGURES,
    MOMENTS,
    UNITS,
    FloatingPair,
    between_twist,
    contact_vertex,
    ideal_channels,
    run_free,
)
from kinetarium.studies.dock.press.contact import FaceContact
from kinetarium.studies.dock.press.run import Watched, engine_options

OWN_LAG = 0.5e-3
"""Lag of servos and sampling in addition to that of the case, fitted [s]."""
CLIK_GAIN = 20.0
"""Gain of the pose error in the inverse kinematics [1/s]."""


def run(case: FloatCase) -> Recording:
    """Simulate the contact on the arms, and the ideal contact."""
    if case.engine == NO_ENGINE:
        return run_free(case)
    docking = docking_scene(payload=case.payload_kg, gap=gap(case))
    controller = FloatController(case, docking)
    law = FaceContact(
        docking,
        stiffness=case.stiffness,
        damping=case.damping,
        vertices=contact_vertex(case)[np.newaxis],
    )
    recording = simulate(
        docking.scene,
        engine=case.engine,
        controller=controller,
        interactions=(law,),
        probes=(
            Watched("pair", UNITS, FIGURES, lambda: controller.pair.figures()),
            Watched("force", "N", ("force",), lambda: np.array([law.force])),
        ),
        duration=duration(case),
        timestep=STEP,
        sample_rate=1 / STEP,
        options=engine_options(case.engine),
    )
    force = Channel(recording["force"][:, 0], "N")
    kept = {name: recording.channels[name] for name in ("time", "q", "pair")}
    return replace(recording, channels={**kept, "force": force, **ideal_channels(case)})


class _ArmLoop:
    """One arm: from its sensor to the wrench on the satellite, and from a pose to set points."""

    def __init__(self, case: FloatCase, arm: DockingArm, *, gravity: Array, tick: float) -> None:
        self._dynamics = RobotDynamics(arm.model, gravity=gravity)
        self._stiffness = arm.stiffness
        self._per_rate = arm.damping / arm.stiffness
        self._X_AW = inverse_pose(arm.X_WA)
        self._clik = Clik(arm.model, link=CENTER, gain=CLIK_GAIN, timestep=tick)
        self._tick = tick
        self._payload = PayloadWrench(mass=case.payload_kg, X_SB=X_SB, gravity=gravity)
        self._inertia = case.payload_kg * np.array([1.0, 1.0, 1.0, *MOMENTS])
        self._q = arm.q_start.copy()
        self._setpoints = Setpoints(self._q, tick=tick, delay=case.delay_ms * 1e-3)
        self.X_WB = arm.X_WA @ self._dynamics.link_pose(self._q, CENTER)
        self._X_tick, self._told = self.X_WB, self.X_WB
        self._V = np.zeros(6)
        self._sum, self._samples = np.zeros(6), 0

    def sample(self, F_S: Array, *, q: Array, v: Array) -> None:
        """Take a reading, and compensate the payload's weight and inertia."""
        X_AB = self._dynamics.link_pose(q, CENTER)
        R = X_AB[:3, :3]
        J = self._dynamics.jacobian(q, CENTER)
        V = J @ v
        V_B = np.concatenate([R.T @ V[:3], R.T @ V[3:]])
        F_B = self._payload.contact(F_S, R_WB=R)
        F_B += self._inertia * (V_B - self._V) / STEP
        self._V = V_B
        self.X_WB = inverse_pose(self._X_AW) @ X_AB
        self._sum += F_B
        self._samples += 1

    def take(self) -> tuple[Array, Array]:
        """Return the mean wrench and the mean body twist since the last tick, shape (6,) each."""
        F_B = self._sum / max(self._samples, 1)
        V_B = between_twist(self._X_tick, self.X_WB, self._tick)
        self._sum, self._samples, self._X_tick = np.zeros(6), 0, self.X_WB
        return F_B, V_B

    def send(self, t: float, X_WB: Array) -> None:
        """Command a pose, to be reached one tick after t [s].

        The inverse kinematics continues from the last command: feedback of the measured pose
        would treat the lag as an error.
        """
        V_ref = between_twist(self._told, X_WB, self._tick)
        self._clik.X_WR = self._X_AW @ self._told
        self._clik.locate(self._q)
        self._q = self._q + self._clik.rates(self._q, V_ref=V_ref) * self._tick
        self._told = X_WB
        self._setpoints.add(t, self._q)

    def command(self, t: float) -> Array:
        """Return the servo commands for the step that ends at a time [s], shape (6,)."""
        q, rates = self._setpoints.at(t)
        sag = self._dynamics.gravity_forces(q) / self._stiffness
        return np.asarray(q + self._per_rate * rates + sag)


class FloatController:
    """Moves both arms as two free-floating satellites.

    Attributes:
        pair: The simulated satellites.
    """

    def __init__(self, case: FloatCase, docking: DockingScene) -> None:
        """Build both loops."""
        self._case, self._docking = case, docking
        self._every = tick_steps(case, STEP)
        self._tick = self._every * STEP
        self._lead = lead_time(case, self._tick, own_lag=OWN_LAG)
        self.reset()

    @property
    def rate(self) -> float:
        """Update rate [Hz]: at every physics step."""
        return 1 / STEP

    def reset(self) -> None:
        """Reset to the initial state."""
        gravity = self._docking.scene.gravity
        self._arms = [
            _ArmLoop(self._case, arm, gravity=gravity, tick=self._tick)
            for arm in (self._docking.chaser, self._docking.target)
        ]
        self.pair = FloatingPair(self._case, X_WB=self._arms[0].X_WB)
        self._steps = 0

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the positions of all joints for the servos [rad], shape (12,)."""
        n = len(measurement.q) // 2
        parts = (slice(0, n), slice(n, 2 * n))
        if self._steps:  # there is no reading before the first step
            for arm, name, part in zip(self._arms, (CHASER, TARGET), parts, strict=True):
                F_S = measurement.wrenches[name]
                arm.sample(F_S, q=measurement.q[part], v=measurement.v[part])
        if self._steps % self._every == 0:
            readings = [arm.take() for arm in self._arms]
            F_B = np.array([F for F, _ in readings])
            self.pair.step(t, F_B, V_B=np.array([V for _, V in readings]), dt=self._tick)
            # No prediction while accelerating: there is no contact yet, and it would cause a jump.
            lead = self._lead * min(t / RUN_UP, 1.0)
            for arm, X_WB in zip(self._arms, self.pair.commands(lead), strict=True):
                arm.send(t, X_WB)
        self._steps += 1
        return np.concatenate([arm.command(t + STEP) for arm in self._arms])


HEAVY = 0.2
"""Payload over the lighter simulated mass above which a flag is set [-]."""
LATE = 0.6
"""Contact frequency times delay above which no compensation works [rad]."""
_PASSED = 8e-3
"""Time after the contact, in addition to the delay, until its effect has been measured [s]."""


def score(case: FloatCase, recording: Recording) -> Row:
    """Compare a contact with the ideal one.

    Returns:
        restitution: Speed after over speed before, at the contact points.
        restitution_ideal: The same without delay, payload and sampling.
        restitution_formula: e0 exp(pi w tau/2) for the uncompensated delay: 14 % too high at
            w tau = 0.57, None above 0.6.
        w_tau: Contact frequency times delay [rad].
        momentum_error: Change of the momentum over that of the chaser before.
        angular_momentum_error: Change of the angular momentum, over the chaser's momentum times
            the greater of the offset and 0.1 m.
        energy_error: Energy about the centre of mass after, minus the ideal one, over that before.
        peak_n: Maximum contact force.
        flags: Warnings, as sentences.
    """
    wait = case.delay_ms * 1e-3 + _PASSED
    seen = _before_and_after(recording["pair"], recording["force"], wait)
    ideal = _before_and_after(recording["ideal"], recording["ideal_force"], wait)
    flags = _flags(case, recording)
    if seen is None or ideal is None:
        nothing = dict.fromkeys(
            ("restitution", "restitution_ideal", "restitution_formula", "momentum_error",
             "angular_momentum_error", "energy_error")
        )  # fmt: skip
        met = (recording["force"] > 0).any()
        return {
            **nothing,
            "w_tau": _w_tau(case),
            "peak_n": float(recording["force"].max()),
            "flags": [*flags, f"the satellites did not {'part' if met else 'meet'}"],
        }
    (before, after), (_, ideal_after) = seen, ideal
    scale = case.mass[0] * case.speed
    e_ideal = -float(ideal[1][7] / ideal[0][7])
    return {
        "restitution": -float(after[7] / before[7]),
        "restitution_ideal": e_ideal,
        "restitution_formula": _formula(case, e_ideal),
        "w_tau": _w_tau(case),
        "momentum_error": float(np.linalg.norm(after[:3] - before[:3])) / scale,
        "angular_momentum_error": float(np.linalg.norm(after[3:6] - before[3:6]))
        / (scale * max(case.offset_m, 0.1)),
        "energy_error": float(after[6] - ideal_after[6]) / float(before[6]),
        "peak_n": float(recording["force"].max()),
        "flags": flags,
    }


def _before_and_after(figures: Array, force: Array, wait: float) -> tuple[Array, Array] | None:
    """Return the state at the first contact and after the measured end of the contact."""
    released = round(RUN_UP / STEP)
    touching = np.flatnonzero(force > 0)
    if not touching.size:
        return None
    end = int(touching[-1]) + round(wait / STEP)
    if touching[0] <= released or end >= len(figures):
        return None
    return figures[int(touching[0]) - 1], figures[end]


def _w_tau(case: FloatCase) -> float:
    """Return the contact frequency times the delay of the arms [rad]."""
    return contact_frequency(case.mass, case.stiffness) * case.delay_ms * 1e-3


def _formula(case: FloatCase, e_ideal: float) -> float | None:
    """Return the restitution for the delay that neither prediction nor observer compensates."""
    if _w_tau(case) > LATE:
        return None
    left = -case.lead_error_ms if case.lead else case.delay_ms
    if case.passivity:
        left = 0.0
    w = contact_frequency(case.mass, case.stiffness)
    return e_ideal * float(np.exp(np.pi / 2 * w * left * 1e-3))


def _flags(case: FloatCase, recording: Recording) -> list[str]:
    said = []
    share = case.payload_kg / min(case.mass)
    if share > HEAVY and not case.sensor_in_front:
        said.append(
            f"the payload is {share:.2f} of the lighter simulated mass: above {HEAVY:g} its"
            " inertia must be known well, above 0.5 it is refused"
        )
    touching = recording["force"] > 0
    lost = int((touching[:-1] & ~touching[1:]).sum())
    if lost > 1:
        said.append(f"the contact chatters: it was lost {lost} times")
    if _w_tau(case) > LATE:
        said.append(
            f"the contact is too fast for this lag: w tau = {_w_tau(case):.2g} rad, and above"
            f" {LATE:g} not even a lead restores it. Take less delay or a softer contact"
        )
    if recording.status == "diverged":
        said.append("the simulation diverged")
    return said
