"""slice_map: the 2-D inverse reachability map of one pose, and its folder."""

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.errors import KinetariumError
from kinetarium.reach.map_files import MapFileError, ReachMap
from kinetarium.reach.map_layout import FULL, graded_grid
from kinetarium.reach.plane import FLOOR, Plane
from kinetarium.reach.recipe import MapKind
from kinetarium.reach.result_files import write_result
from kinetarium.reach.slice import slice_values
from kinetarium.reach.solve import checked_poses
from kinetarium.reach.union import cells_under
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose

SUMMARY = "slice.json"


@dataclass(frozen=True, slots=True, eq=False)
class BaseSlice:
    """Where in a plane a base may stand to reach one pose.

    Attributes:
        X_WT: The pose, shape (4, 4).
        plane: The plane of bases.
        x: Coordinates x of the points [m], shape (n,): in the world for irm3, along the
            plane for irm4.
        y: Coordinates y of the points [m], shape (m,).
        manipulability: Mean over the base poses that reach it [m^3], shape (n, m).
        reach: The part of the base poses that reach it, shape (n, m).
    """

    X_WT: Array
    plane: Plane
    x: Array
    y: Array
    manipulability: NDArray[np.float32]
    reach: NDArray[np.float32]

    @property
    def best(self) -> tuple[int, int]:
        """The point that the most base poses reach from; of equals the most manipulable."""
        order = np.lexsort((self.manipulability.ravel(), self.reach.ravel()))
        i, j = divmod(int(order[-1]), len(self.y))
        return i, j


def slice_map(reach_map: ReachMap, pose: ArrayLike, *, plane: Plane = FLOOR) -> BaseSlice:
    """Cut an inverse map by a plane of bases (Algorithm 1).

    The points lie as close as the map's voxels, around the foot of the pose.

    Args:
        reach_map: An inverse reachability map.
        pose: The pose X_WT of the tool in the world, shape (4, 4).
        plane: The plane of bases.

    Raises:
        MapFileError: If the map is a capability map.
        KinetariumError: If the pose is none, or no base in the plane reaches it.
    """
    recipe, fields = reach_map.recipe, reach_map.fields
    X_WT = checked_poses(np.asarray(pose)[None])[0]
    axis = reach_map.grid.axis
    match recipe.kind:
        case MapKind.IRM3:
            x, y, grid = X_WT[0, 3] + axis, X_WT[1, 3] + axis, reach_map.grid
            w = slice_values(fields["manipulability"], X_WT, plane=plane, grid=grid, x=x, y=y)
            reach = fields["reachable"].astype(np.float32) / np.float32(recipe.poses)
            part = slice_values(reach, X_WT, plane=plane, grid=grid, x=x, y=y)
        case MapKind.IRM4:
            X_PT = inverse_pose(plane.frame) @ X_WT
            x, y, grid4 = X_PT[0, 3] + axis, X_PT[1, 3] + axis, graded_grid(recipe)
            cells = cells_under(grid4, X_PT, x=x, y=y)
            part = (cells.values(fields["reach"]) / FULL).astype(np.float32)
            w = cells.values(fields["manipulability"]).astype(np.float32)
        case MapKind.CAPABILITY:
            raise MapFileError(
                f"{str(reach_map.path)!r} is a capability map: only inverse maps are cut"
            )
    if not part.any():
        raise KinetariumError(f"no base in the plane reaches the pose with {recipe.tool!r}")
    return BaseSlice(X_WT, plane, x, y, w, part)


def describe_slice(base_slice: BaseSlice) -> dict[str, Any]:
    """Give what a slice is, as plain data."""
    reach, plane = base_slice.reach, base_slice.plane
    i, j = base_slice.best
    return {
        "pose": base_slice.X_WT.tolist(),
        "plane": {"normal": plane.normal, "height": plane.height},
        "units": {"x": "m", "y": "m", "manipulability": "m^3", "reach": "part of the poses"},
        "points": reach.size,
        "reachable_points": int((reach > 0).sum()),
        "best": {
            "x": float(base_slice.x[i]),
            "y": float(base_slice.y[j]),
            "reach": float(reach[i, j]),
            "manipulability": float(base_slice.manipulability[i, j]),
        },
    }


def write_slice(base_slice: BaseSlice, out: str | PathLike[str]) -> None:
    """Write a slice to a folder: its arrays and what they are.

    Args:
        base_slice: The slice.
        out: The folder, new or of an earlier slice.

    Raises:
        OutputError: If it cannot be written.
    """
    arrays = {name: getattr(base_slice, name) for name in ("x", "y", "manipulability", "reach")}
    write_result(out, SUMMARY, data=describe_slice(base_slice), arrays=arrays)
