"""Tables and paragraphs on a terminal: they fit, and keep what was varied and what came out."""

import pytest

from kinetarium.cli.core.console import Console
from kinetarium.figure.text import Cell, Column, Table, header

WIDE = Table(
    "Results",
    (*header("profile | engine | path | seed | robot"), *(Column(f"result {i}") for i in range(9))),
    tuple(
        ("matched", engine, path, 0, "a robot of a long name",
         *(i + len(engine) / 8 for i in range(8)), 7)
        for engine in ("mujoco", "ode") for path in ("circle", "square")
    ),
)  # fmt: skip


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


def test_constant_columns_are_left_out_first(
    narrow: None, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("matched", "mujoco", "a robot of a long name", 1.5, 0),
        ("matched", "ode", "a robot of a long name", 2.5, 0),
    )
    columns = header("profile | engine | robot | force error [N] | seed")
    Console().table(Table("", columns, rows))
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 60
    assert "force error [N]" in out.splitlines()[0] and "mujoco" in out and "2.5" in out
    assert "the same in all rows: profile = matched\n" in out


def test_what_still_does_not_fit_continues_below(
    narrow: None, capsys: pytest.CaptureFixture[str]
) -> None:
    Console().table(WIDE)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 60
    assert "profile = matched" in out and out.count("Results") == 1
    assert all(f"result {i}" in out for i in range(9))
    heads = [line for line in out.splitlines() if line.startswith("engine  path")]
    assert len(heads) > 1 and out.count("circle") == 2 * len(heads)  # in every block


def test_columns_after_the_essential_ones_may_be_left_out(
    narrow: None, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (*header("case | status | error [m]"), *(Column(f"other {i}") for i in range(9)))
    rows = tuple((f"case {k}", "completed", k + 0.5, *range(k, k + 9)) for k in range(3))
    Console().table(Table("", columns, rows), essential=3)
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[:4] == ["case", "status", "error", "[m]"]
    assert "columns not shown: " in out and "other 8" in out


def test_a_single_row_that_does_not_fit_is_a_list(
    narrow: None, capsys: pytest.CaptureFixture[str]
) -> None:
    Console().table(Table("", WIDE.columns, WIDE.rows[:1]))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("result 3")] == ["3.75"]


def test_pipes_get_every_column_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    Console().table(WIDE)
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert title == "Results" and len(rows) == 4
    assert all(f"result {i}" in head for i in range(9))


def test_tables_without_rows_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    Console().table(Table("Cases that failed", header("case | why"), ()))
    Console().table(Table("", header("case | why"), ()))
    assert capsys.readouterr().out == "Cases that failed: none\n"


def test_paragraphs_are_wrapped(narrow: None, capsys: pytest.CaptureFixture[str]) -> None:
    words = "All six engines hold the cube; DART's grip chatters: 331 of 800 samples. " * 3
    Console().paragraph(words)
    lines = capsys.readouterr().out.splitlines()
    assert 50 < max(map(len, lines)) <= 60
    assert " ".join(lines) == words.strip()
