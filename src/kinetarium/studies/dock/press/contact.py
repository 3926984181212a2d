"""FaceContact and ElasticFaces: contact models of the docking faces, the same in every engine.

At each of the six vertices of the chaser's face a spring and a damper act against the
plane of the target's face; the force is never tensile:

    prescribed      f = max(0, k/6 d + c/6 d')
    hunt-crossley   f = max(0, k/6 d sqrt(d/d0) (1 + c/(k d0) d'))

Both have the same force at rest and the same damping at the depth d0 (Hunt, Crossley,
"Coefficient of restitution interpreted as damping in vibroimpact", 1975). Friction is
Coulomb's, regularised below a slip speed. The plane is infinite, so that a satellite that
drifts sideways keeps contact at all its vertices.

With `face` the faces are elastic foundations with edges (Johnson, "Contact Mechanics", 1985,
section 4.3): every cell of the chaser's face is a spring and a damper, as far as it lies over the
target's face, and a tangential spring that slips at the limit of Coulomb. Friction therefore bears
forces and moments at rest.
"""

from collections.abc import Iterable
from math import cos, pi

import numpy as np

from kinetarium.control.interface import ExternalWrench, Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.scene.docking import (
    CENTER,
    CHASER,
    CIRCUMRADIUS,
    FACE_VERTICES,
    SATELLITE,
    SATELLITE_LENGTH,
    TARGET,
    DockingScene,
)
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen

REFERENCE_DEPTH = 5e-3
"""Depth d0 at which both laws agree [m]: that of 500 N at 1e5 N/m."""
SLIP_SPEED = 5e-3
"""Slip speed above which friction is fully developed [m/s]."""


class FaceContact:
    """The contact force between the satellites at every physics step.

    Attributes:
        force: Sum of the normal forces at the present step [N].
        F_B: Wrench on the chaser, in its frame [N, N m], shape (6,).
        point: Centre of pressure in the world [m], shape (3,); NaN without contact.
    """

    def __init__(
        self,
        docking: DockingScene,
        *,
        stiffness: float,
        damping: float,
        friction: float = 0.0,
        hardening: bool = False,
        vertices: Array = FACE_VERTICES,
    ) -> None:
        """Set the parameters of the contact.

        Args:
            stiffness: k of the whole face [N/m].
            damping: c of the whole face [N s/m].
            friction: Coulomb friction coefficient [-].
            hardening: Whether to use the model of Hunt and Crossley.
            vertices: Contact points of the chaser, from its centre of mass [m], shape (n, 3).
        """
        self._chaser = RobotDynamics(docking.chaser.model)
        self._target = RobotDynamics(docking.target.model)
        self._X_WT = docking.target.X_WA
        self._vertices = vertices
        self._k, self._c = stiffness / len(vertices), damping / len(vertices)
        self._friction, self._hardening = friction, hardening
        self.force, self.point, self.F_B = 0.0, np.full(3, np.nan), np.zeros(6)

    def update(self, t: float, measurement: Measurement) -> Iterable[ExternalWrench]:
        """Return the wrenches on both satellites for the next step."""
        n = self._chaser.nq
        q, v = measurement.q, measurement.v
        X_WC = self._chaser.link_pose(q[:n], CENTER)
        X_WT = self._X_WT @ self._target.link_pose(q[n:], CENTER)
        normal = X_WT[:3, 0]
        vertices = X_WC[:3, 3] + self._vertices @ X_WC[:3, :3].T
        on_face = X_WT[:3, 3] + SATELLITE_LENGTH / 2 * normal
        depth = (on_face - vertices) @ normal
        self.force, self.point, self.F_B = 0.0, np.full(3, np.nan), np.zeros(6)
        if not (depth > 0).any():
            return ()
        slip = _velocities(self._chaser, vertices, X_WC, q=q[:n], v=v[:n])
        slip -= _velocities(self._target, vertices, X_WT, q=q[n:], v=v[n:], R=self._X_WT[:3, :3])
        forces = np.where(depth > 0, self._normal_forces(depth, -slip @ normal), 0.0)
        forces = self._covered(forces, vertices, X_WT)
        self.force = float(forces.sum())
        if self.force == 0.0:
            return ()
        self.point = forces @ vertices / self.force
        pushes = forces[:, np.newaxis] * normal
        if self._friction:
            slip -= (slip @ normal)[:, np.newaxis] * normal
            pushes -= self._drag(t, forces, slip, normal)
        F = np.concatenate([pushes.sum(axis=0), _moment(vertices - self.point, pushes)])
        about_center = _moment(vertices - X_WC[:3, 3], pushes)
        self.F_B = np.concatenate([F[:3] @ X_WC[:3, :3], about_center @ X_WC[:3, :3]])
        return (
            ExternalWrench(f"{CHASER}/{SATELLITE}", F, self.point),
            ExternalWrench(f"{TARGET}/{SATELLITE}", -F, self.point),
        )

    def _covered(self, forces: Array, points: Array, X_WT: Array) -> Array:
        """Return the normal forces at the points that lie over the target's face, shape (n,)."""
        return forces

    def _drag(self, t: float, forces: Array, slip: Array, normal: Array) -> Array:
        """Return the friction of the target, against the slip, shape (n, 3)."""
        speed = np.maximum(np.linalg.norm(slip, axis=1), SLIP_SPEED)
        return np.asarray((self._friction * forces / speed)[:, np.newaxis] * slip)

    def _normal_forces(self, depth: Array, rate: Array) -> Array:
        if self._hardening:
            inward = np.maximum(depth, 0.0)
            spring = self._k * inward * np.sqrt(inward / REFERENCE_DEPTH)
            force = spring * (1 + self._c / (self._k * REFERENCE_DEPTH) * rate)
        else:
            force = self._k * depth + self._c * rate
        return np.maximum(force, 0.0)


