"""One mission: approach, flight round the target, contact and capture; and its books.

Positions are in the orbit's frame at the target's start: x along the radius, y along the
velocity, z along the orbit's angular momentum. Between two commands the thrust is constant there,
and the motion is that of Clohessy and Wiltshire, in closed form. Attitudes are inertial; the
orbit's rotation is subtracted. The chaser comes along its bar to a hold point, flies round to the
target's docking axis, which turns with it, and closes in along that; at contact its thrusters are
off, and a probe and a cone capture it. In the last two metres the arms of the ground test hold the
satellites as they are to each other in orbit, and the contact acts between what the arms hold.
"""

from math import pi

import numpy as np

from kinetarium.control.admittance.floating import mean_motion, orbit_transition
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.scene.docking import SATELLITE_LENGTH
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, rotation_about
from kinetarium.studies.dock.mission.arms import ArmPair, score_arms
from kinetarium.studies.dock.mission.config import FINE, MissionCase, Side
from kinetarium.studies.dock.press.probe import SHAPE, ProbeContact

STEP = 0.05
"""Time step of the flight [s]."""
HOLD, NEAR = 10.0, 2.0
"""Distances of the hold point and of the start of the final approach [m]."""
FLIGHT_ROUND = 90.0
"""Duration of the flight from the bar to the docking axis [s]."""
CRUISE = 0.3
"""Greatest speed along the bar [m/s]."""
TOUCH = 0.02
"""Gap below which steps are fine [m]."""
AFTER = 4.0
"""Time recorded after the latch has closed, or after the probe has missed [s]."""
MOMENTS = (0.0375, 0.03208333333333334, 0.03208333333333334)
"""Principal moments of inertia of a satellite over its mass [m^2]."""
_BETWEEN = SATELLITE_LENGTH + SHAPE.length
"""Distance of the centres when the probe's tip is in the target's face [m]."""
_POSITION_RATE, _ATTITUDE_RATE = 0.4, 0.6
"""Bandwidths of the chaser's position and attitude control [rad/s]."""
_TUMBLE_AXIS = np.array([0.2, 0.3, 1.0]) / np.linalg.norm([0.2, 0.3, 1.0])
"""Direction of the target's rotation at first, in its own axes."""


class Craft:
    """A satellite in orbit.

    Attributes:
        n: Rate of the orbit [rad/s].
        p: Position in the orbit's frame [m], shape (3,).
        v: Velocity in that frame [m/s], shape (3,).
        R: Attitude in inertial axes, shape (3, 3).
        spin: Angular momentum in inertial axes [kg m^2/s], shape (3,).
        work: Work of the forces and moments on it [J].
        impulse: Impulse of all forces on it, those of the orbit included [N s], shape (3,).
        turned: Impulse of all moments on it, inertial [N m s], shape (3,).
    """

    def __init__(self, mass: float, *, p: Array, v: Array, R: Array, w: Array, n: float) -> None:
        """Place it; w is its angular velocity in inertial axes, n the rate of the orbit."""
        self.mass, self.n = mass, n
        self._moment = mass * np.array(MOMENTS)
        self.p, self.v, self.R = p.copy(), v.copy(), R.copy()
        self.spin = R @ (self._moment * (R.T @ w))
        self.work, self.impulse, self.turned = 0.0, np.zeros(3), np.zeros(3)

    @property
    def w(self) -> Array:
        """Angular velocity in inertial axes [rad/s], shape (3,)."""
        return np.asarray(self.R @ ((self.R.T @ self.spin) / self._moment))

    @property
    def moment(self) -> Array:
        """Moment of inertia in inertial axes [kg m^2], shape (3, 3)."""
        return np.asarray(self.R * self._moment @ self.R.T)

    @property
    def energy(self) -> float:
        """Kinetic energy, and potential energy of the tide in the orbit's frame [J]."""
        x, _, z = self.p
        tide = -0.5 * self.n**2 * (3 * x * x - z * z)
        return float(self.mass * (self.v @ self.v / 2 + tide) + self.spin @ self.w / 2)

    def step(self, force: Array, torque: Array, *, dt: float) -> None:
        """Advance by a time [s] under a force in the orbit's frame and an inertial moment."""
        n, m = self.n, self.mass
        transition, response = orbit_transition(n, dt)
        before = self.p, self.v
        state = transition @ np.concatenate(before) + response @ (force / m)
        self.p, self.v = state[:3], state[3:]
        moved, between = self.p - before[0], (self.p + before[0]) / 2
        orbital = np.array(
            [
                3 * n * n * between[0] * dt + 2 * n * moved[1],
                -2 * n * moved[0],
                -n * n * between[2] * dt,
            ]
        )
        self.impulse += force * dt + m * orbital
        # The force is constant: its work is exact. That of the moment is with the mean rate.
        rate, attitude = self.w, self.R
        self.spin = self.spin + torque * dt
        # The rate at half of the step: that of a tumbling body changes with its attitude.
        self.R = so3.exp(self.w * dt / 2) @ attitude
        self.R = so3.exp(self.w * dt) @ attitude
        after = self.w
        self.work += float(force @ moved) + float(torque @ (rate + after)) / 2 * dt
        self.turned += torque * dt


