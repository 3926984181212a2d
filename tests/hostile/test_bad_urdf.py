"""Bad URDF files are refused with the right code, a line where one exists, and nothing else."""

from pathlib import Path

import pytest
from hostile.bad_urdf import SOUND, Case, bad_urdfs

from kinetarium import RobotFileError, load_robot
from kinetarium.model.findings import Code

CASES = list(bad_urdfs())
WITHOUT_LINE = {"empty file", "blank file"}


def test_the_sound_robot_is_accepted_without_repairs(tmp_path: Path) -> None:
    file = tmp_path / "sound.urdf"
    file.write_text(SOUND)
    assert load_robot(file).repairs == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "bad.urdf"
    file.write_bytes(case.data)
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    refusals = caught.value.refusals
    assert case.code in [refusal.code for refusal in refusals]
    assert all(isinstance(refusal.code, Code) and refusal.message for refusal in refusals)
    if case.name not in WITHOUT_LINE:
        assert all(refusal.line for refusal in refusals)


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    text = SOUND.replace('<mass value="2"/>', '<mass value="-2"/>')
    text = text.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>')
    file = tmp_path / "bad.urdf"
    file.write_text(text)
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    assert [refusal.code for refusal in caught.value.refusals] == ["mass", "zero-axis", "zero-axis"]
    assert [refusal.line for refusal in caught.value.refusals] == [5, 32, 40]
