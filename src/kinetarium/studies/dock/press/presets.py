"""The presets: consistent gains, control rates, filters and contacts; their loop delays."""

from dataclasses import dataclass, replace

import numpy as np

from kinetarium.control.admittance.law import AdmittanceGains, critical_delay
from kinetarium.control.admittance.sensing import RandomWalkKalman
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.dock.press.config import DockCase, ForceCase, PresetName


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Gains of the paper or of our own, with what the paper does not specify.

    Attributes:
        D: Virtual mass times the wrench gain [kg].
        K: Virtual damper times the wrench gain [N s/m].
        tick_rate: Control rate [Hz].
        delay: Delay of the set points [s].
        payload: Mass of each satellite [kg].
        gate: Contact force above which the desired wrench is applied [N].
        noise: Standard deviation of each 1 kHz sample of a force [N].
        kalman: Q/R of the filter at each tick [-]; 0 for the mean over the tick alone.
        freeze: Whether the path ends at contact, without a bump.
        from_reference: Whether the pose error is that of the reference rather than of the arm.
        ramp: Duration of the ramp of the desired wrench [s].
        stiffness: Contact stiffness [N/m].
        damping: Contact damping [N s/m].
    """

    D: float = 300.0
    K: float = 200.0
    tick_rate: float = 1000.0
    delay: float = 0.0
    payload: float = 1.0
    gate: float = 20.0
    noise: float = 5.0
    kalman: float = 0.3
    freeze: bool = False
    from_reference: bool = False
    ramp: float = 0.0
    stiffness: float = 1e5
    damping: float = 2000.0


WRENCH_GAIN = 0.5
"""The paper's factor s of the wrench error [-]."""
MOMENT_NOISE = 0.1
"""Noise of the moments over that of the forces [m]."""

PRESETS = {
    PresetName.PAPER: Preset(),
    PresetName.RSI: Preset(tick_rate=250.0, delay=4e-3, kalman=0.0),
    PresetName.GENTLE: Preset(
        K=2000.0,
        tick_rate=250.0,
        delay=4e-3,
        payload=100.0,
        gate=40.0,
        noise=10.0,
        freeze=True,
        ramp=0.5,
    ),
    PresetName.RECOMMENDED: Preset(
        D=100.0,
        K=4000.0,
        tick_rate=250.0,
        delay=4e-3,
        payload=100.0,
        noise=10.0,
        freeze=True,
        from_reference=True,
        ramp=0.2,
    ),
    PresetName.REBOUND: Preset(noise=0.0, kalman=0.0, stiffness=3e5, damping=2400.0),
}

_WRENCHES = {
    ForceCase.A: frozen([-500.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ForceCase.B: frozen([-200.0, 0.0, -200.0, 0.0, 0.0, 0.0]),
    ForceCase.C: frozen([-200.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
}
_PAPER_K_OF_B = 700.0


def desired_wrench(case: ForceCase) -> Array:
    """Return F_des of a case in {d} [N, N m], shape (6,)."""
    return _WRENCHES[case]


def damper(case: ForceCase, preset: PresetName) -> float:
    """Return K [N s/m]: that of the preset, except the paper's own for its case B."""
    K = PRESETS[preset].K
    return _PAPER_K_OF_B if case is ForceCase.B and K == Preset().K else K


def wanted_wrench(case: DockCase) -> Array:
    """Return F_des of a docking [N, N m], shape (6,): of a free one in {b}, otherwise in {d}."""
    return frozen(case.wrench) if case.is_free else desired_wrench(case.case)


def case_gains(case: DockCase) -> AdmittanceGains:
    """Return the gains of a docking."""
    if not case.is_free:
        D, K = PRESETS[case.preset].D, damper(case.case, case.preset)
        return AdmittanceGains(D, K, wrench_gain=WRENCH_GAIN)
    shapes = {6: (6,), 36: (6, 6)}
    return AdmittanceGains(
        np.reshape(case.gains_d, shapes[len(case.gains_d)]),
        np.reshape(case.gains_k, shapes[len(case.gains_k)]),
        wrench_gain=WRENCH_GAIN,
    )


def pressing_gains(case: DockCase) -> AdmittanceGains:
    """Return the gains of a docking after contact, if they are switched there."""
    if not case.contact_d:
        return case_gains(case)
    return case_gains(replace(case, gains_d=case.contact_d, gains_k=case.contact_k))


STEP = 1e-3
"""Age of a reading of the sensor: one physics step [s]."""


def filter_lag(tick: float, kalman: float) -> float:
    """Return the lag of the mean over a tick and a Kalman filter [s].

    Args:
        tick: Time between two ticks [s].
        kalman: Q/R of the filter [-]; 0 for the mean alone.
    """
    mean = tick / 2 if tick > STEP else 0.0
    return mean + (RandomWalkKalman(kalman).lag * tick if kalman else 0.0)


def loop_delay(preset: Preset) -> float:
    """Return the delay from a force to the response of the arm [s].

    Set points, the mean over a tick (half of it), the Kalman filter and the age of a reading.
    """
    return preset.delay + filter_lag(1 / preset.tick_rate, preset.kalman) + STEP


def case_delay(case: DockCase) -> float:
    """Return the delay of the loop of a case [s]."""
    return loop_delay(replace(PRESETS[case.preset], delay=case.delay_ms * 1e-3))


def case_contact(case: DockCase) -> tuple[float, float]:
    """Return stiffness [N/m] and damping [N s/m] of the prescribed contact of a case."""
    preset = PRESETS[case.preset]
    k = case.stiffness or preset.stiffness
    return k, case.damping if case.damping >= 0 else k * (preset.damping / preset.stiffness)


def case_critical_delay(case: DockCase) -> float:
    """Return the delay above which the loop of a case is unstable on its prescribed contact [s]."""
    gains, (stiffness, damping) = pressing_gains(case), case_contact(case)
    return critical_delay(
        float(gains.diagonal_D[0]),
        float(gains.diagonal_K[0]),
        s=WRENCH_GAIN,
        stiffness=stiffness,
        damping=damping,
    )
