"""HeightMap: ground given by heights on a grid, from a PNG or NumPy file."""

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from warnings import catch_warnings

import numpy as np

from kinetarium.errors import one_line
from kinetarium.legs.mechanism.pantograph import LegsError, checked
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.storage.regular_file import read_regular, reason

MOST_POINTS = 128
"""Points of a map along each side."""
_MOST_BYTES = 1_000_000
_PNG = b"\x89PNG\r\n\x1a\n"
_WHITE = {"L": 255.0, "I;16": 65535.0}
"""The value of white in Pillow's grey modes of 8 and 16 bits."""
_NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_REAL = "biuf"
"""Kinds of NumPy's types that are real numbers: truth values, whole numbers, floating point."""
_SLOPES = (0.0, 0.5, 1.0)
"""Distances at which a better foothold is looked for, relative to the reach of the search [-]."""
_DIRECTIONS = 8


@dataclass(frozen=True)
class HeightMap:
    """Heights on a square grid, with two flat triangles in each cell.

    Attributes:
        heights: Rows along x of heights [unit], not negative; the outermost should be 0.
        cell: Distance between two points [unit].
        x0: Where the first row is along x [unit].
        y0: Where the first point of a row is along y [unit].
        max_slope: Rise over run above which a foot looks for a flatter foothold [-].
        search: How far it looks [unit].
    """

    heights: tuple[tuple[float, ...], ...]
    cell: float = 10.0
    x0: float = 0.0
    y0: float = 0.0
    max_slope: float = 0.2
    search: float = 3.0

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        sizes = {len(row) for row in self.heights}
        if len(sizes) != 1 or not all(2 <= n <= MOST_POINTS for n in (len(self.heights), *sizes)):
            raise LegsError(
                f"a height map needs from 2 x 2 to {MOST_POINTS} x {MOST_POINTS} points"
            )
        checked("cell of a height map", self.cell, low=1e-6, high=1e6)
        checked("x0 of a height map", self.x0, low=-1e6, high=1e6)
        checked("y0 of a height map", self.y0, low=-1e6, high=1e6)
        for value in (min(map(min, self.heights)), max(map(max, self.heights))):
            checked("a height of a height map", value, low=0.0, high=1e6)

    @cached_property
    def grid(self) -> Array:
        """The heights [unit], shape (n, m)."""
        return frozen(self.heights)

    def height(self, x: Array, y: Array) -> Array:
        """Return the height at points, 0 outside the map [unit], shape (...)."""
        return self._plane(x, y)[0]

    def slope(self, x: Array, y: Array) -> Array:
        """Return the rise over run at points [-], shape (...)."""
        _, dx, dy = self._plane(x, y)
        return np.hypot(dx, dy)

    def _plane(self, x: Array, y: Array) -> tuple[Array, Array, Array]:
        """Return height, and slopes along x and y, of the triangles at points."""
        grid, cell = self.grid, self.cell
        n, m = grid.shape
        u, v = (x - self.x0) / cell, (y - self.y0) / cell
        inside = (u >= 0) & (v >= 0) & (u <= n - 1) & (v <= m - 1)
        i = np.clip(np.floor(u), 0, n - 2).astype(int)
        j = np.clip(np.floor(v), 0, m - 2).astype(int)
        u, v = u - i, v - j
        a, b, c, d = grid[i, j], grid[i + 1, j], grid[i, j + 1], grid[i + 1, j + 1]
        first = u + v <= 1
        dx, dy = np.where(first, b - a, d - c), np.where(first, c - a, d - b)
        z = np.where(first, a + u * dx + v * dy, d - (1 - u) * dx - (1 - v) * dy)
        return tuple(np.where(inside, part, 0.0) for part in (z, dx / cell, dy / cell))  # type: ignore[return-value]

    def flatter(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Return the nearest points that are flat enough, or the flattest near ones [unit]."""
        turns = np.arange(_DIRECTIONS) * 2 * np.pi / _DIRECTIONS
        around = np.column_stack([np.cos(turns), np.sin(turns)])
        shifts = np.concatenate(
            [np.zeros((1, 2)), *(self.search * s * around for s in _SLOPES[1:])]
        )
        xs, ys = x[..., np.newaxis] + shifts[:, 0], y[..., np.newaxis] + shifts[:, 1]
        slopes = self.slope(xs, ys)
        flat = slopes <= self.max_slope
        best = np.where(flat.any(axis=-1), np.argmax(flat, axis=-1), np.argmin(slopes, axis=-1))
        return x + shifts[best, 0], y + shifts[best, 1]

    def triangles(self, near: Array | None = None) -> Array:
        """Return the triangles that rise above the ground [unit], shape (t, 3, 3).

        Args:
            near: Points (x, y) [unit], shape (p, 2): only cells next to one of them.
        """
        n, m = self.grid.shape
        x, y = self.x0 + self.cell * np.arange(n), self.y0 + self.cell * np.arange(m)
        corners = np.stack([*np.meshgrid(x, y, indexing="ij"), self.grid], axis=-1)
        a, b, c, d = corners[:-1, :-1], corners[1:, :-1], corners[:-1, 1:], corners[1:, 1:]
        wanted = np.ones((n - 1, m - 1), dtype=np.bool_)
        if near is not None:
            wanted[:] = False
            at = np.floor((near - [self.x0, self.y0]) / self.cell).astype(int)
            for i in (-1, 0, 1):
                for j in (-1, 0, 1):
                    u, v = np.unique(at + np.array([i, j]), axis=0).T
                    real = (u >= 0) & (v >= 0) & (u < n - 1) & (v < m - 1)
                    wanted[u[real], v[real]] = True
        both = np.stack([np.stack([a, b, c], axis=2), np.stack([b, d, c], axis=2)], axis=2)
        chosen: Array = both[wanted].reshape(-1, 3, 3)
        return np.compress(chosen[:, :, 2].max(axis=1) > 0, chosen, axis=0)


def read_height_map(path: Path, *, cell: float, rise: float, start: float) -> HeightMap:
    """Read a height map: x runs along the rows of the file, y is centred about the path.

    Args:
        path: PNG in grey of 8 or 16 bits, or .npy of heights [unit].
        cell: Distance between two points [unit].
        rise: Height of white in a PNG [unit].
        start: Where the map begins along x [unit].

    Raises:
        LegsError: If the file cannot be read or is invalid.
    """
    try:
        data = read_regular(path, most=_MOST_BYTES)
    except (OSError, ValueError) as error:
        raise LegsError(f"cannot read the height map {str(path)!r}: {reason(error)}") from None
    try:
        grid = _grey(data) * rise if data.startswith(_PNG) else _table(data)
    except (OSError, ValueError, SyntaxError, EOFError) as error:  # SyntaxError: of a broken PNG
        raise LegsError(f"{str(path)!r} is not a height map: {one_line(str(error))}") from None
    if not np.isfinite(grid).all():
        raise LegsError(f"{str(path)!r} is not a height map: it needs a table of finite numbers")
    width = (grid.shape[1] - 1) * cell
    rows = tuple(map(tuple, grid.tolist()))
    return HeightMap(heights=rows, cell=cell, x0=start, y0=-width / 2)


def _grey(data: bytes) -> Array:
    """Decode a PNG in grey; return fractions of white, shape (n, m)."""
    from PIL import Image

    try:
        with (
            catch_warnings(action="ignore", category=Image.DecompressionBombWarning),
            Image.open(BytesIO(data), formats=["PNG"]) as image,
        ):
            if image.mode not in _WHITE:
                raise ValueError("it must be grey, of 8 or 16 bits, without alpha")
            _check_points(*image.size)
            return np.asarray(image, dtype=np.float64) / _WHITE[image.mode]
    except Image.DecompressionBombError as error:
        raise ValueError(error) from None


def _table(data: bytes) -> Array:
    """Read the numbers of a .npy file, shape (n, m)."""
    file = BytesIO(data)
    try:
        header = _NPY_HEADERS[np.lib.format.read_magic(file)]
        shape, _, dtype = header(file)
    except Exception:  # whatever its parser, written in Python, stumbles over
        raise ValueError("it is neither a PNG nor an .npy file of version 1 or 2") from None
    if len(shape) != 2 or dtype.kind not in _REAL:
        raise ValueError("it needs a table of finite numbers")
    _check_points(*shape)
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False).astype(np.float64)


def _check_points(width: int, height: int) -> None:
    """Check the size of a map, before its points are read."""
    if not all(2 <= size <= MOST_POINTS for size in (width, height)):
        raise ValueError(f"it has {width} x {height} points, not 2 to {MOST_POINTS} a side")
