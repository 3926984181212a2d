"""`kinetarium engines` and `kinetarium conformance`: the contracts of their JSON and exit codes."""

import json

import pytest

import kinetarium.engines.conformance as kit
from kinetarium.cli import main
from kinetarium.engines.conformance import EngineCheck, Measurement

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
    assert len(rows) >= 18
    for row in rows:
        assert {"engine", "check", "passed", "value", "expected", "tolerance"} <= set(row)
        assert row["passed"] is True


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