def _face_cells(rings: int) -> Array:
    """Return the centres of 6 rings^2 equal triangles of the docking face, shape (n, 3)."""
    cells = []
    for corner in range(6):
        a, b = FACE_VERTICES[corner], FACE_VERTICES[(corner + 1) % 6]
        a, b = a - CENTER_OF_FACE, b - CENTER_OF_FACE
        for i in range(rings):
            for j in range(rings - i):
                cells.append(((i + 1 / 3) * a + (j + 1 / 3) * b) / rings)
                if i + j < rings - 1:
                    cells.append(((i + 2 / 3) * a + (j + 2 / 3) * b) / rings)
    return frozen(CENTER_OF_FACE + np.array(cells))


CENTER_OF_FACE = frozen([SATELLITE_LENGTH / 2, 0.0, 0.0])
_RINGS = 3
FACE_CELLS = _face_cells(_RINGS)
"""Contact points of elastic faces, from the centre of mass [m], shape (54, 3)."""
_EDGE_NORMALS = frozen([[0.0, np.cos(a), np.sin(a)] for a in pi / 6 + pi / 3 * np.arange(6)])
APOTHEM = CIRCUMRADIUS * cos(pi / 6)
_CELL = CIRCUMRADIUS / _RINGS / 2
"""Width over which a cell at an edge loses its force [m]: that of a cell."""


class ElasticFaces(FaceContact):
    """Two elastic faces with edges; friction sticks."""

    def __init__(
        self, docking: DockingScene, *, stiffness: float, damping: float, friction: float = 0.0
    ) -> None:
        """Set the parameters of the contact, as those of `FaceContact`."""
        super().__init__(
            docking,
            stiffness=stiffness,
            damping=damping,
            friction=friction,
            vertices=FACE_CELLS,
        )
        self._bristles, self._time = np.zeros_like(FACE_CELLS), 0.0

    def update(self, t: float, measurement: Measurement) -> Iterable[ExternalWrench]:
        """Return the wrenches on both satellites for the next step."""
        wrenches = super().update(t, measurement)
        self._time = t
        if self.force == 0.0:
            self._bristles[:] = 0.0
        return wrenches

    def _covered(self, forces: Array, points: Array, X_WT: Array) -> Array:
        inside = APOTHEM - ((points - X_WT[:3, 3]) @ X_WT[:3, :3] @ _EDGE_NORMALS.T).max(axis=1)
        return np.asarray(forces * np.clip(0.5 + inside / _CELL, 0.0, 1.0))

    def _drag(self, t: float, forces: Array, slip: Array, normal: Array) -> Array:
        stretched = self._bristles + slip * (t - self._time)
        stretched -= (stretched @ normal)[:, np.newaxis] * normal
        drag = self._k * stretched + self._c * slip
        size = np.linalg.norm(drag, axis=1)
        most = self._friction * forces
        slipping = size > most
        share = np.where(slipping, most / np.maximum(size, 1e-300), 1.0)[:, np.newaxis]
        # A slipping spring keeps the length that its limit can hold.
        self._bristles = np.where(slipping[:, np.newaxis], share * drag / self._k, stretched)
        self._bristles[forces == 0.0] = 0.0
        return np.asarray(share * drag)


def turning_stiffness(*, elastic: bool) -> tuple[float, float]:
    """Return the stiffness about axes in and along the normal of a face, over its own [m^2].

    The second is that of the tangential springs, which only elastic faces have.

    Args:
        elastic: Whether the whole face bears, or only its vertices.
    """
    points = FACE_CELLS if elastic else FACE_VERTICES
    across = float(np.mean(points[:, 1] ** 2))
    return across, 2 * across if elastic else 0.0


def _moment(arms: Array, forces: Array) -> Array:
    """Return the sum of r x f over rows [N m], shape (3,).

    It is the antisymmetric part of the sum of r f^T: one product, where `np.cross` and a sum take
    ten times as long at every physics step.
    """
    rf = arms.T @ forces
    return np.array([rf[1, 2] - rf[2, 1], rf[2, 0] - rf[0, 2], rf[0, 1] - rf[1, 0]])


def _velocities(
    arm: RobotDynamics, points: Array, X_WB: Array, *, q: Array, v: Array, R: Array | None = None
) -> Array:
    """Return the velocities of points of a satellite in the world, shape (n, 3).

    Args:
        R: Orientation of the arm's base, if it is not the world's.
    """
    V = arm.jacobian(q, CENTER) @ v
    linear, angular = (V[:3], V[3:]) if R is None else (R @ V[:3], R @ V[3:])
    return np.asarray(linear + (points - X_WB[:3, 3]) @ so3.hat(angular).T)
