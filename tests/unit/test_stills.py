"""The stills of a page are the same, whoever draws them."""

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetarium.figure.charts import Axis, Lines, Series
from kinetarium.figure.page import Page, Section
from kinetarium.report.matplotlib import still as stills
from kinetarium.report.matplotlib.still import Stills, draw_still

CHARTS = tuple(
    Lines(f"chart {n}", Axis("x", "m"), Axis("y", "N"), (Series("a", np.arange(3), np.full(3, n)),))
    for n in range(9)
)
PAGE = Page("t", "", (Section("one", CHARTS[:3]), Section("two", (*CHARTS[3:], CHARTS[0]))), ())


@pytest.fixture(scope="module")
def alone() -> list[Any]:
    return [draw_still(chart, {"a": 0}) for chart in CHARTS]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note what is drawn in this process."""
    titles: list[str] = []

    def draw(chart: Any, tones: Any) -> Any:
        titles.append(chart.title)
        return draw_still(chart, tones)

    monkeypatch.setattr(stills, "draw_still", draw)
    return titles


def drawn() -> list[Any]:
    page = Stills(PAGE)
    return [page[chart] for chart in CHARTS]


@pytest.mark.parametrize(("cores", "share"), [(1, 9), (2, 4), (64, 3)])
def test_on_any_machine(
    cores: int, share: int, alone: list[Any], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert drawn() == alone
    assert len(here) == share


def test_where_no_other_process_starts(
    alone: list[Any], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no process left")

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(stills.WorkerStart, "start", refuse)
    assert drawn() == alone
    assert len(here) == 9


def test_when_the_other_process_dies(
    alone: list[Any], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(stills, "_draw_and_send", os.abort)
    assert drawn() == alone
    assert len(here) == 9


def test_in_a_process_that_may_have_no_children(
    alone: list[Any], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(stills, "current_process", lambda: SimpleNamespace(daemon=True))
    assert drawn() == alone
    assert len(here) == 9
