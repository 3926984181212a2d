"""SAPIEN, which brings PhysX 5, loaded without its notices about graphics nobody asked for."""

import warnings
from importlib import import_module
from typing import Any

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    sapien: Any = import_module("sapien")

sapien.set_log_level("off")  # what it refuses raises an error as well

physx: Any = sapien.physx
Entity: Any = sapien.pysapien.Entity
Pose: Any = sapien.pysapien.Pose
Scene: Any = sapien.pysapien.Scene


def physx_pose(X: Array) -> Any:
    """Give a homogeneous transform, shape (4, 4), as the library's pose."""
    return Pose(X[:3, 3], quaternion_from_rotation(X[:3, :3]))
