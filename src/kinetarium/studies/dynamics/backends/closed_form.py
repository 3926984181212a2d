"""ClosedFormBackend: the two-link arm by the formulas of a textbook."""

import numpy as np

from kinetarium.dynamics import TwoLink
from kinetarium.engines.audit import Audit
from kinetarium.model.catalogue import load_catalogue_robot
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends.backend import model_audit, terms_of
from kinetarium.studies.dynamics.differences.model import model_differences
from kinetarium.studies.dynamics.finding import Cause, Severity
from kinetarium.studies.dynamics.integration import semi_implicit_euler
from kinetarium.studies.dynamics.override import GRAVITY
from kinetarium.studies.dynamics.states import States
from kinetarium.studies.dynamics.terms import Terms

CLOSED_FORM = "closed-form"


def has_closed_form(model: RobotModel) -> bool:
    """Say whether a robot is the two-link arm of the catalogue, wherever it was read from."""
    differences = model_differences(load_catalogue_robot("two-link"), model).differences
    return all(
        each.severity is Severity.NOTE and each.cause is not Cause.NAMES for each in differences
    )


class ClosedFormBackend:
    """The two-link arm, from numbers of its own: nothing is read from the model."""

    name = CLOSED_FORM
    joints: tuple[str, ...] = ("shoulder", "elbow")
    tolerance = 1e-12

    def __init__(self, model: RobotModel) -> None:
        """Take the arm.

        Args:
            model: The two-link arm, which is all that an audit can show.
        """
        self._model, self._arm = model, TwoLink()

    def audit(self) -> Audit:
        """Describe the robot as it was given; the formulas have no links to read back."""
        return model_audit(self._model, GRAVITY)

    def terms(self, states: States) -> Terms:
        """Give all terms."""
        return terms_of(self, states)

    def mass_matrix(self, q: Array) -> Array:
        """Give M, shape (n, 2, 2)."""
        return np.array([self._arm.mass_matrix(each) for each in q]).reshape(-1, 2, 2)

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Give tau, shape (n, 2)."""
        tau = [self._arm.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)]
        return np.array(tau).reshape(-1, 2)

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Give M^-1 (tau - c - g), shape (n, 2)."""
        a = [self._accelerate(*state) for state in zip(q, v, tau, strict=True)]
        return np.array(a).reshape(-1, 2)

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Let the arm go from rest."""
        return semi_implicit_euler(
            lambda q, v: self._accelerate(q, v, np.zeros(2)),
            np.array([start[name] for name in self.joints]),
            timestep=timestep,
            steps=steps,
        )

    def close(self) -> None:
        """Do nothing."""

    def _accelerate(self, q: Array, v: Array, tau: Array) -> Array:
        bias = self._arm.inverse_dynamics(q, v, np.zeros(2))
        return np.asarray(np.linalg.solve(self._arm.mass_matrix(q), tau - bias), dtype=np.float64)
