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


def test_a_class_of_arguments_may_be_renamed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import kernels; print(kernels.total(kernels.PAIR))\n")
    for name in ("Pair", "Couple"):
        (tmp_path / "kernels.py").write_text(
            "from typing import NamedTuple\n"
            "from kinetarium.spatial.compiled import compiled\n"
            f"class {name}(NamedTuple):\n    a: float\n    b: float\n"
            "@compiled\ndef total(pair):\n    return pair.a + pair.b\n"
            f"PAIR = {name}(1.0, 2.0)\n"
        )
        words = [sys.executable, "program.py"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stdout == "3.0\n", done.stderr
