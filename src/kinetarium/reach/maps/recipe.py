"""MapRecipe: everything that the values of a map depend on."""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import NamedTuple, TypedDict

import numpy as np

from kinetarium.dynamics.chain import SerialChain, serial_chain
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import RobotModel
from kinetarium.reach.maps.grid import voxel_grid

CONFIGURATIONS = 20_000
"""Random configurations from which the radius of the workspace is estimated."""
MARGIN = 1.1
"""Factor on the farthest of them, since random configurations do not reach full stretch."""
ROUNDING = 0.1
"""What the radius is rounded up to [m]."""
MOST_POSES = 10_000


class MapKind(StrEnum):
    """The kind of a map.

    A capability map rates positions of the tool around the base; an inverse reachability
    map rates positions of the base around the tool: over voxels (irm3) or over height,
    tilt and position in the plane (irm4).
    """

    CAPABILITY = "capability"
    IRM3 = "irm3"
    IRM4 = "irm4"


DENSITIES = {MapKind.CAPABILITY: (0.03, 50), MapKind.IRM3: (0.03, 50), MapKind.IRM4: (0.05, 8)}
"""Default voxel size as a fraction of the radius, and default poses per voxel."""


@dataclass(frozen=True, slots=True)
class MapRecipe:
    """Everything that the values of a map depend on, besides the release that made it.

    Attributes:
        kind: The kind of map.
        robot: The robot, by catalogue name or file.
        robot_sha256: Hash of the robot file and its includes.
        base_link: The base link.
        tool: The tool link.
        voxel: Edge length of a voxel [m].
        radius: Half width of the map along each axis [m].
        poses: Poses per voxel.
        seed: Seed of their rotations.
        self_collision: Whether configurations in self-collision count as unreachable.
        effort: Positions of the redundant joint, or starts, that are tried per pose.
    """

    kind: MapKind
    robot: str
    robot_sha256: str
    base_link: str
    tool: str
    voxel: float
    radius: float
    poses: int
    seed: int
    self_collision: bool
    effort: int


class MapOptions(TypedDict, total=False):
    """Options of a map.

    Attributes:
        kind: The kind of map; irm4 by default.
        voxel: Edge length of a voxel [m]; if None, the kind's default fraction of the radius.
        poses: Poses per voxel; if None, the kind's default.
        radius: Radius of the map [m]; if None, the reach of the tool from the base's axis.
        tool: The tool link; see `serial_chain`.
        base_link: The base link; see `serial_chain`.
        self_collision: Whether configurations in self-collision count as unreachable; they do
            by default.
        seed: Seed of the poses; 0 by default.
        effort: Positions of the redundant joint, or starts, per pose; if None, the default.
    """

    kind: MapKind | str
    voxel: float | None
    poses: int | None
    radius: float | None
    tool: str | None
    base_link: str | None
    self_collision: bool
    seed: int
    effort: int | None


def map_recipe(
    robot: RobotModel,
    *,
    usual_effort: int,
    kind: MapKind | str = MapKind.IRM4,
    voxel: float | None = None,
    poses: int | None = None,
    radius: float | None = None,
    tool: str | None = None,
    base_link: str | None = None,
    self_collision: bool = True,
    seed: int = 0,
    effort: int | None = None,
) -> MapRecipe:
    """Check options and fill in the defaults; see `MapOptions`.

    Raises:
        UnknownNameError: If there is no such kind or link.
        KinetariumError: If there is no chain to the tool, or a number is invalid.
    """
    if kind not in tuple(MapKind):
        raise UnknownNameError("kind of map", str(kind), known=MapKind)
    kind = MapKind(kind)
    chain = serial_chain(robot, base_link=base_link, tool=tool)
    poses = DENSITIES[kind][1] if poses is None else poses
    if not 0 < poses <= MOST_POSES:
        raise KinetariumError(f"a voxel takes from 1 to {MOST_POSES} poses, not {poses}")
    effort = usual_effort if effort is None else effort
    if effort < 1:
        raise KinetariumError(f"the effort must be at least 1, not {effort}")
    if type(seed) is not int or seed < 0:
        raise KinetariumError(f"a seed must be a non-negative integer, not {seed!r}")
    if radius is None:
        radius = workspace_radius(chain)
    elif not 0.0 < radius < 1e3:
        raise KinetariumError(f"invalid radius of {radius:g} m for a map")
    voxel = round(DENSITIES[kind][0] * radius, 3) if voxel is None else voxel
    voxel_grid(voxel, radius=radius)
    return MapRecipe(
        kind,
        robot.source.file,
        robot.source.sha256,
        chain.base_link,
        chain.tool,
        float(voxel),
        float(radius),
        int(poses),
        seed,
        bool(self_collision),
        effort,
    )


def workspace_radius(chain: SerialChain) -> float:
    """Return the reach of the tool from the base's axis, rounded up [m]: 1 for the Panda."""
    from kinetarium.dynamics import forward

    arrays = chain.arrays
    rng = np.random.default_rng(0)
    lower = np.maximum(arrays.lower, arrays.middle - np.pi)
    upper = np.minimum(arrays.upper, arrays.middle + np.pi)
    q = rng.uniform(lower, upper, (CONFIGURATIONS, len(lower)))
    p = forward.poses(arrays, q)[:, :3, 3]
    farthest = float(np.hypot(p[:, 0], p[:, 1]).max())
    return round(max(ceil(MARGIN * farthest / ROUNDING), 1) * ROUNDING, 1)


TILTS = 18
"""Cells of the angle between tool and vertical in a graded map."""
FULL = 255
"""The grade of a cell whose poses can all be reached."""


class GradedGrid(NamedTuple):
    """The cells of a graded map.

    Attributes:
        layers: Cells of the height.
        tilts: Cells of the angle theta.
        side: Cells along x* and y*.
        size: Edge length of a cell, in height too [m].
        bottom: The least height [m].
        lower: The least x* and y* [m].
    """

    layers: int
    tilts: int
    side: int
    size: float
    bottom: float
    lower: float


def graded_grid(recipe: MapRecipe) -> GradedGrid:
    """Return the cells of a recipe: their height is 1.5 times the width."""
    grid = voxel_grid(recipe.voxel, radius=recipe.radius)
    layers = grid.count + grid.count // 4
    return GradedGrid(layers, TILTS, grid.count, grid.size, grid.lower, grid.lower)


def value_type(kind: MapKind) -> np.dtype[np.void]:
    """Return the fields of a kind of map as columns of one type."""
    if kind is MapKind.IRM4:
        return np.dtype([("reach", "|u1"), ("manipulability", "<f4")])
    return np.dtype([("manipulability", "<f4"), ("reachable", "<u2")])


def field_shape(recipe: MapRecipe) -> tuple[int, ...]:
    """Return the shape of a map's fields."""
    if recipe.kind is MapKind.IRM4:
        grid = graded_grid(recipe)
        return grid.layers, grid.tilts, grid.side, grid.side
    return voxel_grid(recipe.voxel, radius=recipe.radius).shape
