"""The worker process of a room: it opens a robot file, builds the room and takes its steps.

A robot file or an engine that crashes, hangs or takes all memory harms this process alone.
"""

import os
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import thread_time
from typing import Any

from kinetarium.batch.worker_main import PIPE_LOST, isolate
from kinetarium.errors import KinetariumError, one_line
from kinetarium.figure.replay import Replay
from kinetarium.interactive._description import (
    collision_replay,
    refusal_findings,
    robot_findings,
    room_facts,
    room_replay,
)
from kinetarium.interactive.setup import RoomSetup
from kinetarium.interactive.simulation import Inputs, LiveSimulation
from kinetarium.model.diagnostics import RobotFileError


@dataclass(frozen=True)
class OpenRoom:
    """A request to build a room; solids and joints of the room before keep their places.

    Attributes:
        setup: What is in it.
        file: The robot file, or empty.
        folder: The folder of the robot's meshes, or empty.
    """

    setup: RoomSetup
    file: str = ""
    folder: str = ""


@dataclass(frozen=True)
class Advance:
    """A request for time steps.

    Attributes:
        number: The number of the frame that answers.
        steps: Number of time steps.
        inputs: What acts meanwhile.
        reset: Whether everything returns to its start before.
    """

    number: int
    steps: int
    inputs: Inputs
    reset: bool = False


@dataclass(frozen=True)
class CheckRobot:
    """A request to read a robot file, as `kinetarium inspect` does.

    Attributes:
        file: The file.
        folder: The folder of its meshes.
    """

    file: str
    folder: str


@dataclass(frozen=True)
class ListEngines:
    """A request for the engines that can be used here."""


@dataclass(frozen=True, eq=False)
class Advanced:
    """Time steps that were taken.

    Attributes:
        frame: The state after them, see `HEAD` of `simulation.py`.
        cpu: CPU time of a step [s]; 0 without steps. Wall time would count what other processes do.
    """

    frame: bytes
    cpu: float


@dataclass(frozen=True, eq=False)
class Opened:
    """A room that was built.

    Attributes:
        facts: What it consists of, as JSON data.
        replay: What it looks like.
        collisions: What the collision shapes of the robot look like.
        frame: Its first frame.
    """

    facts: dict[str, Any]
    replay: Replay
    collisions: Replay
    frame: bytes


@dataclass(frozen=True)
class Refused:
    """The answer to a request that cannot be met.

    Attributes:
        message: The reason, in one line.
        findings: The faults of a robot file with their lines, as JSON data.
    """

    message: str
    findings: tuple[dict[str, Any], ...] = ()


def room_worker(connection: Connection, *, output: Path, memory: float) -> None:
    """Answer the requests received through a pipe until it is closed.

    Args:
        connection: The worker's end of the pipe.
        output: The file for the output of the worker and its libraries.
        memory: Memory limit [bytes].
    """
    isolate(output, memory=memory)
    desk = _Desk()
    try:
        while True:
            connection.send(desk.answer(connection.recv()))
    except EOFError:
        return
    except OSError:
        os._exit(PIPE_LOST)


class _Desk:
    """Answers requests, and has the room of the last one."""

    def __init__(self) -> None:
        self._room: LiveSimulation | None = None

    def answer(self, request: object) -> object:
        """Return the answer to a request; an error is an answer as well."""
        try:
            match request:
                case Advance():
                    return self._advance(request)
                case OpenRoom():
                    return self._open(request)
                case CheckRobot():
                    return _check(request)
                case _:
                    return _engines()
        except RobotFileError as error:
            return Refused(one_line(str(error)), tuple(refusal_findings(error)))
        except KinetariumError as error:
            return Refused(one_line(str(error)))
        except Exception as error:  # of an engine's library, or of a plug-in
            return Refused(one_line(f"{type(error).__name__}: {error}"))

    def _open(self, request: OpenRoom) -> Opened:
        setup = request.setup
        robot = setup.open_robot(file=request.file, folder=request.folder)
        room = LiveSimulation(setup, robot)
        if self._room is not None:
            if self._room.setup.robot == setup.robot:
                room.resume_from(self._room)
            self._room.close()
        self._room = room
        return Opened(room_facts(room), room_replay(room), collision_replay(room), room.frame(0))

    def _advance(self, request: Advance) -> object:
        if self._room is None:
            return Refused("no room is open")
        if request.reset:
            self._room.reset()
        start = thread_time()
        self._room.advance(request.steps, request.inputs)
        frame = self._room.frame(request.number)
        return Advanced(frame, (thread_time() - start) / request.steps if request.steps else 0.0)


def _check(request: CheckRobot) -> dict[str, Any]:
    from kinetarium.model.load import load_robot

    model = load_robot(request.file, mesh_roots=[request.folder])
    return {
        "name": model.name,
        "links": len(model.links),
        "joints": len(model.moving_joints),
        "mass": model.mass,
        "free_base": model.free_base,
        "findings": robot_findings(model),
    }


def _engines() -> list[dict[str, Any]]:
    from kinetarium.engines.registry import list_engines

    return [
        {"name": engine.name, "version": engine.version, "reason": engine.reason}
        for engine in list_engines()
    ]
