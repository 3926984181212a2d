"""Dynamic balance of a walk: zero-moment points, dynamic margins, and plans that keep them.

The zero-moment point (M. Vukobratovic, B. Borovac, "Zero-moment point: thirty-five years of its
life", 2004) is where the ground reaction acts. All links count as point masses at their centres
of mass; the rotational inertia of bars is neglected, below 0.1 unit for the paper's machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from kinetarium.legs.mechanism.machine import Machine
from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.legs.quadruped import MASS_SHARES, STIFFNESS
from kinetarium.legs.walk.plan import WalkPlan
from kinetarium.legs.walk.planner import plan_walk
from kinetarium.legs.walk.walk import LEG_NAMES, PlannedWalk, WalkWarning, WarningKind
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY

FINE_FRAMES = 48
"""Frames of a leg step from which accelerations are computed."""
_SWAYS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Sways to try, above the wanted margin [unit]."""
_FASTEST, _SLOWEST = 0.2, 20.0
"""Durations of a leg step to try [s]."""
_HALVINGS = 14
_LEAST_LOAD = 0.1
"""Weight on the ground, relative to that at rest, below which the robot counts as falling [-]."""
_TOLERANCE = 1e-6


def mass_points(machine: Machine, body: Array, links: Array, *, unit: float = 1.0) -> "MassPoints":
    """Return all links as point masses.

    Args:
        machine: The robot.
        body: Pose of the body, shape (n, 7).
        links: Poses of the links of the legs, shape (n, 4, 9, 7).
        unit: Length of the machine's unit in that of the poses.
    """
    K, l1, l2 = machine.gain, machine.l1 * unit, machine.l2 * unit
    w, x, y, z = np.moveaxis(links[:, :, 4:8, 3:], -1, 0)
    up = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=-1)
    lengths = np.array([K * l1, (K - 1) * l1, l2, K * l2])
    bars = links[:, :, 4:8, :3] - up * (lengths / 2)[:, np.newaxis]
    guide, vertical, slider = (links[:, :, i, :3] for i in (1, 2, 3))
    parts = dict(zip(("thigh", "bar", "crank", "shank"), np.moveaxis(bars, 2, 0), strict=True))
    parts |= {"vertical": vertical, "slider": slider, "carriage": guide}
    if machine.kind is LegKind.TTT2:
        # The carriage runs along x only, and the slider along y on it.
        w, x, y, z = np.moveaxis(links[:, :, 1, 3:], -1, 0)
        left = np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], -1)
        parts["carriage"] = slider - left * np.vecdot(left, slider - guide)[..., np.newaxis]
        parts["hinge"] = vertical
    shares = np.repeat([MASS_SHARES[name] for name in parts], 4)
    return MassPoints(
        np.concatenate([[1 - shares.sum()], shares]),
        np.concatenate([body[:, np.newaxis, :3], *parts.values()], axis=1),
    )


@dataclass(frozen=True, slots=True, eq=False)
class MassPoints:
    """A moving robot as m point masses.

    Attributes:
        masses: Relative to that of the robot [-], shape (m,).
        places: Their positions, shape (n, m, 3).
    """

    masses: Array
    places: Array

    def zero_moment_points(self, dt: float, *, gravity: float, ground: Array) -> Array:
        """Return the zero-moment points, shape (n, 2).

        Args:
            dt: Time between two frames [s].
            gravity: In the unit of the places per s^2.
            ground: Height of the ground under the robot, shape (n,).
        """
        places, a = self.places, np.zeros_like(self.places)
        a[1:-1] = np.diff(places, n=2, axis=0) / dt**2
        load = self.masses * (a[:, :, 2] + gravity)
        height = (places[:, :, 2] - ground[:, np.newaxis]) * self.masses
        moment = (load[..., np.newaxis] * places - height[..., np.newaxis] * a)[..., :2]
        weight = np.maximum(load.sum(axis=1), _LEAST_LOAD * gravity)
        points: Array = moment.sum(axis=1) / weight[:, np.newaxis]
        return points


