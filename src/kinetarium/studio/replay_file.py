"""The replay file: a replay and its channels in the binary format of the page.

Eight magic bytes, the length of the head [bytes, u32], the head as JSON, and blocks that
the head refers to by offset (from the end of the head) and length. The blocks are gzip
members, which a browser decompresses natively; poses are split into parts of about a
second, so that a long run plays before all of it is loaded. Time series are byte-shuffled
before they are compressed.
"""

import gzip
from collections.abc import Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np

from kinetarium.figure.replay import Replay, thinned
from kinetarium.model.robot import TriangleMesh
from kinetarium.recording.recording import Channel
from kinetarium.spatial.arrays import Array
from kinetarium.storage.strict_json import strict_json

_LEVEL = 4
"""Level of gzip; higher ones take twice the time and save a hundredth of the size."""
_STEPS = 65534
"""Steps of a compact stream; the code above them is NaN."""
_MESH_STEPS = 65535
"""Steps of the corners of a mesh within its box."""


class Encoding(StrEnum):
    """Precision of the numbers."""

    EXACT = "exact"
    COMPACT = "compact"


def compressed(data: bytes) -> bytes:
    """Return a gzip member that depends on the data alone."""
    return gzip.compress(data, _LEVEL, mtime=0)


def compressed_array(values: np.ndarray) -> bytes:
    """Compress an array, with bytes of equal significance grouped."""
    planes = np.ascontiguousarray(values).reshape(-1).view(np.uint8).reshape(-1, values.itemsize)
    return compressed(planes.T.tobytes())


def ranges(streams: Array) -> list[list[float]]:
    """Return the finite minimum and maximum of each stream, shape (streams, samples)."""
    finite = np.isfinite(streams)
    low = np.where(finite, streams, np.inf).min(axis=1, initial=np.inf)
    high = np.where(finite, streams, -np.inf).max(axis=1, initial=-np.inf)
    known = low <= high
    spans = np.stack([np.where(known, low, 0.0), np.where(known, high, 0.0)], axis=1)
    return [[float(least), float(greatest)] for least, greatest in spans]


def compressed_streams(streams: Array, *, encoding: Encoding, spans: list[list[float]]) -> bytes:
    """Compress streams.

    Args:
        streams: The values, shape (streams, samples).
        spans: Their `ranges`, or those of the longer streams of which they are a part.
    """
    if encoding is Encoding.EXACT:
        return compressed_array(streams.astype("<f4"))
    low, high = np.array(spans).reshape(-1, 2).T[:, :, None]
    scale = np.where(high > low, high - low, 1.0)
    finite = np.isfinite(streams)
    steps = np.where(
        finite, np.rint((np.where(finite, streams, low) - low) / scale * _STEPS), 65535
    )
    codes = steps.astype("<u2")
    differences = np.diff(codes, axis=1, prepend=np.zeros((len(codes), 1), "<u2"))
    return compressed_array(differences.astype("<u2"))


class MeshBlock:
    """Meshes in one block, deduplicated."""

    def __init__(self) -> None:
        """Create an empty block."""
        self.entries: list[dict[str, Any]] = []
        self._data: list[bytes] = []
        self._known: dict[bytes, int] = {}

    def add(self, mesh: TriangleMesh) -> int:
        """Add a mesh, and return its index."""
        key = mesh.vertices.tobytes() + mesh.faces.tobytes()
        if key not in self._known:
            self._known[key] = len(self.entries)
            self._append(mesh)
        return self._known[key]

    def compressed(self) -> bytes:
        """Return the block: for each mesh its corners, then its triangles."""
        return compressed(b"".join(self._data))

    def _append(self, mesh: TriangleMesh) -> None:
        low = mesh.vertices.min(axis=0, initial=np.inf)
        size = mesh.vertices.max(axis=0, initial=-np.inf) - low
        if not len(mesh.vertices):
            low = size = np.zeros(3)
        steps = (mesh.vertices - low) / np.where(size > 0, size, 1.0) * _MESH_STEPS
        corners = np.rint(steps).astype("<u2").tobytes()
        faces = mesh.faces.astype(
            "<u2" if len(mesh.vertices) <= _MESH_STEPS + 1 else "<u4"
        ).tobytes()
        # Four-byte numbers are read in place, so everything is aligned to four bytes.
        self._data += [corners, bytes(-len(corners) % 4), faces, bytes(-len(faces) % 4)]
        self.entries.append(
            {
                "vertices": len(mesh.vertices),
                "faces": len(mesh.faces),
                "low": low.tolist(),
                "size": size.tolist(),
            }
        )


