"""What a process uses, as Linux tells it; elsewhere nothing is known and nothing limited."""

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PAGE = 0 if sys.platform == "win32" else os.sysconf("SC_PAGE_SIZE")
_TICK = 1.0 if sys.platform == "win32" else 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process uses.

    Attributes:
        resident: Memory that is in use [bytes].
        data: Private memory that is reserved, used or not [bytes].
        cpu: Processor time since its start [s].
    """

    resident: int = 0
    data: int = 0
    cpu: float = 0.0


def process_usage(process: int) -> ProcessUsage:
    """Give what a process uses; nothing if it has ended (proc(5))."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text().split()
        # A process's name is in parentheses and may hold anything, parentheses too.
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        cpu = _TICK * (int(times[11]) + int(times[12]))
        return ProcessUsage(_PAGE * int(pages[1]), _PAGE * int(pages[5]), cpu)
    return ProcessUsage()


def oom_kills() -> int:
    """Count the processes that the system has killed for want of memory since it started."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
