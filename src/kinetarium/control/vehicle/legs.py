"""LegDriver: a vehicle drives along straight legs and turns in place between them.

What is steered is the point about which the vehicle turns. On four wheels that skid it is not in
their middle: an arm that loads the front axle moves it there, and a quarter turn then shifts the
middle by centimetres. `turning_centre` finds it from one recorded turn.

The vehicle knows its pose only as well as it is located. A heading that is off by some degrees
would carry it off its line; it is therefore compared with the course over the ground, along which
a vehicle on wheels can only move, and corrected on straight legs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import atan2, copysign, cos, exp, hypot, pi, sin, sqrt

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.control.vehicle.laws import LegTracking, PlanarPose, Speeds
from kinetarium.control.vehicle.wheel_driver import planar_pose
from kinetarium.control.vehicle.wheeled_base import Chassis, placed
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import wrapped

_SHORTEST = 0.01
"""Distance below which a leg is skipped [m]."""
_AIMED = 0.08
"""Length from which on a leg is aimed at its end; a shorter one keeps its direction [m]."""
_TURN = 0.005
"""Angle below which a turn is skipped [rad]."""
_SETTLED = 0.003
"""Heading error at which a turn is done [rad]."""
_INTEGRAL = 8.0
"""Gain of the integral of the heading error at the end of a turn [1/s^2]: wheels that skid need
torque to turn at all, for which their servos give way."""
_PATIENCE = 1.5
"""How long a leg may take longer than its reference [s]."""
_AT_END = 0.002
"""Distance from its end at which a leg is done [m]."""
_COURSE = 0.3
"""Length over which the course is averaged [m]."""
_LEAST_SPEED = 0.05
"""Speed from which on the course is measured [m/s]."""
_DRIFT = 0.4
"""Angle over which the drift of a turn is averaged [rad]."""
_DRIFT_FLOOR = 3e-4
"""Squared angle below which the drift is not yet known [rad^2]."""
_AHEAD = 0.03
"""Weight of the distance from where a turn began, over that from the line of the next leg [-]."""
_MOST_AHEAD = 0.15
"""How far ahead of where a turn began, or behind, a vehicle may be told to be [m]."""


@dataclass(frozen=True, slots=True)
class LegEnd:
    """The end of a straight leg.

    Attributes:
        x: Position of the steered point [m].
        y: Position of the steered point [m].
        backwards: Whether the vehicle drives there backwards.
        heading: Its planned heading on the leg [rad].
    """

    x: float
    y: float
    backwards: bool
    heading: float


@dataclass(frozen=True, slots=True)
class LegLimits:
    """Speeds and accelerations of the reference.

    Attributes:
        speed: [m/s].
        turn_rate: [rad/s].
        acceleration: [m/s^2].
        turn_acceleration: [rad/s^2].
    """

    speed: float = 0.5
    turn_rate: float = 0.6
    acceleration: float = 0.5
    turn_acceleration: float = 1.0


@dataclass(frozen=True, slots=True)
class _Trapezoid:
    """A motion over a distance from rest to rest, with limited speed and acceleration."""

    distance: float
    speed: float
    acceleration: float

    @property
    def duration(self) -> float:
        top = min(self.speed, sqrt(self.distance * self.acceleration))
        return self.distance / top + top / self.acceleration if self.distance else 0.0

    def at(self, t: float) -> tuple[float, float]:
        """Return way and speed at a time."""
        a, end = self.acceleration, self.duration
        if t >= end:
            return self.distance, 0.0
        top = min(self.speed, sqrt(self.distance * a))
        if t < top / a:
            return a * t * t / 2, a * t
        if t > end - top / a:
            return self.distance - a * (end - t) ** 2 / 2, a * (end - t)
        return top * (t - top / a / 2), top


class LegDriver:
    """Drives along legs to a pose: a phase of a `PhasedController`.

    Each leg is aimed at its end from where the vehicle is; a last turn gives it its heading.

    Attributes:
        name: Name of the phase.
    """

    def __init__(
        self,
        legs: Sequence[LegEnd],
        *,
        heading: float,
        chassis: Chassis,
        centre: PlanarPose,
        name: str = "drive",
        locate: Callable[[Measurement], PlanarPose] | None = None,
        limits: LegLimits | None = None,
        law: LegTracking | None = None,
        period: float = 0.01,
    ) -> None:
        """Keep the legs.

        Args:
            legs: Ends of the straight legs.
            heading: Heading at the end [rad].
            chassis: The vehicle, not steered; only the commands of its wheels are written.
            centre: The steered point in the frame of the robot's root, with the direction
                forwards.
            locate: Returns the pose of the root as it is known; the true one if None.
            limits: Of the reference.
            period: Time between two commands [s].
        """
        self.name = name
        self._legs, self._heading = tuple(legs), heading
        self._chassis, self._centre = chassis, centre
        self._locate = locate or (lambda measurement: planar_pose(measurement.poses[0]))
        self._limits, self._law = _of_wheels(limits or LegLimits(), chassis), law or LegTracking()
        self._period = period
        self._wheels = [w.command for w in chassis.base.wheels if w.command is not None]

    def begin(self, t: float, measurement: Measurement) -> None:
        """Start at a time [s]."""
        self._now, self._due = (0.0, 0.0), t
        self._next, self._course, self._drift = 0, np.zeros(2), np.zeros(2)
        self._last = self._pose(measurement)
        self._start_turn(t)

    def update(self, t: float, measurement: Measurement, command: Array) -> bool:
        """Write the commands of the wheels at a time [s]; return whether the pose is reached."""
        if t < self._due - 1e-9:
            return False
        self._due += self._period
        actual = self._pose(measurement)
        self._learn_drift(actual)
        self._learn_course(actual)
        over = self._step(t, actual)
        while over and self._next <= len(self._legs):
            over = self._advance(t) and self._step(t, actual)
        if over:
            self._now = (0.0, 0.0)
        command[self._wheels] = self._chassis.commands(self._now)[self._wheels]
        return over

    def _pose(self, measurement: Measurement) -> PlanarPose:
        return placed(self._centre, self._locate(measurement))

    def _learn_course(self, actual: PlanarPose) -> None:
        """Add a step over the ground, in the vehicle's frame, to the course."""
        v = self._now[0]
        if self._driving and abs(v) > _LEAST_SPEED:
            c, s = cos(actual.heading), sin(actual.heading)
            dx, dy = actual.x - self._last.x, actual.y - self._last.y
            step = np.array([c * dx + s * dy, c * dy - s * dx]) * copysign(1.0, v)
            self._course = self._course * exp(-hypot(dx, dy) / _COURSE) + step
        self._last = actual

    def _learn_drift(self, actual: PlanarPose) -> None:
        """Learn how far a turn moves the steered point aside, from the step before."""
        turn = wrapped(actual.heading - self._last.heading)
        dx, dy = actual.x - self._last.x, actual.y - self._last.y
        aside = cos(actual.heading) * dy - sin(actual.heading) * dx
        faded = self._drift * exp(-abs(turn) / _DRIFT)
        self._drift = faded + np.array([turn * aside, turn * turn])

    def _held_place(self, actual: PlanarPose) -> tuple[float, float]:
        """Return where the steered point is to be while the vehicle turns.

        Wheels move it ahead and back alone. Before a leg it is to be on its line at the end of
        the turn; what a turn through phi is still to move it across that line, by the drift d for
        each angle d sin(phi), is made up for while the vehicle still points across. It stays near
        where the turn began otherwise, and during the last turn.
        """
        if self._next >= len(self._legs):
            return self._origin.x, self._origin.y
        left = wrapped(self._wanted - actual.heading)
        c, s = cos(self._wanted), sin(self._wanted)
        across = c * (actual.y - self._origin.y) - s * (actual.x - self._origin.x)
        moved, turned = self._drift.tolist()
        expected = across + moved / (turned + _DRIFT_FLOOR) * sin(left)
        c, s = cos(actual.heading), sin(actual.heading)
        done = c * (actual.x - self._origin.x) + s * (actual.y - self._origin.y)
        # The least squares of both distances: (expected - ahead sin)^2 + weight (done + ahead)^2.
        ahead = (expected * sin(left) - _AHEAD * done) / (sin(left) ** 2 + _AHEAD)
        ahead = min(max(ahead, -_MOST_AHEAD - done), _MOST_AHEAD - done)
        return actual.x + ahead * c, actual.y + ahead * s

    @property
    def _bias(self) -> float:
        """By how much the known heading is off the course over the ground [rad]."""
        along, aside = self._course
        return -atan2(aside, along) if along > _COURSE / 4 else 0.0

    def _start_turn(self, t: float) -> None:
        """Turn towards the end of the next leg, or to the last heading."""
        here = self._last
        if self._next < len(self._legs):
            leg = self._legs[self._next]
            self._wanted = leg.heading
            if hypot(leg.x - here.x, leg.y - here.y) > _AIMED:
                self._wanted = atan2(leg.y - here.y, leg.x - here.x) + pi * leg.backwards
            self._wanted += self._bias
        else:
            self._wanted = self._heading
        turn = wrapped(self._wanted - here.heading)
        limits = self._limits
        self._driving, self._origin, self._t0, self._pushed = False, here, t, 0.0
        self._drift = np.zeros(2)
        self._sign = copysign(1.0, turn)
        self._profile = _Trapezoid(abs(turn), limits.turn_rate, limits.turn_acceleration)
        self._skip = abs(turn) < _TURN

    def _start_leg(self, t: float) -> None:
        leg, here = self._legs[self._next], self._last
        heading = self._wanted - self._bias
        way = cos(heading) * (leg.x - here.x) + sin(heading) * (leg.y - here.y)
        self._driving, self._t0 = True, t
        self._sign = copysign(1.0, way)
        # The line leads through the end of the leg, so that an aim that is off is corrected.
        if abs(way) > _AIMED:
            heading = atan2(leg.y - here.y, leg.x - here.x) + (pi if way < 0 else 0.0)
        self._wanted, self._origin = heading, here
        limits = self._limits
        self._profile = _Trapezoid(abs(way), limits.speed, limits.acceleration)
        self._skip = abs(way) < _SHORTEST

    def _advance(self, t: float) -> bool:
        """Start what comes after the current turn or leg; return whether there is anything."""
        if self._driving:
            self._next += 1
            self._start_turn(t)
        elif self._next < len(self._legs):
            self._start_leg(t)
        else:
            self._next += 1
            return True
        return True

    def _step(self, t: float, actual: PlanarPose) -> bool:
        """Follow the current turn or leg; return whether it is done."""
        if self._next > len(self._legs) or self._skip:
            return True
        since = t - self._t0
        way, speed = self._profile.at(since)
        late = since > self._profile.duration + _PATIENCE
        if self._driving:
            heading = actual.heading - self._bias
            along = self._sign * way
            wanted = PlanarPose(
                self._origin.x + along * cos(self._wanted),
                self._origin.y + along * sin(self._wanted),
                heading + wrapped(self._wanted - heading),
            )
            reference = Speeds(self._sign * speed, 0.0)
            actual = actual._replace(heading=heading)
            left = hypot(wanted.x - actual.x, wanted.y - actual.y)
            along_left = abs(
                cos(heading) * (wanted.x - actual.x) + sin(heading) * (wanted.y - actual.y)
            )
            done = since > self._profile.duration and (along_left < _AT_END or left < _AT_END)
        else:
            heading = self._wanted - self._sign * (self._profile.distance - way)
            off = wrapped(heading - actual.heading)
            x, y = self._held_place(actual)
            wanted = PlanarPose(x, y, actual.heading + off)
            if since > self._profile.duration:
                self._pushed += _INTEGRAL * off * self._period
            reference = Speeds(0.0, self._sign * speed + self._pushed)
            done = since > self._profile.duration and abs(off) < _SETTLED
        asked = self._law.speeds(actual, wanted=wanted, reference=reference)
        self._now = self._chassis.toward(asked, now=self._now, period=self._period)
        return done or late


def _of_wheels(limits: LegLimits, chassis: Chassis) -> LegLimits:
    """Return limits of a reference that the wheels can follow."""
    speed, _ = chassis.within_wheels((limits.speed, 0.0))
    _, turn_rate = chassis.within_wheels((0.0, limits.turn_rate))
    return replace(limits, speed=speed, turn_rate=turn_rate)


def turning_centre(begin: PlanarPose, end: PlanarPose) -> tuple[float, float]:
    """Return the point of a vehicle that a turn leaves where it is, in the vehicle's frame [m].

    The fixed point c of p -> R p + d in the frame of the first pose: c = (1 - R)^-1 d, which
    turning in place leaves in the same place of the vehicle.

    Args:
        begin: Pose before the turn.
        end: Pose after the turn, not a whole turn later.
    """
    turn = end.heading - begin.heading
    c, s = cos(begin.heading), sin(begin.heading)
    dx, dy = end.x - begin.x, end.y - begin.y
    d = np.array([c * dx + s * dy, c * dy - s * dx])
    R = np.array([[cos(turn), -sin(turn)], [sin(turn), cos(turn)]])
    x, y = np.linalg.solve(np.eye(2) - R, d).tolist()
    return x, y
