"""What a failure looks like to people and to programs."""

import os
from typing import Any

from kinetarium.errors import KinetariumError, MissingPackageError, OutputError, UnknownNameError
from kinetarium.model.findings import RobotFileError
from kinetarium.recording.regular_file import reason

_CODES: dict[type[Exception], str] = {
    UnknownNameError: "unknown-name",
    OutputError: "output",
    MissingPackageError: "missing-package",
}


def is_defect(error: Exception) -> bool:
    """Tell whether it is nothing that a user can put right."""
    return not isinstance(error, KinetariumError) and not _names_a_file(error)


def failure_lines(error: Exception) -> list[str]:
    """Return a line for each thing that is wrong."""
    if isinstance(error, RobotFileError):
        return [str(refusal) for refusal in error.refusals]
    if isinstance(error, KinetariumError):
        return [f"kinetarium: {error}"]
    if not is_defect(error):
        return [f"kinetarium: {_file_fault(error)}"]
    return [
        f"kinetarium: internal error, {type(error).__name__}: {error}"
        " (this is a defect of Kinetarium; --debug shows where)"
    ]


def failure_payload(error: Exception) -> dict[str, Any]:
    """Return the same as data for JSON."""
    if isinstance(error, RobotFileError):
        rows = [
            {
                "code": str(refusal.code),
                "message": refusal.message,
                "line": refusal.line,
                "remedy": refusal.remedy,
                "file": refusal.file,
            }
            for refusal in error.refusals
        ]
    else:
        code = _CODES.get(type(error), "internal" if is_defect(error) else "error")
        message = _file_fault(error) if _names_a_file(error) else str(error)
        rows = [{"code": code, "message": message, "line": None, "remedy": "", "file": None}]
    return {"ok": False, "errors": rows}


def _names_a_file(error: Exception) -> bool:
    """Tell whether a file is at fault: closed to the user, or with a name that is too long."""
    return isinstance(error, OSError) and isinstance(error.filename, str | bytes)


def _file_fault(error: Exception) -> str:
    assert isinstance(error, OSError)
    return f"cannot use {os.fsdecode(error.filename)!r}: {reason(error)}"
