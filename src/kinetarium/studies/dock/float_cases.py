"""From the config of floating satellites to its cases."""

from kinetarium.batch.study import ConfigError
from kinetarium.engines.registry import open_engine
from kinetarium.studies.dock.float_config import NO_ENGINE, FloatCase, FloatConfig
from kinetarium.studies.dock.float_meeting import STEP, contact_frequency, reduced_mass

HEAVIEST = 0.5
"""Most mass of a payload behind its sensor, by the lighter simulated mass [-]."""
_HEAVIEST_BODY = 1e5
"""Most mass of a simulated satellite [kg]."""
_SLOWEST, _FASTEST = 1.0, 500.0
"""Frequencies of a contact [rad/s]: a slower one lasts for minutes, and steps of a millisecond do
not resolve a faster one."""
_HARDEST = 0.5
"""Share of the speed of closing that a damper may take out in one step [-]."""
_BOUNDS = {
    "speed": (1e-3, 0.5),
    "damping": (0.0, 1e6),
    "delay_ms": (0.0, 100.0),
    "lead_error_ms": (-100.0, 100.0),
    "offset_m": (0.0, 0.25),
    "orbit_altitude_km": (0.0, 1e5),
    "payload_kg": (0.1, 500.0),
}


def float_cases(config: FloatConfig) -> tuple[FloatCase, ...]:
    """Give a case for each stiffness and engine.

    Raises:
        KinetariumError: If an engine is not available or a value makes no sense.
    """
    for name, (least, most) in _BOUNDS.items():
        value = getattr(config, name)
        if not least <= value <= most:
            flag = name.replace("_", "-")
            raise ConfigError(f"--{flag} must be from {least:g} to {most:g}, not {value:g}")
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
    for mass in config.mass:
        if not 1 <= mass <= _HEAVIEST_BODY:
            raise ConfigError(f"--mass must be from 1 to {_HEAVIEST_BODY:g} kg, not {mass:g}")
    for stiffness in config.stiffness:
        if not 1e2 <= stiffness <= 1e7:
            raise ConfigError(f"--stiffness must be from 100 to 1e7, not {stiffness:g}")
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
