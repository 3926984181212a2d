"""One run: two arms dock in an engine; and its measures.

Error and ripple are those of the sensed force, which is available on a real rig; settling,
peak and rebounds are those of the true contact force.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any

import numpy as np

from kinetarium.control.admittance.sensing import contact_point
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.protocol import Options, Simulation
from kinetarium.engines.registry import open_engine
from kinetarium.recording.recording import Recording, Row
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene.docking import (
    CENTER,
    CHASER,
    SATELLITE,
    SATELLITE_LENGTH,
    TARGET,
    DockingScene,
)
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studies.dock.press._controller import DockingController
from kinetarium.studies.dock.press._reference import one_axis_docking
from kinetarium.studies.dock.press.arms import docking_of
from kinetarium.studies.dock.press.cases import CONTACT_TIME, cruise
from kinetarium.studies.dock.press.config import Contact, DockCase
from kinetarium.studies.dock.press.contact import ElasticFaces, FaceContact
from kinetarium.studies.dock.press.presets import (
    PRESETS,
    WRENCH_GAIN,
    case_contact,
    case_critical_delay,
    case_delay,
    case_gains,
    damper,
    pressing_gains,
    wanted_wrench,
)
from kinetarium.studies.dock.press.probe import SHAPE, ProbeCone
from kinetarium.studies.dock.press.settling import BAND, band, settling_formula

_CHOICES: Mapping[str, Mapping[str, Any]] = {"mujoco": {"integrator": "discrete"}}


def engine_options(name: str) -> Options:
    """Return the options of an engine: its defaults, except what its sensors need."""
    engine = open_engine(name)
    kind = engine.options
    chosen = {**to_builtins(kind()), **_CHOICES.get(engine.info.name, {})}
    return from_builtins(kind, chosen, where=f"options of {name}")


COORDINATES = ("eta_x", "eta_y", "eta_z", "xi_x", "xi_y", "xi_z")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
INSERTION = ("depth", "latched", "side")
ENERGIES = ("virtual", "added", "tank")
WARNINGS = ("gate", "bounded", "half_turn", "singular", "joint_limit", "too_fast")


@dataclass(frozen=True)
class Watched:
    """A probe of a quantity outside the simulation.

    Attributes:
        name: Name of its channel.
        unit: Unit of its values.
        columns: Names of the values.
        look: Returns the values.
    """

    name: str
    unit: str
    columns: Sequence[str]
    look: Callable[[], Array]

    def read(self, simulation: Simulation) -> Array:
        """Return the values, shape (len(columns),)."""
        return self.look()


@dataclass(frozen=True)
class EngineContact:
    """A probe of the engine's contacts between the satellites."""

    name: str = "contact"
    unit: str = "N, m"
    columns: tuple[str, ...] = ("force", "x", "y", "z")

    def read(self, simulation: Simulation) -> Array:
        """Return the normal force and the centre of pressure."""
        solids = simulation.layout.solids
        pair = {solids.index(f"{robot}/{SATELLITE}") for robot in (CHASER, TARGET)}
        contacts = simulation.contacts()
        ours = [i for i, (a, b) in enumerate(contacts.solids.tolist()) if {a, b} == pair]
        forces = np.vecdot(contacts.forces[ours], contacts.normals[ours])
        total = float(forces.sum())
        point = forces @ contacts.points[ours] / total if total > 0 else np.full(3, np.nan)
        return np.array([total, *point])


def controller_channels(controller: DockingController) -> tuple[Watched, ...]:
    """Return probes of the controller's state at its last tick."""
    return (
        Watched("error", "m, rad", COORDINATES, lambda: controller.error),
        Watched("impulse", "N s, N m s", WRENCH, lambda: controller.impulse),
        Watched("sensed", "N, N m", WRENCH, lambda: controller.sensed),
        Watched("desired", "N, N m", WRENCH, lambda: controller.desired),
        Watched("warnings", "1", WARNINGS, lambda: controller.warnings),
    )


def _insertion(law: ProbeCone) -> Watched:
    """Return a probe of the insertion into the cone."""
    return Watched(
        "insertion", "m, 1, N", INSERTION, lambda: np.array([law.depth, law.is_latched, law.side])
    )


