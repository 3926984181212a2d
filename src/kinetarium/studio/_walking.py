"""Routes of the walking workshop: from a plan to walks and their files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np

from kinetarium.figure.replay import Replay
from kinetarium.figure.walk_replay import walk_replay as machine_replay
from kinetarium.legs import (
    LegKind,
    LegsError,
    LinkShape,
    PlannedWalk,
    WalkPlan,
    WarningKind,
    plan_walk,
)
from kinetarium.legs.quadruped import quadruped_mjcf
from kinetarium.legs.walk.route import lay_route
from kinetarium.legs.walk.walk import walk_figures
from kinetarium.recording.recording import Channel
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import (
    SerializationError,
    from_builtins,
    to_builtins,
    versioned_json,
)
from kinetarium.storage.strict_json import strict_json
from kinetarium.studio.exported_page import PagePart, exported_page
from kinetarium.studio.http import HttpError, HttpRoute, Request, Response, route
from kinetarium.studio.replay_file import Encoding, replay_file

MOST_WARNINGS = 200
"""Maximum number of listed warnings; the rest are counted."""


def walk_facts(walk: PlannedWalk) -> dict[str, Any]:
    """Return the numbers, warnings and gait of a walk; lengths in the machine's unit."""
    machine = walk.plan.machine
    return {
        "kind": str(machine.kind),
        "frames": len(walk.time),
        **walk_figures(walk),
        "rows": list(walk.rows),
        "height": machine.height,
        "reach": list(machine.leg.reach),
        "shapes": to_builtins(machine.link_shapes[2]),
        "steps": [[step.leg, step.first, step.last] for step in walk.steps],
        "markers": _markers(walk),
        "warnings": to_builtins(walk.warnings[:MOST_WARNINGS]),
        "warning_count": len(walk.warnings),
        "cures": _cures(walk),
        "interference": walk.interference.spans(),
    }


_UNSTABLE = (WarningKind.STABILITY, WarningKind.SWAY)
SWAY = 1.0
"""The sway that is tried against a loss of balance [unit]."""


def _cures(walk: PlannedWalk) -> dict[str, dict[str, Any]]:
    """Return by the kind of warning what change of the plan leaves none of its kind.

    A crawl whose centre of mass leaves the support needs sway; whether it suffices is tried.
    """
    plan = walk.plan
    unstable = any(warning.kind in _UNSTABLE for warning in walk.warnings)
    if not unstable or plan.sway or plan.gait is not None:
        return {}
    swaying = plan_walk(replace(plan, sway=SWAY))
    left = sum(warning.kind in _UNSTABLE for warning in swaying.warnings)
    return {str(WarningKind.STABILITY): {"sway": SWAY}} if not left else {}


def _markers(walk: PlannedWalk) -> list[list[float]]:
    """Return x, y and heading [rad] of the body as each cycle begins, and at the end."""
    frames = [0, *(step.last for step in walk.steps[3:-1:4]), len(walk.time) - 1]
    body = walk.body[frames]
    heading = 2 * np.arctan2(body[:, 6], body[:, 3])
    rows: list[list[float]] = np.column_stack([body[:, :2], heading]).tolist()
    return rows


ANGLES = ("thigh", "shank", "hinge")
"""Passive angles of a leg: of thigh and parallel bar, of crank and shank, and of the hinge."""


def link_angles(walk: PlannedWalk) -> Array:
    """Return the angles of the links of all legs by frame [deg], shape (n, 12); see `ANGLES`."""
    n = len(walk.time)
    angles = walk.plan.machine.leg.passive_angles(walk.joints.reshape(-1, 3))
    return np.asarray(np.degrees(angles).reshape(n, 12))


def joint_table(walk: PlannedWalk) -> str:
    """Return the body, the joints, the margin and the link angles of every frame as CSV."""
    drives = ("h_x", "omega_rad" if walk.plan.machine.kind == "ttr" else "h_y", "v_z")
    names = [
        "time_s", "body_x", "body_y", "body_z", "heading_rad",
        *(f"leg{leg}_{drive}" for leg in (1, 2, 3, 4) for drive in drives),
        "margin",
        *(f"leg{leg}_{angle}_deg" for leg in (1, 2, 3, 4) for angle in ANGLES),
    ]  # fmt: skip
    heading = np.unwrap(2 * np.arctan2(walk.body[:, 6], walk.body[:, 3]))
    joints = walk.joints.reshape(len(walk.time), 12)
    rows = np.column_stack(
        [walk.time, walk.body[:, :3], heading, joints, walk.margin, link_angles(walk)]
    )
    lines = (",".join(map(repr, row)) for row in rows.tolist())
    return "\n".join([",".join(names), *lines]) + "\n"


