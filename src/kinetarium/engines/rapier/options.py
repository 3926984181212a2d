"""RapierOptions: what Rapier leaves to the user, with defaults that are fair to compare."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from kinetarium.errors import KinetariumError


class FreeBodies(StrEnum):
    """What a free body is in Rapier."""

    MULTIBODY = "multibody"
    """A multibody of one link with six degrees of freedom. Every contact point has a cone of
    friction, whose force is reported."""
    RIGID_BODY = "rigid-body"
    """A rigid body, two to three times as fast. Up to four contact points share one cone, and
    where no robot is touched, contact forces lack the friction, which Rapier keeps to itself. (Its
    other law for rigid bodies, a cone at every point, holds a sliding box with 6 % too little.)"""


@dataclass(frozen=True, slots=True)
class RapierOptions:
    """Settings of Rapier.

    Attributes:
        free_bodies: What a free body is.
        substeps: Small steps of a time step [-].
        iterations: Sweeps of the solver in each of them, before positions move [-].
        relaxations: Sweeps after positions have moved, which take back the speed that corrections
            of depth have added [-].
        contact_frequency: Natural frequency of contacts [Hz]; at most one period per time step.
        static_contact_frequency: The same where one of the two does not move [Hz].
        contact_damping: Damping ratio of contacts [-].
        corrective_speed: Highest speed at which contacts correct depth [m/s].
        prediction_distance: Gap from which on a contact is looked after [m].
        contact_recycling: Whether contact points are kept while bodies move less than 5 cm.
    """

    free_bodies: FreeBodies = FreeBodies.MULTIBODY
    substeps: int = 1
    iterations: int = 30
    relaxations: int = 5
    contact_frequency: float = 1000.0
    static_contact_frequency: float = 1000.0
    contact_damping: float = 5.0
    corrective_speed: float = 3.0
    prediction_distance: float = 0.002
    contact_recycling: bool = False

    def __post_init__(self) -> None:
        """Refuse values at which Rapier panics, or which it interprets differently."""
        sound = {
            "substeps": self.substeps >= 1,
            "iterations": self.iterations >= 1,
            "relaxations": self.relaxations >= 0,
            "contact_frequency": 0 < self.contact_frequency < inf,
            "static_contact_frequency": 0 < self.static_contact_frequency < inf,
            "contact_damping": 0 < self.contact_damping < inf,
            "corrective_speed": 0 <= self.corrective_speed < inf,
            "prediction_distance": 0 <= self.prediction_distance < inf,
        }
        for name, good in sound.items():
            if not good:
                value = getattr(self, name)
                raise KinetariumError(f"option {name} of engine 'rapier' cannot be {value}")

    @classmethod
    def stock(cls) -> "RapierOptions":
        """Return Rapier's defaults."""
        return cls(
            free_bodies=FreeBodies.RIGID_BODY,
            substeps=4,
            iterations=1,
            relaxations=1,
            contact_frequency=30.0,
            static_contact_frequency=60.0,
            contact_damping=10.0,
            prediction_distance=0.02,
            contact_recycling=True,
        )

    def with_iterations(self, n: int) -> "RapierOptions":
        """Return a copy with n sweeps before positions move; the same for 0."""
        return replace(self, iterations=n) if n else self
