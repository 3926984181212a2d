"""Sweep a study over a grid and look at the table: which setting matters?"""

import sys

import numpy as np

from kinetarium import sweep

plan = {
    "study": "drop",
    "config": {"engine": ["mujoco"], "height": 0.05, "duration": 0.4},
    "grid": {"timestep": [0.0005, 0.001, 0.002, 0.004], "mass": [0.1, 10.0]},
}
result = sweep(plan, workers=0)
errors = {}
for row in result.rows:
    errors[row["mass"], row["timestep"]] = 1000 * row["fall_error_m"]
    print(f"{row['mass']:5} kg, step {1000 * row['timestep']:.1f} ms: "
          f"off by {1000 * row['fall_error_m']:.3f} mm")  # fmt: skip

steps = sorted({step for _, step in errors})
light = np.array([errors[0.1, step] for step in steps])
assert np.all(np.diff(light) > 0)  # the error of semi-implicit Euler grows with the step
assert np.allclose(light, [errors[10.0, step] for step in steps], rtol=1e-6)  # mass does not matter

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 2.8), layout="constrained")
    axes.loglog(np.array(steps) * 1000, light, "o-", label="simulated")
    fall = np.sqrt(2 * 0.05 / 9.81)
    axes.loglog(np.array(steps) * 1000, 9.81 * np.array(steps) * fall / 2 * 1000, "k:",
                label="g t dt / 2")  # fmt: skip
    axes.set(xlabel="time step [ms]", ylabel="error of the fall [mm]")
    axes.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=80)
