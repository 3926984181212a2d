"""Set boxes sliding in every direction: is friction a cone or a pyramid?"""

import sys
from collections import defaultdict

import numpy as np

from kinetarium import run_study

angles = [0, 15, 30, 45, 60, 75, 90]
result = run_study(
    "slide", engine=["mujoco", "ode", "physx"], profile=["matched"], angle=angles, speed=[1.0],
    starts=1, workers=0,
)  # fmt: skip
ratios = defaultdict(list)
for row in result.rows:
    ratios[row["engine"]].append(row["deceleration_ratio"])
for engine, found in ratios.items():
    print(f"{engine:8} brakes with {min(found):.3f} to {max(found):.3f} of Coulomb's friction")
assert abs(max(ratios["ode"]) - np.sqrt(2)) < 0.01  # the diagonal of a pyramid
assert abs(max(ratios["physx"]) - 1) < 0.01

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(4.4, 3.8), layout="constrained")
    axes = figure.add_subplot(projection="polar")
    around = np.radians([quarter + a for quarter in (0, 90, 180, 270) for a in angles])
    for engine, found in ratios.items():
        axes.plot(around, np.tile(found, 4), label=engine)  # a quarter, and its repetitions
    axes.set_rmax(1.5)
    axes.legend(fontsize=8, loc="lower left")
    axes.set_title("Deceleration over friction times gravity, by direction", fontsize=10)
    figure.savefig(sys.argv[1], dpi=80)
