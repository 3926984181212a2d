"""Spatial algebra: rotations, rigid motions, twists and wrenches, and paths."""

from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.paths import (
    Bezier,
    BezierSpline,
    Circle,
    Eight,
    Path,
    PathError,
    PlacedPath,
    Polyline,
    Square,
)
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_onto,
    rpy_from_rotation,
)

__all__ = [
    "Array",
    "Bezier",
    "BezierSpline",
    "Circle",
    "Eight",
    "Path",
    "PathError",
    "PlacedPath",
    "Polyline",
    "Square",
    "frozen",
    "inverse_pose",
    "pose",
    "quaternion_from_rotation",
    "rotation_about",
    "rotation_from_quaternion",
    "rotation_from_rpy",
    "rotation_onto",
    "rpy_from_rotation",
    "se3",
    "so3",
]
