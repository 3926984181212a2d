"""The MJCF files of public packages load, as they are or with the flags that their refusals name.

Of the packages MuJoCo, Gymnasium and pybullet_data are installed for the tests; dm_control is
tested where it is.
"""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from kinetarium import Allowance, RobotFileError, RobotModel, load_robot
from kinetarium.model.assets import installed_packages
from kinetarium.model.plausibility import find_implausibilities
from kinetarium.model.robot import JointType

PACKAGES = {
    name: installed_packages()[name]
    for name in ("gymnasium", "dm_control", "mujoco", "pybullet_data")
    if name in installed_packages()
}
FILES = [
    file
    for name in PACKAGES
    for file in sorted(PACKAGES[name].rglob("*.xml"))
    if re.search(r"<mujoco\b", file.read_text(errors="replace"))
]
WITHOUT_ROBOT = {
    "dm_control": """arena.xml duplo2x4.xml drosophila_defaults.xml dog_base.xml included.xml
        included_with_invalid_filenames.xml model_with_assetdir.xml model_with_assets.xml
        model_with_include.xml model_with_invalid_filenames.xml model_with_nameless_assets.xml
        model_with_separators.xml sphere.xml materials.xml skybox.xml visual.xml lqr.xml
        common.xml""",
    "mujoco": "msh.xml",
    "pybullet_data": "ground.xml ground_plane.xml",
}
"""Files without a body: arenas, parts that others include, models that Python code completes."""
ROOTS = {"mujoco/testdata/model.xml": "head", "mjcf/test_assets/test_model.xml": "b_0"}
MESHES = {
    "build_fruitfly/fruitfly.xml": "assets",
    "build_fruitfly/floor.xml": "assets",
    "build_fruitfly/assets/drosophila.xml": "..",
}
"""Files whose meshes are in another folder of their package, which MuJoCo does not find either."""
REFUSED_BY_MUJOCO = {
    "gymnasium": "",
    "mujoco": "",
    "pybullet_data": """half_cheetah.xml hopper.xml humanoid_fixed.xml humanoid_symmetric.xml
        swimmer.xml walker2d.xml""",
}
"""Files of earlier MuJoCo, or with faults, whose bodies nothing is compared with; those of the
packages that are installed for the tests."""
LENIENT = {
    "dog_v2/scene.xml": "duplicate-names",
    "test_assets/test_model.xml": "ball-joints",
    "assets/model_with_ball_joints.xml": "ball-joints",
    "suite/ball_in_cup.xml": "tendons",
    "suite/fish.xml": "tendons",
    "suite/quadruped.xml": "tendons",
    "mujoco/testdata/model.xml": "ball-joints tendons gravity-compensation",
    "pybullet_data/mjcf/hopper.xml": "global-coordinates",
    "pybullet_data/mjcf/walker2d.xml": "global-coordinates",
}
"""What has to be let through; the other files with a robot load as they are."""
IMPLAUSIBLE = (
    "assets/pusher.xml", "assets/pusher_v5.xml", "mjcf/pusher.xml", "mjcf/thrower.xml",
    "boxhead/boxhead.xml", "fruitfly_v2/floor.xml", "fruitfly_v2/fruitfly.xml",
    "test_assets/lego_brick.xml", "test_assets/robot_arm.xml", "assets/arm.xml",
    "suite/point_mass.xml", "kinova/jaco_arm.xml",
)  # fmt: skip
"""Files that load as they are and have implausible numbers, listed in docs/try-results.md."""
BESIDE = ("other body", "world body", "mocap body")
NAMED = re.compile(r"--(?:lenient |allow-)([a-z-]+)")


def _package(file: Path) -> str:
    return next(name for name, folder in PACKAGES.items() if file.is_relative_to(folder))


def _listed(file: Path, table: dict[str, str]) -> str | None:
    return next((value for end, value in table.items() if file.as_posix().endswith(end)), None)


def _load(file: Path) -> tuple[RobotModel, set[str]]:
    """Load a file with the flags that its refusals name; return the flags as well."""
    folder = _listed(file, MESHES)
    allowed = set[str]()
    for _ in range(3):
        try:
            model = load_robot(
                file,
                allow=[Allowance(name) for name in sorted(allowed)],
                root=_listed(file, ROOTS) or "",
                mesh_roots=[file.parent / folder] if folder else [],
            )
        except RobotFileError as error:
            named = {name for one in error.refusals for name in NAMED.findall(one.remedy)}
            if named <= allowed:
                raise
            allowed |= named
        else:
            return model, allowed
    pytest.fail("refused three times")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{_package(file)}-{file.stem}")
def test_loads_as_mujoco_compiles_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetarium.model.tree.MASSLESS_SHARE", 1e-11)
    if file.name in WITHOUT_ROBOT.get(_package(file), "").split():
        with pytest.raises(RobotFileError):
            load_robot(file)
        return
    model, allowed = _load(file)
    assert allowed == set((_listed(file, LENIENT) or "").split())
    assert model.repairs or not allowed
    if not allowed and not _listed(file, MESHES):
        listed = file.as_posix().endswith(IMPLAUSIBLE)
        assert bool(find_implausibilities(model)) == listed
    try:
        compiled = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:
        compiled = None
    refused = REFUSED_BY_MUJOCO.get(_package(file))
    assert refused is None or (compiled is None) == (file.name in refused.split())
    if compiled is not None:
        _assert_same_bodies(model, compiled)


def _assert_same_bodies(model: RobotModel, compiled: mujoco.MjModel) -> None:
    links = {link.name: link for link in model.links}
    compared = 0
    for body in range(1, compiled.nbody):
        link = links.get(compiled.body(body).name)
        if link is None:
            continue
        compared += 1
        inertia = link.inertia
        mass = inertia.mass if inertia else 0.0
        assert mass == pytest.approx(compiled.body_mass[body], rel=1e-9, abs=1e-12)
        moments = np.linalg.eigvalsh(inertia.moment) if inertia else np.zeros(3)
        expected = np.sort(compiled.body_inertia[body])
        if expected.any():
            np.testing.assert_allclose(moments, expected, rtol=1e-6, atol=1e-9 * expected.max())
    kinds = compiled.jnt_type
    if not any(repair.where in BESIDE for repair in model.repairs):
        balls = np.count_nonzero(kinds == mujoco.mjtJoint.mjJNT_BALL)
        slides = np.count_nonzero(kinds == mujoco.mjtJoint.mjJNT_SLIDE)
        hinges = np.count_nonzero(kinds == mujoco.mjtJoint.mjJNT_HINGE) + 3 * balls
        types = [joint.type for joint in model.moving_joints]
        assert types.count(JointType.PRISMATIC) == slides
        assert len(types) == slides + hinges
        assert model.mass == pytest.approx(compiled.body_mass.sum(), rel=1e-8)
        return
    assert compared
