"""Config and cases of the free-floating satellites, and the timing of their contact."""

from dataclasses import dataclass
from enum import StrEnum
from math import pi, sqrt
from typing import Annotated

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.ranges import Range, check_ranges

NO_ENGINE = "none"
STIFFNESS = Range(1e2, 1e7, unit="N/m")

Masses = Annotated[tuple[float, float], Range(1.0, 1e5, unit="kg")]
"""From the smallest satellites to a module of a space station."""
Speed = Annotated[float, Range(1e-3, 0.5, unit="m/s")]
"""Docking is slow; arms of this size do not approach faster."""
Damping = Annotated[float, Range(0.0, 1e6, unit="N s/m")]
Delay = Annotated[float, Range(0.0, 100.0, unit="ms")]
LeadError = Annotated[float, Range(-100.0, 100.0, unit="ms")]
"""Not larger than the largest delay."""
Offset = Annotated[float, Range(0.0, 0.25, unit="m")]
Altitude = Annotated[float, Range(0.0, 1e5, unit="km")]
"""Above all Earth orbits in use."""
Payload = Annotated[float, Range(0.1, 500.0, unit="kg")]


class LoopRate(StrEnum):
    """The rate of the control loop."""

    FAST = "paper"
    """1 kHz."""
    RSI = "rsi"
    """250 Hz, with linear interpolation between the set points."""


@dataclass(frozen=True, kw_only=True)
class FloatConfig:
    """Two free-floating satellites that make contact and separate.

    Attributes:
        mass: Masses of the simulated satellites, chaser and target [kg].
        speed: Speed of the chaser [m/s].
        stiffness: Contact stiffness [N/m]; one case per value.
        damping: Contact damping [N s/m].
        delay_ms: Delay from a simulated pose to the arm's pose [ms]; an engine adds its own.
        lead: Command the pose predicted ahead by the delay.
        lead_error_ms: Error of the assumed delay [ms].
        passivity: Dissipate the energy that the delay generates, with a passivity observer.
        offset_m: Distance of the contact from the line between the centres of mass [m].
        orbit_altitude_km: Altitude of the orbit [km]; 0 for no gravity.
        payload_kg: Mass of the real payload on each arm, behind the sensor [kg].
        sensor_in_front: The sensors are in front of the payloads and do not measure their inertia.
        timing: Control rate: paper 1 kHz, rsi 250 Hz.
        engine: Engines that simulate the arms; none for arms modelled as a pure delay.
    """

    mass: Masses = (100.0, 150.0)
    speed: Speed = 0.05
    stiffness: Annotated[tuple[float, ...], STIFFNESS] = (1e4,)
    damping: Damping = 0.0
    delay_ms: Delay = 14.0
    lead: bool = False
    lead_error_ms: LeadError = 0.0
    passivity: bool = False
    offset_m: Offset = 0.0
    orbit_altitude_km: Altitude = 0.0
    payload_kg: Payload = 20.0
    sensor_in_front: bool = False
    timing: LoopRate = LoopRate.FAST
    engine: tuple[str, ...] = (NO_ENGINE,)


@dataclass(frozen=True, kw_only=True)
class FloatCase:
    """One contact between the satellites; its values are those of the config."""

    mass: Masses
    speed: Speed
    stiffness: Annotated[float, STIFFNESS]
    damping: Damping
    delay_ms: Delay
    lead: bool
    lead_error_ms: LeadError
    passivity: bool
    offset_m: Offset
    orbit_altitude_km: Altitude
    payload_kg: Payload
    sensor_in_front: bool
    timing: LoopRate
    engine: str


STEP = 1e-3
"""Simulation step [s]."""
RUN_UP = 0.5
"""Time in which the chaser accelerates [s]."""
_COAST = 0.3
"""Time from its release to the contact [s]."""
_RSI_TICK = 4e-3
"""Period of an industrial interface [s]."""
_AFTER = 0.3
"""Simulated time after the contact [s]."""
HEAVIEST = 0.5
"""Maximum payload behind a sensor, over the lighter simulated mass [-]."""
_SLOWEST, _FASTEST = 1.0, 500.0
"""Frequencies of a contact [rad/s]: slower ones last for minutes, and steps of 1 ms do not
resolve faster ones."""
_HARDEST = 0.5
"""Maximum share of the closing speed that a damper may remove in one step [-]."""


