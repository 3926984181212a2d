"""Docking on any arm: starts, loads and contacts that it can bear, and the one-axis reference."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pybullet_data
import pytest

from kinetarium.dynamics import RobotDynamics
from kinetarium.errors import KinetariumError
from kinetarium.model.assets import installed_packages
from kinetarium.roles import BaseKind, RoleOptions, with_locked_joints
from kinetarium.scene.docking import CENTER, SATELLITE_LENGTH, docking_scene
from kinetarium.spatial import se3
from kinetarium.studies.dock.press._reference import one_axis_docking
from kinetarium.studies.dock.press.arms import GAP, KR250_START, docking_of, reaction
from kinetarium.studies.dock.press.cases import cases
from kinetarium.studies.dock.press.config import (
    Contact,
    DockCase,
    DockConfig,
    ForceCase,
    PresetName,
)
from kinetarium.studies.dock.press.run import run, score, settling

UR10 = installed_packages()["example-robot-data"] / "robots/ur_description/urdf/ur10_robot.urdf"
IIWA = Path(pybullet_data.getDataPath()) / "kuka_iiwa/model.urdf"
LIGHT = DockConfig(
    chaser="ur5",
    case=(ForceCase.C,),
    preset=(PresetName.RECOMMENDED,),
    payload_kg=1.0,
    engine=("mujoco",),
)


def case_of_arm(chaser: str | Path, **changes: object) -> DockCase:
    return cases(replace(LIGHT, chaser=str(chaser), **changes))[0]


@pytest.mark.parametrize("chaser", ["ur5", UR10, IIWA], ids=lambda c: Path(c).stem)
def test_two_arms_face_each_other_and_can_move_on(chaser: str | Path) -> None:
    docking = docking_of(case_of_arm(chaser))
    arm, held = docking.chaser, docking.target
    X_C = RobotDynamics(arm.model).link_pose(arm.q_start, CENTER)
    X_T = held.X_WA @ RobotDynamics(held.model).link_pose(held.q_start, CENTER)
    np.testing.assert_allclose(X_C[:3, 0], (1.0, 0.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(X_T[:3, 0], (-1.0, 0.0, 0.0), atol=1e-6)
    apart = X_T[:3, 3] - X_C[:3, 3]
    np.testing.assert_allclose(apart, (GAP + SATELLITE_LENGTH, 0.0, 0.0), atol=1e-6)
    lower = np.array([joint.limits.lower for joint in arm.model.moving_joints])
    upper = np.array([joint.limits.upper for joint in arm.model.moving_joints])
    assert (lower < arm.q_start).all()
    assert (arm.q_start < upper).all()
    assert np.linalg.svd(RobotDynamics(arm.model).jacobian(arm.q_start, CENTER))[1][-1] > 0.08


def test_the_arms_may_differ() -> None:
    case = case_of_arm(IIWA, target="ur5")
    docking = docking_of(case)
    assert len(docking.chaser.q_start) == 7
    assert len(docking.target.q_start) == 6
    assert docking.target.model.name == "ur5"


def test_the_kr250_starts_as_in_the_paper() -> None:
    case = cases(replace(LIGHT, chaser="kr250", payload_kg=0.0))[0]
    assert case.start_deg == KR250_START
    assert case.stiffness == 0.0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"payload_kg": 60.0}, r"ur5 cannot press with 200 N holding 60 kg: .* of 150 N m"),
        ({"start_deg": (0.0, 1.0)}, "--start-deg needs 6 numbers for ur5"),
        ({"base": BaseKind.FREE}, "--base fixed"),
        ({"chaser": "husky4"}, "husky4 has no arm: only its wheels move"),
        ({"chaser": "panda"}, r"panda cannot press with 200 N .* of 87 N m"),
    ],
)
def test_what_an_arm_cannot_do_is_refused_beforehand(changes: dict[str, object], said: str) -> None:
    with pytest.raises(KinetariumError, match=said):
        cases(replace(LIGHT, **changes))


def test_the_target_bears_the_opposite_wrench() -> None:
    """Both wrenches balance about the world's origin, where the faces touch and are parallel."""
    wrench = np.array([-480.0, 7.0, -24.0, 1.1, 2.5, -1.8])
    misalign = (0.0, 6e-3, -8e-3, 0.04, 0.0, 0.0)
    docking = docking_scene(payload=1.0, gap=0.0, misalign=misalign)
    X_WC, X_WT = (
        arm.X_WA @ RobotDynamics(arm.model).link_pose(arm.q_start, CENTER)
        for arm in (docking.chaser, docking.target)
    )
    held = se3.wrench_in_parent(X_WT, reaction(wrench, misalign=misalign))
    np.testing.assert_allclose(held, -se3.wrench_in_parent(X_WC, wrench), atol=1e-9)


