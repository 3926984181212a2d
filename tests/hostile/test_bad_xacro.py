"""Bad xacro files are refused with code, line and remedy, quickly, and nothing else happens."""

import os
from pathlib import Path

import pytest

from hostile.alone import codes_alone
from hostile.bad_xacro import BOMBS, CASES, INCLUDE, Case
from kinetarium.model.assets import AssetResolver
from kinetarium.model.diagnostics import Diagnostics, RobotFileError
from kinetarium.model.reading import Reading
from kinetarium.model.xacro import expand_xacro


def including(name: str, times: int = 1) -> str:
    return f"<robot>{INCLUDE.format(name) * times}</robot>"


FILES = {
    "sound.xacro": "<robot/>",
    "loop.xacro": including("robot.xacro"),
    "broken.xacro": "<robot><link></robot>",
    "entities.xacro": '<!DOCTYPE r [<!ENTITY a "b">]><robot>&a;</robot>',
    **{f"deep{i}.xacro": including(f"deep{i + 1}.xacro") for i in range(60)},
    "deep60.xacro": "<robot/>",
    **{f"wide{i}.xacro": including(f"wide{i + 1}.xacro", 4) for i in range(30)},
    "wide30.xacro": "<robot><z/></robot>",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the cases include, and a secret beside it."""
    folder = tmp_path_factory.mktemp("outer") / "robots"
    folder.mkdir()
    (folder.parent / "secret.xacro").write_text("<robot><secret/></robot>")
    (folder / "link.xacro").symlink_to(folder.parent / "secret.xacro")
    os.mkfifo(folder / "pipe.xacro")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def written(case: Case, folder: Path) -> Path:
    file = folder / "robot.xacro"
    file.write_text(f'<robot name="r" xmlns:xacro="x">\n{case.body}</robot>')
    return file


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(case: Case, folder: Path) -> None:
    file = written(case, folder)
    diagnostics = Diagnostics("robot.xacro")
    reading = Reading(file, diagnostics, AssetResolver(folder, diagnostics=diagnostics))
    with pytest.raises(RobotFileError) as caught:
        expand_xacro(reading.open_markup(file), reading=reading)
    (refusal,) = caught.value.refusals
    assert refusal.code is case.code
    assert refusal.line
    assert refusal.remedy
    assert len(str(refusal)) < 800
    assert diagnostics.file == "robot.xacro"


@pytest.mark.parametrize("case", BOMBS[:2], ids=lambda case: case.name)
def test_bombs(case: Case, folder: Path) -> None:
    assert codes_alone(written(case, folder)) == [case.code]


@pytest.mark.slow
@pytest.mark.parametrize("case", BOMBS, ids=lambda case: case.name)
def test_every_bomb(case: Case, folder: Path) -> None:
    assert codes_alone(written(case, folder)) == [case.code]
