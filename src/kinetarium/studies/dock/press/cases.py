"""Cases of the docking study, and the approach path."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.engines.registry import chosen_engines
from kinetarium.ranges import check_ranges
from kinetarium.roles.roles import BaseKind
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.arms import (
    CONTACT_SPEED,
    DISTANCE,
    docking_of,
    open_arms,
    reaction,
    refuse_overload,
    softer,
    start_of,
)
from kinetarium.studies.dock.press.config import (
    Contact,
    DockCase,
    DockConfig,
    ForceCase,
    PresetName,
)
from kinetarium.studies.dock.press.free import (
    HEAVIEST,
    free_values,
    is_free,
    quiet,
    refuse_unsettled,
)
from kinetarium.studies.dock.press.presets import (
    PRESETS,
    STEP,
    WRENCH_GAIN,
    Preset,
    case_contact,
    desired_wrench,
)
from kinetarium.studies.dock.press.probe import SHAPE

DURATION = 4.0
"""Duration of the path [s]."""


class Approach:
    """Pose and twist along x of the start pose: s = 10 u^3 - 15 u^4 + 6 u^5 with u = t/T.

    At the time of contact it may continue at constant speed, for a target that is farther.
    """

    def __init__(self, X_WB: Array, *, scale: float = 1.0, cruise: float = 0.0) -> None:
        """Create a path that starts at rest.

        Args:
            X_WB: Initial pose, shape (4, 4).
            scale: Length over that of the paper, and so the speed [-].
            cruise: Length at constant speed [m].
        """
        self._cruise = cruise / (scale * CONTACT_SPEED)
        self._length = scale * DISTANCE
        self._start, self._along = X_WB.copy(), self._length * X_WB[:3, 0]

    def at(self, t: float) -> tuple[Array, Array]:
        """Return pose and body twist at a time [s], shapes (4, 4) and (6,)."""
        t, cruising = self._law_time(t)
        u = min(t / DURATION, 1.0)
        s = u**3 * (10 - 15 * u + 6 * u**2)
        X, V = self._start.copy(), np.zeros(6)
        if cruising:
            s += cruising * _SPEED_SHARE
        X[:3, 3] += s * self._along
        V[0] = self._length / DURATION * 30 * u**2 * (1 - u) ** 2
        return X, V

    def acceleration(self, t: float) -> Array:
        """Return the acceleration in the world at a time [m/s^2], shape (3,)."""
        t, cruising = self._law_time(t)
        if 0 < cruising < self._cruise:
            return np.zeros(3)
        u = min(t / DURATION, 1.0)
        return np.asarray(60 * u * (1 - u) * (1 - 2 * u) / DURATION**2 * self._along)

    def _law_time(self, t: float) -> tuple[float, float]:
        """Return the time in the law of the path and the time at constant speed [s]."""
        if t <= CONTACT_TIME or not self._cruise:
            return t, 0.0
        cruising = min(t - CONTACT_TIME, self._cruise)
        return t - cruising, cruising


CONTACT_TIME = 2.8
"""When the path meets a target in its place [s]."""
_SPEED_SHARE = 30 * 0.7**2 * 0.3**2 / DURATION
"""Speed at that time over the length of the path [1/s]."""


def cruise(case: DockCase) -> float:
    """Return how far a free docking continues at constant speed [m].

    A target may be farther than expected, and a tilted face must be pressed on by one vertex until
    the gate opens.
    """
    if not case.is_free:
        return 0.0
    farther = max(case.misalign[0], 0.0) if case.misalign else 0.0
    if case.contact is Contact.PROBE:  # a probe in line meets nothing before the socket's bottom
        farther += SHAPE.mouth + SHAPE.socket
    return farther + 12 * case.gate / case_contact(case)[0]


def cases(config: DockConfig) -> tuple[DockCase, ...]:
    """Return a case for each preset, wrench, engine and seed.

    Raises:
        KinetariumError: If an engine is not available, a list is empty, or the payload or the
            posture is invalid.
    """
    check_ranges(config)
    refuse_empty(config, "case", "preset")
    if config.tank >= 0 and not (config.contact_d or config.contact_k):
        raise ConfigError("--tank requires --contact-d or --contact-k")
    free = is_free(config)
    wanted = (ForceCase.FREE,) if config.wrench else config.case
    if ForceCase.FREE in wanted and not config.wrench:
        raise ConfigError("--case free requires --wrench")
    if not config.gains_d:
        for name in config.preset:
            _refuse_heavy(name, config.payload_kg or PRESETS[name].payload)
    own = {
        (name, case): free_values(config, case=case, preset=name) if free else {}
        for name, case in product(config.preset, wanted)
    }
    wrenches = {
        key: np.array(values["wrench"]) if free else desired_wrench(key[1])
        for key, values in own.items()
    }
    if config.base not in (None, BaseKind.FIXED):
        raise ConfigError("docking arms stand on fixed bases: --base fixed")
    engines = chosen_engines(config.engine)
    chaser, target = open_arms(config)
    payload = max(config.payload_kg or PRESETS[name].payload for name in config.preset)
    wrench = max(wrenches.values(), key=np.linalg.norm)
    length = DISTANCE * (config.speed / CONTACT_SPEED if config.speed else 1.0)
    asked: Any = {"payload": payload, "wrench": wrench, "length": length}
    start = start_of(chaser, given=config.start_deg, **asked)
    facing: tuple[float, ...] = ()
    if target is not chaser:
        facing = start_of(target, given=(), **{**asked, "wrench": reaction(wrench)})
    for name, case in own:
        pressed = wrenches[name, case]
        borne = ((chaser, start, pressed), (target, facing or start, reaction(pressed)))
        for arm, posture, on_arm in borne:
            refuse_overload(
                arm,
                start_deg=posture,
                payload=config.payload_kg or PRESETS[name].payload,
                wrench=on_arm,
            )
    both = ((chaser, target), (start, facing or start))
    found = tuple(
        case_of(
            config,
            DockCase,
            **(own[name, case] if free else {"misalign": ()}),
            case=case,
            preset=name,
            engine=engine,
            target=config.target or config.chaser,
            start_deg=start,
            target_start_deg=facing,
            sha256=chaser.sha256,
            target_sha256=target.sha256,
            seed=config.seed + run,
            stiffness=config.stiffness or _stiffness(config, PRESETS[name], *both),
            payload_kg=config.payload_kg or PRESETS[name].payload,
            delay_ms=config.delay_ms if config.delay_ms >= 0 else PRESETS[name].delay * 1e3,
            gate=config.gate if config.gate >= 0 else PRESETS[name].gate,
        )
        for name, case, engine, run in product(
            dict.fromkeys(config.preset),
            dict.fromkeys(wanted),
            engines,
            range(config.seeds),
        )
    )
    docking_of(found[0])  # refuses faces that do not face each other, before anything runs
    return _settling(found, own_gains=_turning_gains(config)) if free else found


def _turning_gains(config: DockConfig) -> bool:
    """Return whether the gains of the moments are the user's."""
    return len(config.gains_k) > 1 or bool(config.contact_d or config.contact_k)


