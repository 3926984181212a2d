"""What the engines' own loaders make of a robot file, compared with the robot as read here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hostile.fake_package import install
from kinetarium import Allowance, load_robot
from kinetarium.cli import main
from kinetarium.engines.registry import list_engines
from kinetarium.errors import KinetariumError
from kinetarium.model.assets import installed_packages
from kinetarium.model.load import robot_file
from kinetarium.studies.dynamics.loaders import examine_loader, loader_names, loader_rows
from needs import need, needs

INSTALLED = {listing.name for listing in list_engines() if listing.available}
LOADERS = [name for name in ("bullet", "drake", "mujoco", "physx") if name in INSTALLED]
INERTIA = '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><origin xyz="0.1 0 0"/><mass value="2"/>{INERTIA}</inertial>'
BOX = '<collision><geometry><box size="0.2 0.1 0.1"/></geometry></collision>'


def _link(name: str, inertial: str = INERTIAL) -> str:
    return f'<link name="{name}">{inertial}{BOX}</link>'


def _joint(name: str, kind: str, links: str, rest: str = "") -> str:
    parent, child = links.split()
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.2 0 0.1" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>'
        f'<limit lower="-1" upper="2" effort="30" velocity="4"/>{rest}</joint>'
    )


ARM = (
    '<robot name="arm">' + "".join(map(_link, ("base", "upper", "fore", "plate")))
    + _joint("shoulder", "revolute", "base upper", '<dynamics damping="0.5" friction="0.2"/>')
    + _joint("elbow", "revolute", "upper fore", '<mimic joint="shoulder" multiplier="2"/>')
    + _joint("mount", "fixed", "fore plate")
    + "</robot>"
)  # fmt: skip


def _findings(file: Path, loader: str) -> dict[tuple[str, str], dict[str, str]]:
    facts = examine_loader(load_robot(file), loader, file=file, roots=()).facts
    return {(each["cause"], each["where"]): each for each in facts["findings"]}


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    return file


def _faults(findings: dict[tuple[str, str], dict[str, str]]) -> set[tuple[str, str]]:
    return {key for key, each in findings.items() if each["severity"] == "fault"}


@pytest.mark.parametrize("loader", LOADERS)
def test_what_loaders_do_to_a_sound_file(arm: Path, loader: str) -> None:
    found = _findings(arm, loader)
    if loader == "bullet":  # moments from shapes, no couplings
        moments = {("inertia", link) for link in ("base", "upper", "fore", "plate")}
        assert _faults(found) == {*moments, ("coupling", "elbow")}
        assert ("base", "base") in found
    elif loader == "mujoco":
        assert _faults(found) == set()
        assert "2 kg" in found["merged-links", "base"]["message"]
        assert ("merged-links", "plate") in found
    elif loader == "drake":  # which has no joint friction
        assert _faults(found) == {("friction", "shoulder")}
    else:
        assert _faults(found) == {("friction", "shoulder")}
        assert ("limits", "shoulder, elbow") in found


@pytest.mark.parametrize("loader", LOADERS)
def test_a_link_without_inertial(arm: Path, loader: str) -> None:
    """It is massless here; Bullet gives it 1 kg, MuJoCo and SAPIEN that of water in its shape."""
    arm.write_text(ARM.replace(_link("plate"), _link("plate", "")))
    found = _findings(arm, loader)
    invented = found.get(("invented-mass", "plate"))
    if loader == "drake":
        assert invented is None
    elif loader == "mujoco":  # in the link that carries it: 0.2 x 0.1 x 0.1 m of water
        assert any("4 instead of 2 kg" in each["message"] for each in found.values())
    else:
        mass = {"bullet": 1, "physx": 2}[loader]
        assert invented and f"{mass} kg" in invented["message"]


@pytest.mark.parametrize("loader", LOADERS)
def test_a_mass_of_zero_with_a_moment(arm: Path, loader: str) -> None:
    nothing = INERTIAL.replace('<mass value="2"/>', '<mass value="0"/>')
    arm.write_text(ARM.replace(_link("plate"), _link("plate", nothing)))
    found = _findings(arm, loader)
    if loader in ("drake", "physx"):
        assert _faults(found) & {("invented-mass", "plate")}
    elif loader == "mujoco":
        assert ("merged-links", "plate") in found


@pytest.mark.parametrize("loader", LOADERS)
def test_a_planted_difference_is_named(arm: Path, loader: str) -> None:
    """The loader reads another file than the robot that it is compared with."""
    other = arm.with_name("other.urdf")
    text = ARM.replace(
        f'<link name="fore">{INERTIAL}',
        f'<link name="fore">{INERTIAL}'.replace('value="2"', 'value="3"'),
    ).replace('<origin xyz="0.2 0 0.1" rpy="0.1 0.2 0.3"/>', '<origin xyz="0.2 0 0.3"/>', 1)
    other.write_text(text.replace('lower="-1"', 'lower="-0.5"', 1))
    facts = examine_loader(load_robot(arm), loader, file=other, roots=()).facts
    found = {(each["cause"], each["where"]) for each in facts["findings"]}
    assert {("joint-origin", "shoulder"), ("limits", "shoulder")} <= found
    assert any(cause in ("mass", "replaced-inertial") and "fore" in at for cause, at in found)


def test_a_refusal_is_a_row(arm: Path) -> None:
    arm.write_text(ARM)
    model = load_robot(arm)
    arm.write_text("<robot")
    for loader in LOADERS:
        recording = examine_loader(model, loader, file=arm, roots=())
        (row,) = loader_rows(recording)
        assert row["result"].startswith("refuses the file: ") and not row["passed"]


@needs("pybullet_data")
@pytest.mark.parametrize(
    ("loader", "name", "words"),
    [
        ("bullet", "r2d2.urdf", "changes the moment of inertia of 16 links"),
        ("mujoco", "r2d2.urdf", "fuses 5 links (base_link, right_leg, ...) with the world"),
        ("drake", "kuka_iiwa/model.urdf", "invents mass for link lbr_iiwa_link_0"),
        ("mujoco", "husky/husky.urdf", "refuses the file"),
        ("drake", "mjcf/ant.xml", "changes the losses of 8 joints"),
        ("mujoco", "mjcf/ant.xml", "drops the effort limits of 8 joints"),
        ("physx", "mjcf/ant.xml", "refuses the file: SAPIEN's loader reads URDF alone"),
    ],
)
def test_public_robots(loader: str, name: str, words: str) -> None:
    need(loader)
    file = installed_packages()["pybullet_data"] / name
    facts = examine_loader(load_robot(file), loader, file=file, roots=()).facts
    assert words in facts["summary"]


@needs("drake")
def test_drake_misplaces_all_but_the_last_joint_of_a_body(tmp_path: Path) -> None:
    """Its parser of MJCF puts them at the parent's origin (Drake 1.51.1)."""
    file = tmp_path / "two.xml"
    file.write_text(
        '<mujoco model="two"><worldbody><body name="a"><geom size="0.1"/>'
        '<body name="b" pos="0.3 0 0">'
        '<joint name="i"/><joint name="j" axis="0 1 0"/><geom size="0.1"/></body></body>'
        "</worldbody></mujoco>"
    )
    assert _faults(_findings(file, "drake")) == {("joint-origin", "i, j")}  # exchanged
    assert _findings(file, "mujoco") == {}


