"""Recommended gains, gate and filter for each delay and stiffness, computed on the spot."""

from math import sqrt

from kinetarium.control.admittance.law import critical_delay
from kinetarium.control.admittance.sensing import RandomWalkKalman
from kinetarium.figure.page import Section
from kinetarium.figure.text import Cell, Column, Prose, Table, header
from kinetarium.studies.dock.press.config import PresetName
from kinetarium.studies.dock.press.contact import turning_stiffness
from kinetarium.studies.dock.press.free import MOST_INERTIA
from kinetarium.studies.dock.press.presets import (
    PRESETS,
    STEP,
    WRENCH_GAIN,
    Preset,
    filter_lag,
    loop_delay,
)

_STIFFNESS = (1e4, 3e4, 1e5, 3e5, 1e6)
_DELAYS_MS = (1.0, 2.0, 5.0, 10.0, 20.0)
_SAFE = 2.0
"""Required ratio of the critical delay to the actual delay [-]."""
_LEAST_DAMPER, _MOST_DAMPER = 1.0, 1e6
"""Range of K that is searched [N s/m]."""
_TICKS = (1e-3, 4e-3)
"""Control periods of the listed filters [s]."""
_KALMAN = (0.0, 1.0, 0.3, 0.1, 0.01)
"""Q/R of the listed filters; 0 is the mean over the tick alone [-]."""
_NOISE = 5.0
"""Noise of each 1 kHz sample of a force [N]."""
_SOFTEST, _STIFFEST = 1e2, 1e8
"""Range of contact stiffness that is searched [N/m]."""
_SOFT_SERVO = 10.0
"""Greatest K/D with the measured pose [1/s]."""

_RULES = (
    "Frames. {w} is the world, {b} the satellite at its centre of mass, {s} the sensor, {d} the"
    " desired pose. F_des, D, K and the impulse are in {d}; the sensed wrench is that of the load"
    " on the sensor, transformed to {b} and compensated for the satellite's weight.",
    "Gains. Because the wrench error is integrated, D/s is a virtual mass and K/s a virtual damper:"
    " the paper's 300 and 200 with s = 0.5 are 600 kg and 400 N s/m. A greater K settles faster and"
    " tolerates more delay; a smaller D responds faster but must stay above the payload.",
    "Moments. One D and K for all axes make a moment slow: K/(s k r^2) is 1.8 s for K = 4000 at"
    " 1e5 N/m. Gains of the moments that are r^2 times those of the forces, with k r^2 the"
    " rotational stiffness of the contact, settle as fast; --wrench uses them unless --gains-d and"
    " --gains-k say otherwise.",
    "Gate. Above four times the filtered noise and above the uncompensated weight and inertia:"
    " 20 N for 5 N of noise, 40 N with a heavy payload whose path is measured. Without a gate F_des"
    " winds up before contact, and the impact reaches kilonewtons.",
    "Anti-windup. 'gated' holds the impulse until contact and bounds it after; 'clamped' only"
    " bounds it; 'none' is for demonstration. A path that is frozen at contact ('gentle',"
    " 'recommended') switches without a bump.",
    "Filter. Its lag counts as delay: Q/R = 0.3 costs 1.4 ticks, Q/R = 0.01 nine and a half. At"
    " 1 kHz use Q/R = 0.3; at 250 Hz use the mean over the tick, and the filter only if the contact"
    " tolerates its 5.6 ms.",
    "Payload. Keep s m/D at most 0.6: a sensor behind the payload measures its inertia, and from 1"
    " on the loop diverges. A payload changes the weight to be compensated: weigh it first.",
    "Singular postures and limits. Near A5 = 0 the inverse kinematics is damped and flagged; a"
    " joint stops at its limit; rates beyond the limits are scaled down together, so that the"
    " direction is kept. Each is a flag of the run.",
    f"Stiff gains. With the measured pose keep K/D at most {_SOFT_SERVO:g} 1/s; above that use the"
    " error of the reference ('recommended'), or the servo's own lag closes a second loop.",
)


def advice() -> Section:
    """Return the section of recommendations."""
    return Section(
        "Recommended gains, gate and filter",
        (
            _presets_table(),
            _critical_table(0.0),
            _critical_table(0.02),
            _damper_table(0.0),
            _damper_table(0.02),
            _turning_table(),
            _filter_table(),
            *map(Prose, _RULES),
        ),
    )


def _presets_table() -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            str(name),
            preset.D,
            preset.K,
            preset.payload,
            preset.gate,
            _filter_words(preset.kalman),
            "reference" if preset.from_reference else "arm",
            1e3 * preset.delay,
            1e3 * loop_delay(preset),
        )
        for name, preset in PRESETS.items()
    ]
    columns = header(
        "preset | D [kg] | K [N s/m] | payload [kg] | gate [N] | filter | error of the | "
        "set-point delay [ms] | loop delay [ms]"
    )
    return Table("The presets", columns, tuple(rows))


def _filter_words(kalman: float) -> str:
    return f"Kalman, Q/R = {kalman:g}" if kalman else "mean over the tick"


