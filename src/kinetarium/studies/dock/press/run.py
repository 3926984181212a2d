"""One run: two arms dock in an engine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetarium.engines.protocol import Options, Simulation
from kinetarium.engines.registry import open_engine
from kinetarium.recording.recording import Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene.docking import CHASER, SATELLITE, TARGET
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studies.dock.press._controller import DockingController
from kinetarium.studies.dock.press.arms import docking_of
from kinetarium.studies.dock.press.config import Contact, DockCase
from kinetarium.studies.dock.press.contact import FaceContact
from kinetarium.studies.dock.press.presets import case_contact

_CHOICES: Mapping[str, Mapping[str, Any]] = {"mujoco": {"integrator": "discrete"}}


def engine_options(name: str) -> Options:
    """Return the options of an engine: its defaults, except what its sensors need."""
    kind = open_engine(name).options
    chosen = {**to_builtins(kind()), **_CHOICES.get(name, {})}
    return from_builtins(kind, chosen, where=f"options of {name}")


COORDINATES = ("eta_x", "eta_y", "eta_z", "xi_x", "xi_y", "xi_z")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
WARNINGS = ("gate", "bounded", "half_turn", "singular", "joint_limit", "too_fast")


@dataclass(frozen=True)
class Watched:
    """A probe of a quantity outside the simulation.

    Attributes:
        name: Name of its channel.
        unit: Unit of its values.
        columns: Names of the values.
        look: Returns the values.
    """

    name: str
    unit: str
    columns: Sequence[str]
    look: Callable[[], Array]

    def read(self, simulation: Simulation) -> Array:
        """Return the values, shape (len(columns),)."""
        return self.look()


@dataclass(frozen=True)
class EngineContact:
    """A probe of the engine's contacts between the satellites."""

    name: str = "contact"
    unit: str = "N, m"
    columns: tuple[str, ...] = ("force", "x", "y", "z")

    def read(self, simulation: Simulation) -> Array:
        """Return the normal force and the centre of pressure."""
        solids = simulation.layout.solids
        pair = {solids.index(f"{robot}/{SATELLITE}") for robot in (CHASER, TARGET)}
        contacts = simulation.contacts()
        ours = [i for i, (a, b) in enumerate(contacts.solids.tolist()) if {a, b} == pair]
        forces = np.vecdot(contacts.forces[ours], contacts.normals[ours])
        total = float(forces.sum())
        point = forces @ contacts.points[ours] / total if total > 0 else np.full(3, np.nan)
        return np.array([total, *point])


def controller_channels(controller: DockingController) -> tuple[Watched, ...]:
    """Return probes of the controller's state at its last tick."""
    return (
        Watched("error", "m, rad", COORDINATES, lambda: controller.error),
        Watched("impulse", "N s, N m s", WRENCH, lambda: controller.impulse),
        Watched("sensed", "N, N m", WRENCH, lambda: controller.sensed),
        Watched("desired", "N, N m", WRENCH, lambda: controller.desired),
        Watched("warnings", "1", WARNINGS, lambda: controller.warnings),
    )


def contact_channel(law: FaceContact) -> Watched:
    """Return a probe of the prescribed contact."""
    return Watched(
        "contact", "N, m", EngineContact.columns, lambda: np.array([law.force, *law.point])
    )


DURATION = 5.5
"""Simulated time, as in the paper [s]."""
TIMESTEP = 1e-3
"""Physics time step [s]."""


def run(case: DockCase) -> Recording:
    """Let the chaser approach and dock, and record every step."""
    stiffness, damping = case_contact(case)
    by_engine = case.contact is Contact.ENGINE
    docking = docking_of(case, contact=by_engine)
    controller = DockingController(case, docking, timestep=TIMESTEP)
    law = FaceContact(
        docking,
        stiffness=stiffness,
        damping=damping,
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
    """Return the median and the 99th percentile of the times of all ticks [s]."""
    if not times:
        return {}
    half, most = np.percentile(times, (50, 99))
    return {"tick_p50_s": float(half), "tick_p99_s": float(most)}
