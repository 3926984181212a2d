"""Read a robot file with three faults: all of them are named, with line and remedy."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from kinetarium import RobotFileError, load_robot

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <mass value="-2"/>
      <inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 0 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
  <joint name="elbow" type="revolut">
    <parent link="upper"/>
    <child link="fore"/>
  </joint>
</robot>
"""

with TemporaryDirectory() as place:
    file = Path(place) / "arm.urdf"
    file.write_text(URDF)
    try:
        load_robot(file)
    except RobotFileError as error:
        refusals = error.refusals
for each in refusals:
    print(f"line {each.line}: {each.message} [{each.code.value}]")
assert len(refusals) >= 3

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    bad = {each.line: each.code.value for each in refusals}
    figure = plt.figure(figsize=(6, 3.6))
    for number, line in enumerate(URDF.splitlines(), start=1):
        color = "#c0504d" if number in bad else "#333"
        text = f"{number:2} {line}" + (f"   <- {bad[number]}" if number in bad else "")
        figure.text(0.02, 1 - number / 21, text, family="monospace", fontsize=8, color=color)
    figure.savefig(sys.argv[1], dpi=80)
