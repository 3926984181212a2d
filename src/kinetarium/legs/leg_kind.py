"""LegKind: the three ways in which a leg is driven."""

from enum import StrEnum


class LegKind(StrEnum):
    """How a leg is driven sideways: its second joint."""

    TTT1 = "ttt1"
    """The whole leg slides along y."""
    TTT2 = "ttt2"
    """A hinged pantograph in space; the horizontal drive slides along y too."""
    TTR = "ttr"
    """The whole leg turns about z."""

    @property
    def code(self) -> int:
        """A number for kernels: 0, 1 or 2."""
        return list(LegKind).index(self)
