"""Maps on disk: a folder NAME.rmap with one .npy file per field, the arm's pieces, a manifest.

The folder is written atomically, under a temporary name that is renamed. Opening checks sizes
and headers and maps the fields into memory; values are compared with their hashes by
`verify_map` only.
"""

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import file_digest, sha256
from importlib.metadata import version
from io import BufferedReader
from math import prod
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import SerialChain
from kinetarium.errors import KinetariumError, OutputError
from kinetarium.reach.collision.kept_pieces import (
    MOST_BYTES,
    PiecesFileError,
    kept_pieces,
    parse_pieces,
    pieces_digest,
    pieces_file,
)
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.maps.grid import VoxelGrid, voxel_grid
from kinetarium.reach.maps.recipe import MOST_POSES, MapRecipe, field_shape, value_type
from kinetarium.storage.atomic import (
    check_folder,
    check_writable,
    make_folder,
    write_folder_atomic,
)
from kinetarium.storage.regular_file import open_regular, read_regular, reason
from kinetarium.storage.serialization import (
    from_builtins,
    read_sealed_json,
    sealed_json,
    to_builtins,
)

MANIFEST = "manifest.json"
PIECES = "pieces.bin"
FORMAT = "kinetarium reach map"

Field = NDArray[Any]


class MapFileError(KinetariumError):
    """A map that is broken, was changed, is of a later release, or is not a map."""


@dataclass(frozen=True, slots=True)
class _FieldEntry:
    unit: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class _PiecesEntry:
    digest: str
    sha256: str


@dataclass(frozen=True, slots=True)
class _MapManifest:
    format: str
    recipe: MapRecipe
    grid: VoxelGrid
    versions: dict[str, str]
    fields: dict[str, _FieldEntry]
    pieces: _PiecesEntry | None = None


@dataclass(frozen=True, eq=False)
class ReachMap:
    """A map, its fields mapped into memory read-only.

    Attributes:
        path: Its folder; None if it is only in memory.
        recipe: How it was made.
        fields: Its values by name.
        units: Their units by name.
        versions: The versions of the packages that made it.
        pieces_digest: Identifies the arm's convex pieces that are kept with it; empty for maps
            of earlier releases and those in memory.
    """

    path: Path | None
    recipe: MapRecipe
    fields: Mapping[str, Field]
    units: Mapping[str, str]
    versions: Mapping[str, str]
    pieces_digest: str = ""

    @cached_property
    def grid(self) -> VoxelGrid:
        """The voxels."""
        return voxel_grid(self.recipe.voxel, radius=self.recipe.radius)


def check_map_path(path: str | PathLike[str]) -> Path:
    """Check that a map can be written, before it is computed.

    Raises:
        OutputError: If the parent folder is missing or read-only, or the path is not a map.
    """
    if "\0" in fspath(path) or not Path(fspath(path)).name:
        raise OutputError(f"cannot write {fspath(path)!r}: not a valid path")
    folder = Path(realpath(path))
    if not folder.is_dir():
        check_writable(folder)
        if folder.exists():
            raise OutputError(f"cannot write {str(folder)!r}: it is a file, not a map")
    elif any(folder.iterdir()):
        if not _is_map(folder):
            raise OutputError(f"cannot write {str(folder)!r}: it is a folder that is not a map")
        check_folder(folder, ours=rf"{MANIFEST}|{PIECES}|[a-z_]+\.npy")
    return folder


def write_map(
    path: Path,
    recipe: MapRecipe,
    *,
    fields: Mapping[str, Field],
    units: Mapping[str, str],
    pieces: tuple[str, PieceArrays] | None = None,
) -> None:
    """Write a map, replacing an existing one.

    Args:
        path: The map's folder; its parent must exist.
        recipe: How it was made.
        fields: Its values by name.
        units: Their units by name.
        pieces: The digest of the arm's pieces, and these.

    Raises:
        OutputError: If it cannot be written; the previous content is then unchanged.
    """
    files, entries = {}, {}
    for name, values in fields.items():
        data = _header(values.dtype.str, values.shape) + values.tobytes()
        files[f"{name}.npy"] = data
        entries[name] = _FieldEntry(
            units[name], values.dtype.str, values.shape, sha256(data).hexdigest()
        )
    grid = voxel_grid(recipe.voxel, radius=recipe.radius)
    versions = {"kinetarium": version("kinetarium"), "numpy": np.__version__}
    kept = None
    if pieces is not None:
        files[PIECES] = pieces_file(pieces[1])
        kept = _PiecesEntry(pieces[0], sha256(files[PIECES]).hexdigest())
    manifest = _MapManifest(FORMAT, recipe, grid, versions, entries, kept)
    files[MANIFEST] = sealed_json(to_builtins(manifest))
    make_folder(path.parent)
    write_folder_atomic(path, files)


def open_map(path: str | PathLike[str]) -> ReachMap:
    """Open a map.

    Sizes and headers are checked; the values stay on disk until they are used.

    Raises:
        MapFileError: If it is missing, incomplete, not a map or of a later release.
    """
    folder = Path(fspath(path))
    manifest = _read_manifest(folder)
    fields = {
        name: _mapped(folder / f"{name}.npy", entry) for name, entry in manifest.fields.items()
    }
    return ReachMap(
        folder,
        manifest.recipe,
        MappingProxyType(fields),
        MappingProxyType({name: entry.unit for name, entry in manifest.fields.items()}),
        MappingProxyType(manifest.versions),
        manifest.pieces.digest if manifest.pieces else "",
    )