def contact_channel(law: FaceContact | ProbeCone) -> Watched:
    """Return a probe of the prescribed contact."""
    return Watched(
        "contact", "N, m", EngineContact.columns, lambda: np.array([law.force, *law.point])
    )


DURATION = 5.5
"""Simulated time, as in the paper [s]."""
ALLOWED = 1.5
"""Greatest ratio of a settling time to that of the closed form [-]."""
TIMESTEP = 1e-3
"""Physics time step [s]."""


def duration(case: DockCase, docking: DockingScene) -> float:
    """Return the simulated time [s]: of a free docking until it must have settled."""
    if not case.is_free:
        return DURATION
    needed = ALLOWED * settling_formula(case, docking) + WINDOW
    if case.contact is Contact.PROBE:
        # F_des moves it at s F/K against no resistance.
        K, F = float(pressing_gains(case).diagonal_K[0]), -float(wanted_wrench(case)[0])
        needed += ALLOWED * (SHAPE.mouth + SHAPE.socket) * K / (WRENCH_GAIN * F)
    return round(CONTACT_TIME + cruise(case) / case.speed + max(needed, 1.0), 3)


def run(case: DockCase) -> Recording:
    """Let the chaser approach and dock, and record every step."""
    stiffness, damping = case_contact(case)
    by_engine = case.contact is Contact.ENGINE
    docking = docking_of(case, contact=by_engine)
    controller = DockingController(case, docking, timestep=TIMESTEP)
    law: FaceContact | ProbeCone
    if case.contact is Contact.PROBE:
        law = ProbeCone(docking, stiffness=stiffness, damping=damping, friction=case.friction)
    elif case.contact is Contact.FACE:
        law = ElasticFaces(docking, stiffness=stiffness, damping=damping, friction=case.friction)
    else:
        law = FaceContact(
            docking,
            stiffness=stiffness,
            damping=damping,
            friction=case.friction,
            hardening=case.contact is Contact.HUNT_CROSSLEY,
        )
    pressed = Watched("pressed", "N, N m", WRENCH, lambda: law.F_B)
    energies = Watched("energies", "J", ENERGIES, lambda: controller.energies)
    recording = simulate(
        docking.scene,
        engine=case.engine,
        controller=controller,
        interactions=() if by_engine else (law,),
        probes=(
            *controller_channels(controller),
            EngineContact() if by_engine else contact_channel(law),
            *((pressed,) if case.is_free and not by_engine else ()),
            *((energies,) if case.contact_d else ()),
            *((_insertion(law),) if isinstance(law, ProbeCone) else ()),
        ),
        duration=duration(case, docking),
        timestep=TIMESTEP,
        sample_rate=1 / TIMESTEP,
        options=engine_options(case.engine),
        seed=case.seed,
    )
    dropped = {"v", "poses", "twists", "command", "wrench/chaser", "wrench/target"}
    kept = {name: c for name, c in recording.channels.items() if name not in dropped}
    return replace(recording, channels=kept, timing=tick_timing(controller.tick_times))


def tick_timing(times: Sequence[float]) -> dict[str, float]:
    """Return the median and the 99th percentile of the times of all ticks [s]."""
    if not times:
        return {}
    half, most = np.percentile(times, (50, 99))
    return {"tick_p50_s": float(half), "tick_p99_s": float(most)}


_AXES = ("x", "y", "z")
_REACHED = 0.5
"""Share of a desired force above which it is considered reachable [-]."""
_HARD = 2000.0
"""Contact force above which an impact is flagged [N]."""
_NOTABLE_IMPULSE = 1.0
"""Impulse before contact above which windup is flagged [N s]."""
_RINGING = 0.1
"""Ripple over the desired force above which the contact is not settled [-]."""
_NOTABLE_LOAD = 0.3
"""Payload over virtual mass above which the loop loses damping [-]."""
_SENTENCES = {
    "bounded": "the impulse reached its bound: it wound up",
    "half_turn": "the angle between body and path came near pi, where its coordinates jump",
    "singular": "the arm was in or near a singular posture; its inverse was damped",
    "joint_limit": "a joint was held at its limit",
    "too_fast": "joint rates were scaled down to the limits",
}


