"""Profiles: the settings of each engine (defaults, matched or tuned), and the reasons."""

from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any

from kinetarium.control.vehicle.wheeled_base import WheeledBase
from kinetarium.engines.mujoco.options import Integrator, MujocoOptions
from kinetarium.engines.protocol import Engine, Options
from kinetarium.engines.registry import matched_options
from kinetarium.studies.drive.config import Profile
from kinetarium.studies.drive.coulomb import SKID_MULTIPLIER, is_husky, usual_multiplier

CONTROL_RATE = 100.0
"""Control rate [Hz]."""
TIMESTEP = 2e-3
"""Physics time step of all profiles [s]: Bullet's own 240 Hz is no multiple of 100 Hz."""
FRICTION = 1.0
"""Friction coefficient between wheels and ground in the matched profile [-]."""
WHEEL_DAMPING = 200.0
"""Gain of the Husky's servos [N m s/rad]: a skidding wheel is then 3 % slower than commanded."""
_HUSKY_SCALE = 1.39
"""Mass times squared wheel radius of the Husky [kg m^2]."""


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
        own_motors: Whether the engine's own motors may replace servos of that gain, as Bullet's do.
    """

    options: Options
    words: str
    timestep: float = TIMESTEP
    friction: float = FRICTION
    wheel_damping: float = WHEEL_DAMPING
    multiplier: float = SKID_MULTIPLIER
    own_motors: bool = False


# Of each engine the reason, and the settings that differ from the defaults above.
_DEFAULTS: dict[str, tuple[str, dict[str, Any]]] = {
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

_TUNED: dict[str, tuple[str, dict[str, Any]]] = {
    "mujoco": (
        "the discrete integrator, with which the multiplier is the same in every direction (with"
        " the matched one stiff wheels chatter, and it varies from 1.60 to 1.65); multiplier 1.59"
        " from calibrate. Gain of the wheels 2000 N m s/rad: with 200 they lose a tenth of a slow"
        " turn",
        {"wheel_damping": 2000.0, "multiplier": 1.59},
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


def settings_of(engine: Engine, profile: Profile, base: WheeledBase) -> Settings:
    """Return the settings of an engine for a vehicle.

    A wheel that skids lags by friction torque over gain, so that the gain for the same relative
    lag is proportional to weight times squared radius: 1, 2 or 5 times a power of ten of the
    Husky's. Multipliers were identified for the Husky alone; others have that of Coulomb
    friction.
    """
    chosen = settings(engine, profile)
    share = base.mass * base.wheel_radius**2 / _HUSKY_SCALE
    chosen = replace(chosen, wheel_damping=chosen.wheel_damping * _preferred(share))
    if is_husky(base):
        return chosen
    return replace(chosen, multiplier=usual_multiplier(base))


def _preferred(value: float) -> float:
    """Return the nearest of 1, 2 and 5 times the powers of ten, by ratio."""
    decade = floor(log10(value))
    near = [float(f"{digit}e{decade + up}") for up in (0, 1) for digit in (1, 2, 5)]
    return min(near, key=lambda one: abs(log10(one / value)))


def settings(engine: Engine, profile: Profile) -> Settings:
    """Return the settings of an engine for the Husky; plug-in engines have their own defaults."""
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
            if name == "mujoco" and isinstance(options, MujocoOptions):
                options = replace(options, integrator=Integrator.DISCRETE)
    motors = profile is Profile.DEFAULTS
    return Settings(options, f"{origin}; {words}", own_motors=motors, **own)