def _settling(found: Sequence[DockCase], *, own_gains: bool) -> tuple[DockCase, ...]:
    """Return free dockings with gains that settle; refuse what cannot.

    Arms, contact and gains are those of a preset and a wrench, whatever engine and seed.
    """
    gains: dict[tuple[PresetName, ForceCase], tuple[float, ...]] = {}
    for one in {(each.preset, each.case): each for each in found}.values():
        docking = docking_of(one)
        refuse_unsettled(one, docking)
        gains[one.preset, one.case] = quiet(one, docking, own_gains=own_gains).gains_k
    return tuple(replace(each, gains_k=gains[each.preset, each.case]) for each in found)


def random_docking(rng: np.random.Generator, *, config: DockConfig) -> DockConfig:
    """Return a docking with a random wrench, misalignment and speed.

    Forces of 200 to 500 N with moments of up to 20 N m; a third of them on elastic faces with
    friction, where forces of up to 30 N and a moment of up to 5 N m act in the face and about its
    normal, beside moments of up to 8 N m; misalignments of up to 10 mm and 3 degrees; 10 to
    60 mm/s. It may be one that `cases` refuses.

    Args:
        rng: The random numbers.
        config: Its other values.
    """
    rough = rng.random() < 1 / 3
    wrench = [-rng.uniform(200, 500), 0.0, 0.0, 0.0, *_inside(rng, 2, 8.0 if rough else 20.0)]
    if rough:
        wrench[1:4] = [*_inside(rng, 2, 30.0), rng.uniform(-5, 5)]
    turned = (*_inside(rng, 3, 10e-3), *_inside(rng, 3, np.radians(3.0)))
    return replace(
        config,
        wrench=tuple(float(value) for value in wrench),
        misalign=tuple(f"{value:.9f}" for value in turned),
        speed=float(rng.uniform(0.01, 0.06)),
        contact=Contact.FACE if rough else Contact.PRESCRIBED,
        friction=0.3 if rough else 0.0,
    )


def _inside(rng: np.random.Generator, axes: int, most: float) -> Array:
    """Draw a vector of a length up to `most`, in any direction."""
    direction = rng.standard_normal(axes)
    return np.asarray(most * rng.random() * direction / np.linalg.norm(direction))


def _refuse_heavy(name: PresetName, payload: float) -> None:
    virtual = PRESETS[name].D / WRENCH_GAIN
    if payload / virtual > HEAVIEST:
        raise ConfigError(
            f"a payload of {payload:g} kg is too heavy for the virtual mass D/s = {virtual:g} kg"
            f" of '{name}': the sensor behind it measures its inertia, and the loop oscillates"
            f" above {HEAVIEST:g} and diverges from 1 times that mass. Use at most"
            f" {HEAVIEST * virtual:g} kg, or a preset with a greater D"
        )


def _stiffness(
    config: DockConfig,
    preset: Preset,
    robots: Sequence[StudiedRobot],
    starts: Sequence[Sequence[float]],
) -> float:
    """Return the contact stiffness for arms that are too light for the preset's, or 0 [N/m]."""
    if config.contact is Contact.ENGINE:
        return 0.0
    factor = softer(
        robots,
        starts=starts,
        payload=config.payload_kg or preset.payload,
        damping=preset.damping,
        step=STEP,
    )
    # Two digits are enough, and are readable in the report.
    return 0.0 if factor >= 1 else float(f"{factor * preset.stiffness:.1e}")
