"""The kit must pass a sound study and catch each way of breaking one."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from kinetarium.batch.check_study import check_study
from kinetarium.batch.study import (
    MODULES,
    Findings,
    Outcome,
    Study,
    StudyUnavailableError,
    find_function,
    has_method,
    list_studies,
    run_modules,
)
from kinetarium.figure.replay import Arrow, Replay, Solid
from kinetarium.figure.text import Column, Table
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.studies.drop.config import Config as DropConfig


@dataclass(frozen=True)
class Config:
    """Numbers.

    Attributes:
        numbers: Which.
    """

    numbers: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Case:
    """A number.

    Attributes:
        number: Which.
    """

    number: int


class Sound(Study[Config, Case]):
    """Squares numbers."""

    name, help, title, config, case = "squares", "square numbers", "Squares", Config, Case

    def cases(self, config: Config) -> Sequence[Case]:
        return [Case(number) for number in config.numbers]

    def run(self, case: Case) -> Recording:
        time = Channel(np.arange(3.0), "s")
        return Recording({"time": time, "square": Channel(time.values**2, "m^2")}, "running")

    def score(self, case: Case, recording: Recording) -> Sequence[Row]:
        return [{"largest": float(recording["square"].max())}]

    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        rows = tuple((o.case.number, row["largest"]) for o in outcomes for row in o.rows)
        headline = Table("", (Column("number"), Column("largest")), rows)
        return Findings(headline, (), {"count": len(outcomes)}, lead="Squares of numbers.")


def failed(study: Study[Any, Any]) -> list[str]:
    return [result.check for result in check_study(study) if not result.passed]


def test_a_sound_study_passes() -> None:
    assert failed(Sound()) == []


def test_drop_passes() -> None:
    results = check_study("drop", DropConfig(height=0.02, duration=0.2))
    assert [(r.check, r.reason) for r in results if not r.passed] == []


class ShoutingName(Sound):
    name = "Squares!"


@dataclass
class Loose:
    """Not frozen."""

    numbers: tuple[int, ...] = (1, 2)


class LooseConfig(Sound):
    config = Loose


class NoCases(Sound):
    def cases(self, config: Config) -> Sequence[Case]:
        return []


class SameCases(Sound):
    def cases(self, config: Config) -> Sequence[Case]:
        return [Case(1), Case(1)]


class NoUnit(Sound):
    def run(self, case: Case) -> Recording:
        time, square = Channel(np.arange(3.0), "s"), Channel(np.arange(3.0), "")
        return Recording({"time": time, "square": square}, "running")


class Fickle(Sound):
    def run(self, case: Case) -> Recording:
        sound = super().run(case)
        noise = Channel(np.random.default_rng().random(3), "m^2")
        return replace(sound, channels={**sound.channels, "square": noise})


class OddRows(Sound):
    def score(self, case: Case, recording: Recording) -> Sequence[Row]:
        return [{f"largest{case.number}": 1.0}]


class Arrays(Sound):
    def score(self, case: Case, recording: Recording) -> Sequence[Row]:
        return [{"largest": recording["square"]}]

    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        return Findings(Table("", (), ()), (), {}, lead="Squares.")


class RaggedTable(Sound):
    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        return Findings(Table("", (Column("a"),), ((1, 2),)), (), {}, lead="Squares.")


class NeedsSuccess(Sound):
    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        largest = max(row["largest"] for outcome in outcomes for row in outcome.rows)
        return Findings(Table("", (), ()), (), {"largest": largest}, lead="Squares.")


class Shown(Sound):
    """Moves a solid along."""

    def replay(self, case: Case, recording: Recording) -> Replay:
        time = recording["time"]
        poses = np.zeros((len(time), 7))
        poses[:, 0], poses[:, 3] = time, 1.0
        force = Arrow("force", "N", poses[:, :3], poses[:, :3])
        return Replay(time, (Solid("point", "", (), poses),), (force,), (), ("point",))


BROKEN_REPLAYS = {
    "two solids": lambda r: replace(r, solids=r.solids * 2),
    "no samples": lambda r: replace(r, time=r.time[:0]),
    "do not increase": lambda r: replace(r, time=0 * r.time),
    "have shape": lambda r: replace(r, time=r.time[:2]),
    "not finite": lambda r: replace(
        r, solids=(replace(r.solids[0], poses=np.nan * np.ones((1, 7))),)
    ),
    "not unit": lambda r: replace(r, solids=(replace(r.solids[0], poses=np.ones((1, 7))),)),
    "arrow 'force'": lambda r: replace(r, arrows=(replace(r.arrows[0], vectors=np.ones((1, 3))),)),
    "unknown solids": lambda r: replace(r, trails=("comet",)),
}


@pytest.mark.parametrize("fault", BROKEN_REPLAYS)
def test_a_broken_replay_is_caught(fault: str) -> None:
    assert failed(Shown()) == []

    class Broken(Shown):
        def replay(self, case: Case, recording: Recording) -> Replay:
            return BROKEN_REPLAYS[fault](super().replay(case, recording))

    (found,) = [result for result in check_study(Broken()) if not result.passed]
    assert found.check == "the replay, if there is one, can be shown"
    assert fault in found.reason


@pytest.mark.parametrize(
    ("study", "checks"),
    [
        (ShoutingName, ["it has a name, a help line and a title"]),
        (LooseConfig, ["config and case are frozen and documented"]),
        (SameCases, ["cases are distinct and serializable"]),
        (NoUnit, ["recordings are numbers with units"]),
        (Fickle, ["a case run twice has the same result"]),
        (OddRows, ["rows are JSON with one set of columns", "the report is consistent"]),
        (Arrays, ["rows are JSON with one set of columns"]),
        (RaggedTable, ["the report is consistent"]),
        (NeedsSuccess, ["a report of failed cases alone works"]),
    ],
)  # fmt: skip
def test_a_broken_study_is_caught(study: type[Sound], checks: list[str]) -> None:
    assert failed(study()) == checks


def test_a_study_without_cases_is_caught() -> None:
    assert "cases are distinct and serializable" in failed(NoCases())


def test_the_study_in_the_documentation_is_sound() -> None:
    text = (Path(__file__).parents[2] / "docs" / "add-a-study.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    module = ModuleType("documented_study")
    sys.modules["documented_study"] = module
    exec(code, module.__dict__)
    checks = check_study(module.Swing())
    assert [check for check in checks if not check.passed] == []
    study = module.Swing()
    case = study.cases(module.Config(amplitude=(90.0,)))[0]
    assert study.score(case, study.run(case))[0]["ratio"] == pytest.approx(1.1803, abs=1e-3)


FILES = {
    "__init__.py": """
