"""From the config of floating satellites to its cases."""

from kinetarium.batch.study import ConfigError
from kinetarium.engines.registry import open_engine
from kinetarium.ranges import check_ranges
from kinetarium.studies.dock.floating.config import NO_ENGINE, FloatCase, FloatConfig
from kinetarium.studies.dock.floating.meeting import STEP, contact_frequency, reduced_mass

HEAVIEST = 0.5
"""Most mass of a payload behind its sensor, by the lighter simulated mass [-]."""
_SLOWEST, _FASTEST = 1.0, 500.0
"""Frequencies of a contact [rad/s]: a slower one lasts for minutes, and steps of a millisecond do
not resolve a faster one."""
_HARDEST = 0.5
"""Share of the speed of closing that a damper may take out in one step [-]."""


def float_cases(config: FloatConfig) -> tuple[FloatCase, ...]:
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
