"""What a machine lacks is skipped at home and fails in CI, but for what has no wheel."""

import tomllib
from pathlib import Path

import pytest

import needs

ROOT = Path(__file__).parents[2]


def test_what_is_missing_is_skipped_at_home_and_fails_in_ci(monkeypatch):
    monkeypatch.setattr(needs, "UNBUILT", ("bullet",))
    for complete, what, outcome in (
        (False, "drake", pytest.skip.Exception),
        (True, "drake", pytest.fail.Exception),
        (True, "bullet", pytest.skip.Exception),
    ):
        monkeypatch.setattr(needs, "COMPLETE", complete)
        with pytest.raises(outcome, match=f"needs {what}"):
            needs.leave(what)


def test_only_bullet_depends_on_the_version_of_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].items()
    assert [name for name, wanted in extras if "python_version" in str(wanted)] == ["bullet"]


def test_ci_says_that_it_is_ci():
    lines = (ROOT / ".ci/run").read_text().splitlines()
    assert any(line.startswith("export CI=true") for line in lines[: lines.index("make test")])
