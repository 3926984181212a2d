"""What a sweep lets an executor load before there are cases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import sweep
from kinetarium.batch.worker import SerialExecutor
from kinetarium.engines.registry import engine_names
from kinetarium.studies.drop import Drop
from kinetarium.studies.drop.config import Config
from kinetarium.studies.walk import Walk

QUICK = Config(height=0.02, duration=0.1)


class Loading(SerialExecutor):
    """Notes what it is to load."""

    def __init__(self) -> None:
        self.engines: list[str] = []

    def prepare(self, engines: Sequence[str]) -> None:
        self.engines = list(engines)


@dataclass(frozen=True, kw_only=True)
class OneEngine(Config):
    """The config of a study for one engine at a time."""

    engine: str = "mujoco"  # type: ignore[assignment]


def loaded(plan: Plan, out: Path) -> list[str]:
    executor = Loading()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "tasks", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sweep(plan, out=out, executor=executor)
    return executor.engines


def test_engines_that_are_named(tmp_path: Path) -> None:
    assert loaded(Plan.of(Drop(), replace(QUICK, engine=("ode", "bullet"))), tmp_path) == [
        "bullet",
        "ode",
    ]


def test_all_where_none_is_named(tmp_path: Path) -> None:
    assert loaded(Plan.of(Drop(), QUICK), tmp_path) == list(engine_names())


def test_none_for_a_study_without_engines(tmp_path: Path) -> None:
    assert loaded(Plan.of(Walk(), Walk.config()), tmp_path) == ["none"]


def test_a_single_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "configs", lambda self: (OneEngine(),))
    assert loaded(Plan.of(Drop(), QUICK), tmp_path) == ["mujoco"]
