"""MJCF, MuJoCo's file format: strict reading of the robot in a file, and writing."""

from kinetarium.model.mjcf.reader import read_mjcf
from kinetarium.model.mjcf.writer import write_mjcf

__all__ = ["read_mjcf", "write_mjcf"]
