"""The elements and attributes of MJCF: a table of them, and the check of a file against it."""

from kinetarium.model.mjcf.vocabulary.check import MOST_NUMBERS, check_vocabulary
from kinetarium.model.mjcf.vocabulary.table import ACTUATORS

__all__ = ["ACTUATORS", "MOST_NUMBERS", "check_vocabulary"]
