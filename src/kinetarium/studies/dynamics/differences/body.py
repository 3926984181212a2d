"""Which of several links that are fixed together differs, if only their sum is known."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinetarium.dynamics.inertial_parameters import inertia_of, inertial_parameters, moved
from kinetarium.model.robot import Inertia, JointType, Link, RobotModel
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.dynamics.differences.inertia import inertia_differences
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity

_NEGLIGIBLE = 1e-13
"""Relative difference that is not reported [-]."""
_DIGITS = 1e-12
"""Relative rounding of sums of inertial parameters, with a margin [-]."""
_VAGUENESS = 10
_VAGUE = (Cause.INERTIA, Cause.REPLACED_INERTIAL)


def body_differences(
    model: RobotModel, body: RigidBody, found: Inertia | None, *, tolerance: float
) -> Iterator[Difference]:
    """Compare links that are fixed together with the sum that was found.

    Inertial parameters of such links add up, so that the sum minus all other
    members is what one member alone must have become. The member that needs the
    simplest change is the one that differs.

    Args:
        model: The given robot.
        body: The links.
        found: Mass properties of all of them in the frame of the topmost.
        tolerance: Largest relative difference due to rounding [-].
    """
    unequal = inertia_differences(body.inertia, found, tolerance=_NEGLIGIBLE)
    differing = inertia_differences(body.inertia, found, tolerance=tolerance)
    if unequal and not differing:
        text = f"link {body.name}: inertia rounded when loaded ({unequal[0].text})"
        yield Difference(Cause.ROUNDING, body.name, unequal[0].size, text, Severity.NOTE)
    if not differing:
        return
    hypotheses = _hypotheses(model, body, found, tolerance=tolerance)
    simplest = min((_complexity(each) for each in hypotheses.values()), default=0)
    likeliest = [link for link, each in hypotheses.items() if _complexity(each) == simplest]
    if simplest >= _VAGUENESS and len(likeliest) > 1:
        yield from _of_all(body, differing)
    elif likeliest:
        yield from _of_likeliest(model, {link: hypotheses[link] for link in likeliest})


def _of_all(body: RigidBody, differing: tuple[Difference, ...]) -> Iterator[Difference]:
    members = ", ".join(link for link, _ in body.members)
    for each in differing:
        text = (
            f"links {members}, fixed together: {each.text};"
            " which of them differs cannot be told from their sum"
        )
        yield replace(each, where=members, text=text)


def _of_likeliest(
    model: RobotModel, likeliest: dict[str, tuple[Difference, ...]]
) -> Iterator[Difference]:
    """Yield the link that differs, or those of which any one might."""
    named = [list(_of_link(model, link, differences)) for link, differences in likeliest.items()]
    for rivals in zip(*named, strict=False):
        causes = {each.cause for each in rivals}
        if len(rivals) == 1:
            yield rivals[0]
            continue
        text = "; or ".join(each.text for each in rivals)
        yield Difference(
            rivals[0].cause if len(causes) == 1 else Cause.INSEPARABLE,
            ", ".join(each.where for each in rivals),
            rivals[0].size,
            f"{text}: they are fixed together, and their sum does not tell which",
        )


def is_fixed(model: RobotModel, link: str) -> bool:
    """Return whether a link is attached by a fixed joint."""
    joint = model.parent_joint.get(link)
    return joint is not None and joint.type is JointType.FIXED


def _of_link(
    model: RobotModel, link: str, differences: tuple[Difference, ...]
) -> Iterator[Difference]:
    for each in differences:
        lost = each.cause is Cause.DROPPED_INERTIAL and is_fixed(model, link)
        cause, kind = (Cause.LOST_LINK, "fixed link") if lost else (each.cause, "link")
        yield replace(each, cause=cause, where=link, text=f"{kind} {link}: {each.text}")


def _hypotheses(
    model: RobotModel, body: RigidBody, found: Inertia | None, *, tolerance: float
) -> dict[str, tuple[Difference, ...]]:
    """Return the change of each member, if it alone differs."""
    inertias = {link: model.link(link).inertia for link, _ in body.members}
    parts = {
        link: inertial_parameters(inertia and moved(inertia, X_BL))
        for (link, X_BL), inertia in zip(body.members, inertias.values(), strict=True)
    }
    whole, total = np.sum(list(parts.values()), axis=0), inertial_parameters(found)
    hypotheses = {}
    for link, X_BL in body.members:
        left = total - (whole - parts[link])
        # The remainder of a dropped link is rounding.
        there = inertia_of(left) if left[0] > tolerance * whole[0] else None
        there = there and moved(there, inverse_pose(X_BL))
        if inertias[link] or there:
            near = max(tolerance, _DIGITS * _outweighed(inertias[link], whole))
            hypotheses[link] = inertia_differences(inertias[link], there, tolerance=near)
    return hypotheses


def _outweighed(inertia: Inertia | None, whole: Array) -> float:
    """Return the ratio of the whole to a member, the loss of precision [-]."""
    own = np.abs(inertia.moment).max() if inertia else 0.0
    return float(np.abs(whole).max() / own) if own else 1.0


def _complexity(differences: tuple[Difference, ...]) -> int:
    """Rank explanations, the best the lowest: a specific cause before a change of everything."""
    return sum(_VAGUENESS if each.cause in _VAGUE else 1 for each in differences) or 100


def link_differences(
    model: RobotModel, other: RobotModel, *, tolerance: float
) -> Iterator[Difference]:
    """Compare the mass properties of two robots.

    Args:
        model: The given robot.
        other: The other robot, renamed to match.
        tolerance: Largest relative difference due to rounding [-].
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
            for difference in _at_link(model, name, theirs[name], tolerance=tolerance)
        ]
        uneven = [link for link in (*lost, *added) if link.inertia]
        if there and uneven and (each or _same(body, there, tolerance=tolerance)):
            yield from _of_sum(model, body, there, uneven, tolerance=tolerance)
        else:
            yield from each
            yield from (_missing(model, link) for link in lost)
            yield from (_added(link) for link in added)


def _at_link(
    model: RobotModel, name: str, found: Link, *, tolerance: float
) -> Iterator[Difference]:
    for each in inertia_differences(model.link(name).inertia, found.inertia, tolerance=tolerance):
        lost = each.cause is Cause.DROPPED_INERTIAL and is_fixed(model, name)
        cause = Cause.LOST_LINK if lost else each.cause
        yield replace(each, cause=cause, where=name, text=f"link {name}: {each.text}")


def _of_sum(
    model: RobotModel, body: RigidBody, there: RigidBody, uneven: list[Link], *, tolerance: float
) -> Iterator[Difference]:
    """Compare bodies that consist of different links."""
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
