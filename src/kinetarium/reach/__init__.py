"""Reachability maps, inverse kinematics and base placement: kinematics without physics.

The maps and their algorithms follow a paper on base placement by precomputed 3-D inverse
reachability maps (IRM), "the paper" in these modules.
"""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.reach.collision.arm_in_scene import Obstacles as Obstacles
    from kinetarium.reach.collision.obstacles import read_obstacles as read_obstacles
    from kinetarium.reach.ik.solve import IkSolutions as IkSolutions
    from kinetarium.reach.ik.solve import Policy as Policy
    from kinetarium.reach.ik.solve import solve_ik as solve_ik
    from kinetarium.reach.maps.build import build_map as build_map
    from kinetarium.reach.maps.build import build_part as build_part
    from kinetarium.reach.maps.build import kept_map as kept_map
    from kinetarium.reach.maps.files import MapFileError as MapFileError
    from kinetarium.reach.maps.files import ReachMap as ReachMap
    from kinetarium.reach.maps.files import open_map as open_map
    from kinetarium.reach.maps.files import verify_map as verify_map
    from kinetarium.reach.maps.recipe import MapKind as MapKind
    from kinetarium.reach.placement.base_placement import BasePlacement as BasePlacement
    from kinetarium.reach.placement.branches import Flip as Flip
    from kinetarium.reach.placement.files import FreeAxis as FreeAxis
    from kinetarium.reach.placement.files import PoseFileError as PoseFileError
    from kinetarium.reach.placement.files import TaskPoses as TaskPoses
    from kinetarium.reach.placement.files import read_poses as read_poses
    from kinetarium.reach.placement.files import read_task as read_task
    from kinetarium.reach.placement.files import read_trajectory as read_trajectory
    from kinetarium.reach.placement.plane import BasePlane as BasePlane
    from kinetarium.reach.placement.plane import Effort as Effort
    from kinetarium.reach.placement.plane import Objective as Objective
    from kinetarium.reach.placement.plane import base_plane as base_plane
    from kinetarium.reach.placement.query import Placer as Placer
    from kinetarium.reach.placement.query import place_base as place_base
    from kinetarium.reach.placement.robust import BaseError as BaseError
    from kinetarium.reach.placement.score_raster import BaseSlice as BaseSlice
    from kinetarium.reach.placement.score_raster import slice_map as slice_map
    from kinetarium.reach.placement.stops import Stops as Stops
    from kinetarium.reach.placement.stops import place_stops as place_stops
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
