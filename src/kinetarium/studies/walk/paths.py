"""Paths by name, and from files of way-points."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinetarium.batch.study import ConfigError
from kinetarium.errors import one_line
from kinetarium.legs import Heading, Step, Terrain
from kinetarium.recording.regular_file import read_regular, reason
from kinetarium.recording.strict_json import parse_json
from kinetarium.studies.walk.config import Ground

Waypoints = tuple[tuple[float, float], ...]

PAPER_STRIDE = 31.87
"""Way of the body in the paper's Fig. 12 [unit]."""
_STRAIGHT = 4 * PAPER_STRIDE
_SIDE = 64.0
_CURVE: Waypoints = ((0.0, 0.0), (135.0, 20.0), (265.0, 80.0), (360.0, 180.0))
_MOST_BYTES = 1_000_000
_MOST_WAYPOINTS = 10_000
_FARTHEST = 1e6
"""How far from the origin a way-point may lie [unit]."""
_LONGEST_NUMBER = 400
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_SLOPE_FROM = 30.0
_STEP_EDGES = ((35.0, 120.0), (65.0, 95.0))
_WIDE = 1000.0


@dataclass(frozen=True, slots=True)
class NamedPath:
    """Way-points, and what the heading does along them.

    Attributes:
        waypoints: The points [unit].
        heading: What the heading does.
    """

    waypoints: Waypoints
    heading: Heading


def find_path(name: str, *, stride: float, heading: Heading) -> NamedPath:
    """Give a path by its name, or from a file.

    Straight and side walks are a whole number of strides long, near 1.27 m and 0.64 m at 1 cm.

    Args:
        name: "straight", "curve", "side", "spin" or a file.
        stride: Way of the body in one cycle [unit].
        heading: What the heading does on a path from a file.

    Raises:
        ConfigError: If there is no such path.
    """
    if name == "straight":
        return NamedPath(((0.0, 0.0), (_whole(_STRAIGHT, stride), 0.0)), Heading.TURN)
    if name == "side":
        return NamedPath(((0.0, 0.0), (0.0, _whole(_SIDE, stride))), Heading.CRAB)
    if name == "curve":
        return NamedPath(_CURVE, Heading.TURN)
    if name == "spin":
        return NamedPath(((0.0, 0.0),), Heading.SPIN)
    return NamedPath(read_waypoints(Path(name)), heading)


def terrain_of(ground: Ground, *, slope_deg: float, step_height: float) -> Terrain:
    """Give the terrain of a name.

    Args:
        ground: Its name.
        slope_deg: Angle of the slope [deg].
        step_height: Height of a step [unit].
    """
    if ground is Ground.SLOPE:
        return Terrain(slope_deg=slope_deg, slope_from=_SLOPE_FROM)
    if ground is Ground.STEPS:
        return Terrain(
            steps=tuple(
                Step(x0, x1, -_WIDE, _WIDE, (i + 1) * step_height)
                for i, (x0, x1) in enumerate(_STEP_EDGES)
            )
        )
    return Terrain()


def read_waypoints(path: Path) -> Waypoints:
    """Read way-points: CSV lines "x,y", or JSON, a list of pairs or {"waypoints": [...]}.

    Raises:
        ConfigError: If the file cannot be read or holds something else.
    """
    try:
        text = read_regular(path, most=_MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{str(path)!r} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--path {str(path)!r} is none of straight, curve, side, spin, and cannot be read as"
            f" a file: {reason(error)}"
        ) from None
    try:
        rows = _json_rows(text) if text.lstrip()[:1] in ("[", "{") else _csv_rows(text)
    except (ValueError, RecursionError, csv.Error) as error:
        raise ConfigError(f"{str(path)!r} holds no way-points: {one_line(str(error))}") from None
    if len(rows) > _MOST_WAYPOINTS:
        raise ConfigError(f"{str(path)!r} holds more than {_MOST_WAYPOINTS} way-points")
    if not rows or not all(_is_point(row) for row in rows):
        raise ConfigError(
            f"{str(path)!r} must hold way-points of two numbers each, up to {_FARTHEST:g}"
        )
    return tuple((float(x), float(y)) for x, y in rows)


def _is_point(row: Any) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 2
        and all(type(part) in (int, float) and abs(part) <= _FARTHEST for part in row)
    )


def _json_rows(text: str) -> list[Any]:
    data = parse_json(text)
    rows = data.get("waypoints") if isinstance(data, dict) else data
    return rows if isinstance(rows, list) else []


def _csv_rows(text: str) -> list[Any]:
    rows = [row for row in csv.reader(text.splitlines()) if row]
    named = rows and not any(character.isdigit() for character in "".join(rows[0]))
    return [[_number(cell.strip()) for cell in row] for row in (rows[1:] if named else rows)]


def _number(cell: str) -> float:
    if len(cell) > _LONGEST_NUMBER or not _NUMBER.fullmatch(cell):
        raise ValueError(f"{one_line(repr(cell))} is no number")
    return float(cell)


def _whole(length: float, stride: float) -> float:
    return max(1, round(length / stride)) * stride
