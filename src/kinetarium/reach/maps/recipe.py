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
"""From how many random configurations the size of the workspace is read."""
MARGIN = 1.1
"""What the farthest of them is multiplied by: chance does not find the very ends."""
ROUNDING = 0.1
"""What the radius is rounded up to [m]."""
MOST_POSES = 10_000


class MapKind(StrEnum):
    """What a map says.

    A capability map says of places around the base what the tool can do there; an
    inverse reachability map says of places around the tool how well a base stands
    there: over voxels (irm3) or over height, tilt and place (irm4).
    """

    CAPABILITY = "capability"
    IRM3 = "irm3"
    IRM4 = "irm4"


DENSITIES = {MapKind.CAPABILITY: (0.03, 50), MapKind.IRM3: (0.03, 50), MapKind.IRM4: (0.05, 8)}
"""Voxel size as a part of the radius, and poses per voxel, where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class MapRecipe:
    """Everything that the values of a map depend on, beside the release that made it.

    Attributes:
        kind: What it says.
        robot: The robot, by catalogue name or file.
        robot_sha256: Hash of all that was read to make the robot.
        base_link: The link that stands.
        tool: The link that is placed.
        voxel: Edge length of a voxel [m].
        radius: How far the map reaches from its middle along each axis [m].
        poses: Poses per voxel.
        seed: Seed of their turns.
        self_collision: Whether configurations in collision count as out of reach.
        effort: How many positions of the redundant joint, or starts, are tried per pose.
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
    """What a map may be asked for; see `build_map`."""

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
    """Check what is asked for and fill in what is left open; see `build_map`.

    Raises:
        UnknownNameError: If there is no such kind or link.
        KinetariumError: If there is no chain to the tool, or a number makes no sense.
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
        raise KinetariumError(f"a pose is tried at least once, not {effort} times")
    if type(seed) is not int or seed < 0:
        raise KinetariumError(f"a seed must be a whole number from zero on, not {seed!r}")
    if radius is None:
        radius = workspace_radius(chain)
    elif not 0.0 < radius < 1e3:
        raise KinetariumError(f"a map cannot have a radius of {radius:g} m")
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
    """Return how far from the base's axis the tool gets, rounded up [m]: 1 for the Panda."""
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
"""The grade of a cell whose every pose can be reached."""


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
    """Return the cells of a recipe: as high over the base as wide, and half more."""
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
