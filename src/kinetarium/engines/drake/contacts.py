"""Drake's contact results as contacts between solids."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetarium.engines.protocol import Contacts
from kinetarium.spatial.arrays import Array

_Row = tuple[tuple[int, int], Array, Array, float, Array]


def no_contacts() -> Contacts:
    """Give the contacts of what has not been stepped."""
    return _gathered([])


def read_contacts(results: Any, solids: Mapping[Any, int], *, query: Any) -> Contacts:
    """Give Drake's contacts, with normal and friction forces.

    Args:
        results: What Drake found.
        solids: The solid of each geometry.
        query: The scene graph's answers at the same state.
    """
    points = range(results.num_point_pair_contacts())
    surfaces = range(results.num_hydroelastic_contacts())
    rows = [_at_point(results.point_pair_contact_info(i), solids) for i in points]
    if surfaces:
        # Drake's surfaces do not say how deep they lie.
        pairs = query.ComputePointPairPenetration()
        depths = {frozenset((pair.id_A, pair.id_B)): pair.depth for pair in pairs}
        rows += [
            _over_surface(results.hydroelastic_contact_info(i), solids, depths) for i in surfaces
        ]
    return _gathered(rows)


def _at_point(info: Any, solids: Mapping[Any, int]) -> _Row:
    pair = info.point_pair()
    return (
        (solids[pair.id_A], solids[pair.id_B]),
        info.contact_point(),
        pair.nhat_BA_W,
        pair.depth,
        -info.contact_force(),
    )


def _over_surface(
    info: Any, solids: Mapping[Any, int], depths: Mapping[frozenset[Any], float]
) -> _Row:
    """Give a surface as one contact at its centre of pressure, where no moment tips it."""
    surface, F = info.contact_surface(), info.F_Ac_W()
    faces = range(surface.num_faces())
    areas = np.array([surface.area(i) for i in faces])
    normal = areas @ np.array([surface.face_normal(i) for i in faces])
    normal /= np.linalg.norm(normal)
    force, moment = F.translational(), F.rotational()
    push = float(normal @ force)
    point = surface.centroid()
    if push > 0:
        point = point + np.cross(normal, moment) / push
    ids = surface.id_M(), surface.id_N()
    depth = depths.get(frozenset(ids), 0.0)
    return (solids[ids[0]], solids[ids[1]]), point, normal, depth, force


def _gathered(rows: list[_Row]) -> Contacts:
    pairs, points, normals, depths, forces = zip(*rows, strict=True) if rows else ((),) * 5
    return Contacts(
        solids=np.array(pairs, dtype=np.int32).reshape(-1, 2),
        points=np.array(points, dtype=np.float64).reshape(-1, 3),
        normals=np.array(normals, dtype=np.float64).reshape(-1, 3),
        depths=np.array(depths, dtype=np.float64),
        forces=np.array(forces, dtype=np.float64).reshape(-1, 3),
    )
