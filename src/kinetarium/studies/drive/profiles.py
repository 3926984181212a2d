"""Profiles: the settings of each engine (defaults, matched or tuned), and the reasons."""

from dataclasses import dataclass

from kinetarium.engines.protocol import Engine, Options
from kinetarium.engines.registry import matched_options
from kinetarium.studies.drive.config import Profile
from kinetarium.studies.drive.vehicle import SKID_MULTIPLIER

CONTROL_RATE = 100.0
"""Control rate [Hz]."""
TIMESTEP = 2e-3
"""Physics time step of all profiles [s]: Bullet's own 240 Hz is no multiple of 100 Hz."""
FRICTION = 1.0
"""Friction coefficient between wheels and ground in the matched profile [-]."""
WHEEL_DAMPING = 200.0
"""Gain of the wheels' servos [N m s/rad]: a skidding wheel is then 3 % slower than commanded."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run.

    Attributes:
        options: The engine's own options.
        words: The choice and its reason.
        timestep: Physics time step [s].
        friction: Friction coefficient between wheels and ground [-].
        wheel_damping: Gain of the wheels' servos [N m s/rad].
        multiplier: Track-width multiplier of skidding wheels [-].
    """

    options: Options
    words: str
    timestep: float = TIMESTEP
    friction: float = FRICTION
    wheel_damping: float = WHEEL_DAMPING
    multiplier: float = SKID_MULTIPLIER


# Of each engine the reason, and the settings that differ from the defaults above.
_DEFAULTS: dict[str, tuple[str, dict[str, float]]] = {
    "mujoco": (
        "friction 1.0, MuJoCo's own. Its Euler integrator is explicit in the servos, which at 2 ms"
        " bounds their gain on these wheels to 2 I/h = 44 N m s/rad: 20",
        {"wheel_damping": 20.0},
    ),
    "bullet": ("friction 0.5 times 0.5, Bullet's own product", {"friction": 0.25}),
    "ode": ("friction 1.0, as ODE has no default", {}),
    "physx": ("friction 0.3, SAPIEN's own", {"friction": 0.3}),
    "drake": ("friction 1.0, that of Drake's parsers", {}),
    "dart": ("friction 1.0, DART's own", {}),
    "rapier": ("friction 0.5, Rapier's own", {"friction": 0.5}),
}

_TUNED: dict[str, tuple[str, dict[str, float]]] = {
    "mujoco": (
        "multiplier 1.59 from calibrate, the same in every direction. Gain of the wheels"
        " 1000 N m s/rad: with 200 they lose a tenth of a slow turn, with 2000 they chatter",
        {"wheel_damping": 1000.0, "multiplier": 1.59},
    ),
    "bullet": (
        "multiplier 1.48, the mean from calibrate: friction acts along two fixed directions, so"
        " that it varies from 1.0 to 2.5 with the heading and no single value fits; with Bullet's"
        " cone friction it varies from 1.5 to 5. Gain of the wheels 2000 N m s/rad",
        {"wheel_damping": 2000.0, "multiplier": 1.48},
    ),
    "ode": (
        "direct solver; multiplier 1.59, the mean from calibrate: friction acts along two fixed"
        " directions, so that it varies from 1.3 to 1.9 with the heading. Gain of the wheels"
        " 2000 N m s/rad",
        {"wheel_damping": 2000.0, "multiplier": 1.59},
    ),
    "physx": (
        "PGS, whose multiplier is the same in every direction, unlike that of TGS; multiplier"
        " 1.32 from calibrate on arcs of 2 m: in place it is 2.4, and no solver option makes the"
        " two agree. Gain of the wheels 2000 N m s/rad",
        {"wheel_damping": 2000.0, "multiplier": 1.32},
    ),
}


def settings(engine: Engine, profile: Profile) -> Settings:
    """Return the settings of an engine; plug-in engines have their own defaults."""
    kind, name = engine.options, engine.info.name
    match profile:
        case Profile.DEFAULTS:
            options, origin = kind.stock(), "the engine's defaults"
            words, own = _DEFAULTS.get(name, ("friction 1.0; its own is not known", {}))
        case Profile.MATCHED:
            matched = matched_options(engine)
            options, origin = matched.options, matched.reason
            words, own = "no damping or armature in any joint", {}
        case Profile.TUNED:
            options, origin = matched_options(engine).options, "the matched options"
            words, own = _TUNED.get(name, ("no better settings are known", {}))
    return Settings(options, f"{origin}; {words}", **own)
