"""A study whose cases go wrong in every way a native engine can, after it has stepped one."""

import ctypes
import mmap
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.recording.recording import Channel, Recording, Row


class Fault(StrEnum):
    NONE = "none"
    SEGV = "SEGV"
    SEGV_ONCE = "SEGV once"
    ABRT = "ABRT"
    EXIT = "exit"
    EXIT_ZERO = "exit 0"
    EXIT_255 = "exit 255"
    SLOW = "slow"
    VANISH = "vanish"
    VANISH_ONCE = "vanish once"
    HANG = "hang"
    HANG_WITH_GIL = "hang with GIL"
    PYTHON_MEMORY = "memory in Python"
    NATIVE_MEMORY = "memory in native code"
    SHARED_MEMORY = "shared memory"
    KILLED = "killed"
    STDERR = "1 MB on stderr"
    CLOSED_PIPE = "closed pipe"
    EXCEPTION = "exception"
    SYSTEM_EXIT = "SystemExit"
    UNWRITABLE = "unwritable"
    UNSUPPORTED = "unsupported"
    DIVERGED = "diverged"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case.

    Attributes:
        fault: What goes wrong.
        engine: The engine that runs before; none if empty.
        number: Tells equal cases apart.
        diary: A file that is told when a case begins and when the fault comes.
    """

    fault: Fault
    engine: str = ""
    number: int = 0
    diary: str = ""


class FaultyStudy(Study[Case, Case]):
    name = "faulty"
    help = "go wrong"
    title = "Going wrong"
    config = Case
    case = Case

    def cases(self, config: Case) -> Sequence[Case]:
        return [config]

    def run(self, case: Case) -> Recording:
        _note(case, "begin")
        recording = _drop(case.engine) if case.engine else _nothing("running")
        if case.fault is not Fault.NONE:
            print(f"here comes {case.fault}", file=sys.stderr)
            _note(case, "fault")
            recording = _go_wrong(case, recording)
        return recording

    def score(self, case: Case, recording: Recording) -> Sequence[Row]:
        return [{"samples": len(recording["time"])}]

    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        raise NotImplementedError


def _note(case: Case, what: str) -> None:
    if case.diary:
        with open(case.diary, "a") as diary:
            diary.write(f"{time.time()} {os.getpid()} {what} {case.number} {case.fault}\n")


def _drop(engine: str) -> Recording:
    from kinetarium.model.robot import Sphere
    from kinetarium.rollout.loop import run
    from kinetarium.scene import Scene
    from kinetarium.scene.body import free_body, ground

    ball = free_body("ball", Sphere(0.1), mass=1.0, position=(0.0, 0.0, 0.11))
    return run(Scene((), (ground(), ball)), engine=engine, duration=0.05)


def _nothing(status: str) -> Recording:
    return Recording({"time": Channel(np.array([0.0, 0.25]), "s")}, status)


def _vanish() -> None:
    """End the fork server and this process, so that nobody is left who knows how."""
    server = os.getppid()
    if "fork_server" in Path("/proc", str(server), "cmdline").read_text():
        os.kill(server, 9)
        while os.getppid() == server:  # its exit is over once this process has another parent
            time.sleep(0.001)
    os.kill(os.getpid(), 9)


def _go_wrong(case: Case, recording: Recording) -> Recording:
    match case.fault:
        case Fault.SEGV:
            ctypes.string_at(0)
        case Fault.SEGV_ONCE:
            if Path(case.diary).read_text().count("fault") == 1:
                ctypes.string_at(0)
        case Fault.ABRT:
            os.abort()
        case Fault.EXIT:
            os._exit(3)
        case Fault.EXIT_ZERO:
            os._exit(0)
        case Fault.EXIT_255:
            os._exit(255)
        case Fault.SLOW:
            time.sleep(0.2)
        case Fault.VANISH:
            _vanish()
        case Fault.VANISH_ONCE:
            if Path(case.diary).read_text().count("fault") == 1:
                _vanish()
        case Fault.HANG:
            time.sleep(1000)
        case Fault.HANG_WITH_GIL:
            ctypes.PyDLL(None).pause()
        case Fault.PYTHON_MEMORY:
            hoard: list[Any] = []
            while True:
                hoard.append(bytearray(100_000))
        case Fault.NATIVE_MEMORY:
            # `operator new` throws std::bad_alloc, which nobody here can catch.
            new = ctypes.CDLL("libstdc++.so.6")._Znwm
            new.argtypes, new.restype = [ctypes.c_size_t], ctypes.c_void_p
            while True:
                ctypes.memset(new(10_000_000), 1, 10_000_000)
        case Fault.SHARED_MEMORY:
            shared = mmap.mmap(-1, 20_000_000_000)
            for start in range(0, len(shared), 10_000_000):
                shared[start : start + 10_000_000] = bytes(10_000_000)
                time.sleep(0.005)
        case Fault.KILLED:
            os.kill(os.getpid(), 9)
        case Fault.STDERR:
            os.write(2, b"All work and no play.\n" * 50_000)
        case Fault.CLOSED_PIPE:
            os.closerange(0, 4096)
        case Fault.EXCEPTION:
            raise ZeroDivisionError("division\nby \x1b[31mzero " + "x" * 10_000)
        case Fault.SYSTEM_EXIT:
            sys.exit(5)
        case Fault.UNWRITABLE:
            return Recording({"time": Channel(np.array([object()]), "s")}, "running")
        case Fault.UNSUPPORTED:
            from kinetarium.engines.protocol import Capability, CapabilityError

            raise CapabilityError("toy", Capability.MIMIC, reason="this case")
        case Fault.DIVERGED:
            return _nothing("diverged")
    return recording
