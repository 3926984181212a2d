"""What a failure looks like to people and to programs."""

from typing import Any

from kinetarium.errors import KinetariumError, MissingPackageError, OutputError, UnknownNameError
from kinetarium.model.findings import RobotFileError

_CODES: dict[type[Exception], str] = {
    UnknownNameError: "unknown-name",
    OutputError: "output",
    MissingPackageError: "missing-package",
}


def failure_lines(error: Exception) -> list[str]:
    """Give a line for each thing that is wrong."""
    if isinstance(error, RobotFileError):
        return [str(refusal) for refusal in error.refusals]
    if isinstance(error, KinetariumError):
        return [f"kinetarium: {error}"]
    return [
        f"kinetarium: internal error, {type(error).__name__}: {error}"
        " (this is a defect of Kinetarium; --debug shows where)"
    ]


def failure_payload(error: Exception) -> dict[str, Any]:
    """Give the same as data for JSON."""
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
        unnamed = "error" if isinstance(error, KinetariumError) else "internal"
        code = _CODES.get(type(error), unnamed)
        rows = [{"code": code, "message": str(error), "line": None, "remedy": "", "file": None}]
    return {"ok": False, "errors": rows}
