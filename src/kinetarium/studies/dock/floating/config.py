"""What the emulation of floating satellites is asked, and one case of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Range

NO_ENGINE = "none"
STIFFNESS = Range(1e2, 1e7, unit="N/m")

Masses = Annotated[tuple[float, float], Range(1.0, 1e5, unit="kg")]
"""From the smallest satellites to a module of a space station."""
Speed = Annotated[float, Range(1e-3, 0.5, unit="m/s")]
"""Dockings are slow; arms of this size do not meet faster."""
Damping = Annotated[float, Range(0.0, 1e6, unit="N s/m")]
Delay = Annotated[float, Range(0.0, 100.0, unit="ms")]
LeadError = Annotated[float, Range(-100.0, 100.0, unit="ms")]
"""No more than a delay can be."""
Offset = Annotated[float, Range(0.0, 0.25, unit="m")]
Altitude = Annotated[float, Range(0.0, 1e5, unit="km")]
"""Higher than any orbit about the Earth that is in use."""
Payload = Annotated[float, Range(0.1, 500.0, unit="kg")]


class LoopRate(StrEnum):
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
