"""OdeOptions: what ODE lets a user choose, with defaults that are fair to compare."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, isfinite

from kinetarium.engines.protocol import FrictionRule
from kinetarium.errors import KinetariumError

FRICTION_RULE = FrictionRule.GEOMETRIC_MEAN
"""How the friction of two surfaces combines; their restitution does likewise."""


class OdeSolver(StrEnum):
    """How ODE solves for the constraint forces of a step."""

    DIRECT = "direct"
    """dWorldStep: Dantzig's method on the whole matrix; exact, cubic in the number of contacts. A
    step that it finds no solution for, which is rare, is made by QUICK; the audit says so."""
    QUICK = "quick"
    """dWorldQuickStep: projected successive over-relaxation; noisy, and slow to converge where a
    light body carries a heavy one, such as a link that a sensor splits off."""


@dataclass(frozen=True, slots=True)
class OdeOptions:
    """Settings of ODE.

    Attributes:
        solver: How the constraint forces are found.
        iterations: Iterations of the QUICK solver per step [-].
        relaxation: Over-relaxation of the QUICK solver, in 0..2 [-].
        erp: Share of the error of joints and contacts that is given back per step [-].
        cfm: Compliance of joints, limits and bouncing contacts [m/(N s) and rad/(N m s)].
        contact_cfm: Compliance of contacts that do not bounce [m/(N s)]; at ODE's own 1e-10 a
            cube may stand on two of its four contacts.
        correcting_speed: Fastest that penetrating bodies are driven apart [m/s]; it is what two
            bodies that do not bounce part with after an impact.
        bounce_speed: Impacts slower than this do not bounce [m/s].

    Raises:
        KinetariumError: If a value is outside its range.
    """

    solver: OdeSolver = OdeSolver.DIRECT
    iterations: int = 200
    relaxation: float = 1.3
    erp: float = 0.2
    cfm: float = 1e-10
    contact_cfm: float = 1e-5
    correcting_speed: float = 0.01
    bounce_speed: float = 0.01

    def __post_init__(self) -> None:
        """Refuse what would make ODE fail without saying so."""
        sound = {
            "iterations": self.iterations >= 1,
            "relaxation": 0 < self.relaxation < 2,
            "erp": 0 <= self.erp <= 1,
            "cfm": 0 <= self.cfm < inf,
            "contact_cfm": 0 <= self.contact_cfm < inf,
            "correcting_speed": self.correcting_speed >= 0,
            "bounce_speed": self.bounce_speed >= 0 and isfinite(self.bounce_speed),
        }
        for name, good in sound.items():
            if not good:
                raise KinetariumError(
                    f"option {name} of engine 'ode' cannot be {getattr(self, name)}"
                )

    @classmethod
    def stock(cls) -> "OdeOptions":
        """Return ODE as programs commonly set it up: 20 quick iterations, hard contacts."""
        return cls(solver=OdeSolver.QUICK, iterations=20, contact_cfm=1e-10, correcting_speed=inf)

    def with_iterations(self, n: int) -> "OdeOptions":
        """Return a copy that takes the QUICK solver, which alone iterates; the same for 0."""
        return replace(self, solver=OdeSolver.QUICK, iterations=n) if n else self
