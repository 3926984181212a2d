"""Which pairs of links can collide at all."""

from collections.abc import Iterable
from itertools import combinations

from kinetarium.model.robot import JointType, RobotModel


def rigid_bodies(model: RobotModel) -> dict[str, str]:
    """Return for each link the first link of the rigid body it belongs to through fixed joints."""
    body = {model.root: model.root}
    for joint in model.joints:
        body[joint.child] = body[joint.parent] if joint.type is JointType.FIXED else joint.child
    return body


def collision_pairs(
    model: RobotModel, *, ignore: Iterable[tuple[str, str]] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of links with collision shapes that are not joined.

    Links of one rigid body are joined, and so are those of two bodies with a
    joint or a loop constraint between them: they touch by construction.

    Args:
        model: The robot.
        ignore: More pairs of link names to leave out, in either order.

    Returns:
        The pairs of link names, in the model's order.

    Raises:
        UnknownNameError: If a pair to leave out names no link.
    """
    body = rigid_bodies(model)
    joined = {frozenset((body[joint.parent], body[joint.child])) for joint in model.joints}
    joined |= {frozenset((body[loop.link_a], body[loop.link_b])) for loop in model.loops}
    ignored = {frozenset((model.link(a).name, model.link(b).name)) for a, b in ignore}
    solid = [link.name for link in model.links if link.collisions]
    return tuple(
        (a, b)
        for a, b in combinations(solid, 2)
        if body[a] != body[b]
        and frozenset((body[a], body[b])) not in joined
        and frozenset((a, b)) not in ignored
    )
