"""Figures of maps: sections, and the volume with a quarter cut away."""

from math import degrees, pi
from typing import TYPE_CHECKING

import numpy as np

from kinetarium.figure.charts import Axis, Heatmap
from kinetarium.figure.page import Page, Section
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Cell, Column, Table
from kinetarium.reach.maps.recipe import FULL, MapKind, graded_grid
from kinetarium.spatial.arrays import Array
from kinetarium.studies.reach.markers import cut_volume, scene_sections

if TYPE_CHECKING:
    from kinetarium.reach.maps.files import ReachMap

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


def map_page(reach_map: "ReachMap", *, provenance: tuple[tuple[str, str], ...]) -> Page:
    """Return the page of a map.

    Args:
        provenance: How to make it again.
    """
    recipe = reach_map.recipe
    tables = (recipe_table(reach_map), field_table(reach_map))
    sections = (*scene_sections(map_figures(reach_map)), Section("How it was made", tables))
    return Page(f"{recipe.kind} of {recipe.robot}", _LEADS[recipe.kind], sections, provenance)


def map_figures(reach_map: "ReachMap", *, prefix: str = "") -> tuple[Heatmap | Scene3D, ...]:
    """Draw a map.

    Args:
        prefix: What stands before each title, such as the number of a figure.
    """
    if reach_map.recipe.kind is MapKind.IRM4:
        return _graded(reach_map, prefix)
    return _voxels(reach_map, prefix)


def recipe_table(reach_map: "ReachMap") -> Table:
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


def field_table(reach_map: "ReachMap") -> Table:
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


def _voxels(reach_map: "ReachMap", prefix: str) -> tuple[Heatmap | Scene3D, ...]:
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


def _graded(reach_map: "ReachMap", prefix: str) -> tuple[Heatmap | Scene3D, ...]:
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
    title: str, values: Array, *, labels: tuple[str, str], x: Array, y: Array, value: Axis
) -> Heatmap:
    """Draw a section, shape (rows, columns); what cannot be reached stays empty."""
    return Heatmap(
        title,
        Axis(labels[0], "m"),
        Axis(labels[1], "m"),
        tuple(x.tolist()),
        tuple(y.tolist()),
        np.where(values > 0, values, np.nan),
        value,
        equal=True,
    )
