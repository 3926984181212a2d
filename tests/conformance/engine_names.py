"""The engines that the tests judge; some have no wheel for Python 3.12 and newer."""

import sys

ENGINES = ["mujoco", "ode", "physx"]
WITH_MASS_MATRIX = ["mujoco"]
if sys.version_info < (3, 12):
    ENGINES += ["bullet", "dart", "drake"]
    WITH_MASS_MATRIX += ["bullet", "dart", "drake"]
