"""The equation of motion of one robot as Bullet sees it: M a + C v + g = tau.

Bullet's inverse dynamics write a free base as [w; v] of its inertial frame I,
in the axes of I. With R = R_WI and r the vector from the root link's origin to
that of I in world axes, our [v; w] of the root link becomes T [v; w],

    T = [[0, R'], [R', -R' [r]]],

and M = T' M_bullet T, tau = T' tau_bullet.
"""

from collections.abc import Sequence

import numpy as np

from kinetarium.engines.base.engine import quiet
from kinetarium.engines.bullet.library import BulletClient, position, quaternion_xyzw
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.scene import PlacedRobot, SceneError
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose


def gravity(bullet: BulletClient) -> Array:
    """Read gravity [m/s^2], shape (3,)."""
    world = bullet.getPhysicsEngineParameters()
    return np.array([world[f"gravityAcceleration{axis}"] for axis in "XYZ"])


class JointSpace:
    """M and tau of one robot at the state that Bullet is in.

    Contacts, constraints, joint damping and friction are no part of it.
    """

    def __init__(self, bullet: BulletClient, robot: Multibody, *, placed: PlacedRobot) -> None:
        """Choose a robot in Bullet and in the scene."""
        self._bullet = bullet
        self._robot, self._X_LI, self._free = robot, robot.X_LI[0], robot.free
        self._n = len(robot.joints)
        self._rest, self._still = [0.0] * self._n, np.zeros(self._n)
        self._tail = slice(6 * self._free, None)
        # Bullet does not know of it.
        self._armature = np.array([joint.armature for joint in placed.model.moving_joints])
        self._drives, self._armed = np.diag(self._armature), bool(self._armature.any())
        self._gravity = gravity(bullet)
        # A fixed base stays as it was placed, so it is looked up once.
        self._gravity_I = self._gravity @ self._base()[0]
        self._tilted = self._free or not np.array_equal(self._gravity_I, self._gravity)
        with quiet():
            self._matrix([0.0] * self._n)  # the first one complains of rounding

    def mass_matrix(self, q: list[float]) -> Array:
        """Return M in Kinetarium's coordinates.

        Args:
            q: The positions that the joints have [rad or m].
        """
        M = self._matrix(q)
        if self._free:
            T = self._transform()
            M = T.T @ M @ T
        M[self._tail, self._tail] += self._drives
        return M

    def inverse_dynamics(self, q: list[float], v: list[float], *, acceleration: Array) -> Array:
        """Return tau of an acceleration in Kinetarium's coordinates.

        Args:
            q: The positions that the joints have [rad or m].
            v: Their velocities [rad/s or m/s].
            acceleration: The acceleration, that of a free base first, shape (nv,).
        """
        if self._free:
            T = self._transform()
            a = T @ acceleration
            R_WI, r, _, w = self._base()
            a[3:6] += R_WI.T @ np.cross(w, np.cross(w, r))
            tau: Array = T.T @ self._forces(q, v, a)
        else:
            tau = self._forces(q, v, acceleration)
        tau[self._tail] += self._armature * acceleration[self._tail]
        return tau

    def of_fixed_base(
        self, q: list[float], v: list[float], *, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau at a state, which Bullet need not be in."""
        M, tau = self._matrix(q), self._forces(q, v, a)
        if self._armed:
            M += self._drives
            tau += self._armature * a
        g = self._forces(q, self._rest, self._still)
        return M, g, self._forces(q, v, self._still), tau

    def of_joints(self, q: list[float], v: list[float]) -> tuple[Array, Array]:
        """Return M and C v + g of the joints alone, without armature; a free base yields.

        Args:
            q: Joint positions [rad or m].
            v: Joint velocities [rad/s or m/s].
        """
        M = self._matrix(q)
        bias = self._forces(q, v, np.zeros(len(M)))
        if not self._free:
            return M, bias
        reduced = np.column_stack([M, bias])
        reduced = reduced[6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], reduced[:6])
        return reduced[:, 6:-1], reduced[:, -1]

    def _base(self) -> tuple[Array, Array, Array, Array]:
        """Return R_WI, the vector r, and the velocities v and w of I, in world axes."""
        _, quaternion = self._bullet.getBasePositionAndOrientation(self._robot.id)
        v, w = self._bullet.getBaseVelocity(self._robot.id)
        R_WI = np.array(self._bullet.getMatrixFromQuaternion(quaternion)).reshape(3, 3)
        r = R_WI @ self._X_LI[:3, :3].T @ self._X_LI[:3, 3]
        return R_WI, r, np.array(v), np.array(w)

    def _transform(self) -> Array:
        T = np.eye(self._n + 6)
        R_WI, r, _, _ = self._base()
        T[:6, :6] = np.block([[np.zeros((3, 3)), R_WI.T], [R_WI.T, -R_WI.T @ so3.hat(r)]])
        return T

    def _matrix(self, q: list[float]) -> Array:
        """Return M in Bullet's coordinates.

        Raises:
            SceneError: If Bullet refuses the robot's inertias, which it checks again.
        """
        try:
            return np.array(self._bullet.calculateMassMatrix(self._robot.id, q))
        except SystemError as error:  # how Bullet says so, whatever Python asked
            raise SceneError(f"Bullet refuses an inertia of robot '{self._robot.name}'") from error

    def _forces(self, q: list[float], v: list[float], a: Array) -> Array:
        """Return tau in Bullet's coordinates of an acceleration in the same.

        Bullet takes every base for upright or turns it by Euler angles of its
        own. So it is asked about an upright one, under gravity that is turned
        instead.
        """
        if self._free:
            R_WI, _, v_I, w_I = self._base()
            self._gravity_I = self._gravity @ R_WI
            q = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *q]
            v = [*(w_I @ R_WI).tolist(), *(v_I @ R_WI).tolist(), *v]
        if self._tilted:
            self._bullet.setGravity(*self._gravity_I)
        forces = self._bullet.calculateInverseDynamics(self._robot.id, q, v, a.tolist())
        if self._tilted:
            self._bullet.setGravity(*self._gravity)
        if self._free:
            # Linear first, other than velocities.
            forces = (*forces[3:6], *forces[:3], *forces[6:])
        return np.array(forces)


Numbers = Sequence[float]


class Floating:
    """Reads and sets the pose and twist of one free base."""

    def __init__(self, bullet: BulletClient, multibody: Multibody) -> None:
        """Choose a robot or body."""
        self._bullet, self._id = bullet, multibody.id
        X_LI = multibody.X_LI[0]
        X_IL = inverse_pose(X_LI)
        self._p_IL, self._q_IL = position(X_IL), quaternion_xyzw(X_IL)
        self._p_LI, self._q_LI = position(X_LI), quaternion_xyzw(X_LI)
        self._shifted, self._turned = any(self._p_LI), self._q_LI[3] != 1.0
        self._read_pose = bullet.bare("getBasePositionAndOrientation")
        self._read_twist = bullet.bare("getBaseVelocity")
        self._number = bullet.number

    def read(self) -> tuple[Numbers, Numbers]:
        """Return position and quaternion wxyz, and the twist [v; w], of L."""
        p, q = self._read_pose(self._id, self._number)
        v, w = self._read_twist(self._id, self._number)
        if self._shifted:
            p, v = _moved(p, v, w, _turn(q, self._p_IL))
        if self._turned:
            q = _product(q, self._q_IL)
        return (*p, q[3], *q[:3]), (*v, *w)

    def write(self, placed: Numbers, twist: Numbers) -> None:
        """Set position and unit quaternion wxyz, and the twist [v; w], of L."""
        p, v, w = placed[:3], twist[:3], twist[3:]
        q: Numbers = (*placed[4:], placed[3])
        if self._shifted:
            p, v = _moved(p, v, w, _turn(q, self._p_LI))
        if self._turned:
            q = _product(q, self._q_LI)
        self._bullet.resetBasePositionAndOrientation(self._id, p, q)
        self._bullet.resetBaseVelocity(self._id, v, w)


def _turn(q: Numbers, r: Numbers) -> Numbers:
    """Turn a vector by a quaternion xyzw: r + 2 w (q x r) + 2 q x (q x r)."""
    x, y, z, w = q
    rx, ry, rz = r
    tx, ty, tz = 2 * (y * rz - z * ry), 2 * (z * rx - x * rz), 2 * (x * ry - y * rx)
    return (
        rx + w * tx + y * tz - z * ty,
        ry + w * ty + z * tx - x * tz,
        rz + w * tz + x * ty - y * tx,
    )


def _moved(p: Numbers, v: Numbers, w: Numbers, r: Numbers) -> tuple[Numbers, Numbers]:
    """Return position and velocity of a body's point at a distance r."""
    (px, py, pz), (vx, vy, vz), (wx, wy, wz), (rx, ry, rz) = p, v, w, r
    return (
        (px + rx, py + ry, pz + rz),
        (vx + wy * rz - wz * ry, vy + wz * rx - wx * rz, vz + wx * ry - wy * rx),
    )


def _product(a: Numbers, b: Numbers) -> Numbers:
    """Multiply quaternions xyzw."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )
