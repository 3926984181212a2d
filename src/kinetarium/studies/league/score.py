"""Rows of the league."""

from collections.abc import Sequence

from kinetarium.recording.recording import Recording, Row
from kinetarium.studies.league.config import Case


def score(case: Case, recording: Recording) -> Sequence[Row]:
    """Return the rows, which the child process has computed.

    Returns:
        name, timestep: The check, or the problem and its time step [s].
        value, expected, tolerance, unit: The figure, the right one, and how far apart they may
            be; for a problem, the error at which speeds are compared.
        passed: Whether a check passed; None for a problem.
        error: Distance of the figure from the right one.
        failure: Why there is no figure, or empty.
    """
    rows: Sequence[Row] = recording.facts["rows"]
    return rows
