"""LinkShape: what a link looks like, a prism of a polygonal section."""

from dataclasses import dataclass

from kinetarium.legs.error import LegsError, checked

LINK_NAMES = (
    "bracket",
    "vertical guide",
    "vertical slider",
    "horizontal slider",
    "thigh",
    "parallel bar",
    "crank",
    "shank",
    "foot",
)
"""Names of links 1 to 9 of a leg."""

MOST_CORNERS = 256
"""Corners of a section."""
_LONGEST_NAME = 60
_GREATEST = 1e9
"""Of a shape's measures, as of those of the longest machine [unit]."""


@dataclass(frozen=True, slots=True)
class LinkShape:
    """A prism along the z axis of its link; bars hang down from their origin, along -z.

    Attributes:
        name: What the link is.
        section: Corners (x, y) of its section, in order round it [unit].
        top: Height of its upper end [unit].
        bottom: Height of its lower end [unit].
    """

    name: str
    section: tuple[tuple[float, float], ...]
    top: float
    bottom: float

    def mirrored(self) -> "LinkShape":
        """Give its mirror image in the plane of x and z."""
        section = tuple((x, -y) for x, y in reversed(self.section))
        return LinkShape(self.name, section, self.top, self.bottom)


def check_shape(shape: LinkShape) -> None:
    """Refuse what is no prism.

    Raises:
        LegsError: If its name, its corners or its ends make no sense.
    """
    if not (shape.name.isprintable() and len(shape.name) <= _LONGEST_NAME):
        raise LegsError(f"a link's name has up to {_LONGEST_NAME} letters")
    if not 3 <= len(shape.section) <= MOST_CORNERS:
        raise LegsError(
            f"the section of link '{shape.name}' has {len(shape.section)} corners;"
            f" it must have from 3 to {MOST_CORNERS}"
        )
    for value in (shape.top, shape.bottom, *(part for corner in shape.section for part in corner)):
        checked(f"a measure of link '{shape.name}'", value, low=-_GREATEST, high=_GREATEST)


def default_link_shapes(*, l1: float, l2: float, gain: float) -> tuple[LinkShape, ...]:
    """Give plain bars for the nine links of a leg.

    Args:
        l1: Length from the upper pivot to the crank's pin on the thigh [unit].
        l2: Length of the crank [unit].
        gain: Magnification of the pantograph [-].
    """
    w = 0.15 * (l1 + l2) / 2
    lengths = (gain * l1, (gain - 1) * l1, l2, gain * l2)
    widths = (w, 0.7 * w, 0.7 * w, 0.9 * w)
    bars = [
        LinkShape(name, _square(width), 0.0, -length)
        for name, width, length in zip(LINK_NAMES[4:8], widths, lengths, strict=True)
    ]
    return (
        LinkShape(LINK_NAMES[0], _square(2.5 * w), 3 * w, w),
        LinkShape(LINK_NAMES[1], _square(1.2 * w), w, -1.4 * (l1 + l2)),
        LinkShape(LINK_NAMES[2], _square(1.8 * w), w, -w),
        LinkShape(LINK_NAMES[3], _square(1.8 * w), w, -w),
        *bars,
        LinkShape(LINK_NAMES[8], _square(2.0 * w), w, 0.0),
    )


def _square(half: float) -> tuple[tuple[float, float], ...]:
    return ((-half, -half), (half, -half), (half, half), (-half, half))
