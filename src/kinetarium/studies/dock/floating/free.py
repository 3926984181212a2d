"""The contact with arms modelled as a pure delay: no engine, no noise.

The arms have the poses commanded one delay ago, and the contact acts between these. A sensor
behind a payload measures the contact wrench minus the payload's inertial wrench; the loop
compensates it from the arm's acceleration, with an inertia known to one per cent only.
"""

from collections import deque
from dataclasses import replace
from math import ceil

import numpy as np

from kinetarium.recording.recording import Channel, Recording
from kinetarium.scene.docking import SATELLITE_LENGTH
from kinetarium.spatial import kernels as se3_kernel
from kinetarium.spatial import se3, so3
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.floating.config import (
    NO_ENGINE,
    STEP,
    FloatCase,
    LoopRate,
    duration,
    lead_time,
    tick_steps,
)
from kinetarium.studies.dock.floating.pair import MOMENTS, FloatingPair, contact_vertex

_FINE = 5e-4
"""Simulation step of the ideal contact [s]."""
KNOWN_PAYLOAD = 0.99
"""Assumed over actual inertia of the payload [-]."""
FIGURES = ("px", "py", "pz", "Lx", "Ly", "Lz", "energy", "closing")
UNITS = "kg m/s, kg m^2/s, J, m/s"


def run_free(case: FloatCase) -> Recording:
    """Simulate the contact and the ideal contact."""
    figures, force = _meet(case, step=STEP, until=duration(case))
    time = np.linspace(0.0, STEP * (len(force) - 1), len(force))
    return Recording(
        {
            "time": Channel(time, "s"),
            "pair": Channel(figures, UNITS, FIGURES),
            "force": Channel(force, "N"),
            **ideal_channels(case),
        },
        "running",
        {"engine": case.engine, "timestep_s": STEP},
    )


def ideal_case(case: FloatCase) -> FloatCase:
    """Return the same case without delay and payload."""
    return replace(
        case,
        delay_ms=0.0,
        lead=False,
        lead_error_ms=0.0,
        passivity=False,
        payload_kg=0.0,
        sensor_in_front=True,
        timing=LoopRate.FAST,
        engine=NO_ENGINE,
    )


def ideal_channels(case: FloatCase) -> dict[str, Channel]:
    """Return the channels of the same case without delay and payload, with fine steps."""
    figures, force = _meet(ideal_case(case), step=_FINE, until=duration(case))
    return {"ideal": Channel(figures, UNITS, FIGURES), "ideal_force": Channel(force, "N")}


def _meet(case: FloatCase, *, step: float, until: float) -> tuple[Array, Array]:
    """Return the state of the pair, shape (n, 8), and the contact force [N], at each STEP."""
    pair = FloatingPair(case, X_WB=np.eye(4))
    every, sampled = tick_steps(case, step), round(STEP / step)
    tick = every * step
    lead = lead_time(case, tick)
    # Commands are interpolated at each step, and reach the arms one delay later.
    commanded = before = pair.commands(lead)
    arms = [_Arm(pose, mass=_felt(case), step=step) for pose in commanded]
    lag = round(case.delay_ms * 1e-3 / step, 9)
    in_transit = deque([commanded] * ceil(lag))
    # Sums since the last tick: sensor readings, accelerations and twists of the arms.
    gathered, acceleration, twist = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros((2, 6))
    figures, forces = [], []
    for k in range(round(until / step) + 1):
        wrenches, force = _contact(case, arms)
        if k % sampled == 0:
            figures.append(pair.figures())
            forces.append(force)
        gathered += [arm.sensed(F) for arm, F in zip(arms, wrenches, strict=True)]
        acceleration += [arm.acceleration for arm in arms]
        twist += [arm.V_B for arm in arms]
        if k % every == 0:
            samples = every if k else 1
            known = KNOWN_PAYLOAD * np.array([arm.inertia for arm in arms])
            F_B = (gathered + known * acceleration) / samples
            pair.step(k * step, F_B, V_B=twist / samples, dt=tick)
            before, commanded = commanded, pair.commands(lead)
            gathered[:], acceleration[:], twist[:] = 0.0, 0.0, 0.0
        in_transit.append(_between(before, commanded, (k % every + 1) / every))
        arrived = in_transit.popleft()
        if lag % 1:
            arrived = _between(arrived, in_transit[0], ceil(lag) - lag)
        for arm, pose in zip(arms, arrived, strict=True):
            arm.move(pose)
    return np.array(figures), np.array(forces)


def _felt(case: FloatCase) -> float:
    """Return the mass in front of the sensors [kg]."""
    return 0.0 if case.sensor_in_front else case.payload_kg


def _between(before: Array, after: Array, fraction: float) -> Array:
    """Interpolate the poses of two arms between two commands, shape (2, 4, 4)."""
    return after if fraction == 1 else se3.interpolate(before, after, fraction=fraction)


def between_twist(X_WA: Array, X_WB: Array, time: float) -> Array:
    """Return the constant body twist from one pose to another in a time [s]."""
    return np.asarray(se3_kernel.log(se3_kernel.between(X_WA, X_WB)) / time)


class _Arm:
    """An arm at its commanded pose, with a payload in front of its sensor."""

    def __init__(self, pose: Array, *, mass: float, step: float) -> None:
        self.X_WB, self.V_B = pose, np.zeros(6)
        self.inertia = mass * np.array([1.0, 1.0, 1.0, *MOMENTS])
        self.acceleration = np.zeros(6)
        self._step = step

    def move(self, X_WB: Array) -> None:
        V_B = between_twist(self.X_WB, X_WB, self._step)
        self.acceleration = (V_B - self.V_B) / self._step
        self.X_WB, self.V_B = X_WB, V_B

    def sensed(self, F_B: Array) -> Array:
        """Return the sensor reading for a wrench on the payload [N, N m], shape (6,)."""
        return np.asarray(F_B - self.inertia * self.acceleration)


def _contact(case: FloatCase, arms: list[_Arm]) -> tuple[tuple[Array, Array], float]:
    """Return the wrench on each payload in its own frame, and the normal force."""
    chaser, target = (arm.X_WB for arm in arms)
    vertex = contact_vertex(case)
    point = chaser[:3, 3] + chaser[:3, :3] @ vertex
    normal = target[:3, 0]
    depth = float((target[:3, 3] + SATELLITE_LENGTH / 2 * normal - point) @ normal)
    if depth <= 0:
        return (np.zeros(6), np.zeros(6)), 0.0
    p_T = target[:3, :3].T @ (point - target[:3, 3])
    velocity = _velocity(arms[0], vertex) - _velocity(arms[1], p_T)
    force = max(0.0, case.stiffness * depth - case.damping * float(velocity @ normal))
    push = force * normal
    return (_wrench(chaser, vertex, push), _wrench(target, p_T, -push)), force


def _velocity(arm: _Arm, p_B: Array) -> Array:
    """Return the velocity of a point of a payload in the world [m/s], shape (3,)."""
    return np.asarray(arm.X_WB[:3, :3] @ (arm.V_B[:3] + so3.hat(arm.V_B[3:]) @ p_B))


def _wrench(X_WB: Array, p_B: Array, f_W: Array) -> Array:
    """Express a force in the world at a point of a body as a wrench in the body's frame."""
    f_B = X_WB[:3, :3].T @ f_W
    return np.concatenate([f_B, so3.hat(p_B) @ f_B])
