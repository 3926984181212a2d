"""Implausible robots: planted faults are named, public robots raise no false alarm."""

from pathlib import Path

import pytest

from kinetarium.model.diagnostics import Allowance
from kinetarium.model.load import read_robot_file
from kinetarium.model.plausibility import find_implausibilities
from needs import public

CART = """\
<robot name="cart">
  <link name="base">
    <inertial><mass value="12"/>
      <inertia ixx="0.1700" iyy="0.4425" izz="0.5725" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.6 0.35 0.2"/></geometry></collision>
    <visual><geometry><mesh filename="hull.obj"/></geometry></visual>
  </link>
  <link name="arm">
    <inertial><origin xyz="0 0 0.2"/><mass value="2"/>
      <inertia ixx="0.02708" iyy="0.02736" izz="0.00111" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.065 0.05 0.4"/></geometry></collision>
  </link>
  <link name="wheel">
    <inertial><mass value="1.5"/>
      <inertia ixx="0.00406" iyy="0.0075" izz="0.00406" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin rpy="1.5708 0 0"/>
      <geometry><cylinder radius="0.1" length="0.05"/></geometry></collision>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="arm"/><origin xyz="0.2 0 0.1"/><axis xyz="0 1 0"/>
    <limit lower="-2.6" upper="2.6" velocity="1" effort="30"/>
  </joint>
  <joint name="spin" type="continuous">
    <parent link="base"/><child link="wheel"/><origin xyz="0.2 0.25 -0.1"/><axis xyz="0 1 0"/>
  </joint>
</robot>
"""

CENTER = '<origin xyz="0 0 0.2"/><mass'
INERTIA = 'ixx="0.02708" iyy="0.02736" izz="0.00111"'
WHEEL = 'iyy="0.0075" izz="0.00406"'
MESH = '<mesh filename="hull.obj"/>'
LIMITS = 'lower="-2.6" upper="2.6"'
PLANTED = {
    "mass in grams": ('value="2"', 'value="2000"', "mass", "link arm"),
    "mass in tonnes": ('value="2"', 'value="0.002"', "mass", "link arm"),
    "centre outside": (CENTER, '<origin xyz="0 0.3 0.2"/><mass', "center", "link arm"),
    "centre of wrong sign": (CENTER, '<origin xyz="0 0 -0.2"/><mass', "center", "link arm"),
    "centre in millimetres": (CENTER, '<origin xyz="0 0 200"/><mass', "center", "link arm"),
    "axes exchanged": (INERTIA, 'ixx="0.00111" iyy="0.02736" izz="0.02708"', "axes", "link arm"),
    "wheel about the wrong axis": (WHEEL, 'iyy="0.00406" izz="0.0075"', "axes", "link wheel"),
    "placeholder": (INERTIA, 'ixx="1" iyy="1" izz="1"', "inertia", "link arm"),
    "inertia in g m^2": (INERTIA, 'ixx="27" iyy="27" izz="1.11"', "inertia", "link arm"),
    "inertia too small": (INERTIA, 'ixx="1e-5" iyy="1e-5" izz="1e-5"', "inertia", "link arm"),
    "about the origin": (INERTIA, 'ixx="0.107" iyy="0.107" izz="0.00111"', "inertia", "link arm"),
    "mesh in millimetres": (
        MESH,
        MESH.replace("/>", ' scale="1e3 1e3 1e3"/>'),
        "size",
        "link base",
    ),
    "mesh of other unit": (
        MESH,
        MESH.replace("/>", ' scale="1e-3 1e-3 1e-3"/>'),
        "size",
        "link base",
    ),
    "joint in millimetres": ('xyz="0.2 0 0.1"', 'xyz="200 0 100"', "size", "joint turn"),
    "limits in degrees": (LIMITS, 'lower="-150" upper="150"', "limits", "joint turn"),
}


