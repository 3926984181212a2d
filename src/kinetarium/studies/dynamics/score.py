"""What a back-end is judged by: each error against its scale and tolerance."""

from kinetarium.recording.recording import Recording
from kinetarium.recording.run import Row
from kinetarium.studies.dynamics.terms import Quantity


def score(recording: Recording) -> tuple[Row, ...]:
    """Judge a back-end.

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
