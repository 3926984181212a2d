"""Load a robot of the catalogue and ask for its dynamics."""

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
