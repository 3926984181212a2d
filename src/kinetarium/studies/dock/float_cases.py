"""From the config of floating satellites to its cases."""

from kinetarium.batch.study import ConfigError
from kinetarium.engines.registry import open_engine
from kinetarium.studies.dock.float_config import NO_ENGINE, FloatCase, FloatConfig

HEAVIEST = 0.5
"""Most mass of a payload behind its sensor, by the lighter simulated mass [-]."""
_HEAVIEST_BODY = 1e5
"""Most mass of a simulated satellite [kg]; a contact of heavier ones lasts for minutes."""
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
    for mass in config.mass:
        if not 1 <= mass <= _HEAVIEST_BODY:
            raise ConfigError(f"--mass must be from 1 to {_HEAVIEST_BODY:g} kg, not {mass:g}")
    for stiffness in config.stiffness:
        if not 1e2 <= stiffness <= 1e7:
            raise ConfigError(f"--stiffness must be from 100 to 1e7, not {stiffness:g}")
    if not (config.stiffness and config.engine):
        raise ConfigError("--stiffness and --engine need at least one value")
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
