"""Form: how the admittance law is computed."""

from enum import StrEnum


class Form(StrEnum):
    """How the law is computed; the results are the same."""

    REDUCED = "reduced"
    """Straight from the impulse to the twist, compiled."""
    PAPER = "paper"
    """Through the rates of the exponential coordinates, with dexp, as the paper has it."""
