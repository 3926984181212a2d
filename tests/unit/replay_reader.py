"""Reads replay files as the page does, to compare what is in them."""

import gzip
import json

import numpy as np


class ReplayReader:
    def __init__(self, data):
        assert data[:8] == b"KINREPL1"
        start = 12 + int.from_bytes(data[8:12], "little")
        self.head = json.loads(data[12:start])
        self._body = data[start:]
        self.time = self._array(self.head["time"], "<f8")

    def _bytes(self, place):
        return gzip.decompress(self._body[place["offset"] : place["offset"] + place["length"]])

    def _array(self, place, dtype):
        size = np.dtype(dtype).itemsize
        planes = np.frombuffer(self._bytes(place), np.uint8).reshape(size, -1)
        return planes.T.copy().view(dtype).ravel()

    def _streams(self, place, spans):
        if self.head["encoding"] == "exact":
            return self._array(place, "<f4").reshape(len(spans), -1)
        codes = np.cumsum(self._array(place, "<u2").reshape(len(spans), -1), axis=1) & 0xFFFF
        low, high = np.array(spans).T[:, :, None]
        return np.where(codes > 65534, np.nan, low + (high - low) * codes / 65534)

    def poses(self, name):
        """Return the poses of a solid, shape (n, 7)."""
        entry = next(solid for solid in self.head["solids"] if solid["name"] == name)
        return self._rows(entry["streams"])

    def arrow(self, name):
        entry = next(arrow for arrow in self.head["arrows"] if arrow["name"] == name)
        return self._rows(entry["streams"])

    def _rows(self, numbers):
        spans = self.head["ranges"]
        parts = [self._streams(part, spans) for part in self.head["parts"]] if spans else []
        moving = np.concatenate(parts, axis=1) if parts else None
        columns = [
            moving[n] if n >= 0 else np.full(len(self.time), self._constant(n)) for n in numbers
        ]
        return np.stack(columns, axis=1)

    def _constant(self, number):
        value = self.head["constants"][-number - 1]
        return np.nan if value is None else value

    def channel(self, name):
        entry = next(c for c in self.head["channels"] if c["name"] == name)
        return self._streams(entry, entry["ranges"]).T

    def meshes(self):
        block, at, meshes = self._bytes(self.head["mesh_block"]), 0, []
        for entry in self.head["meshes"]:
            corners = np.frombuffer(block, "<u2", 3 * entry["vertices"], at).reshape(-1, 3)
            at += corners.nbytes + -corners.nbytes % 4
            dtype = "<u4" if entry["vertices"] > 65536 else "<u2"
            faces = np.frombuffer(block, dtype, 3 * entry["faces"], at).reshape(-1, 3)
            at += faces.nbytes + -faces.nbytes % 4
            meshes.append((corners / 65535 * entry["size"] + entry["low"], faces))
        return meshes