def flags(case: DockCase, recording: Recording, row: Row) -> list[str]:
    """Return the flags of a run, as sentences."""
    said = [*_windup(case, recording, row), *_unreachable(case, recording, row)]
    seen = recording["warnings"].max(axis=0)
    said += [_SENTENCES[name] for name, on in zip(WARNINGS[1:], seen[1:], strict=True) if on]
    if recording.status == "diverged":
        said.append("the simulation diverged")
    if row["contact_time_s"] is None:
        said.append("the satellites did not touch")
    elif not seen[0]:
        said.append(f"no sensed force passed the gate of {case.gate:g} N: F_des never acted")
    elif row["peak_n"] > _HARD:
        said.append(f"a blow: the contact force peaked at {row['peak_n'] / 1e3:.1f} kN")
    if row["ripple_n"] > _RINGING * abs(wanted_wrench(case)[0]):
        said.append(_ringing(case))
    elif row["contact_time_s"] is not None and seen[0] and row["settle_s"] is None:
        said.append("the contact force did not come to stay within 5 % of the wanted one")
    if row.get("latched") is False:
        where = f"{1e3 * row['insertion_m']:.0f} mm below the target's face"
        said.append(f"the probe {'jammed' if row['jammed'] else 'was not captured'}, {where}")
    load = WRENCH_GAIN * case.payload_kg / float(case_gains(case).diagonal_D[0])
    if load > _NOTABLE_LOAD:
        said.append(
            f"the payload is {load:.2f} of the virtual mass and takes damping from the loop;"
            " above 0.6 is refused"
        )
    return said


def _windup(case: DockCase, recording: Recording, row: Row) -> list[str]:
    touched: Any = row["contact_time_s"]
    before = recording["time"] < (np.inf if touched is None else touched)
    most = float(np.abs(recording["impulse"][before, 0]).max(initial=0.0))
    if most < _NOTABLE_IMPULSE:
        return []
    if recording["desired"][before].any():
        why = "F_des acted before contact, "
        why += f"behind a gate of only {case.gate:g} N" if case.gate else "without a gate"
    else:
        why = "the integrator ran before contact"
    return [f"{why}: the impulse had wound up to {most:.0f} N s when the satellites met"]


def _ringing(case: DockCase) -> str:
    said = (
        f"the contact does not come to rest: the loop is {1e3 * case_delay(case):.1f} ms late, and"
    )
    if case.contact is Contact.PRESCRIBED:
        return f"{said} bears {1e3 * case_critical_delay(case):.1f} ms at most"
    return f"{said} this contact is too stiff, or too little damped, for that"


def _unreachable(case: DockCase, recording: Recording, row: Row) -> list[str]:
    wanted = wanted_wrench(case)
    tail = recording["time"] > recording["time"][-1] - 0.5
    reached = recording["sensed"][tail].mean(axis=0)
    return [
        f"F_des {axis} = {wanted[i]:.0f} N is not reachable: {abs(reached[i]):.0f} N push back"
        f" along {axis}, and the satellite drifted {abs(recording['error'][-1, i]):.3f} m"
        for i, axis in enumerate(_AXES)
        if abs(wanted[i]) > BAND * abs(wanted[0]) and row["contact_time_s"] is not None
        if reached[i] / wanted[i] < _REACHED
    ]


WINDOW = 0.5
"""The last part of a run, considered steady [s]."""
HELD = 0.05
"""Minimum time that a force must have been settled at the end of a run [s]."""


