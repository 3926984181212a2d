"""The robot as the engines' own loaders read its file, compared with the robot as read here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isinf
from pathlib import Path

import numpy as np

from kinetarium.engines.protocol import (
    Engine,
    NotComparableError,
    Precision,
    RobotAsRead,
    RobotReader,
)
from kinetarium.engines.registry import list_engines, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.model.assets import installed_packages
from kinetarium.model.diagnostics import Code
from kinetarium.model.robot import Joint, JointLimits, JointType, Link, RobotModel
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.studies.dynamics.differences.body import link_differences
from kinetarium.studies.dynamics.differences.inertia import leader_text
from kinetarium.studies.dynamics.differences.model import (
    as_conventions,
    joint_differences,
    structure_differences,
    with_names_of,
)
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity

_TOLERANCES = {Precision.SINGLE: 1e-5, Precision.DOUBLE: 1e-7}
"""Largest relative difference due to rounding; some parsers of Bullet read single precision [-]."""
_NEGLIGIBLE = 1e-5
"""Share of the robot's mass up to which a massless link counts as massless [-]."""
_MADE_UP = re.compile(r"body[0-9]*(/.*)?")
"""Names of bodies of MJCF that have none, as different readers number them."""
_WORLD = "world"
_LOST = (Cause.LOST_LINK, Cause.DROPPED_INERTIAL)


