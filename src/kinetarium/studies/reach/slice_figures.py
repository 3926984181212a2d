"""Figures of a slice: where in a plane a base may stand to reach one pose."""

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from kinetarium.figure.charts import Axis, Heatmap, Spot
from kinetarium.figure.page import Page, Section
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Column, Table
from kinetarium.reach.maps.recipe import MapKind
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.map_figures import recipe_table
from kinetarium.studies.reach.markers import frame_marker, plane_tiles, scene_sections

if TYPE_CHECKING:
    from kinetarium.reach.maps.files import ReachMap
    from kinetarium.reach.placement.score_raster import BaseSlice

_LEAD = (
    "Where in the plane a base may stand so that the arm reaches the pose: the map, which hangs"
    " on the tool, is cut by the plane of bases (Algorithm 1). Bright places are reached from"
    " by most turns of the base."
)


def slice_page(
    base_slice: "BaseSlice", reach_map: "ReachMap", *, provenance: tuple[tuple[str, str], ...]
) -> Page:
    """Return the page of a slice.

    Args:
        reach_map: The map it was cut from.
        provenance: How to make it again.
    """
    sections = (
        Section("The slice", (slice_table(base_slice),)),
        *scene_sections(slice_figures(base_slice, reach_map)),
        Section("The map", (recipe_table(reach_map),)),
    )
    return Page("Where a base may stand", _LEAD, sections, provenance)


def slice_table(base_slice: "BaseSlice") -> Table:
    """Say what was found."""
    i, j = base_slice.best
    columns = (
        Column("points"), Column("within reach"), Column("best x", "m"), Column("best y", "m"),
        Column("part reached"), Column("manipulability", "m^3"),
    )  # fmt: skip
    row = (
        base_slice.reach.size,
        int((base_slice.reach > 0).sum()),
        float(base_slice.x[i]),
        float(base_slice.y[j]),
        float(base_slice.reach[i, j]),
        float(base_slice.manipulability[i, j]),
    )
    return Table("", columns, (row,))


def slice_figures(
    base_slice: "BaseSlice", reach_map: "ReachMap", *, prefix: str = ""
) -> tuple[Heatmap | Scene3D, ...]:
    """Draw a slice: the plane in the world and seen from the tool, and both values as heat maps.

    Args:
        reach_map: The map it was cut from.
        prefix: What stands before each title.
    """
    X_WP = tile_frame(base_slice, reach_map)
    i, j = base_slice.best
    foot = inverse_pose(X_WP) @ base_slice.X_WT
    marks = (
        Spot(float(foot[0, 3]), float(foot[1, 3]), "the pose"),
        Spot(float(base_slice.x[i]), float(base_slice.y[j]), "best"),
    )
    values = {
        Axis("part reached"): base_slice.reach,
        Axis("manipulability", "m^3"): base_slice.manipulability,
    }
    maps = tuple(
        Heatmap(
            f"{prefix}{axis.label} by the place of the base",
            Axis("x", "m"),
            Axis("y", "m"),
            tuple(base_slice.x.tolist()),
            tuple(base_slice.y.tolist()),
            np.where(value > 0, value, np.nan).T,
            axis,
            marks=marks,
            equal=True,
        )
        for axis, value in values.items()
    )
    X_TW, reach = inverse_pose(base_slice.X_WT), base_slice.reach.astype(np.float64)
    scenes = tuple(
        Scene3D(
            f"{prefix}{title}",
            (
                *plane_tiles(base_slice.x, base_slice.y, values=reach, X_WP=X @ X_WP),
                *frame_marker(
                    "the tool", X @ base_slice.X_WT, length=0.2 * reach_map.recipe.radius
                ),
            ),
        )
        for title, X in (
            ("the slice in the world", np.eye(4)),
            ("the slice in the tool frame", X_TW),
        )
    )
    return tuple(chain.from_iterable(zip(scenes, maps, strict=True)))


def tile_frame(base_slice: "BaseSlice", reach_map: "ReachMap") -> Array:
    """Return the frame X_WP that the points of a slice lie flat in, shape (4, 4).

    The points of an irm3 are given by their world coordinates: their frame is sheared by
    the plane's slopes, not turned.
    """
    plane: BasePlane = base_slice.plane
    if reach_map.recipe.kind is MapKind.IRM4:
        return plane.frame
    X_WP = np.eye(4)
    X_WP[2, 0], X_WP[2, 1] = plane.slopes
    X_WP[2, 3] = plane.height
    return X_WP
