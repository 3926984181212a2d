"""Replay: a run as bodies that move in time, for display."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kinetarium.figure.scene3d import Color
from kinetarium.model.robot import TriangleMesh
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import continuous, quaternion_from_rotation


@dataclass(frozen=True, slots=True, eq=False)
class DisplayMesh:
    """Triangles of one colour on a solid.

    Attributes:
        mesh: The triangles in the solid's frame [m].
        color: Their colour.
    """

    mesh: TriangleMesh
    color: Color


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A rigid body of a replay.

    Attributes:
        name: Its name, unique in the replay.
        group: What it belongs to: a robot's name, or empty.
        meshes: Its display meshes; none for an invisible frame, such as one with a trail.
        poses: Its pose [x y z, wxyz] at every time [m], shape (n, 7), or at all of them,
            shape (1, 7).
    """

    name: str
    group: str
    meshes: tuple[DisplayMesh, ...]
    poses: Array


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """A vector drawn at a point, such as a contact force.

    Attributes:
        name: What it is.
        unit: Unit of its length.
        points: Where it starts in the world frame [m], shape (n, 3); not drawn where not finite.
        vectors: The vector in the world frame, shape (n, 3).
    """

    name: str
    unit: str
    points: Array
    vectors: Array


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """A static line, such as the reference path.

    Attributes:
        name: What it is.
        points: Its vertices in the world frame [m], shape (n, 3).
    """

    name: str
    points: Array


class EventKind(StrEnum):
    """What a named time is."""

    PHASE = "phase"
    """The start of a phase, which lasts until the next."""
    CONTACT = "contact"
    SLIP = "slip"
    WARNING = "warning"
    DIVERGENCE = "divergence"


@dataclass(frozen=True, slots=True)
class Marker:
    """A named time, such as the start of a phase.

    Attributes:
        name: What begins or happens then.
        time: When [s].
        kind: What it is.
    """

    name: str
    time: float
    kind: EventKind = EventKind.PHASE


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """Bodies in time.

    Attributes:
        time: The times [s], shape (n,), rising; at least one.
        solids: The bodies.
        arrows: Vectors that change with time.
        guides: Static lines.
        trails: Names of the solids whose path is drawn.
        scene: The scene that was simulated, for exports that need more than its display; None
            if there is none.
        markers: Named times, rising.
    """

    time: Array
    solids: tuple[Solid, ...]
    arrows: tuple[Arrow, ...] = ()
    guides: tuple[Guide, ...] = ()
    trails: tuple[str, ...] = ()
    scene: Scene | None = None
    markers: tuple[Marker, ...] = ()


def pose_rows(X: Array) -> Array:
    """Convert poses, shape (n, 4, 4), to continuous rows [x y z, wxyz], shape (n, 7)."""
    rows = np.concatenate([X[:, :3, 3], quaternion_from_rotation(X[:, :3, :3])], axis=1)
    return continuous(rows)


def thinned(replay: Replay, *, most: int) -> Replay:
    """Drop samples at even steps to keep at most some number.

    Args:
        most: Maximum number of samples.
    """
    step = -(-len(replay.time) // most)
    if step <= 1:
        return replay

    def keep(values: Array) -> Array:
        return values[::step] if len(values) > 1 else values

    return Replay(
        replay.time[::step],
        tuple(Solid(s.name, s.group, s.meshes, keep(s.poses)) for s in replay.solids),
        tuple(Arrow(a.name, a.unit, keep(a.points), keep(a.vectors)) for a in replay.arrows),
        replay.guides,
        replay.trails,
        replay.scene,
        replay.markers,
    )
