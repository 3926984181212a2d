"""Bullet's contact points as contacts between solids."""

import numpy as np

from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.surfaces import Surfaces
from kinetarium.engines.protocol import Contacts
from kinetarium.spatial.arrays import frozen


def read_contacts(bullet: BulletClient, surfaces: Surfaces) -> Contacts:
    """Give the points that overlap or exert a force, with normal and friction forces, read-only.

    The solver may leave a little friction on a point that in the end it has
    relieved of its normal force; it acted, and is told.

    Args:
        bullet: The world.
        surfaces: Its surfaces.
    """
    points, solids = [], []
    for point in bullet.getContactPoints():
        _, body_a, body_b, link_a, link_b, _, _, _, distance, push, slide_1, _, slide_2, _ = point
        a, b = (body_a, link_a), (body_b, link_b)
        if distance > 0 and (a in surfaces.bouncing or b in surfaces.bouncing):
            continue  # not looked at in this step; its forces are old
        if distance <= 0 or push or slide_1 or slide_2:
            points.append(point)
            solids.append((surfaces.solids[a], surfaces.solids[b]))
    on_a, on_b, normals, along_1, along_2 = (
        np.array([point[i] for point in points]).reshape(-1, 3) for i in (5, 6, 7, 11, 13)
    )
    distances, pushes, slides_1, slides_2 = (
        np.array([point[i] for point in points]).reshape(-1, 1) for i in (8, 9, 10, 12)
    )
    touched = np.array(solids, dtype=np.int32).reshape(-1, 2)
    touched.setflags(write=False)
    return Contacts(
        solids=touched,
        points=frozen((on_a + on_b) / 2),
        normals=frozen(normals),
        depths=frozen(-distances[:, 0]),
        forces=frozen(pushes * normals + slides_1 * along_1 + slides_2 * along_2),
    )
