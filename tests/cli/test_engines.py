"""`kinetarium engines` and `kinetarium conformance`: the contracts of their JSON and exit codes."""

import json
from pathlib import Path

import pytest

import kinetarium.engines.conformance as kit
from kinetarium.cli import main
from kinetarium.cli.commands.conformance import definitions, markdown
from kinetarium.engines.conformance import EngineCheck, Measurement

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.engine


def test_engines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engines", "--json", "-"]) == 0
    engines = {engine["name"]: engine for engine in json.loads(capsys.readouterr().out)["engines"]}
    assert {"mujoco", "bullet", "ode", "physx"} <= set(engines)
    mujoco = engines["mujoco"]
    assert set(mujoco) == {"name", "version", "available", "capabilities", "reason"}
    assert mujoco["available"] is True
    assert mujoco["reason"] is None
    assert "contact-forces" in mujoco["capabilities"]


def test_conformance(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--engine", "mujoco", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) >= 60
    for row in rows:
        assert {"engine", "check", "passed", "value", "expected", "tolerance"} <= set(row)
        assert row["passed"] is True


def test_the_table_in_the_docs_is_that_of_the_command() -> None:
    text = (ROOT / "docs/engines.md").read_text(encoding="utf-8")
    assert "\n".join(definitions(kit.CHECKS)) in text
    for check in kit.CHECKS:
        assert f"| {check.name} | " in text.partition("| check | expected |")[2]


def test_markdown_marks_what_fails_and_what_is_looser() -> None:
    check, sound = kit.CHECKS[0], Measurement(1.0, 1.0, 0.1, "m")
    loose = Measurement(1.5, 1.0, 0.2, "m", "single precision")
    outcomes = (
        EngineCheck("a", check.name, True, sound),
        EngineCheck("b", check.name, False, loose),
        EngineCheck("c", check.name, False, None, "ValueError: oh"),
    )
    lines = list(markdown([check], outcomes))
    assert lines[0] == "1 of 3 passed."
    assert f"| {check.name} | 1 | 0.1 | m | 1 | **1.5**\\* | error |" in lines
    assert lines[-1] == f"| b | {check.name} 0.2 | single precision |"


def test_engines_run_side_by_side_in_their_order(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit, "CHECKS", kit.CHECKS[:3])
    assert main(["conformance", "--engine", "mujoco", "rapier", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    names = [check.name for check in kit.CHECKS]
    expected = [(engine, name) for engine in ("mujoco", "rapier") for name in names]
    assert [(row["engine"], row["check"]) for row in rows] == expected


def test_a_failed_check_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(engine: object, *, checks: list) -> tuple[EngineCheck, ...]:
        return (EngineCheck("mujoco", checks[0].name, False, Measurement(1.0, 2.0, 0.1)),)

    monkeypatch.setattr(kit, "check_engine", failing)
    assert main(["conformance", "--engine", "mujoco"]) == 1
    assert "0 passed" in capsys.readouterr().out


def test_an_unknown_engine_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--engine", "mujocco"]) == 2
    assert "did you mean 'mujoco'?" in capsys.readouterr().err
