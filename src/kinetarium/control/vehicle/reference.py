"""Reference motions of a vehicle: pose and speeds over time.

All start at the origin, heading along x.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array


class DrivingReference(ABC):
    """A motion from rest to rest; its speeds may jump."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """When it ends [s]; after that it is at rest."""

    @abstractmethod
    def _moving(self, t: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return x, y, heading, v and w at times up to the end, shape (n,) each."""

    def sample(self, times: ArrayLike) -> tuple[Array, Array]:
        """Return poses and speeds at times [s], shape (n,).

        Returns:
            x [m], y [m] and unwrapped heading [rad], shape (n, 3), and forward speed [m/s]
            and yaw rate [rad/s], shape (n, 2).
        """
        t = np.asarray(times, dtype=np.float64)
        x, y, heading, v, w = self._moving(np.clip(t, 0.0, self.duration))
        moves = (t >= 0) & (t < self.duration)
        return (
            np.stack([x, y, heading], axis=-1),
            np.where(moves[:, np.newaxis], np.stack([v, w], axis=-1), 0.0),
        )


@dataclass(frozen=True)
class CircleReference(DrivingReference):
    """One lap of a circle to the left, at constant speed.

    Attributes:
        radius: Radius [m].
        speed: Speed [m/s].
    """

    radius: float = 2.0
    speed: float = 0.5

    @property
    def duration(self) -> float:
        """When it ends [s]."""
        return 2 * pi * self.radius / self.speed

    def _moving(self, t: Array) -> tuple[Array, Array, Array, Array, Array]:
        return SteadyReference(self.speed, self.speed / self.radius, self.duration)._moving(t)


@dataclass(frozen=True)
class SteadyReference(DrivingReference):
    """An arc to the left at constant speeds, or a turn in place.

    Attributes:
        speed: Forward speed [m/s].
        turn_rate: Yaw rate, not zero [rad/s].
        time: How long [s].
    """

    speed: float
    turn_rate: float
    time: float

    @property
    def duration(self) -> float:
        """When it ends [s]."""
        return self.time

    def _moving(self, t: Array) -> tuple[Array, Array, Array, Array, Array]:
        heading, radius = self.turn_rate * t, self.speed / self.turn_rate
        x, y = radius * np.sin(heading), radius * (1 - np.cos(heading))
        return x, y, heading, np.full_like(t, self.speed), np.full_like(t, self.turn_rate)


@dataclass(frozen=True)
class SquareReference(DrivingReference):
    """Four edges of a square to the left, with three quarter turns in place between them.

    Attributes:
        side: Length of an edge [m].
        speed: Speed along the edges [m/s].
        turn_rate: Yaw rate in the corners [rad/s].
    """

    side: float = 4.0
    speed: float = 0.5
    turn_rate: float = 0.5

    @property
    def duration(self) -> float:
        """When it ends [s]."""
        return 4 * self._edge_time + 3 * self._turn_time

    @property
    def corners(self) -> Array:
        """When each turn begins and ends [s], shape (3, 2)."""
        begin = self._edge_time + np.arange(3) * (self._edge_time + self._turn_time)
        return np.stack([begin, begin + self._turn_time], axis=-1)

    @property
    def _edge_time(self) -> float:
        return self.side / self.speed

    @property
    def _turn_time(self) -> float:
        return pi / 2 / self.turn_rate

    def _moving(self, t: Array) -> tuple[Array, Array, Array, Array, Array]:
        lap, within = np.divmod(t, self._edge_time + self._turn_time)
        edge = lap.astype(np.intp)
        turning = within >= self._edge_time
        along = np.minimum(within, self._edge_time) * self.speed
        turned = np.maximum(within - self._edge_time, 0.0) * self.turn_rate
        starts = self.side * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        ways = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
        x, y = (starts[edge] + along[:, np.newaxis] * ways[edge]).T
        return (
            x,
            y,
            edge * (pi / 2) + turned,
            np.where(turning, 0.0, self.speed),
            np.where(turning, self.turn_rate, 0.0),
        )


@dataclass(frozen=True)
class EightReference(DrivingReference):
    """The figure eight x = a sin pt, y = b sin 2pt, turned so that it starts along x.

    Attributes:
        half_width: Largest x before it is turned, a [m].
        half_height: Largest y before it is turned, b [m].
        period: Time of one round, 2 pi / p [s].
    """

    half_width: float = 3.0
    half_height: float = 1.5
    period: float = 40.0

    @property
    def duration(self) -> float:
        """When it ends [s]."""
        return self.period

    @cached_property
    def _headings(self) -> tuple[Array, Array]:
        """Times [s] and unwrapped headings [rad] before it is turned, close enough to unwrap."""
        t = np.linspace(0.0, self.period, 1001)
        return t, np.unwrap(self._direction(t))

    def _direction(self, t: Array) -> Array:
        p = 2 * pi / self.period
        return np.arctan2(2 * self.half_height * np.cos(2 * p * t), self.half_width * np.cos(p * t))

    def _moving(self, t: Array) -> tuple[Array, Array, Array, Array, Array]:
        p, a, b = 2 * pi / self.period, self.half_width, self.half_height
        x, y = a * np.sin(p * t), b * np.sin(2 * p * t)
        dx, dy = a * p * np.cos(p * t), 2 * b * p * np.cos(2 * p * t)
        ddx, ddy = -a * p * p * np.sin(p * t), -4 * b * p * p * np.sin(2 * p * t)
        coarse = np.interp(t, *self._headings)
        direction = self._direction(t)
        heading = direction + 2 * pi * np.round((coarse - direction) / (2 * pi))
        start = self._headings[1][0]
        c, s = np.cos(start), np.sin(start)
        squared = dx * dx + dy * dy
        return (
            c * x + s * y,
            c * y - s * x,
            heading - start,
            np.sqrt(squared),
            (dx * ddy - dy * ddx) / squared,
        )
