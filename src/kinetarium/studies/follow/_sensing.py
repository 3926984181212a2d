"""What a controller knows of the pose of its base: exact, late, noisy, or from the wheels alone."""

from collections import deque
from math import cos, radians, sin
from typing import NamedTuple, Protocol

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.control.vehicle.wheeled_base import Chassis
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion
from kinetarium.studies.follow.config import CONTROL_RATE, Sensing

RATE = 50.0
"""Of a localisation [Hz]."""
DELAY = 0.02
"""Age of its poses when they arrive [s]."""
NOISE = 2e-3
"""Standard deviation of its positions, along x and along y [m]."""
TURN_NOISE = radians(0.1)
"""Standard deviation of its headings [rad]."""
GAIN = 0.05
"""Share of a new pose in the filtered one: that of a stationary Kalman filter for this noise and
twists that are wrong by 5 mm/s."""


class BaseState(NamedTuple):
    """The state of the base, as far as it is known.

    Attributes:
        X_WB: Pose of the root link, shape (4, 4).
        V_WB: Its twist [v; w] in world axes at its origin, shape (6,).
    """

    X_WB: Array
    V_WB: Array


class BaseSensor(Protocol):
    """Tells what is known of the base."""

    def read(self, t: float, measurement: Measurement) -> BaseState:
        """Return the state of the base at a time [s]; called at every tick of the arm's law."""


class TrueSensor:
    """Knows everything."""

    def read(self, t: float, measurement: Measurement) -> BaseState:
        """Return pose and twist of the first floating solid."""
        p, quaternion = measurement.poses[0, :3], measurement.poses[0, 3:]
        return BaseState(
            pose(p, rotation_from_quaternion(quaternion)), measurement.twists[0].copy()
        )


class LateSensor:
    """Knows poses that were measured some time ago."""

    def __init__(self, *, predicted: bool, noisy: bool, filtered: bool, seed: int) -> None:
        """Start without any.

        Args:
            predicted: Whether poses are extrapolated by the twist.
            noisy: Whether positions and headings have noise.
            filtered: Whether new poses are weighed against what was predicted.
            seed: Seed of the noise.
        """
        self._predicted, self._noisy, self._filtered = predicted, noisy, filtered
        self._random = np.random.default_rng(seed)
        self._true = TrueSensor()
        self._sent: deque[tuple[float, BaseState]] = deque()
        self._known: tuple[float, BaseState] | None = None
        self._every = round(CONTROL_RATE / RATE)
        self._ticks = 0

    def read(self, t: float, measurement: Measurement) -> BaseState:
        """Return what has arrived, extrapolated if asked."""
        if self._ticks % self._every == 0:
            self._sent.append((t, self._measured(self._true.read(t, measurement))))
        self._ticks += 1
        while self._sent and t - self._sent[0][0] > DELAY - 1e-9:
            self._receive(*self._sent.popleft())
        if self._known is None:  # before the first has arrived, the start is known
            return self._true.read(t, measurement)
        begin, state = self._known
        return _extrapolated(state, t - begin) if self._predicted else state

    def _measured(self, state: BaseState) -> BaseState:
        if not self._noisy:
            return state
        X = state.X_WB.copy()
        X[:2, 3] += NOISE * self._random.standard_normal(2)
        turn = TURN_NOISE * self._random.standard_normal()
        X[:3, :3] = rotation_about((0.0, 0.0, 1.0), turn) @ X[:3, :3]
        return BaseState(X, state.V_WB)

    def _receive(self, t: float, state: BaseState) -> None:
        if self._filtered and self._known is not None:
            before, last = self._known
            expected = _extrapolated(last, t - before).X_WB
            X = state.X_WB.copy()
            X[:3, 3] = expected[:3, 3] + GAIN * (X[:3, 3] - expected[:3, 3])
            turn = GAIN * so3.log(X[:3, :3] @ expected[:3, :3].T)
            X[:3, :3] = so3.exp(turn) @ expected[:3, :3]
            state = BaseState(X, state.V_WB)
        self._known = t, state


class OdometrySensor:
    """Knows the start and adds up what the wheels roll."""

    def __init__(self, chassis: Chassis) -> None:
        """Keep the vehicle: its wheels and its track multiplier."""
        base = chassis.base
        self._drive = base.drive(chassis.multiplier)
        self._frame = base.frame
        self._driven = [(w.place, w.forward * w.radius, w.y > 0) for w in base.driven]
        self._X_WB: Array | None = None
        self._true = TrueSensor()

    def read(self, t: float, measurement: Measurement) -> BaseState:
        """Return the pose that the wheels' speeds add up to."""
        left = [measurement.v[place] * r for place, r, is_left in self._driven if is_left]
        right = [measurement.v[place] * r for place, r, is_left in self._driven if not is_left]
        radius = self._drive.wheel_radius
        v, w = self._drive.vehicle_speeds(
            sum(left) / len(left) / radius, sum(right) / len(right) / radius
        )
        if self._X_WB is None:
            self._X_WB = self._true.read(t, measurement).X_WB
        x, y, ahead = self._frame
        R = self._X_WB[:3, :3]
        forward = R @ np.array([cos(ahead), sin(ahead), 0.0])
        spin = np.array([0.0, 0.0, w])
        # The vehicle's frame moves forwards; the root is elsewhere on the same body.
        V = np.concatenate([v * forward - np.cross(spin, R @ np.array([x, y, 0.0])), spin])
        state = BaseState(self._X_WB, V)
        self._X_WB = _extrapolated(state, 1.0 / CONTROL_RATE).X_WB
        return state


def base_sensor(sensing: Sensing, *, chassis: Chassis, seed: int) -> BaseSensor:
    """Return the sensor of a case.

    Args:
        chassis: The vehicle, for odometry.
        seed: Seed of the noise.
    """
    match sensing:
        case Sensing.TRUE:
            return TrueSensor()
        case Sensing.ODOMETRY:
            return OdometrySensor(chassis)
    noisy = sensing in (Sensing.NOISY, Sensing.RAW)
    return LateSensor(
        predicted=sensing is not Sensing.LATE,
        noisy=noisy,
        filtered=sensing is Sensing.NOISY,
        seed=seed,
    )


def _extrapolated(state: BaseState, age: float) -> BaseState:
    """Return a state some time later if its twist stays the same [s]."""
    X = state.X_WB.copy()
    X[:3, 3] += age * state.V_WB[:3]
    X[:3, :3] = so3.exp(age * state.V_WB[3:]) @ X[:3, :3]
    return BaseState(X, state.V_WB)
