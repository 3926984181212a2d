"""Assembling links and joints into one tree: names, topology, couplings, masses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from kinetarium.model.attributes import MOST_MAGNITUDE
from kinetarium.model.diagnostics import Allowance, Code, Diagnostics
from kinetarium.model.inertia import water_ball
from kinetarium.model.reading import Reading
from kinetarium.model.robot import (
    IDENTITY,
    Inertia,
    Joint,
    JointType,
    Link,
    Loop,
    Mimic,
    RobotModel,
)
from kinetarium.spatial.arrays import frozen

Item = TypeVar("Item", Link, Joint, Loop)

MOST_LINKS = 5_000
"""The greatest number of links of a robot; with more, later steps would take too long."""
MOST_MIMIC_STEPS = 50
"""The longest chain of joints that follow each other."""
MASSLESS_SHARE = 1e-6
"""Mass assigned to a massless moving link, as a fraction of the mass it carries."""
LEAST = 1e-14
"""Least mass and moment of inertia that such a link gets [kg, kg m^2]: MuJoCo refuses 1e-15."""
ALLOWED_MASS = 1e-3
"""Mass assigned to each moving link of a massless branch that the user allows [kg]."""


@dataclass(frozen=True, slots=True)
class Located(Generic[Item]):
    """A link, joint or loop with its line in the file."""

    item: Item
    line: int


def assemble(
    name: str,
    *,
    links: Sequence[Located[Link]],
    joints: Sequence[Located[Joint]],
    reading: Reading,
    format: str,
    loops: Sequence[Located[Loop]] = (),
    free_base: bool = False,
    floating: Sequence[str] = (),
    complete: bool = False,
) -> RobotModel:
    """Check that the parts form one robot and put them in depth-first order.

    Args:
        complete: Whether every link and joint is there, so that names and topology can be
            checked even if something else was refused.
        floating: Names of floating joints; a single one below an empty root makes its child
            the root of a robot with a free base.
    """
    diagnostics = reading.diagnostics
    if not complete or not links:  # links that were refused are not missing
        diagnostics.stop_if_refused()
    if not links:
        raise diagnostics.refusal(Code.NO_LINKS, "the robot has no links", line=1)
    if len(links) > MOST_LINKS:
        raise diagnostics.refusal(
            Code.TOO_LARGE, f"{len(links):,} links; the limit is {MOST_LINKS:,}", line=1
        )
    known_faults = len(diagnostics.refusals)
    _check_unique("link", links, diagnostics)
    _check_unique("joint", joints, diagnostics)
    _check_unique("loop", loops, diagnostics)
    _check_references(links, joints, loops, diagnostics)
    diagnostics.stop_if_refused(besides=known_faults)
    ordered_links, ordered_joints = _depth_first(links, joints, diagnostics)
    diagnostics.stop_if_refused()
    if floating:
        line = next(joint.line for joint in joints if joint.item.name in floating)
        _refuse_inner_floating(ordered_links[0], ordered_joints, floating, line, diagnostics)
        if not np.array_equal(ordered_joints[0].X_PJ, IDENTITY):
            message = "floating: <origin> omitted, since a scene places the robot"
            diagnostics.repair(Code.UNSUPPORTED, f"joint {floating[0]}", message, line=line)
        free_base, ordered_links, ordered_joints = True, ordered_links[1:], ordered_joints[1:]
    ordered_joints = _leaders(ordered_joints, {j.item.name: j.line for j in joints}, diagnostics)
    lines = {located.item.name: located.line for located in links}
    ordered_links = _ensure_mass(
        ordered_links, ordered_joints, free_base=free_base, lines=lines, diagnostics=diagnostics
    )
    diagnostics.stop_if_refused()
    return RobotModel(
        name=name,
        links=tuple(ordered_links),
        joints=tuple(ordered_joints),
        loops=tuple(located.item for located in loops),
        free_base=free_base,
        source=reading.source(format),
        repairs=tuple(diagnostics.repairs),
    )


def _refuse_inner_floating(
    root: Link,
    joints: Sequence[Joint],
    floating: Sequence[str],
    line: int,
    diagnostics: Diagnostics,
) -> None:
    """Refuse a floating joint that is not the only one below an empty root."""
    bare = not (root.inertia or root.collisions or root.visuals)
    below = [joint.name for joint in joints if joint.parent == root.name]
    if not bare or len(floating) > 1 or below != list(floating):
        raise diagnostics.refusal(
            Code.UNSUPPORTED,
            "a floating joint is supported only between an empty root link and the robot's base",
            remedy="split unconnected parts into separate robots",
            line=line,
        )


def _check_unique(kind: str, parts: Sequence[Located[Item]], diagnostics: Diagnostics) -> None:
    seen: dict[str, int] = {}
    for located in parts:
        name = located.item.name
        if name not in seen:
            seen[name] = located.line
            continue
        with diagnostics.collecting():
            raise diagnostics.refusal(
                Code.DUPLICATE_NAME,
                f"duplicate {kind} name {name!r}, first used at line {seen[name]}",
                remedy="use a unique name for each",
                line=located.line,
            )


def _check_references(
    links: Iterable[Located[Link]],
    joints: Iterable[Located[Joint]],
    loops: Iterable[Located[Loop]],
    diagnostics: Diagnostics,
) -> None:
    known = {located.item.name for located in links}
    ends = []
    for joint in joints:
        where = f"joint {joint.item.name!r}"
        ends += [(where, end, joint.line) for end in (joint.item.parent, joint.item.child)]
    for loop in loops:
        where = f"loop {loop.item.name!r}"
        ends += [(where, end, loop.line) for end in (loop.item.link_a, loop.item.link_b)]
    for where, end, line in ends:
        if end not in known:
            with diagnostics.collecting():
                raise diagnostics.refusal(
                    Code.UNKNOWN_NAME,
                    f"{where} names the link {end!r}, which does not exist",
                    remedy="define the link or correct the name",
                    line=line,
                )


def _depth_first(
    links: Sequence[Located[Link]], joints: Sequence[Located[Joint]], diagnostics: Diagnostics
) -> tuple[list[Link], list[Joint]]:
    known_faults = len(diagnostics.refusals)
    above: dict[str, Located[Joint]] = {}
    below: dict[str, list[Joint]] = {located.item.name: [] for located in links}
    for located in joints:
        joint = located.item
        if joint.parent == joint.child:
            with diagnostics.collecting():
                raise diagnostics.refusal(
                    Code.SELF_JOINT,
                    f"joint {joint.name!r} connects link {joint.child!r} to itself",
                    line=located.line,
                )
        elif joint.child in above:
            with diagnostics.collecting():
                raise diagnostics.refusal(
                    Code.TWO_PARENTS,
                    f"link {joint.child!r} is the child of two joints, "
                    f"{above[joint.child].item.name!r} and {joint.name!r}",
                    remedy="a robot file is a tree; close loops with an MJCF equality",
                    line=located.line,
                )
        else:
            above[joint.child] = located
            below[joint.parent].append(joint)
    diagnostics.stop_if_refused(besides=known_faults)
    roots = [located for located in links if located.item.name not in above]
    if len(roots) > 1:
        names = ", ".join(repr(root.item.name) for root in roots[:5])
        raise diagnostics.refusal(
            Code.TWO_ROOTS,
            f"{len(roots)} links are the child of no joint: {names}",
            remedy="connect them to one root link",
            line=roots[1].line,
        )
    by_name = {located.item.name: located.item for located in links}
    ordered_links: list[Link] = []
    ordered_joints: list[Joint] = []
    pending: list[Joint] = []
    if roots:
        ordered_links.append(roots[0].item)
        pending.extend(reversed(below[roots[0].item.name]))
    while pending:
        joint = pending.pop()
        ordered_joints.append(joint)
        ordered_links.append(by_name[joint.child])
        pending.extend(reversed(below[joint.child]))
    if len(ordered_links) < len(links):
        reached = {link.name for link in ordered_links}
        lost = next(located for located in links if located.item.name not in reached)
        raise diagnostics.refusal(
            Code.CYCLE,
            f"link {lost.item.name!r} is part of a cycle of joints",
            remedy="a robot file is a tree with one root link",
            line=above[lost.item.name].line,
        )
    return ordered_links, ordered_joints


def _leaders(
    joints: Sequence[Joint], lines: dict[str, int], diagnostics: Diagnostics
) -> list[Joint]:
    """Resolve chains of couplings, so that every follower names an independent joint."""
    by_name = {joint.name: joint for joint in joints}
    resolved = []
    for joint in joints:
        if joint.mimic is None:
            resolved.append(joint)
            continue
        with diagnostics.collecting():
            mimic = _to_leader(joint, by_name, line=lines[joint.name], diagnostics=diagnostics)
            resolved.append(replace(joint, mimic=mimic))
    return resolved


def _to_leader(
    joint: Joint, by_name: dict[str, Joint], *, line: int, diagnostics: Diagnostics
) -> Mimic | None:
    mimic, seen = joint.mimic, {joint.name}
    while mimic is not None:
        target = by_name.get(mimic.joint) or _by_prefix(joint, mimic, by_name)
        fault = ""
        if target is None:
            fault = f"follows {mimic.joint!r}, which does not exist"
        elif target.name in seen:
            fault = f"follows itself through {target.name!r}"
        elif target.type is JointType.FIXED:
            fault = f"follows {target.name!r}, which is fixed"
        elif len(seen) > MOST_MIMIC_STEPS:
            fault = f"follows a chain of more than {MOST_MIMIC_STEPS} joints"
        if target is None or fault:
            raise diagnostics.refusal(
                Code.MIMIC,
                f"joint {joint.name!r} {fault}",
                remedy="a mimic joint must follow an independent moving joint",
                line=line,
            )
        if target.name != mimic.joint:
            diagnostics.repair(
                Code.MIMIC,
                f"joint {joint.name}",
                f"follows {mimic.joint!r}, which does not exist: {target.name!r} used instead",
                line=line,
            )
        if max(abs(mimic.multiplier), abs(mimic.offset)) > MOST_MAGNITUDE:
            raise diagnostics.refusal(
                Code.MIMIC, f"joint {joint.name!r} follows {target.name!r} with too large a ratio",
                line=line,
            )  # fmt: skip
        if target.mimic is None:
            return replace(mimic, joint=target.name)
        seen.add(target.name)
        mimic = Mimic(
            target.mimic.joint,
            mimic.multiplier * target.mimic.multiplier,
            mimic.multiplier * target.mimic.offset + mimic.offset,
        )
    return None


def _by_prefix(joint: Joint, mimic: Mimic, by_name: dict[str, Joint]) -> Joint | None:
    """Find the leader whose name lacks the prefix of the follower, as in a file made by copying."""
    ends = (i + 1 for i, character in enumerate(joint.name) if character in "_-/.:")
    prefixed = (joint.name[:end] + mimic.joint for end in ends)
    return next((by_name[name] for name in prefixed if name in by_name), None)


def _ensure_mass(
    links: Sequence[Link],
    joints: Sequence[Joint],
    *,
    free_base: bool,
    lines: dict[str, int],
    diagnostics: Diagnostics,
) -> list[Link]:
    """Assign mass to massless moving links, since engines divide by it."""
    added: dict[str, Inertia] = {}
    carried = {link.name: link.inertia.mass if link.inertia else 0.0 for link in links}
    rigid = dict(carried)
    for joint in reversed(joints):
        carried[joint.parent] += carried[joint.child]
        if joint.type is JointType.FIXED:
            rigid[joint.parent] += rigid[joint.child]
    moving = [joint.child for joint in joints if joint.type is not JointType.FIXED]
    if free_base:
        moving.insert(0, links[0].name)
    for name in moving:
        if rigid[name] > 0:
            continue
        where = f"link {name}"
        if carried[name] > 0:
            mass = max(MASSLESS_SHARE * carried[name], LEAST)
            message = f"moves, is massless and carries {carried[name]:.3g} kg: {mass:.3g} kg added"
        elif Allowance.MASSLESS in diagnostics.allow:
            mass = ALLOWED_MASS
            message = f"moves without any mass: {mass:g} kg added"
        else:
            with diagnostics.collecting():
                raise diagnostics.refusal(
                    Code.MASSLESS,
                    f"link {name!r} moves, but neither it nor anything it carries has mass",
                    remedy="add an <inertial>, or pass --allow-massless to add one gram",
                    line=lines[name],
                )
            continue
        diagnostics.repair(Code.MASSLESS, where, message, line=lines[name])
        ball = water_ball(mass)
        added[name] = replace(ball, moment=frozen(np.maximum(ball.moment, LEAST * np.eye(3))))
    return [
        replace(link, inertia=added[link.name]) if link.name in added else link for link in links
    ]
