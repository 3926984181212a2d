"""EngineDrake: scenes compiled into Drake simulations."""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinetarium.engines.base.engine import EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.drake.options import FRICTION_RULE, DrakeOptions
from kinetarium.engines.protocol import Capability, RobotAsRead


class EngineDrake(EngineBase[DrakeOptions]):
    """Drake, as a multibody plant in discrete time.

    Its contacts dissipate, and do not return a share of an impact that could
    be chosen. Nothing is drawn at random.
    """

    name = "drake"
    title = "Drake"
    package = "drake"
    capabilities = frozenset({
        Capability.JOINTS, Capability.CONTACT, Capability.MESHES, Capability.CONTACT_FORCES,
        Capability.FRICTION_FORCES, Capability.JOINT_WRENCH, Capability.EXTERNAL_WRENCH,
        Capability.SPRINGS,
        Capability.MIMIC, Capability.CLOSED_LOOPS, Capability.FREE_BASE, Capability.SAVE_RESTORE,
        Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS, Capability.DETERMINISM,
        Capability.MASS_RATIOS,
    })  # fmt: skip
    friction_rule = FRICTION_RULE
    options = DrakeOptions

    def _version(self) -> str:
        if find_spec("pydrake") is None:
            raise ImportError("No module named 'pydrake'")
        return version("drake")

    def read_robot(self, file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
        """Read a robot file by Drake's own parser."""
        from kinetarium.engines.drake.library import read_robot

        return read_robot(file, packages=packages)

    def _build(self, setup: Setup[DrakeOptions]) -> SimulationBase[Any]:
        # The library takes half a second to load and is not everywhere.
        from kinetarium.engines.drake.simulation import DrakeSimulation

        return DrakeSimulation(setup)
