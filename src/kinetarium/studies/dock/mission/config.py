"""Config and case of the mission: from a distance in orbit to the capture of a tumbling target."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.ranges import Friction, Range, check_ranges, quantity
from kinetarium.studies.dock.floating.config import refuse_damper

Altitude = Annotated[float, Range(150.0, 1e5, unit="km")]
"""From the lowest to the highest Earth orbits in use."""
Masses = Annotated[tuple[float, float], Range(1.0, 1e5, unit="kg")]
Distance = Annotated[float, Range(15.0, 500.0, unit="m")]
"""Beyond, the closed form of relative motion on a circular orbit does not suffice."""
Speed = Annotated[float, Range(5e-3, 0.2, unit="m/s")]
Stiffness = Annotated[float, Range(1e3, 1e6, unit="N/m")]
Damping = Annotated[float, Range(0.0, 1e4, unit="N s/m")]
TUMBLE = Range(0.0, 0.1, unit="rad/s")
"""Above, flying round the target needs more thrust than small satellites have."""
Tumble = Annotated[float, TUMBLE]


class Side(StrEnum):
    """Where the chaser comes from."""

    V_BAR = "v-bar"
    """From behind, along the velocity of the orbit."""
    R_BAR = "r-bar"
    """From below, along the radius of the orbit."""


@dataclass(frozen=True, kw_only=True)
class MissionConfig:
    """A rendezvous that ends with the capture of a tumbling target.

    Attributes:
        altitude_km: Altitude of the circular orbit [km].
        approach: Side from which the chaser comes.
        tumble: Rate of the target's rotation, such as 1deg/s [rad/s]; its angular momentum is
            constant until contact.
        distance: Distance at the start [m].
        speed: Speed at contact [m/s].
        mass: Masses of chaser and target [kg].
        friction: Coulomb friction between probe and cone [-].
        stiffness: Of each contact of probe and cone [N/m].
        damping: Of each of them [N s/m].
    """

    altitude_km: Altitude = 500.0
    approach: Side = Side.V_BAR
    tumble: str = "1deg/s"
    distance: Distance = 50.0
    speed: Speed = 0.05
    mass: Masses = (100.0, 150.0)
    friction: Friction = 0.1
    stiffness: Stiffness = 1e5
    damping: Damping = 1000.0


@dataclass(frozen=True, kw_only=True)
class MissionCase:
    """One mission; its values are those of the config, the rate in rad/s."""

    altitude_km: Altitude
    approach: Side
    tumble: Tumble
    distance: Distance
    speed: Speed
    mass: Masses
    friction: Friction
    stiffness: Stiffness
    damping: Damping


FINE = 5e-4
"""Time step of the contact [s]."""
_FASTEST = 300.0
"""Greatest frequency of the contact that these steps resolve [rad/s]."""
_HARDEST = 0.2
"""Maximum share of the closing speed that a damper may remove in one step [-].

Its force is that at the start of the step: a step multiplies the speed by 1 - c dt/m, and what
exceeds c dt/m = 2 grows. Across the probe, m is at least 1/8.4 of the reduced mass: a force at its
tip, 0.32 m from the centre of mass, also turns a satellite with a radius of gyration of 0.18 m,
which makes it 1 + (0.32/0.18)^2 = 4.2 times as light, and tip and mouth can touch at once. Hence
2/8.4, and some reserve."""


def cases(config: MissionConfig) -> tuple[MissionCase, ...]:
    """Return the one case of a config.

    Raises:
        KinetariumError: If a value is outside its range, or spring or damper are too stiff.
    """
    check_ranges(config)
    rate = quantity(config.tumble, units=("deg/s", "rad/s"), limits=TUMBLE, name="--tumble")
    lighter = min(config.mass)
    if (config.stiffness / lighter) ** 0.5 > _FASTEST:
        most = _FASTEST**2 * lighter
        raise ConfigError(
            f"--stiffness {config.stiffness:g} is too stiff for {lighter:g} kg at steps of 0.5 ms;"
            f" use at most {most:.3g} N/m"
        )
    refuse_damper(config.damping, config.mass, step=FINE, share=_HARDEST)
    return (case_of(config, MissionCase, tumble=rate),)
