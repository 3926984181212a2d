"""How late may a force sensor be? The critical delay of admittance control, in closed form."""

import sys

import numpy as np

from kinetarium.control import critical_delay

STIFFNESS = np.geomspace(1e3, 1e6, 61)  # of the contact [N/m]
loops = {"heavy: D = 300, K = 200": (300.0, 200.0), "light: D = 30, K = 200": (30.0, 200.0)}
delays = {
    name: [critical_delay(D, K, s=0.5, stiffness=k, damping=2000.0) for k in STIFFNESS]
    for name, (D, K) in loops.items()
}
for name, found in delays.items():
    print(f"{name}: {1000 * found[0]:.0f} ms at 1e3 N/m, {1000 * found[-1]:.1f} ms at 1e6 N/m")
    assert np.all(np.diff(found) < 0)  # the stiffer the contact, the shorter

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    for name, found in delays.items():
        axes.loglog(STIFFNESS, 1000 * np.array(found), label=name)
    axes.axhline(14, color="k", linestyle=":")
    axes.set(xlabel="stiffness of the contact [N/m]", ylabel="critical delay [ms]")
    axes.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=80)