class Guidance:
    """Where the chaser should be, and the thrust and moment that bring it there.

    Attributes:
        delta_v: Sum of all changes of velocity by thrust so far [m/s].
    """

    def __init__(self, case: MissionCase) -> None:
        """Plan the times of the phases."""
        self._case = case
        self._bar = _bar(case.approach)
        self._along = max((case.distance - HOLD) * 1.875 / CRUISE, 1.0)
        self._final = 3 * NEAR / (2 * case.speed + 0.1)
        self.final_from = self._along + FLIGHT_ROUND
        self.contact_from = self.final_from + self._final
        self._places: list[Array] = []
        self._turns: list[Array] = []
        self.delta_v = 0.0

    def gap(self, t: float) -> float:
        """Return the desired distance from the probe's tip to the target's face [m]."""
        if t < self._along:
            return HOLD + (self._case.distance - HOLD) * (1 - _smooth(t / self._along))
        if t < self.final_from:
            return HOLD + (NEAR - HOLD) * _smooth((t - self._along) / FLIGHT_ROUND)
        u, T = (t - self.final_from) / self._final, self._final
        if u >= 1:
            return TOUCH * 2 - self._case.speed * (u - 1) * T
        # A cubic that ends at the speed of the contact.
        return float(
            NEAR * (2 * u**3 - 3 * u**2 + 1)
            + TOUCH * 2 * (3 * u**2 - 2 * u**3)
            - self._case.speed * T * (u**3 - u**2)
        )

    def command(
        self, t: float, chaser: Craft, target: Craft, *, turn: Array
    ) -> tuple[Array, Array]:
        """Return force in the orbit's frame and inertial moment [N, N m], shape (3,) each.

        Args:
            t: Time [s].
            chaser: The chaser.
            target: The target.
            turn: Rotation from inertial axes to the orbit's, shape (3, 3).
        """
        case, n = self._case, chaser.n
        axis = turn @ target.R[:, 0]
        share = _smooth((t - self._along) / FLIGHT_ROUND)
        toward = _between(self._bar, axis, share)
        self._places = [*self._places[-2:], target.p + (self.gap(t) + _BETWEEN) * toward]
        a, b, c = (self._places[:1] * 3 + self._places)[-3:]
        v, acceleration = (c - b) / STEP, (c - 2 * b + a) / STEP**2
        off, rate = c - chaser.p, v - chaser.v
        orbital = np.array(
            [3 * n * n * chaser.p[0] + 2 * n * chaser.v[1], -2 * n * chaser.v[0],
             -n * n * chaser.p[2]]
        )  # fmt: skip
        wn = _POSITION_RATE
        force = chaser.mass * (acceleration + wn * wn * off + 2 * wn * rate - orbital)
        self.delta_v += float(np.linalg.norm(force)) / case.mass[0] * STEP
        return force, self._torque(chaser, -(turn.T @ toward))

    def _torque(self, chaser: Craft, ahead: Array) -> Array:
        """Return the moment that turns the chaser's probe into a direction, without roll."""
        self._turns = [*self._turns[-1:], ahead]
        w_D = np.cross(self._turns[0], ahead) / STEP
        off = np.cross(chaser.R[:, 0], ahead)
        wn = _ATTITUDE_RATE
        turn = wn * wn * off + 2 * wn * (w_D - chaser.w)
        return np.asarray(chaser.moment @ turn + np.cross(chaser.w, chaser.spin))


