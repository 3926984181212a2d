"""Roles: detection against known geometry, SRDF, roles files, and what is asked for."""

from itertools import pairwise
from math import atan2, cos, pi, sin
from pathlib import Path

import pytest

from kinetarium import RobotFileError, load_robot
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model import RobotModel
from kinetarium.roles import BaseKind, RolesError, RoleSource, find_roles, roles_toml

BODY = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def link(name: str, shape: str = "", xyz: str = "0 0 0", rpy: str = "0 0 0") -> str:
    collision = (
        f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{shape}</geometry></collision>'
    )
    return f'<link name="{name}">{BODY}{collision if shape else ""}</link>'


def joint(
    name: str, parent: str, child: str, *, kind: str = "revolute", xyz: str = "0 0 0",
    axis: str = "0 0 1", limit: str = "-1 1", effort: float = 10, more: str = "",
) -> str:  # fmt: skip
    lower, upper = limit.split()
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="1"/>{more}</joint>'
    )


def robot(tmp_path: Path, *parts: str) -> RobotModel:
    file = tmp_path / "robot.urdf"
    file.write_text(f'<robot name="robot">{"".join(parts)}</robot>')
    return load_robot(file)


def arm(*more: str) -> tuple[str, ...]:
    """A chain of four joints, with anything at its end."""
    names = ["base", "l1", "l2", "l3", "l4"]
    pairs = pairwise(names)
    return (
        link("base", '<box size="0.2 0.2 0.1"/>'),
        *(link(name, '<box size="0.05 0.05 0.3"/>', "0 0 0.15") for name in names[1:]),
        *(
            joint(f"j{i}", parent, child, xyz="0 0 0.3", axis="0 1 0" if i % 2 else "0 0 1")
            for i, (parent, child) in enumerate(pairs, start=1)
        ),
        *more,
    )


PAD = '<box size="0.02 0.01 0.04"/>'


def fingers(mimic: str) -> tuple[str, ...]:
    """Two pads whose faces are 2 q apart."""
    return (
        link("left", PAD, "0 0.005 0.05"),
        link("right", PAD, "0 -0.005 0.05"),
        joint("open", "l4", "left", kind="prismatic", xyz="0 0 0.3", axis="0 1 0",
              limit="0 0.04", effort=30),
        joint("other", "l4", "right", kind="prismatic", xyz="0 0 0.3", axis="0 -1 0",
              limit="0 0.04", effort=30, more=mimic),
    )  # fmt: skip


@pytest.mark.parametrize("mimic", ['<mimic joint="open"/>', ""], ids=["mimic", "independent"])
def test_a_parallel_gripper_has_the_stroke_force_and_center_of_its_geometry(tmp_path, mimic):
    roles = find_roles(robot(tmp_path, *arm(*fingers(mimic))))
    gripper = roles.gripper()
    assert (gripper.leader, gripper.closing) == ("open", -1)
    assert gripper.followers == (("other",) if mimic else ())
    assert gripper.stroke == pytest.approx(0.08, abs=1e-3)
    assert gripper.force == pytest.approx(30, rel=0.02)  # each finger with the leader's effort
    # At random points of the pads, so within their spacing.
    assert gripper.center == pytest.approx((0, 0, 0.35), abs=0.01)
    assert abs(gripper.axis[1]) == pytest.approx(1, abs=1e-3)
    assert gripper.open["open"] == 0.04 and gripper.closed["open"] == pytest.approx(0, abs=1e-3)
    assert {finger.joints for finger in gripper.fingers} == {("open",), ("other",)}
    assert roles.arm().joints == ("j1", "j2", "j3", "j4")
    assert roles.arm().gripper == gripper.name and roles.arm().tool == "l4"
    assert roles.arm().source is RoleSource.GEOMETRY


def test_fingers_that_never_meet_are_no_gripper(tmp_path):
    parts = arm(*fingers("")[:2])
    apart = [
        joint(name, "l4", child, kind="prismatic", xyz="0 0 0.3", axis=axis, limit="0.1 0.14")
        for name, child, axis in (("open", "left", "0 1 0"), ("other", "right", "0 -1 0"))
    ]
    assert find_roles(robot(tmp_path, *parts, *apart)).grippers == ()


WHEEL = '<cylinder radius="0.1" length="0.04"/>'


