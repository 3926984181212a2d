"""Corner cases of MJCF are to us what they are to MuJoCo."""

from collections.abc import Iterator
from pathlib import Path

import mujoco
import pytest

from golden.mjcf_corners import REFUSED, SAME
from kinetarium import RobotFileError, load_robot
from property.mjcf_comparison import differences


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    """Keep MuJoCo from writing a log beside the sources."""
    mujoco.set_mju_user_warning(lambda message: None)
    yield
    mujoco.set_mju_user_warning(None)


@pytest.fixture(autouse=True)
def _almost_massless_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the mass that links between two joints are given out of the comparison."""
    monkeypatch.setattr("kinetarium.model.tree.MASSLESS_SHARE", 1e-11)


def test_the_cases_are_many_and_different() -> None:
    assert len({*SAME.values(), *REFUSED.values()}) == len(SAME) + len(REFUSED) >= 150


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_same_mechanism(text: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(text)
    theirs = mujoco.MjModel.from_xml_string(text)
    assert differences(theirs, load_robot(file), seed=0) == []


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_refused_by_both(text: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(text)
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(text)
    with pytest.raises(RobotFileError):
        load_robot(file)
