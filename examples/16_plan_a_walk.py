"""Plan a walk of a quadruped with pantograph legs along a path; see footprints and margin."""

import sys

from kinetarium.legs import WalkPlan, plan_walk

walk = plan_walk(WalkPlan(waypoints=((0, 0), (60, 20), (120, 0)), stride=16, sway=4))
print(f"{len(walk.steps)} leg steps in {walk.time[-1]:.0f} s, legs in the order {walk.order}")
print(f"static margin {walk.margin.min():.2f} to {walk.margin.max():.2f} units")
print(f"{len(walk.warnings)} warnings")
assert walk.margin.min() > 0

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    axes.plot(*walk.path.T, "k:", label="path of the body")
    axes.plot(*walk.com[:, :2].T, linewidth=1, label="centre of mass")
    for leg in range(4):
        down = walk.support[:, leg]
        axes.plot(*walk.feet[down, leg, :2].T, ".", markersize=5, label=f"foot {leg + 1}")
    axes.set(xlabel="x [unit]", ylabel="y [unit]", aspect="equal")
    axes.legend(fontsize=7, ncols=3, loc="lower center")
    figure.savefig(sys.argv[1], dpi=80)
