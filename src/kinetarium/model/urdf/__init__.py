"""URDF, read strictly and written completely."""

from kinetarium.model.urdf.reader import read_urdf
from kinetarium.model.urdf.writer import write_urdf

__all__ = ["read_urdf", "write_urdf"]
