"""Newton, Warp and MuJoCo without their messages, their types, and news of compilation."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import warp

from kinetarium.engines.base.engine import quiet
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation


class _Progress:
    """Says that kernels are compiled, on a terminal how many; drops all else that Warp says."""

    def __init__(self) -> None:
        self.compiled = self._ended = 0

    def debug(self, message: str) -> None:
        """Drop it."""

    def info(self, message: str) -> None:
        """Count a module that had to be compiled; loading one takes no time."""
        if "(compiled)" not in message:
            return
        self.compiled += 1
        text = "kinetarium: Newton compiles kernels (a minute or two the first time)"
        if sys.stderr.isatty():
            print(f"\r{text}: {self.compiled}", end="", file=sys.stderr, flush=True)
        elif self.compiled == 1:
            print(text, file=sys.stderr, flush=True)

    def warning(self, message: str, category: Any = None, stacklevel: int = 1) -> None:
        """Drop it."""

    def error(self, message: str) -> None:
        """Drop it: what is wrong is also raised."""

    def end(self) -> None:
        """Leave the terminal's line."""
        if self.compiled > self._ended and sys.stderr.isatty():
            print(file=sys.stderr, flush=True)
        self._ended = self.compiled


_progress = _Progress()
warp.set_logger(_progress)
with quiet(), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of versions: the extra names those that work together
    warp.init()
    import mujoco_warp as mujoco_warp
    import newton as newton

    mujoco, _ = newton.solvers.SolverMuJoCo.import_mujoco()


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Say on the standard error stream that kernels are compiled, if any are."""
    try:
        yield
    finally:
        _progress.end()


def transform(X: Array) -> Any:
    """Return a homogeneous transform, shape (4, 4), as Warp's."""
    w, x, y, z = quaternion_from_rotation(X[:3, :3]).tolist()
    return warp.transform(warp.vec3(*X[:3, 3].tolist()), warp.quat(x, y, z, w))
