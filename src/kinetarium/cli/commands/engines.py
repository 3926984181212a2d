"""`kinetarium engines`: list the physics engines and their capabilities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetarium.cli.core.invocation import Invocation

if TYPE_CHECKING:
    from kinetarium.engines.registry import EngineListing


@dataclass(frozen=True, kw_only=True)
class Config:
    """No flags of its own."""


def run(config: Config, invocation: Invocation) -> None:
    """List the engines."""
    from kinetarium.engines.registry import list_engines
    from kinetarium.figure.text import Table, header

    listings = list_engines()
    console = invocation.console
    console.table(
        Table(
            "",
            header("engine | version | capabilities, or why not available"),
            tuple((e.name, e.version or "none", _remark(e)) for e in listings),
        )
    )
    console.result(
        {
            "engines": [
                {
                    "name": e.name,
                    "version": e.version or None,
                    "available": e.available,
                    "capabilities": sorted(e.capabilities),
                    "reason": e.reason or None,
                }
                for e in listings
            ]
        }
    )


def _remark(engine: "EngineListing") -> str:
    if not engine.available:
        return f"not available: {engine.reason}"
    return ", ".join(sorted(engine.capabilities))
