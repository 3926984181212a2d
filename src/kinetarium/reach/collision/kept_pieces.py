"""Convex pieces that are kept: with a map, and in the user's cache.

Pieces depend on the arm alone: its kinematics and the shapes of its links, mesh files included.
The digest of these identifies them. A file of pieces has a line with the shapes of the arrays,
the arrays and the hash of all that; since kernels do not check indices, a file from elsewhere is
used only if all of its indices are valid.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import SerialChain
from kinetarium.errors import KinetariumError, OutputError
from kinetarium.import_closure import file_closure
from kinetarium.model.robot import MeshData, MeshFile
from kinetarium.reach.collision import pieces as pieces_module
from kinetarium.reach.collision.piece_arrays import CELLS, PieceArrays
from kinetarium.reach.collision.pieces import body_pieces, body_shapes
from kinetarium.spatial.arrays import Array
from kinetarium.storage.atomic import cache_folder, make_folder, write_atomic
from kinetarium.storage.regular_file import open_regular, read_regular
from kinetarium.storage.strict_json import parse_json, strict_json

VERSION = 1
"""Version of pieces in maps: to be raised when the same shapes become other pieces. Those in the
user's cache depend on the code that made them."""
MOST_BYTES = 64 * 2**20
"""The largest file of pieces that is read."""
DIGITS = 9
"""Decimals of positions and sizes that count: rounding errors differ between machines."""
_KINDS = {
    "places": "<f8", "sizes": "<f8", "corners": "<f8", "cluster_starts": "<i8", "clusters": "<f8",
    "body_starts": "<i8", "bodies": "<f8", "frames": "<i8", "pairs": "<i8", "apart": "|u1",
    "spans": "<f8",
}  # fmt: skip
_SEAL_BYTES = 32


class PiecesFileError(KinetariumError):
    """A file of pieces that is broken, was changed, or does not fit the arm."""


def kept_pieces(chain: SerialChain, *, digest: str | None = None) -> PieceArrays:
    """Return the pieces of an arm from the user's cache, or compute and keep them.

    Args:
        digest: The result of `pieces_digest`, if it is known.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    digest = digest or pieces_digest(chain)
    path: Path | None = None
    with suppress(OSError, OutputError, PiecesFileError):
        code = file_closure(Path(pieces_module.__file__)).digest
        path = cache_folder() / "pieces" / f"{digest[:32]}-{code[:16]}"
        return parse_pieces(read_regular(path, most=MOST_BYTES), chain)
    pieces = body_pieces(chain)
    if path is not None:
        with suppress(OSError, OutputError):
            make_folder(path.parent)
            write_atomic(path, pieces_file(pieces))
    return pieces


def pieces_digest(chain: SerialChain) -> str:
    """Return a digest of everything that the pieces of an arm depend on.

    Raises:
        OSError: If a mesh file cannot be read.
    """
    arrays = chain.arrays
    parts: list[object] = [VERSION, CELLS, arrays.prismatic.tolist()]
    parts += [_rounded(values) for values in (arrays.frames[:-1], arrays.lower, arrays.upper)]
    for number, X_FL, geometries in body_shapes(chain):
        for part in geometries:
            parts += [number, _rounded(X_FL @ part.X_LG)]
            match part.shape:
                case MeshFile(path=path, scale=scale):
                    with open_regular(path) as file:
                        parts += [file_digest(file, "sha256").hexdigest(), _rounded(scale)]
                case MeshData(mesh=mesh):
                    rows = mesh.vertices.round(DIGITS) + 0.0
                    parts.append(sha256(rows.tobytes() + mesh.faces.tobytes()).hexdigest())
                case shape:
                    parts.append(shape)
    return sha256(repr(parts).encode()).hexdigest()


def _rounded(values: Array | Sequence[float]) -> list[object]:
    return (np.round(values, DIGITS) + 0.0).tolist()  # type: ignore[no-any-return]


def pieces_file(pieces: PieceArrays) -> bytes:
    """Return pieces as the content of a file."""
    shapes = {name: getattr(pieces, name).shape for name in _KINDS}
    data = strict_json(shapes, indent=None).encode() + b"\n"
    for name, kind in _KINDS.items():
        data += np.ascontiguousarray(getattr(pieces, name), dtype=kind).tobytes()
    return data + sha256(data).digest()


def parse_pieces(data: bytes, chain: SerialChain) -> PieceArrays:
    """Return the pieces in a file, with valid indices.

    Args:
        data: The content of the file.
        chain: The arm that they are for.

    Raises:
        PiecesFileError: If it is broken, was changed, or does not fit the arm.
    """
    if sha256(data[:-_SEAL_BYTES]).digest() != data[-_SEAL_BYTES:]:
        raise PiecesFileError("the pieces have changed since they were written")
    head, _, rest = data[:-_SEAL_BYTES].partition(b"\n")
    arrays, start = {}, 0
    try:
        shapes = parse_json(head.decode())
        for name, kind in _KINDS.items():
            shape = tuple(int(size) for size in shapes[name])
            if min(shape, default=0) < 0:
                raise ValueError
            size = prod(shape) * np.dtype(kind).itemsize
            values = np.frombuffer(rest[start : start + size], kind).reshape(shape)
            # Copied: kernels are compiled for arrays that may be written.
            arrays[name] = values.astype(np.dtype(kind).newbyteorder("="))
            start += size
    except (ValueError, KeyError, TypeError, OverflowError):
        raise PiecesFileError("the pieces are broken") from None
    pieces = PieceArrays(**arrays)
    if start != len(rest) or not _are_sound(pieces, joints=len(chain.joints)):
        raise PiecesFileError("the pieces do not fit the arm")
    return pieces


def _are_sound(pieces: PieceArrays, *, joints: int) -> bool:
    """Return whether shapes and indices fit each other, and all numbers are finite."""
    n, clusters, bodies = len(pieces.places), len(pieces.clusters), joints + 2
    shapes = {
        "places": (n, 3, 4), "sizes": (n, 9), "corners": (len(pieces.corners), 3),
        "cluster_starts": (clusters + 1,), "clusters": (clusters, 4),
        "body_starts": (bodies + 1,), "bodies": (bodies, 4), "frames": (bodies,),
        "pairs": (len(pieces.pairs), 2), "apart": (bodies, CELLS, CELLS // 8),
        "spans": (joints, 2),
    }  # fmt: skip
    if any(getattr(pieces, name).shape != shape for name, shape in shapes.items()):
        return False
    if not all(np.isfinite(getattr(pieces, name)).all() for name in shapes):
        return False
    corners = pieces.sizes[:, 7:]
    a, b = pieces.pairs.T
    return bool(
        _cover(pieces.cluster_starts, n)
        and _cover(pieces.body_starts, clusters)
        and pieces.body_starts[-2] == clusters  # the last body is for obstacles
        and (corners == np.rint(corners)).all()
        and (0 <= corners).all()
        and (corners[:, 0] <= corners[:, 1]).all()
        and (corners <= len(pieces.corners)).all()
        and (pieces.frames == [*range(bodies - 1), 0]).all()
        and ((0 <= a) & (a + 2 <= b) & (b < bodies - 1)).all()
    )


def _cover(starts: NDArray[np.int64], end: int) -> bool:
    """Return whether indices of first elements increase from zero to the end."""
    return bool(starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())
