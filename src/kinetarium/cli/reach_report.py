"""Pages of reach as files: report.html, and every figure beside it."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetarium.figure.page import Page


def write_page(folder: Path, page: "Page") -> Path:
    """Write a page and its figures into a folder.

    Args:
        folder: The folder, which is there.
        page: The page.

    Returns:
        The path of the page.

    Raises:
        OutputError: If a file cannot be written.
    """
    from kinetarium.recording.atomic import write_atomic, write_folder_atomic
    from kinetarium.report.html import page_html
    from kinetarium.report.picture_files import figure_files

    write_folder_atomic(folder / "figures", figure_files(page))
    report = folder / "report.html"
    write_atomic(report, page_html(page).encode(errors="xmlcharrefreplace"))
    return report
