"""Machine: a body and four mirrored pantograph legs."""

from dataclasses import dataclass
from math import pi, radians, sqrt
from typing import TYPE_CHECKING

from kinetarium.legs.error import LegsError, checked
from kinetarium.legs.leg_kind import LegKind
from kinetarium.legs.link_shape import LINK_NAMES, LinkShape, check_shape, default_link_shapes

if TYPE_CHECKING:  # a machine is part of a command's flags, whose help loads no NumPy
    from kinetarium.legs.pantograph import PantographLeg
    from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The robot, in its own unit of length.

    The body frame has x forward, y left and z up; its origin is the middle of the four hips.
    One leg is defined, link by link; the others are its mirror images.

    Attributes:
        kind: How the legs are driven sideways.
        l1: Length from the upper pivot to the crank's pin on the thigh [unit].
        l2: Length of the crank [unit].
        gain: Magnification K of the pantograph [-].
        rail_height: Height of the horizontal drive's rail over the hip, negative [unit].
        body_length: Distance of the front hips from the rear hips [unit].
        body_width: Distance of the left hips from the right hips [unit].
        foot_offset: How far outward of its hip a foot stands at rest [unit].
        foot_forward: How far forward of its hip a foot stands at rest [unit]; the centre of
            mass of a real machine lies behind the middle of its hips.
        com: Centre of mass in the body frame, forward and to the left [unit].
        lateral_stroke: How far a TTT1 leg slides to either side [unit].
        turn_limit_deg: How far a TTR leg turns to either side [deg].
        shapes: How the nine links of one leg look; empty for plain bars.
    """

    kind: LegKind = LegKind.TTT2
    l1: float = 6.0
    l2: float = 6.0
    gain: float = 6.0
    rail_height: float = -6.0 * sqrt(2.0)
    body_length: float = 37.0
    body_width: float = 41.5
    foot_offset: float = 0.0
    foot_forward: float = 0.0
    com: tuple[float, float] = (0.0, 0.0)
    lateral_stroke: float = 25.0
    turn_limit_deg: float = 35.0
    shapes: tuple[LinkShape, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no machine.

        Raises:
            LegsError: If a value makes no sense.
        """
        object.__setattr__(self, "kind", LegKind(self.kind))
        for name in ("l1", "l2"):
            checked(f"{name} of the machine", getattr(self, name), low=1e-6, high=1e6)
        checked("gain of the machine", self.gain, low=1.001, high=1000.0)
        checked("rail_height of the machine", self.rail_height, low=-1e6, high=-1e-6)
        for name in ("body_length", "body_width"):
            checked(f"{name} of the machine", getattr(self, name), low=1e-6, high=1e6)
        checked("foot_offset of the machine", self.foot_offset, low=0.0, high=1e6)
        checked("foot_forward of the machine", self.foot_forward, low=-1e6, high=1e6)
        checked("lateral_stroke of the machine", self.lateral_stroke, low=0.0, high=1e6)
        checked("turn_limit_deg of the machine", self.turn_limit_deg, low=0.0, high=90.0)
        for value in self.com:
            checked("com of the machine", value, low=-1e6, high=1e6)
        if len(self.shapes) not in (0, len(LINK_NAMES)):
            raise LegsError(f"a leg has {len(LINK_NAMES)} links, not {len(self.shapes)}")
        for shape in self.shapes:
            check_shape(shape)

    @property
    def leg(self) -> "PantographLeg":
        """The leg, in its own frame: body axes at the hip."""
        from kinetarium.legs.pantograph import PantographLeg

        return PantographLeg(
            self.kind, l1=self.l1, l2=self.l2, gain=self.gain, rail_height=self.rail_height
        )

    @property
    def height(self) -> float:
        """Height of the hips over level ground with the vertical drives at zero [unit]."""
        return -self.gain * self.rail_height

    @property
    def hips(self) -> "Array":
        """Where the legs 1 to 4 hang in the body frame [unit], shape (4, 3)."""
        from kinetarium.spatial.arrays import frozen

        a, b = self.body_length / 2, self.body_width / 2
        return frozen([[-a, -b, 0], [a, -b, 0], [-a, b, 0], [a, b, 0]])

    @property
    def neutral_feet(self) -> "Array":
        """Where the feet rest in the body frame [unit], shape (4, 3)."""
        from kinetarium.spatial.arrays import frozen

        x, y, z = self.foot_forward, self.foot_offset, -self.height
        rest = frozen([[x, -y, z], [x, -y, z], [x, y, z], [x, y, z]])
        return frozen(self.hips + rest)

    @property
    def azimuths(self) -> tuple[float, float, float, float]:
        """Where TTR legs point at rest, from x to the left [rad]: outward if their feet do."""
        side = pi / 2 if self.foot_offset > 0 else 0.0
        return (-side, -side, side, side)

    @property
    def limits(self) -> "Array":
        """Least and greatest |ab| of a leg, lateral stroke [unit] and turn [rad], shape (4,)."""
        from kinetarium.spatial.arrays import frozen

        return frozen([*self.leg.reach, self.lateral_stroke, radians(self.turn_limit_deg)])

    @property
    def link_shapes(self) -> tuple[tuple[LinkShape, ...], ...]:
        """How the nine links of legs 1 to 4 look, each in its own frame; the body comes last.

        Five tuples: nine shapes for each leg, mirrored as the legs are, and one for the body.
        """
        own = self.shapes or default_link_shapes(l1=self.l1, l2=self.l2, gain=self.gain)
        right = tuple(shape.mirrored() for shape in own)
        return (right, right, own, own, (self.body_shape,))

    @property
    def body_shape(self) -> LinkShape:
        """How the body looks, in the body frame."""
        a, b = self.body_length / 2, self.body_width / 2 - 2.0
        return LinkShape("body", ((-a, -b), (a, -b), (a, b), (-a, b)), 2.0, -2.0)
