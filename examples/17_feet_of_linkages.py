"""Turn the cranks of Jansen's and Klann's legs, and see the curves of their feet."""

import sys

import numpy as np

from kinetarium.legs import JANSEN, KLANN

angles = np.linspace(0, 2 * np.pi, 361)
curves = {}
for name, linkage in (("Jansen", JANSEN), ("Klann", KLANN)):
    curves[name] = linkage.points(angles)[linkage.foot]
    error, stance = linkage.closure(angles), linkage.stance
    print(f"{name}: bars keep their length to {error:.0e}, stance of {stance.length:.0f} units")
    assert error < 1e-12

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
    for axes, (name, linkage) in zip(both, (("Jansen", JANSEN), ("Klann", KLANN)), strict=True):
        points = linkage.points(np.array([0.6]))
        at = {**{key: value[0] for key, value in points.items()}, **linkage.fixed}
        for first, second in linkage.bars:
            axes.plot(*np.array([at[first], at[second]]).T, "o-", color="#888", markersize=3)
        axes.plot(*curves[name].T, color="#c0504d")
        axes.set(title=name, aspect="equal")
    figure.savefig(sys.argv[1], dpi=80)