def score(case: DockCase, recording: Recording) -> Row:
    """Measure the force, the transient and the pose.

    Returns:
        steady_error_n: Mean sensed normal force of the last half second, minus the desired one.
        ripple_n: Its standard deviation.
        settle_s: From contact until the true force stays within 5 %; None if never.
        rebounds: Number of times that contact was lost.
        peak_n: Maximum of the true force.
        contact_time_s: Time of the first contact; None without contact.
        eta_end_m, xi_end_rad: Exponential coordinates at the end, three each.
        contact_point_error_m: Distance of the contact point computed from the sensed wrench
            from the true one, both as means over the last half second.
        drift_z_m, drift_formula_m: Measured and predicted drift along an axis without
            reaction; None if no force is desired there.
        reference_peak_n, reference_settle_s: Peak and settling time of the same loop on one axis,
            with a stiff arm and without noise; None for other contacts, or if it never settles.
        settle_wrench_s: Of free dockings: from contact until force and moment stay within 5 %.
        settle_formula_s: The same by the closed form.
        settled: Whether it settled within 1.5 times that.
        force_error_n, moment_error_nm: Of free dockings: mean deviation in the last half second.
        insertion_m, latched, jammed, side_n: Of a probe: final depth of its tip below the target's
            face, whether the latch closed or it stopped before under load, greatest side force.
        wedging_tilt_rad: Tilt above which it wedges by the two-point formula.
        energy_added_j, energy_end_j: Of a switched impedance: most and final energy that the
            change has added.
        flags: Warnings, as sentences.
    """
    time, force = recording["time"], recording["contact"][:, 0]
    wanted = -float(wanted_wrench(case)[0])
    touching = np.flatnonzero(force > 0)
    first = int(touching[0]) if touching.size else None
    last = time > time[-1] - WINDOW
    sensed = recording["sensed"][last, 0]
    row = {
        "steady_error_n": abs(float(sensed.mean()) + wanted),
        "ripple_n": float(sensed.std()),
        "settle_s": None if first is None else settling(time[first:], force[first:], wanted),
        "rebounds": 0 if first is None else _rebounds(force[first:]),
        "peak_n": float(force.max()),
        "contact_time_s": None if first is None else float(time[first]),
        "eta_end_m": recording["error"][-1, :3].tolist(),
        "xi_end_rad": recording["error"][-1, 3:].tolist(),
        "contact_point_error_m": _point_error(case, recording, last),
        **_drift(case, recording),
        **_on_one_axis(case, duration=float(time[-1]), wanted=wanted),
    }
    if case.contact is Contact.PROBE:
        row |= _inserted(case, recording, row)
    elif case.is_free:
        row |= _on_six_axes(case, recording, first=first)
    return {**row, "flags": flags(case, recording, row)}


def _on_six_axes(case: DockCase, recording: Recording, *, first: int | None) -> Row:
    docking, time = docking_of(case), recording["time"]
    off = deviations(case, recording)
    limit = settling_formula(case, docking)
    settle = None
    if first is not None:
        settle = settling_within(time[first:], off[:, first:], bands=band(case, docking))
    last = time > time[-1] - WINDOW
    return {
        "settle_wrench_s": settle,
        "settle_formula_s": limit,
        "settled": settle is not None and settle <= ALLOWED * limit,
        "force_error_n": float(off[0, last].mean()),
        "moment_error_nm": float(off[1, last].mean()),
        **_added_energy(case, recording),
    }


def _inserted(case: DockCase, recording: Recording, row: Row) -> Row:
    depth, latched, side = recording["insertion"].T
    tail = recording["time"] > recording["time"][-1] - _STILL
    stopped = bool(np.ptp(depth[tail]) < _STUCK)
    done = bool(latched.any())
    pushed = recording["contact"][tail, 0].mean() > -_PUSHED * wanted_wrench(case)[0]
    return {
        "settle_wrench_s": row["settle_s"],
        "settle_formula_s": None,
        "settled": done and row["settle_s"] is not None,
        "force_error_n": row["steady_error_n"],
        "moment_error_nm": None,
        "insertion_m": float(depth[-1]),
        "latched": done,
        "jammed": not done and stopped and bool(pushed),
        "side_n": float(side[-1]),
        "wedging_tilt_rad": SHAPE.wedging_tilt(case.friction) if case.friction else None,
        **_added_energy(case, recording),
    }


_STILL, _STUCK, _PUSHED = 0.2, 1e-4, 0.5
"""Time [s] and way [m] of a probe that does not move, and the share of the force that pushes it."""


def _added_energy(case: DockCase, recording: Recording) -> Row:
    if not case.contact_d:
        return {}
    added = recording["energies"][:, 1]
    return {"energy_added_j": float(added.max(initial=0.0)), "energy_end_j": float(added[-1])}


_PARTS = (slice(0, 3), slice(3, 6))


