"""ProbeCone: a probe on the chaser that a cone on the target guides into a socket with a latch.

The cone narrows from the target's face to a socket of the probe's diameter and a clearance. Two
places touch: the rim of the probe's tip on face, cone or socket, and the socket's mouth on the
side of the probe; each is a spring and a damper with friction that sticks up to Coulomb's limit.
The rim is pushed out of the surface through which it is least deep, and the mouth takes its
stiffness as the tip passes it, so that springs return no more than was put into them. A tilted
probe touches both at a depth l = (D - d)/tilt; if l < mu d each contact is within the friction
cone of the other, and a probe that was pressed in so stays wedged, whatever pushes from behind
(Whitney, "Quasi-static assembly of compliantly supported rigid parts", 1982). It is safe below a
tilt of (D - d)/(mu d).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, radians, sin, tan

import numpy as np

from kinetarium.control.interface import ExternalWrench, Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.scene.docking import (
    CENTER,
    CHASER,
    CIRCUMRADIUS,
    SATELLITE,
    SATELLITE_LENGTH,
    TARGET,
    DockingScene,
)
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeShape:
    """Probe and cone.

    Attributes:
        radius: Of the probe [m].
        length: Of the probe, from the chaser's face [m].
        clearance: Diameter of the socket minus that of the probe, over the latter [-].
        opening: Radius of the cone in the target's face [m].
        half_angle: Of the cone [rad].
        socket: Depth of the socket [m].
        latch: Depth in the socket at which the latch closes [m].
    """

    radius: float = 0.025
    length: float = 0.12
    clearance: float = 0.02
    opening: float = 0.06
    half_angle: float = radians(45.0)
    socket: float = 0.06
    latch: float = 0.055

    @property
    def socket_radius(self) -> float:
        """Radius of the socket [m]."""
        return self.radius * (1 + self.clearance)

    @property
    def mouth(self) -> float:
        """Depth of the socket's mouth below the target's face [m]."""
        return (self.opening - self.socket_radius) / tan(self.half_angle)

    def wedging_tilt(self, friction: float) -> float:
        """Return the tilt above which the probe wedges in the mouth of the socket [rad]."""
        return self.clearance / friction if friction else np.inf


SHAPE = ProbeShape()
_ASKEW = 0.5
"""Cosine of the tilt beyond which a probe does not enter [-]."""
_ENTRY = 5e-3
"""Way of the tip behind the mouth over which the mouth takes its stiffness [m]: where the tip
passes it, the rim is the same contact."""


class ProbeContact:
    """The forces between a probe and a cone, whatever moves them.

    Attributes:
        depth: Insertion of the tip below the target's face [m]; negative before.
        is_latched: Whether the latch has closed.
        force: Axial force on the chaser, against the insertion [N].
        side: Greatest normal force of the two places so far [N].
        F_B: Wrench on the chaser about its centre of mass, in its frame [N, N m], shape (6,).
    """

    def __init__(
        self, shape: ProbeShape, *, stiffness: float, damping: float, friction: float
    ) -> None:
        """Set the parameters of each contact: k [N/m], c [N s/m] and friction [-]."""
        self.shape = shape
        self._k, self._c, self._friction = stiffness, damping, friction
        self._bristles = np.zeros((2, 3))
        self.depth, self.is_latched, self.side = -np.inf, False, 0.0
        self.force, self.F_B, self.point = 0.0, np.zeros(6), np.full(3, np.nan)

    def forces(
        self, X_WC: Array, X_WT: Array, *, V_C: Array, V_T: Array, dt: float
    ) -> tuple[Array, Array]:
        """Return the force on the chaser in the world, and its moment about the tip, (3,) each.

        Args:
            X_WC: Pose of the chaser's centre of mass, shape (4, 4).
            X_WT: The target's, shape (4, 4).
            V_C: Velocity [v; w] of the chaser's centre in world axes [m/s, rad/s], shape (6,).
            V_T: The target's, shape (6,).
            dt: Time since the last call [s].
        """
        shape, inward = self.shape, -X_WT[:3, 0]
        tip = X_WC[:3, 3] + (SATELLITE_LENGTH / 2 + shape.length) * X_WC[:3, 0]
        face = X_WT[:3, 3] + SATELLITE_LENGTH / 2 * X_WT[:3, 0]
        self.depth = float((tip - face) @ inward)
        contacts = [self._at_tip(X_WC, tip, face, inward), self._at_mouth(X_WC, tip, face, inward)]
        entered = min(max((self.depth - shape.mouth) / _ENTRY, 0.0), 1.0)
        force, moment = np.zeros(3), np.zeros(3)
        for number, (point, normal, into) in enumerate(contacts):
            if into <= 0:
                self._bristles[number] = 0.0
                continue
            slip = _velocity(V_C, X_WC, point) - _velocity(V_T, X_WT, point)
            pushed = max(self._k * into - self._c * float(slip @ normal), 0.0)
            if number == 1 and entered < 1.0:
                pushed *= entered
                # The energy that the spring gains by its stiffness is work of the insertion.
                force -= 0.5 * self._k * into**2 / _ENTRY * inward
            self.side = max(self.side, pushed)
            push = pushed * normal - self._drag(number, pushed, slip, normal, dt)
            force += push
            moment += np.cross(point - tip, push)
        aside = float(np.linalg.norm((tip - face) - self.depth * inward))
        force += self._axial(V_C, V_T, inward, aside=aside) * -inward
        self.point = tip
        self.force = float(force @ -inward)
        about = moment + np.cross(tip - X_WC[:3, 3], force)
        self.F_B = np.concatenate([force @ X_WC[:3, :3], about @ X_WC[:3, :3]])
        return force, moment

    def _at_tip(
        self, X_WC: Array, tip: Array, face: Array, inward: Array
    ) -> tuple[Array, Array, float]:
        """Return where the rim of the tip touches the wall, the normal there and the overlap."""
        shape, slope = self.shape, self.shape.half_angle
        aside = _direction((tip - face) - self.depth * inward)
        out = _direction(aside - float(aside @ X_WC[:3, 0]) * X_WC[:3, 0])
        point = tip + shape.radius * out
        deep = float((point - face) @ inward)
        away = (point - face) - deep * inward
        reach, radial = float(np.linalg.norm(away)), _direction(away)
        beyond_cone = (reach - (shape.opening - deep * tan(slope))) * cos(slope)
        surfaces = (
            (deep, -inward),
            (beyond_cone, -cos(slope) * radial - sin(slope) * inward),
            (reach - shape.socket_radius, -radial),
        )
        into, normal = min(surfaces, key=lambda surface: surface[0])
        if reach > CIRCUMRADIUS or into > shape.length / 2:  # it passed the satellite
            into = 0.0
        return point, normal, into

    def _at_mouth(
        self, X_WC: Array, tip: Array, face: Array, inward: Array
    ) -> tuple[Array, Array, float]:
        """Return where the socket's mouth touches the probe's side, likewise."""
        shape, axis = self.shape, X_WC[:3, 0]
        along = float(axis @ inward)
        if self.depth <= shape.mouth or along < _ASKEW:
            return tip, inward, 0.0
        behind = (self.depth - shape.mouth) / along
        middle = face + shape.mouth * inward
        aside = tip - behind * axis - middle
        radial = _direction(aside)
        if float(aside @ radial) > shape.opening:
            return tip, inward, 0.0
        into = float(aside @ radial) + shape.radius - shape.socket_radius
        return middle + shape.socket_radius * radial, -radial, into

    def _axial(self, V_C: Array, V_T: Array, inward: Array, *, aside: float) -> float:
        """Return the force of the bottom of the socket, and of the latch once it has closed [N]."""
        bottom = self.shape.mouth + self.shape.socket
        if aside > self.shape.socket_radius and not self.is_latched:
            return 0.0
        catch = self.shape.mouth + self.shape.latch
        self.is_latched = self.is_latched or self.depth >= catch
        speed = float((V_C[:3] - V_T[:3]) @ inward)
        if self.depth > bottom:
            return max(self._k * (self.depth - bottom) + self._c * speed, 0.0)
        if self.is_latched and self.depth < catch:
            return min(self._k * (self.depth - catch) + self._c * speed, 0.0)
        return 0.0

    def _drag(self, number: int, pushed: float, slip: Array, normal: Array, dt: float) -> Array:
        """Return the friction against the slip, and keep the stretch of the contact's spring."""
        along = slip - float(slip @ normal) * normal
        stretch = self._bristles[number] + along * dt
        stretch = stretch - float(stretch @ normal) * normal
        drag = self._k * stretch + self._c * along
        size, most = float(np.linalg.norm(drag)), self._friction * pushed
        if size > most:
            drag = drag * (most / size)
            stretch = drag / self._k
        self._bristles[number] = stretch
        return np.asarray(drag)


