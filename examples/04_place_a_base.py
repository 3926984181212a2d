"""Map what an arm reaches, and find the best base for a few poses."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kinetarium import load_robot
from kinetarium.reach import build_map, place_base, solve_ik
from kinetarium.spatial import pose

panda = load_robot("panda")
down = np.diag([1.0, -1.0, -1.0])
poses = np.array([pose((x, 0.4, 0.3), down) for x in (-0.3, 0.0, 0.3)])
with TemporaryDirectory() as place:
    # A coarse map that is made in a second; leave voxel and poses out for a fine one.
    coarse = build_map(panda, Path(place) / "panda.rmap", voxel=0.125, poses=3, workers=2)
    placement = place_base(coarse, poses)
x, y, z = placement.X_WB[:3, 3]
print(f"base at {x:.2f}, {y:.2f} m, yaw {placement.yaw:.2f} rad: {placement.reached.sum()} of 3")

seen_from_base = np.linalg.inv(placement.X_WB) @ poses
assert placement.reached.all() and z == 0
assert solve_ik(panda, seen_from_base).found.all()

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 3.6), layout="constrained")
    axes.add_patch(plt.Circle((x, y), 0.855, fill=False, linestyle=":", label="reach of the arm"))
    axes.plot(*poses[:, :2, 3].T, "o", label="tool poses")
    axes.plot(x, y, "s", markersize=9, label="base")
    axes.plot([x, x + 0.2 * np.cos(placement.yaw)], [y, y + 0.2 * np.sin(placement.yaw)], "k")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.set_title("The base that reaches all poses", fontsize=10)
    axes.legend(fontsize=7, loc="lower left")
    figure.savefig(sys.argv[1], dpi=80)
