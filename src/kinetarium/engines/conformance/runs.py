"""Checks on runs: going back, repeating, ending in divergence, refusing nonsense."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import combinations

import numpy as np

from kinetarium.engines.base.simulation import LIMIT
from kinetarium.engines.conformance.bodies import NO_COMMAND, TIMESTEP, WEIGHTLESS
from kinetarium.engines.conformance.check import Check, ConfiguredEngine, Measurement
from kinetarium.engines.conformance.models import chain
from kinetarium.engines.protocol import Capability, Engine, Simulation, State, Status
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Box
from kinetarium.scene import Actuation, DriveMode, PlacedRobot, Scene, free_body, ground
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.storage.strict_json import parse_json, strict_json


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
import sys
from kinetarium.engines.conformance.runs import repeat
repeat(*sys.argv[1:])
"""


def repeat(module: str, name: str, settings: str) -> None:
    """Drive a busy simulation of an engine and print its last state.

    Args:
        module: Of the engine's class.
        name: Of the class.
        settings: Its options as JSON; empty for its defaults.
    """
    engine: Engine = getattr(import_module(module), name)()
    if settings:
        options = from_builtins(engine.options, parse_json(settings), where="options")
        engine = ConfiguredEngine(engine, options)
    sys.stdout.write("bits:" + drive(busy_simulation(engine), 400).hex())


def _determinism(engine: Engine) -> Measurement:
    """Run the same in two fresh processes; the engine's class must be made without arguments."""
    kind, settings = type(engine), ""
    if isinstance(engine, ConfiguredEngine):
        kind, settings = type(engine.engine), strict_json(to_builtins(engine.defaults))
    answers = set()
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", _REPEAT, kind.__module__, kind.__name__, settings],
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


def _limit(engine: Engine) -> Measurement:
    """Throw bodies just slower and just faster than a run may become, and put them as far."""
    right = 0
    for axis, at in ((0, "speed"), (4, "speed"), (2, "place")):
        for share, diverges in ((0.99, False), (1.01, True)):
            vector = np.zeros(6)
            vector[axis] = share * LIMIT
            place = {"position": vector[:3]} if at == "place" else {"twist": vector}
            body = free_body("cube", Box((0.1, 0.1, 0.1)), mass=1.0, **place)
            scene = Scene(bodies=(body,), gravity=WEIGHTLESS)
            simulation = engine.compile(scene, timestep=1e-6)
            simulation.step(NO_COMMAND)
            right += (simulation.status is Status.DIVERGED) is diverges
            simulation.close()
    return Measurement(float(right), 6.0, 0.0)


def _reset_forgets(engine: Engine) -> Measurement:
    used, fresh = busy_simulation(engine), busy_simulation(engine)
    drive(used, 300)
    landed = used.state()  # in contact, which a solver remembers
    drive(used, 100)
    used.reset(landed)
    fresh.reset(landed)
    same = drive(used, 100) == drive(fresh, 100)
    used.close()
    fresh.close()
    return Measurement(float(same), 1.0, 0.0)


def _steps_at_once(engine: Engine) -> Measurement:
    one, other = busy_simulation(engine), busy_simulation(engine)
    command = np.array([0.5, -0.3, 0.2])[: len(one.layout.commands)]
    one.step(command, 300)
    for _ in range(300):
        other.step(command)
    same = state_bytes(one.state()) == state_bytes(other.state())
    one.close()
    other.close()
    return Measurement(float(same), 1.0, 0.0)


def _clock(engine: Engine) -> Measurement:
    scene = Scene(bodies=(free_body("cube", Box((0.1, 0.1, 0.1)), mass=1.0),))
    simulation = engine.compile(scene, timestep=TIMESTEP)
    start = simulation.state()
    simulation.step(NO_COMMAND, 1000)
    time = simulation.state().time
    simulation.reset(replace(start, time=5.0))
    simulation.step(NO_COMMAND)
    time += simulation.state().time
    simulation.close()
    return Measurement(time, 6.001, 1e-9, "s")


def _refused(simulation: Simulation, *deeds: Callable[[], object]) -> float:
    """Return how many deeds are refused and leave the state as it is."""
    refused = 0
    for deed in deeds:
        before = state_bytes(simulation.state())
        try:
            deed()
        except KinetariumError:
            refused += state_bytes(simulation.state()) == before
    return float(refused)


