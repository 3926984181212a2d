"""One docking: two arms, an engine, and five and a half seconds."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetarium.recording.recording import Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene.docking import docking_scene
from kinetarium.studies.dock.approach import GAP
from kinetarium.studies.dock.channels import EngineContact, contact_channel, controller_channels
from kinetarium.studies.dock.config import Contact, DockCase
from kinetarium.studies.dock.controller import DockingController
from kinetarium.studies.dock.engine_options import engine_options
from kinetarium.studies.dock.face_contact import FaceContact
from kinetarium.studies.dock.presets import PRESETS, start_positions

DURATION = 5.5
"""As in the paper [s]."""
TIMESTEP = 1e-3
"""Physics step [s]."""


def run(case: DockCase) -> Recording:
    """Let the chaser approach, touch and press, and record every step."""
    preset = PRESETS[case.preset]
    by_engine = case.contact is Contact.ENGINE
    docking = docking_scene(
        payload=case.payload_kg,
        gap=GAP,
        positions=start_positions(case.start_deg),
        touching=by_engine,
        friction=case.friction,
    )
    controller = DockingController(case, docking, timestep=TIMESTEP)
    law = FaceContact(
        docking,
        stiffness=preset.stiffness,
        damping=preset.damping,
        friction=case.friction,
        hardening=case.contact is Contact.HUNT_CROSSLEY,
    )
    recording = simulate(
        docking.scene,
        engine=case.engine,
        controller=controller,
        interactions=() if by_engine else (law,),
        probes=(
            *controller_channels(controller),
            EngineContact() if by_engine else contact_channel(law),
        ),
        duration=DURATION,
        timestep=TIMESTEP,
        sample_rate=1 / TIMESTEP,
        options=engine_options(case.engine),
        seed=case.seed,
    )
    dropped = {"v", "poses", "twists", "command", "wrench/chaser", "wrench/target"}
    kept = {name: c for name, c in recording.channels.items() if name not in dropped}
    return replace(recording, channels=kept, timing=tick_timing(controller.tick_times))


def tick_timing(times: Sequence[float]) -> dict[str, float]:
    """Give the median and the 99th percentile of the times of all ticks [s]."""
    if not times:
        return {}
    half, most = np.percentile(times, (50, 99))
    return {"tick_p50_s": float(half), "tick_p99_s": float(most)}
