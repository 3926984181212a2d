"""Try many commands in one call: how far and how straight does each drive?"""

import sys

import numpy as np

from kinetarium import run_many
from kinetarium.control import ConstantCommand
from kinetarium.scene import driving_ground

if __name__ == "__main__":  # processes may be started afresh
    pairs = [(left, right) for left in (2.0, 4.0, 6.0) for right in (2.0, 4.0, 6.0)]  # [rad/s]
    commands = [ConstantCommand(np.array([left, right] * 2)) for left, right in pairs]
    results = run_many(driving_ground("husky4"), commands, engine="mujoco", duration=1.0)
    ways = [result.recording["poses"][:, 0, :2] for result in results]
    for (left, right), way in zip(pairs, ways, strict=True):
        print(f"{left:.0f}, {right:.0f} rad/s: {way[-1, 0]:+.2f} m ahead, {way[-1, 1]:+.2f} m left")
    assert abs(ways[0][-1, 1]) < 0.01  # equal speeds drive straight
    assert ways[2][-1, 1] > 0.01 > -0.01 > ways[6][-1, 1]  # to the left, to the right

    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
        for pair, way in zip(pairs, ways, strict=True):
            axes.plot(*way.T, label="{:.0f}, {:.0f}".format(*pair))
        axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        axes.legend(fontsize=7, title="wheels [rad/s]", ncols=2, loc="lower left")
        figure.savefig(sys.argv[1], dpi=80)
