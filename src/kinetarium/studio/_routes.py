"""Routes of runs, exported pages, and maps as volumes of bytes: a grade of 0 to 255 per voxel."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.errors import KinetariumError
from kinetarium.figure.replay import Replay, Solid, pose_rows
from kinetarium.figure.scene_replay import link_meshes
from kinetarium.model.load import catalogue_entry, catalogue_names, load_robot
from kinetarium.plugins import running_plugin
from kinetarium.reach.maps.files import ReachMap, open_map
from kinetarium.reach.maps.recipe import FULL, MapKind, graded_grid
from kinetarium.recording.recording import Run
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose
from kinetarium.storage.strict_json import strict_json
from kinetarium.studio._events import run_events
from kinetarium.studio.exported_page import PagePart, exported_page
from kinetarium.studio.http import (
    HttpError,
    HttpRoute,
    Request,
    Response,
    json_response,
    ranged,
    route,
)
from kinetarium.studio.replay_file import Encoding, compressed, replay_file, still_replay
from kinetarium.studio.results import ResultTree, case_of

MOST_PER_AXIS = 160
"""Maximum voxels along an axis; larger maps are reduced to blocks with their best value."""

_FULL = 255


@dataclass(frozen=True, slots=True, eq=False)
class Volume:
    """A field of a map in space.

    Attributes:
        grades: 0 where nothing is reached, else 1 to 255, shape (x, y, z).
        lower: The corner of the first voxel in the map's frame [m], shape (3,).
        voxel: Edge of a voxel [m].
        greatest: The value of the grade 255.
        unit: Its unit.
        meaning: What the values are, in words.
    """

    grades: NDArray[np.uint8]
    lower: tuple[float, float, float]
    voxel: float
    greatest: float
    unit: str
    meaning: str


def describe_volumes(path: Path) -> dict[str, Any]:
    """Return the fields of a map, as JSON data."""
    reach_map = open_map(path)
    recipe = reach_map.recipe
    return {
        "kind": str(recipe.kind),
        "robot": recipe.robot,
        "tool": recipe.tool,
        "base": recipe.base_link,
        "voxel": recipe.voxel,
        "poses": recipe.poses,
        "fields": list(reach_map.fields),
        "shown": recipe.robot in catalogue_names(),
    }


def read_volume(path: Path, field: str) -> Volume | None:
    """Return a field of a map as a volume, or None if it has no such field."""
    reach_map = open_map(path)
    if field not in reach_map.fields:
        return None
    values = np.asarray(reach_map.fields[field], dtype=np.float64)
    recipe, meaning, unit = reach_map.recipe, _meaning(reach_map, field), reach_map.units[field]
    if recipe.kind is MapKind.IRM4:
        # Over base position and height, at the best tilt.
        grid = graded_grid(recipe)
        values = values.max(axis=1).transpose(1, 2, 0)
        lower, size, whole = (grid.lower, grid.lower, grid.bottom), grid.size, float(FULL)
    else:
        low = reach_map.grid.lower
        lower, size, whole = (low, low, low), reach_map.grid.size, float(recipe.poses)
    if field in _SHARES:
        values, unit = values * (100.0 / whole), "%"
    greatest = 100.0 if field in _SHARES else float(values.max(initial=0.0))
    return _volume(values, lower, voxel=size, greatest=greatest, unit=unit, meaning=meaning)


_SHARES = ("reachable", "reach")
"""Fields that count poses."""


def _meaning(reach_map: ReachMap, field: str) -> str:
    """Return in words what the values of a field are."""
    recipe = reach_map.recipe
    where = {
        MapKind.CAPABILITY: f"the {recipe.poses} tool poses in each voxel that the arm reaches",
        MapKind.IRM3: f"{recipe.poses} poses of the base in each voxel from which it reaches the"
        " tool",
        MapKind.IRM4: "tool poses that are reached from a base here, at the best tilt of the tool",
    }[recipe.kind]
    if field in _SHARES:
        return f"Share of {where}"
    if field == "manipulability":
        return f"Mean manipulability of {where}"
    return field


def _volume(
    values: Array,
    lower: tuple[float, float, float],
    *,
    voxel: float,
    greatest: float,
    unit: str,
    meaning: str,
) -> Volume:
    block = -(-max(values.shape) // MOST_PER_AXIS)
    if block > 1:
        padding = [(0, -size % block) for size in values.shape]
        x, y, z = (size // block for size in np.pad(values, padding).shape)
        values = np.pad(values, padding).reshape(x, block, y, block, z, block).max(axis=(1, 3, 5))
    share = np.clip(values / greatest if greatest > 0 else values, 0.0, 1.0)
    # Everything reachable is visible.
    grades = np.where(values > 0, np.maximum(np.rint(share * _FULL), 1), 0).astype(np.uint8)
    return Volume(grades, lower, voxel * block, greatest, unit, meaning)


Cuts = tuple[float, float, float, float, float, float, float]
"""The visible part of a volume: from and to along x, y and z, and the lowest grade, 0 to 1."""

HALF: Cuts = (0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 0.0)
"""The half towards the default viewpoint is cut away."""


def volume_file(path: Path, field: str, *, cuts: Cuts = HALF) -> bytes:
    """Return a field of a map: length of the head [bytes, u32], head as JSON, gzip'd grades."""
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
        "meaning": volume.meaning,
        "kind": info["kind"],
        "base": info["base"],
        "cuts": cuts,
    }
    text = strict_json(head, indent=None).encode()
    # In a texture x varies fastest.
    data = compressed(volume.grades.tobytes(order="F"))
    return len(text).to_bytes(4, "little") + text + data


