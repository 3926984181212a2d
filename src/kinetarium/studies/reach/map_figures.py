"""Figures of maps: sections, the volume with a quarter cut away, and slices by a plane."""

from itertools import chain
from math import degrees, pi

import numpy as np

from kinetarium.figure.charts import Axis, Heatmap, Spot
from kinetarium.figure.page import Page, Section
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Cell, Column, Table, header
from kinetarium.reach.maps.files import ReachMap
from kinetarium.reach.maps.recipe import FULL, MapKind, graded_grid
from kinetarium.reach.placement.score_raster import BaseSlice
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.markers import (
    cut_volume,
    frame_marker,
    plane_tiles,
    raster_chart,
    scene_sections,
)

_LEADS = {
    MapKind.CAPABILITY: "Capability map: the fraction of the tool poses in each voxel around the"
    " base that the arm reaches, and its mean manipulability there.",
    MapKind.IRM3: "Inverse reachability map: the fraction of the base poses in each voxel around"
    " the tool from which the arm reaches the tool's pose, and its mean manipulability.",
    MapKind.IRM4: "Inverse reachability map by height and tilt of the tool: the fraction of the"
    " base poses in each cell, over all azimuths and rolls, that reach the tool's pose.",
}
_REACH = Axis("fraction reached")
_QUALITY = Axis("manipulability", "m^3")


def map_page(reach_map: ReachMap, *, provenance: tuple[tuple[str, str], ...]) -> Page:
    """Return the page of a map."""
    recipe = reach_map.recipe
    tables = (recipe_table(reach_map), field_table(reach_map))
    sections = (*scene_sections(map_figures(reach_map)), Section("How it was built", tables))
    return Page(f"{recipe.kind} of {recipe.robot}", _LEADS[recipe.kind], sections, provenance)


def map_figures(reach_map: ReachMap, *, prefix: str = "") -> tuple[Heatmap | Scene3D, ...]:
    """Draw a map.

    Args:
        prefix: Prefix of each title, such as the number of a figure.
    """
    if reach_map.recipe.kind is MapKind.IRM4:
        return _graded(reach_map, prefix)
    return _voxels(reach_map, prefix)


def recipe_table(reach_map: ReachMap) -> Table:
    """Return how a map was built."""
    recipe = reach_map.recipe
    rows: tuple[tuple[Cell, ...], ...] = (
        ("kind", str(recipe.kind)),
        ("robot", recipe.robot),
        ("base link", recipe.base_link),
        ("tool link", recipe.tool),
        ("voxel [m]", recipe.voxel),
        ("radius [m]", recipe.radius),
        ("poses per voxel", recipe.poses),
        ("self-collision", "unreachable" if recipe.self_collision else "ignored"),
        ("seed", recipe.seed),
        *((name, version) for name, version in reach_map.versions.items()),
    )
    return Table("", (Column("property"), Column("value")), rows)


def field_table(reach_map: ReachMap) -> Table:
    """Return the fields of a map."""
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
    headings = header("field | unit | shape | size [MB] | fraction above zero | maximum")
    return Table("", headings, rows)


def _voxels(reach_map: ReachMap, prefix: str) -> tuple[Heatmap | Scene3D, ...]:
    """Draw both fields of a map over voxels."""
    grid, recipe = reach_map.grid, reach_map.recipe
    values = {
        _REACH: np.asarray(reach_map.fields["reachable"], dtype=np.float64) / recipe.poses,
        _QUALITY: np.asarray(reach_map.fields["manipulability"], dtype=np.float64),
    }
    drawn = [
        _volume(
            f"{prefix}{value.label}",
            volume,
            corner=(grid.lower, grid.lower, grid.lower),
            size=grid.size,
            labels=("x", "y", "z"),
            middle="base" if recipe.kind is MapKind.CAPABILITY else "tool",
            level=int(values[_REACH].sum(axis=(0, 1)).argmax()),
            value=value,
        )
        for value, volume in values.items()
    ]
    return tuple(chain.from_iterable(drawn))


