"""ContactProbe: how one solid touches another."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kinetarium.engines.protocol import Simulation
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True)
class ContactProbe:
    """Reads normal force, depth and number of the contacts between two solids.

    Attributes:
        solid: One of them; the channel is named after it.
        other: The other.
    """

    solid: str
    other: str

    unit: ClassVar[str] = "N, m, 1"
    columns: ClassVar[tuple[str, ...]] = ("force", "depth", "number")

    @property
    def name(self) -> str:
        """Name of the channel."""
        return f"contact/{self.solid}"

    def read(self, simulation: Simulation) -> Array:
        """Give the sum of the normal forces [N], the greatest depth [m] and the number."""
        solids = simulation.layout.solids
        pair = {solids.index(self.solid), solids.index(self.other)}
        contacts = simulation.contacts()
        ours = [i for i, (a, b) in enumerate(contacts.solids.tolist()) if {a, b} == pair]
        force = np.vecdot(contacts.forces[ours], contacts.normals[ours]).sum()
        depth = contacts.depths[ours].max(initial=0.0)
        return np.array([force, depth, len(ours)])
