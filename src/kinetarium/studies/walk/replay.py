"""A walk as a replay: the robot link by link, its path and its ground."""

import numpy as np

from kinetarium.figure.replay import DisplayMesh, Guide, Replay, Solid, continuous
from kinetarium.figure.scene3d import Color, Mesh3D
from kinetarium.legs import LEG_NAMES, LinkShape, Machine
from kinetarium.legs.mechanism.machine import BODY_COLOR, LEG_COLORS, link_mesh
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.studies.walk.config import Case
from kinetarium.studies.walk.run import LEGS, LINKS

_GROUND: Color = (0.72, 0.70, 0.66, 1.0)
_GROUP = "robot"
_STRIP = 200.0
"""Length and width of the shown part of a slope or a step [unit]."""


def replay(case: Case, recording: Recording) -> Replay:
    """Return a walk as a replay."""
    *legs, (trunk,) = case.machine.link_shapes
    body = np.asarray(recording["body"])
    solids = [_solid("body", trunk, BODY_COLOR, continuous(body), unit_m=case.unit_m)]
    links = np.asarray(recording["links"])
    shapes = [shape for leg in legs for shape in leg]
    for i, (name, shape) in enumerate(zip(LINKS, shapes, strict=True)):
        color = LEG_COLORS[i // (len(LINKS) // len(LEGS))]
        solids.append(_solid(name, shape, color, continuous(links[:, i]), unit_m=case.unit_m))
    return Replay(
        np.asarray(recording["time"]),
        (*solids, *_ground(case)),
        guides=_path(case, recording),
        trails=("body",),
    )


def _path(case: Case, recording: Recording) -> tuple[Guide, ...]:
    if "plan" not in recording.facts:  # of release 0.1
        return ()
    path = np.array(recording.facts["plan"]["path"])
    return (Guide("path", np.column_stack([path, np.full(len(path), 0.2)]) * case.unit_m),)


def _solid(name: str, shape: LinkShape, color: Color, poses: Array, *, unit_m: float) -> Solid:
    return Solid(name, _GROUP, (DisplayMesh(link_mesh(shape, unit_m=unit_m), color),), poses)


def _ground(case: Case) -> list[Solid]:
    terrain, unit = case.terrain, case.unit_m
    solids = []
    if terrain.slope_deg:
        half = _STRIP / 2
        slab = LinkShape("slope", ((0, -half), (_STRIP, -half), (_STRIP, half), (0, half)), 0, -1)
        tilt = -np.radians(terrain.slope_deg) / 2
        row = [terrain.slope_from * unit, 0.0, 0.0, np.cos(tilt), 0.0, np.sin(tilt), 0.0]
        mesh = DisplayMesh(link_mesh(slab, unit_m=unit), _GROUND)
        solids.append(Solid("slope", "", (mesh,), np.array([row])))
    for i, step in enumerate(terrain.steps, 1):
        y0, y1 = max(step.y0, -_STRIP / 2), min(step.y1, _STRIP / 2)
        section = ((step.x0, y0), (step.x1, y0), (step.x1, y1), (step.x0, y1))
        block = LinkShape(f"step {i}", section, step.height, 0.0)
        mesh = DisplayMesh(link_mesh(block, unit_m=unit), _GROUND)
        rest = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
        solids.append(Solid(block.name, "", (mesh,), rest))
    return solids


def robot_bodies(
    machine: Machine,
    links: Array,
    body: Array,
    *,
    unit_m: float,
    label: str = "",
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> list[Mesh3D]:
    """Return the meshes of a robot.

    Args:
        links: Poses of the links [m], shape (4, 9, 7).
        body: Pose of the body [m], shape (7,).
        unit_m: The machine's unit of length [m].
        label: Prefix of the names.
        shift: Translation of the whole robot [m].
    """
    *legs, (trunk,) = machine.link_shapes
    bodies = [
        Mesh3D(f"{label}body", link_mesh(trunk, unit_m=unit_m), BODY_COLOR, _placed(body, shift))
    ]
    for leg, shapes in enumerate(legs):
        for link, shape in enumerate(shapes):
            bodies.append(
                Mesh3D(
                    f"{label}leg {leg + 1} ({LEG_NAMES[leg]}): {shape.name}",
                    link_mesh(shape, unit_m=unit_m),
                    LEG_COLORS[leg],
                    _placed(links[leg, link], shift),
                )
            )
    return bodies


def _placed(row: Array, shift: tuple[float, float, float]) -> Array:
    return frozen(pose(row[:3] + np.array(shift), rotation_from_quaternion(row[3:])))
