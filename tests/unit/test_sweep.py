"""What a sweep lets an executor load before there are cases, and what it resumes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kinetarium.batch import plan
from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import Progress, run_plan
from kinetarium.batch.worker import SerialExecutor
from kinetarium.engines.registry import engine_names
from kinetarium.recording.recording import RunStatus
from kinetarium.recording.result_folder import ResultFolder, ResultFolderError
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
        patch.setattr(Plan, "varied_tasks", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run_plan(plan, out=out, executor=executor)
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


def stop_after_one(progress: Progress) -> None:
    if progress.done:
        raise KeyboardInterrupt


def test_a_folder_is_resumed_by_what_its_runs_depend_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Plan.of(Drop(), replace(QUICK, engine=("mujoco", "ode"), duration=0.2))
    out, versions, real = tmp_path / "out", dict(plan.versions()), plan._run_versions
    with pytest.raises(KeyboardInterrupt):
        run_plan(both, out=out, executor=SerialExecutor(), watch=stop_after_one)
    assert len(list((out / "runs").iterdir())) == 1, "that of mujoco"

    def edited(engine: str) -> None:
        """Let the code of an engine be another one."""

        def found(study: str, modules: tuple[str, ...], engines: frozenset[str]) -> dict[str, str]:
            other = {f"source of engine {engine}": "0"} if engine in engines else {}
            return {**real(study, modules, engines), **other}

        monkeypatch.setattr(plan, "_run_versions", found)

    monkeypatch.setattr(plan, "versions", lambda: {**versions, "plotly": "0"})
    edited("mujoco")
    with pytest.raises(
        ResultFolderError, match=r"source of engine mujoco .* instead of 0"
    ) as error:
        run_plan(both, out=out, executor=SerialExecutor())
    assert "\n" not in str(error.value)
    edited("ode")
    folder, _ = run_plan(both, out=out, executor=SerialExecutor())
    assert [run.status for run in folder.rows()] == [RunStatus.COMPLETED] * 2
    again = ResultFolder.open(out).environment["versions"]
    assert again["plotly"] == "0" and again["source of engine ode"] == "0"
