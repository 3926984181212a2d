"""The elements and attributes of MJCF: a table of them, and the check of a file against it."""

from kinetarium.model.mjcf.vocabulary.actuator_parts import ACTUATORS
from kinetarium.model.mjcf.vocabulary.check import MOST_NUMBERS, check_vocabulary

__all__ = ["ACTUATORS", "MOST_NUMBERS", "check_vocabulary"]