def _on_one_axis(case: DockCase, *, duration: float, wanted: float) -> dict[str, float | None]:
    docking = one_axis_docking(case, duration=duration)
    if docking is None or not docking.force.any():
        return {"reference_peak_n": None, "reference_settle_s": None}
    first = int(np.flatnonzero(docking.force)[0])
    return {
        "reference_peak_n": float(docking.force.max()),
        "reference_settle_s": settling(docking.time[first:], docking.force[first:], wanted),
    }


def deviations(case: DockCase, recording: Recording) -> Array:
    """Return how far force [N] and moment [N m] are from the desired ones, shape (2, n)."""
    # The wrench of the engine's own contact is known by the sensor alone.
    pressed = recording.channels.get("pressed", recording.channels["sensed"]).values
    off = pressed - wanted_wrench(case)
    return np.stack([np.linalg.norm(off[:, part], axis=1) for part in _PARTS])


def settling_within(time: Array, off: Array, *, bands: Sequence[float]) -> float | None:
    """Return when deviations come to stay within their bands [s]; None if never.

    Args:
        time: Time since contact [s], shape (n,).
        off: Deviations of force [N] and moment [N m], shape (2, n).
        bands: Those within which they are settled [N, N m].
    """
    shares = (off / np.asarray(bands)[:, np.newaxis]).max(axis=0)
    return settling(time, 1 + BAND * shares, 1.0)


def settling(time: Array, force: Array, wanted: float) -> float | None:
    """Return the settling time of a force [s]; None if it does not settle.

    Args:
        time: Time since contact [s], shape (n,).
        force: The contact force [N], shape (n,).
        wanted: The desired force [N].
    """
    outside = np.flatnonzero(np.abs(force - wanted) > BAND * wanted)
    last = time[outside[-1]] if outside.size else time[0]
    return float(last - time[0]) if time[-1] - last >= HELD else None


def _rebounds(force: Array) -> int:
    touching = force > 0
    return int((touching[:-1] & ~touching[1:]).sum())


def _point_error(case: DockCase, recording: Recording, last: Array) -> float | None:
    points = recording["contact"][last, 1:]
    touching = np.isfinite(points[:, 0])
    if not touching.any():
        return None
    dynamics = RobotDynamics(docking_of(case).chaser.model)
    true = []
    for q, p_WC in zip(recording["q"][last][touching], points[touching], strict=True):
        X_WB = dynamics.link_pose(q[: dynamics.nq], CENTER)
        true.append(X_WB[:3, :3].T @ (p_WC - X_WB[:3, 3]))
    F_B = recording["sensed"][last][touching].mean(axis=0)
    estimated = contact_point(F_B, face=SATELLITE_LENGTH / 2)
    error = float(np.linalg.norm((estimated - np.mean(true, axis=0))[1:]))
    return error if np.isfinite(error) else None


def _drift(case: DockCase, recording: Recording) -> dict[str, float | None]:
    """Compare the drift along z with that of a free integrator."""
    force = 0.0 if case.is_free else float(wanted_wrench(case)[2])
    opened = np.flatnonzero(recording["warnings"][:, 0])
    if not force or not opened.size:
        return {"drift_z_m": None, "drift_formula_m": None}
    t = float(recording["time"][-1] - recording["time"][opened[0]])
    return {
        "drift_z_m": -float(recording["error"][-1, 2]),
        "drift_formula_m": -free_drift(case, force, time=t),
    }


def free_drift(case: DockCase, force: float, *, time: float) -> float:
    """Return the drift from the path along an axis without reaction [m].

    For a step of the force D l' + K l = s F t, so that with T = D/K
    l = (s F/K)(t - T (1 - exp(-t/T))). A ramp of duration r is the mean of steps over all
    starts from 0 to r, and so is the drift.

    Args:
        force: The desired force [N].
        time: Time since it is applied [s].
    """
    preset, K = PRESETS[case.preset], damper(case.case, case.preset)
    T, r = preset.D / K, min(preset.ramp, time)

    def integral(t: float) -> float:
        return t * t / 2 - T * t - T * T * exp(-t / T)

    if r == 0:
        shape = time - T * (1 - exp(-time / T))
    else:
        shape = (integral(time) - integral(time - r)) / preset.ramp
    return WRENCH_GAIN * force / K * shape
