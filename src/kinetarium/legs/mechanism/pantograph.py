"""PantographLeg: joint values to foot and back, passive angles and link poses.

Names of points (B. W. Choi et al., "Kinematic analysis of the quadruped robot using computer
graphics", 1988, Figs. 3 and 7): a is the pivot of the vertical drive, b that of the horizontal
drive, d the crank's pin on the thigh, e the knee, f the foot, g the parallel bar's pin on the
shank; (d, b, g, e) is a parallelogram. A pantograph magnifies, f - a = K (b - a).
"""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.errors import KinetariumError
from kinetarium.spatial.arrays import Array


class LegKind(StrEnum):
    """The lateral drive of a leg: its second joint."""

    TTT1 = "ttt1"
    """The whole leg slides along y."""
    TTT2 = "ttt2"
    """A hinged pantograph in space; the horizontal drive slides along y too."""
    TTR = "ttr"
    """The whole leg turns about z."""

    @property
    def code(self) -> int:
        """The number used by kernels: 0, 1 or 2."""
        return list(LegKind).index(self)


class LegsError(KinetariumError):
    """An invalid value of a machine or a walk."""


def checked(name: str, value: float, *, low: float, high: float) -> None:
    """Check that a number is within its bounds."""
    if not low <= value <= high:
        raise LegsError(f"{name} is {value:g}; it must be between {low:g} and {high:g}")


STRETCH = 0.98
"""Fraction of its length l1 + l2 to which a pantograph may be stretched [-]."""
_LONGEST = 1e6
UNDER_AXIS = 1e-9
"""Distance of a TTR leg's foot from its axis, relative to the leg's length, below which the
leg's angle is undefined [-]."""


