"""The table of the elements and attributes of MJCF, and the check of a file against it."""

from kinetarium.model.mjcf.vocabulary.check import MOST_NUMBERS, check_vocabulary
from kinetarium.model.mjcf.vocabulary.table import ACTUATORS

__all__ = ["ACTUATORS", "MOST_NUMBERS", "check_vocabulary"]
