"""Plan the way of a mobile manipulator to a table, around a crate."""

import sys
from math import pi

from kinetarium import load_robot
from kinetarium.model import Box, Geometry
from kinetarium.plan import plan_base_path, planning_robot, time_base_path
from kinetarium.reach import Obstacles
from kinetarium.spatial import pose

robot = planning_robot(load_robot("scout-panda"), tool="panda_hand_tcp")
table, crate = ((1.5, 0.0, 0.6, 1.2), (-0.7, 0.2, 0.3, 0.3))  # x, y, length, width [m]
world = Obstacles(
    (
        Geometry(Box((*table[2:], 0.04)), pose((*table[:2], 0.68))),
        Geometry(Box((*crate[2:], 0.5)), pose((*crate[:2], 0.25))),
    ),
    ground=True,
)
drive = plan_base_path(
    robot, world, start=(-2.0, 0.5, pi), goal=(0.6, 0.0, 0.0), height=0.235,
    posture=robot.chain.held[robot.chain.coordinates], steered=(0.064, 0.0, 0.0),
)  # fmt: skip
for leg in drive.legs:
    print(f"turn {leg.turn:+.2f} rad" if leg.turn else f"drive {leg.length:+.2f} m")
print(f"{time_base_path(drive).duration:.1f} s")
assert drive.found and abs(drive.poses[-1, :2] - (0.6, 0.0)).max() < 1e-6

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for x, y, length, width in (table, crate):
        corner = (x - length / 2, y - width / 2)
        axes.add_patch(plt.Rectangle(corner, length, width, color="#c9b68a"))
    axes.plot(*drive.poses[:, :2].T, "o-", color="#4a6fa5")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.set_title("Turns and straight legs, checked with the whole robot", fontsize=10)
    figure.savefig(sys.argv[1], dpi=80)
