"""Time series as bytes that a browser decompresses natively: byte-shuffled, then gzip.

A stream is one number per sample. Exact streams are float32. Compact ones are quantised to
16 bits between minimum and maximum and stored as differences in time, for display. Bytes of
equal significance are grouped, which halves the size after gzip.
"""

import gzip
from enum import StrEnum

import numpy as np

from kinetarium.spatial.arrays import Array

_LEVEL = 4
"""Level of gzip; higher ones take twice the time and save a hundredth of the size."""
_STEPS = 65534
"""Steps of a compact stream; the code above them is NaN."""


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
