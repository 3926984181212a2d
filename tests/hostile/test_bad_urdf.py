"""Bad URDF files are refused with the right code, a line where one exists, and nothing else."""

import os
from pathlib import Path

import pytest

from hostile.bad_urdf import SOUND, bad_urdfs
from hostile.case import Case
from kinetarium import RobotFileError, load_robot
from kinetarium.model.diagnostics import Code

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
    assert [refusal.line for refusal in caught.value.refusals] == [5, 30, 37]


def _chain(count: int, mimic: str = "") -> str:
    inertial = (
        '<inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    links = [f'<link name="l{i}">{inertial}</link>' for i in range(count + 1)]
    joints = [
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f"{mimic.format(i - 1) if i else ''}</joint>"
        for i in range(count)
    ]
    return f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (_chain(6000), "too-large"),
        (_chain(1000, '<mimic joint="j{}"/>'), "mimic"),
        (_chain(45, '<mimic joint="j{}" multiplier="9"/>'), "mimic"),
    ],
    ids=["endless arm", "endless mimic", "exploding mimic"],
)
def test_long_chains_are_refused(text: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "chain.urdf"
    file.write_text(text)
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    assert code in [refusal.code for refusal in caught.value.refusals]


@pytest.mark.parametrize("what", ["directory", "fifo", "device", "missing", "empty", "too large"])
def test_what_is_no_file_is_refused(what: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    match what:
        case "directory":
            file.mkdir()
        case "fifo":
            os.mkfifo(file)
        case "device":
            file = Path("/dev/zero")
        case "empty":
            file = Path()
        case "too large":
            file.touch()
            os.truncate(file, 65 * 2**20)
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    assert caught.value.refusals[0].code == ("too-large" if what == "too large" else "unreadable")
