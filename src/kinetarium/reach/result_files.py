"""Results in folders: arrays, and a JSON file that says what they are."""

import io
import re
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.errors import OutputError
from kinetarium.recording.atomic import check_folder, make_folder, write_folder_atomic
from kinetarium.recording.versioned_json import versioned_json

_BESIDE = ("timing.json", "report.html", "figures")
"""What is written beside a summary and its arrays."""


def write_result(
    out: str | PathLike[str],
    summary: str,
    *,
    data: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]] | None = None,
    timing: Mapping[str, Any] | None = None,
) -> None:
    """Write a folder as one; it replaces an earlier one of the same kind, and nothing else.

    Args:
        out: The folder.
        summary: Name of the JSON file by which such folders are known.
        data: What it says.
        arrays: Arrays by name.
        timing: What varies from run to run, kept apart in timing.json.

    Raises:
        OutputError: If something else is there, or it cannot be written.
    """
    folder = Path(fspath(out))
    if "\0" in fspath(out):
        raise OutputError(f"cannot write {fspath(out)!r}: not a valid path")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / summary).is_file():
        raise OutputError(f"cannot write {str(folder)!r}: a folder of something else is there")
    own = [summary, *(f"{name}.npy" for name in arrays or {}), *_BESIDE]
    check_folder(folder, ours="|".join(map(re.escape, own)))
    files = {f"{name}.npy": _npy(values) for name, values in (arrays or {}).items()}
    files[summary] = versioned_json(dict(data))
    if timing is not None:
        files["timing.json"] = versioned_json(dict(timing))
    make_folder(folder.parent)
    write_folder_atomic(folder, files)


def _npy(values: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()
