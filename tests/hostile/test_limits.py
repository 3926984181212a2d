"""Every bad file, each in a process of its own: at most 10 s of CPU and 1 GB, one clean refusal."""

from pathlib import Path

import pytest

from hostile.alone import codes_alone
from hostile.bad_mjcf import bad_mjcfs
from hostile.bad_urdf import bad_urdfs
from hostile.case import Case

CASES = [*bad_urdfs(), *bad_mjcfs()]
HEAVIEST = sorted(CASES, key=lambda case: -len(case.data))[:8]


def _inspect(case: Case, folder: Path) -> None:
    file = folder / "bad.xml"
    file.write_bytes(case.data)
    assert case.code in codes_alone(file)


@pytest.mark.parametrize("case", HEAVIEST, ids=lambda case: case.name)
def test_the_heaviest(case: Case, tmp_path: Path) -> None:
    _inspect(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_one(case: Case, tmp_path: Path) -> None:
    _inspect(case, tmp_path)
