"""AntiWindup: what bounds the impulse of an admittance law."""

from enum import StrEnum


class AntiWindup(StrEnum):
    """What keeps the impulse from growing where nothing pushes back."""

    GATED = "gated"
    """The impulse rests until contact, and is bounded after it."""
    CLAMPED = "clamped"
    """The impulse is always integrated, and bounded."""
    NONE = "none"
    """The impulse is always integrated, without bound."""
