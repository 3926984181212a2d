"""The core without engines and Pinocchio: what is missing is one line with the extra to install."""

from pathlib import Path
from typing import Any

import pytest

from kinetarium.dynamics import robot_dynamics
from kinetarium.engines import registry


def test_without_pinocchio_dynamics_is_refused_at_once(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robot_dynamics, "find_spec", lambda name: None)
    done = call("dynamics", "--robot", "panda", "--out", tmp_path / "out")
    assert done.code == 2 and done.err.count("\n") == 1
    assert "Pinocchio is not installed; run: pip install 'kinetarium[dynamics]'" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["conformance", "drop", "try panda", "pick"])
def test_without_an_engine_nothing_is_simulated(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(registry, "_available", lambda: ())
    monkeypatch.chdir(tmp_path)
    done = call(*command.split())
    assert done.code == 2 and done.err.count("\n") == 1
    assert "no physics engine is available; run: pip install 'kinetarium[mujoco]'" in done.err
