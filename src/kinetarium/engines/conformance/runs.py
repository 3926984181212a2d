"""Checks on runs: going back, repeating, ending in divergence, refusing nonsense."""

import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np

from kinetarium.engines.conformance.bodies import NO_COMMAND, TIMESTEP
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import chain
from kinetarium.engines.protocol import Capability, Engine, Simulation, State, Status
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Box
from kinetarium.scene import Actuation, DriveMode, PlacedRobot, Scene, free_body, ground


def busy_simulation(engine: Engine) -> Simulation:
    """Set up a driven chain beside cubes that tumble onto the ground, as far as the engine can."""
    model = chain()
    drives = {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints}
    cubes = [
        free_body(f"cube{i}", Box((0.1, 0.1, 0.1)), mass=1.0,
                  position=(1.0 + 0.03 * i, 0.0, 0.2 + 0.15 * i), twist=(0, 0, 0, 1.0, 2.0, 0.5))
        for i in range(3)
    ]  # fmt: skip
    robots = (PlacedRobot("robot", model, actuation=drives),)
    has = engine.info.capabilities
    scene = Scene(robots if Capability.JOINTS in has else (), (*cubes, ground()))
    if Capability.CONTACT not in has:
        pairs = combinations((body.name for body in scene.bodies), 2)
        scene = replace(scene, no_contact=frozenset(frozenset(pair) for pair in pairs))
    return engine.compile(scene, timestep=TIMESTEP, seed=3)


def drive(simulation: Simulation, steps: int) -> bytes:
    """Drive the chain by a fixed pattern and return the final state bit by bit."""
    command = np.array([0.5, -0.3, 0.2])[: len(simulation.layout.commands)]
    for k in range(steps):
        simulation.step(command * np.cos(0.01 * k))
    return state_bytes(simulation.state())


def state_bytes(state: State) -> bytes:
    """Return a state as its bits."""
    return b"".join(
        np.ascontiguousarray(a).tobytes() for a in (state.q, state.v, state.poses, state.twists)
    )


def _save_restore(engine: Engine) -> Measurement:
    simulation = busy_simulation(engine)
    drive(simulation, 300)
    saved = simulation.save()
    first = drive(simulation, 200)
    simulation.restore(saved)
    second = drive(simulation, 200)
    simulation.close()
    return Measurement(float(first == second), 1.0, 0.0)


_REPEAT = """
import importlib, sys
from kinetarium.engines.conformance.runs import busy_simulation, drive
module, name = sys.argv[1:]
simulation = busy_simulation(getattr(importlib.import_module(module), name)())
sys.stdout.write("bits:" + drive(simulation, 400).hex())
"""


def _determinism(engine: Engine) -> Measurement:
    """Run the same in two fresh processes; the engine's class must be made without arguments."""
    kind = type(engine)
    answers = set()
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", _REPEAT, kind.__module__, kind.__name__],
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        answers.add(done.stdout.partition("bits:")[2])
    return Measurement(float(len(answers) == 1 and answers != {""}), 1.0, 0.0)


def _divergence(engine: Engine) -> Measurement:
    body = free_body("cube", Box((0.1, 0.1, 0.1)), mass=1.0, twist=(1e9, 0, 0, 0, 0, 0))
    simulation = engine.compile(Scene(bodies=(body,)), timestep=TIMESTEP)
    simulation.step(NO_COMMAND, 10)
    marked = simulation.status is Status.DIVERGED
    simulation.close()
    return Measurement(float(marked), 1.0, 0.0)


def _bad_scene(engine: Engine) -> Measurement:
    scene = Scene(bodies=(ground(),))
    refused = 0
    for timestep in (0.0, -1e-3, float("nan"), float("inf")):
        try:
            engine.compile(scene, timestep=timestep).close()
        except KinetariumError:
            refused += 1
    return Measurement(float(refused), 4.0, 0.0)


CHECKS = (
    Check("save-restore", "a restored run continues bit by bit", _save_restore,
          frozenset({Capability.SAVE_RESTORE})),
    Check("determinism", "two processes give the same bits", _determinism,
          frozenset({Capability.DETERMINISM})),
    Check("divergence", "a run beyond all measure is marked", _divergence),
    Check("bad-scene", "an invalid time step is refused", _bad_scene),
)  # fmt: skip
