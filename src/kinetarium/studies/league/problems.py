"""The problems of the league, each with the right answer, and the process that solves them."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, isfinite, nan, pi, sin
from time import process_time
from typing import Any, TextIO

import numpy as np
from scipy.special import ellipj

from kinetarium.engines.conformance import CHECKS, check_engine
from kinetarium.engines.conformance.models import X_AXIS, Z_AXIS, pendulum, solid_link
from kinetarium.engines.protocol import Capability, Engine, State, Status
from kinetarium.engines.registry import EngineUnavailableError, open_engine
from kinetarium.errors import KinetariumError, one_line
from kinetarium.model.robot import Box, Joint, JointLimits, JointType, Link, RobotModel, Source
from kinetarium.recording.recording import Row
from kinetarium.scene import Actuation, DriveMode, Material, PlacedRobot, Scene, free_body, ground
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose

PERIOD = 8e-3
"""Time between commands and samples, the same at every time step [s]."""
TIMESTEPS = (8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
QUICK_TIMESTEPS = (4e-3, 2e-3, 1e-3)
"""Each is a whole part of the period [s]."""
_ENOUGH = 0.1
"""CPU time after which a run is not repeated; others are, and the fastest counts [s]."""
_REPEATS = 10
_TOO_SLOW = 10.0
"""CPU time of a run after which smaller time steps are not tried [s]."""

_SWING = 1.0
"""Angle from which the pendulum is released [rad]."""
_BOXES, _EDGE = 5, 0.1
_SPEED, _FRICTION = 2.0, 0.5
_GRIP, _LIFT = 100.0, 0.05


@dataclass(frozen=True, slots=True)
class Problem:
    """A motion with a known end.

    Attributes:
        name: Its name.
        unit: Unit of its error.
        target: The error at which speeds are compared [unit].
        duration: Simulated time [s].
        needs: Capabilities without which it does not apply.
        answer: What is simulated and what the right answer is, with its source.
        scene: Returns the scene.
        command: Returns the command at a time [s].
        value: Returns what is measured, from the states after each period.
        expected: Returns its right value.
    """

    name: str
    unit: str
    target: float
    duration: float
    needs: frozenset[Capability]
    answer: str
    scene: Callable[[], Scene]
    value: Callable[[Sequence[State]], float]
    expected: Callable[[], float] = lambda: 0.0
    command: Callable[[float], Array] = lambda time: np.zeros(0)


def _falling() -> Scene:
    return Scene(bodies=(free_body("brick", Box((0.1, 0.2, 0.3)), mass=1.0),))


def _swinging() -> Scene:
    return Scene((PlacedRobot("robot", pendulum(), positions={"pivot": _SWING}),))


@cache
def _swing() -> Array:
    """Return the angles of the pendulum after each period [rad], shape (n,).

    From rest, sin(angle / 2) = k cd(w t, k) with k = sin(release / 2) and the frequency w of
    small swings (Whittaker, Analytical Dynamics, section 44).
    """
    inertia = pendulum().link("bob").inertia
    assert inertia is not None
    arm = float(-inertia.center[2])
    moment = inertia.moment[1, 1] + inertia.mass * arm**2
    frequency = np.sqrt(inertia.mass * GRAVITY * arm / moment)
    k = sin(_SWING / 2)
    times = PERIOD * np.arange(1, round(2.0 / PERIOD) + 1)
    _, cn, dn, _ = ellipj(frequency * times, k**2)
    return frozen(2 * np.arcsin(k * cn / dn))


def _swing_error(states: Sequence[State]) -> float:
    angles = np.array([state.q[0] for state in states])
    return float(np.sqrt(np.mean((angles - _swing()) ** 2)))


def _tower() -> Scene:
    cube = Box((_EDGE, _EDGE, _EDGE))
    boxes = (
        free_body(f"box{i}", cube, mass=1.0, position=(0.0, 0.0, _EDGE * (i + 0.5)))
        for i in range(_BOXES)
    )
    return Scene(bodies=(*boxes, ground()))


def _sunk(states: Sequence[State]) -> float:
    rest = np.array([[0.0, 0.0, _EDGE * (i + 0.5)] for i in range(_BOXES)])
    return float(np.linalg.norm(states[-1].poses[:, :3] - rest, axis=1).max())


def _gripper() -> RobotModel:
    """Return two fingers that close along x, on a carriage that moves along z."""
    pad = Box((0.02, 0.04, 0.04))
    links = (
        Link("base"),
        solid_link("carriage", Box((0.2, 0.1, 0.05)), mass=2.0, at=(0.0, 0.0, 0.1)),
        solid_link("left", pad, mass=0.3, touches=True),
        solid_link("right", pad, mass=0.3, touches=True),
    )
    wide = JointLimits(-1.0, 1.0)
    joints = (
        Joint("lift", JointType.PRISMATIC, "base", "carriage", axis=Z_AXIS, limits=wide),
        Joint("close_left", JointType.PRISMATIC, "carriage", "left",
              frozen(pose((-0.03, 0.0, 0.0))), X_AXIS, wide),
        Joint("close_right", JointType.PRISMATIC, "carriage", "right",
              frozen(pose((0.03, 0.0, 0.0))), X_AXIS, wide),
    )  # fmt: skip
    return RobotModel("gripper", links, joints, Source("league", "python", ""))


def _gripping() -> Scene:
    push = Actuation(DriveMode.TORQUE)
    drives = {
        "lift": Actuation(DriveMode.POSITION, stiffness=2e4, damping=4e2),
        "close_left": push,
        "close_right": push,
    }
    robot = PlacedRobot("gripper", _gripper(), actuation=drives)
    return Scene((robot,), (free_body("cube", Box((0.04, 0.04, 0.04)), mass=1.0),))


def _grip_command(time: float) -> Array:
    return np.array([_LIFT * (1 - cos(2 * pi * time)), _GRIP, -_GRIP])


def _slip(states: Sequence[State]) -> float:
    return max(float(abs(state.poses[0, 2] - state.q[0])) for state in states)


def _skidding() -> Scene:
    material = Material(friction=_FRICTION)
    box = free_body("box", Box((0.2, 0.2, 0.05)), mass=1.0, position=(0.0, 0.0, 0.025),
                    twist=(_SPEED, 0.0, 0.0, 0.0, 0.0, 0.0), material=material)  # fmt: skip
    return Scene(bodies=(box, ground(material)))


_CONTACT = frozenset({Capability.CONTACT})
_JOINTS = frozenset({Capability.JOINTS})

PROBLEMS = (
    Problem("free-fall", "m", 8e-3, 1.0, frozenset(),
            "A brick falls for 1 s. Closed form: g t^2 / 2 = 4.905 m.",
            _falling, lambda states: float(-states[-1].poses[0, 2]), lambda: GRAVITY / 2),
    Problem("pendulum", "rad", 2e-3, 2.0, _JOINTS,
            "A pendulum of 0.5 m swings from 1 rad for 2 s. Closed form: Jacobi's elliptic"
            " functions; the error is the root mean square over all samples.",
            _swinging, _swing_error),
    Problem("stack", "m", 5e-4, 1.0, _CONTACT,
            "Five cubes of 1 kg and 0.1 m rest on each other for 1 s. Closed form: rigid cubes"
            " stay where they are; the error is the largest displacement of a cube.",
            _tower, _sunk),
    Problem("grip", "m", 1e-4, 1.0, _CONTACT | _JOINTS,
            "Two fingers press 1 kg with 100 N each (friction 0.8) and move it 0.1 m up and down"
            " within 1 s. Closed form: Coulomb's cone holds 160 N, the load is at most 12 N, so"
            " that nothing slides; the error is the largest slip.",
            _gripping, _slip, command=_grip_command),
    Problem("skid", "m", 1.5e-3, 0.6, _CONTACT,
            "A box slides from 2 m/s to rest (friction 0.5). Closed form: Coulomb's"
            " v^2 / (2 mu g) = 0.4077 m.",
            _skidding, lambda states: float(states[-1].poses[0, 0]),
            lambda: _SPEED**2 / (2 * _FRICTION * GRAVITY)),
)  # fmt: skip
"""No engine is the reference of another: every answer is a closed form."""
BY_NAME = {problem.name: problem for problem in PROBLEMS}


def solve(engine: Engine, problem: Problem, timestep: float) -> tuple[float, float]:
    """Return what an engine finds, and the CPU time of the fastest of a few runs [s].

    Raises:
        KinetariumError: If the run diverges, or the engine refuses it.
    """
    simulation = engine.compile(problem.scene(), timestep=timestep)
    try:
        start = simulation.state()
        periods, steps = round(problem.duration / PERIOD), round(PERIOD / timestep)
        commands = [problem.command(k * PERIOD) for k in range(periods)]
        simulation.step(commands[0], steps)  # what is compiled on first use is not timed
        times: list[float] = []
        while len(times) < _REPEATS and sum(times) < _ENOUGH:
            simulation.reset(start)
            states = []
            before = process_time()
            for command in commands:
                simulation.step(command, steps)
                states.append(simulation.state())
            times.append(process_time() - before)
        if simulation.status is Status.DIVERGED:
            raise KinetariumError(f"diverged after {states[-1].time:g} s")
        return problem.value(states), min(times)
    finally:
        simulation.close()


def items(*, quick: bool) -> list[str]:
    """Return the names of all runs of the curves, such as "stack@0.001"."""
    steps = QUICK_TIMESTEPS if quick else TIMESTEPS
    return [f"{problem.name}@{step:g}" for problem in PROBLEMS for step in steps]


def empty_row(item: str, failure: str) -> Row:
    """Return the row of a check or a run that has no figures, with the reason."""
    name, _, step = item.partition("@")
    return {
        "name": name, "timestep": float(step) if step else None, "value": None, "expected": None,
        "tolerance": None, "unit": BY_NAME[name].unit if step else "",
        "passed": None if step else False, "error": None, "failure": failure,
    }  # fmt: skip


def _check_row(engine: Engine, item: str) -> Row | None:
    """Run a check; None if it does not apply to the engine."""
    outcomes = check_engine(engine, checks=[check for check in CHECKS if check.name == item])
    if not outcomes:
        return None
    found = outcomes[0].measurement
    if found is None:
        return empty_row(item, one_line(outcomes[0].error))
    return {
        **empty_row(item, ""), "value": found.value, "expected": found.expected,
        "tolerance": found.tolerance, "unit": found.unit, "passed": found.passed,
        "error": abs(found.value - found.expected),
    }  # fmt: skip


def _curve_row(engine: Engine, item: str) -> tuple[Row | None, float]:
    """Run a problem at a time step; return its row, None if it does not apply, and CPU time."""
    name, _, step = item.partition("@")
    problem = BY_NAME[name]
    if not problem.needs <= engine.info.capabilities:
        return None, nan
    try:
        value, cpu = solve(engine, problem, float(step))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever an engine does wrong is a row, not the end
        return empty_row(item, one_line(f"{type(error).__name__}: {error}")), nan
    expected = problem.expected()
    return {
        **empty_row(item, ""), "value": value, "expected": expected, "tolerance": problem.target,
        "error": abs(value - expected),
    }, cpu  # fmt: skip


def answers(engine: Engine, asked: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield "item", "row" and "cpu_s" of each check or run in turn, as JSON data."""
    too_slow = ""
    for item in asked:
        cpu = nan
        if "@" not in item:
            row = _check_row(engine, item)
        elif too_slow == item.partition("@")[0]:
            row = empty_row(item, f"not run: a larger time step took over {_TOO_SLOW:g} s")
        else:
            row, cpu = _curve_row(engine, item)
            if cpu > _TOO_SLOW:
                too_slow = item.partition("@")[0]
        if row is not None and not all(isfinite(v) for v in row.values() if isinstance(v, float)):
            row = empty_row(item, "its figure is not a finite number")
        yield {"item": item, "row": row, "cpu_s": cpu if isfinite(cpu) else None}


def main(words: Sequence[str], channel: TextIO) -> None:
    """Answer for one engine, line by line; the first line has its version, or why not."""

    def say(answer: dict[str, Any]) -> None:
        channel.write(f"{json.dumps(answer)}\n")
        channel.flush()

    name, *asked = words
    try:
        engine = open_engine(name)
        engine.compile(_falling(), timestep=TIMESTEPS[0]).close()
    except EngineUnavailableError as error:
        say({"refused": error.reason.partition("; run: ")[0]})  # which would change this version
    except Exception as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        say({"refused": f"its adapter does not support this version ({reason})"})
    else:
        say({"version": engine.info.version})
        for answer in answers(engine, asked):
            say(answer)


if __name__ == "__main__":
    if sys.platform == "linux":
        from kinetarium.batch._fork_server import kill_when_closed

        kill_when_closed(0, os.getpid())  # when the process that asked has ended, however it did
    answers_out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is not an answer
    main(sys.argv[1:], answers_out)
