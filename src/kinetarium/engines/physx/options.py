"""PhysxOptions: what PhysX lets a user choose, with defaults that are fair to compare."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Solver(StrEnum):
    """The constraint solver; both move positions by the new velocity."""

    PGS = "pgs"
    """Projected Gauss-Seidel over the whole time step."""
    TGS = "tgs"
    """Temporal Gauss-Seidel: each position iteration is a small step of its own. It loses some
    of the damping and friction of joints that have a servo too."""


NAME = "physx"


@dataclass(frozen=True, slots=True)
class PhysxOptions:
    """Settings of PhysX.

    Attributes:
        solver: The constraint solver.
        position_iterations: Iterations that also correct positions [-].
        velocity_iterations: Iterations after them on velocities alone [-].
        friction_every_iteration: Whether friction is solved in every iteration, not in the
            last three only.
        persistent_contacts: Whether contact points are kept from step to step where they still
            hold, instead of being searched again.
        contact_offset: Gap from which on a contact is looked after [m]. PGS slows down what
            would cross the gap within a step; of a bounce it may so take up to a fifth.
        bounce_threshold: Speed of approach under which nothing bounces [m/s].
    """

    solver: Solver = Solver.PGS
    position_iterations: int = 10
    velocity_iterations: int = 1
    friction_every_iteration: bool = True
    persistent_contacts: bool = True
    contact_offset: float = 0.01
    bounce_threshold: float = 0.1

    @classmethod
    def stock(cls) -> "PhysxOptions":
        """Return the defaults of PhysX in SAPIEN."""
        return cls(solver=Solver.TGS, bounce_threshold=2.0)

    def with_iterations(self, n: int) -> "PhysxOptions":
        """Return a copy with other iterations on positions; the same for 0."""
        return replace(self, position_iterations=n) if n else self
