"""NewtonOptions: what Newton's MuJoCo solver lets a user choose, with defaults that compare."""

from dataclasses import dataclass, replace
from enum import StrEnum


class NewtonSolver(StrEnum):
    """Which of Newton's solvers, or implementations of one, advances the state."""

    MUJOCO_WARP = "mujoco-warp"
    """SolverMuJoCo with kernels of Warp, in single precision."""
    MUJOCO_C = "mujoco-c"
    """SolverMuJoCo with MuJoCo's C library; the state is in double precision, all else single."""


class NewtonIntegrator(StrEnum):
    """How velocities and positions advance; both move positions by the new velocity."""

    EULER = "euler"
    """Implicit in the damping of joints only, not in that of servos."""
    IMPLICITFAST = "implicitfast"
    """Implicit in every force that depends on velocity, but for Coriolis forces."""


class NewtonCone(StrEnum):
    """The shape of the friction cone."""

    ELLIPTIC = "elliptic"
    PYRAMIDAL = "pyramidal"


@dataclass(frozen=True, slots=True)
class NewtonOptions:
    """Settings of Newton, whose solver here is SolverMuJoCo: MuJoCo's equations.

    They mean what they mean in MuJoCo, and have the same defaults as its
    adapter. `solref` is the time constant [s] and the damping ratio [-] by which a
    violation of a constraint fades, `solimp` the share of the constraint that is
    enforced, from its first to its second value [-] over a width [m or rad], with
    midpoint and power of the curve [-] (MuJoCo's manual, "Solver parameters"). A
    time constant below two time steps is raised to that by the engine.

    Attributes:
        solver: What computes them.
        integrator: How the state advances.
        cone: The friction cone.
        impratio: How much harder friction is than normal contact [-].
        iterations: Most iterations of the constraint solver per step [-].
        line_search_iterations: Most steps of the line search in each of them [-].
        tolerance: Improvement at which the solver stops [-], just above what single precision
            resolves (6e-8). At mujoco-warp's own 1e-6 contact forces leave 3e-5 of the motion of
            a forest unexplained, here 8e-6; below 3e-8 it iterates on noise, and stacks drift.
        contact_solref: Of contacts and joint limits.
        contact_solimp: Of contacts.
        joint_solref: Of joint friction, couplings and loops.
        joint_solimp: Of those and of joint limits; near one, or friction creeps and loops yield.
    """

    solver: NewtonSolver = NewtonSolver.MUJOCO_WARP
    integrator: NewtonIntegrator = NewtonIntegrator.IMPLICITFAST
    cone: NewtonCone = NewtonCone.ELLIPTIC
    impratio: float = 100.0
    iterations: int = 100
    line_search_iterations: int = 50
    tolerance: float = 1e-7
    contact_solref: tuple[float, float] = (0.002, 4.0)
    contact_solimp: tuple[float, float, float, float, float] = (0.001, 0.99, 0.001, 0.5, 2.0)
    joint_solref: tuple[float, float] = (0.002, 1.0)
    joint_solimp: tuple[float, float, float, float, float] = (0.9999, 0.9999, 0.001, 0.5, 2.0)

    @classmethod
    def stock(cls) -> "NewtonOptions":
        """Return Newton's own defaults."""
        return cls(
            cone=NewtonCone.PYRAMIDAL,
            impratio=1.0,
            tolerance=1e-6,
            contact_solref=(0.02, 1.0),
            contact_solimp=(0.9, 0.95, 0.001, 0.5, 2.0),
            joint_solref=(0.02, 1.0),
            joint_solimp=(0.9, 0.95, 0.001, 0.5, 2.0),
        )

    def with_iterations(self, n: int) -> "NewtonOptions":
        """Return a copy with other most iterations of the solver; the same for 0."""
        return replace(self, iterations=n) if n else self
