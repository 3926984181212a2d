"""MJCF, MuJoCo's robot files: the part that describes a robot read strictly, and written."""

from kinetarium.model.mjcf.reader import read_mjcf
from kinetarium.model.mjcf.writer import write_mjcf

__all__ = ["read_mjcf", "write_mjcf"]