def test_only_engines_with_a_loader() -> None:
    assert set(loader_names()) == set(LOADERS)
    if "dart" in INSTALLED:
        with pytest.raises(KinetariumError, match="'dart' has no loader"):
            loader_names(("dart",))


def test_a_robot_of_two_files_has_none_to_load() -> None:
    with pytest.raises(KinetariumError, match="combined"):
        robot_file("husky4-panda")
    with pytest.raises(KinetariumError, match="expanded"):
        robot_file("arm.urdf.xacro")


@needs("mujoco")
def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flags = ["--robot", "two-link", "--loaders", "--engine", "mujoco", "--out", str(tmp_path / "o")]
    assert main(["dynamics", *flags, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    (row,) = result["rows"]
    assert row["links"] == 3 and row["passed"]  # the base is the world, the tool a part of link 2
    assert "fuses link tool with what carries it" in row["result"]
    assert {each["cause"] for each in result["findings"]} >= {"merged-links"}
    assert main(["dynamics", "--loaders", "--against", "panda", "--out", str(tmp_path / "p")]) == 2


CRASHING = """
import os
from dataclasses import replace
from kinetarium.engines.mujoco import EngineMujoco
class Engine(EngineMujoco):
    @property
    def info(self):
        return replace(super().info, name="crashing")
    def read_robot(self, file, *, packages):
        os.abort()
"""


@needs("mujoco")
def test_a_loader_that_crashes_is_a_row(tmp_path: Path) -> None:
    install(tmp_path, "of-others", code=CRASHING, engines="crashing = of_others:Engine")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    flags = ["--robot", "two-link", "--loaders", "--engine", "crashing", "mujoco"]
    done = subprocess.run(
        [sys.executable, "-m", "kinetarium", "dynamics", *flags, "--out", "out", "--json", "-"],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    crashed, sound = json.loads(done.stdout)["rows"]
    assert crashed["backend"] == "crashing" and crashed["status"] == "crashed"
    assert sound["status"] == "completed" and sound["passed"]


@needs("mujoco")
def test_mujocos_own_files_are_read_as_by_mujoco() -> None:
    """Among other bodies of a scene, with nameless bodies and a ball joint as three hinges."""
    file = installed_packages()["mujoco"] / "testdata" / "model.xml"
    allow = (Allowance.BALL_JOINTS, Allowance.TENDONS, Allowance.GRAVITY_COMPENSATION)
    model = load_robot(file, root="head", allow=allow)
    (row,) = loader_rows(examine_loader(model, "mujoco", file=file, roots=()))
    assert row["passed"] and row["moving_joints"] == len(model.moving_joints) == 11