MAGIC = b"KINREPL1"
MOST_SAMPLES = 20_000
"""Maximum samples of a replay; of longer ones every second, third ... pose is kept, and of
channels the extremes between (`extremes`)."""

_PART = 1.0
"""Length of a part [s]."""
_LEAST_SAMPLES = 250
"""Minimum samples of a part; each part is a separate request."""
_AXES = {
    3: ("x", "y", "z"),
    6: ("vx", "vy", "vz", "wx", "wy", "wz"),
    7: ("x", "y", "z", "qw", "qx", "qy", "qz"),
}
"""Components of the columns of a channel by their number: a point, a twist, a pose."""


def replay_file(
    replay: Replay,
    channels: Mapping[str, Channel],
    *,
    title: str,
    encoding: Encoding = Encoding.EXACT,
    note: str = "",
    instead: str = "",
) -> bytes:
    """Return a replay and the channels it came with as one file.

    Args:
        channels: The channels to plot; those not sampled at the times of the replay are left out.
        note: Why a replay has no bodies, to be read in their place.
        instead: Key of a run beside it that has bodies; empty if there is none.
    """
    samples = len(replay.time)
    replay = thinned(replay, most=MOST_SAMPLES)
    blocks = _Blocks()
    meshes = MeshBlock()
    table = _Streams(len(replay.time))
    solids = [
        {
            "name": solid.name,
            "group": solid.group,
            "coats": [{"mesh": meshes.add(c.mesh), "color": c.color} for c in solid.meshes],
            "streams": table.add(solid.poses.T),
        }
        for solid in replay.solids
    ]
    arrows = [
        {
            "name": arrow.name,
            "unit": arrow.unit,
            "streams": table.add(np.concatenate([arrow.points, arrow.vectors], axis=1).T),
        }
        for arrow in replay.arrows
    ]
    streams = table.moving()
    spans = ranges(streams)
    head = {
        "title": title,
        "encoding": str(encoding),
        "samples": len(replay.time),
        "step": -(-samples // MOST_SAMPLES),
        "time": blocks.add(compressed_array(replay.time.astype("<f8"))),
        "solids": solids,
        "arrows": arrows,
        "guides": [
            {
                "name": guide.name,
                "points": len(guide.points),
                **blocks.add(compressed_array(guide.points.astype("<f4"))),
            }
            for guide in replay.guides
        ],
        "trails": list(replay.trails),
        "note": note,
        "instead": instead,
        "markers": [
            {"name": marker.name, "time": marker.time, "kind": str(marker.kind)}
            for marker in replay.markers
        ],
        "constants": table.constants,
        "ranges": spans,
        "meshes": meshes.entries,
        "mesh_block": blocks.add(meshes.compressed()),
        "parts": [
            {
                "first": first,
                "samples": last - first,
                **blocks.add(
                    compressed_streams(streams[:, first:last], encoding=encoding, spans=spans)
                ),
            }
            for first, last in _parts(replay.time)
        ],
        "channels": _channels(channels, samples, blocks=blocks, encoding=encoding),
    }
    text = strict_json(head, indent=None).encode()
    return b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *blocks.data])


def still_replay(time: Array) -> Replay:
    """Return a replay without bodies, for a recording of channels alone."""
    return Replay(np.asarray(time, dtype=np.float64), ())


