"""Study: the base class of studies; commands, batches and reports are generated from it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from kinetarium.errors import KinetariumError, UnknownNameError, one_line
from kinetarium.plugins import PluginError, discover, running_plugin

if TYPE_CHECKING:  # the list of commands imports every study, and must stay fast
    from kinetarium.figure.page import Section
    from kinetarium.figure.replay import Replay
    from kinetarium.figure.text import Table
    from kinetarium.recording.recording import Recording, Row, RunStatus


ConfigT = TypeVar("ConfigT")
CaseT = TypeVar("CaseT")


class ConfigError(KinetariumError):
    """An invalid value of a config, or values that contradict each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Generic[CaseT]):
    """One case and its result, as the input of a report.

    Attributes:
        case: The case.
        status: How it ended.
        message: The reason; empty if it completed.
        rows: The rows of `score`; empty if the case was not scored.
        recording: The recording, its arrays mapped from disk; or None.
        timing: "wall_s" and "cpu_s" [s], and times measured by the run itself
            (`Recording.timing`). Varies from run to run.
    """

    case: CaseT
    status: "RunStatus"
    message: str
    rows: "tuple[Row, ...]"
    recording: "Recording | None"
    timing: Mapping[str, float]

    @property
    def recorded(self) -> "Recording":
        """The recording of an outcome that has one."""
        assert self.recording is not None
        return self.recording


@dataclass(frozen=True, slots=True)
class Findings:
    """The summary of all cases of a study.

    Attributes:
        headline: The main table; the command prints it last.
        sections: The sections of the report after the headline; they may be drawn when they are
            first read, since a query without a report does not need them.
        summary: Statistics over all rows, for metrics.json.
        extra: Further top-level entries of metrics.json by name.
        lead: What was done, the first paragraph of the report after the conclusion.
        tables: Tables that the command prints before the headline.
        answer: Entries of the command's JSON besides metrics.json, such as times.
        conclusion: What came out, in one to three sentences with their numbers; the report
            begins with it, the command ends with it.
    """

    headline: "Table"
    sections: "Sequence[Section]"
    summary: Mapping[str, Any]
    extra: Mapping[str, Any] = field(default_factory=dict)
    lead: str = ""
    tables: "tuple[Table, ...]" = ()
    answer: Mapping[str, Any] = field(default_factory=dict)
    conclusion: str = ""


MODULES = {
    "cases": "cases", "run": "run", "score": "score", "report": "figures", "replay": "figures",
}  # fmt: skip
"""The functions of a study, and the module beside its config that defines each."""


class Study(Generic[ConfigT, CaseT]):
    """A question that is put to robots or engines, case by case.

    A study is found through the entry-point group `kinetarium.studies`, which names its class;
    the class has no constructor arguments, and importing it must be fast. Its functions are in
    modules beside that of its config, and are imported when they are first called:
    `cases.cases`, `run.run`, `score.score`, `figures.report`, and optionally `figures.replay`,
    each with the arguments of the method of its name. In a small study `cases` may be in the
    module of the config or of `run`, and `score` in that of `run`. A class may define the
    method instead.

    Example:
        >>> from kinetarium.study import open_study
        >>> drop = open_study("drop")
        >>> [case.engine for case in drop.cases(drop.config(engine=("mujoco",)))]
        ['mujoco']

    Attributes:
        name: The name of its command.
        help: What it does, in one line.
        title: Title of its report.
        config: A frozen dataclass of serializable values, each with a default and documented
            with its unit; its fields are the command's flags.
        case: A frozen dataclass of serializable values: everything that a run depends on.
        is_query: Whether it is a query: without --out its command saves nothing, and a single
            case that fails is an error, not a result.
        positional: Field of the config, a text, that its command also takes without a flag, such
            as "robot"; empty if there is none.
        uses: Names of studies whose cases its runs run.
        timeout: Time limit for one case by default [s].
    """

    name: ClassVar[str]
    help: ClassVar[str]
    title: ClassVar[str]
    config: ClassVar[type]
    case: ClassVar[type]
    is_query: ClassVar[bool] = False
    positional: ClassVar[str] = ""
    uses: ClassVar[tuple[str, ...]] = ()
    timeout: ClassVar[float] = 600.0

    def cases(self, config: ConfigT) -> Sequence[CaseT]:
        """Return the cases of a config, in the order of the report.

        Raises:
            KinetariumError: If the config is invalid, or an engine or robot is not available.
        """
        found: Sequence[CaseT] = _function(self, "cases")(config)
        return found

    def run(self, case: CaseT) -> "Recording":
        """Run a case; the result must depend on the case alone."""
        recording: Recording = _function(self, "run")(case)
        return recording

    def score(self, case: CaseT, recording: "Recording") -> "Sequence[Row]":
        """Return the rows of a recording, without the fields of the case.

        Called for a diverged recording too, which ends early. The function `score.score` may
        return a single row.
        """
        rows: Row | Sequence[Row] = _function(self, "score")(case, recording)
        return [rows] if isinstance(rows, Mapping) else rows

    def report(self, outcomes: "Sequence[Outcome[CaseT]]") -> Findings:
        """Summarise all cases; those that failed have no rows."""
        findings: Findings = _function(self, "report")(outcomes)
        return findings

    def replay(self, case: CaseT, recording: "Recording") -> "Replay | None":
        """Return a recording as moving bodies, for the studio; None if there is nothing to show."""
        show = find_function(self, "replay")
        replay: Replay | None = show(case, recording) if show else None
        return replay


