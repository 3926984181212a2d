"""The studies that are known, and opening one by name."""

from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from kinetarium.batch.study import Study
from kinetarium.errors import KinetariumError, UnknownNameError, one_line
from kinetarium.plugins import PluginError, discover, running_plugin

GROUP = "kinetarium.studies"


class StudyUnavailableError(KinetariumError):
    """A study that does not load, or is none."""


def list_studies() -> tuple[Study[Any, Any], ...]:
    """List the known studies by name; those that cannot be opened are left out."""
    studies = []
    for name in sorted(discover(GROUP)):
        with suppress(StudyUnavailableError):
            studies.append(open_study(name))
    return tuple(studies)


def open_study(name: str) -> Study[Any, Any]:
    """Return the study of a name.

    Raises:
        UnknownNameError: If no study has that name.
        StudyUnavailableError: If it does not load, or if what another package names is no study.
    """
    plugins = discover(GROUP)
    if name not in plugins:
        raise UnknownNameError("study", name, known=plugins)
    try:
        with running_plugin():
            study: Study[Any, Any] = plugins[name].load()()
            _check(study, name)
    except PluginError as error:
        package = "" if plugins[name].own else f" (of the package {plugins[name].package})"
        raise StudyUnavailableError(f"study '{name}' is not available: {error}{package}") from error
    return study


def _check(study: Study[Any, Any], name: str) -> None:
    """Refuse what commands, reports and the studio would stumble over later.

    Raises:
        PluginError: If it is no study.
    """
    if not isinstance(study, Study):
        raise PluginError(f"it is a {type(study).__name__}, not a Study")
    if study.name != name:
        raise PluginError(f"it calls itself {one_line(repr(study.name))}")
    for text in ("help", "title"):
        if not isinstance(getattr(study, text), str):
            raise PluginError(f"its {text} is not a text")
    for part in ("config", "case"):
        kind = getattr(study, part)
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise PluginError(f"its {part} is not a dataclass")
    for each in fields(study.config):
        if each.default is MISSING and each.default_factory is MISSING:
            raise PluginError(f"its config has no default for {each.name!r}")
