"""Gait: periodic gaits as data, phases of the legs and duty factor, and their frames.

The body moves steadily along its path while the legs swing in their phases: a trot swings
diagonal legs together. Statics does not hold such a robot; in physics it needs feedback.
"""

from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.pantograph import LegsError, checked
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins, read_toml


@dataclass(frozen=True)
class Gait:
    """A periodic gait.

    Attributes:
        name: What it is called.
        offsets: When each of the legs 1 to 4 lifts, as a fraction of the cycle [-].
        duty: Fraction of the cycle that a foot is on the ground [-].
        cycle_time: Duration of a cycle [s].
        lift: Height by which a foot is lifted [unit].
    """

    name: str = "trot"
    offsets: tuple[float, float, float, float] = (0.0, 0.5, 0.5, 0.0)
    duty: float = 0.6
    cycle_time: float = 0.5
    lift: float = 2.0

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        if len(self.offsets) != 4:
            raise LegsError(f"a gait needs four offsets, not {len(self.offsets)}")
        for value in self.offsets:
            checked("an offset of a gait", value, low=0.0, high=1.0)
        checked("duty of a gait", self.duty, low=0.05, high=0.95)
        checked("cycle_time of a gait", self.cycle_time, low=1e-2, high=1e3)
        checked("lift of a gait", self.lift, low=0.0, high=1e6)

    @property
    def order(self) -> tuple[int, int, int, int]:
        """The legs in the order in which they lift."""
        a, b, c, d = sorted((1, 2, 3, 4), key=lambda leg: (self.offsets[leg - 1] % 1.0, leg))
        return a, b, c, d


TROT = Gait()
"""Legs 1 and 4 together, then 2 and 3."""


def read_gait(path: Path) -> Gait:
    """Read a gait from a TOML file with the fields of `Gait`.

    Raises:
        SerializationError: If the file cannot be read or does not match.
        LegsError: If a value is invalid.
    """
    return from_builtins(Gait, read_toml(path), where=f"gait {str(path)!r}")


@dataclass(frozen=True, slots=True, eq=False)
class GaitMotion:
    """A gait along a path, frame by frame.

    Attributes:
        ways: Distance of the body along its path [unit], shape (n,).
        support: Which feet are on the ground, shape (n, 4).
        swings: For each swing leg 0 to 3, first and last frame, and the distance along the path
            of the body whose neutral foothold is its goal; in the order of their ends.
    """

    ways: Array
    support: NDArray[np.bool_]
    swings: tuple[tuple[int, int, int, float], ...]


def gait_motion(gait: Gait, length: float, *, stride: float, frames: int) -> GaitMotion:
    """Return when the body moves and the feet swing.

    The body's speed rises over the first cycle and falls over the last; feet land where they
    are neutral in the middle of their stance.

    Args:
        gait: The gait.
        length: Length of the path [unit].
        stride: Distance that the body moves in one cycle [unit].
        frames: Frames of a cycle.
    """
    moving = max(2, ceil(length / stride) + 1)  # cycles; the first and the last at half speed
    cycles = moving + 1  # and one to bring all feet to rest
    phase = np.arange(cycles * frames + 1) / frames
    ways = _distance(phase, moving) * length
    support = np.ones((len(phase), 4), dtype=np.bool_)
    swings = []
    for leg, offset in enumerate(gait.offsets):
        for cycle in range(cycles):
            begin = cycle + offset % 1.0
            end = begin + 1 - gait.duty
            if end > cycles:
                continue
            first, last = round(begin * frames), round(end * frames)
            support[first + 1 : last, leg] = False
            middle = end + gait.duty / 2
            goal = float(_distance(np.array([middle]), moving)[0]) * length
            swings.append((leg, first, last, goal))
    swings.sort(key=lambda swing: (swing[2], swing[0]))
    return GaitMotion(ways, support, tuple(swings))


def _distance(phase: Array, moving: int) -> Array:
    """Return the travelled fraction of a path at a phase: speed ramps over a cycle at each end."""
    p = np.clip(phase, 0.0, moving)
    up = np.minimum(p, 1.0)
    down = np.maximum(p - (moving - 1), 0.0)
    ramp = up**2 / 2 + np.clip(p - 1.0, 0.0, moving - 2) + down - down**2 / 2
    return np.asarray(ramp / (moving - 1))


def swing_arc(start: Array, goal: Array, part: Array, *, lift: float) -> Array:
    """Return a foot in the air, shape (n, 3): it leaves and lands without vertical speed.

    Args:
        start: Where it lifts [unit], shape (3,).
        goal: Where it lands [unit], shape (3,).
        part: Completed fractions of its swing, 0 to 1, shape (n,).
        lift: Height over the straight line [unit].
    """
    across = (part**3 * (10 - 15 * part + 6 * part * part))[:, np.newaxis]
    places: Array = (1 - across) * start + across * goal
    places[:, 2] += lift * 16 * part**2 * (1 - part) ** 2
    return places
