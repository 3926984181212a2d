"""Scenes of a base and its arm: frames as three axes, obstacles, tiles of a plane, links."""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import SerialChain
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.charts import Axis, Heatmap, Spot
from kinetarium.figure.page import SEQUENTIAL, Section
from kinetarium.figure.replay import DisplayMesh, Solid, pose_rows
from kinetarium.figure.robot_page import robot_scene
from kinetarium.figure.scene3d import Color, Mesh3D, Scene3D, decimate
from kinetarium.figure.scene_replay import link_meshes
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.mesh.triangles import read_only_mesh
from kinetarium.model.robot import Box, Geometry
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose


class Stage(NamedTuple):
    """An arm and its surroundings.

    Attributes:
        arm: The arm.
        plane: The ground plane.
        obstacles: The obstacles, in the plane's frame.
        radius: Reach of the arm [m].
    """

    arm: SerialChain
    plane: BasePlane
    obstacles: tuple[Geometry, ...]
    radius: float


TONES: tuple[Color, ...] = tuple(
    (int(tone[1:3], 16) / 255, int(tone[3:5], 16) / 255, int(tone[5:7], 16) / 255, 1.0)
    for tone in SEQUENTIAL
)
"""From low to high."""

QUAD = np.array([[0, 1, 2], [0, 2, 3]])


def colored_quads(quads: Array, values: Array, *, unit: str) -> tuple[Mesh3D, ...]:
    """Colour squares by their values; all squares of a colour are one mesh.

    Args:
        quads: Corners of each square in the world, in order [m], shape (n, 4, 3).
        values: Positive value of each square, shape (n,).
        unit: Unit of the values, for the names.
    """
    top = float(values.max())
    tone = np.minimum((values / top * len(TONES)).astype(np.int64), len(TONES) - 1)
    bodies = []
    for number, color in enumerate(TONES):
        chosen = quads[tone == number]
        if not len(chosen):
            continue
        faces: NDArray[np.int64] = (4 * np.arange(len(chosen))[:, None, None] + QUAD).reshape(-1, 3)
        low, high = number * top / len(TONES), (number + 1) * top / len(TONES)
        name = f"{low:.3g} to {high:.3g} {unit}"
        mesh = read_only_mesh(chosen.reshape(-1, 3), faces)
        bodies.append(Mesh3D(name, mesh, color, frozen(np.eye(4))))
    return tuple(bodies)


_AXES: tuple[Color, ...] = ((0.84, 0.2, 0.2, 1.0), (0.15, 0.6, 0.25, 1.0), (0.15, 0.35, 0.85, 1.0))
_THICKNESS = 0.08
"""Width of an axis as a fraction of its length."""
_POSE = 0.08
"""Length of the axes of a pose as a fraction of the arm's reach."""
_SOLID: Color = (0.45, 0.48, 0.52, 0.6)


def frame_marker(name: str, X_WF: Array, *, length: float) -> tuple[Mesh3D, ...]:
    """Draw a frame: x red, y green, z blue.

    Args:
        name: Its name in tooltips.
        X_WF: The frame, shape (4, 4).
        length: Length of its axes [m].
    """
    bodies = []
    for axis, color in enumerate(_AXES):
        size = np.full(3, _THICKNESS * length)
        size[axis] = length
        middle = np.zeros(3)
        middle[axis] = length / 2
        x, y, z = size.tolist()
        mesh = triangulate(Box((x, y, z)))
        bodies.append(Mesh3D(f"{name}, {'xyz'[axis]}", mesh, color, frozen(X_WF @ pose(middle))))
    return tuple(bodies)


def plane_tiles(x: Array, y: Array, *, values: Array, X_WP: Array) -> tuple[Mesh3D, ...]:
    """Draw the points of a plane as tiles, coloured by value; none where it is zero.

    Args:
        x: Coordinates x in the plane's frame, evenly spaced [m], shape (n,).
        y: Coordinates y [m], shape (m,).
        values: The values, shape (n, m).
        X_WP: The plane's frame, shape (4, 4).
    """
    some = np.argwhere(values > 0)
    half = np.array([x[1] - x[0], y[1] - y[0]]) / 2
    middles = np.stack([x[some[:, 0]], y[some[:, 1]]], axis=-1)
    corners = middles[:, None] + half * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    flat = np.concatenate([corners, np.zeros((*corners.shape[:2], 1))], axis=-1)
    quads = flat @ X_WP[:3, :3].T + X_WP[:3, 3]
    return colored_quads(quads, np.asarray(values[tuple(some.T)], dtype=np.float64), unit="")


