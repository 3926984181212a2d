"""Load a robot of the catalogue and ask for its dynamics.

The picture is its mass matrix at zero: how strongly the acceleration of one joint loads another.
"""

import sys

import numpy as np

from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics

panda = load_robot("panda")
print(f"{panda.name}: {len(panda.links)} links, {panda.mass:.2f} kg, repairs: {len(panda.repairs)}")

dynamics = RobotDynamics(panda)
q = np.zeros(dynamics.nq)
M = dynamics.mass_matrix(q)
print("inertia about the first joint:", M[0, 0].round(3), "kg m^2")

assert not panda.repairs
assert np.all(np.linalg.eigvalsh(M) > 0)

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 3.4))
    image = axes.imshow(M[:7, :7], cmap="RdBu", vmin=-1, vmax=1)
    axes.set_title("Mass matrix of the Panda [kg m²]", fontsize=10)
    figure.colorbar(image)
    figure.savefig(sys.argv[1], dpi=80)
