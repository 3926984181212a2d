"""The contacts of a PhysX scene."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from kinetarium.engines.physx.world import World
from kinetarium.engines.protocol import Contacts


def read_contacts(world: World, shapes: Mapping[Any, tuple[int, int]]) -> Contacts:
    """Read the contacts of the last step, each with the normal part of its force.

    PhysX tells of impulses along the normal alone, and also of points that do
    not touch yet; those without force are left out.

    Args:
        world: The world.
        shapes: Number and solid of every shape.
    """
    rows = []
    for contact in world.system.get_contacts():
        (first, a), (second, b) = (shapes[shape] for shape in contact.shapes)
        for point in contact.points:
            force = point.impulse / world.timestep
            if point.separation <= 0 or force.any():
                depth = -point.separation
                rows.append((first, second, a, b, *point.position, *point.normal, depth, *force))
    # SAPIEN sorts pairs by where they lie in memory.
    rows.sort(key=itemgetter(0, 1))
    return _contacts(rows)


def no_contacts() -> Contacts:
    """Give the contacts of a scene that has not been stepped."""
    return _contacts([])


def _contacts(rows: list[tuple[float, ...]]) -> Contacts:
    """Make contacts of rows: shapes, solids, point, normal, depth and force."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 14)
    return Contacts(
        solids=table[:, 2:4].astype(np.int32),
        points=table[:, 4:7],
        normals=table[:, 7:10],
        depths=table[:, 10],
        forces=table[:, 11:14],
    )
