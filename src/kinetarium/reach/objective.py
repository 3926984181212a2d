"""Objective and Effort: what is asked of a base, and how long is looked for it."""

from enum import StrEnum


class Objective(StrEnum):
    """What makes one base better than another.

    By count it is the number of poses reached and then the sum of manipulabilities;
    by manipulability it is that sum alone, as in the source.
    """

    COUNT = "count"
    MANIPULABILITY = "manipulability"


class Effort(StrEnum):
    """How long the search goes on."""

    FAST = "fast"
    STANDARD = "standard"
    THOROUGH = "thorough"
