"""DART's contacts as contacts between solids."""

from typing import Any

import numpy as np

from kinetarium.engines.dart.surfaces import Surfaces
from kinetarium.engines.protocol import Contacts
from kinetarium.spatial.arrays import frozen

NO_CONTACTS = Contacts(
    np.zeros((0, 2), dtype=np.int32),
    frozen(np.zeros((0, 3))),
    frozen(np.zeros((0, 3))),
    frozen(np.zeros(0)),
    frozen(np.zeros((0, 3))),
)


def read_contacts(world: Any, surfaces: Surfaces) -> Contacts:
    """Give the contacts of the last step, with normal and friction forces, read-only.

    Args:
        world: DART's world.
        surfaces: Its surfaces.
    """
    found = world.getLastCollisionResult().getContacts()
    if not found:
        return NO_CONTACTS
    solid = surfaces.solids
    touched = np.array(
        [
            (solid[c.collisionObject1.getShapeFrame()], solid[c.collisionObject2.getShapeFrame()])
            for c in found
        ],
        dtype=np.int32,
    )
    touched.setflags(write=False)
    return Contacts(
        solids=touched,
        points=frozen([c.point for c in found]),
        normals=frozen([c.normal for c in found]),
        depths=frozen([c.penetrationDepth for c in found]),
        forces=frozen([c.force for c in found]),
    )