def car(*, trail: float, extra: str = "") -> tuple[str, ...]:
    """Two driven wheels at the back, two wheels below swivels in front."""
    parts = [link("base", '<box size="0.6 0.4 0.1"/>', "0 0 0.1"), extra]
    for side, y in (("l", 0.2), ("r", -0.2)):
        parts += [
            link(f"back_{side}", WHEEL, rpy=f"{pi / 2} 0 0"),
            joint(f"roll_{side}", "base", f"back_{side}", kind="continuous",
                  xyz=f"-0.2 {y} 0", axis="0 1 0"),
            link(f"fork_{side}", '<box size="0.02 0.02 0.02"/>'),
            joint(f"swivel_{side}", "base", f"fork_{side}", kind="continuous", xyz=f"0.2 {y} 0"),
            link(f"front_{side}", WHEEL, rpy=f"{pi / 2} 0 0"),
            joint(f"run_{side}", f"fork_{side}", f"front_{side}", kind="continuous",
                  xyz=f"{-trail} 0 0", axis="0 1 0"),
        ]  # fmt: skip
    return tuple(parts)


def test_wheels_have_their_size_and_casters_trail(tmp_path):
    roles = find_roles(robot(tmp_path, *car(trail=0.03)))
    wheels = {wheel.joint: wheel for wheel in roles.wheels}
    assert set(wheels) == {"roll_l", "roll_r", "run_l", "run_r"}
    back, front = wheels["roll_l"], wheels["run_l"]
    assert (back.radius, back.width) == pytest.approx((0.1, 0.04), abs=1e-9)
    assert back.axis == (0, 1, 0) and back.driven and not back.steering
    assert front.caster and front.steering == "swivel_l"
    assert [wheel.joint for wheel in roles.driven_wheels()] == ["roll_l", "roll_r"]
    assert str(roles.base) == "free base (geometry)"


def test_a_steered_wheel_is_below_its_axis(tmp_path):
    wheels = {w.joint: w for w in find_roles(robot(tmp_path, *car(trail=0))).wheels}
    assert wheels["run_l"].steered and wheels["run_l"].driven and not wheels["run_l"].caster


@pytest.mark.parametrize(
    "tag",
    [
        '<transmission name="t{0}"><joint name="{0}"/></transmission>',
        '<ros2_control name="t{0}" type="system"><joint name="{0}">'
        '<command_interface name="velocity"/></joint></ros2_control>',
    ],
    ids=["transmission", "ros2_control"],
)
def test_declared_drives_decide(tmp_path, tag):
    drives = "".join(map(tag.format, ("roll_l", "roll_r", "swivel_l", "swivel_r")))
    model = robot(tmp_path, *car(trail=0.03, extra=drives))
    assert set(model.declared.driven) == {"roll_l", "roll_r", "swivel_l", "swivel_r"}
    wheels = {wheel.joint: wheel for wheel in find_roles(model).wheels}
    assert wheels["run_l"].steered and not wheels["run_l"].driven


@pytest.mark.parametrize("square", [True, False])
def test_what_is_not_round_is_no_wheel(tmp_path, square):
    shape = '<box size="0.2 0.04 0.2"/>' if square else WHEEL
    parts = [part.replace(WHEEL, shape) for part in car(trail=0.03)]
    if square:  # it stands on its edges
        parts = [part.replace(f"{pi / 2} 0 0", "0 0 0") for part in parts]
    assert bool(find_roles(robot(tmp_path, *parts)).wheels) is not square


def legged(count: int) -> tuple[str, ...]:
    parts = [link("base", '<box size="0.4 0.4 0.1"/>')]
    for i in range(count):
        x, y = 0.2 * cos(2 * pi * i / count), 0.2 * sin(2 * pi * i / count)
        bar = '<box size="0.03 0.03 0.3"/>'
        parts += [
            link(f"upper{i}", bar, "0 0 -0.15"),
            link(f"lower{i}", bar, "0 0 -0.15"),
            joint(f"a{i}", "base", f"upper{i}", xyz=f"{x} {y} 0", axis="0 1 0"),
            joint(f"b{i}", f"upper{i}", f"lower{i}", xyz="0 0 -0.3", axis="0 1 0"),
        ]
    return tuple(parts)


