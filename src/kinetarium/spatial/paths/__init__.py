"""Paths asked by arc length: circle, square, eight, polyline and Bezier curves."""

from kinetarium.spatial.paths.bezier import Bezier
from kinetarium.spatial.paths.bezier_spline import BezierSpline
from kinetarium.spatial.paths.circle import Circle
from kinetarium.spatial.paths.eight import Eight
from kinetarium.spatial.paths.error import PathError
from kinetarium.spatial.paths.path import Path
from kinetarium.spatial.paths.placed import PlacedPath
from kinetarium.spatial.paths.polyline import Polyline
from kinetarium.spatial.paths.square import Square

__all__ = [
    "Bezier",
    "BezierSpline",
    "Circle",
    "Eight",
    "Path",
    "PathError",
    "PlacedPath",
    "Polyline",
    "Square",
]