@dataclass(frozen=True)
class PantographLeg:
    """One leg, in its own frame: body axes at the hip, z up, lengths in one unit.

    Joint values q are (h_x, c, v_z), where c is h_y [unit], or the angle of a TTR leg [rad].
    All methods take rows, shape (n, 3), and never return NaN for finite rows: a pantograph
    beyond its reach is drawn straight or folded; `overreach` returns by how much.

    Attributes:
        kind: Its lateral drive.
        l1: Length |ad| [unit]; the thigh |ae| is `gain` times as long.
        l2: Length |db| [unit]; the shank |ef| is `gain` times as long.
        gain: Magnification K [-].
        rail_height: Height h_z of the horizontal drive's rail over the hip, negative [unit].
    """

    kind: LegKind
    _: KW_ONLY
    l1: float
    l2: float
    gain: float
    rail_height: float

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a length is not positive or the gain not above one.
        """
        object.__setattr__(self, "kind", LegKind(self.kind))
        for name in ("l1", "l2"):
            checked(f"{name} of a leg", getattr(self, name), low=1e-6, high=_LONGEST)
        checked("gain of a leg", self.gain, low=1.001, high=1000.0)
        checked("rail_height of a leg", self.rail_height, low=-_LONGEST, high=-1e-6)

    @cached_property
    def dimensions(self) -> Array:
        """l1, l2, gain and rail height for kernels, shape (4,)."""
        return np.array([self.l1, self.l2, self.gain, self.rail_height])

    @property
    def reach(self) -> tuple[float, float]:
        """Least and greatest distance |ab| of the pantograph [unit]."""
        return abs(self.l1 - self.l2), STRETCH * (self.l1 + self.l2)

    def forward(self, q: ArrayLike) -> Array:
        """Return the feet of joint values, shape (n, 3).

        Args:
            q: Joint values, shape (n, 3).
        """
        x, c, v = _columns(q)
        K = self.gain
        z = (1 - K) * v + K * self.rail_height
        match self.kind:
            case LegKind.TTT1:
                return np.stack([K * x, c, z], axis=-1)
            case LegKind.TTT2:
                return np.stack([K * x, K * c, z], axis=-1)
            case LegKind.TTR:
                return np.stack([K * x * np.cos(c), K * x * np.sin(c), z], axis=-1)

    def inverse(self, f: ArrayLike) -> Array:
        """Return the joint values of feet, shape (n, 3).

        A TTR leg has two solutions: it points to its foot or away from it. Rows are solved one
        by one, with the angle within a quarter turn of x. Where the foot is under the axis, the
        angle of the previous row is kept; `follow` solves for a continuous motion.

        Args:
            f: Feet, shape (n, 3).
        """
        x, y, z = _columns(f)
        v = (z - self.gain * self.rail_height) / (1 - self.gain)
        match self.kind:
            case LegKind.TTT1:
                return np.stack([x / self.gain, y, v], axis=-1)
            case LegKind.TTT2:
                return np.stack([x / self.gain, y / self.gain, v], axis=-1)
            case LegKind.TTR:
                side = np.where(x < 0, -1.0, 1.0)
                angle = _kept(np.arctan2(side * y, side * x), self.under_axis(f))
                return np.stack([side * np.hypot(x, y) / self.gain, angle, v], axis=-1)

    def follow(self, f: ArrayLike, *, azimuth: float = 0.0) -> Array:
        """Return the joint values of a foot's motion, row after row, shape (n, 3).

        For a TTR leg each row has the angle nearest to that of the previous row, so that it
        never jumps; other legs have one solution only.

        Args:
            f: The foot, in time order, shape (n, 3).
            azimuth: Initial direction of a TTR leg [rad].
        """
        q = self.inverse(f)
        if self.kind is not LegKind.TTR or not len(q):
            return q
        # Half a turn brings the leg to the other side of its axis, where its slide is reversed.
        angle = q[:, 1]
        free = ~self.under_axis(f)
        if not free.any():
            return np.stack([q[:, 0], np.full(len(q), azimuth), q[:, 2]], axis=-1)
        first = int(np.argmax(free))
        held = np.concatenate([np.full(first, angle[first]), angle[first:]])
        smooth = np.unwrap(held, period=np.pi)
        smooth += np.pi * np.round((azimuth - smooth[0]) / np.pi)
        halves = np.round((smooth - held) / np.pi)
        slide = np.where(halves % 2 == 1, -q[:, 0], q[:, 0])
        return np.stack([slide, smooth, q[:, 2]], axis=-1)

    def under_axis(self, f: ArrayLike) -> NDArray[np.bool_]:
        """Return for which feet the angle of a TTR leg is undefined, shape (n,); others: none."""
        x, y, _ = _columns(f)
        near = UNDER_AXIS * self.gain * (self.l1 + self.l2)
        return np.asarray((self.kind is LegKind.TTR) & (np.hypot(x, y) < near))

    def span(self, q: ArrayLike) -> Array:
        """Return the distance |ab| between the two drives' pivots [unit], shape (n,)."""
        x, c, v = _columns(q)
        lateral = c if self.kind is LegKind.TTT2 else np.zeros_like(c)
        return np.sqrt(x**2 + lateral**2 + (v - self.rail_height) ** 2)

    def overreach(self, q: ArrayLike) -> Array:
        """Return by how much |ab| exceeds the pantograph's reach [unit], shape (n,)."""
        span, (low, high) = self.span(q), self.reach
        return np.maximum(np.maximum(span - high, low - span), 0.0)

    def passive_angles(self, q: ArrayLike) -> Array:
        """Return alpha1 (thigh), alpha2 (shank) and alpha3 (hinge) [rad], shape (n, 3).

        The angles theta1 and theta3 of the triangle (a, d, b) come from the half-angle formula,
        which is accurate for a nearly flat triangle (W. Kahan, "Miscalculating area and angles
        of a needle-like triangle", 2014).
        """
        x, c, v = _columns(q)
        drop = v - self.rail_height
        hinged = self.kind is LegKind.TTT2
        rho = np.hypot(c, drop) if hinged else drop
        L = np.hypot(x, rho)
        p = (L + self.l1 + self.l2) / 2
        b, c1, c2 = _positive(p - L), _positive(p - self.l1), _positive(p - self.l2)
        theta1 = 2 * np.arctan2(np.sqrt(b * c1), np.sqrt(p * c2))
        theta3 = 2 * np.arctan2(np.sqrt(c1 * c2), np.sqrt(p * b))
        alpha1 = theta1 - np.arctan2(x, rho)
        alpha3 = np.arctan2(c, drop) if hinged else np.zeros_like(L)
        return np.stack([alpha1, alpha1 + theta3, alpha3], axis=-1)

    def link_poses(self, q: ArrayLike) -> Array:
        """Return position and quaternion wxyz of links 1 to 9 in the leg frame, shape (n, 9, 7).

        In order: bracket, vertical guide, vertical slider, horizontal slider, thigh, parallel
        bar, crank, shank, foot. A bar is along -z of its own frame.
        """
        from kinetarium.legs.mechanism.link_kernel import place_links

        rows = np.atleast_2d(np.asarray(q, dtype=np.float64))
        poses = np.empty((len(rows), 9, 7))
        hips = np.zeros((len(rows), 7))
        hips[:, 3] = 1.0
        place_links(self.kind.code, self.dimensions, rows, hips, poses)
        return poses


def _columns(rows: ArrayLike) -> tuple[Array, Array, Array]:
    columns = np.moveaxis(np.asarray(rows, dtype=np.float64), -1, 0)
    return columns[0], columns[1], columns[2]


def _kept(values: Array, undefined: NDArray[np.bool_]) -> Array:
    """Replace each undefined value by that of the previous row, zero at the start."""
    if values.ndim == 0:
        return np.where(undefined, 0.0, values)
    last = np.maximum.accumulate(np.where(undefined, -1, np.arange(len(values))))
    return np.where(last < 0, 0.0, values[last])


def _positive(values: Array) -> Array:
    return np.maximum(values, 0.0)
