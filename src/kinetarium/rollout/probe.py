"""Probe: a quantity that a recording keeps beside the state."""

from collections.abc import Sequence
from typing import Protocol

from kinetarium.engines.protocol import Simulation
from kinetarium.spatial.arrays import Array


class Probe(Protocol):
    """Reads one quantity off a simulation, as of the last step."""

    @property
    def name(self) -> str:
        """Name of its channel."""

    @property
    def unit(self) -> str:
        """Unit of its values."""

    @property
    def columns(self) -> Sequence[str]:
        """What its values are, in order."""

    def read(self, simulation: Simulation) -> Array:
        """Give the values, shape (len(columns),)."""
