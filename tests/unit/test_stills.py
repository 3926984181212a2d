"""The stills of a page are the same, whoever draws them."""

from multiprocessing import Pipe
from typing import Any

import numpy as np
import pytest

from kinetarium.figure.axis import Axis
from kinetarium.figure.line import Lines, Series
from kinetarium.figure.page import Page, Section
from kinetarium.report import stills
from kinetarium.report.still import draw_still
from kinetarium.report.stills import Stills

CHARTS = tuple(
    Lines(
        f"chart {n}", Axis("x", "m"), Axis("y", "N"), (Series("a", np.arange(3), np.ones(3) * n),)
    )
    for n in range(7)
)
PAGE = Page("t", "", (Section("one", CHARTS[:3]), Section("two", (*CHARTS[3:], CHARTS[0]))), ())


@pytest.fixture(scope="module")
def alone() -> list[Any]:
    return [draw_still(chart, {"a": 0}) for chart in CHARTS]


def drawn() -> list[Any]:
    page = Stills(PAGE)
    return [page[chart] for chart in CHARTS]


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_on_any_machine(cores: int, alone: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert drawn() == alone


def test_where_no_other_process_starts(alone: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no process left")

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(stills.WorkerStart, "start", refuse)
    assert drawn() == alone


def test_when_the_other_process_dies(alone: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> Any:
        here, there = Pipe()
        there.close()
        return here

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(stills, "_begin", die)
    assert drawn() == alone
