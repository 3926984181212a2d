"""One walk: planned, and walked in physics if an engine is named."""

from kinetarium.recording.recording import Recording
from kinetarium.studies.walk.channels import planned_channels
from kinetarium.studies.walk.config import NO_ENGINE, Case
from kinetarium.studies.walk.request import planned


def run(case: Case) -> Recording:
    """Plan a walk, and let an engine walk it."""
    walk = planned(case)
    if case.engine == NO_ENGINE:
        return Recording(planned_channels(walk, unit_m=case.unit_m), "running", {})
    from kinetarium.studies.walk.physics import walk_in_engine

    return walk_in_engine(case, walk)