STATE = ("gap", "force", "delta_v", "latched", "arm_error")


def run(case: MissionCase) -> Recording:
    """Fly the mission and record it, every second at first and finely in contact."""
    n = mean_motion(case.altitude_km * 1e3)
    guidance = Guidance(case)
    bar = _bar(case.approach)
    tilted = rotation_about((0.0, 1.0, 0.0), 0.3)
    target = Craft(
        case.mass[1], p=np.zeros(3), v=np.zeros(3), R=tilted,
        w=tilted @ _TUMBLE_AXIS * case.tumble, n=n,
    )  # fmt: skip
    chaser = Craft(
        case.mass[0], p=bar * (case.distance + _BETWEEN), v=np.zeros(3),
        R=_facing(-bar), w=np.zeros(3), n=n,
    )  # fmt: skip
    contact = ProbeContact(
        SHAPE, stiffness=case.stiffness, damping=case.damping, friction=case.friction
    )
    arms, apart = ArmPair(NEAR), 0.0
    t, rows, touched, end, next_row = 0.0, [], False, np.inf, 0.0
    start = _totals(chaser, target)
    while t < end:
        turn = rotation_about((0.0, 0.0, 1.0), -n * t)
        X_C, X_T = _pose(chaser, turn), _pose(target, turn)
        if t >= guidance.final_from:
            held = X_T @ arms.follow(inverse_pose(X_T) @ X_C)
            apart = float(np.linalg.norm(held[:3, 3] - X_C[:3, 3]))
            X_C = held if arms.follows else X_C
        gap = _gap(X_C, X_T)
        close = gap < TOUCH
        dt = FINE if close or touched else STEP
        force, torques = np.zeros(3), [np.zeros(3), np.zeros(3)]
        if close or touched:
            rates = [turn @ craft.w - (0.0, 0.0, n) for craft in (chaser, target)]
            force, moment = contact.forces(
                X_C, X_T,
                V_C=np.concatenate([chaser.v, rates[0]]), V_T=np.concatenate([target.v, rates[1]]),
                dt=dt,
            )  # fmt: skip
            for i, (craft, sign) in enumerate(((chaser, 1.0), (target, -1.0))):
                lever = contact.point - craft.p
                torques[i] = turn.T @ (sign * (moment + np.cross(lever, force)))
            touched = touched or bool(force.any())
        if t >= next_row:
            state = [gap, np.linalg.norm(force), guidance.delta_v, contact.is_latched, apart]
            rows.append([t, X_C, X_T, _books(chaser, target, start), state, arms.q])
            next_row = t + (0.01 if close or touched else 1.0)
        thrust = np.zeros(3)
        if not touched:
            if close:
                torque = np.zeros(3)
            else:
                thrust, torque = guidance.command(t, chaser, target, turn=turn)
            torques[0] = torques[0] + torque
        chaser.step(force + thrust, torques[0], dt=dt)
        target.step(-force, torques[1], dt=dt)
        t += dt
        if end == np.inf and (contact.is_latched or t > guidance.contact_from + 30.0):
            end = t + AFTER
    return _recorded(rows, guidance, columns=arms.columns)