UNIT = 0.01
"""The machine's unit of length in the 3-D view [m]."""
LEGS = ("leg1", "leg2", "leg3", "leg4")

_METRES = np.array([UNIT] * 3 + [1.0] * 4)


def walk_file(walk: PlannedWalk, *, encoding: Encoding = Encoding.EXACT) -> bytes:
    """Return a walk as a replay file."""
    title = walk.plan.machine.kind.upper()
    return replay_file(walk_replay(walk), walk_channels(walk), title=title, encoding=encoding)


def walk_replay(walk: PlannedWalk) -> Replay:
    """Return a walk as bodies in time."""
    return machine_replay(
        walk.plan.machine,
        walk.plan.terrain,
        time=walk.time,
        body=walk.body * _METRES,
        links=walk.links * _METRES,
        path=walk.path,
        unit_m=UNIT,
        group=str(walk.plan.machine.kind),
    )


def walk_channels(walk: PlannedWalk) -> dict[str, Channel]:
    """Return the channels of a walk; joints and margin in the machine's unit."""
    machine = walk.plan.machine
    lateral = "omega" if machine.kind is LegKind.TTR else "h_y"
    drives = tuple(f"{leg} {name}" for leg in LEGS for name in ("h_x", lateral, "v_z"))
    n = len(walk.time)
    unit = "unit, rad" if machine.kind is LegKind.TTR else "unit"
    return {
        "joints": Channel(walk.joints.reshape(n, 12), unit, drives),
        "margin": Channel(walk.margin, "unit"),
        "angles": Channel(
            link_angles(walk), "deg", tuple(f"{leg} {name}" for leg in LEGS for name in ANGLES)
        ),
        "com": Channel(walk.com * UNIT, "m", ("x", "y", "z")),
        "feet": Channel(walk.feet * UNIT, "m", LEGS),
        "support": Channel(walk.support.astype(np.float64), "-", LEGS),
    }


MOST_WAYPOINTS = 100
MOST_FRAMES = 12_000
"""Maximum frames of a walk: a thousand leg steps of twelve."""
MOST_BLOCKS = 50
"""Maximum number of steps on the ground."""
MOST_CORNERS = 32
"""Maximum corners of a link's section."""
_LONGEST_STEP = 10.0
"""Maximum duration of a leg step [s]."""
_GREATEST = 1e9


@dataclass(frozen=True, slots=True)
class WalkRequest:
    """Walks of one plan by machines of some kinds.

    Attributes:
        plan: The plan; its machine is of the first kind.
        kinds: The kinds.
        view: How an exported page shows the walks at first.
    """

    plan: WalkPlan
    kinds: tuple[LegKind, ...]
    view: str = ""

    @property
    def plans(self) -> tuple[WalkPlan, ...]:
        """The plan for each kind."""
        machine = self.plan.machine
        return tuple(replace(self.plan, machine=replace(machine, kind=k)) for k in self.kinds)


def walk_request(data: Any) -> WalkRequest:
    """Read {"plan": ..., "kinds": [...], "view": ...}; missing values are the defaults."""
    if not isinstance(data, dict):
        raise SerializationError("the request must contain a plan")
    _check_numbers(data)
    plan = from_builtins(WalkPlan, data.get("plan", {}), where="the plan")
    kinds = from_builtins(
        tuple[LegKind, ...], data.get("kinds", [plan.machine.kind.value]), where="the kinds"
    )
    kinds = tuple(dict.fromkeys(kinds)) or (plan.machine.kind,)
    _check_sizes(plan)
    plan = replace(plan, machine=replace(plan.machine, kind=kinds[0]))
    view = data.get("view", "")
    return WalkRequest(plan, kinds, view if isinstance(view, str) else "")


