"""From the config of floating satellites to its cases, and the course of their meeting."""

from math import pi, sqrt

from kinetarium.batch.study import ConfigError
from kinetarium.engines.registry import open_engine
from kinetarium.ranges import check_ranges
from kinetarium.studies.dock.floating.config import NO_ENGINE, FloatCase, FloatConfig, LoopRate

STEP = 1e-3
"""Of the world [s]."""
RUN_UP = 0.5
"""Time in which the chaser comes up to speed [s]."""
_COAST = 0.3
"""Time from its release to the contact [s]."""
_RSI_TICK = 4e-3
"""Of an industrial interface [s]."""
_AFTER = 0.3
"""Time that is watched after the contact [s]."""
HEAVIEST = 0.5
"""Most mass of a payload behind its sensor, by the lighter simulated mass [-]."""
_SLOWEST, _FASTEST = 1.0, 500.0
"""Frequencies of a contact [rad/s]: a slower one lasts for minutes, and steps of a millisecond do
not resolve a faster one."""
_HARDEST = 0.5
"""Share of the speed of closing that a damper may take out in one step [-]."""


def cases(config: FloatConfig) -> tuple[FloatCase, ...]:
    """Return a case for each stiffness and engine.

    Raises:
        KinetariumError: If an engine is not available or a value makes no sense.
    """
    check_ranges(config)
    if not (config.stiffness and config.engine):
        raise ConfigError("--stiffness and --engine need at least one value")
    _refuse_contact(config)
    _refuse_rig(config)
    return tuple(
        FloatCase(
            mass=config.mass,
            speed=config.speed,
            stiffness=stiffness,
            damping=config.damping,
            delay_ms=config.delay_ms,
            lead=config.lead,
            lead_error_ms=config.lead_error_ms,
            passivity=config.passivity,
            offset_m=config.offset_m,
            orbit_altitude_km=config.orbit_altitude_km,
            payload_kg=config.payload_kg,
            sensor_in_front=config.sensor_in_front,
            timing=config.timing,
            engine=engine,
        )
        for engine in dict.fromkeys(config.engine)
        for stiffness in dict.fromkeys(config.stiffness)
    )


def _refuse_contact(config: FloatConfig) -> None:
    """Refuse masses, springs and dampers that the steps of the world do not resolve."""
    for stiffness in config.stiffness:
        frequency = contact_frequency(config.mass, stiffness)
        if not _SLOWEST <= frequency <= _FASTEST:
            raise ConfigError(
                f"--stiffness {stiffness:g} between {config.mass[0]:g} and {config.mass[1]:g} kg is"
                f" a contact of {frequency:.3g} rad/s; it must be from {_SLOWEST:g} to {_FASTEST:g}"
            )
    stiffest_damper = _HARDEST * reduced_mass(config.mass) / STEP
    if config.damping > stiffest_damper:
        raise ConfigError(
            f"--damping {config.damping:g} stops these satellites within a step of a millisecond;"
            f" it must be at most {stiffest_damper:g}"
        )


def _refuse_rig(config: FloatConfig) -> None:
    """Refuse engines that are not there, and what they or the payload do not allow."""
    if config.lead_error_ms and not config.lead:
        raise ConfigError("--lead-error-ms says how wrong a lead is: it needs --lead")
    share = config.payload_kg / min(config.mass)
    if share > HEAVIEST and not config.sensor_in_front:
        raise ConfigError(
            f"a payload of {config.payload_kg:g} kg behind the sensor is {share:.2f} of the lighter"
            f" simulated mass; above {HEAVIEST:g} the loop through its inertia breaks up. Take a"
            " lighter payload, a heavier satellite, or --sensor-in-front"
        )
    for name in config.engine:
        if name != NO_ENGINE:
            open_engine(name)
            if config.sensor_in_front:
                raise ConfigError(
                    f"--sensor-in-front is for --engine {NO_ENGINE}: the arms in an engine have"
                    " their sensors behind the payload"
                )


def gap(case: FloatCase) -> float:
    """Return the distance of the docking faces at the start [m]."""
    return case.speed * (RUN_UP / 2 + _COAST)


def reduced_mass(mass: tuple[float, float]) -> float:
    """Return the mass mu = m1 m2/(m1 + m2) with which two bodies meet [kg]."""
    return mass[0] * mass[1] / (mass[0] + mass[1])


def contact_frequency(mass: tuple[float, float], stiffness: float) -> float:
    """Return w = sqrt(k/mu) of a contact [rad/s] of masses [kg] by a spring [N/m]."""
    return sqrt(stiffness / reduced_mass(mass))


def duration(case: FloatCase) -> float:
    """Return how long a meeting is watched [s], in whole hundredths."""
    contact = pi / contact_frequency(case.mass, case.stiffness)
    return round(RUN_UP + _COAST + 2 * contact + 5 * case.delay_ms * 1e-3 + _AFTER, 2)


def tick_steps(case: FloatCase, step: float) -> int:
    """Return how many steps [s] of the world there are in a tick of the loop."""
    return round(_RSI_TICK / step) if case.timing is LoopRate.RSI else 1


def lead_time(case: FloatCase, tick: float, *, own_lag: float = 0.0) -> float:
    """Return by how much the commands are ahead [s].

    The mean of the force over a tick of several steps is late by half of it.

    Args:
        tick: Length of a tick [s].
        own_lag: Lag of the arms beside that of the case [s].
    """
    if not case.lead:
        return 0.0
    averaging = tick / 2 if case.timing is LoopRate.RSI else 0.0
    return (case.delay_ms + case.lead_error_ms) * 1e-3 + averaging + own_lag
