"""Pages of reach as files: report.html, and every figure beside it."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kinetarium.errors import OutputError

if TYPE_CHECKING:
    from kinetarium.figure.page import Page


_FIGURE = re.compile(r"\d{2,}-[a-z0-9-]+\.(svg|png)")
"""How `figure_files` names pictures."""
_HEAD = (
    b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-'
)
"""How our pages begin."""


def write_page(folder: Path, page: "Page") -> Path:
    """Write a page and its figures into a folder.

    Args:
        folder: The folder, which is there.
        page: The page.

    Returns:
        The path of the page.

    Raises:
        OutputError: If a file cannot be written, or one that is not of such a page is there.
    """
    from kinetarium.recording.atomic import write_atomic, write_folder_atomic
    from kinetarium.report.html import page_html
    from kinetarium.report.picture_files import figure_files

    report, figures = folder / "report.html", folder / "figures"
    check_page(report)
    for path in sorted(figures.iterdir()) if figures.is_dir() else ():
        if not _FIGURE.fullmatch(path.name):
            raise OutputError(f"{str(path)!r} is not of an earlier report and would be lost")
    write_folder_atomic(figures, figure_files(page))
    write_atomic(report, page_html(page).encode(errors="xmlcharrefreplace"))
    return report


def check_page(report: Path) -> None:
    """Refuse to replace a page that is not one of ours.

    Raises:
        OutputError: If it is somebody else's.
    """
    from kinetarium.recording.regular_file import open_regular

    if report.is_file():
        with open_regular(report) as file:
            if file.read(len(_HEAD)) != _HEAD:
                raise OutputError(f"{str(report)!r} is not an earlier report and would be lost")