@pytest.fixture
def cart(tmp_path: Path) -> Path:
    corners = [f"v {x} {y} {z}" for x in (-0.3, 0.3) for y in (-0.17, 0.17) for z in (-0.1, 0.1)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    lines = [*corners, *(f"f {face}" for face in faces)]
    (tmp_path / "hull.obj").write_text("\n".join(lines) + "\n")
    file = tmp_path / "cart.urdf"
    file.write_text(CART)
    return file


def _found(file: Path) -> list[tuple[str, str]]:
    found = find_implausibilities(read_robot_file(file))
    assert all(one.message and one.remedy for one in found)
    return [(one.code.removeprefix("implausible-"), one.where) for one in found]


def test_a_plausible_robot(cart: Path) -> None:
    assert _found(cart) == []


@pytest.mark.parametrize("name", PLANTED)
def test_planted_implausibilities_are_named(cart: Path, name: str) -> None:
    old, new, code, where = PLANTED[name]
    assert CART.count(old) == 1
    cart.write_text(CART.replace(old, new))
    assert (code, where) in _found(cart)
    assert {place for _, place in _found(cart)} == {where}
    line = 1 + CART[: CART.index(f'name="{where.split()[1]}"')].count("\n")
    assert all(one.line == line for one in find_implausibilities(read_robot_file(cart)))


def test_the_mass_that_a_massless_link_was_given_is_no_fault(cart: Path) -> None:
    start = CART.index("<inertial>", CART.index('name="wheel"'))
    end = CART.index("</inertial>", start) + len("</inertial>")
    cart.write_text(CART[:start] + CART[end:])
    robot = read_robot_file(cart, allow=[Allowance.MASSLESS])
    assert robot.link("wheel").inertia is not None
    assert find_implausibilities(robot) == ()


def test_a_flat_collision_mesh_is_named(cart: Path) -> None:
    cart.with_name("tag.obj").write_text("v 0 0 0\nv 1 2 3\nv 1 0 0\nv 2 2 3\nf 1 2 3\nf 2 4 3\n")
    box = '<box size="0.065 0.05 0.4"/>'
    cart.write_text(CART.replace(box, '<mesh filename="tag.obj" scale="0.1 0.1 0.1"/>'))
    [found] = find_implausibilities(read_robot_file(cart))
    assert found.where == "link arm" and "flat" in found.message


LISTED = {
    "a1", "laikago", "allegro_left_hand", "allegro_right_hand", "anymal-kinova", "kinova",
    "TwoDofs", "double_pendulum_simple", "finger_edu", "icub", "icub_reduced", "panda",
    "romeo_small", "so100", "talos_full_v2", "talos_full_v2_box", "talos_left_arm", "tiago_dual",
    "ur3_robot", "ur3_gripper", "ur3_joint_limited_robot", "ur5_robot", "ur5_gripper",
    "ur5_joint_limited_robot", "ur10_robot", "ur10_joint_limited_robot",
}  # fmt: skip
"""Public robots with findings, listed in docs/try-results.md; the limits were chosen on them."""

SHORT = ("solo12", "go2", "z1", "xarm7", "so101", "tiago_pro", "panda", "ur5_robot", "a1")


def _public(names: tuple[str, ...] | None) -> list[Path]:
    files = sorted(public("example-robot-data", "").rglob("*.urdf"))
    return [file for file in files if names is None or file.stem in names]


def _implausible(files: list[Path]) -> tuple[set[str], int]:
    found, loaded = set(), 0
    for file in files:
        try:
            robot = read_robot_file(file)
        except Exception as error:
            assert type(error).__name__ == "RobotFileError"
            continue
        loaded += 1
        if find_implausibilities(robot):
            found.add(file.stem)
    return found, loaded


def test_no_false_alarm_on_some_public_robots() -> None:
    found, _ = _implausible(_public(SHORT))
    assert found == LISTED & set(SHORT)


@pytest.mark.slow
def test_no_false_alarm_on_any_public_robot() -> None:
    found, loaded = _implausible(_public(None))
    assert found == LISTED
    assert loaded - len(found) >= 40


def test_the_wheels_of_the_public_husky() -> None:
    assert _found(public("pybullet_data", "husky/husky.urdf")) == [
        ("axes", f"link {end}_{side}_wheel_link")
        for end in ("front", "rear")
        for side in ("left", "right")
    ]
