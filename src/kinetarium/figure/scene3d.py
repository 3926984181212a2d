"""Scene3D: coloured bodies standing on a ground, and the camera that looks at them."""

from dataclasses import dataclass
from functools import cached_property
from math import cos, radians, sin, tan

import numpy as np

from kinetarium.model.shapes import TriangleMesh
from kinetarium.spatial.arrays import Array, frozen

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity in 0..1."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """Triangles of one colour.

    Attributes:
        name: What a pointer over it shows.
        mesh: The triangles, in the world frame [m].
        color: Their colour.
    """

    name: str
    mesh: TriangleMesh
    color: Color


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A perspective camera with z up.

    Attributes:
        eye: Where it stands in the world frame [m], shape (3,).
        target: What it looks at in the world frame [m], shape (3,).
        view_angle: Full vertical angle of view [rad].
    """

    eye: Array
    target: Array
    view_angle: float

    @property
    def R_WC(self) -> Array:
        """Axes of the picture (right, up, towards the eye) in the world frame, shape (3, 3)."""
        back = self.eye - self.target
        back = back / np.linalg.norm(back)
        right = np.cross([0.0, 0.0, 1.0], back)
        right = right / np.linalg.norm(right)
        return np.column_stack([right, np.cross(back, right), back])


@dataclass(frozen=True, eq=False)
class Scene3D:
    """Bodies in the world frame.

    Attributes:
        title: What it shows.
        bodies: The bodies; at least one, with at least one triangle.
    """

    title: str
    bodies: tuple[Body, ...]

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner of everything in the world frame [m], each of shape (3,)."""
        low = np.min([body.mesh.vertices.min(axis=0) for body in self.bodies], axis=0)
        high = np.max([body.mesh.vertices.max(axis=0) for body in self.bodies], axis=0)
        return frozen(low), frozen(high)

    def camera(self, *, aspect: float, azimuth: float = 40.0, elevation: float = 20.0) -> Camera:
        """Place a camera that sees everything, as near as it can be.

        Args:
            aspect: Width over height of the picture.
            azimuth: Direction of the camera about z, from x [deg].
            elevation: Height of the camera above the horizon [deg].
        """
        a, e = radians(azimuth), radians(elevation)
        toward_eye = np.array([cos(e) * cos(a), cos(e) * sin(a), sin(e)])
        target = (self.bounds[0] + self.bounds[1]) / 2
        view_angle = radians(45.0)
        R_WC = Camera(target + toward_eye, target, view_angle).R_WC
        points = np.concatenate([body.mesh.vertices for body in self.bodies]) - target
        x, y, z = (points @ R_WC).T
        slope = tan(view_angle / 2) * 0.94  # a margin of 6 % around the bodies
        distance = float(np.max(z + np.maximum(np.abs(x) / aspect, np.abs(y)) / slope))
        return Camera(frozen(target + distance * toward_eye), frozen(target), view_angle)
