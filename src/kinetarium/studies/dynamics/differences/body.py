"""Which of several links that are fixed together differs, when only their sum is known."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinetarium.dynamics.inertial_parameters import inertia_of, inertial_parameters, moved
from kinetarium.model.robot import Inertia, JointType, RobotModel
from kinetarium.scene.rigid_tree import RigidBody
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.dynamics.differences.inertia import inertia_differences
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity

_UNSPOKEN = 1e-13
"""Relative difference that is worth no word [-]."""
_DIGITS = 1e-12
"""Relative rounding of sums of inertial parameters, with a margin [-]."""
_VAGUENESS = 10
_VAGUE = (Cause.INERTIA, Cause.REPLACED_INERTIAL)


def body_differences(
    model: RobotModel, body: RigidBody, found: Inertia | None, *, tolerance: float
) -> Iterator[Difference]:
    """Compare links that are fixed together with what was found of their sum.

    Inertial parameters of such links add up, so that what is found less all
    other members is what one member alone must have become. The member that
    needs the plainest change for that is the one that differs.

    Args:
        model: The robot as it should be.
        body: The links.
        found: Mass properties of all of them in the frame of the topmost.
        tolerance: Largest relative difference that is rounding [-].
    """
    unequal = inertia_differences(body.inertia, found, tolerance=_UNSPOKEN)
    differing = inertia_differences(body.inertia, found, tolerance=tolerance)
    if unequal and not differing:
        text = f"link {body.name}: inertia rounded when loaded ({unequal[0].text})"
        yield Difference(Cause.ROUNDING, body.name, unequal[0].size, text, Severity.NOTE)
    if not differing:
        return
    suspects = _suspects(model, body, found, tolerance=tolerance)
    plainest = min((_plainness(each) for each in suspects.values()), default=0)
    guilty = [link for link, each in suspects.items() if _plainness(each) == plainest]
    if plainest >= _VAGUENESS and len(guilty) > 1:
        yield from _of_all(body, differing)
    elif guilty:
        yield from _of_guilty(model, {link: suspects[link] for link in guilty})


def _of_all(body: RigidBody, differing: tuple[Difference, ...]) -> Iterator[Difference]:
    members = ", ".join(link for link, _ in body.members)
    for each in differing:
        text = (
            f"links {members}, fixed together: {each.text};"
            " which of them differs cannot be told from their sum"
        )
        yield replace(each, where=members, text=text)


def _of_guilty(
    model: RobotModel, guilty: dict[str, tuple[Difference, ...]]
) -> Iterator[Difference]:
    """Name the link that differs, or those of which any one might."""
    named = [list(_of_link(model, link, differences)) for link, differences in guilty.items()]
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
    """Say whether a link is held by a fixed joint."""
    joint = model.parent_joint.get(link)
    return joint is not None and joint.type is JointType.FIXED


def _of_link(
    model: RobotModel, link: str, differences: tuple[Difference, ...]
) -> Iterator[Difference]:
    for each in differences:
        lost = each.cause is Cause.DROPPED_INERTIAL and is_fixed(model, link)
        cause, kind = (Cause.LOST_LINK, "fixed link") if lost else (each.cause, "link")
        yield replace(each, cause=cause, where=link, text=f"{kind} {link}: {each.text}")


def _suspects(
    model: RobotModel, body: RigidBody, found: Inertia | None, *, tolerance: float
) -> dict[str, tuple[Difference, ...]]:
    """Give for each member what must have happened to it, if it was that one alone."""
    inertias = {link: model.link(link).inertia for link, _ in body.members}
    parts = {
        link: inertial_parameters(inertia and moved(inertia, X_BL))
        for (link, X_BL), inertia in zip(body.members, inertias.values(), strict=True)
    }
    whole, total = np.sum(list(parts.values()), axis=0), inertial_parameters(found)
    suspects = {}
    for link, X_BL in body.members:
        left = total - (whole - parts[link])
        # What is left of a link that was dropped is rounding.
        there = inertia_of(left) if left[0] > tolerance * whole[0] else None
        there = there and moved(there, inverse_pose(X_BL))
        if inertias[link] or there:
            near = max(tolerance, _DIGITS * _outweighed(inertias[link], whole))
            suspects[link] = inertia_differences(inertias[link], there, tolerance=near)
    return suspects


def _outweighed(inertia: Inertia | None, whole: Array) -> float:
    """Say how many times smaller than the whole a member is, which costs as many digits [-]."""
    own = np.abs(inertia.moment).max() if inertia else 0.0
    return float(np.abs(whole).max() / own) if own else 1.0


def _plainness(differences: tuple[Difference, ...]) -> int:
    """Rank explanations, the best the lowest: a cause with a name before a change of all."""
    return sum(_VAGUENESS if each.cause in _VAGUE else 1 for each in differences) or 100
