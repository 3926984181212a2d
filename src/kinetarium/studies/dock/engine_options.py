"""What the docking studies set in an engine: that its sensors feel what its bodies do.

MuJoCo's default integrator takes the damping of servos implicitly, but its sensors see the
acceleration before that. Behind a payload of 20 kg such a sensor is 10 % off. Its integrator
`discrete` solves servos and motion as one, and the two agree.
"""

from collections.abc import Mapping
from typing import Any

from kinetarium.engines.registry import open_engine
from kinetarium.recording.plain import from_plain, to_plain

_CHOICES: Mapping[str, Mapping[str, Any]] = {"mujoco": {"integrator": "discrete"}}


def engine_options(name: str) -> Any:
    """Give the options of an engine: its own, but for what its sensors need."""
    kind = open_engine(name).options
    chosen = {**to_plain(kind()), **_CHOICES.get(name, {})}
    return from_plain(kind, chosen, where=f"options of {name}")
