"""Figures of maps: sections, the volume with a quarter cut away, and where a plane cuts them."""

from itertools import chain
from math import degrees, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.figure.charts import Axis, Heatmap, Spot
from kinetarium.figure.page import Page, Section
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Cell, Column, Table
from kinetarium.reach.maps.files import ReachMap
from kinetarium.reach.maps.recipe import FULL, MapKind, graded_grid
from kinetarium.reach.placement.score_raster import BaseSlice
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.markers import (
    cut_volume,
    frame_marker,
    plane_tiles,
    scene_sections,
)

_LEADS = {
    MapKind.CAPABILITY: "What the tool can do around the base: the part of the poses in each"
    " voxel that it reaches, and how freely it moves there.",
    MapKind.IRM3: "How well a base stands around the tool: the part of the base poses in each"
    " voxel that reach the tool's pose, and how freely the arm then moves.",
    MapKind.IRM4: "How well a base stands by the height and the tilt of the tool: the part of"
    " the base poses in each cell, both turns included, that reach the tool's pose.",
}
_REACH = Axis("part reached")
_QUALITY = Axis("manipulability", "m^3")


def map_page(reach_map: ReachMap, *, provenance: tuple[tuple[str, str], ...]) -> Page:
    """Return the page of a map.

    Args:
        provenance: How to make it again.
    """
    recipe = reach_map.recipe
    tables = (recipe_table(reach_map), field_table(reach_map))
    sections = (*scene_sections(map_figures(reach_map)), Section("How it was made", tables))
    return Page(f"{recipe.kind} of {recipe.robot}", _LEADS[recipe.kind], sections, provenance)


def map_figures(reach_map: ReachMap, *, prefix: str = "") -> tuple[Heatmap | Scene3D, ...]:
    """Draw a map.

    Args:
        prefix: What stands before each title, such as the number of a figure.
    """
    if reach_map.recipe.kind is MapKind.IRM4:
        return _graded(reach_map, prefix)
    return _voxels(reach_map, prefix)


def recipe_table(reach_map: ReachMap) -> Table:
    """Say how a map was made."""
    recipe = reach_map.recipe
    rows: tuple[tuple[Cell, ...], ...] = (
        ("kind", str(recipe.kind)),
        ("robot", recipe.robot),
        ("from link", recipe.base_link),
        ("to link", recipe.tool),
        ("voxel [m]", recipe.voxel),
        ("radius [m]", recipe.radius),
        ("poses per voxel", recipe.poses),
        ("self-collision", "counts" if recipe.self_collision else "does not count"),
        ("seed", recipe.seed),
        *((name, version) for name, version in reach_map.versions.items()),
    )
    return Table("", (Column("what"), Column("value")), rows)


def field_table(reach_map: ReachMap) -> Table:
    """Say what a map holds."""
    rows = tuple(
        (
            name,
            reach_map.units[name],
            " x ".join(map(str, values.shape)),
            values.nbytes / 1e6,
            float((values > 0).mean()),
            float(values.max()),
        )
        for name, values in reach_map.fields.items()
    )
    headings = (
        Column("field"), Column("unit"), Column("shape"), Column("size", "MB"),
        Column("part filled"), Column("greatest"),
    )  # fmt: skip
    return Table("", headings, rows)


def _voxels(reach_map: ReachMap, prefix: str) -> tuple[Heatmap | Scene3D, ...]:
    """Draw both values of a map over voxels: upright and level sections, and the volume."""
    grid, recipe = reach_map.grid, reach_map.recipe
    frame = "base" if recipe.kind is MapKind.CAPABILITY else "tool"
    values = {
        _REACH: np.asarray(reach_map.fields["reachable"], dtype=np.float64) / recipe.poses,
        _QUALITY: np.asarray(reach_map.fields["manipulability"], dtype=np.float64),
    }
    middle = grid.count // 2
    level = int(values[_REACH].sum(axis=(0, 1)).argmax())
    figures: list[Heatmap | Scene3D] = []
    for value, volume in values.items():
        lower = np.full(3, grid.lower)
        title = f"{prefix}{value.label}, a quarter cut away"
        if volume.any():  # a map of nothing has no volume to be cut
            figures.append(
                cut_volume(title, volume, size=grid.size, lower=lower, unit=value.heading)
            )
        cuts = (
            (f"upright section through the {frame}", volume[:, middle].T, ("x", "z")),
            (f"level section at z = {grid.axis[level]:.2f} m", volume[:, :, level].T, ("x", "y")),
        )
        figures += [
            _section(
                f"{prefix}{value.label}, {where}",
                cut,
                labels=labels,
                x=grid.axis,
                y=grid.axis,
                value=value,
            )
            for where, cut, labels in cuts
        ]
    return tuple(figures)


