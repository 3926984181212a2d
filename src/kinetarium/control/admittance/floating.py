"""FloatingBody: a rigid body in free space, moved by wrenches (Newton and Euler).

    m dv/dt = f,   I dw/dt + w x I w = m_b

Velocities are advanced first and poses by the new ones (symplectic Euler), so that a spring
between two such bodies neither gains nor loses energy over a period.
"""

from functools import lru_cache
from math import copysign, cos, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial import kernels as se3_kernel
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen


class FloatingBody:
    """A body and its motion.

    Attributes:
        mass: Mass [kg].
        R_WB: Rotation, shape (3, 3).
        p_WB: Centre of mass [m], shape (3,).
        v: Its velocity in world axes [m/s], shape (3,).
        spin: Angular momentum about the centre of mass, in world axes [kg m^2/s], shape (3,).
        w: Angular velocity in world axes [rad/s], shape (3,).
    """

    def __init__(
        self, *, mass: float, moment: ArrayLike, X_WB: Array, velocity: ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        """Place the body without rotation.

        Args:
            mass: Mass [kg].
            moment: Moment of inertia about the centre of mass, in body axes, shape (3, 3).
            X_WB: Pose of the centre of mass, shape (4, 4).
            velocity: Of the centre of mass in world axes [m/s], shape (3,).
        """
        self.mass = mass
        self._inverse = np.linalg.inv(np.asarray(moment, dtype=np.float64))
        self.R_WB, self.p_WB = X_WB[:3, :3].copy(), X_WB[:3, 3].copy()
        self.v = np.array(velocity, dtype=np.float64)
        self.spin, self.w = np.zeros(3), np.zeros(3)
        self._dv, self._dw = np.zeros(3), np.zeros(3)

    @property
    def momentum(self) -> Array:
        """Linear momentum in world axes [kg m/s], shape (3,)."""
        return self.mass * self.v

    @property
    def energy(self) -> float:
        """Kinetic energy [J]."""
        return float(self.mass * self.v @ self.v + self.w @ self.spin) / 2

    def push(self, impulse: Array, *, point: Array) -> None:
        """Change the motion by an impulse at a point.

        Args:
            impulse: In world axes [N s], shape (3,).
            point: Where it acts, in the world [m], shape (3,).
        """
        self.v = self.v + impulse / self.mass
        self.turn(so3.hat(point - self.p_WB) @ impulse)

    def turn(self, angular_impulse: Array) -> None:
        """Change the angular momentum by an impulse in world axes [N m s], shape (3,)."""
        self.spin = self.spin + angular_impulse
        self.w = self._rate()

    def mobility(self, direction: Array, *, point: Array) -> float:
        """Return the change of a point's velocity along a unit impulse there [1/kg]."""
        lever = self.R_WB.T @ (so3.hat(point - self.p_WB) @ direction)
        return float(1 / self.mass + lever @ self._inverse @ lever)

    def velocity_at(self, point: Array) -> Array:
        """Return the velocity of a point of the body [m/s], shape (3,)."""
        return np.asarray(self.v + so3.hat(self.w) @ (point - self.p_WB))

    def step(self, F: Array, *, dt: float) -> None:
        """Advance by a time [s] under a wrench [f; m] at the centre of mass, in world axes."""
        v, w = self.v, self.w
        self.v = v + F[:3] / self.mass * dt
        self.turn(F[3:] * dt)
        self._dv, self._dw = (self.v - v) / dt, (self.w - w) / dt
        self.p_WB = self.p_WB + self.v * dt
        # Torque-free rotation conserves angular momentum in world axes, not angular velocity.
        self.R_WB = _turned(self.w * dt) @ self.R_WB
        self.w = self._rate()

    def pose_ahead(self, lead: float) -> Array:
        """Return the pose to command to an arm that lags by a time [s], shape (4, 4).

        With p + v t + a t^2/3 a spring whose force is late by t conserves energy to fourth
        order in w t: the term of the third derivative, t^3/3 with p + v t alone, which acts
        as negative damping, vanishes.
        """
        third = lead * lead / 3
        X = np.eye(4)
        X[:3, :3] = _turned(self.w * lead + self._dw * third) @ self.R_WB
        X[:3, 3] = self.p_WB + self.v * lead + self._dv * third
        return X

    def _rate(self) -> Array:
        """Return the angular velocity of the angular momentum [rad/s], shape (3,)."""
        return np.asarray(self.R_WB @ (self._inverse @ (self.R_WB.T @ self.spin)))


def _turned(rotation_vector: Array) -> Array:
    """Return the rotation of a rotation vector [rad], shape (3, 3)."""
    R: Array = se3_kernel.exp(np.concatenate([np.zeros(3), rotation_vector]))[:3, :3]
    return R


class PassivityObserver:
    """Watches the energy of two bodies in contact.

    Attributes:
        excess: Energy that the bodies gained beyond the work of the contact [J].
        removed: Energy that was dissipated [J].
    """

    def __init__(self) -> None:
        """Start with zero energy."""
        self.excess = self.removed = 0.0

    def watch(self, *, taken: float, given: float) -> None:
        """Add the energy that the bodies gained [J] minus the work of the contact [J]."""
        self.excess += taken - given

    def dissipate(
        self, first: FloatingBody, second: FloatingBody, *, normal: Array, point: Array
    ) -> None:
        """Remove the excess from the bodies' relative motion at the contact, as far as possible.

        Args:
            first: One body.
            second: The other.
            normal: Direction of the contact, a unit vector, shape (3,).
            point: Where they touch, in the world [m], shape (3,).
        """
        if self.excess <= 0:
            return
        speed = float((first.velocity_at(point) - second.velocity_at(point)) @ normal)
        mass = 1 / (first.mobility(normal, point=point) + second.mobility(normal, point=point))
        left = speed * speed - 2 * self.excess / mass
        after = copysign(sqrt(left), speed) if left > 0 else 0.0
        impulse = mass * (after - speed) * np.asarray(normal)
        first.push(impulse, point=point)
        second.push(-impulse, point=point)
        taken = mass * (speed * speed - after * after) / 2
        self.excess -= taken
        self.removed += taken


EARTH_GRAVITY = 3.986004418e14
"""Gravitational parameter of the Earth [m^3/s^2] (WGS 84)."""
EARTH_RADIUS = 6378.137e3
"""Equatorial radius [m] (WGS 84)."""


def mean_motion(altitude: float) -> float:
    """Return the angular rate n of a circular orbit [rad/s] at an altitude [m]."""
    return sqrt(EARTH_GRAVITY / (EARTH_RADIUS + altitude) ** 3)


def relative_acceleration(p: Array, v: Array, *, n: float) -> Array:
    """Return the acceleration of a free body in the orbit's frame [m/s^2], shape (3,).

    Args:
        p: Its position in that frame [m], shape (3,).
        v: Its velocity in that frame [m/s], shape (3,).
        n: Angular rate of the orbit [rad/s].
    """
    return np.array(
        [3 * n * n * p[0] + 2 * n * v[1], -2 * n * v[0], -n * n * p[2]], dtype=np.float64
    )


@lru_cache(maxsize=64)
def orbit_transition(n: float, t: float) -> tuple[Array, Array]:
    """Return the closed form of relative motion on a circular orbit.

    [p; v](t) = A [p; v](0) + B a for a constant acceleration a (Clohessy, Wiltshire, "Terminal
    guidance system for satellite rendezvous", 1960): x along the radius, y along the velocity.

    Args:
        n: Angular rate of the orbit [rad/s].
        t: Time [s].

    Returns:
        A, shape (6, 6), and B, shape (6, 3).
    """
    w = n * t
    s, c, rest = sin(w), cos(w), 2 * sin(w / 2) ** 2
    lag = w - s if w > 0.1 else w**3 / 6 * (1 - w**2 / 20 * (1 - w**2 / 42 * (1 - w**2 / 72)))
    A = np.array(
        [
            [4 - 3 * c, 0, 0, s / n, 2 * rest / n, 0],
            [-6 * lag, 1, 0, -2 * rest / n, (4 * s - 3 * w) / n, 0],
            [0, 0, c, 0, 0, s / n],
            [3 * n * s, 0, 0, c, 2 * s, 0],
            [-6 * n * rest, 0, 0, -2 * s, 4 * c - 3, 0],
            [0, 0, -n * s, 0, 0, c],
        ]
    )
    # The integral of the last three columns of A over the time since each part of a acted.
    n2 = n * n
    B = np.array(
        [
            [rest / n2, 2 * lag / n2, 0],
            [-2 * lag / n2, (4 * rest - 1.5 * w * w) / n2, 0],
            [0, 0, rest / n2],
            [s / n, 2 * rest / n, 0],
            [-2 * rest / n, (4 * s - 3 * w) / n, 0],
            [0, 0, s / n],
        ]
    )
    return frozen(A), frozen(B)