class ProbeCone(ProbeContact):
    """A probe and a cone on the satellites of two arms, at every physics step."""

    def __init__(
        self, docking: DockingScene, *, stiffness: float, damping: float, friction: float
    ) -> None:
        """Set the parameters of the contact, as those of `ProbeContact`."""
        super().__init__(SHAPE, stiffness=stiffness, damping=damping, friction=friction)
        self._chaser = RobotDynamics(docking.chaser.model)
        self._target = RobotDynamics(docking.target.model)
        self._X_WA = docking.target.X_WA
        self._time = 0.0

    def update(self, t: float, measurement: Measurement) -> Iterable[ExternalWrench]:
        """Return the wrenches on both satellites for the next step."""
        n, q, v = self._chaser.nq, measurement.q, measurement.v
        X_WC = self._chaser.link_pose(q[:n], CENTER)
        X_WT = self._X_WA @ self._target.link_pose(q[n:], CENTER)
        V_T = self._target.jacobian(q[n:], CENTER) @ v[n:]
        R = self._X_WA[:3, :3]
        force, moment = self.forces(
            X_WC,
            X_WT,
            V_C=self._chaser.jacobian(q[:n], CENTER) @ v[:n],
            V_T=np.concatenate([R @ V_T[:3], R @ V_T[3:]]),
            dt=t - self._time,
        )
        self._time = t
        F = np.concatenate([force, moment])
        if not F.any():
            self.point = np.full(3, np.nan)
            return ()
        return (
            ExternalWrench(f"{CHASER}/{SATELLITE}", F, self.point),
            ExternalWrench(f"{TARGET}/{SATELLITE}", -F, self.point),
        )


def _velocity(V: Array, X: Array, point: Array) -> Array:
    """Return the velocity of a point of a body [m/s], shape (3,)."""
    return np.asarray(V[:3] + np.cross(V[3:], point - X[:3, 3]))


def _direction(vector: Array) -> Array:
    """Return a unit vector; y for none."""
    size = float(np.linalg.norm(vector))
    return vector / size if size > 1e-12 else np.array([0.0, 1.0, 0.0])
