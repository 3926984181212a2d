"""A field of a map as the page reads it: a head that says all, and the grades of its voxels."""

from pathlib import Path

from kinetarium.recording.strict_json import strict_json
from kinetarium.studio.http import HttpError
from kinetarium.studio.streams import packed
from kinetarium.studio.volume import describe_volumes, read_volume

Cuts = tuple[float, float, float, float, float, float, float]
"""What is shown of a volume: from and to along x, y and z, and grades from where on, 0 to 1."""

HALF: Cuts = (0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 0.0)
"""The half that the usual view looks at is taken away."""


def volume_file(path: Path, field: str, *, cuts: Cuts = HALF) -> bytes:
    """Give a field of a map: the length of the head [bytes, u32], the head as JSON, gzip'd grades.

    Args:
        path: The map.
        field: Its field.
        cuts: Where it is cut open at first.

    Raises:
        HttpError: If there is no such field.
        MapFileError: If it is not a sound map.
    """
    volume = read_volume(path, field)
    if volume is None:
        raise HttpError(404, "no such field")
    info = describe_volumes(path)
    head = {
        "title": f"{field}: {info['kind']} of {info['robot']} at {info['tool']}, voxels of"
        f" {info['voxel']:g} m, {info['poses']} poses each",
        "shape": volume.grades.shape,
        "lower": volume.lower,
        "voxel": volume.voxel,
        "greatest": volume.greatest,
        "unit": volume.unit,
        "cuts": cuts,
    }
    text = strict_json(head, indent=None).encode()
    # A texture runs along x first.
    data = packed(volume.grades.tobytes(order="F"))
    return len(text).to_bytes(4, "little") + text + data
