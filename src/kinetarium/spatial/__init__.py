"""Spatial algebra: rotations, rigid motions, twists and wrenches, and paths."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.spatial import se3 as se3
    from kinetarium.spatial import so3 as so3
    from kinetarium.spatial.arrays import Array as Array
    from kinetarium.spatial.arrays import frozen as frozen
    from kinetarium.spatial.paths.bezier import Bezier as Bezier
    from kinetarium.spatial.paths.bezier import BezierSpline as BezierSpline
    from kinetarium.spatial.paths.path import Path as Path
    from kinetarium.spatial.paths.path import PathError as PathError
    from kinetarium.spatial.paths.path import PlacedPath as PlacedPath
    from kinetarium.spatial.paths.shapes import Circle as Circle
    from kinetarium.spatial.paths.shapes import Eight as Eight
    from kinetarium.spatial.paths.shapes import Polyline as Polyline
    from kinetarium.spatial.paths.shapes import Square as Square
    from kinetarium.spatial.rotation import inverse_pose as inverse_pose
    from kinetarium.spatial.rotation import pose as pose
    from kinetarium.spatial.rotation import quaternion_from_rotation as quaternion_from_rotation
    from kinetarium.spatial.rotation import rotation_about as rotation_about
    from kinetarium.spatial.rotation import rotation_from_quaternion as rotation_from_quaternion
    from kinetarium.spatial.rotation import rotation_from_rpy as rotation_from_rpy
    from kinetarium.spatial.rotation import rotation_onto as rotation_onto
    from kinetarium.spatial.rotation import rpy_from_rotation as rpy_from_rotation
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
