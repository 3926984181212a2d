"""One robot, the same commanded wheel speeds, two engines: drive an eight in open loop.

Both engines hold the same robot. What differs is the contact of wheels that skid sideways, and with
it how well the wheels follow their commands: in PhysX one of them sticks.
"""

import sys

import numpy as np

from kinetarium import run_study

result = run_study(
    "drive", robot=["husky4"], engine=["mujoco", "physx"], path=["eight"], control="open",
    starts=1, workers=0,
)  # fmt: skip
ways = {}
for row, recording in zip(result.rows, result.recordings, strict=True):
    ways[row["engine"]] = recording["poses"][:, 0, :2]
    print(f"{row['engine']:8} {row['status']}: ends {row['final_error_m']:.2f} m from its goal")
    assert row["status"] == "completed"
apart = np.linalg.norm(ways["mujoco"] - ways["physx"], axis=1).max()
print(f"the two are up to {apart:.2f} m apart")
assert apart > 0.1

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(8, 3.6), sharex=True, sharey=True,
                                layout="constrained")  # fmt: skip
    names = {"mujoco": "MuJoCo", "physx": "PhysX"}
    for axes, (engine, way) in zip(both, ways.items(), strict=True):
        for other in ways.values():
            axes.plot(*other.T, color="#d5dae0", linewidth=4)
        axes.plot(*way.T, color="#4a6fa5" if engine == "mujoco" else "#c0504d", linewidth=2)
        axes.plot(*way[0], "ko", markersize=5)
        axes.plot(*way[-1], "k>", markersize=9)
        axes.set(title=names[engine], xlabel="x [m]", aspect="equal")
    both[0].set_ylabel("y [m]")
    figure.suptitle("An eight in open loop: one robot, the same commanded wheel speeds")
    figure.savefig(sys.argv[1], dpi=90)
