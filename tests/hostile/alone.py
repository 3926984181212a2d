"""Inspecting a file in a process of its own, with 10 s of CPU and 1 GB."""

import json
import subprocess
import sys
from pathlib import Path

MOST_CPU_SECONDS = 10
MOST_KILOBYTES = 1_000_000

# The process measures itself: what the system tells of a child counts the memory of the parent
# it was forked from, too.
_SCRIPT = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_CPU_SECONDS}, {MOST_CPU_SECONDS}))
from kinetarium.cli import main
code = main(["inspect", sys.argv[1], "--json", "-"])
with open("/proc/self/status") as status:
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
print("peak:", peak, file=sys.stderr)
sys.exit(code)
"""


def codes_alone(file: Path) -> list[str]:
    """Return the codes a file is refused with; fail if it is not, cleanly and in time."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(file)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert int(done.stderr.rpartition("peak:")[2]) < MOST_KILOBYTES
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    return [error["code"] for error in answer["errors"]]