from kinetarium.batch.study import Study
from squaring.config import Case, Config
class Squares(Study[Config, Case]):
    name, help, title, config, case = "squares", "square numbers", "Squares", Config, Case
""",
    "config.py": """
from dataclasses import dataclass
@dataclass(frozen=True)
class Config:
    '''Numbers.

    Attributes:
        numbers: Which.
    '''
    numbers: tuple[int, ...] = (1, 2)
@dataclass(frozen=True)
class Case:
    '''A number.

    Attributes:
        number: Which.
    '''
    number: int
""",
    "cases.py": """
from squaring.config import Case
def cases(config):
    return [Case(number) for number in config.numbers]
""",
    "run.py": """
import numpy as np
from kinetarium.recording.recording import Channel, Recording
def run(case):
    return Recording({"time": Channel(np.arange(3.0) * case.number, "s")}, "running")
""",
    "score.py": """
def score(case, recording):
    return {"square": float(recording["time"][1] ** 2)}
""",
    "figures.py": """
from kinetarium.batch.study import Findings
from kinetarium.figure.text import Column, Table
def report(outcomes):
    rows = tuple((row["square"],) for outcome in outcomes for row in outcome.rows)
    return Findings(Table("", (Column("square"),), rows), (), {}, lead="Squares of numbers.")
