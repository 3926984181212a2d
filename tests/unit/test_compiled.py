"""Machine code of kernels is kept, but never longer than the sources it is made of."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
from calling import kernel
print(kernel(1.0), sum(kernel.stats.cache_hits.values()))
"""


def test_a_kernel_follows_the_one_it_calls(tmp_path: Path) -> None:
    mark = "from kinetarium.spatial.compiled import compiled\n"
    called, calling = tmp_path / "called.py", tmp_path / "calling.py"
    calling.write_text(
        f"{mark}from called import part\n@compiled\ndef kernel(x):\n    return part(x)\n"
    )

    def run(factor: int, words: str = "") -> str:
        called.write_text(f"{mark}@compiled\ndef part(x):\n    {words}\n    return {factor} * x\n")
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert run(2) == "2.0 0\n"
    assert run(2) == "2.0 1\n"
    assert run(3) == "3.0 0\n"
    assert run(3, '"""Say what it is."""') == "3.0 1\n"
    assert run(3, "# why it is so") == "3.0 1\n"