def _check_numbers(data: Any) -> None:
    """Refuse non-finite and huge numbers: JSON as Python reads it may hold NaN and infinity."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int | float) and not abs(value) <= _GREATEST:
            raise SerializationError(f"a number is not finite, or beyond {_GREATEST:g}")


def _check_sizes(plan: WalkPlan) -> None:
    count = len(plan.waypoints) + sum(1 + len(each.waypoints) for each in plan.segments)
    if count > MOST_WAYPOINTS:
        raise LegsError(f"a path may have up to {MOST_WAYPOINTS} waypoints, not {count}")
    if len(plan.terrain.steps) > MOST_BLOCKS:
        raise LegsError(f"the ground may have up to {MOST_BLOCKS} steps")
    if plan.step_time > _LONGEST_STEP:
        raise LegsError(f"a leg step may take up to {_LONGEST_STEP:g} s, not {plan.step_time:g}")
    for shape in plan.machine.shapes:
        _check_shape(shape)
    frames = 4 * plan.frames_per_step * lay_route(plan).cycles
    if frames > MOST_FRAMES:
        raise LegsError(
            f"this walk has {frames} frames, and the maximum is {MOST_FRAMES}: shorten the"
            " path or lengthen the stride"
        )


def _check_shape(shape: LinkShape) -> None:
    if not 3 <= len(shape.section) <= MOST_CORNERS:
        raise LegsError(
            f"the section of link '{shape.name}' has {len(shape.section)} corners;"
            f" it must have from 3 to {MOST_CORNERS}"
        )
    if not shape.bottom < shape.top:
        raise LegsError(f"the bottom of link '{shape.name}' must be below its top")


_ONE_AT_A_TIME = Lock()
"""Planning a walk takes a whole core; two at once would only delay both."""


def walking_routes() -> tuple[HttpRoute, ...]:
    """Return the routes."""
    return (
        route("POST", "/api/walking/plan", _plan),
        route("POST", "/api/walking/files/{name}", _file),
    )


def _plan(request: Request) -> Response:
    """Return the walk of each kind.

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
    head = strict_json({"plan": to_builtins(asked.plan), "walks": facts}, indent=None).encode()
    return Response(b"".join([len(head).to_bytes(4, "little"), head, *files]))


def _file(request: Request) -> Response:
    """Return a file to download."""
    name = request.parts["name"]
    if name not in _FILES:
        raise HttpError(404, f"unknown file '{name}' (known: {', '.join(_FILES)})")
    with _ONE_AT_A_TIME:
        body, type_ = _FILES[name](walk_request(request.json()))
    return Response(body, type_)


def _joints(asked: WalkRequest) -> tuple[bytes, str]:
    return joint_table(plan_walk(asked.plan)).encode(), "text/csv; charset=utf-8"


def _walk(asked: WalkRequest) -> tuple[bytes, str]:
    facts = [walk_facts(plan_walk(plan)) for plan in asked.plans]
    return versioned_json({"plan": to_builtins(asked.plan), "facts": facts}), "application/json"


def _machine(asked: WalkRequest) -> tuple[bytes, str]:
    return versioned_json(to_builtins(asked.plan.machine)), "application/json"


def _mjcf(asked: WalkRequest) -> tuple[bytes, str]:
    return quadruped_mjcf(asked.plan.machine).encode(), "application/xml"


def _page(asked: WalkRequest) -> tuple[bytes, str]:
    walks = [plan_walk(plan) for plan in asked.plans]
    head = {"plan": to_builtins(asked.plan), "walks": [walk_facts(walk) for walk in walks]}
    parts = [
        (PagePart.WALKS, strict_json(head, indent=None).encode()),
        *((PagePart.REPLAY, walk_file(walk, encoding=Encoding.COMPACT)) for walk in walks),
        *([(PagePart.VIEW, asked.view.encode(errors="replace"))] if asked.view else []),
    ]
    return exported_page(parts, title="Walk - Kinetarium"), "text/html; charset=utf-8"


_FILES: dict[str, Callable[[WalkRequest], tuple[bytes, str]]] = {
    "joints.csv": _joints,
    "walk.json": _walk,
    "machine.json": _machine,
    "walker.xml": _mjcf,
    "walk.html": _page,
}
