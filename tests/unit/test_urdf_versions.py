"""What the versions 1.1 and 1.2 of URDF add is read, and what they change is kept apart."""

from math import inf
from pathlib import Path

import numpy as np
import pytest

from hostile.bad_urdf import LIMIT, SOUND
from kinetarium import Allowance, RobotModel, load_robot
from kinetarium.model.robot import Capsule, JointType
from kinetarium.spatial.rotation import rotation_from_rpy

BOUNDS = '<limit lower="-1" upper="1" effort="50" velocity="2"/>'
ORIGIN = '<origin xyz="0 0 0.5"/>'


def _load(folder: Path, text: str, *allow: Allowance) -> RobotModel:
    file = folder / "robot.urdf"
    file.write_text(text)
    return load_robot(file, allow=allow)


def _version(version: str) -> str:
    return SOUND.replace('name="arm"', f'name="arm" version="{version}"')


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "01.1"])
def test_known_versions_load_without_repairs(version: str, tmp_path: Path) -> None:
    assert _load(tmp_path, _version(version)).repairs == ()


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_quaternions_are_read_with_x_first(version: str, tmp_path: Path) -> None:
    rpy = (0.3, -0.5, 1.2)
    cr, cp, cy = np.cos(np.array(rpy) / 2)
    sr, sp, sy = np.sin(np.array(rpy) / 2)
    xyzw = (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )
    quaternion = " ".join(repr(float(value)) for value in xyzw)
    text = _version(version).replace(ORIGIN, f'<origin xyz="0 0 0.5" quat_xyzw="{quaternion}"/>')
    model = _load(tmp_path, text)
    X = model.joint("shoulder").X_PJ
    np.testing.assert_allclose(X[:3, :3], rotation_from_rpy(rpy), atol=1e-15)
    np.testing.assert_array_equal(X[:3, 3], [0, 0, 0.5])
    assert model.repairs == ()


def test_quaternions_turn_inertias_and_shapes(tmp_path: Path) -> None:
    text = _version("1.1").replace('xyz="0 0 0.1" rpy="0 0 0"', 'quat_xyzw="0 0.6 0 0.8"')
    text = text.replace("<collision>", '<collision><origin quat_xyzw="0 0 1 0"/>', 1)
    link = _load(tmp_path, text).link("upper")
    assert link.inertia is not None
    R = link.collisions[0].X_LG[:3, :3]
    np.testing.assert_allclose(R, np.diag([-1.0, -1.0, 1.0]), atol=1e-15)
    assert link.inertia.moment[0, 2] != 0


def test_a_quaternion_is_made_a_unit_one_and_said_so(tmp_path: Path) -> None:
    text = _version("1.1").replace(ORIGIN, '<origin xyz="0 0 0.5" quat_xyzw="0 0 1 1"/>')
    model = _load(tmp_path, text)
    np.testing.assert_allclose(
        model.joint("shoulder").X_PJ[:3, :3], rotation_from_rpy((0, 0, np.pi / 2)), atol=1e-15
    )
    assert [(r.code, "1.41421" in r.message) for r in model.repairs] == [("bad-value", True)]


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_capsules_are_read_in_every_version(version: str, tmp_path: Path) -> None:
    text = _version(version).replace(
        '<sphere radius="0.05"/>', '<capsule radius="0.05" length="0.2"/>'
    )
    assert _load(tmp_path, text).link("fore").collisions[0].shape == Capsule(0.05, 0.2)


def test_effort_and_velocity_are_optional_from_1_2(tmp_path: Path) -> None:
    text = _version("1.2").replace(BOUNDS, '<limit lower="-1" upper="1"/>', 1)
    model = _load(tmp_path, text)
    limits = model.joint("shoulder").limits
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (-1, 1, inf, inf)
    assert model.repairs == ()


def test_a_missing_bound_is_zero_before_1_2(tmp_path: Path) -> None:
    text = SOUND.replace(LIMIT, LIMIT.replace('lower="-1" ', ""))
    limits = _load(tmp_path, text).joint("shoulder").limits
    assert (limits.lower, limits.upper) == (0, 1)


def test_a_missing_bound_of_1_2_may_be_allowed_and_is_none(tmp_path: Path) -> None:
    text = _version("1.2").replace(LIMIT, LIMIT.replace('lower="-1" ', ""))
    joint = _load(tmp_path, text, Allowance.MISSING_LIMIT).joint("shoulder")
    assert (joint.type, joint.limits.lower, joint.limits.upper) == (JointType.REVOLUTE, -inf, 1)


def test_limits_of_acceleration_are_left_out_and_listed(tmp_path: Path) -> None:
    extra = BOUNDS.replace("/>", ' acceleration="10" deceleration="5" jerk="200"/>')
    model = _load(tmp_path, _version("1.2").replace(BOUNDS, extra, 1))
    assert [r.code for r in model.repairs] == ["unknown-element"] * 3
    assert all(r.where == "<limit>" for r in model.repairs)
    assert ["acceleration" in model.repairs[0].message, model.repairs[0].line] == [True, 31]
