"""Public robot files load, with their repairs listed."""

from pathlib import Path

import pytest

from kinetarium import RobotFileError, load_robot
from kinetarium.model.packages import installed_packages

ROOT = installed_packages().get("example-robot-data", Path())
FILES = sorted(ROOT.glob("robots/**/*.urdf")) if ROOT.name else []
REFUSED = {
    "ur3.urdf": "missing-attribute",
    "romeo_laas_small.urdf": "mesh-outside",
    "romeo.urdf": "massless",
}


def test_the_data_package_is_installed() -> None:
    assert len(FILES) == 69


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_loads(file: Path) -> None:
    if file.name in REFUSED:
        with pytest.raises(RobotFileError) as caught:
            load_robot(file)
        assert caught.value.refusals[0].code == REFUSED[file.name]
    else:
        model = load_robot(file)
        assert model.mass > 0
