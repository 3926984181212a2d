"""Cases of the docking study, and the approach path."""

from itertools import product
from math import degrees

import numpy as np

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.engines.registry import chosen_engines
from kinetarium.ranges import check_ranges
from kinetarium.scene.docking import docking_scene
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.config import DockCase, DockConfig, PresetName
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN, start_positions

GAP = 0.1674
"""Initial distance of the docking faces [m]."""
DISTANCE = 0.20
"""Length of the path [m]; it would end inside the target."""
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
    _refuse_posture(config)
    return tuple(
        case_of(
            config,
            DockCase,
            case=case,
            preset=name,
            engine=engine,
            seed=config.seed + run,
            payload_kg=config.payload_kg or PRESETS[name].payload,
            delay_ms=config.delay_ms if config.delay_ms >= 0 else PRESETS[name].delay * 1e3,
            gate=config.gate if config.gate >= 0 else PRESETS[name].gate,
        )
        for name, case, engine, run in product(
            dict.fromkeys(config.preset),
            dict.fromkeys(config.case),
            chosen_engines(config.engine),
            range(config.seeds),
        )
    )


def _refuse_heavy(name: PresetName, payload: float) -> None:
    virtual = PRESETS[name].D / WRENCH_GAIN
    if payload / virtual > HEAVIEST:
        raise ConfigError(
            f"a payload of {payload:g} kg is too heavy for the virtual mass D/s = {virtual:g} kg"
            f" of '{name}': the sensor behind it measures its inertia, and the loop oscillates"
            f" above {HEAVIEST:g} and diverges from 1 times that mass. Use at most"
            f" {HEAVIEST * virtual:g} kg, or a preset with a greater D"
        )


def _refuse_posture(config: DockConfig) -> None:
    """Check the initial posture by building the scene before anything runs."""
    placed = start_positions(config.start_deg)
    model = docking_scene(payload=1.0, gap=GAP, positions=placed).model
    for joint in model.moving_joints:
        lower, upper = joint.limits.lower, joint.limits.upper
        if not lower <= placed[joint.name] <= upper:
            raise ConfigError(
                f"--start-deg: {joint.name} = {degrees(placed[joint.name]):g} deg is outside its"
                f" limits {degrees(lower):g} .. {degrees(upper):g} deg"
            )
