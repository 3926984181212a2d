"""Real robots are the same robot in every library, and planted faults are found in engines."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.model.assets import installed_packages
from kinetarium.model.robot import Inertia
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_from_rpy
from kinetarium.studies.dynamics._examination import examine
from kinetarium.studies.dynamics.backends.registry import backend_names
from kinetarium.studies.dynamics.finding import Cause, Finding, Severity
from kinetarium.studies.dynamics.override import Override
from kinetarium.studies.dynamics.score import error_rows
from needs import needs

DATA = installed_packages().get("example-robot-data", Path())
TALOS = "talos_data/robots/talos_reduced.urdf"
PANDA = load_robot("panda")
ENGINES = [name for name in backend_names(PANDA) if name != "pinocchio"]
LIMITS = {"bullet": 1e-9}


def faults(recording: Recording) -> list[Finding]:
    found = [Finding.of_data(data) for data in recording.facts["findings"]]
    return [each for each in found if each.severity is Severity.FAULT]


def assert_same(robot: str | Path, backend: str, *, states: int) -> None:
    recording = examine(load_robot(robot), backend, states=states, seed=1)
    assert faults(recording) == []
    for row in error_rows(recording):
        assert row["passed"], row
        if row["quantity"] in ("M", "g", "c", "tau"):
            assert row["max_rel"] <= LIMITS.get(backend, 1e-12)


@pytest.mark.engine
@pytest.mark.parametrize("backend", ["pinocchio", *ENGINES])
@pytest.mark.parametrize("robot", ["panda", "ur5", "kr250", "husky4"])
def test_catalogue_robots_are_the_same_everywhere(robot: str, backend: str) -> None:
    assert_same(robot, backend, states=100)


@pytest.mark.engine
@needs("example-robot-data")
@pytest.mark.parametrize("backend", ["pinocchio", *ENGINES])
def test_a_humanoid_is_the_same_everywhere(backend: str) -> None:
    """Talos has 32 moving joints, damping, friction and massless links that the reader repairs."""
    assert_same(DATA / "robots" / TALOS, backend, states=50)


def inertia(link: str) -> Inertia:
    found = PANDA.link(link).inertia
    assert found is not None
    return found


R = rotation_from_rpy([0.3, 0.2, 0.9])
LINK3, LINK5, HAND = inertia("panda_link3"), inertia("panda_link5"), inertia("panda_hand")
JOINT4 = PANDA.joint("panda_joint4")
EXCHANGED = {"panda_joint3": "panda_joint5", "panda_joint5": "panda_joint3"}

FAULTS = {
    "wrong mass": (
        Override(inertials={"panda_link3": replace(LINK3, mass=4.0)}), Cause.MASS, "panda_link3"),
    "wrong mass of a fixed link": (
        Override(inertials={"panda_hand": replace(HAND, mass=0.8)}), Cause.MASS, "panda_hand"),
    "wrong mass of the root": (
        Override(inertials={"panda_link0": replace(LINK3, mass=0.7)}),
        Cause.REPLACED_INERTIAL, "panda_link0"),
    "shifted centre": (
        Override(inertials={"panda_link5": replace(LINK5, center=LINK5.center + 0.01)}),
        Cause.CENTER_OF_MASS, "panda_link5"),
    "swapped axes": (
        Override(inertials={"panda_hand": replace(HAND, moment=HAND.moment[::-1, ::-1])}),
        Cause.INERTIA_AXES, "panda_hand"),
    "wrong frame": (
        Override(inertials={"panda_link5": replace(LINK5, moment=R @ LINK5.moment @ R.T)}),
        Cause.INERTIA_FRAME, "panda_link5"),
    "scaled inertia": (
        Override(inertials={"panda_link5": replace(LINK5, moment=10 * LINK5.moment)}),
        Cause.INERTIA_SCALE, "panda_link5"),
    "lost fixed link": (
        Override(inertials={"panda_hand": None}), Cause.LOST_LINK, "panda_hand"),
    "default inertial": (
        Override(inertials={"panda_link5": Inertia(1.0, frozen(np.zeros(3)), frozen(np.eye(3)))}),
        Cause.REPLACED_INERTIAL, "panda_link5"),
    "flipped axis": (
        Override(axes={"panda_joint4": -JOINT4.axis}), Cause.JOINT_AXIS, "panda_joint4"),
    "displaced origin": (
        Override(origins={"panda_joint4": pose([0.01, 0.0, 0.002]) @ JOINT4.X_PJ}),
        Cause.JOINT_ORIGIN, "panda_joint4"),
    "armature": (
        Override(armature={"panda_joint4": 0.1}), Cause.ARMATURE, "panda_joint4"),
    "damping": (
        Override(damping={"panda_finger_joint1": 0.3}), Cause.DAMPING, "panda_finger_joint1"),
    "friction": (
        Override(friction={"panda_joint2": 0.5}), Cause.FRICTION, "panda_joint2"),
    "gravity sign": (
        Override(gravity=frozen([0, 0, 9.81])), Cause.GRAVITY, "world"),
    "gravity size": (
        Override(gravity=frozen([0, 0, -9.80665])), Cause.GRAVITY, "world"),
    "gravity direction": (
        Override(gravity=frozen([0, -9.81, 0])), Cause.GRAVITY, "world"),
    "exchanged origins": (
        Override(origins={a: PANDA.joint(b).X_PJ for a, b in EXCHANGED.items()}),
        Cause.JOINT_ORIGIN, "panda_joint3, panda_joint5"),
}  # fmt: skip


PLANTED = [(fault, "mujoco") for fault in FAULTS]
PLANTED += [(fault, name) for name in ENGINES if name != "mujoco" for fault in list(FAULTS)[1::2]]


@pytest.mark.engine
@pytest.mark.parametrize(("fault", "backend"), PLANTED)
def test_planted_faults_are_found(fault: str, backend: str) -> None:
    override, cause, where = FAULTS[fault]
    found = faults(examine(PANDA, backend, states=20, seed=0, override=override))
    assert [(each.cause, each.where) for each in found] == [(cause, where)]
    assert found[0].message.startswith(f"{backend}: ")


@pytest.mark.engine
def test_several_planted_faults_are_all_found() -> None:
    override = Override(
        gravity=frozen([0, 0, 9.81]),
        armature={"panda_joint4": 0.1},
        inertials={"panda_link3": replace(LINK3, mass=4.0)},
        origins={"panda_joint6": pose([0.0, 0.005, 0.0]) @ PANDA.joint("panda_joint6").X_PJ},
    )
    found = faults(examine(PANDA, "mujoco", states=20, seed=0, override=override))
    assert {(each.cause, each.where) for each in found} == {
        (Cause.GRAVITY, "world"),
        (Cause.ARMATURE, "panda_joint4"),
        (Cause.MASS, "panda_link3"),
        (Cause.JOINT_ORIGIN, "panda_joint6"),
    }


@pytest.mark.engine
def test_a_displaced_fixed_joint_is_one_fault() -> None:
    """To an audit it is another centre of mass, to the terms also other fingers."""
    mount = PANDA.joint("panda_hand_joint")
    override = Override(origins={mount.name: pose([0.01, 0.0, 0.0]) @ mount.X_PJ})
    (found,) = faults(examine(PANDA, "mujoco", states=20, seed=0, override=override))
    assert found.cause is Cause.JOINT_ORIGIN
    assert mount.name in found.where.split(", ")


@pytest.mark.engine
@pytest.mark.parametrize("backend", ENGINES)
def test_a_body_with_several_joints_is_the_same_everywhere(backend: str, tmp_path: Path) -> None:
    """The links between its joints are named after both, as "hip/yaw"."""
    file = tmp_path / "hip.xml"
    file.write_text(
        '<mujoco><worldbody><body name="base"><geom size="0.1"/><body name="hip" pos="0.3 0 0">'
        '<joint name="yaw"/><joint name="pitch" axis="0 1 0"/><geom size="0.1"/></body></body>'
        "</worldbody></mujoco>"
    )
    assert "hip/yaw" in {link.name for link in load_robot(file).links}
    assert_same(file, backend, states=10)
