"""Rooms of the page: each is a WebSocket that carries commands one way and frames the other."""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from kinetarium.errors import KinetariumError
from kinetarium.interactive.room import (
    Ended,
    News,
    Reset,
    Room,
    RoomCommand,
    RoomEvent,
    Run,
    SetUp,
    SideFrame,
    SideOpened,
    Steps,
)
from kinetarium.interactive.setup import RoomError, RoomSetup
from kinetarium.interactive.simulation import Inputs, JointMode, Pull
from kinetarium.interactive.worker import OpenRoom
from kinetarium.ranges import Range
from kinetarium.storage.serialization import from_builtins
from kinetarium.storage.strict_json import parse_json, strict_json
from kinetarium.studio._application import Receive, Send
from kinetarium.studio.live.robot_files import RobotFiles
from kinetarium.studio.replay_file import replay_file

MOST_ROOMS = 4
"""Maximum number of open rooms, each with up to two processes."""

_MOST_WAITING = 100
"""Maximum number of frames that a page has not received; then the oldest are given up."""
_STALL = 10.0
"""Timeout for sending a message [s]."""
_FRAME, _ROBOT, _COLLISIONS = 0, 1, 2
"""First byte of binary messages; the second is the side. Frames are aligned to four bytes."""


@dataclass(frozen=True, kw_only=True)
class _Message:
    """A message of the page; which fields count depends on its type.

    Attributes:
        type: "open", "inputs", "run", "step" or "reset".
        sides: What to build: one room, or two to compare.
        number: Of inputs.
        mode: How joints follow their targets.
        targets: Targets of joints by name [rad or m].
        pull: What is pulled.
        on: Whether time passes.
        speed: How fast.
        steps: How many steps to take.
    """

    type: str
    sides: tuple[RoomSetup, ...] = ()
    number: Annotated[int, Range(0, 2**32 - 1, unit="-")] = 0
    mode: JointMode = JointMode.SERVO
    targets: dict[str, Annotated[float, Range(-1e4, 1e4, unit="-")]] = field(default_factory=dict)
    pull: Pull | None = None
    on: bool = False
    speed: Annotated[float, Range(0.01, 4.0, unit="-")] = 1.0
    steps: Annotated[int, Range(1, 1000, unit="-")] = 1


class Rooms:
    """Serves the rooms of all pages.

    Attributes:
        open: The rooms that are open.
    """

    def __init__(self, files: RobotFiles, *, outputs: Path) -> None:
        """Serve rooms.

        Args:
            files: The robot files that were dropped.
            outputs: A folder for the output of workers.
        """
        self.open: set[Room] = set()
        self._files, self._outputs = files, outputs

    async def serve(self, receive: Receive, send: Send) -> None:
        """Serve one room until the page closes it or stops receiving, or the room ends."""
        if len(self.open) >= MOST_ROOMS:
            text = f"{MOST_ROOMS} rooms are open already; close the page of one of them"
            await send({"type": "websocket.send", "text": _json({"type": "full", "message": text})})
            await send({"type": "websocket.close", "code": 1013})
            return
        outbox = _Outbox(asyncio.get_running_loop())
        room = Room(outbox.put, outputs=self._outputs)
        self.open.add(room)
        sending = asyncio.ensure_future(outbox.serve(send))
        hearing = asyncio.ensure_future(self._hear(receive, room, outbox))
        try:
            await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            outbox.close()
            for task in (sending, hearing):
                task.cancel()
            await asyncio.gather(sending, hearing, return_exceptions=True)
            try:
                await asyncio.shield(asyncio.to_thread(room.close))
            finally:
                self.open.discard(room)
        with suppress(Exception):  # the page may be closed
            await asyncio.wait_for(send({"type": "websocket.close", "code": 1000}), 1.0)

    def close(self) -> None:
        """Close all rooms, as the server ends."""
        for room in tuple(self.open):
            room.close()

    async def _hear(self, receive: Receive, room: Room, outbox: "_Outbox") -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            try:
                room.send(self._command(message.get("text") or ""))
            except KinetariumError as error:
                outbox.put(News({"type": "error", "message": str(error)}))

    def _command(self, text: str) -> RoomCommand:
        try:
            data = parse_json(text)
        except (ValueError, RecursionError):
            raise RoomError("a message to a room must be JSON") from None
        message = from_builtins(_Message, data, where="the message")
        match message.type:
            case "open":
                return self._set_up(message.sides)
            case "inputs":
                return _inputs(message)
            case "run":
                return Run(message.on, message.speed)
            case "step":
                return Steps(message.steps)
            case "reset":
                return Reset()
        raise RoomError(f"a room has no command '{message.type[:40]}'")

    def _set_up(self, sides: tuple[RoomSetup, ...]) -> SetUp:
        if len(sides) not in (1, 2):
            raise RoomError("a room has one or two sides")
        if len({side.timestep for side in sides}) > 1:
            raise RoomError("both sides of a room need the same time step")
        requests = []
        for side in sides:
            side.check()
            file, folder = self._files.place(side.robot)
            requests.append(OpenRoom(side, file, folder))
        return SetUp(tuple(requests))


def _inputs(message: _Message) -> Inputs:
    return Inputs(
        number=message.number, mode=message.mode, targets=message.targets, pull=message.pull
    )


class _Outbox:
    """What is to be sent to a page; events come from the thread of a room."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[bool, str | bytes]] = deque()
        self._frames = self._lost = 0
        self._filled = asyncio.Event()
        self._closed = self._ended = False

    def put(self, event: RoomEvent) -> None:
        """Add an event; never waits."""
        messages = _messages(event)  # meshes are packed here, not in the event loop
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._add, event, messages)

    def close(self) -> None:
        """Take no more."""
        self._closed = True
        self._waiting.clear()

    def _add(self, event: RoomEvent, messages: list[str | bytes]) -> None:
        if self._closed:
            return
        is_frame, self._ended = isinstance(event, SideFrame), isinstance(event, Ended)
        self._waiting.extend((is_frame, message) for message in messages)
        self._frames += is_frame
        if self._frames > _MOST_WAITING:
            oldest = next(i for i, (frame, _) in enumerate(self._waiting) if frame)
            del self._waiting[oldest]
            self._frames -= 1
            self._lost += 1
        self._filled.set()

    async def serve(self, send: Send) -> None:
        """Send everything in its order, until the page stops receiving or the room has ended."""
        while not self._ended:
            await self._filled.wait()
            self._filled.clear()
            while self._waiting:
                is_frame, message = self._waiting.popleft()
                self._frames -= is_frame
                kind = "text" if isinstance(message, str) else "bytes"
                await asyncio.wait_for(send({"type": "websocket.send", kind: message}), _STALL)


def _messages(event: RoomEvent) -> list[str | bytes]:
    match event:
        case SideFrame():
            return [bytes((_FRAME, event.side, 0, 0)) + event.data]
        case SideOpened():
            opened = event.opened
            title = opened.facts["title"]
            looks = replay_file(opened.replay, {}, title=title)
            shapes = replay_file(opened.collisions, {}, title=title)
            return [
                _json({"type": "opened", "side": event.side, "facts": opened.facts}),
                bytes((_ROBOT, event.side, 0, 0)) + looks,
                bytes((_COLLISIONS, event.side, 0, 0)) + shapes,
            ]
        case News():
            return [_json(event.data)]
        case Ended():
            return [_json({"type": "ended", "message": event.message})]


def _json(data: dict[str, Any]) -> str:
    return strict_json(data, indent=None)