def _foreign_state(engine: Engine) -> Measurement:
    one, other = busy_simulation(engine), busy_simulation(engine)
    drive(one, 50)
    saved = one.save()
    refused = _refused(other, lambda: other.restore(saved))
    one.close()
    other.close()
    return Measurement(refused, 1.0, 0.0)


def _unknown_names(engine: Engine) -> Measurement:
    simulation, has = busy_simulation(engine), engine.info.capabilities
    force = np.zeros(6)
    deeds: dict[Capability, Callable[[], object]] = {
        Capability.EXTERNAL_WRENCH: lambda: simulation.apply_wrench("x", force, np.zeros(3)),
        Capability.JOINT_WRENCH: lambda: simulation.wrench("x"),
        Capability.MASS_MATRIX: lambda: simulation.mass_matrix("x"),
        Capability.INVERSE_DYNAMICS: lambda: simulation.inverse_dynamics("x", np.zeros(3)),
    }
    able = [deed for capability, deed in deeds.items() if capability in has]
    refused = _refused(simulation, *able)
    simulation.close()
    return Measurement(refused, float(len(able)), 0.0)


def _not_finite(engine: Engine) -> Measurement:
    simulation, has = busy_simulation(engine), engine.info.capabilities
    deeds: list[Callable[[], object]] = []
    for bad in (np.nan, np.inf, -np.inf):
        state = simulation.state()
        twists = state.twists.copy()
        twists[0, 0] = bad
        deeds.append(partial(simulation.reset, replace(state, twists=twists)))
        if Capability.JOINTS in has:
            deeds.append(partial(simulation.step, np.array([0.0, bad, 0.0])))
            q = state.q.copy()
            q[0] = bad
            deeds.append(partial(simulation.reset, replace(state, q=q)))
        if Capability.EXTERNAL_WRENCH in has:
            F = np.array([0.0, bad, 0.0, 0.0, 0.0, 0.0])
            deeds.append(partial(simulation.apply_wrench, "cube0", F, np.zeros(3)))
            deeds.append(partial(simulation.apply_wrench, "cube0", np.zeros(6), F[:3]))
    refused = _refused(simulation, *deeds)
    simulation.close()
    return Measurement(refused, float(len(deeds)), 0.0)


_SAVES = frozenset({Capability.SAVE_RESTORE})
_PROTOCOL = "the engine protocol"

CHECKS = (
    Check("save-restore", "a restored run continues bit by bit", _save_restore, _SAVES,
          "all bits equal", _PROTOCOL),
    Check("foreign-state", "a state saved by another simulation is refused", _foreign_state, _SAVES,
          "1 of 1 refused, state unchanged", _PROTOCOL),
    Check("reset-forgets", "a run after a reset is the run of a fresh simulation", _reset_forgets,
          frozenset({Capability.DETERMINISM}), "all bits equal", _PROTOCOL),
    Check("steps-at-once", "300 steps in one call are 300 calls of one step", _steps_at_once,
          frozenset({Capability.DETERMINISM}), "all bits equal", _PROTOCOL),
    Check("determinism", "two processes give the same bits", _determinism,
          frozenset({Capability.DETERMINISM}), "all bits equal", _PROTOCOL),
    Check("clock", "time is the number of steps times the step", _clock, law="t = t_0 + n h",
          source=_PROTOCOL),
    Check("divergence", "a run beyond all measure is marked", _divergence,
          law="|v| >= 1e6 is marked", source=_PROTOCOL),
    Check("divergence-limit", "runs of 0.99 and 1.01 times the limit are distinguished", _limit,
          law="6 of 6 right: speeds, spins, places", source=_PROTOCOL),
    Check("bad-scene", "an invalid time step is refused", _bad_scene, law="4 of 4 refused",
          source=_PROTOCOL),
    Check("unknown-names", "unknown solids, sensors and robots are refused", _unknown_names,
          law="all refused, state unchanged", source=_PROTOCOL),
    Check("not-finite", "NaN and infinity in commands, wrenches and states are refused",
          _not_finite, law="all refused, state unchanged", source=_PROTOCOL),
)  # fmt: skip
