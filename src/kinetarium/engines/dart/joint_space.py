"""The equation of motion of one robot as DART sees it: M a + C v + g = tau.

DART writes a free root as [w; v] of its centre of mass C in world axes. With r
the vector from the root link's origin to C, our [v; w] of the root link becomes

    [w; v_C] = T [v; w],  T = [[0, 1], [1, -[r]]],

and M = T' M_dart T, tau = T' tau_dart, a_dart = T a + [0; w x (w x r)].
"""

from math import atan2, copysign, cos, hypot, sin, sqrt
from typing import Any

import numpy as np

from kinetarium.engines.dart.build import Articulation
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array

Numbers = tuple[float, ...]


class Floating:
    """Converts the pose and twist of one free root."""

    def __init__(self, p_BC: Array) -> None:
        """Choose the root by its centre of mass in its own frame [m], shape (3,)."""
        self._p_BC: Numbers = tuple(p_BC.tolist())
        self._shifted = any(self._p_BC)

    def read(self, q: Any, v: Any) -> tuple[Numbers, Numbers]:
        """Return position and quaternion wxyz, and the twist [v; w], of B.

        Args:
            q: DART's positions of the skeleton, the root's first.
            v: Its velocities, likewise.
        """
        x, y, z, *p = q[:6].tolist()
        wx, wy, wz, *u = v[:6].tolist()
        angle = sqrt(x * x + y * y + z * z)
        half = angle / 2
        scale = sin(half) / angle if angle > 1e-8 else 0.5
        quaternion = (cos(half), x * scale, y * scale, z * scale)
        px, py, pz = p
        ux, uy, uz = u
        if self._shifted:
            rx, ry, rz = _turn(quaternion, self._p_BC)
            px, py, pz = px - rx, py - ry, pz - rz
            ux, uy, uz = (
                ux - wy * rz + wz * ry,
                uy - wz * rx + wx * rz,
                uz - wx * ry + wy * rx,
            )
        return (px, py, pz, *quaternion), (ux, uy, uz, wx, wy, wz)

    def write(self, placed: Array, twist: Array) -> tuple[Numbers, Numbers]:
        """Return DART's positions and velocities of a position, quaternion wxyz and twist of B."""
        px, py, pz, *quaternion = placed.tolist()
        ux, uy, uz, wx, wy, wz = twist.tolist()
        length = copysign(hypot(*quaternion), quaternion[0])
        w, x, y, z = (number / length for number in quaternion)
        if self._shifted:
            rx, ry, rz = _turn((w, x, y, z), self._p_BC)
            px, py, pz = px + rx, py + ry, pz + rz
            ux, uy, uz = (
                ux + wy * rz - wz * ry,
                uy + wz * rx - wx * rz,
                uz + wx * ry - wy * rx,
            )
        sine = sqrt(x * x + y * y + z * z)
        scale = 2 * atan2(sine, w) / sine if sine > 1e-8 else 2.0 / w
        return (x * scale, y * scale, z * scale, px, py, pz), (wx, wy, wz, ux, uy, uz)

    def center_offset(self, q: Array) -> Array:
        """Return the vector from the origin of B to the centre of mass in world axes [m]."""
        (_, _, _, *quaternion), _ = self.read(q, np.zeros(6))
        return np.array(_turn(tuple(quaternion), self._p_BC))


def _turn(quaternion: Numbers, r: Numbers) -> Numbers:
    """Turn a vector by a quaternion wxyz: r + 2 w (u x r) + 2 u x (u x r)."""
    w, x, y, z = quaternion
    rx, ry, rz = r
    tx, ty, tz = 2 * (y * rz - z * ry), 2 * (z * rx - x * rz), 2 * (x * ry - y * rx)
    return (
        rx + w * tx + y * tz - z * ty,
        ry + w * ty + z * tx - x * tz,
        rz + w * tz + x * ty - y * tx,
    )


class JointSpace:
    """M and tau of one robot at the state that DART is in.

    Contacts, constraints, joint damping and friction are no part of it; the
    inertia of the drives is.
    """

    def __init__(self, robot: Articulation, *, armature: Array) -> None:
        """Choose a robot.

        Args:
            armature: Inertia of its drives [kg m^2 or kg], zero for a free base, shape (n,). DART
                has no place for it.
        """
        self._skeleton = robot.skeleton
        self._floating = None if robot.p_BC is None else Floating(robot.p_BC)
        self._armature = armature
        self._armed = bool(armature.any())
        self._diagonal = np.diag_indices(len(self._armature))

    def mass_matrix(self) -> Array:
        """Return M in Kinetarium's coordinates."""
        M: Array = self._skeleton.getMassMatrix()
        if self._floating:
            T = self._transform(self._floating.center_offset(self._skeleton.getPositions()))
            M = T.T @ M @ T
        if self._armed:
            M[self._diagonal] += self._armature
        return M

    def inverse_dynamics(self, acceleration: Array) -> Array:
        """Return tau of an acceleration in Kinetarium's coordinates."""
        skeleton, a = self._skeleton, acceleration
        if self._floating:
            r = self._floating.center_offset(skeleton.getPositions())
            w = skeleton.getVelocities()[:3]
            T = self._transform(r)
            a = T @ a
            a[3:6] += np.cross(w, np.cross(w, r))
        skeleton.setAccelerations(a)
        skeleton.computeInverseDynamics(False, False, False)
        tau: Array = skeleton.getForces()
        if self._floating:
            tau = T.T @ tau
        if self._armed:
            tau += self._armature * acceleration
        return tau

    def of_fixed_base(self, q: Array, v: Array, *, a: Array) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau at a state, which DART takes on."""
        skeleton, rest = self._skeleton, np.zeros_like(v)
        skeleton.setPositions(q)
        skeleton.setVelocities(rest)
        g = self.inverse_dynamics(rest)
        skeleton.setVelocities(v)
        bias, tau = self.inverse_dynamics(rest), self.inverse_dynamics(a)
        return self.mass_matrix(), g, bias, tau

    def _transform(self, r: Array) -> Array:
        T = np.eye(len(self._armature))
        T[:3, :3] = 0.0
        T[:3, 3:6] = T[3:6, :3] = np.eye(3)
        T[3:6, 3:6] = -so3.hat(r)
        return T
