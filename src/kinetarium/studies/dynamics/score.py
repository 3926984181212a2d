"""Measures of a backend: each error relative to its scale and tolerance."""

from kinetarium.recording.recording import Recording, Row
from kinetarium.studies.dynamics.config import Case
from kinetarium.studies.dynamics.loaders import loader_rows
from kinetarium.studies.dynamics.states import Quantity


def score(case: Case, recording: Recording) -> tuple[Row, ...]:
    """Return the errors of the backend of a case, or what its loader read."""
    return loader_rows(recording) if case.loaders else error_rows(recording)


def error_rows(recording: Recording) -> tuple[Row, ...]:
    """Compare the errors of a backend with their tolerances.

    Returns:
        A row for each quantity that was measured: "quantity", "max_abs" in its own
        unit, "max_rel" relative to the scale of the quantity, "tolerance" of that,
        and "passed".
    """
    scales, tolerances = recording.facts["scales"], recording.facts["tolerances"]
    rows = []
    for quantity in map(str, Quantity):
        if quantity not in scales:
            continue
        worst = float(recording[f"error_{quantity}"].max(initial=0.0))
        relative = worst / scales[quantity]
        rows.append(
            {
                "quantity": quantity,
                "max_abs": worst,
                "max_rel": relative,
                "tolerance": tolerances[quantity],
                "passed": relative <= tolerances[quantity],
            }
        )
    return tuple(rows)