def _recorded(
    rows: list[list],  # type: ignore[type-arg]
    guidance: Guidance,
    *,
    columns: tuple[str, ...],
) -> Recording:
    time, X_C, X_T, books, state, q = (
        np.array(part, dtype=np.float64) for part in zip(*rows, strict=True)
    )
    return Recording(
        {
            "time": Channel(time, "s"),
            "chaser": Channel(X_C.reshape(-1, 16), "m"),
            "target": Channel(X_T.reshape(-1, 16), "m"),
            "books": Channel(books, "-", BOOKS),
            "state": Channel(state, "m, N, m/s, 1, m", STATE),
            "q": Channel(q, "rad", columns),
        },
        "running",
        {"phases": _phases(time, state, guidance)},
    )


def _phases(time: Array, state: Array, guidance: Guidance) -> list[list[str | float]]:
    """Return the names of the phases with their first and last times [s]."""
    starts = {
        "along the bar": 0.0,
        "round the target": guidance.final_from - FLIGHT_ROUND,
        "on the arms": guidance.final_from,
    }
    for name, seen in (("contact", state[:, 1] > 0), ("captured", state[:, 3] > 0)):
        if seen.any():
            starts[name] = float(time[seen][0])
    ends = [*list(starts.values())[1:], float(time[-1])]
    return [[name, begin, end] for (name, begin), end in zip(starts.items(), ends, strict=True)]


BOOKS = ("momentum", "spin", "energy", "momentum_scale", "spin_scale", "energy_scale")


def _totals(chaser: Craft, target: Craft) -> tuple[Array, Array, float]:
    momentum = np.concatenate([c.mass * c.v for c in (chaser, target)])
    spin = np.concatenate([chaser.spin, target.spin])
    return momentum, spin, chaser.energy + target.energy


def _books(chaser: Craft, target: Craft, start: tuple[Array, Array, float]) -> list[float]:
    """Return what the books lack, and the scales to compare it with.

    Momentum minus the impulses of thrust, orbit and contact; angular momentum minus the impulses
    of all moments; energy minus all work.
    """
    both = (chaser, target)
    momentum, spin, energy = _totals(chaser, target)
    impulses = np.concatenate([c.impulse for c in both])
    turned = np.concatenate([c.turned for c in both])
    work = sum(c.work for c in both)
    return [
        float(np.linalg.norm(momentum - start[0] - impulses)),
        float(np.linalg.norm(spin - start[1] - turned)),
        abs(energy - start[2] - work),
        float(np.linalg.norm(momentum)),
        float(np.linalg.norm(spin)),
        abs(energy),
    ]


def phases(recording: Recording) -> dict[str, float]:
    """Return when each phase of a mission began [s]."""
    return {name: begin for name, begin, _ in recording.facts["phases"]}


def score(case: MissionCase, recording: Recording) -> Row:
    """Measure a mission.

    Returns:
        contact_time_s: When probe and cone touched; None if they did not.
        contact_speed_ms, contact_offset_m, contact_tilt_rad: Closing speed, distance of the
            probe's tip from the cone's axis and angle between the axes at that time.
        captured: Whether the latch closed.
        capture_time_s: When; None if it did not.
        peak_n: Greatest contact force.
        delta_v_ms: Sum of all changes of velocity by thrust.
        momentum_error, spin_error, energy_error: What the books lack at the end, over the greatest
            momentum, angular momentum and energy of the mission.
        arm_error_m: Greatest distance between the chaser as the arms hold it and as it is in orbit.
        arm_speed_share, arm_room_rad: As `score_arms`.
        flags: Warnings, as sentences.
    """
    time, state, books = recording["time"], recording["state"], recording["books"]
    touching = np.flatnonzero(state[:, 1] > 0)
    first = int(touching[0]) if touching.size else None
    latched = np.flatnonzero(state[:, 3])
    most = np.maximum(books[:, 3:].max(axis=0), 1e-12)
    lacking = books[:, :3].max(axis=0) / most
    flags = []
    if first is None:
        flags.append("probe and cone did not touch")
    elif not latched.size:
        flags.append("the probe was not captured")
    arms = score_arms(recording, since=phases(recording)["on the arms"])
    return {
        "contact_time_s": None if first is None else float(time[first]),
        **_at_contact(recording, first),
        "captured": bool(latched.size),
        "capture_time_s": float(time[latched[0]]) if latched.size else None,
        "peak_n": float(state[:, 1].max()),
        "delta_v_ms": float(state[-1, 2]),
        "momentum_error": float(lacking[0]),
        "spin_error": float(lacking[1]),
        "energy_error": float(lacking[2]),
        "arm_error_m": float(state[:, 4].max()),
        **arms,
        "flags": [*flags, *arms["flags"]],
    }


