"""Routes of runs: the list, and each run as a replay file."""

from collections import OrderedDict
from threading import Lock

from kinetarium.recording.run import Run
from kinetarium.studio.http import HttpError, Request, Response, Route, json_response, ranged, route
from kinetarium.studio.replay_file import replay_file, still_replay
from kinetarium.studio.results import Results, case_of
from kinetarium.studio.streams import Encoding

_MOST_BYTES = 200_000_000
"""Of the replay files that are kept, as a page asks for their parts one by one."""


class RunRoutes:
    """Serves what is in a folder of results."""

    def __init__(self, results: Results) -> None:
        """Serve some results."""
        self._results = results
        self._files: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._lock = Lock()

    def routes(self) -> tuple[Route, ...]:
        """Give the routes."""
        return (
            route("GET", "/api/runs", lambda request: json_response(self._results.listing())),
            route("GET", "/api/replay/{folder}/{key}", self._replay),
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


def run_replay(run: Run, label: str, *, encoding: Encoding = Encoding.EXACT) -> bytes:
    """Give the replay file of a run; numbers alone where its study has nothing to show.

    Args:
        run: The run.
        label: What tells it apart.
        encoding: How exactly numbers are kept.

    Raises:
        HttpError: If nothing was recorded.
        KinetariumError: If its study is not installed, or a mesh of its robot is not there.
    """
    recording = run.recording
    if recording is None or not len(recording["time"]):
        raise HttpError(404, f"nothing was recorded: {run.status} {run.message}".strip())
    study, case = case_of(run)
    replay = study.replay(case, recording) or still_replay(recording["time"])
    title = f"{run.study} {label}"
    return replay_file(replay, recording.channels, title=title, encoding=encoding)
