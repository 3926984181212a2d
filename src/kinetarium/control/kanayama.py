"""Kanayama's tracking law for vehicles that cannot move sideways.

Y. Kanayama, Y. Kimura, F. Miyazaki, T. Noguchi, "A stable tracking control method
for an autonomous mobile robot", ICRA 1990: with the errors e_x, e_y, e_t in the
vehicle's own frame, v = v_r cos e_t + Kx e_x and w = w_r + v_r (Ky e_y + Kt sin e_t).

All feedback on the yaw rate is multiplied by v_r. Where the reference turns in
place, v_r = 0 and an error of the heading is not corrected.
"""

from dataclasses import dataclass
from math import cos, sin

from kinetarium.control.driving_law import Placement, Speeds


@dataclass(frozen=True, slots=True)
class Kanayama:
    """The law and its gains.

    Attributes:
        along: Gain Kx on the error along the vehicle [1/s].
        aside: Gain Ky on the error aside of it [1/m^2].
        turn: Gain Kt on the error of its heading [1/m].
    """

    along: float = 1.0
    aside: float = 4.0
    turn: float = 4.0

    def speeds(self, actual: Placement, *, wanted: Placement, reference: Speeds) -> Speeds:
        """Give the speeds that take the errors back.

        Args:
            actual: Where the vehicle is.
            wanted: Where it should be.
            reference: The speeds that it would have there.
        """
        c, s = cos(actual.heading), sin(actual.heading)
        dx, dy = wanted.x - actual.x, wanted.y - actual.y
        e_x, e_y, e_t = c * dx + s * dy, c * dy - s * dx, wanted.heading - actual.heading
        return Speeds(
            reference.v * cos(e_t) + self.along * e_x,
            reference.w + reference.v * (self.aside * e_y + self.turn * sin(e_t)),
        )
