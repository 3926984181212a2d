"""Study: what a study is made of; commands, batches and reports are generated from it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from kinetarium.errors import KinetariumError, UnknownNameError, one_line
from kinetarium.plugins import PluginError, discover, running_plugin

if TYPE_CHECKING:  # the list of commands imports every study, and is to stay light
    from kinetarium.figure.page import Section
    from kinetarium.figure.replay import Replay
    from kinetarium.figure.text import Table
    from kinetarium.recording.recording import Recording, Row, RunStatus


ConfigT = TypeVar("ConfigT")
CaseT = TypeVar("CaseT")


class ConfigError(KinetariumError):
    """A value of a config that makes no sense."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Generic[CaseT]):
    """One case and what came of it, as a report sees it.

    Attributes:
        case: The case.
        status: How it ended.
        message: Why it ended so; empty if it completed.
        rows: What `score` gave; none if the case was not judged.
        recording: What was recorded, its arrays mapped from disk; or None.
        timing: What it cost: "wall_s" and "cpu_s" [s], and what the run measured itself
            (`Recording.timing`). Varies from run to run.
    """

    case: CaseT
    status: "RunStatus"
    message: str
    rows: "tuple[Row, ...]"
    recording: "Recording | None"
    timing: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a study makes of all its cases.

    Attributes:
        headline: The table that answers the question; the command prints it last.
        sections: The report after the headline.
        summary: Figures over all rows, for metrics.json.
        extra: Further top-level entries of metrics.json by name.
        lead: The report's first paragraph.
        tables: Tables that the command prints before the headline.
        answer: What the command's JSON says beside metrics.json: times, for one.
    """

    headline: "Table"
    sections: "tuple[Section, ...]"
    summary: Mapping[str, Any]
    extra: Mapping[str, Any] = field(default_factory=dict)
    lead: str = ""
    tables: "tuple[Table, ...]" = ()
    answer: Mapping[str, Any] = field(default_factory=dict)


MODULES = {
    "cases": "cases", "run": "run", "score": "score", "report": "figures", "replay": "figures",
}  # fmt: skip
"""The functions of a study, and the module beside its config in which each stands."""


class Study(Generic[ConfigT, CaseT]):
    """A question that is put to robots or engines, case by case.

    A study is found through the entry-point group `kinetarium.studies`, which names its class;
    the class is made without arguments, and importing it must be cheap. What it does stands in
    modules beside that of its config, and is imported when it is first called: `cases.cases`,
    `run.run`, `score.score`, `figures.report`, and `figures.replay` if there is something to
    watch, each with the arguments of the method of its name. A class may define the method
    instead.

    Example:
        >>> from kinetarium.study import open_study
        >>> drop = open_study("drop")
        >>> [case.engine for case in drop.cases(drop.config(engine=("mujoco",)))]
        ['mujoco']

    Attributes:
        name: The command it is called by.
        help: What it does, in one line.
        title: Heading of its report.
        config: A frozen dataclass of plain values, each with a default and
            documented with its unit; its fields are the command's flags.
        case: A frozen dataclass of plain values that says all a run depends on.
        is_query: Whether it answers at once: without --out its command keeps nothing, and a
            single case that fails is an error, not a result.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    title: ClassVar[str]
    config: ClassVar[type]
    case: ClassVar[type]
    is_query: ClassVar[bool] = False

    def cases(self, config: ConfigT) -> Sequence[CaseT]:
        """Return the cases of a config, in the order of the report.

        Raises:
            KinetariumError: If the config asks for something that is not there.
        """
        found: Sequence[CaseT] = _function(self, "cases")(config)
        return found

    def run(self, case: CaseT) -> "Recording":
        """Run a case; everything it gives depends on the case alone."""
        recording: Recording = _function(self, "run")(case)
        return recording

    def score(self, case: CaseT, recording: "Recording") -> "Sequence[Row]":
        """Judge a recording: the rows of the case, without the case's own fields.

        Called for a diverged recording too, which ends before its time. The function
        `score.score` may return a single row as it is.
        """
        rows: Row | Sequence[Row] = _function(self, "score")(case, recording)
        return [rows] if isinstance(rows, Mapping) else rows

    def report(self, outcomes: "Sequence[Outcome[CaseT]]") -> Findings:
        """Sum up all cases; those that failed have no rows."""
        findings: Findings = _function(self, "report")(outcomes)
        return findings

    def replay(self, case: CaseT, recording: "Recording") -> "Replay | None":
        """Show a recording as bodies that move, for those who watch; None if there is nothing."""
        show = find_function(self, "replay")
        replay: Replay | None = show(case, recording) if show else None
        return replay


def has_method(study: Study[Any, Any], name: str) -> bool:
    """Return whether a study's class defines one of its functions itself."""
    return getattr(type(study), name) is not getattr(Study, name)


def function_module(study: Study[Any, Any], name: str) -> str:
    """Return the module in which a function of a study stands, unless its class defines it."""
    beside = study.config.__module__
    package = getattr(sys.modules.get(beside), "__package__", None) or beside
    return f"{package}.{MODULES[name]}"


def run_modules(study: Study[Any, Any]) -> tuple[str, ...]:
    """Return the modules that a run begins in: those of the case, and of `run` and `score`."""
    modules = {study.config.__module__, study.case.__module__}
    for name in ("run", "score"):
        if has_method(study, name):
            modules |= {
                kind.__module__ for kind in type(study).__mro__ if kind not in Study.__mro__
            }
        else:
            modules.add(function_module(study, name))
    return tuple(sorted(modules))


def find_function(study: Study[Any, Any], name: str) -> Callable[..., Any] | None:
    """Import a function of a study from its module; return None if there is none.

    Raises:
        ImportError: If its module is there, but does not load.
    """
    module = function_module(study, name)
    try:
        function = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name != module:  # what it imports is missing
            raise
        return None
    return function if callable(function) else None


def _function(study: Study[Any, Any], name: str) -> Callable[..., Any]:
    """Import a function that a study must have.

    Raises:
        StudyUnavailableError: If there is none.
    """
    function = find_function(study, name)
    if function is None:
        raise StudyUnavailableError(f"the study '{study.name}' has {_lack(study, name)}")
    return function


def _lack(study: Study[Any, Any], name: str) -> str:
    return f"neither a method {name}() nor a function {name}() in {function_module(study, name)}"


GROUP = "kinetarium.studies"


class StudyUnavailableError(KinetariumError):
    """A study that does not load, or is none."""


def list_studies() -> tuple[Study[Any, Any], ...]:
    """List the known studies by name; those that cannot be opened are left out.

    Example:
        >>> from kinetarium import list_studies
        >>> "drop" in [study.name for study in list_studies()]
        True
    """
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
    for function in ("cases", "run", "score", "report"):
        if not (has_method(study, function) or _is_there(function_module(study, function))):
            raise PluginError(f"it has {_lack(study, function)}")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # what it should be in is a module, not a package
        return False