def _critical_table(ratio: float) -> Table:
    """List the critical delays of the presets, beside their loop delays."""
    rows: list[tuple[Cell, ...]] = []
    for name, preset in PRESETS.items():
        delay = loop_delay(preset)
        delays = [_critical(preset, k, ratio) for k in _STIFFNESS]
        good = [k for k, most in zip(_STIFFNESS, delays, strict=True) if delay * _SAFE <= most]
        until = f"up to {_power(max(good))} N/m" if good else f"below {_power(_STIFFNESS[0])} N/m"
        rows.append((str(name), 1e3 * delay, *(1e3 * most for most in delays), until))
    columns = (
        *header("preset | loop delay [ms]"),
        *(Column(f"{_power(k)} N/m", "ms") for k in _STIFFNESS),
        Column("stable at twice the delay"),
    )
    return Table(f"Critical delay of each preset, contact {_damped(ratio)}", columns, tuple(rows))


def _critical(preset: Preset, stiffness: float, ratio: float) -> float:
    """Return the critical delay [s] of a preset's gains."""
    return critical_delay(
        preset.D, preset.K, s=WRENCH_GAIN, stiffness=stiffness, damping=ratio * stiffness
    )


def _power(value: float) -> str:
    """Write 30000 as 3e4."""
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"


def _damped(ratio: float) -> str:
    return f"with damping c = {ratio:g} s times k" if ratio else "without damping"


def _damper_table(ratio: float) -> Table:
    """List the smallest K that is stable at twice the delay, with the D of the presets."""
    rows: list[tuple[Cell, ...]] = []
    for D in (300.0, 100.0):
        for delay in _DELAYS_MS:
            needed = [_least_damper(D, k, ratio * k, delay * 1e-3) for k in _STIFFNESS]
            rows.append((D, delay, *(_words(D, K) for K in needed)))
    columns = (
        Column("D", "kg"),
        Column("loop delay", "ms"),
        *(Column(f"K at {_power(k)} N/m", "N s/m") for k in _STIFFNESS),
    )
    title = f"Smallest K for twice the delay, contact {_damped(ratio)}; * from the reference"
    return Table(title, columns, tuple(rows))


def _turning_table() -> Table:
    """List the rotational gains that settle as fast as those of the forces."""
    rows: list[tuple[Cell, ...]] = []
    for name, preset in PRESETS.items():
        for words, elastic in (("vertices", False), ("elastic face", True)):
            across, _ = turning_stiffness(elastic=elastic)
            D, K = preset.D * max(across, MOST_INERTIA), preset.K * across
            rows.append((str(name), words, preset.stiffness * across, D, K))
    columns = header(
        "preset | contact | stiffness about y and z [N m/rad] | D [kg m^2] | K [N m s]"
    )
    title = "Gains of the moments, from the rotational stiffness of the contact"
    return Table(title, columns, tuple(rows))


def _words(D: float, K: float | None) -> str:
    if K is None:
        return "none"
    if K <= _LEAST_DAMPER:
        return "any"
    return f"{K:.0f}" if K / D <= _SOFT_SERVO else f"{K:.0f} *"


def _least_damper(D: float, stiffness: float, damping: float, delay: float) -> float | None:
    def is_stable(K: float) -> bool:
        most = critical_delay(D, K, s=WRENCH_GAIN, stiffness=stiffness, damping=damping)
        return most >= _SAFE * delay

    low, high = _LEAST_DAMPER, _MOST_DAMPER
    if not is_stable(high):
        return None
    if is_stable(low):
        return low
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_stable(middle) else (middle, high)
    return high


def _filter_table() -> Table:
    """List the lag and the residual noise of each filter, and the smallest gate."""
    rows: list[tuple[Cell, ...]] = []
    for tick in _TICKS:
        for ratio in _KALMAN:
            gain = RandomWalkKalman(ratio).gain if ratio else 1.0
            # The mean over a tick of 1 kHz samples, then a first-order filter.
            left = _NOISE / sqrt(tick / STEP) * sqrt(gain / (2 - gain))
            rates = [
                _stiffest(PRESETS[name], tick, ratio)
                for name in (PresetName.PAPER, PresetName.RECOMMENDED)
            ]
            # Four standard deviations of the norm of three such forces.
            rows.append(
                (1e3 * tick, _filter_words(ratio), 1e3 * filter_lag(tick, ratio), left,
                 4 * sqrt(3) * left, *rates)
            )  # fmt: skip
    columns = header(
        "tick [ms] | filter | lag [ms] | residual noise [N] | smallest gate [N] | "
        "stiffest contact, gains 'paper' [N/m] | gains 'recommended' [N/m]"
    )
    return Table(
        "Filters of 5 N of noise, set points delayed by one tick; stable at twice the delay"
        " without damping",
        columns,
        tuple(rows),
    )


def _stiffest(preset: Preset, tick: float, ratio: float) -> str:
    delay = _SAFE * (filter_lag(tick, ratio) + tick + STEP)
    low, high = _SOFTEST, _STIFFEST
    while high / low > 1.01:
        middle = sqrt(low * high)
        low, high = (middle, high) if _critical(preset, middle, 0.0) >= delay else (low, middle)
    return _power(low)
