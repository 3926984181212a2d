"""Numbers outside their range: one line, exit code 2, nothing written, whichever way they come in.

What is tried follows from the ranges that the fields declare, so that a new field is tried, too.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import cycle, product
from math import inf, isfinite, nan, nextafter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import pytest

from kinetarium.batch.study import list_studies, open_study
from kinetarium.cli.commands.reach import OPERATIONS
from kinetarium.cli.core.registry import COMMANDS
from kinetarium.errors import KinetariumError
from kinetarium.ranges import Range, check_ranges, declared_range
from kinetarium.storage.serialization import SerializationError, from_builtins, to_builtins

STUDIES = {study.name: study for study in list_studies()}


ON_FILES = {
    "reach-place": ("map", "robot", "poses"),
    "reach-follow": ("map", "robot", "trajectory"),
}
"""Studies without a case unless files are named, and the fields that name them."""


class Field(NamedTuple):
    """A numeric field of a config."""

    name: str
    limits: Range
    whole: bool
    count: int
    """Numbers that it takes at a time; 0 for a list of any length."""

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


def hints(kind: type) -> dict[str, Any]:
    known = get_type_hints(kind, include_extras=True)
    return {field.name: known[field.name] for field in fields(kind)}


def number_of(hint: Any) -> type | None:
    """Return int or float if a type holds numbers of that kind, or None."""
    if hint in (int, float):
        return hint  # type: ignore[no-any-return]
    inner = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    return next((found for part in inner if (found := number_of(part))), None)


def numeric(kind: type) -> Iterator[Field]:
    """Yield the numeric fields of a config that declare a range."""
    for name, hint in hints(kind).items():
        number, limits = number_of(hint), declared_range(hint)
        if number and limits:
            inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
            several = get_args(inner) if get_origin(inner) is tuple else ()
            count = 0 if ... in several else len(several) or 1
            yield Field(name, limits, number is int, count)


def outside(field: Field) -> list[Any]:
    """Return numbers that are none for a field, the nearest first."""
    least, most = field.limits.least, field.limits.most
    if field.whole:
        near = [int(least) - 1, int(most) + 1, 2**62, -(2**62)]  # what TOML can hold
    else:
        near = [nextafter(least, -inf), nextafter(most, inf), 1e300, -1e300, nan, inf, -inf]
    meaningless = [-1 if field.whole else -1.0] if least >= 0 else []
    return [value for value in near + meaningless if value not in field.limits.also]


STUDY_FIELDS = [
    pytest.param(name, field, id=f"{name} {field.name}")
    for name, study in STUDIES.items()
    for field in numeric(study.config)
]


def commands() -> Iterator[tuple[tuple[str, ...], type]]:
    """Yield the words and the config of every command but studies."""
    for name in COMMANDS:
        if name != "reach":
            yield (name,), COMMANDS[name].load([])[0]
    for action, (config, _) in OPERATIONS.items():
        yield ("reach", action), config


COMMAND_FIELDS = [
    pytest.param(words, field, id=f"{' '.join(words)} {field.name}")
    for words, config in commands()
    for field in numeric(config)
]


@pytest.mark.parametrize("name", STUDIES)
def test_every_number_of_a_study_declares_its_range(name: str) -> None:
    kind = STUDIES[name].config
    without = [n for n, hint in hints(kind).items() if number_of(hint) and not declared_range(hint)]
    assert without == []
    for field in numeric(kind):
        assert field.limits.unit and field.limits.least < field.limits.most
        assert isfinite(field.limits.least) and isfinite(field.limits.most)


def test_every_number_of_a_command_declares_its_range() -> None:
    without = [
        (*words, name)
        for words, config in commands()
        for name, hint in hints(config).items()
        if number_of(hint) and not declared_range(hint)
    ]
    assert without == []


@pytest.mark.parametrize("name", STUDIES)
def test_defaults_and_both_ends_are_inside(name: str) -> None:
    config = STUDIES[name].config()
    check_ranges(config)
    for field in numeric(type(config)):
        for value in (field.limits.least, field.limits.most, *field.limits.also):
            number = int(value) if field.whole else value
            check_ranges(replace(config, **{field.name: of_shape(field, number)}))


@pytest.mark.parametrize("name", STUDIES)
def test_the_help_shows_every_range(call: Any, monkeypatch: Any, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    help = " ".join(call(name, "--help").out.split())
    for field in numeric(STUDIES[name].config):
        (own,) = re.findall(rf" {field.flag} (.*?)(?= --[a-z]|$)", help)
        assert f"Range: {field.limits}." in own


def of_shape(field: Field, value: Any) -> Any:
    """Return a value as the field holds it: alone, in a list of one, or last of a few good ones."""
    if field.count == 1:
        return value
    good = int(field.limits.least) if field.whole else field.limits.least
    return (*(good for _ in range(field.count - 1)), value)


def words_of(field: Field, value: Any) -> list[str]:
    shaped = of_shape(field, value)
    return [field.flag, *map(str, shaped if isinstance(shaped, tuple) else (shaped,))]


def refused(done: Any, *said: str) -> None:
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("kinetarium: ") and done.err.count("\n") == 1, done.err
    assert "internal" not in done.err and "Traceback" not in done.err
    assert all(word in done.err for word in said), (said, done.err)


def toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    return str(value).lower()


def by_flag(call: Any, field: Field, value: Any, *words: str) -> None:
    done = call(*words, *words_of(field, value))
    if value is True:
        refused(done, field.flag)
    elif value == -inf:  # which looks like a flag
        refused(done, "-inf")
    else:
        refused(done, f"{field.flag}: ", f"is outside {field.limits}")


def by_file(call: Any, field: Field, value: Any, *words: str, study: str, table: str) -> None:
    said = f"is outside {field.limits}"
    if value is True:
        said = "got bool"
    elif not isfinite(value):
        said = "not a finite number"
    entry = of_shape(field, value)
    if table == "[grid]":  # which combines the single values of a list
        entry = (value if field.count == 0 else entry,)
    file = Path("folder", "config.toml")
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'study = "{study}"\n{table}\n{field.name} = {toml(entry)}\n')
    refused(call(*words), field.name, said)


WAYS: list[Callable[[Any, Field, Any, str], None]] = [
    by_flag,
    lambda call, field, value, name: by_file(
        call, field, value, name, "--config", "folder", study=name, table="[config]"
    ),
    lambda call, field, value, name: by_file(
        call, field, value, "resume", "folder", study=name, table="[config]"
    ),
    lambda call, field, value, name: by_file(
        call, field, value, "batch", "folder/config.toml", study=name, table="[[case]]"
    ),
    lambda call, field, value, name: by_file(
        call, field, value, "batch", "folder/config.toml", study=name, table="[grid]"
    ),
]
"""By flag, by a config, by what is gone on with, by a batch's single cases and by its grid."""


