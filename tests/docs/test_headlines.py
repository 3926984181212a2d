"""What README and docs print of results is what the commands give, here in short forms."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kinetarium.cli import main
from needs import need

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def rows_of(command: str, folder: Path) -> list[dict[str, Any]]:
    """Run a command and return the rows of its JSON."""
    answer = folder / "answer.json"
    assert main([*command.split(), "--workers", "0", "--quiet", "--json", str(answer)]) == 0
    rows: list[dict[str, Any]] = json.loads(answer.read_text(encoding="utf-8"))["rows"]
    return rows


def test_loaders_make_other_robots(tmp_path: Path) -> None:
    need("bullet")
    rows = rows_of("dynamics --robot panda --loaders --engine mujoco bullet", tmp_path)
    masses = {row["backend"]: f"{row['mass_kg']:.2f}" for row in rows}
    said = re.search(
        r"weighs (\S+) kg in MuJoCo, (\S+) in Drake and PhysX, (\S+) in Bullet", README
    )
    assert said and (masses["mujoco"], masses["bullet"]) == (said[1], said[3])


def test_one_model_is_one_robot(tmp_path: Path) -> None:
    rows = rows_of("dynamics --robot panda --states 20 --engine mujoco", tmp_path)
    terms = {"M", "g", "c", "tau"}
    errors = [r["max_rel"] for r in rows if r["backend"] == "mujoco" and r["quantity"] in terms]
    said = re.search(r"MuJoCo to (\S+) \|", README)
    assert said and len(errors) == 4 and max(errors) < 1.5 * float(said[1])


def test_friction_differs(tmp_path: Path) -> None:
    command = "slide --engine ode physx --profile matched --angle 0 45 --speed 1"
    braking = {}
    for row in rows_of(command, tmp_path):
        braking[row["engine"]] = max(braking.get(row["engine"], 0.0), row["deceleration_ratio"])
    said = re.search(r"with (\S+) times its friction, PhysX with (\S+),", README)
    assert said and [f"{braking[e]:.2f}" for e in ("ode", "physx")] == [said[1], said[2]]


def test_a_refusal_looks_as_on_the_page_of_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The robot file is that of example 12."""
    monkeypatch.chdir(tmp_path)
    program = (ROOT / "examples" / "12_faults_of_a_file.py").read_text(encoding="utf-8")
    file = re.search(r'URDF = """(.*?)"""', program, re.DOTALL)
    assert file
    Path("arm.urdf").write_text(file[1], encoding="utf-8")
    assert main(["inspect", "arm.urdf"]) == 2
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert f"$ kinetarium inspect arm.urdf\n{capsys.readouterr().err}```" in page
