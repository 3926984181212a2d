"""A planned walk as a replay, in metres, with the quantities the page draws beside it."""

from math import radians, sqrt, tan

import numpy as np

from kinetarium.figure.replay import Coat, Guide, Replay, Solid, continuous
from kinetarium.figure.scene3d import Color
from kinetarium.legs import LegKind, LinkShape, Walk
from kinetarium.legs.link_mesh import BODY_COLOR, LEG_COLORS, link_mesh
from kinetarium.legs.link_shape import LINK_NAMES
from kinetarium.recording.recording import Channel
from kinetarium.spatial.arrays import Array
from kinetarium.studio.replay_file import replay_file
from kinetarium.studio.streams import Encoding

UNIT = 0.01
"""The machine's unit of length on the stage [m]."""
LEGS = ("leg1", "leg2", "leg3", "leg4")

_METRES = np.array([UNIT] * 3 + [1.0] * 4)
_GROUND_COLOR: Color = (0.72, 0.70, 0.66, 1.0)
_AROUND = 80.0
"""How far beside the path the ground is shown [unit]."""
_ABOVE = 0.1
"""How high over the ground its path is drawn, so that it is seen [unit]."""


def walk_file(walk: Walk, *, encoding: Encoding = Encoding.EXACT) -> bytes:
    """Give a walk as a replay file."""
    title = walk.plan.machine.kind.upper()
    return replay_file(walk_replay(walk), walk_channels(walk), title=title, encoding=encoding)


def walk_replay(walk: Walk) -> Replay:
    """Give a walk as bodies in time: the body, the links "leg1/thigh" ..., the ground."""
    *legs, (trunk,) = walk.plan.machine.link_shapes
    group = str(walk.plan.machine.kind)
    solids = [_solid("body", trunk, BODY_COLOR, walk.body, group=group)]
    for leg, shapes in enumerate(legs):
        for link, shape in enumerate(shapes):
            name = f"{LEGS[leg]}/{LINK_NAMES[link]}"
            solids.append(
                _solid(name, shape, LEG_COLORS[leg], walk.links[:, leg, link], group=group)
            )
    heights = walk.plan.terrain.height(*walk.path.T) + _ABOVE
    path = np.column_stack([walk.path, heights]) * UNIT
    return Replay(
        walk.time, (*solids, *_ground(walk)), guides=(Guide("path", path),), trails=("body",)
    )


def walk_channels(walk: Walk) -> dict[str, Channel]:
    """Give what is plotted and drawn over time; joints and margin in the machine's unit."""
    machine = walk.plan.machine
    lateral = "omega" if machine.kind is LegKind.TTR else "h_y"
    drives = tuple(f"{leg} {name}" for leg in LEGS for name in ("h_x", lateral, "v_z"))
    n = len(walk.time)
    unit = "unit, rad" if machine.kind is LegKind.TTR else "unit"
    return {
        "joints": Channel(walk.joints.reshape(n, 12), unit, drives),
        "margin": Channel(walk.margin, "unit"),
        "com": Channel(walk.com * UNIT, "m", ("x", "y", "z")),
        "feet": Channel(walk.feet * UNIT, "m", LEGS),
        "support": Channel(walk.support.astype(np.float64), "-", LEGS),
    }


def _solid(name: str, shape: LinkShape, color: Color, poses: Array, *, group: str) -> Solid:
    return Solid(
        name, group, (Coat(link_mesh(shape, unit_m=UNIT), color),), continuous(poses * _METRES)
    )


def _ground(walk: Walk) -> list[Solid]:
    """Give the slope and the steps near the path."""
    terrain = walk.plan.terrain
    x0, y0 = (walk.path.min(axis=0) - _AROUND).tolist()
    x1, y1 = (walk.path.max(axis=0) + _AROUND).tolist()
    solids = []
    if terrain.slope_deg and terrain.slope_from < x1:
        # A wedge that lies on its side: its section is in the plane of x and z.
        start = max(terrain.slope_from, x0)
        length = x1 - start
        rise = tan(radians(terrain.slope_deg))
        low, high = (start - terrain.slope_from) * rise, (x1 - terrain.slope_from) * rise
        section = ((0.0, 0.0), (length, 0.0), (length, high), (0.0, low))
        wedge = LinkShape("slope", section, y1 - y0, 0.0)
        # Turned by 90 deg about x: what was y points up, and z points along -y.
        turn = (sqrt(0.5), sqrt(0.5), 0.0, 0.0)
        pose = np.array([[start, y1, 0.0, *turn]]) * _METRES
        coat = Coat(link_mesh(wedge, unit_m=UNIT), _GROUND_COLOR)
        solids.append(Solid("slope", "", (coat,), pose))
    for number, step in enumerate(terrain.steps, 1):
        xs = max(step.x0, x0), min(step.x1, x1)
        ys = max(step.y0, y0), min(step.y1, y1)
        if xs[0] < xs[1] and ys[0] < ys[1]:
            corners = ((xs[0], ys[0]), (xs[1], ys[0]), (xs[1], ys[1]), (xs[0], ys[1]))
            block = LinkShape(f"step{number}", corners, step.height, 0.0)
            pose = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
            coat = Coat(link_mesh(block, unit_m=UNIT), _GROUND_COLOR)
            solids.append(Solid(block.name, "", (coat,), pose))
    return solids
