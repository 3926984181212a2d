"""Audits: what the adapters need to build them, and the comparison with the scene."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.engines.protocol import (
    Audit,
    FrictionRule,
    Layout,
    LoadedDrive,
    LoadedLoop,
    LoadedSolid,
    LoadedSurface,
)
from kinetarium.model.robot import IDENTITY, Inertia, JointType, Loop, LoopKind
from kinetarium.scene import Actuation, Base, DriveMode, Motion, PlacedRobot, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose


def lumped_solids(scene: Scene, inertias: Mapping[str, Inertia]) -> Iterator[LoadedSolid]:
    """Yield the moving solids of a scene that have mass; what is fixed together counts as one.

    Args:
        inertias: As loaded, by solid, each in the frame of its link or body.
    """
    for robot in scene.robots:
        links = tuple(
            replace(link, inertia=inertias.get(f"{robot.name}/{link.name}"))
            for link in robot.model.links
        )
        for body in rigid_tree(replace(robot.model, links=links)):
            if body.inertia and (body.joint or robot.base is Base.FREE):
                members = tuple(f"{robot.name}/{link}" for link, _ in body.members)
                yield LoadedSolid(members[0], body.inertia, members)
    for free in scene.bodies:
        if free.motion is Motion.FREE and free.name in inertias:
            yield LoadedSolid(free.name, inertias[free.name], (free.name,))


def limit_of(value: float, unbounded: float) -> float:
    """Return a joint limit [rad or m]; infinite beyond the value that stands for no limit."""
    return value if abs(value) < unbounded else inf if value > 0 else -inf


@dataclass(frozen=True, slots=True, eq=False)
class LoadedFrames:
    """The frames of a robot as loaded, seen from the topmost of the links fixed together.

    Attributes:
        robot: The robot's name.
        joints: Pose of each moving joint at position zero in the link above, by the joint's name.
        bodies: Of each body that the engine has, by its link: the topmost of the links that it
            is fixed to, and its pose there.
    """

    robot: str
    joints: dict[str, Array]
    bodies: dict[str, tuple[str, Array]]

    @classmethod
    def of(
        cls, robot: PlacedRobot, loaded: Mapping[str, Array], *, keep: Collection[str] = ()
    ) -> "LoadedFrames":
        """Put together the frames of a robot.

        Args:
            loaded: Pose of each joint at position zero in the body above, by the joint's name.
            keep: The fixed joints that the engine keeps as joints, or between bodies of its own.
        """
        joints: dict[str, Array] = {}
        places: list[tuple[str, Array]] = []
        tree = rigid_tree(robot.model, keep=keep)
        for body in tree:
            place: tuple[str, Array] = (body.name, IDENTITY)
            if body.joint:
                top, X_TP = places[body.parent]
                X_TJ = frozen(X_TP @ loaded[body.joint.name])
                if body.joint.type is JointType.FIXED:
                    place = (top, X_TJ)
                else:
                    joints[body.joint.name] = X_TJ
            places.append(place)
        bodies = dict(zip((body.name for body in tree), places, strict=True))
        return cls(robot.name, joints, bodies)

    def loop(
        self, loop: Loop, ends: Sequence[tuple[str, Array]], *, read_back: bool = True
    ) -> LoadedLoop:
        """Return a loop as loaded.

        Args:
            ends: Of each end the link of the body that it is on and its frame there.
            read_back: Whether the engine was asked for them.
        """
        (a, X_A), (b, X_B) = (self.bodies[link] for link, _ in ends)
        X_AC, X_BC = X_A @ ends[0][1], X_B @ ends[1][1]
        R_AB = X_AC[:3, :3] @ X_BC[:3, :3].T
        return LoadedLoop(
            name=f"{self.robot}/{loop.name}",
            kind=loop.kind,
            solids=(f"{self.robot}/{a}", f"{self.robot}/{b}"),
            points=frozen([X_AC[:3, 3], X_BC[:3, 3]]),
            R_AB=frozen(R_AB) if loop.kind is LoopKind.POSE else None,
            read_back=read_back,
        )


def merged(surfaces: Iterable[LoadedSurface]) -> tuple[LoadedSurface, ...]:
    """Return surfaces without duplicates; pairs with the same values are joined."""
    kinds: dict[LoadedSurface, dict[str, None]] = {}
    for surface in surfaces:
        # Values of pairs stay separate from the solid's own.
        others = surface.against and (surface.solid,)
        kind = replace(surface, against=others)
        kinds.setdefault(kind, {}).update(dict.fromkeys(surface.against))
    return tuple(replace(kind, against=tuple(others)) for kind, others in kinds.items())


def audit_errors(scene: Scene, audit: Audit, *, rule: FrictionRule) -> dict[str, float]:
    """Return how far each fact of an audit is from its scene.

    Args:
        rule: How the engine combines the friction of unequal surfaces.

    Returns:
        The greatest error of each fact, by what it is and whose, relative to what it should be
        [-]; lengths and angles in [m, rad], infinite for missing facts. Facts that the audit
        does not report are left out.
    """
    errors = {"gravity": _off(audit.gravity, scene.gravity)}
    errors |= _inertia_errors(scene, audit) | _joint_errors(scene, audit)
    if audit.drives is not None:
        layout, told = Layout.of(scene), {drive.joint: drive for drive in audit.drives}
        for name, asked in zip(layout.commands, layout.actuations, strict=True):
            errors[f"drive {name}"] = _drive_error(told.get(name), asked)
    errors |= _tie_errors(scene, audit)
    if audit.surfaces is not None:
        errors |= _surface_errors(scene, audit.surfaces, rule)
    return errors


def _off(found: ArrayLike, wanted: ArrayLike) -> float:
    """Return the greatest error of some numbers, relative where they should not be zero."""
    a, b = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    scale = np.where(np.isfinite(b) & (b != 0), np.abs(b), 1.0)
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(a == b, 0.0, np.abs(a - b) / scale), initial=0.0))


def _inertia_errors(scene: Scene, audit: Audit) -> dict[str, float]:
    loaded = {solid.name: solid.inertia for solid in audit.solids}
    wanted = {body.name: body.inertia for body in scene.bodies if body.motion is Motion.FREE}
    for robot in scene.robots:
        for body in rigid_tree(robot.model):
            if body.joint or robot.base is Base.FREE:
                wanted[f"{robot.name}/{body.name}"] = body.inertia
    return {
        f"inertia {name}": _inertia_error(loaded.get(name), inertia)
        for name, inertia in wanted.items()
        if inertia
    }


def _inertia_error(there: Inertia | None, wanted: Inertia) -> float:
    if there is None:
        return inf
    return max(
        _off(there.mass, wanted.mass),
        float(np.abs(there.center - wanted.center).max()),
        float(np.abs(there.moment - wanted.moment).max() / np.abs(wanted.moment).max()),
    )


def _joint_errors(scene: Scene, audit: Audit) -> dict[str, float]:
    errors, loaded = {}, {joint.name: joint for joint in audit.joints}
    for robot in scene.robots:
        for body in rigid_tree(robot.model):
            joint = body.joint
            if joint is None:
                continue
            there = loaded.get(name := f"{robot.name}/{joint.name}")
            if there is None:
                errors[f"joint {name}"] = inf
                continue
            limits = joint.limits
            numbers = (there.damping, there.friction, there.armature, there.lower, there.upper)
            given = (joint.damping, joint.friction, joint.armature, limits.lower, limits.upper)
            axis = float(np.abs(there.axis - joint.axis).max())
            errors[f"joint {name}"] = max(_off(numbers, given), axis)
            if there.X_PJ is not None:
                errors[f"frame {name}"] = float(np.abs(there.X_PJ - body.X_PJ).max())
    return errors


def _drive_error(there: LoadedDrive | None, asked: Actuation) -> float:
    if there is None or there.mode is not asked.drive:
        return inf
    stiffness = asked.stiffness if asked.drive is DriveMode.POSITION else 0.0
    damping = 0.0 if asked.drive is DriveMode.TORQUE else asked.damping
    return _off((there.stiffness, there.damping, there.effort), (stiffness, damping, asked.effort))


def _tie_errors(scene: Scene, audit: Audit) -> dict[str, float]:
    """Return the errors of couplings and loops."""
    errors: dict[str, float] = {}
    couplings = {coupling.joint: coupling for coupling in audit.couplings or ()}
    loops = {loop.name: loop for loop in audit.loops or ()}
    for robot in scene.robots:
        for joint in robot.model.moving_joints if audit.couplings is not None else ():
            held = couplings.get(name := f"{robot.name}/{joint.name}")
            if joint.mimic:
                right = held is not None and held.leader == f"{robot.name}/{joint.mimic.joint}"
                numbers = (held.multiplier, held.offset) if held and right else (inf, inf)
                wanted = (joint.mimic.multiplier, joint.mimic.offset)
                errors[f"coupling {name}"] = _off(numbers, wanted)
            elif held:
                errors[f"coupling {name}"] = inf
        homes = {
            link: (f"{robot.name}/{body.name}", X_BL)
            for body in rigid_tree(robot.model)
            for link, X_BL in body.members
        }
        for loop in robot.model.loops if audit.loops is not None else ():
            name = f"{robot.name}/{loop.name}"
            errors[f"loop {name}"] = _loop_error(loops.get(name), loop, homes)
    return errors


def _loop_error(
    there: LoadedLoop | None, loop: Loop, homes: Mapping[str, tuple[str, Array]]
) -> float:
    (a, X_A), (b, X_B) = homes[loop.link_a], homes[loop.link_b]
    if there is None or there.kind is not loop.kind or there.solids != (a, b):
        return inf
    X_AC, X_BC = X_A @ loop.X_AC, X_B @ loop.X_BC
    if loop.kind is LoopKind.POINT:
        return float(np.abs(there.points - [X_AC[:3, 3], X_BC[:3, 3]]).max())
    if there.R_AB is None:
        return inf
    p_A, p_B = there.points
    X_AB = pose(p_A, there.R_AB) @ pose(-p_B)
    return float(np.abs(X_AB - X_AC @ inverse_pose(X_BC)).max())


def _surface_errors(
    scene: Scene, surfaces: Collection[LoadedSurface], rule: FrictionRule
) -> dict[str, float]:
    """Return the errors of what holds between any two solids that may touch."""
    own: dict[str, list[LoadedSurface]] = {}
    between: dict[frozenset[str], list[LoadedSurface]] = {}
    for surface in surfaces:
        if not surface.against:
            own.setdefault(surface.solid, []).append(surface)
        for other in surface.against:
            between.setdefault(frozenset((surface.solid, other)), []).append(surface)
    materials = dict(zip(scene.solids, scene.materials, strict=True))
    errors: dict[str, float] = {}
    for i, j in np.argwhere(np.triu(scene.may_meet)).tolist():
        pair = a, b = scene.solids[i], scene.solids[j]
        found = between.get(frozenset(pair), [])
        friction = rule.combine(materials[a].friction, materials[b].friction)
        # Engines combine unequal restitutions by rules of their own, which lie between the two.
        low, high = sorted(materials[solid].restitution for solid in pair)
        off = [
            max(_off(s.friction, friction), _off(np.clip(s.restitution, low, high), s.restitution))
            for s in found
        ]
        for solid in () if found else pair:
            material = materials[solid]
            given = (material.friction, material.restitution)
            off += [_off((s.friction, s.restitution), given) for s in own.get(solid, ())] or [inf]
        errors[f"surface {a}, {b}"] = max(off)
    return errors