MOST = 48
"""Maximum number of voxels along an axis; finer ones are averaged."""

# Corners of the face of a voxel towards each side, counter-clockwise as seen from outside.
_SIDES = {
    (1, 0, 0): ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
    (-1, 0, 0): ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)),
    (0, 1, 0): ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)),
    (0, -1, 0): ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)),
    (0, 0, 1): ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
    (0, 0, -1): ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)),
}


def cut_volume(title: str, values: Array, *, size: float, lower: Array, unit: str) -> Scene3D:
    """Draw the visible faces of a volume, with the quarter towards the camera cut away.

    Args:
        values: A value for each voxel, zero where it is empty, shape (x, y, z).
        size: Edge length of a voxel [m].
        lower: Lower corner of the volume [m], shape (3,).
        unit: Unit of the values.
    """
    step = -(-max(values.shape) // MOST)
    coarse, size = _joined(values, step), size * step
    middle = [round(-low / size) for low in lower[:2]]
    # The camera stands at positive x and y.
    coarse[middle[0] :, middle[1] :] = 0.0
    padded = np.pad(coarse, 1)
    quads, shown = [], []
    for side, corners in _SIDES.items():
        beyond = np.roll(padded, [-s for s in side], axis=(0, 1, 2))[1:-1, 1:-1, 1:-1]
        seen = np.argwhere((coarse > 0) & (beyond <= 0))
        quads.append(seen[:, None, :] + np.array(corners))
        shown.append(coarse[tuple(seen.T)])
    points = np.concatenate(quads) * size + lower
    return Scene3D(title, colored_quads(points, np.concatenate(shown), unit=unit))


def _joined(values: Array, step: int) -> Array:
    """Return the mean of each block of voxels, without empty ones."""
    if step == 1:
        return np.array(values, dtype=np.float64)
    pad = [(0, -length % step) for length in values.shape]
    whole = np.pad(np.asarray(values, dtype=np.float64), pad)
    x, y, z = (length // step for length in whole.shape)
    blocks = whole.reshape(x, step, y, step, z, step)
    filled = (blocks > 0).sum(axis=(1, 3, 5))
    mean: Array = blocks.sum(axis=(1, 3, 5)) / np.maximum(filled, 1)
    # A block that is mostly empty would make the volume thicker than it is.
    return np.where(2 * filled >= step**3, mean, 0.0)


def raster_chart(
    title: str,
    values: NDArray[np.floating[Any]],
    *,
    axes: tuple[tuple[str, Array], tuple[str, Array]],
    value: Axis,
    marks: tuple[Spot, ...] = (),
    caption: str = "",
) -> Heatmap:
    """Draw values over a plane; where they are zero the chart stays empty.

    Args:
        values: The values, shape (rows, columns).
        axes: Names and coordinates of columns and rows [m].
        value: Name and unit of the values.
    """
    (x, columns), (y, rows) = axes
    return Heatmap(
        title,
        Axis(x, "m"),
        Axis(y, "m"),
        tuple(columns.tolist()),
        tuple(rows.tolist()),
        np.where(values > 0, values, np.nan).astype(np.float64),
        value,
        marks=marks,
        equal=True,
        caption=caption,
    )


def scene_sections(figures: tuple[Heatmap | Scene3D, ...]) -> tuple[Section, ...]:
    """Divide figures into sections: every scene begins one, which has its title."""
    starts = [n for n, figure in enumerate(figures) if n == 0 or isinstance(figure, Scene3D)]
    return tuple(
        Section(figures[a].title[:1].upper() + figures[a].title[1:], figures[a:b])
        for a, b in pairwise([*starts, len(figures)])
    )


MOST_FACES = 60_000
"""Maximum number of triangles of a scene; more would make a page slow."""
FEW = 3
"""Up to this number all arms are opaque; of more, only the first is."""
CLEAR = 0.25
"""Opacity of the other arms."""
MOST_ARMS = 20
"""Maximum number of arms that are drawn; the frames of all poses are drawn."""


def arm_scene(title: str, stage: Stage, *, bases: Array, joints: Array, poses: Array) -> Scene3D:
    """Draw configurations of the arm, each on its base, the poses to reach, and the obstacles.

    Args:
        bases: Poses X_WB of the base link for each configuration, shape (n, 4, 4).
        joints: Positions of the chain's joints [rad or m], shape (n, joints).
        poses: Poses X_WT of the tool, reached or not, shape (m, 4, 4).
    """
    some = np.unique(np.linspace(0, len(joints) - 1, min(len(joints), MOST_ARMS)).astype(int))
    X_WL = _link_poses(stage.arm, bases[some], joints[some])
    links = {link.name: number for number, link in enumerate(stage.arm.model.links)}
    arm = robot_scene(stage.arm.model, stage.arm.held)
    bodies: dict[tuple[int, bytes], tuple[Mesh3D, Array]] = {}
    opaque = 0
    for n in range(len(some)):
        for number, body in enumerate(arm.bodies if arm else ()):
            # A link that stands in the same place in all configurations is drawn once.
            X = X_WL[links[body.name], n]
            bodies.setdefault((number, np.round(X, 9).tobytes()), (body, X))
        if not opaque or len(some) <= FEW:
            opaque = len(bodies)
    faces = sum(len(body.mesh.faces) for body, _ in bodies.values())
    share = min(1.0, MOST_FACES / max(faces, 1))
    meshes = [
        decimate(body.mesh, most_faces=max(int(share * len(body.mesh.faces)), 12))
        for body in (arm.bodies if arm else ())
    ]
    drawn = (
        Mesh3D(
            body.name,
            meshes[number],
            (*body.color[:3], body.color[3] if place < opaque else CLEAR),
            frozen(X),
        )
        for place, ((number, _), (body, X)) in enumerate(bodies.items())
    )
    around = surroundings(stage, poses)
    return Scene3D(title, tuple(b for b in (*drawn, *around) if len(b.mesh.faces)))


def surroundings(stage: Stage, poses: Array) -> tuple[Mesh3D, ...]:
    """Draw the frames of poses of the tool, and the obstacles.

    Args:
        poses: Poses X_WT, shape (n, 4, 4).
    """
    frames = (
        frame_marker(f"pose {number}", X_WT, length=_POSE * stage.radius)
        for number, X_WT in enumerate(poses)
    )
    X_WP = stage.plane.frame
    obstacles = (
        Mesh3D(f"obstacle {number}", triangulate(part.shape), _SOLID, frozen(X_WP @ part.X_LG))
        for number, part in enumerate(stage.obstacles)
    )
    return (*chain.from_iterable(frames), *obstacles)


def moving_links(arm: SerialChain, *, bases: Array, joints: Array) -> tuple[Solid, ...]:
    """Return the moving links of an arm, by name.

    Args:
        bases: Poses X_WB of the base link at each time, shape (n, 4, 4).
        joints: Positions of the chain's joints [rad or m], shape (n, joints).
    """
    X_WL = _link_poses(arm, bases, joints)
    return tuple(
        Solid(link, arm.model.name, meshes, pose_rows(X))
        for X, (link, meshes) in zip(X_WL, link_meshes(arm.model).items(), strict=True)
    )


def still_solids(bodies: Sequence[Mesh3D]) -> tuple[Solid, ...]:
    """Return bodies that do not move, by name."""
    return tuple(
        Solid(body.name, "", (DisplayMesh(body.mesh, body.color),), pose_rows(body.X_WB[None]))
        for body in bodies
    )


def _link_poses(arm: SerialChain, bases: Array, joints: Array) -> Array:
    """Return the poses of all links, shape (links, n, 4, 4)."""
    X_RL = link_poses(arm.model, arm.whole(joints))
    base = [link.name for link in arm.model.links].index(arm.base_link)
    X_WL: Array = (bases @ inverse_pose(X_RL[:, base]))[:, None] @ X_RL
    return np.moveaxis(X_WL, 1, 0)
