"""The route of what is on the stage as a page of its own."""

from kinetarium.studio.exported_page import Part, exported_page
from kinetarium.studio.http import HttpError, Request, Response, Route, route
from kinetarium.studio.map_routes import robot_file
from kinetarium.studio.results import Results
from kinetarium.studio.run_routes import run_replay
from kinetarium.studio.streams import Encoding
from kinetarium.studio.volume import describe_volumes
from kinetarium.studio.volume_file import Cuts, volume_file

_MOST_RUNS = 16
"""Runs in one page."""


class ExportRoutes:
    """Serves runs and maps as pages that need no server."""

    def __init__(self, results: Results) -> None:
        """Serve some results."""
        self._results = results

    def routes(self) -> tuple[Route, ...]:
        """Give the routes."""
        return (route("GET", "/api/export", self._export),)

    def _export(self, request: Request) -> Response:
        """Answer with a page of the runs "folder/key,folder/key" and a field of a map.

        The query may have "runs", or "map", "field" and "cuts", or all of them; a map alone
        comes with its robot.
        """
        places = [place for place in request.query.get("runs", "").split(",") if place]
        map_id = request.query.get("map", "")
        if len(places) > _MOST_RUNS or not (places or map_id):
            raise HttpError(400, f"a page holds a map, or from 1 to {_MOST_RUNS} runs")
        names = [place.partition("/") for place in places]
        runs = [self._results.run(folder, key) for folder, _, key in names]
        parts = [
            (Part.REPLAY, run_replay(run, label, encoding=Encoding.COMPACT)) for run, label in runs
        ]
        title = runs[0][0].study if runs else "Map"
        if map_id:
            path = self._results.map(map_id)
            info = describe_volumes(path)
            if not runs and info["shown"]:
                parts.append((Part.REPLAY, robot_file(info["robot"], base_link=info["base"])))
            field, cuts = request.query.get("field", ""), _cuts(request.query.get("cuts", ""))
            parts.append((Part.VOLUME, volume_file(path, field, cuts=cuts)))
        saved = ("content-disposition", 'attachment; filename="kinetarium.html"')
        page = exported_page(parts, title=f"{title} - Kinetarium")
        return Response(page, "text/html; charset=utf-8", headers=(saved,))


def _cuts(text: str) -> Cuts:
    try:
        x0, x1, y0, y1, z0, z1, least = map(float, text.split(","))
    except ValueError:
        raise HttpError(400, "cuts are seven numbers") from None
    cuts = (x0, x1, y0, y1, z0, z1, least)
    if not all(0 <= cut <= 1 for cut in cuts):
        raise HttpError(400, "cuts go from 0 to 1")
    return cuts