@pytest.mark.parametrize(("words", "field"), COMMAND_FIELDS)
def test_numbers_of_commands(
    call: Any, tmp_path: Path, monkeypatch: Any, words: tuple[str, ...], field: Field
) -> None:
    monkeypatch.chdir(tmp_path)
    # What a command needs beside it; ranges are looked at before anything is opened.
    needed = {
        "batch": ["plan.toml"], "sweep": ["plan.toml"], "resume": ["out"], "compare": ["a", "b"],
        "reach build": ["--robot", "panda", "--out", "x.rmap"],
        "convert": ["panda", "--to", "mjcf", "--out", "x.xml"],
        "reach slice": ["--map", "x", "--pose", "x", "--out", "x"],
    }  # fmt: skip
    beside = needed.get(" ".join(words), [])
    for value in (*outside(field), True):
        by_flag(call, field, value, *words, *beside)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "every_pair", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["short", "full"]
)
@pytest.mark.parametrize(("name", "field"), STUDY_FIELDS)
def test_numbers_of_studies(
    call: Any, tmp_path: Path, monkeypatch: Any, name: str, field: Field, every_pair: bool
) -> None:
    """Every way in and every value; in the short form each at least once, not all pairs."""
    monkeypatch.chdir(tmp_path)
    wrong = [*outside(field), True]
    rounds = max(len(wrong), len(WAYS))
    short = zip(range(rounds), cycle(wrong), cycle(WAYS), strict=False)
    pairs = product(wrong, WAYS) if every_pair else [pair for _, *pair in short]
    for value, way in pairs:
        way(call, field, value, name)
    folder = tmp_path / "folder"
    assert sorted(tmp_path.rglob("*")) == [folder, folder / "config.toml"]


@pytest.mark.parametrize(("name", "field"), STUDY_FIELDS)
def test_from_python(name: str, field: Field) -> None:
    study = STUDIES[name]
    for value in (True, *outside(field)):
        config = replace(study.config(), **{field.name: of_shape(field, value)})
        with pytest.raises(KinetariumError, match=f"^{field.name}: .* is outside"):
            study.cases(config)


@pytest.mark.parametrize("name", STUDIES)
def test_a_received_case_keeps_to_the_ranges(name: str) -> None:
    study = open_study(name)
    named = {"engine": ("mujoco",)} if study.config().__dict__.get("engine") == () else {}
    if getattr(study.config(), "robot", None) == "":
        named["robot"] = "two-link"
    if name in ON_FILES:
        case = study.case(**dict.fromkeys(ON_FILES[name], "file"), sha256={})
    else:
        case = study.cases(study.config(**named))[0]
    plain = to_builtins(case)
    assert from_builtins(study.case, plain, where="case")
    tried = 0
    for field in numeric(study.case):
        for value in outside(field):
            shaped = to_builtins(of_shape(field, value))
            with pytest.raises(SerializationError, match=f"^case: {field.name}: .* is outside"):
                from_builtins(study.case, {**plain, field.name: shaped}, where="case")
            tried += 1
    assert tried


def test_an_engine_that_is_not_there_is_refused_before_anything_is_written(
    call: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("", "nonesuch"):
        for words in (["drop"], ["grasp"], ["drive"], ["dock"], ["compare-engines", "--quick"]):
            refused(call(*words, "--engine", name), "unknown engine")
    assert list(tmp_path.iterdir()) == []
