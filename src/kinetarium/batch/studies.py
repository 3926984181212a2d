"""The studies that are known, and opening one by name."""

from typing import Any

from kinetarium.batch.study import Study
from kinetarium.errors import UnknownNameError
from kinetarium.plugins import discover

GROUP = "kinetarium.studies"


def list_studies() -> tuple[Study[Any, Any], ...]:
    """List the known studies by name."""
    return tuple(open_study(name) for name in sorted(discover(GROUP)))


def open_study(name: str) -> Study[Any, Any]:
    """Give the study of a name.

    Raises:
        UnknownNameError: If no study has that name.
    """
    points = discover(GROUP)
    if name not in points:
        raise UnknownNameError("study", name, known=points)
    study: Study[Any, Any] = points[name].load()()
    return study