@dataclass(frozen=True, slots=True)
class Physics:
    """What the balance of a walk depends on besides its plan.

    Attributes:
        gravity: Acceleration of gravity [unit/s^2].
        compliance: Deflection of a leg under the whole weight of the robot [unit].
    """

    gravity: float
    compliance: float

    @classmethod
    def of(cls, machine: Machine, *, unit_m: float, mass: float) -> "Physics":
        """Return it for a machine whose vertical drives have the stiffness of `quadruped`.

        Args:
            machine: The robot.
            unit_m: Length of its unit [m].
            mass: Its mass [kg].
        """
        foot = STIFFNESS / (machine.gain - 1) ** 2
        return cls(GRAVITY / unit_m, mass * GRAVITY / foot / unit_m)


def walk_margins(walk: PlannedWalk, physics: Physics) -> Array:
    """Return the dynamic margins of a planned walk [unit], shape (n,).

    They are the distances of the zero-moment points from the edge of the support, in swings
    after the displacement by which the transfer of the load disturbs the robot.

    Args:
        walk: The walk; with at least `FINE_FRAMES` to a step its accelerations are accurate.
        physics: Gravity, and compliance of the legs.
    """
    return _Balance(walk, physics.compliance).margins(walk.plan.step_time, physics.gravity)


class _Balance:
    """A walk, prepared for dynamic margins at several step times."""

    def __init__(self, walk: PlannedWalk, compliance: float) -> None:
        self._walk = walk
        self._points = mass_points(walk.plan.machine, walk.body, walk.links)
        stands = np.maximum(walk.support.sum(axis=1), 1)
        self._ground = (walk.feet[:, :, 2] * walk.support).sum(axis=1) / stands
        self._first = np.array([step.first for step in walk.steps])
        self._swing = np.array([step.last - step.first for step in walk.steps])
        self._slopes, self._rates = self._transfers(compliance)

    def margins(self, step_time: float, gravity: float) -> Array:
        """Return the dynamic margins for a duration of a leg step [s], shape (n,)."""
        from kinetarium.legs.walk.crawl import support_margins

        walk = self._walk
        dt = step_time / walk.plan.frames_per_step
        zmp = self._points.zero_moment_points(dt, gravity=gravity, ground=self._ground)
        # An inverted pendulum of height h that turns has its capture point rate h sqrt(h / g)
        # beyond its centre of mass (J. Pratt et al., "Capture point: a step toward humanoid
        # push recovery", 2006).
        h = (walk.body[:, 2] - self._ground)[self._first]
        far = h * (1 + self._rates / (self._swing * dt) * np.sqrt(h / gravity))
        for step, shift in zip(walk.steps, self._slopes * far[:, np.newaxis], strict=True):
            zmp[step.first + 1 : step.last] += shift
        return support_margins(walk.feet, walk.support, np.column_stack([zmp, self._ground]))

    def _transfers(self, compliance: float) -> tuple[Array, Array]:
        """Return how the body turns when each foot lifts, by the yielding of the other legs.

        A foot that lifts passes its load to the three others, whose legs yield; the body turns
        towards the lifted leg while its foot is still on the ground.

        Args:
            compliance: Deflection of a leg under the whole weight [unit].

        Returns:
            The slope of the body afterwards, shape (s, 2), and the rate of the slope over the
            slope, times the duration of the swing, shape (s,).
        """
        walk = self._walk
        legs = np.array([step.leg - 1 for step in walk.steps])
        com = np.tensordot(self._points.masses, self._points.places[self._first], (0, 1))
        feet = walk.feet[self._first, :, :2] - com[:, np.newaxis, :2]
        level = np.concatenate([np.ones((len(feet), 4, 1)), feet], axis=2)
        others = np.array([[i for i in range(4) if i != leg] for leg in legs])
        rows = np.arange(len(legs))
        three = level[rows[:, np.newaxis], others]
        # Fractions of the weight on four feet (least norm) and on three.
        shared = np.linalg.pinv(np.moveaxis(level, 1, 2))[:, :, 0]
        borne = np.linalg.pinv(np.moveaxis(three, 1, 2))[:, :, 0]
        more = borne - shared[rows[:, np.newaxis], others]
        sunk = np.matvec(np.linalg.pinv(three), more) * compliance
        rise = np.vecdot(level[rows, legs], sunk) + shared[rows, legs] * compliance
        # A lift begins as 10 p^3 of its height, p being the fraction of its time, a third of
        # the swing: its rate over its height is 3 / p.
        part = np.clip(rise / (10 * max(walk.plan.lift, 1e-9)), 1e-9, 0.125) ** (1 / 3)
        return sunk[:, 1:], 3 * 3 / part


