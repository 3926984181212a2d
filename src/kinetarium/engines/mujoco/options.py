"""MujocoOptions: what MuJoCo lets a user choose, with defaults that are fair to compare."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Integrator(StrEnum):
    """How velocities and positions advance; all but RK4 move positions by the new velocity."""

    EULER = "euler"
    """Implicit in the damping of joints only, not in that of servos."""
    RK4 = "rk4"
    """Runge-Kutta of fourth order, for motion without impacts."""
    IMPLICIT = "implicit"
    """Implicit in every force that depends on velocity, and in the position of servos."""
    IMPLICITFAST = "implicitfast"
    """As IMPLICIT, but for the Coriolis forces of articulated bodies."""
    DISCRETE = "discrete"
    """Implicit in positions too, servos and constraints solved as one."""


class Cone(StrEnum):
    """The shape of the friction cone."""

    ELLIPTIC = "elliptic"
    PYRAMIDAL = "pyramidal"


class Solver(StrEnum):
    """The constraint solver."""

    NEWTON = "newton"
    CG = "cg"
    PGS = "pgs"


@dataclass(frozen=True, slots=True)
class MujocoOptions:
    """Settings of MuJoCo.

    MuJoCo's constraints are soft: `solref` is the time constant [s] and the
    damping ratio [-] by which a violation fades, `solimp` the share of the
    constraint that is enforced, from its first to its second value [-] over a
    width [m or rad], with midpoint and power of the curve [-] (MuJoCo's manual,
    "Solver parameters"). A time constant below two time steps is raised to
    that by the engine; the audit says so.

    A contact of MuJoCo that slides is also lifted, the more the harder it is
    at its surface, and a hard one hops. By default contacts are therefore soft
    where they begin and hard in the depth: blocks and wheels slide smoothly
    with the friction they should have, at the price of resting half a
    millimetre deep. The damping ratio keeps impacts from rebounding.

    Attributes:
        integrator: How the state advances.
        cone: The friction cone.
        impratio: How much harder friction is than normal contact [-].
        solver: The constraint solver.
        iterations: Most iterations of the solver per step [-].
        tolerance: Improvement at which the solver stops [-].
        noslip_iterations: Iterations of the pass that removes creep [-].
        contact_solref: Of contacts and joint limits.
        contact_solimp: Of contacts.
        joint_solref: Of joint friction, couplings and loops.
        joint_solimp: Of those and of joint limits; near one, or friction creeps and loops yield.
    """

    integrator: Integrator = Integrator.IMPLICITFAST
    cone: Cone = Cone.ELLIPTIC
    impratio: float = 100.0
    solver: Solver = Solver.NEWTON
    iterations: int = 100
    tolerance: float = 1e-10
    noslip_iterations: int = 0
    contact_solref: tuple[float, float] = (0.002, 4.0)
    contact_solimp: tuple[float, float, float, float, float] = (0.001, 0.99, 0.001, 0.5, 2.0)
    joint_solref: tuple[float, float] = (0.002, 1.0)
    joint_solimp: tuple[float, float, float, float, float] = (0.9999, 0.9999, 0.001, 0.5, 2.0)

    @classmethod
    def stock(cls) -> "MujocoOptions":
        """Return MuJoCo's defaults."""
        return cls(
            integrator=Integrator.EULER,
            cone=Cone.PYRAMIDAL,
            impratio=1.0,
            tolerance=1e-8,
            contact_solref=(0.02, 1.0),
            contact_solimp=(0.9, 0.95, 0.001, 0.5, 2.0),
            joint_solref=(0.02, 1.0),
            joint_solimp=(0.9, 0.95, 0.001, 0.5, 2.0),
        )

    def with_iterations(self, n: int) -> "MujocoOptions":
        """Return a copy with other most iterations of the solver; the same for 0."""
        return replace(self, iterations=n) if n else self
