"""Routes of the walking workshop: a plan comes in, walks and files of them go out."""

from collections.abc import Callable
from threading import Lock

from kinetarium.legs import plan_walk
from kinetarium.legs.quadruped_file import quadruped_mjcf
from kinetarium.recording.plain import to_plain
from kinetarium.recording.strict_json import strict_json
from kinetarium.recording.versioned_json import versioned_json
from kinetarium.studio.exported_page import Part, exported_page
from kinetarium.studio.http import HttpError, Request, Response, Route, route
from kinetarium.studio.streams import Encoding
from kinetarium.studio.walking_facts import joint_table, walk_facts
from kinetarium.studio.walking_replay import walk_file
from kinetarium.studio.walking_request import WalkRequest, walk_request

_ONE_AT_A_TIME = Lock()
"""A walk takes a whole core; two at once would only make both late."""


def walking_routes() -> tuple[Route, ...]:
    """Give the routes."""
    return (
        route("POST", "/api/walking/plan", _plan),
        route("POST", "/api/walking/files/{name}", _file),
    )


def _plan(request: Request) -> Response:
    """Answer with the walk of each kind.

    The length of the head [bytes, u32], the head as JSON: the whole plan, and the facts of
    each walk with the length of its replay file; then the files.
    """
    with _ONE_AT_A_TIME:
        asked = walk_request(request.json())
        walks = [plan_walk(plan) for plan in asked.plans]
        files = [walk_file(walk) for walk in walks]
        facts = [
            {**walk_facts(walk), "bytes": len(file)}
            for walk, file in zip(walks, files, strict=True)
        ]
    head = strict_json({"plan": to_plain(asked.plan), "walks": facts}, indent=None).encode()
    return Response(b"".join([len(head).to_bytes(4, "little"), head, *files]))


def _file(request: Request) -> Response:
    """Answer with a file to keep."""
    name = request.parts["name"]
    if name not in _FILES:
        raise HttpError(404, f"there is no '{name}' of a walk; there is {', '.join(_FILES)}")
    with _ONE_AT_A_TIME:
        body, type_ = _FILES[name](walk_request(request.json()))
    return Response(body, type_)


def _joints(asked: WalkRequest) -> tuple[bytes, str]:
    return joint_table(plan_walk(asked.plan)).encode(), "text/csv; charset=utf-8"


def _walk(asked: WalkRequest) -> tuple[bytes, str]:
    facts = [walk_facts(plan_walk(plan)) for plan in asked.plans]
    return versioned_json({"plan": to_plain(asked.plan), "facts": facts}), "application/json"


def _machine(asked: WalkRequest) -> tuple[bytes, str]:
    return versioned_json(to_plain(asked.plan.machine)), "application/json"


def _mjcf(asked: WalkRequest) -> tuple[bytes, str]:
    return quadruped_mjcf(asked.plan.machine).encode(), "application/xml"


def _page(asked: WalkRequest) -> tuple[bytes, str]:
    walks = [plan_walk(plan) for plan in asked.plans]
    head = {"plan": to_plain(asked.plan), "walks": [walk_facts(walk) for walk in walks]}
    parts = [
        (Part.WALKS, strict_json(head, indent=None).encode()),
        *((Part.REPLAY, walk_file(walk, encoding=Encoding.COMPACT)) for walk in walks),
    ]
    return exported_page(parts, title="Walk - Kinetarium"), "text/html; charset=utf-8"


_FILES: dict[str, Callable[[WalkRequest], tuple[bytes, str]]] = {
    "joints.csv": _joints,
    "walk.json": _walk,
    "machine.json": _machine,
    "walker.xml": _mjcf,
    "walk.html": _page,
}
