"""Measures of a base placement method."""

import numpy as np

from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.reach.comparison.config import Case

EVALUATORS = ("exact", "numerical")


def score(case: Case, recording: Recording) -> Row:
    """Summarise the sets of a method.

    Returns:
        voxel_m, poses_per_voxel: Of its map; None without a map.
        EVALUATOR_success, EVALUATOR_success_std: Mean and standard deviation over the sets of the
            fraction of reached poses, by "exact" inverse kinematics and by a "numerical" solver
            with one start.
        EVALUATOR_all_reached: Fraction of the sets whose poses are all reached.
        EVALUATOR_manipulability, EVALUATOR_manipulability_std: Mean and standard deviation of the
            mean over the reached poses [m^3]; None if no set has any.
        EVALUATOR_three: Manipulability of each of the three poses of Table 1 [m^3]; None where
            it is not reached.
    """
    facts = recording.facts
    row = {name: facts[name] for name in ("voxel_m", "poses_per_voxel")}
    for name in EVALUATORS:
        success, quality = spread(recording[name])
        three = recording[f"three_{name}"].tolist()
        row |= {
            f"{name}_success": float(success.mean()),
            f"{name}_success_std": float(success.std()),
            f"{name}_all_reached": float((success == 1.0).mean()),
            f"{name}_manipulability": float(quality.mean()) if len(quality) else None,
            f"{name}_manipulability_std": float(quality.std()) if len(quality) else None,
            f"{name}_three": [None if np.isnan(w) else w for w in three],
        }
    return row


def spread(judged: Array) -> tuple[Array, Array]:
    """Return the success of every set, and the mean manipulability of those with any [m^3].

    Args:
        judged: Manipulabilities, NaN where a pose is not reached [m^3], shape (sets, poses).
    """
    found = [row[~np.isnan(row)] for row in judged]
    success = np.array([len(values) / judged.shape[1] for values in found])
    return success, np.array([values.mean() for values in found if len(values)])
