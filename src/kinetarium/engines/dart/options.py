"""DartOptions: what DART lets a user choose, with defaults that are fair to compare."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DartOptions:
    """Settings of DART.

    Its constraint solver is direct (Dantzig's pivoting on a boxed linear
    complementarity problem) and has no iterations or tolerance to choose.

    Attributes:
        coupling_erp: Share of the violation of a coupling between joints given back per step [-].
            A coupling is a force from outside the solver and learns of contacts a step late: it
            is an integral control of the coupled joints alone, stable while this share is below
            their inertia over that of what they hold. At 0.01 fingers may hold a hundred times
            their own mass; at 0.2 those of the Panda (60 g) chatter with a cube of 1 kg.
    """

    coupling_erp: float = 0.01

    @classmethod
    def stock(cls) -> "DartOptions":
        """Return DART's defaults; it has no other options."""
        return cls()

    def with_iterations(self, n: int) -> "DartOptions":
        """Return the same: the solver is direct."""
        return self
