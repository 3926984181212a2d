"""Builds the studio's page into the package before it is packed or installed."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent / "web"))

import toolchain


class PageHook(BuildHookInterface):
    """Leaves a page that is fresh as it is, and then needs no Node."""

    def dependencies(self) -> list[str]:
        """Ask for Node as a wheel, if it is needed and not here."""
        needed = not toolchain.is_fresh() and toolchain.needs_node_wheel()
        return [toolchain.NODE_WHEEL] if needed else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page."""
        try:
            toolchain.build()
        except toolchain.ToolchainError as error:
            # The metadata step of pip shows the last lines alone.
            raise SystemExit(f"kinetarium: {error}") from None