def test_limbs_on_the_ground_are_legs(tmp_path):
    roles = find_roles(robot(tmp_path, *legged(4)))
    assert [(leg.joints, leg.foot) for leg in roles.legs] == [
        ((f"a{i}", f"b{i}"), f"lower{i}") for i in range(4)
    ]
    assert roles.base.kind is BaseKind.FREE and not roles.arms
    with pytest.raises(RolesError, match="has 4 legs: --leg one of"):
        roles.leg()
    assert roles.leg(roles.legs[2].name).joints == ("a2", "b2")


def test_a_spring_beside_a_foot_does_not_end_a_leg(tmp_path):
    light = "".join(link(f"spring{i}", '<box size="0.01 0.01 0.05"/>') for i in range(2))
    springs = light.replace('mass value="1"', 'mass value="0.1"'), *(
        part
        for i in range(2)
        for part in (
            link(f"foot{i}", '<box size="0.1 0.05 0.02"/>'),
            joint(f"c{i}", f"lower{i}", f"foot{i}", xyz="0 0 -0.3", axis="0 1 0"),
            joint(f"spring{i}", f"lower{i}", f"spring{i}", axis="0 1 0"),
        )
    )  # fmt: skip
    roles = find_roles(robot(tmp_path, *legged(2), *springs))
    assert [(leg.joints, leg.foot) for leg in roles.legs] == [
        ((f"a{i}", f"b{i}", f"c{i}"), f"foot{i}") for i in range(2)
    ]


def test_an_arm_ends_where_single_joints_branch(tmp_path):
    lamps = [
        part
        for i, y in enumerate((-0.1, 0.1))
        for part in (
            link(f"lamp{i}", '<sphere radius="0.02"/>'),
            joint(f"lamp{i}", "l4", f"lamp{i}", xyz=f"0 {y} 0.3", axis="1 0 0"),
        )
    ]
    roles = find_roles(robot(tmp_path, *arm(*lamps)))
    assert [each.joints for each in roles.arms] == [("j1", "j2", "j3", "j4")]


def test_a_shown_drive_beside_the_fingers_is_none_of_them(tmp_path):
    shown = (
        link("prop", '<box size="0.02 0.02 0.005"/>'),
        joint("turn", "l4", "prop", kind="continuous", xyz="0 0 0.3"),
    )
    roles = find_roles(robot(tmp_path, *arm(*fingers('<mimic joint="open"/>'), *shown)))
    assert [each.leader for each in roles.grippers] == ["open"]
    assert roles.arm().gripper == roles.grippers[0].name


def test_a_single_leg_beside_a_rocker_is_none(tmp_path):
    rocker = link("rocker", '<box size="0.03 0.03 0.6"/>', "0 0 -0.3")
    parts = (*legged(1), rocker, joint("r", "base", "rocker", xyz="-0.2 0 0", axis="0 1 0"))
    assert not find_roles(robot(tmp_path, *parts)).legs


def test_what_is_missing_is_asked_for_in_one_line(tmp_path):
    roles = find_roles(robot(tmp_path, *arm()[:3], *arm()[5:7]))
    with pytest.raises(RolesError, match=r"^robot needs a tool link: --tool l2$"):
        roles.arm()
    with pytest.raises(RolesError, match="needs a gripper, and none was found in robot: --roles"):
        roles.gripper()
    with pytest.raises(RolesError, match="needs wheels"):
        roles.driven_wheels()
    with pytest.raises(UnknownNameError, match="unknown arm 'x'"):
        roles.arm("x")


def test_the_tool_and_the_base_can_be_given():
    model = load_robot("ur5")
    roles = find_roles(model, tool="forearm_link", base=BaseKind.FREE)
    forearm = roles.arm("forearm_link")
    assert forearm.joints == ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
    assert forearm.source is RoleSource.FLAG
    assert str(roles.base) == "free base (flag)"
    with pytest.raises(UnknownNameError, match="unknown link"):
        find_roles(model, tool="elbow")


SRDF = """\
<robot name="robot">
  <group name="manipulator"><chain base_link="base" tip_link="l4"/></group>
  <group name="hand"><joint name="open"/></group>
  <group name="everything"><group name="manipulator"/><group name="hand"/></group>
  <group name="head"><joint name="pan"/></group>
  <end_effector name="tool" parent_link="l4" group="hand" parent_group="manipulator"/>
  <virtual_joint name="v" type="floating" parent_frame="world" child_link="base"/>
  <group_state name="closed" group="hand"><joint name="open" value="0.01"/></group_state>
  <group_state name="home" group="manipulator"><joint name="j2" value="0.5"/></group_state>
  <disable_collisions link1="l1" link2="l2" reason="Adjacent"/>
</robot>
"""