def balance_warnings(
    walk: PlannedWalk, margins: Array, *, wanted: float = 0.0
) -> Iterator[WalkWarning]:
    """Yield a warning for each leg step whose dynamic margin is below the wanted one.

    Args:
        walk: The walk.
        margins: Its dynamic margins [unit], shape (n,).
        wanted: The wanted margin [unit].
    """
    begin = 0
    for number, step in enumerate(walk.steps, 1):
        end = len(margins) if number == len(walk.steps) else step.last + 1
        at = begin + int(np.argmin(margins[begin:end]))
        begin, least = end, float(margins[at])
        if least >= wanted - _TOLERANCE:
            continue
        what = (
            f"the zero-moment point is {-least:.2f} outside the support: the robot may tip over;"
            " walk more slowly or sway farther"
            if least < 0
            else f"the dynamic margin is {least:.2f} where {wanted:g} is wanted"
        )
        text = f"step {number}: leg {step.leg} ({LEG_NAMES[step.leg - 1]}) swings: {what}"
        yield WalkWarning(WarningKind.BALANCE, at, step.leg, number, wanted - least, text)


def stable_plan(plan: WalkPlan, *, margin: float, physics: Physics) -> WalkPlan:
    """Return a plan with the sway and the step time of the fastest walk that keeps a margin.

    Accelerations are inverse to the square of the step time, so that a walk is planned once for
    each sway, and its fastest step time is found by bisection. Sways that exceed a limit of the
    legs are not considered, unless all do.

    Args:
        plan: The walk.
        margin: Least dynamic margin [unit]. If no walk keeps it, the result is the slowest one
            with the best margin.
        physics: Gravity, and compliance of the legs.
    """
    found = [_timed(plan, sway, margin=margin, physics=physics) for sway in _sways(margin)]
    within = [each for each in found if not each.violations] or found
    kept = [each for each in within if each.margin >= margin - _TOLERANCE]
    best = (
        min(kept, key=lambda each: each.step_time)
        if kept
        else max(within, key=lambda each: (round(each.margin, 6), -each.sway))
    )
    return replace(plan, sway=best.sway, step_time=best.step_time)


def _sways(margin: float) -> tuple[float, ...]:
    return (0.0, *(margin + extra for extra in _SWAYS if margin + extra > 0))


@dataclass(frozen=True, slots=True)
class _Timed:
    """The fastest step time of a sway, its dynamic margin, and the number of limit violations."""

    sway: float
    step_time: float
    margin: float
    violations: int


def _timed(plan: WalkPlan, sway: float, *, margin: float, physics: Physics) -> _Timed:
    walk = plan_walk(replace(plan, sway=sway, frames_per_step=FINE_FRAMES))
    balance = _Balance(walk, physics.compliance)

    def least(step_time: float) -> float:
        return float(balance.margins(step_time, physics.gravity).min())

    limits = (WarningKind.REACH, WarningKind.DRIVE)
    violations = sum(warning.kind in limits for warning in walk.warnings)
    slow, fast = _SLOWEST, _FASTEST
    if least(slow) < margin:
        return _Timed(sway, slow, least(slow), violations)
    for _ in range(_HALVINGS):
        middle = (slow * fast) ** 0.5
        slow, fast = (middle, fast) if least(middle) >= margin else (slow, middle)
    step_time = ceil(slow * 1e3) / 1e3  # whole milliseconds
    return _Timed(sway, step_time, least(step_time), violations)