def _graded(reach_map: ReachMap, prefix: str) -> tuple[Heatmap | Scene3D, ...]:
    """Draw a graded map for a tool that points up, ahead and down."""
    grid = graded_grid(reach_map.recipe)
    reach = np.asarray(reach_map.fields["reach"], dtype=np.float64) / FULL
    tilts = (0, grid.tilts // 2, grid.tilts - 1)
    drawn = [
        _volume(
            f"{prefix}tool {degrees((tilt + 0.5) * pi / grid.tilts):.0f} deg from the vertical",
            np.moveaxis(reach[:, tilt], 0, 2),
            corner=(grid.lower, grid.lower, grid.bottom),
            size=grid.size,
            labels=("x*", "y*", "height"),
            middle="tool's z axis",
            level=int(reach[:, tilt].sum(axis=(1, 2)).argmax()),
            value=_REACH,
        )
        for tilt in tilts
    ]
    return tuple(chain.from_iterable(drawn))


def _volume(
    title: str,
    volume: Array,
    *,
    corner: tuple[float, float, float],
    size: float,
    labels: tuple[str, str, str],
    middle: str,
    level: int,
    value: Axis,
) -> list[Heatmap | Scene3D]:
    """Draw a volume with a quarter cut away, and its vertical and horizontal sections.

    Args:
        corner: Its lower corner [m].
        size: Edge length of a voxel [m].
        labels: Names of its axes.
        middle: What is in its middle.
        level: The layer of the horizontal section.
    """
    x, y, z = (
        (label, np.round(low + (np.arange(count) + 0.5) * size, 9) + 0.0)  # 0.0 instead of -0.0
        for label, low, count in zip(labels, corner, volume.shape, strict=True)
    )
    figures: list[Heatmap | Scene3D] = []
    if volume.any():  # an empty map has no volume to cut
        name, lower = f"{title}, a quarter cut away", np.array(corner)
        figures.append(cut_volume(name, volume, size=size, lower=lower, unit=value.heading))
    vertical, horizontal = volume[:, volume.shape[1] // 2].T, volume[:, :, level].T
    name = f"{title}, vertical section through the {middle}"
    figures.append(raster_chart(name, vertical, axes=(x, z), value=value))
    name = f"{title}, horizontal section at {labels[2]} = {z[1][level]:.2f} m"
    figures.append(raster_chart(name, horizontal, axes=(x, y), value=value))
    return figures


_SLICE_LEAD = (
    "Base positions in the plane from which the arm reaches the pose: the map, which is fixed to"
    " the tool, is sliced by the ground plane (Algorithm 1). At bright positions most yaw angles"
    " of the base reach the pose."
)


def slice_page(
    base_slice: BaseSlice, reach_map: ReachMap, *, provenance: tuple[tuple[str, str], ...]
) -> Page:
    """Return the page of a slice of a map."""
    sections = (
        Section("The slice", (slice_table(base_slice),)),
        *scene_sections(slice_figures(base_slice, reach_map)),
        Section("The map", (recipe_table(reach_map),)),
    )
    return Page("Base positions that reach a pose", _SLICE_LEAD, sections, provenance)


def slice_table(base_slice: BaseSlice) -> Table:
    """Return the extent of a slice and its best position."""
    i, j = base_slice.best
    columns = header(
        "points | reachable | best x [m] | best y [m] | fraction reached | manipulability [m^3]"
    )
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
        prefix: Prefix of each title.
    """
    X_WP = tile_frame(base_slice, reach_map)
    i, j = base_slice.best
    foot = inverse_pose(X_WP) @ base_slice.X_WT
    marks = (
        Spot(float(foot[0, 3]), float(foot[1, 3]), "the pose"),
        Spot(float(base_slice.x[i]), float(base_slice.y[j]), "best"),
    )
    maps = tuple(
        raster_chart(
            f"{prefix}{value.label} by base position",
            values.T,
            axes=(("x", base_slice.x), ("y", base_slice.y)),
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
