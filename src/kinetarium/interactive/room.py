"""Room: one or two simulations in worker processes, in step with each other and with the clock.

A thread of its own asks the workers for a few time steps at a time and passes their frames on. It
never waits for who receives them. All sides of a room are given the same numbers of steps and the
same inputs, so that the slowest sets the pace, and its pace is reported.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import Empty, SimpleQueue
from socket import socketpair
from threading import Thread
from time import monotonic
from typing import Any

from kinetarium.batch.worker_main import exit_status_of, oom_kills, vanished
from kinetarium.batch.worker_process import StartedProcess, WorkerStart
from kinetarium.errors import KinetariumError, one_line
from kinetarium.interactive.setup import RoomError
from kinetarium.interactive.simulation import HEAD, Inputs
from kinetarium.interactive.worker import Advance, Advanced, Opened, OpenRoom, Refused, room_worker

MEMORY = 2e9
"""Memory limit of a worker [bytes]."""
PRELOADED = ("mujoco",)
"""The engine of a room by default; workers need not load it."""

_PERIOD = 0.02
"""Time between frames [s]."""
_BUSY = 0.025
"""Longest computation of a frame [s]: a slow engine still answers 30 times a second or more."""
_FORGIVEN = 0.1
"""Time that a room may lag behind the clock; the rest is given up, not caught up with [s]."""
_PACE_EVERY = 0.5
"""Interval at which the pace is reported [s]."""
_OPEN_TIMEOUT = 60.0
_STEP_TIMEOUT = 15.0
"""Timeout of an answer [s]; then the engine hangs, and its process is killed."""
_TAIL = 4096
"""Size of the end of a worker's output that is searched for a reason [bytes]."""


@dataclass(frozen=True, eq=False)
class SideOpened:
    """A side of a room was built.

    Attributes:
        side: Its number.
        opened: What was built.
    """

    side: int
    opened: Opened


@dataclass(frozen=True, eq=False)
class SideFrame:
    """A new state of a side.

    Attributes:
        side: Its number.
        data: The frame, see `HEAD`.
    """

    side: int
    data: bytes


@dataclass(frozen=True)
class News:
    """Something else that happened, as JSON data with its "type"."""

    data: dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """The room has closed by itself; nothing follows.

    Attributes:
        message: Why.
    """

    message: str


RoomEvent = SideOpened | SideFrame | News | Ended


@dataclass(frozen=True)
class SetUp:
    """Build the sides of a room, in place of those that it has."""

    sides: tuple[OpenRoom, ...]


@dataclass(frozen=True)
class Run:
    """Let time pass, or stop it.

    Attributes:
        on: Whether it passes.
        speed: Simulated time over real time that is aimed at [-].
    """

    on: bool
    speed: float = 1.0


@dataclass(frozen=True)
class Steps:
    """Take some time steps and stop."""

    count: int = 1


@dataclass(frozen=True)
class Reset:
    """Return everything to its start."""


RoomCommand = SetUp | Run | Steps | Reset | Inputs