def _graded(reach_map: ReachMap, prefix: str) -> tuple[Heatmap | Scene3D, ...]:
    """Draw a graded map for tools that look up, ahead and down."""
    grid = graded_grid(reach_map.recipe)
    reach = np.asarray(reach_map.fields["reach"], dtype=np.float64) / FULL
    axis = np.asarray(grid.lower + (np.arange(grid.side) + 0.5) * grid.size)
    height = np.asarray(grid.bottom + (np.arange(grid.layers) + 0.5) * grid.size)
    figures: list[Heatmap | Scene3D] = []
    for tilt in (0, grid.tilts // 2, grid.tilts - 1):
        angle = degrees((tilt + 0.5) * pi / grid.tilts)
        volume = np.moveaxis(reach[:, tilt], 0, 2)
        title = f"{prefix}tool {angle:.0f} deg from the vertical, "
        lower = np.array([grid.lower, grid.lower, grid.bottom])
        if volume.any():
            figures.append(
                cut_volume(
                    f"{title}a quarter cut away",
                    volume,
                    size=grid.size,
                    lower=lower,
                    unit="part reached",
                )
            )
        level = int(volume.sum(axis=(0, 1)).argmax())
        figures.append(
            _section(
                f"{title}section through the tool's own plane",
                volume[:, grid.side // 2].T,
                labels=("x*", "height"),
                x=axis,
                y=height,
                value=_REACH,
            )
        )
        figures.append(
            _section(
                f"{title}level section at {height[level]:.2f} m",
                volume[:, :, level].T,
                labels=("x*", "y*"),
                x=axis,
                y=axis,
                value=_REACH,
            )
        )
    return tuple(figures)


def _section(
    title: str,
    values: NDArray[np.floating[Any]],
    *,
    labels: tuple[str, str],
    x: Array,
    y: Array,
    value: Axis,
    marks: tuple[Spot, ...] = (),
) -> Heatmap:
    """Draw a section, shape (rows, columns); what cannot be reached stays empty."""
    return Heatmap(
        title,
        Axis(labels[0], "m"),
        Axis(labels[1], "m"),
        tuple(x.tolist()),
        tuple(y.tolist()),
        np.where(values > 0, values, np.nan).astype(np.float64),
        value,
        marks=marks,
        equal=True,
    )


_SLICE_LEAD = (
    "Where in the plane a base may stand so that the arm reaches the pose: the map, which hangs"
    " on the tool, is cut by the plane of bases (Algorithm 1). Bright places are reached from"
    " by most turns of the base."
)


def slice_page(
    base_slice: BaseSlice, reach_map: ReachMap, *, provenance: tuple[tuple[str, str], ...]
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
    return Page("Where a base may stand", _SLICE_LEAD, sections, provenance)


def slice_table(base_slice: BaseSlice) -> Table:
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
    base_slice: BaseSlice, reach_map: ReachMap, *, prefix: str = ""
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
    maps = tuple(
        _section(
            f"{prefix}{value.label} by the place of the base",
            values.T,
            labels=("x", "y"),
            x=base_slice.x,
            y=base_slice.y,
            value=value,
            marks=marks,
        )
        for value, values in ((_REACH, base_slice.reach), (_QUALITY, base_slice.manipulability))
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


def tile_frame(base_slice: BaseSlice, reach_map: ReachMap) -> Array:
    """Return the frame X_WP that the points of a slice lie flat in, shape (4, 4).

    The points of an irm3 are given by their world coordinates: their frame is sheared by
    the plane's slopes, not turned.
    """
    plane = base_slice.plane
    if reach_map.recipe.kind is MapKind.IRM4:
        return plane.frame
    X_WP = np.eye(4)
    X_WP[2, 0], X_WP[2, 1] = plane.slopes
    X_WP[2, 3] = plane.height
    return X_WP
