"""Walks of machines with legs as replays: bodies that move in time, with path and ground."""

from collections.abc import Iterator
from itertools import pairwise
from math import radians, sqrt, tan

import numpy as np

from kinetarium.figure.replay import DisplayMesh, Guide, Replay, Solid
from kinetarium.figure.scene3d import Color, Mesh3D
from kinetarium.legs import LEG_NAMES, LinkShape, Machine, Terrain
from kinetarium.legs.mechanism.machine import BODY_COLOR, LEG_COLORS, LINK_NAMES, link_mesh
from kinetarium.model.robot import TriangleMesh
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import continuous, pose, rotation_from_quaternion

_GROUND_COLOR: Color = (0.72, 0.70, 0.66, 1.0)
_AROUND = 80.0
"""How far beside the path the ground is shown [unit]."""
_ABOVE = 0.1
"""Height of the drawn path above the ground, so that it is visible [unit]."""
_BESIDE = 1e-9
"""How far beside an edge the height of the ground is taken, relative to the stretch there."""


def walk_replay(
    machine: Machine,
    terrain: Terrain,
    *,
    time: Array,
    body: Array,
    links: Array,
    path: Array | None,
    unit_m: float,
    group: str = "robot",
) -> Replay:
    """Return a walk as bodies in time: the body, the links "leg1/thigh" ..., the ground.

    Args:
        time: Times [s], shape (n,).
        body: Poses of the body [m], shape (n, 7).
        links: Poses of the links [m], shape (n, 4, 9, 7).
        path: Points of the body's path [unit], shape (m, 2); None if it is not known.
        unit_m: The machine's unit of length [m].
        group: Name of the robot.
    """
    solids = []
    for leg, link, shape, color in _parts(machine):
        name = "body" if leg is None else f"leg{leg + 1}/{LINK_NAMES[link]}"
        poses = continuous(body if leg is None else links[:, leg, link])
        mesh = DisplayMesh(link_mesh(shape, unit_m=unit_m), color)
        solids.append(Solid(name, group, (mesh,), poses))
    guides: tuple[Guide, ...] = ()
    if path is not None:
        laid = _laid_on(terrain, path) + np.array([0.0, 0.0, _ABOVE])
        guides = (Guide("path", laid * unit_m),)
    near = body[:, :2] / unit_m if path is None else path
    solids += _ground(terrain, near, unit_m=unit_m)
    return Replay(time, tuple(solids), guides=guides, trails=("body",))


def _laid_on(terrain: Terrain, path: Array) -> Array:
    """Return a path on the ground with a corner at every bend of it [unit], shape (m, 3).

    Args:
        terrain: The ground.
        path: Corners of the path [unit], shape (n, 2).
    """
    rise = tan(radians(terrain.slope_deg))
    along = [terrain.slope_from, *(x for step in terrain.steps for x in (step.x0, step.x1))]
    # Where the slope comes out of the top of a step.
    along += [terrain.slope_from + step.height / rise for step in terrain.steps if rise]
    across = [y for step in terrain.steps for y in (step.y0, step.y1)]
    diagonal: list[float] = []
    if terrain.map is not None:
        n, m = terrain.map.grid.shape
        along += (terrain.map.x0 + terrain.map.cell * np.arange(n)).tolist()
        across += (terrain.map.y0 + terrain.map.cell * np.arange(m)).tolist()
        first = terrain.map.x0 + terrain.map.y0
        diagonal += (first + terrain.map.cell * np.arange(1, n + m)).tolist()
    edges = [(np.array(along), (1, 0)), (np.array(across), (0, 1)), (np.array(diagonal), (1, 1))]
    points = []
    for start, end in pairwise(path):
        with np.errstate(divide="ignore", invalid="ignore"):
            crossed = np.concatenate(
                [(at - start @ normal) / ((end - start) @ normal) for at, normal in edges]
            )
        parts = np.sort([0.0, *crossed[(crossed > 0) & (crossed < 1)], 1.0])
        # At an edge the ground has two heights: before it and behind it.
        inner = _BESIDE * np.diff(parts)
        parts = np.column_stack([parts[:-1] + inner, parts[1:] - inner]).ravel()
        points.append(start + parts[:, np.newaxis] * (end - start))
    flat = np.concatenate(points) if points else path
    return np.column_stack([flat, terrain.height(*flat.T)])


