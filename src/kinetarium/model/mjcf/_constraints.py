"""Equality constraints: couplings between joints, and loops between bodies."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetarium.model.diagnostics import Allowance, Code
from kinetarium.model.inertia import moved_inertia
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.bodies import WORLD, BodyReader, MjcfBody
from kinetarium.model.mjcf.document import MjcfDocument, Names
from kinetarium.model.mjcf.joints import largest, linear_damping
from kinetarium.model.robot import Joint, JointType, Loop, LoopKind, Mimic
from kinetarium.model.tree import Located
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    rotation_about,
    rotation_from_quaternion,
)

_POLYNOMIAL = (0.0, 1.0, 0.0, 0.0, 0.0)


_LoopEnd = tuple[MjcfBody, Array]
"""One end of a loop: a body and a frame in it, shape (4, 4)."""


class EqualityReader:
    """Reads the equality constraints of one file.

    Attributes:
        loops: The loops so far.
    """

    def __init__(
        self,
        *,
        document: MjcfDocument,
        names: Names,
        bodies: BodyReader,
        world: MjcfBody | None,
        tendons: Sequence[Element] = (),
    ) -> None:
        """Keep the bodies and joints.

        Args:
            tendons: The tendons of the file.
            bodies: The bodies and joints; followers are marked in its joints.
            world: The body of the world; None for a robot with a free base.
        """
        self._document = document
        self._diagnostics = document.diagnostics
        self._attributes = document.reading.attributes
        self._names = names
        self._bodies = bodies
        self._world = world
        self._tendons = {tendon.attributes.get("name", ""): tendon for tendon in tendons}
        self.loops: list[Located[Loop]] = []

    def read(self, sections: Sequence[Element]) -> None:
        """Read all <equality> sections."""
        for written in (child for section in sections for child in section.children):
            with self._diagnostics.at(written):
                element = self._document.defaults.complete(written, kind="equality")
                if not self._attributes.flag(element, "active", default=True):
                    self._document.left_out.add("inactive equality", element)
                elif self._bodies.leaves_out(element):
                    pass
                elif self._moves_from_outside(element):
                    self._document.left_out.add("weld to a mocap body", element)
                elif element.tag == "joint":
                    self._couple(element)
                elif element.tag == "tendon":
                    self._couple_by_tendon(element)
                elif element.tag in ("connect", "weld"):
                    self._close(element)
                else:
                    raise self._diagnostics.refusal(
                        Code.UNSUPPORTED,
                        f"an equality of <{element.tag}> is not supported",
                        remedy="constrain joints or bodies instead",
                    )

    def _moves_from_outside(self, element: Element) -> bool:
        """Return whether a constraint ties a body to a mocap body, which moves it."""
        ends = (element.attributes.get(name) for name in ("body1", "body2"))
        return any(name in self._bodies.mocap for name in ends if name)

    def _couple(self, element: Element) -> None:
        """Read y - y0 = a0 + a1 (x - x0), with the positions x0 and y0 in the file's pose."""
        follower = self._joint(element, "joint1")
        given = self._attributes.numbers(element, "polycoef", default=())
        a0, a1, *higher = given + _POLYNOMIAL[len(given) :]
        if "joint2" not in element.attributes or any(higher):
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: only a linear coupling of two joints is supported",
                remedy="make the joint fixed, or keep the first two numbers of polycoef",
            )
        leader = self._joint(element, "joint2")
        references = self._bodies.references
        offset = references[follower] + a0 - a1 * references[leader]
        self._follow(follower, Mimic(leader, float(a1), float(offset)))

    def _couple_by_tendon(self, element: Element) -> None:
        """Read a fixed tendon of two joints whose length a x + b y is constant."""
        tendon = self._tendons.get(self._attributes.name(element, "tendon1"))
        joints = tendon.children if tendon and tendon.tag == "fixed" else []
        a0, *higher = self._attributes.numbers(element, "polycoef", default=(0.0,))
        if len(joints) != 2 or "tendon2" in element.attributes or any(higher[1:]):
            self._document.let_pass(
                Allowance.TENDONS,
                element,
                "of equalities of tendons only those of one fixed tendon with two joints are "
                "supported",
                remedy="couple the joints by an equality of <joint>",
                repair="leave them out",
            )
            return
        leader, follower = (self._joint(joint, "joint") for joint in joints)
        a, b = (self._attributes.number(joint, "coef") for joint in joints)
        if not a or not b:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE, f"{element}: a joint of its tendon has the coefficient zero"
            )
        references = self._bodies.references
        offset = references[follower] + (a0 + a * references[leader]) / b
        self._follow(follower, Mimic(leader, -a / b, float(offset)))

    def _follow(self, follower: str, mimic: Mimic) -> None:
        located = self._bodies.joints[follower]
        if located.item.mimic is not None:
            raise self._diagnostics.refusal(
                Code.MIMIC, f"joint {follower!r} follows two joints",
                remedy="a joint can follow one other",
            )  # fmt: skip
        self._bodies.joints[follower] = replace(located, item=replace(located.item, mimic=mimic))

    def _joint(self, element: Element, attribute: str) -> str:
        name = self._attributes.name(element, attribute)
        if name not in self._bodies.references:
            raise self._document.unknown(element, "joint", name, known=self._bodies.references)
        return name

    def _close(self, element: Element) -> None:
        (a, X_AC), (b, X_BC) = self._ends_at_sites(element) or self._ends_at_bodies(element)
        if a.link == b.link:
            raise self._diagnostics.refusal(
                Code.LOOP, f"{element} connects link {a.link!r} to itself"
            )
        rigid = element.tag == "weld" and self._attributes.number(
            element, "torquescale", default=1.0
        )
        named = "name" in element.attributes
        name = (
            self._attributes.name(element) if named else self._names.fresh(element.tag, element.tag)
        )
        loop = Loop(
            name=name,
            kind=LoopKind.POSE if rigid else LoopKind.POINT,
            link_a=a.link,
            link_b=b.link,
            X_AC=frozen(a.X_LB @ X_AC),
            X_BC=frozen(b.X_LB @ X_BC),
        )
        self.loops.append(Located(loop, element.line))

    def _ends_at_sites(self, element: Element) -> tuple[_LoopEnd, _LoopEnd] | None:
        if "site1" not in element.attributes and "site2" not in element.attributes:
            return None
        ends = []
        for attribute in ("site1", "site2"):
            name = self._attributes.name(element, attribute)
            if name not in self._bodies.sites:
                raise self._document.unknown(element, "site", name, known=self._bodies.sites)
            ends.append(self._bodies.sites[name])
        return ends[0], ends[1]

    def _ends_at_bodies(self, element: Element) -> tuple[_LoopEnd, _LoopEnd]:
        """Return the ends of a constraint that is satisfied in the file's pose.

        A connect has its anchor in the first body, a weld in the second; the other end
        coincides with the anchor in that pose, unless a weld has a relpose.
        """
        placed = [name for name in ("anchor", "relpose") if name in element.attributes]
        if self._document.compiler.global_coordinates and placed:
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: {placed[0]} is not supported in global coordinates",
                remedy="make the coordinates local with MuJoCo 2.3.3",
            )
        a = self._body(element, self._attributes.name(element, "body1"))
        b = self._body(element, element.attributes.get("body2", WORLD))
        X_AB = inverse_pose(a.X_WB) @ b.X_WB
        if element.tag == "connect":
            X_AC = pose(self._attributes.vector(element, "anchor", 3))
            return (a, X_AC), (b, inverse_pose(X_AB) @ X_AC)
        X_BC = pose(self._attributes.vector(element, "anchor", 3, default=(0.0, 0.0, 0.0)))
        relative = self._attributes.vector(element, "relpose", 7, default=(0.0,) * 7)
        if np.any(relative[3:]):
            X_AC = pose(relative[:3], rotation_from_quaternion(relative[3:]))
            return (a, X_AC), (b, X_BC)
        return (a, X_AB @ X_BC), (b, X_BC)

    def _body(self, element: Element, name: str) -> MjcfBody:
        if name in self._bodies.surroundings or (name == WORLD and self._world is None):
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element} connects the robot to its surroundings",
                remedy="remove it, or fix the robot to the world by a body without joints",
            )
        if name == WORLD and self._world is not None:
            return self._world
        if name not in self._bodies.bodies:
            raise self._document.unknown(element, "body", name, known=self._bodies.bodies)
        return self._bodies.bodies[name]


