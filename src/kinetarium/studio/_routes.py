"""Routes of runs, maps and exported pages."""

from collections import OrderedDict
from threading import Lock

import numpy as np

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.replay import Replay, Solid, pose_rows
from kinetarium.figure.scene_replay import link_meshes
from kinetarium.model.load import catalogue_entry, catalogue_names, load_robot
from kinetarium.recording.recording import Run
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studio._volume import Cuts, describe_volumes, volume_file
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
from kinetarium.studio.replay_file import replay_file, still_replay
from kinetarium.studio.results import ResultTree, case_of
from kinetarium.studio.streams import Encoding

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
            route("GET", "/api/maps/{map}", self._map),
            route("GET", "/api/maps/{map}/robot", self._robot),
            route("GET", "/api/maps/{map}/volume/{field}", self._volume),
            route("GET", "/api/export", self._export),
        )

    def _replay(self, request: Request) -> Response:
        place = request.parts["folder"], request.parts["key"]
        with self._lock:
            if place not in self._files:
                self._files[place] = run_replay(*self._results.run(*place))
            self._files.move_to_end(place)
            while sum(map(len, self._files.values())) > _MOST_BYTES and len(self._files) > 1:
                self._files.popitem(last=False)
            data = self._files[place]
        return ranged(request, data)

    def _map(self, request: Request) -> Response:
        return json_response(describe_volumes(self._results.map(request.parts["map"])))

    def _volume(self, request: Request) -> Response:
        path = self._results.map(request.parts["map"])
        return Response(volume_file(path, request.parts["field"]))

    def _robot(self, request: Request) -> Response:
        info = describe_volumes(self._results.map(request.parts["map"]))
        if not info["shown"]:
            raise HttpError(404, "the robot of this map is not in the catalogue")
        return ranged(request, robot_file(info["robot"], base_link=info["base"]))

    def _export(self, request: Request) -> Response:
        """Return a page with the runs "folder/key,folder/key" and a field of a map.

        The query may contain "runs", or "map", "field" and "cuts", or all of them; a map
        alone is shown with its robot.
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
                parts.append((PagePart.REPLAY, robot_file(info["robot"], base_link=info["base"])))
            field, cuts = request.query.get("field", ""), _cuts(request.query.get("cuts", ""))
            parts.append((PagePart.VOLUME, volume_file(path, field, cuts=cuts)))
        saved = ("content-disposition", 'attachment; filename="kinetarium.html"')
        page = exported_page(parts, title=f"{title} - Kinetarium")
        return Response(page, "text/html; charset=utf-8", headers=(saved,))


def run_replay(run: Run, label: str, *, encoding: Encoding = Encoding.EXACT) -> bytes:
    """Return the replay file of a run; channels alone if its study has no replay."""
    recording = run.recording
    if recording is None or not len(recording["time"]):
        raise HttpError(404, f"nothing was recorded: {run.status} {run.message}".strip())
    study, case = case_of(run)
    replay = study.replay(case, recording) or still_replay(recording["time"])
    title = f"{run.study} {label}"
    return replay_file(replay, recording.channels, title=title, encoding=encoding)


def robot_file(name: str, *, base_link: str) -> bytes:
    """Return a robot of the catalogue at its home pose as a replay file, one link at the origin."""
    assert name in catalogue_names()
    model = load_robot(name)
    home = catalogue_entry(name).home
    q = np.array([home.get(joint.name, 0.0) for joint in model.moving_joints])
    poses = link_poses(model, q)
    names = [link.name for link in model.links]
    X_BW = inverse_pose(poses[names.index(model.link(base_link).name)])
    solids = tuple(
        Solid(link, name, meshes, pose_rows((X_BW @ X_WL)[None]))
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