def machine_meshes(
    machine: Machine,
    links: Array,
    body: Array,
    *,
    unit_m: float,
    label: str = "",
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> list[Mesh3D]:
    """Return the meshes of a machine.

    Args:
        links: Poses of the links [m], shape (4, 9, 7).
        body: Pose of the body [m], shape (7,).
        unit_m: The machine's unit of length [m].
        label: Prefix of the names.
        shift: Translation of the whole machine [m].
    """
    meshes = []
    for leg, link, shape, color in _parts(machine):
        row = body if leg is None else links[leg, link]
        X_WL = frozen(pose(row[:3] + np.array(shift), rotation_from_quaternion(row[3:])))
        name = "body" if leg is None else f"leg {leg + 1} ({LEG_NAMES[leg]}): {shape.name}"
        meshes.append(Mesh3D(f"{label}{name}", link_mesh(shape, unit_m=unit_m), color, X_WL))
    return meshes


def _parts(machine: Machine) -> Iterator[tuple[int | None, int, LinkShape, Color]]:
    """Yield leg, link, shape and colour of every part; the body, of no leg, first."""
    *legs, (trunk,) = machine.link_shapes
    yield None, 0, trunk, BODY_COLOR
    for leg, shapes in enumerate(legs):
        for link, shape in enumerate(shapes):
            yield leg, link, shape, LEG_COLORS[leg]


def _ground(terrain: Terrain, path: Array, *, unit_m: float) -> list[Solid]:
    """Return the slope and the steps near a path [unit]."""
    x0, y0 = (path.min(axis=0) - _AROUND).tolist()
    x1, y1 = (path.max(axis=0) + _AROUND).tolist()

    def solid(shape: LinkShape, X_WS: tuple[float, ...]) -> Solid:
        place = np.array([X_WS]) * ([unit_m] * 3 + [1.0] * 4)
        mesh = DisplayMesh(link_mesh(shape, unit_m=unit_m), _GROUND_COLOR)
        return Solid(shape.name, "", (mesh,), place)

    solids = []
    start, end = max(terrain.slope_from, x0), x1
    if terrain.slope_deg < 0:
        start, end = x0, min(terrain.slope_from, x1)
    if terrain.slope_deg and start < end:
        # A wedge on its side: its section is in the plane of x and z.
        length = end - start
        rise = tan(radians(terrain.slope_deg))
        low, high = (start - terrain.slope_from) * rise, (end - terrain.slope_from) * rise
        section = ((0.0, 0.0), (length, 0.0), (length, high), (0.0, low))
        # Rotated by 90 deg about x: y points up, and z points along -y.
        turn = (sqrt(0.5), sqrt(0.5), 0.0, 0.0)
        solids.append(solid(LinkShape("slope", section, y1 - y0, 0.0), (start, y1, 0.0, *turn)))
    for number, step in enumerate(terrain.steps, 1):
        xs = max(step.x0, x0), min(step.x1, x1)
        ys = max(step.y0, y0), min(step.y1, y1)
        if xs[0] < xs[1] and ys[0] < ys[1]:
            corners = ((xs[0], ys[0]), (xs[1], ys[0]), (xs[1], ys[1]), (xs[0], ys[1]))
            block = LinkShape(f"step{number}", corners, step.height, 0.0)
            solids.append(solid(block, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
    if terrain.map is not None:
        points = terrain.map.triangles().reshape(-1, 3) * unit_m
        faces = np.arange(len(points), dtype=np.int32).reshape(-1, 3)
        if len(faces):
            surface = TriangleMesh(frozen(points), faces)
            still = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
            solids.append(Solid("heights", "", (DisplayMesh(surface, _GROUND_COLOR),), still))
    return solids
