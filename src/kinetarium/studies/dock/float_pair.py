"""FloatingPair: two simulated satellites, what they are told and what the arms are told of them.

The chaser comes up to speed smoothly, coasts towards the target and meets it with one point
of its docking face, `offset` beside the line between the centres of mass. From its release on,
both are moved by nothing but the measured wrenches and, where there is one, the orbit.
"""

from math import pi, sqrt

import numpy as np

from kinetarium.control.floating_body import FloatingBody
from kinetarium.control.orbit import mean_motion, relative_acceleration
from kinetarium.control.passivity import PassivityObserver
from kinetarium.scene.docking import SATELLITE_LENGTH
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.dock.float_config import FloatCase, Timing

RUN_UP = 0.5
"""Time in which the chaser comes up to speed [s]."""
COAST = 0.3
"""Time from its release to the contact [s]."""
_RSI_TICK = 4e-3
"""Of an industrial interface [s]."""
_AFTER = 0.3
"""Time that is watched after the contact [s]."""
_FELT = 1.0
"""Force that has a direction [N]."""
MOMENTS = (0.0375, 0.03208333333333334, 0.03208333333333334)
"""Principal moments of the satellite by its mass [m^2]."""


def gap(case: FloatCase) -> float:
    """Give the distance of the docking faces at the start [m]."""
    return case.speed * (RUN_UP / 2 + COAST)


def duration(case: FloatCase) -> float:
    """Give how long a meeting is watched [s], in whole hundredths."""
    reduced = 1 / sum(1 / mass for mass in case.mass)
    contact = pi * sqrt(reduced / case.stiffness)
    return round(RUN_UP + COAST + 2 * contact + 5 * case.delay_ms * 1e-3 + _AFTER, 2)


def tick_steps(case: FloatCase, step: float) -> int:
    """Give how many steps [s] of the world there are in a tick of the loop."""
    return round(_RSI_TICK / step) if case.timing is Timing.RSI else 1


def lead_time(case: FloatCase, tick: float, *, own_lag: float = 0.0) -> float:
    """Give by how much the commands are ahead [s].

    The mean of the force over a tick of several steps is late by half of it.

    Args:
        case: The case.
        tick: Length of a tick [s].
        own_lag: Lag of the arms beside that of the case [s].
    """
    if not case.lead:
        return 0.0
    averaging = tick / 2 if case.timing is Timing.RSI else 0.0
    return (case.delay_ms + case.lead_error_ms) * 1e-3 + averaging + own_lag


def contact_vertex(case: FloatCase) -> Array:
    """Give the point of the chaser that touches, from its centre of mass [m], shape (3,)."""
    return np.array([SATELLITE_LENGTH / 2, case.offset_m, 0.0])


class FloatingPair:
    """The simulated satellites.

    Attributes:
        bodies: Chaser and target.
        observer: Sees the energy that a lag creates.
        orbital: Momentum that the orbit has given them [kg m/s], shape (3,).
    """

    def __init__(self, case: FloatCase, *, X_WB: Array) -> None:
        """Place both, at rest.

        Args:
            case: The case.
            X_WB: Pose of the chaser at the start, its face towards x, shape (4, 4).
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
        self.observer = PassivityObserver()
        self.orbital = np.zeros(3)
        self._normal = np.array([-1.0, 0.0, 0.0])
        self._F_B = np.zeros((2, 6))

    def step(self, t: float, F_B: Array, *, V_B: Array, dt: float) -> None:
        """Move both on.

        Args:
            t: Time at the start of the step [s].
            F_B: Measured wrench on each, in its own frame [N, N m], shape (2, 6).
            V_B: Mean body twists, since the last step, of the arms that stand for them,
                shape (2, 6).
            dt: The step [s].
        """
        if t < RUN_UP:
            u = min((t + dt) / RUN_UP, 1.0)
            chaser = self.bodies[0]
            chaser.v = self._case.speed * u * u * (3 - 2 * u) * chaser.R_WB[:, 0]
            chaser.p_WB = chaser.p_WB + chaser.v * dt
            return
        given = float(((self._F_B + F_B) / 2 * V_B).sum()) * dt
        self._F_B = F_B.copy()
        before = self.bodies[0].energy + self.bodies[1].energy
        pushes = []
        for body, F in zip(self.bodies, F_B, strict=True):
            F_W = np.concatenate([body.R_WB @ F[:3], body.R_WB @ F[3:]])
            pushes.append(F_W[:3].copy())
            if self._n:
                a = relative_acceleration(body.p_WB - self._origin, body.v, n=self._n)
                F_W[:3] += body.mass * a
                self.orbital = self.orbital + body.mass * a * dt
            body.step(F_W, dt=dt)
        taken = self.bodies[0].energy + self.bodies[1].energy - before
        self.observer.watch(taken=taken, given=given)
        if self._case.passivity:
            self._dissipate(pushes[0] - pushes[1])

    def commands(self, lead: float) -> Array:
        """Give the poses that the arms are told, shape (2, 4, 4), ahead by a time [s]."""
        return np.array([body.pose_ahead(lead) for body in self.bodies])

    def point(self) -> Array:
        """Give where the chaser touches, by its simulated pose [m], shape (3,)."""
        chaser = self.bodies[0]
        return np.asarray(chaser.p_WB + chaser.R_WB @ contact_vertex(self._case))

    def figures(self) -> Array:
        """Give momentum less what the orbit gave, angular momentum, energy and closing speed.

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

    def _dissipate(self, difference: Array) -> None:
        size = float(np.linalg.norm(difference))
        if size > _FELT:
            self._normal = difference / size
        chaser, target = self.bodies
        self.observer.dissipate(chaser, target, normal=self._normal, point=self.point())
