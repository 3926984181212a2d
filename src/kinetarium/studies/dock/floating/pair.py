"""FloatingPair: two simulated satellites, moved by measured wrenches.

The chaser accelerates smoothly, coasts towards the target and contacts it with one point of
its docking face, at a distance `offset` from the line between the centres of mass. From its
release on, both are moved only by the measured wrenches and, if there is one, the orbit.
"""

from math import pi

import numpy as np

from kinetarium.control.admittance.floating import (
    FloatingBody,
    PassivityObserver,
    mean_motion,
    relative_acceleration,
)
from kinetarium.scene.docking import SATELLITE_LENGTH
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.dock.floating.config import RUN_UP, FloatCase, gap

_FELT = 1.0
"""Force above which its direction is used [N]."""
MOMENTS = (0.0375, 0.03208333333333334, 0.03208333333333334)
"""Principal moments of inertia of the satellite over its mass [m^2]."""


def contact_vertex(case: FloatCase) -> Array:
    """Return the contact point of the chaser, from its centre of mass [m], shape (3,)."""
    return np.array([SATELLITE_LENGTH / 2, case.offset_m, 0.0])


class FloatingPair:
    """The simulated satellites.

    Attributes:
        bodies: Chaser and target.
        orbital: Momentum due to the orbit [kg m/s], shape (3,).
    """

    def __init__(self, case: FloatCase, *, X_WB: Array) -> None:
        """Place both at rest.

        Args:
            X_WB: Initial pose of the chaser, its face towards x, shape (4, 4).
        """
        self._case = case
        apart = gap(case) + SATELLITE_LENGTH
        facing = pose((apart, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), pi))
        self.bodies = tuple(
            FloatingBody(mass=mass, moment=mass * np.diag(MOMENTS), X_WB=X)
            for mass, X in zip(case.mass, (X_WB, X_WB @ facing), strict=True)
        )
        # The orbit's frame is at the target, x along the line between the two.
        self._origin = self.bodies[1].p_WB.copy()
        altitude = case.orbit_altitude_km * 1e3
        self._n = mean_motion(altitude) if altitude > 0 else 0.0
        self._observer = PassivityObserver()
        self.orbital = np.zeros(3)
        self._normal = np.array([-1.0, 0.0, 0.0])
        self._F_B = np.zeros((2, 6))

    def step(self, t: float, F_B: Array, *, V_B: Array, dt: float) -> None:
        """Advance both by one step.

        Args:
            t: Time at the start of the step [s].
            F_B: Measured wrench on each, in its own frame [N, N m], shape (2, 6).
            V_B: Mean body twists of their arms since the last step, shape (2, 6).
            dt: The step [s].
        """
        if t < RUN_UP:
            u = min((t + dt) / RUN_UP, 1.0)
            chaser = self.bodies[0]
            chaser.v = self._case.speed * u * u * (3 - 2 * u) * chaser.R_WB[:, 0]
            chaser.p_WB = chaser.p_WB + chaser.v * dt
            return
        if not self._case.passivity:
            self._move(F_B, dt)
            return
        given = float(((self._F_B + F_B) / 2 * V_B).sum()) * dt
        self._F_B = F_B.copy()
        before = sum(body.energy for body in self.bodies)
        self._turn_normal(F_B)
        self._move(F_B, dt)
        self._observer.watch(taken=sum(body.energy for body in self.bodies) - before, given=given)
        chaser, target = self.bodies
        self._observer.dissipate(chaser, target, normal=self._normal, point=self.point())

    def commands(self, lead: float) -> Array:
        """Return the commanded poses of the arms, shape (2, 4, 4), predicted by a time [s]."""
        return np.array([body.pose_ahead(lead) for body in self.bodies])

    def point(self) -> Array:
        """Return the contact point of the chaser at its simulated pose [m], shape (3,)."""
        chaser = self.bodies[0]
        return np.asarray(chaser.p_WB + chaser.R_WB @ contact_vertex(self._case))

    def figures(self) -> Array:
        """Return momentum without that of the orbit, angular momentum, energy and closing speed.

        Returns:
            [px, py, pz, Lx, Ly, Lz, E, u], shape (8,): the angular momentum is that about the
            target's start, the energy is that about the common
            centre of mass [J], the speed that of the contact points along the target's axis,
            positive while they close [m/s].
        """
        chaser, target = self.bodies
        momentum = chaser.momentum + target.momentum
        about = chaser.spin + target.spin
        for body in self.bodies:
            about = about + so3.hat(body.p_WB - self._origin) @ body.momentum
        common = float(momentum @ momentum) / (2 * (chaser.mass + target.mass))
        energy = chaser.energy + target.energy - common
        point = self.point()
        closing = (chaser.velocity_at(point) - target.velocity_at(point)) @ -target.R_WB[:, 0]
        return np.array([*(momentum - self.orbital), *about, energy, closing])

    def _move(self, F_B: Array, dt: float) -> None:
        """Integrate both under measured wrenches, shape (2, 6), and the orbit."""
        for body, F in zip(self.bodies, F_B, strict=True):
            F_W = np.concatenate([body.R_WB @ F[:3], body.R_WB @ F[3:]])
            if self._n:
                a = relative_acceleration(body.p_WB - self._origin, body.v, n=self._n)
                F_W[:3] += body.mass * a
                self.orbital = self.orbital + body.mass * a * dt
            body.step(F_W, dt=dt)

    def _turn_normal(self, F_B: Array) -> None:
        """Update the contact normal from the forces on both, if they are large enough."""
        chaser, target = self.bodies
        difference = chaser.R_WB @ F_B[0, :3] - target.R_WB @ F_B[1, :3]
        size = float(np.linalg.norm(difference))
        if size > _FELT:
            self._normal = difference / size