class _Side:
    """One worker and its connection."""

    def __init__(self, number: int, start: WorkerStart, *, output: Path, memory: float) -> None:
        self.number, self._output = number, output
        self.process: StartedProcess
        self.connection: Connection
        self._oom_kills = oom_kills()
        self.process, self.connection = start.start(room_worker, output=output, memory=memory)
        self.since: float | None = None
        self.timeout = _OPEN_TIMEOUT

    def ask(self, request: object, *, timeout: float) -> None:
        """Send a request; one that has died is noticed by the next poll."""
        self.since, self.timeout = monotonic(), timeout
        with suppress(OSError):
            self.connection.send(request)

    def poll(self) -> object | None:
        """Return an answer, or None if there is none yet.

        Raises:
            RoomError: If the worker has exited, or does not answer; with the reason.
        """
        try:
            if self.connection.poll():
                answer: object = self.connection.recv()
                self.since = None
                return answer
        except Exception as error:  # the end of the pipe, or a broken message
            raise RoomError(self._reason()) from error
        if self.since is not None and monotonic() - self.since > self.timeout:
            raise RoomError(f"the engine did not answer for {self.timeout:g} s")
        return None

    def stop(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join(5.0)
        self.connection.close()
        with suppress(ValueError):  # it is in uninterruptible sleep
            self.process.close()
        self._output.unlink(missing_ok=True)

    def _reason(self) -> str:
        self.process.join(2.0)
        if self.process.is_alive() or self.process.exitcode is None:
            return vanished(getattr(self.process, "failure", "")).message
        output = ""
        with suppress(OSError):
            output = self._output.read_bytes()[-_TAIL:].decode(errors="replace")
        killed = oom_kills() > self._oom_kills
        return exit_status_of(self.process.exitcode, output=output, oom_kill=killed).message


class Room:
    """One or two simulations that somebody moves; see the module.

    Attributes:
        closed: Whether it has been closed.
    """

    def __init__(
        self, publish: Callable[[RoomEvent], None], *, outputs: Path, memory: float = MEMORY
    ) -> None:
        """Start the thread; nothing is simulated before the first `SetUp`.

        Args:
            publish: Called in the thread of the room with everything that happens.
            outputs: An existing folder for the output of the workers.
            memory: Memory limit of a worker [bytes].
        """
        self._publish, self._outputs, self._memory = publish, outputs, memory
        self._start = WorkerStart(PRELOADED)
        self._sides: dict[int, _Side] = {}
        self._commands: SimpleQueue[RoomCommand | None] = SimpleQueue()
        self._bell, self._ears = socketpair()
        self._bell.setblocking(False)
        self._count = self._number = 0
        self._inputs, self._heard = Inputs(), True
        self._playing, self._speed, self._steps, self._reset = False, 1.0, 0, False
        self._timestep, self._step_cost = 2e-3, 1e-4
        self._owed = 0.0
        self._clock = self._sent = monotonic()
        self._pace = _Pace()
        self.closed = False
        self._thread = Thread(target=self._run, name="room", daemon=True)
        self._thread.start()

    @property
    def processes(self) -> tuple[int, ...]:
        """The process numbers of the workers."""
        return tuple(side.process.pid or 0 for side in self._all() if side.process.is_alive())

    def send(self, command: RoomCommand) -> None:
        """Pass on a command; may be called from any thread, and never waits."""
        self._commands.put(command)
        self._ring()

    def close(self) -> None:
        """Stop everything; may be called repeatedly."""
        self._commands.put(None)
        self._ring()
        self._thread.join(20.0)

    def _ring(self) -> None:
        with suppress(OSError):  # it is closed, or has rung already
            self._bell.send(b"!")

    def _all(self) -> tuple[_Side, ...]:
        return tuple(self._sides.values())

    def _run(self) -> None:
        try:
            while self._take_commands():
                self._receive()
                if all(side.since is None for side in self._all()) and self._sides:
                    self._advance()
                ends = [side.connection for side in self._all() if side.since is not None]
                if wait([self._ears, *ends], timeout=self._patience()):
                    self._hush()
        except Exception as error:  # no one else notices the end of a thread
            reason = one_line(str(error)) or type(error).__name__
            with suppress(Exception):
                self._publish(Ended(f"the room has ended: {reason}"))
        finally:
            self.closed = True
            for side in self._all():
                side.stop()
            self._bell.close()
            self._ears.close()

    def _hush(self) -> None:
        if wait([self._ears], timeout=0):
            self._ears.recv(4096)

    def _patience(self) -> float:
        """Return the time until something has to be done, whatever is received [s]."""
        if any(side.since is not None for side in self._all()) or not self._playing:
            return 1.0
        return max(self._sent + _PERIOD - monotonic(), 0.0)

    def _take_commands(self) -> bool:
        """Obey all commands; return False after the last."""
        while True:
            try:
                command = self._commands.get_nowait()
            except Empty:
                return True
            match command:
                case None:
                    return False
                case SetUp():
                    self._set_up(command.sides)
                case Inputs():
                    self._inputs, self._heard = command, False
                case Run():
                    self._play(command)
                case Steps():
                    self._playing = False
                    self._steps += command.count
                case Reset():
                    self._reset = True

    def _play(self, command: Run) -> None:
        if command.on and not self._playing:
            self._clock, self._owed = monotonic(), 0.0
            self._pace = _Pace()
        self._playing, self._speed = command.on, command.speed

    def _set_up(self, requests: Sequence[OpenRoom]) -> None:
        for number in range(len(requests), max(self._sides, default=0) + 1):
            self._stop(number)
        self._timestep = requests[0].setup.timestep
        self._inputs, self._heard, self._reset, self._steps = Inputs(), True, False, 0
        for number, request in enumerate(requests):
            # A worker that is busy, with steps or with the room before, is replaced.
            side = self._sides.get(number)
            if side is not None and side.since is not None:
                self._wait_for(side)
            try:
                if side is None or side.since is not None:
                    self._replace(number)
            except OSError as error:
                text = f"no worker process can be started: {error}"
                self._news("refused", side=number, message=text)
                continue
            self._sides[number].ask(request, timeout=_OPEN_TIMEOUT)

    def _wait_for(self, side: _Side) -> None:
        """Let a worker finish its steps, if it does so soon."""
        if side.timeout == _STEP_TIMEOUT:
            wait([side.connection], timeout=0.5)
            with suppress(RoomError):
                answer = side.poll()
                if isinstance(answer, Advanced):
                    self._got(side, answer)

    def _replace(self, number: int) -> None:
        self._count += 1
        output = self._outputs / f"room-{id(self)}-{self._count}.txt"
        self._stop(number)
        self._sides[number] = _Side(number, self._start, output=output, memory=self._memory)

    def _stop(self, number: int) -> None:
        if side := self._sides.pop(number, None):
            side.stop()

    def _receive(self) -> None:
        for side in self._all():
            if side.since is None:
                continue
            try:
                answer = side.poll()
            except RoomError as error:
                self._stop(side.number)
                self._playing = False
                self._news("crashed", side=side.number, message=str(error))
                continue
            match answer:
                case Advanced():
                    self._got(side, answer)
                case Opened():
                    self._publish(SideOpened(side.number, answer))
                case Refused():
                    self._playing = False
                    self._news(
                        "refused", side=side.number, message=answer.message,
                        findings=list(answer.findings),
                    )  # fmt: skip

    def _got(self, side: _Side, answer: Advanced) -> None:
        self._publish(SideFrame(side.number, answer.frame))
        if answer.cpu:
            self._step_cost += 0.2 * (answer.cpu - self._step_cost)
        if self._playing and HEAD.unpack_from(answer.frame)[5]:
            self._playing = False
            self._news("diverged", side=side.number)

    def _advance(self) -> None:
        """Ask all sides for the next steps, if it is time."""
        now = monotonic()
        if self._playing:
            if now < self._sent + _PERIOD and not self._reset:
                return
            self._owed = min(self._owed + (now - self._clock) * self._speed, _FORGIVEN)
            self._clock = now
            most = max(1, int(_BUSY / self._step_cost))
            steps = min(int(self._owed / self._timestep), most)
            self._owed -= steps * self._timestep
            self._pace.count(now, steps * self._timestep)
            if news := self._pace.news(now):
                self._news("pace", **news, cost=self._step_cost, step=self._timestep)
        else:
            steps, self._steps = min(self._steps, 1000), max(self._steps - 1000, 0)
            if not steps and self._heard and not self._reset:
                return
        self._number += 1
        self._sent = now
        request = Advance(self._number, steps, self._inputs, reset=self._reset)
        if self._reset:
            # Targets and pulls of before the reset do not survive it.
            self._inputs = Inputs(number=self._inputs.number, mode=self._inputs.mode)
            request = Advance(self._number, 0, self._inputs, reset=True)
        self._heard, self._reset = True, False
        for side in self._all():
            side.ask(request, timeout=_STEP_TIMEOUT)

    def _news(self, type: str, **data: Any) -> None:
        self._publish(News({"type": type, **data}))


class _Pace:
    """The real-time factor over the last moments."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._simulated = 0.0
        self._frames = 0

    def count(self, now: float, simulated: float) -> None:
        self._simulated += simulated
        self._frames += 1

    def news(self, now: float) -> dict[str, float] | None:
        """Return the pace, and begin again, if it is time."""
        passed = now - self._since
        if passed < _PACE_EVERY:
            return None
        news = {"factor": self._simulated / passed, "rate": self._frames / passed}
        self._since, self._simulated, self._frames = now, 0.0, 0
        return news


def ask_worker(request: object, *, outputs: Path, memory: float = MEMORY) -> Any:
    """Return the answer of a worker of its own to one request.

    Args:
        request: Any request of `worker.py`.
        outputs: An existing folder for the output of the worker.
        memory: Its memory limit [bytes].

    Raises:
        KinetariumError: If the worker crashes or does not answer.
    """
    output = outputs / f"asked-{id(request)}.txt"
    try:
        side = _Side(0, WorkerStart(PRELOADED), output=output, memory=memory)
    except OSError as error:
        raise KinetariumError(f"no worker process can be started: {error}") from error
    try:
        side.ask(request, timeout=_OPEN_TIMEOUT)
        while True:
            wait([side.connection], timeout=1.0)
            if (answer := side.poll()) is not None:
                return answer
    finally:
        side.stop()