def set_springdampers(bodies: BodyReader, *, free: bool) -> None:
    """Compute the springs that are given by a time constant and a damping ratio, as MuJoCo does.

    With the inertia m = 1 / (M^-1)_ii that a force at the joint accelerates in the file's pose,
    they are m / (time constant * damping ratio)^2 and 2 m / time constant.

    Args:
        free: Whether the base floats.
    """
    if not bodies.springdampers:
        return
    moving = [name for name in bodies.references if name in bodies.joints]
    M = _mass_matrix(bodies, moving, free=free)
    if np.linalg.matrix_rank(M) < len(M):
        return  # a massless branch, which is refused when the links are assembled
    mobility = np.diag(np.linalg.inv(M))[-len(moving) :]
    for name, (time, ratio) in bodies.springdampers.items():
        located, mass = bodies.joints[name], 1.0 / float(mobility[moving.index(name)])
        spring = replace(
            located.item, stiffness=mass / (time * ratio) ** 2, damping=2 * mass / time
        )
        bodies.joints[name] = replace(located, item=spring)


def _mass_matrix(bodies: BodyReader, moving: Sequence[str], *, free: bool) -> Array:
    """Return the mass matrix in the file's pose, that of a free base first, shape (n, n)."""
    above = {located.item.child: located.item for located in bodies.joints.values()}
    column = {name: 6 * free + i for i, name in enumerate(moving)}
    n = 6 * free + len(moving)
    M = np.zeros((n, n))
    M[range(6 * free, n), range(6 * free, n)] = [
        bodies.joints[name].item.armature for name in moving
    ]
    for located in bodies.links:
        link, chain = located.item, list[Joint]()
        name = link.name
        while name in above:
            chain.append(above[name])
            name = above[name].parent
        if link.inertia is None:
            continue
        X, axes = np.eye(4), list[tuple[int, Array, Array, bool]]()
        for joint in reversed(chain):
            slides = joint.type is JointType.PRISMATIC
            q = bodies.references.get(joint.name, 0.0)
            turn = np.eye(3) if slides else rotation_about(joint.axis, q)
            X = X @ joint.X_PJ @ pose(q * joint.axis if slides else np.zeros(3), turn)
            if joint.name in column:
                axes.append((column[joint.name], X[:3, :3] @ joint.axis, X[:3, 3], slides))
        inertia = moved_inertia(link.inertia, X)
        J = np.zeros((6, n))
        if free:
            J[:3, :3], J[3:, 3:6] = np.eye(3), np.eye(3)
            J[:3, 3:6] = np.cross(np.eye(3), inertia.center).T
        for i, axis, anchor, slides in axes:
            J[:3, i] = axis if slides else np.cross(axis, inertia.center - anchor)
            J[3:, i] = 0.0 if slides else axis
        M += inertia.mass * J[:3].T @ J[:3] + J[3:].T @ inertia.moment @ J[3:]
    return M


