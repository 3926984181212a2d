"""Config and case of the emulation of free-floating satellites."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Range

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
