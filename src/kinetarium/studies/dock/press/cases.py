"""Cases of the docking study, and the approach path."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.engines.registry import chosen_engines
from kinetarium.ranges import check_ranges
from kinetarium.roles.roles import BaseKind
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.arms import (
    DISTANCE,
    docking_of,
    open_arms,
    refuse_overload,
    softer,
    start_of,
)
from kinetarium.studies.dock.press.config import Contact, DockCase, DockConfig, PresetName
from kinetarium.studies.dock.press.presets import (
    PRESETS,
    STEP,
    WRENCH_GAIN,
    Preset,
    desired_wrench,
)

DURATION = 4.0
"""Duration of the path [s]."""


class Approach:
    """Pose and twist along x of the start pose: s = 10 u^3 - 15 u^4 + 6 u^5 with u = t/T."""

    def __init__(self, X_WB: Array) -> None:
        """Create a path that starts at rest.

        Args:
            X_WB: Initial pose, shape (4, 4).
        """
        self._start, self._along = X_WB.copy(), DISTANCE * X_WB[:3, 0]

    def at(self, t: float) -> tuple[Array, Array]:
        """Return pose and body twist at a time [s], shapes (4, 4) and (6,)."""
        u = min(t / DURATION, 1.0)
        s = u**3 * (10 - 15 * u + 6 * u**2)
        X, V = self._start.copy(), np.zeros(6)
        X[:3, 3] += s * self._along
        V[0] = DISTANCE / DURATION * 30 * u**2 * (1 - u) ** 2
        return X, V

    def acceleration(self, t: float) -> Array:
        """Return the acceleration in the world at a time [m/s^2], shape (3,)."""
        u = min(t / DURATION, 1.0)
        return np.asarray(60 * u * (1 - u) * (1 - 2 * u) / DURATION**2 * self._along)


HEAVIEST = 0.6
"""Maximum ratio of payload to virtual mass D/s [-]; from 1 on the loop diverges."""


def cases(config: DockConfig) -> tuple[DockCase, ...]:
    """Return a case for each preset, wrench, engine and seed.

    Raises:
        KinetariumError: If an engine is not available, a list is empty, or the payload or the
            posture is invalid.
    """
    check_ranges(config)
    refuse_empty(config, "case", "preset")
    for name in config.preset:
        _refuse_heavy(name, config.payload_kg or PRESETS[name].payload)
    if config.base not in (None, BaseKind.FIXED):
        raise ConfigError("docking arms stand on fixed bases: --base fixed")
    engines = chosen_engines(config.engine)
    chaser, target = open_arms(config)
    payload = max(config.payload_kg or PRESETS[name].payload for name in config.preset)
    wrench = max(map(desired_wrench, config.case), key=np.linalg.norm)
    start = start_of(chaser, given=config.start_deg, payload=payload, wrench=wrench)
    facing: tuple[float, ...] = ()
    if target is not chaser:
        facing = start_of(target, given=(), payload=payload, wrench=wrench)
    for name, case in product(config.preset, config.case):
        for arm, posture in ((chaser, start), (target, facing or start)):
            refuse_overload(
                arm,
                start_deg=posture,
                payload=config.payload_kg or PRESETS[name].payload,
                wrench=desired_wrench(case),
            )
    both = ((chaser, target), (start, facing or start))
    found = tuple(
        case_of(
            config,
            DockCase,
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
            dict.fromkeys(config.case),
            engines,
            range(config.seeds),
        )
    )
    docking_of(found[0])  # refuses faces that do not face each other, before anything runs
    return found


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
