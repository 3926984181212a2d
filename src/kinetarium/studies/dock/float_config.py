"""What the emulation of floating satellites is asked, and one case of it."""

from dataclasses import dataclass
from enum import StrEnum

NO_ENGINE = "none"


class Timing(StrEnum):
    """How often the loop runs."""

    FAST = "paper"
    """1 kHz."""
    RSI = "rsi"
    """250 Hz, with straight lines between the set points."""


@dataclass(frozen=True, kw_only=True)
class FloatConfig:
    """Two satellites that float, meet and part.

    Attributes:
        mass: Masses of the simulated satellites, chaser and target [kg].
        speed: Speed of the chaser [m/s].
        stiffness: Of the contact [N/m]; several give a case each.
        damping: Of the contact [N s/m].
        delay_ms: Lag from a simulated pose to the pose of the arm [ms]; an engine adds its own.
        lead: Command the pose that is ahead by the lag.
        lead_error_ms: By how much the lag is known wrongly [ms].
        passivity: Let a passivity observer take out energy that the lag creates.
        offset_m: Distance of the contact from the line between the centres of mass [m].
        orbit_altitude_km: Altitude of the orbit [km]; 0 for space without gravity.
        payload_kg: Mass that the arms really hold, behind the sensors [kg].
        sensor_in_front: The sensors are in front of the payloads and do not feel their inertia.
        timing: How often the loop runs.
        engine: Engines whose arms hold the satellites; none for arms that are a pure lag.
    """

    mass: tuple[float, float] = (100.0, 150.0)
    speed: float = 0.05
    stiffness: tuple[float, ...] = (1e4,)
    damping: float = 0.0
    delay_ms: float = 14.0
    lead: bool = False
    lead_error_ms: float = 0.0
    passivity: bool = False
    offset_m: float = 0.0
    orbit_altitude_km: float = 0.0
    payload_kg: float = 20.0
    sensor_in_front: bool = False
    timing: Timing = Timing.FAST
    engine: tuple[str, ...] = (NO_ENGINE,)


@dataclass(frozen=True, kw_only=True)
class FloatCase:
    """One meeting.

    Attributes:
        mass: Masses of the simulated satellites, chaser and target [kg].
        speed: Speed of the chaser [m/s].
        stiffness: Of the contact [N/m].
        damping: Of the contact [N s/m].
        delay_ms: Lag from a simulated pose to the pose of the arm [ms].
        lead: Command the pose that is ahead by the lag.
        lead_error_ms: By how much the lag is known wrongly [ms].
        passivity: Let a passivity observer take out energy that the lag creates.
        offset_m: Distance of the contact from the line between the centres of mass [m].
        orbit_altitude_km: Altitude of the orbit [km]; 0 for space without gravity.
        payload_kg: Mass that the arms really hold [kg].
        sensor_in_front: The sensors do not feel the payloads' inertia.
        timing: How often the loop runs.
        engine: The engine, or none.
    """

    mass: tuple[float, float]
    speed: float
    stiffness: float
    damping: float
    delay_ms: float
    lead: bool
    lead_error_ms: float
    passivity: bool
    offset_m: float
    orbit_altitude_km: float
    payload_kg: float
    sensor_in_front: bool
    timing: Timing
    engine: str
