"""pick with robots that are not of the catalogue: their parts are found, nothing is named."""

from importlib.resources import files
from pathlib import Path

import pytest

from kinetarium.studies.pick.config import Config, cases
from kinetarium.studies.pick.robot import open_picker
from kinetarium.studies.pick.run import run
from kinetarium.studies.pick.score import score

pytestmark = pytest.mark.engine
SCENE = """start = { x = 0.0, y = -1.5, yaw = 60 }
[[tables]]
[[objects]]
x = 0.1
y = -0.2
yaw = 25
"""
TROLLEY = """<robot name="trolley" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <link name="trolley">
    <inertial><origin xyz="0 0 0.2"/><mass value="80"/>
      <inertia ixx="2" iyy="3.5" izz="4.5" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.7 0.5 0.24"/></geometry></collision>
  </link>
  <xacro:macro name="wheel" params="name y">
    <link name="${name}_wheel">
      <inertial><mass value="2"/>
        <inertia ixx="0.006" iyy="0.01" izz="0.006" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin rpy="${pi / 2} 0 0"/>
        <geometry><cylinder radius="0.1" length="0.04"/></geometry></collision>
    </link>
    <joint name="${name}_wheel_joint" type="continuous">
      <parent link="trolley"/><child link="${name}_wheel"/>
      <origin xyz="0 ${y} 0.1"/><axis xyz="0 1 0"/><limit effort="20" velocity="10"/>
    </joint>
  </xacro:macro>
  <xacro:wheel name="left" y="0.28"/>
  <xacro:wheel name="right" y="-0.28"/>
  <xacro:macro name="slide" params="name x y">
    <link name="${name}_slide">
      <inertial><mass value="0.5"/>
        <inertia ixx="5e-4" iyy="5e-4" izz="5e-4" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><sphere radius="0.04"/></geometry></collision>
    </link>
    <joint name="${name}_slide_joint" type="fixed">
      <parent link="trolley"/><child link="${name}_slide"/><origin xyz="${x} ${y} 0.04"/>
    </joint>
  </xacro:macro>
  <xacro:slide name="front_left" x="0.3" y="0.2"/>
  <xacro:slide name="front_right" x="0.3" y="-0.2"/>
  <xacro:slide name="rear_left" x="-0.3" y="0.2"/>
  <xacro:slide name="rear_right" x="-0.3" y="-0.2"/>
  <xacro:include filename="panda.urdf"/>
  <joint name="mount" type="fixed">
    <parent link="trolley"/><child link="panda_link0"/><origin xyz="0.15 0 0.32"/>
  </joint>
</robot>
"""
"""Two driven wheels and four slides, with an arm."""
FOLDED = """[home]
panda_joint2 = -0.785
panda_joint4 = -2.356
panda_joint6 = 1.571
panda_joint7 = 0.785
"""
TIAGO = Path(__file__).parents[2] / "examples" / "23_tiago_with_jaws.urdf.xacro"


def picks(robot: Path, folder: Path) -> None:
    """Check that a robot picks an object in MuJoCo."""
    scene = folder / "near.toml"
    scene.write_text(SCENE)
    [case] = cases(Config(robot=str(robot), engine=("mujoco",), scene=(str(scene),)))
    [row] = score(case, run(case))
    assert row["success"], (row["cause"], row["reason"])
    assert row["stop_error_mm"] < 10 and row["stop_error_deg"] < 0.5
    assert row["slip_mm"] < 1 and row["grip_law"] and row["touches"] == 0


def test_an_arm_on_a_trolley_of_two_wheels_and_slides_picks(tmp_path: Path) -> None:
    robot = tmp_path / "trolley.urdf.xacro"
    robot.write_text(TROLLEY)
    arm = files("kinetarium") / "robots" / "panda.urdf"
    (tmp_path / "panda.urdf").write_text(arm.read_text())
    (tmp_path / "trolley.roles.toml").write_text(FOLDED)
    picks(robot, tmp_path)


@pytest.mark.slow
def test_tiago_with_jaws_picks(tmp_path: Path) -> None:
    """Its map, for torso and arm, is computed without a closed form."""
    [case] = cases(Config(robot=str(TIAGO), engine=("mujoco",), scenes=1))
    assert open_picker(case.robot, case.reading, case.sha256).arm.joints[0] == "torso_lift_joint"
    picks(TIAGO, tmp_path)
