"""Scene3D: coloured bodies on a ground, and the camera that looks at them."""

from dataclasses import dataclass
from functools import cached_property
from math import cos, floor, log10, radians, sin, tan

import numpy as np

from kinetarium.model.shapes import TriangleMesh
from kinetarium.spatial.arrays import Array, frozen

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity in 0..1."""

_FILLED = 0.88
"""How much of the picture's width or height the bodies fill; the rest is margin."""


@dataclass(frozen=True, eq=False)
class Body:
    """Triangles of one colour.

    Attributes:
        name: What a pointer over it shows.
        mesh: The triangles in the body frame [m]; at least one.
        color: Their colour.
        X_WB: Pose of the body, shape (4, 4).
    """

    name: str
    mesh: TriangleMesh
    color: Color
    X_WB: Array

    @cached_property
    def world_points(self) -> Array:
        """The corner points in the world frame [m], shape (n, 3)."""
        return frozen(self.mesh.vertices @ self.X_WB[:3, :3].T + self.X_WB[:3, 3])


@dataclass(frozen=True, eq=False)
class Camera:
    """A perspective camera with z up.

    Attributes:
        eye: Where it stands in the world frame [m], shape (3,).
        target: What it looks at in the world frame [m], shape (3,).
        view_angle: Full vertical angle of view [rad].
    """

    eye: Array
    target: Array
    view_angle: float = radians(45.0)

    @cached_property
    def rotation(self) -> Array:
        """R_WC: the picture's right, its up and the way to the eye in the world, shape (3, 3)."""
        back = (self.eye - self.target) / np.linalg.norm(self.eye - self.target)
        right = np.cross([0.0, 0.0, 1.0], back)
        right /= np.linalg.norm(right)
        return frozen(np.column_stack([right, np.cross(back, right), back]))


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A grid of lines in a horizontal plane.

    Attributes:
        spacing: Distance of the lines [m].
        lines: Both ends of every line in the world frame [m], shape (n, 2, 3).
    """

    spacing: float
    lines: Array


@dataclass(frozen=True, eq=False)
class Scene3D:
    """Bodies in the world.

    Attributes:
        title: What it shows.
        bodies: The bodies; at least one.
    """

    title: str
    bodies: tuple[Body, ...]

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner of all bodies in the world frame [m], each of shape (3,)."""
        low = np.min([body.world_points.min(axis=0) for body in self.bodies], axis=0)
        high = np.max([body.world_points.max(axis=0) for body in self.bodies], axis=0)
        return frozen(low), frozen(high)

    @cached_property
    def ground(self) -> Ground:
        """The grid under the bodies: 1, 2 or 5 times a power of ten wide, on such multiples."""
        low, high = self.bounds
        spacing = _round_length(float(np.max(high - low)) / 6)
        first = (np.floor(low[:2] / spacing) - 1) * spacing
        counts = np.ceil(high[:2] / spacing) + 1 - first / spacing
        lines = []
        for along, across in ((0, 1), (1, 0)):
            for step in range(round(counts[across]) + 1):
                ends = np.full((2, 3), low[2])
                ends[:, across] = first[across] + step * spacing
                ends[:, along] = first[along], first[along] + counts[along] * spacing
                lines.append(ends)
        return Ground(spacing, frozen(lines))

    def camera(self, *, aspect: float, azimuth: float = 38.0, elevation: float = 18.0) -> Camera:
        """Place a camera that sees all bodies, as near as it can stand.

        Args:
            aspect: Width over height of the picture.
            azimuth: Direction of the camera about z, from x [deg].
            elevation: Height of the camera above the horizon [deg].
        """
        a, e = radians(azimuth), radians(elevation)
        direction = np.array([cos(e) * cos(a), cos(e) * sin(a), sin(e)])
        points = np.concatenate([body.world_points for body in self.bodies])
        target = (self.bounds[0] + self.bounds[1]) / 2
        camera = Camera(target + direction, target)
        slope = _FILLED * tan(camera.view_angle / 2)
        for _ in range(4):  # what lies in the middle depends on the distance, and the reverse
            x, y, z = ((points - target) @ camera.rotation).T
            distance = float(np.max(z + np.maximum(np.abs(x) / aspect, np.abs(y)) / slope))
            seen = np.stack([x, y]) / (distance - z)
            middle = (seen.min(axis=1) + seen.max(axis=1)) / 2 * distance
            target = target + camera.rotation[:, :2] @ middle
        return Camera(frozen(target + distance * direction), frozen(target))


def _round_length(length: float) -> float:
    """Give the nearest of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** floor(log10(length))
    return min((1.0, 2.0, 5.0, 10.0), key=lambda digit: abs(digit * power - length)) * power
