"""Paths parametrized by arc length: circle, square, eight, polyline and Bezier curves."""

from kinetarium.spatial.paths.bezier import Bezier, BezierSpline
from kinetarium.spatial.paths.path import Path, PathError, PlacedPath
from kinetarium.spatial.paths.shapes import Circle, Eight, Polyline, Square

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
