"""FaceContact: a prescribed contact model of the docking faces, the same in every engine.

At each of the six vertices of the chaser's face a spring and a damper act against the
plane of the target's face; the force is never tensile:

    prescribed      f = max(0, k/6 d + c/6 d')
    hunt-crossley   f = max(0, k/6 d sqrt(d/d0) (1 + c/(k d0) d'))

Both have the same force at rest and the same damping at the depth d0 (Hunt, Crossley,
"Coefficient of restitution interpreted as damping in vibroimpact", 1975). Friction is
Coulomb's, regularised below a slip speed. The plane is infinite, so that a satellite that
drifts sideways keeps contact at all its vertices.
"""

from collections.abc import Iterable

import numpy as np

from kinetarium.control.interface import ExternalWrench, Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.scene.docking import (
    CENTER,
    CHASER,
    FACE_VERTICES,
    SATELLITE,
    SATELLITE_LENGTH,
    TARGET,
    DockingScene,
)
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array

REFERENCE_DEPTH = 5e-3
"""Depth d0 at which both laws agree [m]: that of 500 N at 1e5 N/m."""
SLIP_SPEED = 5e-3
"""Slip speed above which friction is fully developed [m/s]."""


class FaceContact:
    """The contact force between the satellites at every physics step.

    Attributes:
        force: Sum of the normal forces at the present step [N].
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
        self.force, self.point = 0.0, np.full(3, np.nan)

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
        self.force, self.point = 0.0, np.full(3, np.nan)
        if not (depth > 0).any():
            return ()
        slip = _velocities(self._chaser, vertices, X_WC, q=q[:n], v=v[:n])
        slip -= _velocities(self._target, vertices, X_WT, q=q[n:], v=v[n:], R=self._X_WT[:3, :3])
        forces = np.where(depth > 0, self._normal_forces(depth, -slip @ normal), 0.0)
        self.force = float(forces.sum())
        if self.force == 0.0:
            return ()
        self.point = forces @ vertices / self.force
        pushes = forces[:, np.newaxis] * normal
        if self._friction:
            slip -= (slip @ normal)[:, np.newaxis] * normal
            speed = np.maximum(np.linalg.norm(slip, axis=1), SLIP_SPEED)
            pushes -= (self._friction * forces / speed)[:, np.newaxis] * slip
        moments = np.cross(vertices - self.point, pushes)
        F = np.concatenate([pushes.sum(axis=0), moments.sum(axis=0)])
        return (
            ExternalWrench(f"{CHASER}/{SATELLITE}", F, self.point),
            ExternalWrench(f"{TARGET}/{SATELLITE}", -F, self.point),
        )

    def _normal_forces(self, depth: Array, rate: Array) -> Array:
        if self._hardening:
            inward = np.maximum(depth, 0.0)
            spring = self._k * inward * np.sqrt(inward / REFERENCE_DEPTH)
            force = spring * (1 + self._c / (self._k * REFERENCE_DEPTH) * rate)
        else:
            force = self._k * depth + self._c * rate
        return np.maximum(force, 0.0)


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
