"""EngineMujoco: scenes compiled into MuJoCo simulations."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinetarium.engines.base.engine import ALLOW_FAULTY, EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.mujoco.options import Integrator, MujocoOptions
from kinetarium.engines.protocol import Capability, CapabilityError, FrictionRule, RobotAsRead

_FAULTY = {
    "4.0.0": "its sparse Cholesky factorisation gives the Newton solver a wrong Hessian, hence"
    " wrong accelerations in contact (fixed in 4.0.1)",
}


class EngineMujoco(EngineBase[MujocoOptions]):
    """MuJoCo.

    An impact between materials of which one bounces returns the greater of
    their restitutions, but hardly rubs; contact that lasts has all its
    friction. Nothing is drawn at random.
    """

    name = "mujoco"
    title = "MuJoCo"
    package = "mujoco"
    capabilities = frozenset({
        Capability.JOINTS, Capability.CONTACT, Capability.MESHES, Capability.CONTACT_FORCES,
        Capability.FRICTION_FORCES, Capability.JOINT_WRENCH, Capability.EXTERNAL_WRENCH,
        Capability.SPRINGS,
        Capability.MIMIC, Capability.CLOSED_LOOPS, Capability.FREE_BASE, Capability.SAVE_RESTORE,
        Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS, Capability.DETERMINISM,
        Capability.RESTITUTION, Capability.SPINNING_FRICTION, Capability.ROLLING_FRICTION,
        Capability.SOLVER_REPORT, Capability.MASS_RATIOS,
    })  # fmt: skip
    friction_rule = FrictionRule.MAXIMUM
    options = MujocoOptions
    open_loop_threads = True
    """Its simulations have `open_loop_batch`."""

    def _version(self) -> str:
        import mujoco

        version = str(mujoco.__version__)
        if version in _FAULTY and not os.environ.get(ALLOW_FAULTY):
            raise ImportError(f"MuJoCo {version} is faulty: {_FAULTY[version]}")
        return version

    def read_robot(self, file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
        """Read a robot file by MuJoCo's own compiler."""
        from kinetarium.engines.mujoco.loader import read_robot

        return read_robot(file, packages=packages)

    def _build(self, setup: Setup[MujocoOptions]) -> SimulationBase[Any]:
        # The library takes a second to load and is not everywhere.
        from kinetarium.engines.mujoco.build import mujoco_model
        from kinetarium.engines.mujoco.simulation import MujocoSimulation

        self._version()  # or a faulty one would be used where no name was looked up
        integrator = setup.options.integrator
        if integrator in (Integrator.RK4, Integrator.DISCRETE) and setup.scene.bounces:
            raise CapabilityError(
                self.name,
                Capability.RESTITUTION,
                reason=f"the scene under the integrator {integrator}",
            )
        return MujocoSimulation(setup, model=mujoco_model(setup))