_MOST_BYTES = 200_000_000
"""Maximum size of the cached replay files [bytes]; a page requests them in parts."""
_MOST_RUNS = 16
"""Maximum number of runs in one page."""


class ResultRoutes:
    """Serves the runs and maps in a folder of results, and exports them as pages."""

    def __init__(self, results: ResultTree) -> None:
        """Serve some results."""
        self._results = results
        self._files: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._lock = Lock()

    def routes(self) -> tuple[HttpRoute, ...]:
        """Return the routes."""
        return (
            route("GET", "/api/runs", lambda request: json_response(self._results.listing())),
            route("GET", "/api/replay/{folder}/{key}", self._replay),
            route("GET", "/api/sweeps/{folder}", self._sweep),
            route("GET", "/api/maps/{map}", self._map),
            route("GET", "/api/maps/{map}/robot", self._robot),
            route("GET", "/api/maps/{map}/volume/{field}", self._volume),
            route("GET", "/api/export", self._export),
        )

    def _replay(self, request: Request) -> Response:
        place = request.parts["folder"], request.parts["key"]
        with self._lock:
            if place not in self._files:
                others = self._results.other_runs(*place)
                self._files[place] = run_replay(*self._results.run(*place), others=others)
            self._files.move_to_end(place)
            while sum(map(len, self._files.values())) > _MOST_BYTES and len(self._files) > 1:
                self._files.popitem(last=False)
            data = self._files[place]
        return ranged(request, data)

    def _sweep(self, request: Request) -> Response:
        return json_response(self._results.table(request.parts["folder"]))

    def _map(self, request: Request) -> Response:
        return json_response(describe_volumes(self._results.map(request.parts["map"])))

    def _volume(self, request: Request) -> Response:
        path = self._results.map(request.parts["map"])
        return Response(volume_file(path, request.parts["field"]))

    def _robot(self, request: Request) -> Response:
        info = describe_volumes(self._results.map(request.parts["map"]))
        if not info["shown"]:
            raise HttpError(404, "the robot of this map is not in the catalogue")
        return ranged(request, robot_file(info))

    def _export(self, request: Request) -> Response:
        """Return a page with the runs "folder/key,folder/key" and a field of a map.

        The query may contain "runs", or "map", "field" and "cuts", or all of them; a map
        alone is shown with its robot. "view" is how all of it is shown at first.
        """
        places = [place for place in request.query.get("runs", "").split(",") if place]
        map_id = request.query.get("map", "")
        if len(places) > _MOST_RUNS or not (places or map_id):
            raise HttpError(400, f"a page needs a map, or 1 to {_MOST_RUNS} runs")
        names = [place.partition("/") for place in places]
        runs = [self._results.run(folder, key) for folder, _, key in names]
        parts = [
            (PagePart.REPLAY, run_replay(run, label, encoding=Encoding.COMPACT))
            for run, label in runs
        ]
        title = runs[0][0].study if runs else "Map"
        if map_id:
            path = self._results.map(map_id)
            info = describe_volumes(path)
            if not runs and info["shown"]:
                parts.append((PagePart.REPLAY, robot_file(info)))
            field, cuts = request.query.get("field", ""), _cuts(request.query.get("cuts", ""))
            parts.append((PagePart.VOLUME, volume_file(path, field, cuts=cuts)))
        if view := request.query.get("view", ""):
            parts.append((PagePart.VIEW, view.encode(errors="replace")))
        saved = ("content-disposition", 'attachment; filename="kinetarium.html"')
        page = exported_page(parts, title=f"{title} - Kinetarium")
        return Response(page, "text/html; charset=utf-8", headers=(saved,))


