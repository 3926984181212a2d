"""What audits of several engines share: inertias read link by link, and infinite limits."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf

from kinetarium.engines.protocol import LoadedSolid
from kinetarium.model.robot import Inertia
from kinetarium.scene import Base, PlacedRobot
from kinetarium.scene.robot import rigid_tree


def lumped_solids(robot: PlacedRobot, inertias: Mapping[str, Inertia]) -> Iterator[LoadedSolid]:
    """Yield the moving solids of a robot that have mass; what is fixed together counts as one.

    Args:
        inertias: As loaded, by link, each in the frame of its link.
    """
    links = tuple(replace(link, inertia=inertias.get(link.name)) for link in robot.model.links)
    for body in rigid_tree(replace(robot.model, links=links)):
        if body.inertia and (body.joint or robot.base is Base.FREE):
            members = tuple(f"{robot.name}/{link}" for link, _ in body.members)
            yield LoadedSolid(members[0], body.inertia, members)


def limit_of(value: float, unbounded: float) -> float:
    """Return a joint limit [rad or m]; infinite beyond the value that stands for no limit."""
    return value if abs(value) < unbounded else inf if value > 0 else -inf
