"""Machine code of kernels is kept, but never longer than the sources it is made of."""

import subprocess
import sys
from pathlib import Path

import kinetarium
from kinetarium.dynamics.compiled import KERNEL_FOLDERS

PACKAGE = Path(kinetarium.__file__).parent

PROGRAM = """
from hashlib import sha256
from pathlib import Path
from kinetarium.dynamics import compiled
compiled._source_stamp = lambda: sha256(Path("called.py").read_bytes()).hexdigest()
from calling import kernel
print(kernel(1.0), sum(kernel.stats.cache_hits.values()))
"""


def test_all_kernels_are_where_sources_are_watched() -> None:
    users = [
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if "compiled import compiled" in path.read_text(encoding="utf-8")
    ]
    assert len(users) > 10
    for path in users:
        assert any(path.is_relative_to(folder) for folder in KERNEL_FOLDERS), path


def test_a_kernel_follows_the_one_it_calls(tmp_path: Path) -> None:
    mark = "from kinetarium.dynamics.compiled import compiled\n"
    called, calling = tmp_path / "called.py", tmp_path / "calling.py"
    calling.write_text(
        f"{mark}from called import part\n@compiled\ndef kernel(x):\n    return part(x)\n"
    )

    def run(factor: int) -> str:
        called.write_text(f"{mark}@compiled\ndef part(x):\n    return {factor} * x\n")
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
