"""`kinetarium studio`: view runs in the browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.invocation import Invocation
from kinetarium.ranges import Range


@dataclass(frozen=True, kw_only=True)
class Config:
    """The folder to view and the address of the page.

    Attributes:
        folder: Result folder of a study or batch, or a folder that contains some.
        port: TCP port on this machine; 0 for the last one, or any free one.
        browser: Only serve the page; do not open a browser.
        notebook: Origin of a notebook server, such as http://localhost:8888, whose pages may show
            the studio in a frame; none by default.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")] = Path("out")
    port: Annotated[int, Range(0, 65535, unit="-")] = 0
    browser: bool = True
    notebook: Annotated[str | None, tyro.conf.arg(metavar="ORIGIN")] = None


def run(config: Config, invocation: Invocation) -> None:
    """Serve the page until Ctrl-C."""
    from kinetarium.errors import KinetariumError
    from kinetarium.studio.serve import serve

    # Walks can be planned without any results.
    if not config.folder.is_dir() and config.folder != Path("out"):
        raise KinetariumError(f"{str(config.folder)!r} is not a folder")

    def started(address: str) -> None:
        invocation.console.line(f"The studio is at {address}")
        if config.notebook:
            frame = f'IFrame("{address}", width="100%", height=640)'
            invocation.console.line(f"In the notebook: from IPython.display import IFrame; {frame}")
        invocation.console.line("Press Ctrl-C to stop.")
        invocation.console.flush()
        if config.browser:
            import webbrowser

            webbrowser.open(address)

    frames = (config.notebook,) if config.notebook else ()
    serve(config.folder, port=config.port, started=started, frames=frames)
    invocation.console.result({"ok": True})
