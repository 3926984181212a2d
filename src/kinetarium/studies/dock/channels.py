"""What a docking records beside the state: the controller's view and the true contact."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinetarium.engines.protocol import Simulation
from kinetarium.scene.docking import CHASER, SATELLITE, TARGET
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.controller import DockingController
from kinetarium.studies.dock.face_contact import FaceContact

COORDINATES = ("eta_x", "eta_y", "eta_z", "xi_x", "xi_y", "xi_z")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
WARNINGS = ("gate", "bounded", "half_turn", "singular", "joint_limit", "too_fast")


@dataclass(frozen=True)
class Watched:
    """A probe that reads something beside the simulation.

    Attributes:
        name: Name of its channel.
        unit: Unit of its values.
        columns: What they are.
        look: Gives them.
    """

    name: str
    unit: str
    columns: Sequence[str]
    look: Callable[[], Array]

    def read(self, simulation: Simulation) -> Array:
        """Give the values, shape (len(columns),)."""
        return self.look()


@dataclass(frozen=True)
class EngineContact:
    """A probe of the contacts that an engine finds between the satellites."""

    name: str = "contact"
    unit: str = "N, m"
    columns: tuple[str, ...] = ("force", "x", "y", "z")

    def read(self, simulation: Simulation) -> Array:
        """Give the normal force and the point at which all normal forces act as one."""
        solids = simulation.layout.solids
        pair = {solids.index(f"{robot}/{SATELLITE}") for robot in (CHASER, TARGET)}
        contacts = simulation.contacts()
        ours = [i for i, (a, b) in enumerate(contacts.solids.tolist()) if {a, b} == pair]
        forces = np.vecdot(contacts.forces[ours], contacts.normals[ours])
        total = float(forces.sum())
        point = forces @ contacts.points[ours] / total if total > 0 else np.full(3, np.nan)
        return np.array([total, *point])


def controller_channels(controller: DockingController) -> tuple[Watched, ...]:
    """Watch what the controller knew at its last tick."""
    return (
        Watched("error", "m, rad", COORDINATES, lambda: controller.error),
        Watched("impulse", "N s, N m s", WRENCH, lambda: controller.impulse),
        Watched("sensed", "N, N m", WRENCH, lambda: controller.sensed),
        Watched("desired", "N, N m", WRENCH, lambda: controller.desired),
        Watched("warnings", "1", WARNINGS, lambda: controller.warnings),
    )


def contact_channel(law: FaceContact) -> Watched:
    """Watch the prescribed contact."""
    return Watched(
        "contact", "N, m", EngineContact.columns, lambda: np.array([law.force, *law.point])
    )
