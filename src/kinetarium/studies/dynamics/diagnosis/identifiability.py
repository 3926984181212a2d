"""Which mass properties of a robot its joint forces can show at all."""

import numpy as np

from kinetarium.dynamics.inertial_parameters import PARAMETER_NAMES
from kinetarium.model.robot import RobotModel
from kinetarium.scene.rigid_tree import rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.diagnosis.linear import regressors
from kinetarium.studies.dynamics.diagnosis.suspect import Assumed
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity
from kinetarium.studies.dynamics.states import States

_STATES = 20
_RANK = 1e-9
"""Singular values below this share of the greatest are zero [-]."""


def inseparable(model: RobotModel, states: States, *, gravity: Array) -> Difference:
    """Say what of the mass properties no measurement on a fixed base separates.

    The regressor Y of tau = Y pi does not have full rank (Gautier, Khalil,
    "Direct calculation of minimum set of inertial parameters of serial robots",
    1990): some parameters never show, others only in sums with their neighbours'.
    """
    Y = regressors(Assumed(model, gravity), states.first(_STATES))
    Y = Y.reshape(-1, Y.shape[-1])
    norms = np.linalg.norm(Y, axis=0)
    seen = norms > _RANK * norms.max(initial=0.0)
    triangle = np.linalg.qr(Y[:, seen] / norms[seen], mode="r")
    values = np.linalg.svd(triangle, compute_uv=False)
    rank = int(np.count_nonzero(values > _RANK * values.max(initial=0.0)))
    bodies = [body.name for body in rigid_tree(model) if body.joint]
    never = []
    for i, name in enumerate(bodies):
        hidden = [
            p for p, s in zip(PARAMETER_NAMES, seen[10 * i : 10 * i + 10], strict=True) if not s
        ]
        if hidden:
            never.append(f"{name} ({', '.join(hidden)})")
    text = (
        f"joint forces show {rank} combinations of the {len(seen)} inertial parameters of"
        f" {len(bodies)} moving bodies; {len(seen) - rank} cannot be separated by any measurement"
        " on a fixed base, and differences there are told by the audit alone"
    )
    if never:
        text += f". Never seen: {'; '.join(never)}"
    return Difference(Cause.INSEPARABLE, "", float(len(seen) - rank), text, Severity.NOTE)
