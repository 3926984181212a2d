"""How a path is drawn through way-points, and what the heading does along it."""

from enum import StrEnum


class Curve(StrEnum):
    """What is drawn through the way-points."""

    SPLINE = "spline"
    """Cubic Bezier curves from each point to the next, through all of them."""
    BEZIER = "bezier"
    """One Bezier curve from the first point to the last, drawn towards the others."""


class Heading(StrEnum):
    """What the body's heading does."""

    TURN = "turn"
    """It follows the path."""
    CRAB = "crab"
    """It stays as it is, whatever the direction of travel."""
    SPIN = "spin"
    """The body turns on the spot."""
