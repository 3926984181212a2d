"""Short names of cases: only what tells them apart."""

from collections.abc import Sequence
from typing import Any

from kinetarium.recording.plain import to_plain

_PLAIN = ("engine", "robot", "path")
"""Fields whose values speak for themselves."""


def case_labels(cases: Sequence[Any]) -> list[str]:
    """Name cases by the fields in which they differ.

    Args:
        cases: The cases of one study.

    Returns:
        A label for each, such as "mujoco" or "mujoco, timestep 0.002".
    """
    plain = [to_plain(case) for case in cases]
    names = [
        name
        for name in (plain[0] if plain else ())
        if name in _PLAIN[:1] or any(entry[name] != plain[0][name] for entry in plain)
    ]
    return [", ".join(_words(name, entry[name]) for name in names) for entry in plain]


def _words(name: str, value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if name in _PLAIN else f"{name.replace('_', ' ')} {text}"