def has_method(study: Study[Any, Any], name: str) -> bool:
    """Return whether a study's class defines one of its functions itself."""
    return getattr(type(study), name) is not getattr(Study, name)


def function_module(study: Study[Any, Any], name: str) -> str:
    """Return the module of a function of a study, unless its class defines it."""
    beside = study.config.__module__
    config = sys.modules.get(beside)
    package = getattr(config, "__package__", None) or beside
    module = f"{package}.{MODULES[name]}"
    if name == "cases" and callable(getattr(config, name, None)):
        return beside
    if name in ("cases", "score") and not _is_there(module):
        return f"{package}.{MODULES['run']}"
    return module


def run_modules(study: Study[Any, Any]) -> tuple[str, ...]:
    """Return the entry modules of a run: those of the case, and of `run` and `score`.

    Those of the studies that it uses are among them.
    """
    modules = {study.config.__module__, study.case.__module__}
    for name in study.uses:
        modules.update(run_modules(open_study(name)))
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
        ImportError: If its module exists, but fails to load.
    """
    module = function_module(study, name)
    try:
        function = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name != module:  # one of its own imports is missing
            raise
        return None
    return function if callable(function) else None


def _function(study: Study[Any, Any], name: str) -> Callable[..., Any]:
    """Import a function that a study must have.

    Raises:
        StudyUnavailableError: If it is missing.
    """
    function = find_function(study, name)
    if function is None:
        raise StudyUnavailableError(f"the study '{study.name}' has {_lack(study, name)}")
    return function


def _lack(study: Study[Any, Any], name: str) -> str:
    return f"neither a method {name}() nor a function {name}() in {function_module(study, name)}"


def case_of(config: Any, kind: type[CaseT], **own: Any) -> CaseT:
    """Return a case with its own values, and those of the config for its other fields."""
    names = (each.name for each in fields(kind) if each.name not in own)  # type: ignore[arg-type]
    return kind(**own, **{name: getattr(config, name) for name in names})


def refuse_empty(config: Any, *names: str) -> None:
    """Refuse a config that leaves one of these lists empty.

    Raises:
        ConfigError: If it does.
    """
    for name in names:
        if not getattr(config, name):
            raise ConfigError(f"--{name.replace('_', '-')} needs at least one value")


GROUP = "kinetarium.studies"


class StudyUnavailableError(KinetariumError):
    """A study that does not load, or is invalid."""


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
        StudyUnavailableError: If it does not load, or is not a valid study.
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
    """Check what commands, reports and the studio rely on.

    Raises:
        PluginError: If it is not a valid study.
    """
    if not isinstance(study, Study):
        raise PluginError(f"it is a {type(study).__name__}, not a Study")
    if study.name != name:
        raise PluginError(f"its name is {one_line(repr(study.name))}")
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
    except ModuleNotFoundError:  # its parent is a module, not a package
        return False
