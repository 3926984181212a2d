"""The engines that the tests judge; Bullet has no wheel for Python 3.12 and newer."""

import sys

ENGINES = ["mujoco", "ode", "physx"]
WITH_MASS_MATRIX = ["mujoco"]
if sys.version_info < (3, 12):
    ENGINES.insert(1, "bullet")
    WITH_MASS_MATRIX.append("bullet")
