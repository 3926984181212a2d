"""`kinetarium studio`: watch runs in the browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.invocation import Invocation
from kinetarium.ranges import Range


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to watch, and where.

    Attributes:
        folder: The folder of a study or batch, or one that has such folders in it.
        port: Port on this machine; any free one if 0.
        browser: Whether to open the page in a browser.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")] = Path("out")
    port: Annotated[int, Range(0, 65535, unit="-")] = 0
    browser: bool = True


def run(config: Config, invocation: Invocation) -> None:
    """Serve the page until Ctrl-C."""
    from kinetarium.errors import KinetariumError
    from kinetarium.studio.serve import serve

    # Walks can be planned where nothing was run yet.
    if not config.folder.is_dir() and config.folder != Path("out"):
        raise KinetariumError(f"{str(config.folder)!r} is not a folder")

    def started(address: str) -> None:
        invocation.console.line(f"The studio is at {address}")
        invocation.console.line("Ctrl-C ends it.")
        invocation.console.flush()
        if config.browser:
            import webbrowser

            webbrowser.open(address)

    serve(config.folder, port=config.port, started=started)
    invocation.console.result({"ok": True})