def _at_contact(recording: Recording, first: int | None) -> dict[str, float | None]:
    if first is None:
        return dict.fromkeys(("contact_speed_ms", "contact_offset_m", "contact_tilt_rad"))
    X_C, X_T = (recording[name][first].reshape(4, 4) for name in ("chaser", "target"))
    tip = X_C[:3, 3] + (SATELLITE_LENGTH / 2 + SHAPE.length) * X_C[:3, 0]
    aside = tip - X_T[:3, 3]
    aside = aside - (aside @ X_T[:3, 0]) * X_T[:3, 0]
    before = max(first - 5, 0)
    gaps, time = recording["state"][:, 0], recording["time"]
    return {
        "contact_speed_ms": float((gaps[before] - gaps[first]) / (time[first] - time[before])),
        "contact_offset_m": float(np.linalg.norm(aside)),
        "contact_tilt_rad": float(np.arccos(np.clip(-X_C[:3, 0] @ X_T[:3, 0], -1.0, 1.0))),
    }


def _bar(side: Side) -> Array:
    """Return the direction from the target to the chaser's start, shape (3,)."""
    return np.array([0.0, -1.0, 0.0] if side is Side.V_BAR else [-1.0, 0.0, 0.0])


def _facing(ahead: Array) -> Array:
    """Return an attitude whose x axis points in a direction in the orbit's plane, shape (3, 3)."""
    up = np.array([0.0, 0.0, 1.0])
    return np.column_stack([ahead, np.cross(up, ahead), up])


def _pose(craft: Craft, turn: Array) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = turn @ craft.R, craft.p
    return X


def _gap(X_C: Array, X_T: Array) -> float:
    """Return the distance of the probe's tip from the target's face, or from its centre [m]."""
    tip = X_C[:3, 3] + (SATELLITE_LENGTH / 2 + SHAPE.length) * X_C[:3, 0]
    away = tip - X_T[:3, 3] - SATELLITE_LENGTH / 2 * X_T[:3, 0]
    gap = float(away @ X_T[:3, 0])
    beside = float(np.linalg.norm(away - gap * X_T[:3, 0]))
    return gap if beside < 2 * SHAPE.opening else float(np.linalg.norm(away))


def _smooth(u: float) -> float:
    """Return 10 u^3 - 15 u^4 + 6 u^5, from 0 to 1 without a jump of speed or acceleration."""
    u = min(max(u, 0.0), 1.0)
    return u**3 * (10 - 15 * u + 6 * u**2)


def _between(a: Array, b: Array, share: float) -> Array:
    """Return a unit vector on the great circle from one to another, shape (3,)."""
    angle = float(np.arccos(np.clip(a @ b, -1.0, 1.0)))
    if angle < 1e-9 or pi - angle < 1e-9:
        return b if share > 0.5 else a
    return np.asarray((np.sin((1 - share) * angle) * a + np.sin(share * angle) * b) / np.sin(angle))
