"""`kinetarium reach verify`: compare a map with its hashes."""

from dataclasses import dataclass

from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.reach.flags import NamedMap


@dataclass(frozen=True, kw_only=True)
class Config(NamedMap):
    """Which map."""


def run(config: Config, invocation: Invocation) -> None:
    """Read every field whole; whatever is not as it was written is an error."""
    from kinetarium.reach.maps.files import open_map, verify_map

    reach_map = open_map(config.path)
    verify_map(config.path)
    names = ", ".join(reach_map.fields)
    invocation.console.line(f"{config.path} is as it was written: {names}")
    invocation.console.result({"ok": True, "path": config.path, "fields": list(reach_map.fields)})