def loader_names(engines: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the engines whose libraries read robot files, those asked for or all installed.

    Raises:
        KinetariumError: If one has no loader, is unknown or not available.
    """
    for name in engines:
        if not isinstance(open_engine(name), RobotReader):
            raise KinetariumError(f"engine '{name}' has no loader of robot files")
    able = [each.name for each in list_engines() if each.available]
    return tuple(
        name
        for name in dict.fromkeys(engines or able)
        if isinstance(open_engine(name), RobotReader)
    )


def examine_loader(model: RobotModel, name: str, *, file: Path, roots: Sequence[str]) -> Recording:
    """Read a file by the own loader of an engine's library, and compare the two robots.

    Args:
        model: The robot as read here.
        name: The engine.
        file: The robot file.
        roots: Folders with packages of meshes.
    """
    engine = open_engine(name)
    assert isinstance(engine, RobotReader)
    file = file.resolve()
    installed = [folder for folder in installed_packages().values() if file.is_relative_to(folder)]
    try:
        read = engine.read_robot(file, packages=[*map(Path, roots), *installed])
    except KinetariumError as refusal:
        read_it = isinstance(refusal, NotComparableError)
        text = f"{'reads the file, but' if read_it else 'refuses the file:'} {refusal}"
        differences = [Difference(Cause.REFUSED, "", None, text)]
        return _recording(model, engine, None, differences)
    other = replace(read, model=_sorted(read.model, model))
    tolerance = _TOLERANCES[engine.info.precision]
    return _recording(
        model, engine, other, [*loader_differences(model, other, tolerance=tolerance)]
    )


def _recording(
    model: RobotModel, engine: Engine, read: RobotAsRead | None, differences: list[Difference]
) -> Recording:
    name = engine.info.name
    loaded = read.model if read else None
    facts = {
        "robot": model.name,
        "backend": name,
        "title": engine.info.title,
        "findings": [each.found_in(name).as_data() for each in differences],
        "summary": _summary(differences),
        "refused": loaded is None,
        "links": len(loaded.links) if loaded else None,
        "moving_joints": len(loaded.moving_joints) if loaded else None,
        "mass_kg": loaded.mass if loaded else None,
        "terms": None,
    }
    return Recording({"time": Channel(np.zeros(0), "s")}, "running", facts)


def loader_rows(recording: Recording) -> tuple[Row, ...]:
    """Return the row of a loader: what it read, and how many differences there are."""
    facts = recording.facts
    faults = sum(each["severity"] == Severity.FAULT for each in facts["findings"])
    return (
        {
            "links": facts["links"],
            "moving_joints": facts["moving_joints"],
            "mass_kg": facts["mass_kg"],
            "faults": faults,
            "notes": len(facts["findings"]) - faults,
            "passed": not faults,
            "result": facts["summary"],
        },
    )


def loader_differences(
    model: RobotModel, read: RobotAsRead, *, tolerance: float
) -> Iterator[Difference]:
    """Yield what a loader makes different from the robot as read here.

    Args:
        model: The robot as read here.
        tolerance: Largest relative difference due to rounding [-].
    """
    other, names = with_names_of(model, _without_made_up_names(read.model))
    model, other = _without_least_masses(model, other)
    held, merged = _without_missing(model, other)
    fixed = {joint.name for joint in model.joints if joint.type is JointType.FIXED}
    unnamed = {link.name for link in model.links if _MADE_UP.fullmatch(link.name)}
    yield from _of_base(model, other)
    yield from (each for each in names if each.where not in {model.root, *fixed, *unnamed})
    yield from merged
    yield from structure_differences(held, other)
    grounded = (
        {link for link, _ in rigid_tree(model)[0].members} if _grounds(model, other) else set()
    )
    parts = [*joint_differences(held, other, tolerance=tolerance)]
    for each in link_differences(model, other, tolerance=tolerance):
        said = each.cause is Cause.MERGED_LINKS or grounded.issuperset(each.where.split(", "))
        if not said:  # by `_without_missing`
            parts.append(_weighed(each, model))
    yield from as_conventions(parts, model, other, tolerance=10 * tolerance)
    yield from _of_limits(model, other, tolerance=tolerance)
    yield from _of_couplings(model, other, read.couplings)
    yield from (Difference(Cause.REMARK, "", None, text, Severity.NOTE) for text in read.remarks)


def _without_least_masses(model: RobotModel, other: RobotModel) -> tuple[RobotModel, RobotModel]:
    """Return both robots without the least masses that massless links were given.

    They are given here to links that carry others, and by PhysX to all.
    """
    given = {each.where for each in model.repairs if each.code is Code.MASSLESS}
    massless = {
        link.name for link in model.links if not link.inertia or f"link {link.name}" in given
    }

    def bare(link: Link) -> Link:
        light = link.inertia and link.inertia.mass <= _NEGLIGIBLE * model.mass
        return replace(link, inertia=None) if light and link.name in massless else link

    ours, theirs = (replace(one, links=tuple(map(bare, one.links))) for one in (model, other))
    return ours, theirs


def _without_made_up_names(model: RobotModel) -> RobotModel:
    """Return a robot whose nameless bodies have names that no other reader makes up."""

    def name(link: str) -> str:
        return f"{link} as read" if _MADE_UP.fullmatch(link) else link

    return replace(
        model,
        links=tuple(replace(link, name=name(link.name)) for link in model.links),
        joints=tuple(
            replace(joint, parent=name(joint.parent), child=name(joint.child))
            for joint in model.joints
        ),
    )


def _grounds(model: RobotModel, other: RobotModel) -> bool:
    """Return whether a loader makes the root part of the world, without a mass."""
    return other.root == model.root and not other.links[0].inertia and not other.free_base


def _weighed(difference: Difference, model: RobotModel) -> Difference:
    """Return a difference of mass, as a note if it was repaired in the robot as read here."""
    where = difference.where
    massless = {link.name for link in model.links if not link.inertia}
    if difference.cause is Cause.REPLACED_INERTIAL and where in massless:
        return replace(difference, cause=Cause.INVENTED_MASS)
    repairs = [each for each in model.repairs if each.where == f"link {where}"]
    if repairs:
        text = f"{difference.text}; repaired here: {repairs[0].message}"
        return replace(difference, text=text, severity=Severity.NOTE)
    return difference


def _of_base(model: RobotModel, other: RobotModel) -> Iterator[Difference]:
    if model.free_base != other.free_base:
        text = "lets the base float" if other.free_base else "fixes the base"
        yield Difference(Cause.BASE, model.root, None, text, Severity.NOTE)


def _without_missing(
    model: RobotModel, other: RobotModel
) -> tuple[RobotModel, tuple[Difference, ...]]:
    """Return a robot without the fixed links that the other lacks, what they carry moved up."""
    theirs = {link.name for link in other.links}
    places = {link.name: (link.name, np.eye(4)) for link in model.links}
    joints, fused = list[Joint](), list[Link]()
    for joint in model.joints:  # parents before children
        parent, X = places[joint.parent]
        X_PJ = frozen(X @ joint.X_PJ)
        if joint.child not in theirs and joint.type is JointType.FIXED:
            places[joint.child] = (parent, X_PJ)
            fused.append(model.link(joint.child))
        else:
            joints.append(replace(joint, parent=parent, X_PJ=X_PJ))
    kept = [link for link in model.links if link not in fused]
    held = replace(model, links=tuple(kept), joints=tuple(joints))
    differences = list[Difference]()
    base = [link for link in model.links if places[link.name][0] == model.root and link.inertia]
    if (
        base
        and _grounds(model, other)
        and all(link is model.links[0] or link in fused for link in base)
    ):
        names = [link.name for link in base]
        weight = sum(link.inertia.mass for link in base if link.inertia)
        text = (
            f"fuses {_listed(names, 'link')} with the world: {weight:.4g} kg that do not move are"
            " dropped"
        )
        merged = Difference(Cause.MERGED_LINKS, ", ".join(names), None, text, Severity.NOTE)
        differences.append(merged)
        fused = [link for link in fused if link not in base]
    if fused:
        names = [link.name for link in fused]
        them = "it" if len(names) == 1 else "them"
        text = f"fuses {_listed(names, 'link')} with what carries {them}"
        merged = Difference(Cause.MERGED_LINKS, ", ".join(names), None, text, Severity.NOTE)
        differences.append(merged)
    return held, tuple(differences)


def _of_limits(model: RobotModel, other: RobotModel, *, tolerance: float) -> Iterator[Difference]:
    """Yield joints whose limits of position differ, and the loss of all others by kind."""
    theirs = {joint.name: joint for joint in other.moving_joints}
    both = [(joint, theirs[joint.name]) for joint in model.moving_joints if joint.name in theirs]
    for ours, found in both:
        if not _same_range(ours.limits, found.limits, tolerance):
            unit = "m" if ours.type is JointType.PRISMATIC else "rad"
            text = (
                f"joint {ours.name} moves from {found.limits.lower:.4g} to {found.limits.upper:.4g}"
                f" instead of {ours.limits.lower:.4g} to {ours.limits.upper:.4g} {unit}"
            )
            yield Difference(Cause.LIMITS, ours.name, None, text)
    for kind, name in (("speed", "velocity"), ("effort", "effort")):
        lost, changed = list[str](), list[str]()
        for ours, found in both:
            given, there = getattr(ours.limits, name), getattr(found.limits, name)
            if _near(given, there, tolerance) or (not there and isinf(given)):
                continue
            (lost if isinf(there) else changed).append(ours.name)
        for joints, does in ((lost, "drops"), (changed, "changes")):
            if joints:
                text = f"{does} the {kind} limits of {_listed(joints, 'joint')}"
                yield Difference(Cause.LIMITS, ", ".join(joints), None, text, Severity.NOTE)


def _same_range(ours: JointLimits, found: JointLimits, tolerance: float) -> bool:
    return _near(ours.lower, found.lower, tolerance) and _near(ours.upper, found.upper, tolerance)


def _near(given: float, found: float, tolerance: float) -> bool:
    return given == found or abs(given - found) <= tolerance * max(1.0, abs(given))


def _of_couplings(
    model: RobotModel, other: RobotModel, counted: int | None
) -> Iterator[Difference]:
    theirs = {joint.name: joint for joint in other.moving_joints}
    followers = [joint for joint in model.moving_joints if joint.mimic]
    if counted is not None and counted >= len(followers):
        return
    for joint in followers:
        there = theirs.get(joint.name)
        if there is not None and there.mimic != joint.mimic:
            text = (
                f"joint {joint.name} follows {leader_text(there.mimic)}"
                f" instead of {leader_text(joint.mimic)}"
            )
            yield Difference(Cause.COUPLING, joint.name, None, text)
    if model.loops and not other.loops:
        text = f"{len(model.loops)} loops that constraints close are not in the model as read"
        yield Difference(Cause.COUPLING, "", None, text, Severity.NOTE)


def _sorted(read: RobotModel, model: RobotModel) -> RobotModel:
    """Return the robot among what was read, in depth-first order.

    Of several trees, as in a scene, it is the one with the most names of the given robot.
    """
    children: dict[str, list[Joint]] = {}
    for joint in read.joints:
        children.setdefault(joint.parent, []).append(joint)
    above = {joint.child: joint for joint in read.joints}
    names = {link.name for link in model.links} | {joint.name for joint in model.moving_joints}
    trees = []
    for root in (link.name for link in read.links if link.name not in above):
        order, pending = list[str](), [root]
        while pending:
            order.append(pending.pop())
            pending.extend(joint.child for joint in reversed(children.get(order[-1], [])))
        joints = tuple(above[name] for name in order if name in above)
        shared = names & {*order, *(joint.name for joint in joints)}
        trees.append((len(shared), order, joints))
    _, order, joints = max(trees, key=lambda tree: tree[0])
    if order[0] == _WORLD != model.root and _is_empty_world(joints):
        order, joints = order[1:], joints[1:]
    links = {link.name: link for link in read.links}
    free = read.free_base if len(trees) == 1 else order[0] != _WORLD
    return replace(read, links=tuple(links[name] for name in order), joints=joints, free_base=free)


def _is_empty_world(joints: Sequence[Joint]) -> bool:
    """Return whether the world holds one body alone, fixed at its origin."""
    on_it = [joint for joint in joints if joint.parent == _WORLD]
    return (
        len(on_it) == 1
        and on_it[0].type is JointType.FIXED
        and np.array_equal(on_it[0].X_PJ, np.eye(4))
    )


_MASSES = (Cause.INERTIA, Cause.INERTIA_SCALE, Cause.INERTIA_AXES, Cause.INERTIA_FRAME)
_WORDS = (
    ((Cause.STRUCTURE,), "joint", "has another tree at {}"),
    ((Cause.INVENTED_MASS,), "link", "invents mass for {}"),
    (_LOST, "link", "drops the mass of {}"),
    ((Cause.REPLACED_INERTIAL,), "link", "replaces the inertia of {}"),
    ((Cause.MASS,), "link", "changes the mass of {}"),
    ((Cause.CENTER_OF_MASS,), "link", "moves the centre of mass of {}"),
    (_MASSES, "link", "changes the moment of inertia of {}"),
    ((Cause.INSEPARABLE,), "link", "changes one of {}"),
    ((Cause.JOINT_AXIS, Cause.JOINT_ORIGIN), "joint", "moves {}"),
    ((Cause.ARMATURE, Cause.DAMPING, Cause.FRICTION), "joint", "changes the losses of {}"),
    ((Cause.COUPLING,), "joint", "ignores the coupling of {}"),
    ((Cause.LIMITS,), "joint", "changes the range of {}"),
)
"""What a loader does, for faults of some causes, the gravest first."""
_SAID = (Cause.MERGED_LINKS, Cause.BASE, Cause.LIMITS)
"""Notes that say themselves what a loader does."""


def _summary(differences: Sequence[Difference]) -> str:
    """Return what a loader does in words."""
    for each in differences:
        if each.cause is Cause.REFUSED:
            return each.text
    parts = []
    faults = [each for each in differences if each.severity is Severity.FAULT]
    for causes, part, words in _WORDS:
        where = [each.where for each in faults if each.cause in causes]
        if where:
            parts.append(words.format(_listed([*dict.fromkeys(where)], part)))
    notes = (each for each in differences if each.severity is Severity.NOTE)
    parts += [each.text.split(":")[0] for each in notes if each.cause in _SAID]
    return ", ".join(parts) or "reads the same robot"


def _listed(names: Sequence[str], part: str) -> str:
    """Return the names of links or joints, or how many there are with the first two."""
    if len(names) == 1:
        return f"{part} {names[0]}"
    if len(names) <= 3:
        return f"{part}s {', '.join(names[:-1])} and {names[-1]}"
    return f"{len(names)} {part}s ({', '.join(names[:2])}, ...)"