_TARGETS = ("joint", "jointinparent", "tendon", "site", "body", "cranksite")


def read_actuators(
    sections: Sequence[Element], *, document: MjcfDocument, bodies: BodyReader
) -> tuple[str, ...]:
    """Limit the efforts of joints to the sum of their actuators.

    Args:
        bodies: The joints, whose limits, damping and armature are changed.

    Returns:
        The names of the joints that have actuators.
    """
    efforts: dict[str, float] = {}
    for written in (child for section in sections for child in section.children):
        with document.diagnostics.at(written):
            element = document.defaults.complete(written)
            if bodies.leaves_out(element):
                continue
            document.left_out.add("actuator", element)
            target = _target(element, document)
            name = element.attributes[target]
            if target not in ("joint", "jointinparent") or name in bodies.without_axis:
                _refuse_drive(element, document)
                continue
            if name not in bodies.references:
                raise document.unknown(element, "joint", name, known=bodies.references)
            gear = _gear(element, document)
            force = _force(element, document)
            # With a gear of zero the effort is zero, however strong the actuator is.
            efforts[name] = efforts.get(name, 0.0) + (gear * force if gear else 0.0)
            _add_drive(element, name, gear, document=document, bodies=bodies)
    for name, effort in efforts.items():
        located = bodies.joints[name]
        limits = located.item.limits
        limits = replace(limits, effort=min(limits.effort, effort))
        bodies.joints[name] = replace(located, item=replace(located.item, limits=limits))
    return tuple(efforts)


def _target(element: Element, document: MjcfDocument) -> str:
    """Return the attribute that names the target of an actuator."""
    targets = [name for name in _TARGETS if name in element.attributes]
    if len(targets) == 1:
        return targets[0]
    raise document.diagnostics.refusal(
        Code.BAD_VALUE if targets else Code.MISSING_ATTRIBUTE,
        f"{element} acts on {' and '.join(targets) or 'nothing'}",
        remedy=f"name one target by one of {', '.join(_TARGETS)}",
    )


def _gear(element: Element, document: MjcfDocument) -> float:
    """Return the ratio between the force of an actuator and the effort at its joint."""
    gears = document.reading.attributes.numbers(element, "gear", default=(1.0,))
    return abs(gears[0])


def _force(element: Element, document: MjcfDocument) -> float:
    """Return the largest force of an actuator; that of a motor is also limited by its input."""
    force = document.interval(element, limited="forcelimited", bounds="forcerange")
    control = document.interval(element, limited="ctrllimited", bounds="ctrlrange")
    strongest = largest(force, element, document=document)
    if element.tag == "motor":
        strongest = min(strongest, largest(control, element, document=document))
    return strongest


def _refuse_drive(element: Element, document: MjcfDocument) -> None:
    """Refuse armature and damping of a drive that acts on something else than one joint."""
    for name in ("armature", "damping"):
        if any(document.reading.attributes.numbers(element, name, default=())):
            raise document.diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: {name} of an actuator is supported at a hinge or slide only",
                remedy=f"write {name} at the joints instead",
            )


def _add_drive(
    element: Element, joint: str, gear: float, *, document: MjcfDocument, bodies: BodyReader
) -> None:
    """Add the armature and damping of an actuator to its joint, times the gear squared."""
    armature = gear**2 * document.reading.attributes.not_negative(element, "armature")
    damping = gear**2 * linear_damping(element, document)
    located = bodies.joints[joint]
    item = replace(
        located.item,
        armature=located.item.armature + armature,
        damping=located.item.damping + damping,
    )
    bodies.joints[joint] = Located(item, located.line)