def cases(config: FloatConfig) -> tuple[FloatCase, ...]:
    """Return a case for each stiffness and engine.

    Raises:
        KinetariumError: If an engine is not available, or the contact or payload is invalid.
    """
    check_ranges(config)
    refuse_empty(config, "stiffness", "engine")
    _refuse_contact(config)
    _refuse_rig(config)
    return tuple(
        case_of(config, FloatCase, engine=engine, stiffness=stiffness)
        for engine in dict.fromkeys(config.engine)
        for stiffness in dict.fromkeys(config.stiffness)
    )


def _refuse_contact(config: FloatConfig) -> None:
    """Refuse masses, springs and dampers that the simulation step does not resolve."""
    for stiffness in config.stiffness:
        frequency = contact_frequency(config.mass, stiffness)
        if not _SLOWEST <= frequency <= _FASTEST:
            raise ConfigError(
                f"--stiffness {stiffness:g} between {config.mass[0]:g} and {config.mass[1]:g} kg"
                f" has a frequency of {frequency:.3g} rad/s, not {_SLOWEST:g} .. {_FASTEST:g}"
            )
    refuse_damper(config.damping, config.mass, step=STEP, share=_HARDEST)


def refuse_damper(damping: float, mass: tuple[float, float], *, step: float, share: float) -> None:
    """Refuse a damper that a simulation step does not resolve.

    Args:
        damping: Contact damping [N s/m].
        mass: Masses of both satellites [kg].
        step: Simulation step [s].
        share: Maximum share of the closing speed that it may remove in one step [-].

    Raises:
        ConfigError: If it removes more.
    """
    most = share * reduced_mass(mass) / step
    if damping > most:
        raise ConfigError(
            f"--damping {damping:g} stops these satellites within a few steps of {step * 1e3:g} ms;"
            f" it must be at most {int(most)}"
        )


def _refuse_rig(config: FloatConfig) -> None:
    """Refuse unavailable engines, heavy payloads and contradictory options."""
    from kinetarium.engines.registry import open_engine

    if config.lead_error_ms and not config.lead:
        raise ConfigError("--lead-error-ms requires --lead")
    share = config.payload_kg / min(config.mass)
    if share > HEAVIEST and not config.sensor_in_front:
        raise ConfigError(
            f"a payload of {config.payload_kg:g} kg behind the sensor is {share:.2f} of the lighter"
            f" simulated mass; above {HEAVIEST:g} the loop through its inertia is unstable. Use a"
            " lighter payload, a heavier satellite, or --sensor-in-front"
        )
    for name in config.engine:
        if name != NO_ENGINE:
            open_engine(name)
            if config.sensor_in_front:
                raise ConfigError(
                    f"--sensor-in-front requires --engine {NO_ENGINE}: simulated arms have their"
                    " sensors behind the payload"
                )


def gap(case: FloatCase) -> float:
    """Return the initial distance of the docking faces [m]."""
    return case.speed * (RUN_UP / 2 + _COAST)


def reduced_mass(mass: tuple[float, float]) -> float:
    """Return the reduced mass mu = m1 m2/(m1 + m2) [kg]."""
    return mass[0] * mass[1] / (mass[0] + mass[1])


def contact_frequency(mass: tuple[float, float], stiffness: float) -> float:
    """Return the contact frequency w = sqrt(k/mu) [rad/s] of masses [kg] and a stiffness [N/m]."""
    return sqrt(stiffness / reduced_mass(mass))


def duration(case: FloatCase) -> float:
    """Return the simulated time [s], in multiples of 0.01 s."""
    contact = pi / contact_frequency(case.mass, case.stiffness)
    return round(RUN_UP + _COAST + 2 * contact + 5 * case.delay_ms * 1e-3 + _AFTER, 2)


def tick_steps(case: FloatCase, step: float) -> int:
    """Return the number of simulation steps [s] in a control period."""
    return round(_RSI_TICK / step) if case.timing is LoopRate.RSI else 1


def lead_time(case: FloatCase, tick: float, *, own_lag: float = 0.0) -> float:
    """Return the prediction time of the commands [s].

    The mean of the force over a control period lags by half of it.

    Args:
        tick: Control period [s].
        own_lag: Lag of the arms in addition to that of the case [s].
    """
    if not case.lead:
        return 0.0
    averaging = tick / 2 if case.timing is LoopRate.RSI else 0.0
    return (case.delay_ms + case.lead_error_ms) * 1e-3 + averaging + own_lag