def map_pieces(reach_map: ReachMap, chain: SerialChain) -> PieceArrays:
    """Return the convex pieces of an arm that are kept with its map, or in the user's cache.

    Raises:
        MapFileError: If they are broken, or the arm has other shapes than when the map was built
            with its self-collisions.
        RobotFileError: If a mesh file cannot be loaded.
    """
    digest = pieces_digest(chain)
    if reach_map.path is not None and digest == reach_map.pieces_digest:
        path = reach_map.path / PIECES
        try:
            return parse_pieces(read_regular(path, most=MOST_BYTES, through_links=False), chain)
        except (OSError, ValueError) as error:
            raise MapFileError(f"cannot read {str(path)!r}: {reason(error)}") from None
        except PiecesFileError as error:
            raise MapFileError(f"{str(path)!r}: {error}") from None
    if reach_map.pieces_digest and reach_map.recipe.self_collision:
        raise MapFileError(
            f"{str(reach_map.path)!r} was built with other collision shapes than those that "
            f"{chain.model.source.file!r} has now: build it again"
        )
    return kept_pieces(chain, digest=digest)


def describe_map(reach_map: ReachMap) -> dict[str, Any]:
    """Return a description of a map as JSON-like data."""
    grid = reach_map.grid
    return {
        "path": str(reach_map.path),
        "recipe": to_builtins(reach_map.recipe),
        "grid": to_builtins(grid),
        "voxels": grid.count**3,
        "fields": {
            name: {
                "unit": reach_map.units[name],
                "dtype": values.dtype.str,
                "shape": list(values.shape),
                "bytes": values.nbytes,
            }
            for name, values in reach_map.fields.items()
        },
        "versions": dict(reach_map.versions),
    }


def verify_map(path: str | PathLike[str]) -> None:
    """Compare every file of a map with its hash.

    Raises:
        MapFileError: If the map cannot be opened, a file has changed, or the folder contains
            a file that is not part of the map.
    """
    folder = Path(fspath(path))
    manifest = _read_manifest(folder)
    entries = manifest.fields
    for name, entry in entries.items():
        file = folder / f"{name}.npy"
        with _opened(file, entry) as stream:
            stream.seek(0)
            if file_digest(stream, "sha256").hexdigest() != entry.sha256:
                raise MapFileError(f"{str(file)!r} has changed since it was written")
    expected = {MANIFEST, *(f"{name}.npy" for name in entries)}
    if manifest.pieces:
        expected.add(PIECES)
        try:
            data = read_regular(folder / PIECES, most=MOST_BYTES, through_links=False)
        except (OSError, ValueError) as error:
            raise MapFileError(f"cannot read {str(folder / PIECES)!r}: {reason(error)}") from None
        if sha256(data).hexdigest() != manifest.pieces.sha256:
            raise MapFileError(f"{str(folder / PIECES)!r} has changed since it was written")
    if others := sorted({*os.listdir(folder)} - expected):
        raise MapFileError(f"{str(folder / others[0])!r} is not part of the map")


def _read_manifest(folder: Path) -> _MapManifest:
    path = folder / MANIFEST
    try:
        data = read_sealed_json(path)
        if data.get("format") != FORMAT:
            raise MapFileError(f"{str(folder)!r} is not a reach map")
        manifest = from_builtins(_MapManifest, data, where=repr(str(path)))
        recipe = manifest.recipe
        grid = voxel_grid(recipe.voxel, radius=recipe.radius)
    except KinetariumError as error:
        raise MapFileError(str(error)) from None
    if manifest.grid != grid or not 0 < recipe.poses <= MOST_POSES:
        raise MapFileError(f"{str(path)!r}: grid and recipe do not match")
    found = {name: (entry.dtype, entry.shape) for name, entry in manifest.fields.items()}
    shape, columns = field_shape(recipe), value_type(recipe.kind)
    if found != {name: (columns[name].str, shape) for name in columns.names or ()}:
        raise MapFileError(f"{str(path)!r}: its fields are not those of a map of {recipe.kind}")
    return manifest


def _is_map(folder: Path) -> bool:
    """Return whether a folder is a map by its manifest, valid or not."""
    try:
        return read_sealed_json(folder / MANIFEST).get("format") == FORMAT
    except KinetariumError:
        return False


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of a .npy file."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return head.getvalue()


def _opened(path: Path, entry: _FieldEntry) -> BufferedReader:
    """Open a file and check its header and size against the manifest."""
    try:
        file = open_regular(path, through_links=False)
    except (OSError, ValueError) as error:
        raise MapFileError(f"cannot read {str(path)!r}: {reason(error)}") from None
    head = _header(entry.dtype, entry.shape)
    size = len(head) + np.dtype(entry.dtype).itemsize * prod(entry.shape)
    if file.read(len(head)) != head or file.seek(0, io.SEEK_END) != size:
        file.close()
        raise MapFileError(f"{str(path)!r} does not match its manifest")
    return file


def _mapped(path: Path, entry: _FieldEntry) -> Field:
    with _opened(path, entry) as file:
        try:
            start = len(_header(entry.dtype, entry.shape))
            values = np.memmap(file, entry.dtype, mode="r", offset=start, shape=entry.shape)
        except (OSError, ValueError, MemoryError) as error:
            raise MapFileError(f"cannot map {str(path)!r}: {error}") from None
    return np.asarray(values)
