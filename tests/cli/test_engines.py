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
    text = (ROOT / "docs/conformance.md").read_text(encoding="utf-8")
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


def _outcomes_file(folder: Path, *rows: dict) -> Path:
    file = folder / "other.json"
    file.write_text(json.dumps({"kinetarium_version": "0.1.0", "rows": list(rows)}))
    return file


def _other(**changed: object) -> dict:
    figures = {"value": 4.5, "expected": 4.91, "tolerance": 0.1, "unit": "m", "remark": ""}
    return {"engine": "other", "check": "free-fall", "passed": True, **figures, **changed}


def test_outcomes_of_another_environment_stand_beside_those_of_this_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kit, "CHECKS", kit.CHECKS[:3])
    nothing = dict.fromkeys(("value", "expected", "tolerance", "unit"))
    file = _outcomes_file(
        tmp_path,
        _other(),  # judged again by its figures, which fail
        _other(check="fall-steps", value=None, passed=False, expected=0.0),  # NaN in JSON
        _other(check="far-away", passed=False, **nothing, remark="ValueError: oh"),
    )
    options = ["--format", "markdown", "--merge", str(file)]
    assert main(["conformance", "--engine", "mujoco", *options]) == 1
    text = capsys.readouterr().out
    assert "3 of 6 passed." in text
    assert "| unit | mujoco | other |" in text
    rows = [line for line in text.splitlines() if line.startswith("| f")][:3]
    assert [row.split(" | ")[-1] for row in rows] == ["**4.5**\\* |", "**nan**\\* |", "error |"]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([_other(engine="mujoco")], "outcomes of 'mujoco', which is also tested here"),
        ([_other(check="free-will")], "this kit has no check 'free-will'"),
        ([_other(value="much")], "expected float"),
        ([_other(colour="red")], "colour"),
        ([{"engine": "other"}], "missing"),
    ],
)
def test_other_files_are_not_merged(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rows: list, reason: str
) -> None:
    file = _outcomes_file(tmp_path, *rows)
    assert main(["conformance", "--engine", "mujoco", "--merge", str(file)]) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert len(error.splitlines()) == 1


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