""",
}


@pytest.fixture
def squaring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Study[Any, Any]]]:
    """Write a study of another package, some of its files changed, and make it."""

    def write(**changes: str | None) -> Study[Any, Any]:
        package = tmp_path / "squaring"
        package.mkdir()
        for name, text in (FILES | {f"{part}.py": text for part, text in changes.items()}).items():
            if text is not None:
                (package / name).write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        from squaring import Squares

        return Squares()

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "squaring"]:
        del sys.modules[name]


def test_functions_are_found_beside_the_config(squaring: Callable[..., Study[Any, Any]]) -> None:
    study = squaring()
    assert "squaring.run" not in sys.modules, "imported before it is called"
    case = study.cases(study.config(numbers=(3,)))[0]
    assert study.score(case, study.run(case)) == [{"square": 9.0}]
    assert study.replay(case, study.run(case)) is None
    assert failed(study) == []


def test_a_small_study_has_cases_with_its_config_and_score_with_its_run(
    squaring: Callable[..., Study[Any, Any]],
) -> None:
    config = FILES["config.py"] + FILES["cases.py"].replace("from squaring.config import Case", "")
    run = FILES["run.py"] + FILES["score.py"]
    study = squaring(config=config, cases=None, run=run, score=None)
    assert "squaring.run" not in sys.modules, "imported before it is called"
    case = study.cases(study.config(numbers=(3,)))[0]
    assert study.score(case, study.run(case)) == [{"square": 9.0}]
    assert failed(study) == []
    assert run_modules(study) == ("squaring.config", "squaring.run")


def test_cases_may_be_with_the_run(squaring: Callable[..., Study[Any, Any]]) -> None:
    study = squaring(run=FILES["cases.py"] + FILES["run.py"], cases=None)
    assert [case.number for case in study.cases(study.config())] == [1, 2]
    assert failed(study) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"run": None}, "no method run(), and no function run() in run.py"),
        ({"figures": "def draw(): pass"}, "no method report(), and no function report() in"),
        ({"score": "def score(recording): pass"}, "score() does not take (case, recording)"),
        ({"cases": "import nowhere"}, "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_a_missing_function_is_named(
    squaring: Callable[..., Study[Any, Any]], changes: dict[str, str | None], reason: str
) -> None:
    results = {result.check: result for result in check_study(squaring(**changes))}
    found = results["it has all functions, with the right arguments"]
    assert not found.passed and reason in found.reason


def test_calling_a_missing_function_says_where_it_should_be(
    squaring: Callable[..., Study[Any, Any]],
) -> None:
    with pytest.raises(StudyUnavailableError, match=r"nor a function run\(\) in squaring\.run"):
        squaring(run=None).run(3)


def test_a_method_takes_the_place_of_a_function(squaring: Callable[..., Study[Any, Any]]) -> None:
    kind = type(squaring())

    class Doubled(kind):
        def score(self, case: Any, recording: Recording) -> Sequence[Row]:
            return [{"square": 2 * row["square"]} for row in super().score(case, recording)]

    case = kind.case(2)
    assert Doubled().score(case, kind().run(case)) == [{"square": 8.0}]


def takes(hint: Any, kind: Any) -> bool:
    """Return whether a parameter takes values of a type: of its own, or as one of several."""
    if hint == kind or kind in get_args(hint):
        return True
    alike = get_origin(hint) is get_origin(kind) is not None
    return alike and all(map(takes, get_args(hint), get_args(kind)))


def test_our_functions_take_and_return_what_their_study_says() -> None:
    for study in list_studies():
        if not type(study).__module__.startswith("kinetarium."):
            continue
        first = {"cases": study.config, "report": Sequence[Outcome[study.case]]}
        for name in MODULES:
            function = find_function(study, name)
            if function is None:
                assert name == "replay" or has_method(study, name)
                continue
            *given, returned = get_type_hints(function).values()
            rest = [Recording] if name in ("score", "replay") else []
            wanted = [first.get(name, study.case), *rest]
            assert len(given) == len(wanted) and all(map(takes, given, wanted)), function
            if name in ("run", "report"):
                assert returned is {"run": Recording, "report": Findings}[name]