_MOST_TRIED = 50
"""Runs of a folder that are tried for one with bodies."""


def run_replay(
    run: Run,
    label: str,
    *,
    encoding: Encoding = Encoding.EXACT,
    others: Iterable[tuple[Run, str]] = (),
) -> bytes:
    """Return the replay file of a run; channels alone, and why, if it has no bodies.

    Args:
        others: Runs beside it with their labels; the first that has bodies is then named instead.
    """
    recording = run.recording
    if recording is None:
        raise HttpError(404, f"nothing was recorded: {run.status} {run.message}".strip())
    title = f"{run.study} {label}"
    replay = _bodies(run)
    if replay is not None:
        replay = replace(replay, markers=(*replay.markers, *run_events(run)))
        return replay_file(replay, recording.channels, title=title, encoding=encoding)
    moving = len(recording["time"]) > 0
    plots = moving and len(recording.channels) > 1
    still = still_replay(recording["time"] if moving else np.zeros(1))
    plotted = "; what it recorded is plotted beside" if plots else ""
    note = (
        "This run records numbers and no moving bodies. Its results are in the list of runs and in"
        f" the report{plotted}."
    )
    key, name = _first_with_bodies(others)
    if key:
        note += f" There are bodies in “{name}”."
    channels = recording.channels
    return replay_file(still, channels, title=title, encoding=encoding, note=note, instead=key)


def _bodies(run: Run) -> Replay | None:
    """Return the replay of a run, if it has one."""
    recording = run.recording
    # Tables alone, such as those of tests of a file, have no times.
    if recording is None or not len(recording["time"]):
        return None
    study, case = case_of(run)
    replay: Replay | None = study.replay(case, recording)
    return replay


def _first_with_bodies(runs: Iterable[tuple[Run, str]]) -> tuple[str, str]:
    """Return key and label of the first run that has bodies, or empty texts."""
    for run, label in islice(runs, _MOST_TRIED):
        # What is wrong with another run is said when it is asked for itself.
        with suppress(KinetariumError), running_plugin():
            if _bodies(run) is not None:
                return run.key, label
    return "", ""


def robot_file(info: Mapping[str, Any]) -> bytes:
    """Return the robot of a map at its home pose as a replay file.

    Around a robot lies a capability map: its base link is at the origin. Around a tool lie the
    others: the tool is at the origin, and the base where it would reach it in its home pose; it
    stays upright in a map by height (irm4), and is seen from the tool's frame in one by voxels.

    Args:
        info: What `describe_volumes` returns of the map.
    """
    name = info["robot"]
    assert name in catalogue_names()
    model = load_robot(name)
    home = catalogue_entry(name).home
    q = np.array([home.get(joint.name, 0.0) for joint in model.moving_joints])
    poses = link_poses(model, q)
    names = [link.name for link in model.links]
    X_WB, X_WT = (poses[names.index(model.link(info[link]).name)] for link in ("base", "tool"))
    match MapKind(info["kind"]):
        case MapKind.CAPABILITY:
            X = inverse_pose(X_WB)
        case MapKind.IRM3:
            X = inverse_pose(X_WT)
        case MapKind.IRM4:
            X = pose(-X_WT[:3, 3])
    solids = tuple(
        Solid(link, name, meshes, pose_rows((X @ X_WL)[None]))
        for (link, meshes), X_WL in zip(link_meshes(model).items(), poses, strict=True)
        if meshes
    )
    return replay_file(Replay(np.zeros(1), solids), {}, title=name)


def _cuts(text: str) -> Cuts:
    try:
        x0, x1, y0, y1, z0, z1, least = map(float, text.split(","))
    except ValueError:
        raise HttpError(400, "cuts must be seven numbers") from None
    cuts = (x0, x1, y0, y1, z0, z1, least)
    if not all(0 <= cut <= 1 for cut in cuts):
        raise HttpError(400, "cuts must be between 0 and 1")
    return cuts
