"""LegsError: a machine or a walk that makes no sense."""

from kinetarium.errors import KinetariumError


class LegsError(KinetariumError):
    """A value of a machine or a walk that makes no sense."""


def checked(name: str, value: float, *, low: float, high: float) -> None:
    """Refuse a number that is not within its bounds.

    Args:
        name: What it is, for the message.
        value: The number.
        low: Lowest value.
        high: Highest value.

    Raises:
        LegsError: If it lies outside, or is not a number.
    """
    if not low <= value <= high:
        raise LegsError(f"{name} is {value:g}; it must lie between {low:g} and {high:g}")
