"""RobotDynamics: kinematics and dynamics of one robot, computed by Pinocchio."""

from functools import partial
from importlib.util import find_spec

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics._pinocchio_model import (
    frame_placements,
    pinocchio_model,
    rotate_base,
    rotate_base_both,
    to_pinocchio,
    transport,
)
from kinetarium.errors import KinetariumError, MissingPackageError, UnknownNameError
from kinetarium.model.robot import RobotModel
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY

MOST_JOINTS = 300
"""Pinocchio's tables grow with the third power of the joints: 1.8 GB for this many."""


def check_pinocchio() -> None:
    """Check that Pinocchio is installed, which the core does without; it is not loaded.

    Raises:
        MissingPackageError: If it is not.
    """
    if find_spec("pinocchio") is None:
        raise MissingPackageError("Pinocchio", extra="dynamics")


_BASE_POSITIONS = tuple(f"base.{name}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz"))
_BASE_VELOCITIES = tuple(f"base.{name}" for name in ("vx", "vy", "vz", "wx", "wy", "wz"))


class RobotDynamics:
    """Kinematics and dynamics of a robot as a tree of rigid links.

    tau = M(q) a + C(q, v) v + g(q)

    Coordinates. q holds, where the base is free, the position p_WB [m] and the
    quaternion wxyz of the root link, then the positions of all moving joints
    in the model's order [rad or m]. v holds the twist [v; w] of the root link
    in world axes at its origin [m/s, rad/s], then the joint rates; a is the
    time derivative of v, and tau its dual: the wrench [f; m] on the root link
    at its origin [N, N m], then the joint torques or forces [N m or N].

    Every moving joint has its own coordinate, mimic joints too (`Coupling` joins
    them), and loops are open (`LoopClosure` closes them). Damping and friction of
    the joints are not part of tau.

    Not thread-safe: calls share working memory. Results are new arrays.

    Attributes:
        model: The robot.
        free_base: Whether the root link floats freely.
        gravity: Acceleration of gravity in the world [m/s^2], shape (3,).
        position_names: A name for each entry of q.
        velocity_names: A name for each entry of v, a and tau.
        nq: Number of entries of q.
        nv: Number of entries of v, a and tau.
    """

    def __init__(
        self,
        model: RobotModel,
        *,
        free_base: bool | None = None,
        armature: bool = True,
        gravity: ArrayLike = (0.0, 0.0, -GRAVITY),
    ) -> None:
        """Build the dynamics of a robot.

        Args:
            free_base: Whether the root link floats freely; None to take it from the model.
            armature: Whether the inertia of the drives counts in M and in the kinetic energy.
            gravity: Acceleration of gravity in the world [m/s^2], shape (3,).

        Raises:
            KinetariumError: If it has too many moving joints, or Pinocchio is not installed.
        """
        if len(model.moving_joints) > MOST_JOINTS:
            raise KinetariumError(
                f"the dynamics of a robot with {len(model.moving_joints)} moving joints needs too"
                f" much memory; at most {MOST_JOINTS} are supported"
            )
        check_pinocchio()
        # Imported here, since Pinocchio takes long to load.
        import pinocchio

        self._pin = pinocchio
        self.model = model
        self.free_base = model.free_base if free_base is None else free_base
        self.gravity = frozen(gravity)
        self._model = pinocchio_model(
            model, free_base=self.free_base, armature=armature, gravity=self.gravity
        )
        self._data = self._model.createData()
        # Pinocchio's centre of mass excludes links fixed to the world.
        fixed = self._model.inertias[0]
        self._fixed_moment = fixed.mass * fixed.lever
        self._mass = model.mass
        self._placements = frame_placements(self._data)
        self._frame = {link.name: index + 1 for index, link in enumerate(model.links)}

        joints = tuple(joint.name for joint in model.moving_joints)
        self.position_names = _BASE_POSITIONS + joints if self.free_base else joints
        self.velocity_names = _BASE_VELOCITIES + joints if self.free_base else joints
        self.nq = len(self.position_names)
        self.nv = len(self.velocity_names)

    def neutral(self) -> Array:
        """Return the configuration with the base at the world's frame and all joints at zero."""
        q = np.zeros(self.nq)
        if self.free_base:
            q[3] = 1.0
        return q

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """Return q, shape (nq,), moved by a constant velocity times a time, shape (nv,)."""
        q, dq = _vector(q), _vector(dq)
        if not self.free_base:
            return q + dq
        pin = self._pin
        turned = pin.Quaternion(pin.exp3(dq[3:6])) * pin.Quaternion(*q[3:7])
        x, y, z, w = turned.normalized().coeffs()
        return np.concatenate([q[:3] + dq[:3], (w, x, y, z), q[7:] + dq[6:]])

    def difference(self, q_0: ArrayLike, q_1: ArrayLike) -> Array:
        """Return the shortest dq, shape (nv,), with integrate(q_0, dq) = q_1."""
        q_0, q_1 = _vector(q_0), _vector(q_1)
        if not self.free_base:
            return q_1 - q_0
        _, B_0 = to_pinocchio(q_0)
        _, B_1 = to_pinocchio(q_1)
        turn = so3.log((B_1 @ B_0.T)[:3, :3])
        return np.concatenate([q_1[:3] - q_0[:3], turn, q_1[7:] - q_0[7:]])

    def link_poses(self, q: ArrayLike) -> Array:
        """Return the pose X_WL of every link in the model's order, shape (links, 4, 4)."""
        q_pin, _ = self._configuration(q)
        self._pin.framesForwardKinematics(self._model, self._data, q_pin)
        X_WL = np.zeros((len(self._frame), 4, 4))
        X_WL[:, :3] = self._placements[1:]
        X_WL[:, 3, 3] = 1.0
        return X_WL

    def link_pose(self, q: ArrayLike, link: str) -> Array:
        """Return the pose X_WL of one link, shape (4, 4).

        Raises:
            UnknownNameError: If there is no such link.
        """
        X_WL: Array = self.link_poses(q)[self._frame_of(link) - 1]
        return X_WL

    def jacobian(self, q: ArrayLike, link: str, *, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Return J with [v; w] = J v for a point fixed to a link, in world axes.

        Args:
            q: Configuration, shape (nq,).
            link: Name of the link.
            point: The point p_LP in the link frame [m], shape (3,).

        Returns:
            The Jacobian, shape (6, nv).

        Raises:
            UnknownNameError: If there is no such link.
        """
        q_pin, B = self._configuration(q)
        pin, frame = self._pin, self._frame_of(link)
        J: Array = pin.computeFrameJacobian(
            self._model, self._data, q_pin, frame, pin.LOCAL_WORLD_ALIGNED
        )
        offset = _vector(point)
        if offset.any():
            pin.updateFramePlacement(self._model, self._data, frame)
            J[:3] -= so3.hat(self._placements[frame, :, :3] @ offset) @ J[3:]
        if self.free_base:
            rotate_base(J.T, B)
        return J

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M, symmetric positive definite [kg, kg m, kg m^2], shape (nv, nv)."""
        q_pin, B = self._configuration(q)
        M: Array = self._pin.crba(self._model, self._data, q_pin)
        return rotate_base_both(M, B) if self.free_base else M

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C, shape (nv, nv), with Mdot - 2 C skew symmetric.

        For a free base C = T' (C_pin T + M_pin Tdot), which keeps Pinocchio's
        skew symmetry; Tdot = -T diag([w], [w], 0).
        """
        q_pin, B = self._configuration(q)
        v = _vector(v)
        if not self.free_base:
            C: Array = self._pin.computeCoriolisMatrix(self._model, self._data, q_pin, v)
            return C
        v_pin = rotate_base(v.copy(), B.T)
        C = self._pin.computeCoriolisMatrix(self._model, self._data, q_pin, v_pin)
        rotate_base_both(C, B)
        M = rotate_base_both(self._pin.crba(self._model, self._data, q_pin), B)
        spin = so3.hat(v[3:6])
        C[:, :3] -= M[:, :3] @ spin
        C[:, 3:6] -= M[:, 3:6] @ spin
        return C

    def gravity_forces(self, q: ArrayLike) -> Array:
        """Return g, the forces that hold the robot still [N, N m], shape (nv,)."""
        q_pin, B = self._configuration(q)
        g: Array = self._pin.computeGeneralizedGravity(self._model, self._data, q_pin)
        return rotate_base(g, B) if self.free_base else g

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C v + g, the forces of motion without acceleration [N, N m], shape (nv,)."""
        return self.inverse_dynamics(q, v, np.zeros(self.nv))

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return tau = M a + C v + g (recursive Newton-Euler) [N, N m], shape (nv,)."""
        q_pin, B, v, a = self._motion(q, v, a)
        tau: Array = self._pin.rnea(self._model, self._data, q_pin, v, a)
        return rotate_base(tau, B) if self.free_base else tau

    def equation_of_motion(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau = M a + C v + g at many states, one in each row.

        The same as `mass_matrix` and `inverse_dynamics` at each of them, of a fixed base in less
        time.

        Args:
            q: Configurations, shape (k, nq).
            v: Velocities, shape (k, nv).
            a: Accelerations, shape (k, nv).
        """
        mass_matrix, inverse_dynamics = self.mass_matrix, self.inverse_dynamics
        if not self.free_base:
            mass_matrix = partial(self._pin.crba, self._model, self._data)
            inverse_dynamics = partial(self._pin.rnea, self._model, self._data)
        q, v, a = _vector(q), _vector(v), _vector(a)
        M, (g, bias, tau) = np.empty((len(q), self.nv, self.nv)), np.empty((3, len(q), self.nv))
        rest = np.zeros(self.nv)
        for i, (q_i, v_i, a_i) in enumerate(zip(q, v, a, strict=True)):
            M[i] = mass_matrix(q_i)
            g[i] = inverse_dynamics(q_i, rest, rest)
            bias[i] = inverse_dynamics(q_i, v_i, rest)
            tau[i] = inverse_dynamics(q_i, v_i, a_i)
        return M, g, bias, tau

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """Return the acceleration a that forces tau cause (articulated bodies), shape (nv,)."""
        q_pin, B = self._configuration(q)
        v, tau = _vector(v), _vector(tau)
        if not self.free_base:
            a: Array = self._pin.aba(self._model, self._data, q_pin, v, tau)
            return a
        v_pin, tau_pin = rotate_base(v.copy(), B.T), rotate_base(tau.copy(), B.T)
        a = rotate_base(self._pin.aba(self._model, self._data, q_pin, v_pin, tau_pin), B)
        a[:3] += transport(v)
        return a

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return the regressor Y with tau = Y pi, linear in the inertial parameters pi.

        pi contains the ten parameters (`inertial_parameters`) of the rigid body that
        each moving joint carries, in the frame of its child link, joint after joint,
        those of a free root first, without the inertia of the drives (Atkeson, An,
        Hollerbach, "Estimation of inertial parameters of manipulator loads and links",
        1986).

        Returns:
            The regressor, shape (nv, 10 * bodies).
        """
        q_pin, B, v, a = self._motion(q, v, a)
        Y: Array = self._pin.computeJointTorqueRegressor(self._model, self._data, q_pin, v, a)
        return rotate_base(Y, B) if self.free_base else Y

    def joint_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array]:
        """Return the derivatives of tau by joint positions and by joint velocities.

        A free base keeps its pose, twist and acceleration; the derivative by
        the accelerations is M.

        Returns:
            Both derivatives, each of shape (nv, joints).
        """
        q_pin, B, v, a = self._motion(q, v, a)
        by_q, by_v, _ = self._pin.computeRNEADerivatives(self._model, self._data, q_pin, v, a)
        if not self.free_base:
            return by_q.copy(), by_v.copy()
        return rotate_base(by_q[:, 6:].copy(), B), rotate_base(by_v[:, 6:].copy(), B)

    def center_of_mass(self, q: ArrayLike) -> Array:
        """Return the centre of mass of the whole robot in the world [m], shape (3,)."""
        q_pin, _ = self._configuration(q)
        moving: Array = self._pin.centerOfMass(self._model, self._data, q_pin)
        moving_mass = self._data.mass[0]
        center: Array = (moving_mass * moving + self._fixed_moment) / self._mass
        return center

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Return v' M v / 2 [J]."""
        # Pinocchio's own function includes the armature of some joint types only.
        v = _vector(v)
        return float(0.5 * v @ self.mass_matrix(q) @ v)

    def potential_energy(self, q: ArrayLike) -> float:
        """Return the potential energy of the whole robot, zero at the world's origin [J]."""
        return float(-self._mass * (self.gravity @ self.center_of_mass(q)))

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return [p; L] of the moving links in world axes, L about their centre of mass.

        Returns:
            Linear [kg m/s] and angular momentum [kg m^2/s], shape (6,).
        """
        q_pin, B = self._configuration(q)
        v = _vector(v)
        if self.free_base:
            v = rotate_base(v.copy(), B.T)
        h: Array = self._pin.computeCentroidalMomentum(self._model, self._data, q_pin, v).vector
        return h.copy()

    def _motion(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> tuple[Array, Array, Array, Array]:
        """Return q, the rotation of the base, v and a in Pinocchio's convention."""
        q_pin, B = self._configuration(q)
        v, a = _vector(v), _vector(a)
        if self.free_base:
            a = a.copy()
            a[:3] -= transport(v)
            v, a = rotate_base(v.copy(), B.T), rotate_base(a, B.T)
        return q_pin, B, v, a

    def _configuration(self, q: ArrayLike) -> tuple[Array, Array]:
        """Return Pinocchio's configuration and B = diag(R_WB, R_WB)."""
        q = _vector(q)
        return to_pinocchio(q) if self.free_base else (q, _UPRIGHT)

    def _frame_of(self, link: str) -> int:
        try:
            return self._frame[link]
        except KeyError:
            raise UnknownNameError("link", link, known=self._frame) from None


_UPRIGHT = frozen(np.eye(6))


def _vector(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=np.float64)