def test_srdf_names_groups_states_and_tools(tmp_path):
    (tmp_path / "robot.srdf").write_text(SRDF)
    roles = find_roles(robot(tmp_path, *arm(*fingers('<mimic joint="open"/>'))))
    assert (roles.arm().name, roles.arm().tool, roles.arm().gripper) == (
        "manipulator",
        "l4",
        "hand",
    )
    assert roles.arm().source is RoleSource.SRDF and roles.base.kind is BaseKind.FREE
    assert roles.gripper("hand").closed == {"open": 0.01}
    assert roles.home["j2"] == 0.5 and roles.home_source is RoleSource.SRDF
    assert roles.arm_home(roles.arm()) == {"j1": 0, "j2": 0.5, "j3": 0, "j4": 0}
    assert roles.disabled_collisions == (("l1", "l2"),)
    assert len(roles.notes) == 1 and "has no pan" in roles.notes[0]


@pytest.mark.parametrize(
    ("written", "instead", "fault"),
    [
        ('<group name="hand">', "<group>", "3: <group> has no attribute 'name'"),
        ('value="0.5"', 'value="nan"', "9: .*'nan', which is not a valid number"),
        ('type="floating"', 'type="flying"', "7: .*type is 'flying'"),
        ('<joint name="pan"/>', '<group name="head"/>', "5: .*contains itself"),
        ('<joint name="pan"/>', '<group name="feet"/>', "5: .*'feet', which does not exist"),
        ("</robot>", "", "not well-formed XML"),
        ("<robot", "<!DOCTYPE x><robot", "document types"),
    ],
)
def test_faults_of_srdf_have_their_line(tmp_path, written, instead, fault):
    model = robot(tmp_path, *arm())
    file = tmp_path / "other.srdf"
    file.write_text(SRDF.replace(written, instead, 1))
    with pytest.raises(RobotFileError, match=fault):
        find_roles(model, srdf=file)
    file.rename(tmp_path / "robot.srdf")  # found by itself: the robot can still be used
    (note,) = find_roles(model).notes
    assert note.startswith("left out: ")


def test_a_roles_file_wins_for_the_parts_it_has(tmp_path):
    model = robot(tmp_path, *arm(*fingers('<mimic joint="open"/>')))
    found = find_roles(model)
    file = tmp_path / "robot.roles.toml"
    file.write_text('base = "planar"\ngrippers = []\narms = []\n[home]\nj1 = 0.25\n')
    roles = find_roles(model)
    assert roles.base.kind is BaseKind.PLANAR and roles.base.source is RoleSource.FILE
    assert roles.grippers == () and roles.home["j1"] == 0.25
    file.write_text(roles_toml(found))
    again = find_roles(model)
    assert again == found and again.gripper().source is RoleSource.FILE
    file.unlink()
    assert find_roles(model) == found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('base = "flying"', r"toml:1: .*unknown kind 'flying'"),
        ("[home]\nj1 = 0\nj7 = 1", r"toml:3: unknown independent joint 'j7'"),
        ("[home]\nother = 1", r"toml:2: unknown independent joint 'other'"),
        ('[[legs]]\nname = "a"\njoints = ["j1"]\nfoot = "toe"', r"toml:4: unknown link 'toe'"),
        ("whels = []", r"toml:1: unknown part 'whels'"),
        ('[[arms]]\nname = "a"', "missing required field"),
        ("base = \n[home]", "toml'?: .*line 1"),
        ("[home]\nj1 = inf", "not a finite number"),
    ],
)
def test_faults_of_a_roles_file_have_their_line(tmp_path, text, fault):
    model = robot(tmp_path, *arm(*fingers('<mimic joint="open"/>')))
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(KinetariumError, match=fault) as caught:
        find_roles(model, roles=file)
    assert "\n" not in str(caught.value)
    with pytest.raises(KinetariumError, match="cannot read"):
        find_roles(model, roles=tmp_path)


