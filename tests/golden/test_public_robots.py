"""Public robot files load, with their repairs listed."""

from pathlib import Path

import pytest

from kinetarium import RobotFileError, load_robot
from kinetarium.model.assets import installed_packages

ROOT = installed_packages().get("example-robot-data", Path())
FILES = sorted(ROOT.glob("robots/**/*.urdf")) if ROOT.name else []
REFUSED = {
    "ur3.urdf": "missing-attribute",
    "romeo_laas_small.urdf": "mesh-outside",
    "romeo.urdf": "massless",
}

BULLET = installed_packages().get("pybullet_data", Path())
BULLET_FILES = sorted(
    file for file in BULLET.glob("**/*.urdf") if "random_urdfs" not in file.parts
) if BULLET.name else []  # fmt: skip
BULLET_REFUSED = {
    "bike.urdf": "bad-number",
    "biped2d_pybullet.urdf": "not-xml",
    "cube_no_rotation.urdf": "limits",
    "diff_ring.urdf": "not-xml",
    "humanoid.urdf": "encoding",
    "model_for_sdf.urdf": "mesh-missing",
    "laikago_toes.urdf": "size",
    "laikago_toes_limits.urdf": "size",
    "laikago_toes_zup.urdf": "size",
    "laikago_toes_zup_lores.urdf": "size",
    "plane_implicit.urdf": "missing-element",
    "microtaur.urdf": "bad-number",
    "spirit40newer.urdf": "duplicate-element",
    "racecar.urdf": "unknown-element",
    "racecar_differential.urdf": "bad-number",
    "spherical_joint_limit.urdf": "joint-type",
    "torus_deform.urdf": "unsupported",
    "concave_box.urdf": "missing-element",
}


def test_the_data_packages_are_installed() -> None:
    assert (len(FILES), len(BULLET_FILES)) == (69, 95)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_loads(file: Path) -> None:
    if file.name in REFUSED:
        with pytest.raises(RobotFileError) as caught:
            load_robot(file)
        assert caught.value.refusals[0].code == REFUSED[file.name]
    else:
        model = load_robot(file)
        assert model.mass > 0


@pytest.mark.parametrize("file", BULLET_FILES, ids=lambda file: str(file.relative_to(BULLET)))
def test_files_of_bullet_load(file: Path) -> None:
    if file.name in BULLET_REFUSED:
        with pytest.raises(RobotFileError) as caught:
            load_robot(file)
        assert caught.value.refusals[0].code == BULLET_REFUSED[file.name]
    else:
        assert load_robot(file).links
