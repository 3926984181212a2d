"""A docking to watch: two arms, their satellites, and the force between them."""

import numpy as np

from kinetarium.figure.replay import Arrow, Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.recording.recording import Recording
from kinetarium.scene.docking import docking_scene
from kinetarium.studies.dock.approach import GAP
from kinetarium.studies.dock.config import DockCase
from kinetarium.studies.dock.float_config import NO_ENGINE, FloatCase
from kinetarium.studies.dock.float_meeting import gap
from kinetarium.studies.dock.presets import start_positions


def dock_replay(case: DockCase, recording: Recording) -> Replay:
    """Show a docking, with the contact force on the target."""
    docking = docking_scene(
        payload=case.payload_kg, gap=GAP, positions=start_positions(case.start_deg)
    )
    contact = np.asarray(recording["contact"])
    force = np.column_stack([contact[:, 0], np.zeros((len(contact), 2))])
    arrow = Arrow("contact", "N", contact[:, 1:], force)
    return scene_replay(docking.scene, recording, arrows=(arrow,))


def float_replay(case: FloatCase, recording: Recording) -> Replay | None:
    """Show a meeting of satellites on arms; without an engine there are no arms."""
    if case.engine == NO_ENGINE:
        return None
    docking = docking_scene(payload=case.payload_kg, gap=gap(case))
    return scene_replay(docking.scene, recording)