def test_a_target_that_gives_way_is_refused() -> None:
    """The wrist of the chaser bears 38 N m, that of the target 59 of its 54."""
    wrench = (-478.6, 6.7, -23.7, 1.1, 2.5, -1.8)
    faces = {"contact": Contact.FACE, "friction": 0.3, "moment_band": 1.0}
    free = replace(LIGHT, chaser=str(UR10), wrench=wrench, **faces)
    with pytest.raises(KinetariumError, match=r"wrist_1_joint needs 59 of 54 N m"):
        cases(free)
    cases(replace(free, wrench=(*wrench[:2], 0.0, *wrench[3:])))


def test_locked_joints_stay_where_they_are() -> None:
    panda = RoleOptions().open("panda")
    locked = with_locked_joints(panda.model, {"panda_joint1": 0.4, "panda_finger_joint1": 0.01})
    q = np.linspace(-0.5, 0.5, 9)
    q[0], q[7] = 0.4, 0.01
    kept = [i for i in range(9) if i not in (0, 7)]
    np.testing.assert_allclose(
        RobotDynamics(locked).link_poses(q[kept]), RobotDynamics(panda.model).link_poses(q)
    )


@pytest.mark.parametrize(
    ("case", "peak", "settle"), [(ForceCase.A, 968.0, 1.67), (ForceCase.C, 600.0, 2.18)]
)
def test_one_axis_against_an_independent_simulation(
    case: ForceCase, peak: float, settle: float
) -> None:
    """Peaks and settling times of a separate program with 2 ms of lag."""
    chosen = cases(DockConfig(case=(case,), engine=("mujoco",)))[0]
    found = one_axis_docking(chosen, duration=5.5)
    assert found is not None
    first = int(np.flatnonzero(found.force)[0])
    assert found.force.max() == pytest.approx(peak, rel=0.005)
    wanted = 500.0 if case is ForceCase.A else 200.0
    settled = settling(found.time[first:], found.force[first:], wanted)
    assert settled == pytest.approx(settle, rel=0.02)


@pytest.mark.parametrize(
    ("chaser", "engine"),
    [
        ("ur5", "mujoco"),
        *(
            pytest.param(arm, engine, marks=pytest.mark.slow)
            for arm in (UR10, IIWA)
            for engine in ("mujoco", "bullet", "drake", "dart")
        ),
    ],
    ids=lambda value: Path(value).stem,
)
def test_light_arms_press_with_the_wanted_force(chaser: str | Path, engine: str) -> None:
    case = case_of_arm(chaser, engine=(engine,))
    row = score(case, run(case))
    assert row["steady_error_n"] < 4.0
    assert row["rebounds"] == 0
    assert row["peak_n"] == pytest.approx(row["reference_peak_n"], rel=0.05)
    # Arms of six times the contact's stiffness, two of them in series with it: up to 1.33.
    assert row["reference_settle_s"] * 0.9 < row["settle_s"] < row["reference_settle_s"] * 1.4
