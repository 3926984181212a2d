"""What is set in each engine: as it comes, matched, or the best that is known."""

from dataclasses import dataclass

from kinetarium.engines.protocol import Engine, Options
from kinetarium.studies.drive.config import Profile
from kinetarium.studies.drive.vehicle import SKID_MULTIPLIER

CONTROL_RATE = 100.0
"""How often speeds are commanded [Hz]."""
TIMESTEP = 2e-3
"""Physics step of all profiles [s]: 100 Hz of control is no whole part of Bullet's own 240 Hz."""
FRICTION = 1.0
"""Between wheels and ground where the engines are matched [-]."""
WHEEL_DAMPING = 200.0
"""Gain of the wheels' servos [N m s/rad]: a skidding wheel is then 3 % slower than commanded."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is made with.

    Attributes:
        options: The engine's own options.
        timestep: Physics step [s].
        friction: Between wheels and ground [-].
        wheel_damping: Gain of the wheels' servos [N m s/rad].
        multiplier: What the track of wheels that skid is multiplied by [-].
        words: What was chosen, and why.
    """

    options: Options
    timestep: float
    friction: float
    wheel_damping: float
    multiplier: float
    words: str


@dataclass(frozen=True, slots=True)
class _Choice:
    """What an engine has of its own in a profile; whatever is not named stays."""

    words: str
    friction: float = FRICTION
    wheel_damping: float = WHEEL_DAMPING
    multiplier: float = SKID_MULTIPLIER


_DEFAULTS = {
    "mujoco": _Choice(
        "friction 1.0, MuJoCo's own. Its Euler integrator takes servos explicitly, which at 2 ms"
        " bounds their gain on these wheels to 2 I/h = 44 N m s/rad: 20",
        wheel_damping=20.0,
    ),
    "bullet": _Choice("friction 0.5 times 0.5, as Bullet multiplies its own", friction=0.25),
    "ode": _Choice("friction 1.0, for ODE has none of its own"),
    "physx": _Choice("friction 0.3, SAPIEN's own", friction=0.3),
    "drake": _Choice("friction 1.0, that of Drake's parsers"),
    "dart": _Choice("friction 1.0, DART's own"),
}

_TUNED = {
    "mujoco": _Choice(
        "multiplier 1.59 from calibrate, the same in every direction. The wheels' gain is"
        " 1000 N m s/rad: with 200 they lose a tenth of a slow turn, with 2000 they chatter",
        wheel_damping=1000.0,
        multiplier=1.59,
    ),
    "bullet": _Choice(
        "multiplier 1.48, the middle of what calibrate finds: friction acts along two fixed"
        " directions, so that it goes from 1.0 to 2.5 with the heading and no single one fits;"
        " with Bullet's cone friction it goes from 1.5 to 5. Wheels' gain 2000 N m s/rad",
        wheel_damping=2000.0,
        multiplier=1.48,
    ),
    "ode": _Choice(
        "direct solver; multiplier 1.59, the middle of what calibrate finds: friction acts along"
        " two fixed directions, so that it goes from 1.3 to 1.9 with the heading. Wheels' gain"
        " 2000 N m s/rad",
        wheel_damping=2000.0,
        multiplier=1.59,
    ),
    "physx": _Choice(
        "PGS, whose multiplier is the same in every direction, unlike that of TGS; multiplier"
        " 1.32, which calibrate finds on arcs of 2 m: in place it is 2.4, and no option of the"
        " solver brings the two together. Wheels' gain 2000 N m s/rad",
        wheel_damping=2000.0,
        multiplier=1.32,
    ),
}


def settings(engine: Engine, profile: Profile) -> Settings:
    """Return what is set in an engine; one unknown here takes part with its own defaults."""
    kind, name = engine.options, engine.info.name
    match profile:
        case Profile.DEFAULTS:
            options, origin = kind.stock(), "as it comes"
            choice = _DEFAULTS.get(name, _Choice("friction 1.0; nothing is known of its own"))
        case Profile.MATCHED:
            options, origin = kind(), "the adapter's defaults, which converge"
            choice = _Choice("no damping or drive inertia in any joint")
        case Profile.TUNED:
            options, origin = kind(), "the adapter's defaults"
            choice = _TUNED.get(name, _Choice("nothing better is known"))
    words = f"{origin}; {choice.words}"
    return Settings(
        options,
        timestep=TIMESTEP,
        friction=choice.friction,
        wheel_damping=choice.wheel_damping,
        multiplier=choice.multiplier,
        words=words,
    )
