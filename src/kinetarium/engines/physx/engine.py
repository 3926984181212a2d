"""EnginePhysx: scenes compiled into PhysX simulations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinetarium.engines.base.engine import EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.physx.options import NAME, PhysxOptions
from kinetarium.engines.protocol import Capability, FrictionRule, Precision, RobotAsRead


class EnginePhysx(EngineBase[PhysxOptions]):
    """PhysX 5 on the processor, through SAPIEN and without graphics.

    Robots are articulations in reduced coordinates; SAPIEN hands out neither
    mass matrix nor inverse dynamics. An impact returns the mean of the two
    restitutions. Nothing is drawn at random. A mimic joint that follows one
    across joints of other axes is refused.
    """

    name = NAME
    title = "PhysX"
    package = "sapien"
    capabilities = frozenset({
        Capability.JOINTS, Capability.CONTACT, Capability.MESHES, Capability.CONTACT_FORCES,
        Capability.JOINT_WRENCH,
        Capability.EXTERNAL_WRENCH, Capability.MIMIC, Capability.CLOSED_LOOPS, Capability.FREE_BASE,
        Capability.SPRINGS,
        Capability.SAVE_RESTORE, Capability.DETERMINISM, Capability.RESTITUTION,
        Capability.MASS_RATIOS,
    })  # fmt: skip
    friction_rule = FrictionRule.AVERAGE
    precision = Precision.SINGLE
    unexplained = 0.15
    unexplained_reason = (
        "after a step PhysX turns the velocities so that momentum holds where the bodies "
        "are then: an error of first order"
    )
    options = PhysxOptions

    def _version(self) -> str:
        from kinetarium.engines.physx.library import physx, sapien

        return f"{physx.version()}, SAPIEN {sapien.__version__}"

    def read_robot(self, file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
        """Read a URDF file by SAPIEN's own loader."""
        from kinetarium.engines.physx.library import read_robot

        return read_robot(file, packages=packages)

    def _build(self, setup: Setup[PhysxOptions]) -> SimulationBase[Any]:
        # The library takes a second to load and is not everywhere.
        from kinetarium.engines.physx.simulation import PhysxSimulation

        return PhysxSimulation(setup)