class _Blocks:
    """Blocks one after the other."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self._end = 0

    def add(self, data: bytes) -> dict[str, int]:
        """Append a block and return its offset and length."""
        place = {"offset": self._end, "length": len(data)}
        self.data.append(data)
        self._end += len(data)
        return place


class _Streams:
    """Numbers over time; constant ones are stored once.

    Varying streams are numbered from 0 up, constant ones from -1 down.
    """

    def __init__(self, samples: int) -> None:
        self.constants: list[float | None] = []
        self._moving: list[Array] = []
        self._samples = samples

    def add(self, rows: Array) -> list[int]:
        """Add streams, shape (streams, samples) or (streams, 1), and return their numbers."""
        numbers = []
        for row in rows:
            first = row[0]
            if np.all(row == first) or not np.isfinite(row).any():
                self.constants.append(float(first) if np.isfinite(first) else None)
                numbers.append(-len(self.constants))
            else:
                numbers.append(len(self._moving))
                self._moving.append(row)
        return numbers

    def moving(self) -> Array:
        """Return the varying streams, shape (streams, samples)."""
        return np.array(self._moving).reshape(len(self._moving), self._samples)


def _parts(time: Array) -> list[tuple[int, int]]:
    """Split a replay into parts of a second, or longer ones if samples are sparse."""
    seconds = float(time[-1] - time[0]) / _PART
    size = max(_LEAST_SAMPLES, round(len(time) / seconds) if seconds > 1 else len(time))
    return list(pairwise([*range(0, len(time), size), len(time)]))


def _channels(
    channels: Mapping[str, Channel], samples: int, *, blocks: _Blocks, encoding: Encoding
) -> list[dict[str, Any]]:
    """Encode each channel as streams, one for each of its columns.

    Streams have the times of the replay.
    """
    step = -(-samples // MOST_SAMPLES)
    entries = []
    for name, channel in channels.items():
        values = np.asarray(channel.values)
        if name == "time" or len(values) != samples or values.dtype.kind not in "biuf":
            continue
        rows = values.reshape(samples, -1).T.astype(np.float64)
        if not rows.size:
            continue
        rows = extremes(rows, step)
        spans = ranges(rows)
        entries.append(
            {
                "name": name,
                "unit": channel.unit,
                "columns": _columns(channel, len(rows)),
                "ranges": spans,
                **blocks.add(compressed_streams(rows, encoding=encoding, spans=spans)),
            }
        )
    return entries


def extremes(rows: Array, step: int) -> Array:
    """Thin streams so that no peak is lost, shape (streams, ceil(samples / step)).

    Of every bin of two steps the least and the greatest value are kept, in the order in which
    they occur. The page thins in the same way.

    Args:
        rows: The streams, shape (streams, samples).
        step: Samples for each one that is kept.
    """
    streams, samples = rows.shape
    kept = -(-samples // step)
    if step == 1:
        return rows
    if kept < 2:
        return rows[:, ::step]
    # The last bin takes what is left; an odd one at the end is its last sample.
    whole = kept // 2 - 1
    end = 2 * step * whole
    parts = [rows[:, :end].reshape(streams, whole, 2 * step), rows[:, np.newaxis, end:]]
    thin = [_extreme_pairs(bins).reshape(streams, -1) for bins in parts]
    return np.concatenate([*thin, rows[:, samples - kept % 2 :]], axis=1)


def _extreme_pairs(bins: Array) -> Array:
    """Return the least and the greatest value of bins, shape (..., n), as they occur in them."""
    missing = ~np.isfinite(bins)
    low = np.where(missing, np.inf, bins).argmin(axis=-1)
    high = np.where(missing, -np.inf, bins).argmax(axis=-1)
    order = np.sort(np.stack([low, high], axis=-1), axis=-1)
    return np.take_along_axis(bins, order, axis=-1)


def _columns(channel: Channel, count: int) -> list[str]:
    """Return the names of the columns of a channel, including those of vector columns."""
    names = list(channel.columns)
    if not names or len(names) == count:
        return names or [str(n) if count > 1 else "" for n in range(count)]
    each = count // len(names)
    axes = _AXES.get(each, [str(n) for n in range(each)])
    return [f"{name} {axis}" for name in names for axis in axes][:count]
