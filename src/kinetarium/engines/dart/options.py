"""DartOptions: what DART lets a user choose, with defaults that are fair to compare."""

from dataclasses import dataclass

from kinetarium.errors import KinetariumError

CONTACT_CFM = 1e-5
"""DART's own regularisation of contacts [-]."""


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
        contact_cfm: Share by which a contact, and its friction, gives way under its own force [-].
            With A the velocity that a unit impulse gives the contact, a force F rests at a depth of
            contact_cfm A F h^2 / 0.01. Where a link on a curved way presses on a body that flies
            straight, their normals part by h^2 J'v / 2 in a step of length h; a contact that is
            less compliant than that, contact_cfm A F < J'v / 2, is lost. At DART's own 1e-5 the
            Panda's fingers (30 g) lose a box of 0.5 kg that they lift with 40 N at 0.1 m/s.

    Raises:
        KinetariumError: If a value is outside its range.
    """

    coupling_erp: float = 0.01
    contact_cfm: float = CONTACT_CFM

    def __post_init__(self) -> None:
        """Refuse what DART would replace without saying so."""
        if not 1e-9 <= self.contact_cfm <= 1.0:
            raise KinetariumError(
                f"option contact_cfm of engine 'dart' cannot be {self.contact_cfm}"
            )

    @classmethod
    def stock(cls) -> "DartOptions":
        """Return DART's defaults; it has no other options."""
        return cls()

    def with_iterations(self, n: int) -> "DartOptions":
        """Return the same: the solver is direct."""
        return self