MJCF = """\
<mujoco model="robot">
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="a"><joint name="j1"/><geom size="0.05" pos="0 0 0.2"/>
        <body name="b" pos="0 0 0.3"><joint name="j2" axis="0 1 0"/><geom size="0.05"/>
          <body name="c" pos="0 0 0.3"><joint name="j3" axis="0 1 0"/><geom size="0.05"/>
            <body name="d" pos="0 0 0.3"><joint name="j4"/><geom size="0.05"/>
              <site name="attachment_site" pos="0 0 0.1"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="j2"/></actuator>
  <keyframe>
    <key name="zero" qpos="0 0 1 1 0 0 0 0 0 0 0"/>
    <key name="home" qpos="0 0 1 1 0 0 0 0.1 0.2 0.3 0.4"/>
    <key name="of_another_robot" qpos="0 0"/>
  </keyframe>
</mujoco>
"""


def test_a_robot_that_hangs_from_the_world_is_fixed_although_its_limbs_look_like_legs(tmp_path):
    limb = """<body name="u{0}" pos="{1} 0 0"><joint name="h{0}" axis="0 1 0" range="-1 1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.5"/>
      <body name="f{0}" pos="0 0 -0.3"><joint name="k{0}" axis="0 1 0" range="-1 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.3"/></body></body>"""
    text = """<mujoco model="hung"><compiler angle="radian"/><worldbody>
      <body name="plate" pos="0 0 {2}">{0}<geom type="box" size="0.2 0.2 0.02" mass="5"/>{1}</body>
      </worldbody></mujoco>"""
    limbs = limb.format(1, 0.15) + limb.format(2, -0.15)
    file = tmp_path / "hung.xml"
    for free, kind, height in (("", "fixed", 0.8), ("", "fixed", 0), ("<freejoint/>", "free", 0.8)):
        file.write_text(text.format(free, limbs, height))
        assert str(find_roles(load_robot(file)).base) == f"{kind} base (mjcf)"


def test_mjcf_states_drives_poses_and_sites(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(MJCF)
    model = load_robot(file)
    assert model.declared.driven == ("j2",)
    assert set(model.declared.poses) == {"zero", "home"}
    roles = find_roles(model)
    assert roles.home == {"j1": 0.1, "j2": 0.2, "j3": 0.3, "j4": 0.4}
    assert (roles.home_source, roles.base.source) == (RoleSource.MJCF, RoleSource.MJCF)
    assert (roles.arm().tool, roles.arm().xyz) == ("d", (0, 0, pytest.approx(0.1)))
    assert roles.arm().source is RoleSource.MJCF and roles.base.kind is BaseKind.FREE


@pytest.mark.parametrize(("quat", "upright"), [("0.6 0 0 0.8", True), ("0.98 0 0.17 0", False)])
def test_a_home_pose_is_that_of_an_upright_root(tmp_path, quat, upright):
    file = tmp_path / "robot.xml"
    file.write_text(
        MJCF.replace('name="home" qpos="0 0 1 1 0 0 0', f'name="home" qpos="0 0 1 {quat}')
    )
    model = load_robot(file)
    roles = find_roles(model)
    assert roles.home["j4"] == (0.4 if upright else 0.0)
    assert upright or model.declared.tilts["home"] == pytest.approx(2 * atan2(0.17, 0.98))
    note = "left out: keyframe 'home', whose root leans by 20 deg; home poses are upright"
    assert roles.notes == (() if upright else (note,))


def test_two_slides_and_a_turn_are_a_planar_base(tmp_path):
    parts = (
        link("world_frame"), link("px"), link("py"), *legged(3),
        joint("x", "world_frame", "px", kind="prismatic", axis="1 0 0"),
        joint("y", "px", "py", kind="prismatic", axis="0 1 0"),
        joint("turn", "py", "base", kind="continuous"),
    )  # fmt: skip
    assert find_roles(robot(tmp_path, *parts)).base.kind is BaseKind.PLANAR


def test_rollers_of_a_wheel_belong_to_it(tmp_path):
    rollers = "".join(
        link(f"roller_{side}") + joint(f"spin_{side}", f"back_{side}", f"roller_{side}",
                                       kind="continuous", xyz="0 0 0.05", axis="1 0 0")
        for side in "lr"
    )  # fmt: skip
    roles = find_roles(robot(tmp_path, *car(trail=0.03, extra=rollers)))
    assert len(roles.wheels) == 4 and not roles.arms and not roles.legs
