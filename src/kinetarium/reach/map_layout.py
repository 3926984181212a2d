"""What the fields of each kind of map are: their types and shapes."""

from typing import NamedTuple

import numpy as np

from kinetarium.reach.grid import voxel_grid
from kinetarium.reach.recipe import MapKind, MapRecipe

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
    """Give the cells of a recipe: as high over the base as wide, and half more."""
    grid = voxel_grid(recipe.voxel, radius=recipe.radius)
    layers = grid.count + grid.count // 4
    return GradedGrid(layers, TILTS, grid.count, grid.size, grid.lower, grid.lower)


def value_type(kind: MapKind) -> np.dtype[np.void]:
    """Give the fields of a kind of map as columns of one type."""
    if kind is MapKind.IRM4:
        return np.dtype([("reach", "|u1"), ("manipulability", "<f4")])
    return np.dtype([("manipulability", "<f4"), ("reachable", "<u2")])


def field_shape(recipe: MapRecipe) -> tuple[int, ...]:
    """Give the shape of a map's fields."""
    if recipe.kind is MapKind.IRM4:
        grid = graded_grid(recipe)
        return grid.layers, grid.tilts, grid.side, grid.side
    return voxel_grid(recipe.voxel, radius=recipe.radius).shape
