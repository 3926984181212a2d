"""The links of two robots compared: one by one, or by their sum where links were merged."""

from collections.abc import Iterator
from dataclasses import replace

from kinetarium.model.robot import Link, RobotModel
from kinetarium.scene.rigid_tree import RigidBody, rigid_tree
from kinetarium.studies.dynamics.differences.body import body_differences, is_fixed
from kinetarium.studies.dynamics.differences.inertia import inertia_differences
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity


def link_differences(
    model: RobotModel, other: RobotModel, *, tolerance: float
) -> Iterator[Difference]:
    """Compare the mass properties of two robots.

    Args:
        model: The robot as it should be.
        other: The other robot, with the names of this one where it has the same parts.
        tolerance: Largest relative difference that is rounding [-].
    """
    theirs = {link.name: link for link in other.links}
    ours = {link.name for link in model.links}
    bodies = {body.name: body for body in rigid_tree(other)}
    for body in rigid_tree(model):
        there = bodies.get(body.name)
        lost = [model.link(name) for name, _ in body.members if name not in theirs]
        added = [theirs[name] for name, _ in there.members if name not in ours] if there else []
        each = [
            difference
            for name, _ in body.members
            if name in theirs
            for difference in _of_link(model, name, theirs[name], tolerance=tolerance)
        ]
        uneven = [link for link in (*lost, *added) if link.inertia]
        if there and uneven and (each or _same(body, there, tolerance=tolerance)):
            yield from _of_sum(model, body, there, uneven, tolerance=tolerance)
        else:
            yield from each
            yield from (_missing(model, link) for link in lost)
            yield from (_added(link) for link in added)


def _of_link(
    model: RobotModel, name: str, found: Link, *, tolerance: float
) -> Iterator[Difference]:
    for each in inertia_differences(model.link(name).inertia, found.inertia, tolerance=tolerance):
        lost = each.cause is Cause.DROPPED_INERTIAL and is_fixed(model, name)
        cause = Cause.LOST_LINK if lost else each.cause
        yield replace(each, cause=cause, where=name, text=f"link {name}: {each.text}")


def _of_sum(
    model: RobotModel, body: RigidBody, there: RigidBody, uneven: list[Link], *, tolerance: float
) -> Iterator[Difference]:
    """Compare bodies whose links are not the same ones."""
    if _same(body, there, tolerance=tolerance):
        names = ", ".join(link.name for link in uneven)
        text = f"fixed links {names} are lumped otherwise; with {body.name} they weigh the same"
        yield Difference(Cause.MERGED_LINKS, names, None, text, Severity.NOTE)
    else:
        yield from body_differences(model, body, there.inertia, tolerance=tolerance)


def _same(body: RigidBody, there: RigidBody, *, tolerance: float) -> bool:
    return not inertia_differences(body.inertia, there.inertia, tolerance=tolerance)


def _missing(model: RobotModel, link: Link) -> Difference:
    if link.inertia is None:
        text = f"massless link {link.name} is missing"
        return Difference(Cause.STRUCTURE, link.name, None, text, Severity.NOTE)
    fixed = is_fixed(model, link.name)
    cause, kind = (Cause.LOST_LINK, "fixed link") if fixed else (Cause.STRUCTURE, "link")
    text = f"{kind} {link.name} is lost, and its {link.inertia.mass:.4g} kg with it"
    return Difference(cause, link.name, -link.inertia.mass, text)


def _added(link: Link) -> Difference:
    if link.inertia is None:
        text = f"massless link {link.name} is added"
        return Difference(Cause.STRUCTURE, link.name, None, text, Severity.NOTE)
    text = f"link {link.name} is added, and {link.inertia.mass:.4g} kg with it"
    return Difference(Cause.STRUCTURE, link.name, link.inertia.mass, text)
