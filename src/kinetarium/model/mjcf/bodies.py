"""Bodies: reading the kinematic tree into links and joints."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinetarium.model.diagnostics import Allowance, Code
from kinetarium.model.inertia import moved_inertia
from kinetarium.model.markup import Element
from kinetarium.model.mjcf._masses import body_inertia, geoms_bring_mass
from kinetarium.model.mjcf.compiler import ORIENTATIONS
from kinetarium.model.mjcf.document import MjcfDocument, Names, PlacedElement, placed_elements
from kinetarium.model.mjcf.geoms import Geom, GeomReader, two_point_pose
from kinetarium.model.mjcf.joints import JointReader, MjcfJoint
from kinetarium.model.mjcf.references import REFERENCES
from kinetarium.model.robot import IDENTITY, Geometry, Joint, JointType, Link
from kinetarium.model.tree import Located
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose

WORLD = "world"
"""The name of the world, which is the root of robots that are fixed to it by joints."""

JOINTS = ("joint", "freejoint")


@dataclass(frozen=True, slots=True, eq=False)
class MjcfBody:
    """A body that was read as a link.

    Attributes:
        link: Name of the link.
        X_LB: Pose of the body's frame in the link's, which is at the joint, shape (4, 4).
        X_WB: Pose of the body in the world in the file's pose, shape (4, 4).
        moves: Whether any joint is between it and the world.
    """

    link: str
    X_LB: Array
    X_WB: Array
    moves: bool


class BodyReader:
    """Reads the bodies of one file into links and joints.

    Attributes:
        links: The links so far.
        joints: The joints so far, by name.
        references: The position of each joint in the file's pose [rad or m].
        springdampers: Time constant [s] and damping ratio of the springs that have them, by joint.
        bodies: The bodies so far, by their names in the file.
        sites: The body and the pose in it, shape (4, 4), of each named site.
        without_axis: Names of free and ball joints, which a robot model does not have.
        surroundings: Names of the bodies that are not part of the robot.
        mocap: Those of them that are moved from outside.
        outside: Kinds and names of joints and sites that are not part of the robot.
        unread: How many bodies could not be read, nor therefore what refers to them.
    """

    def __init__(
        self, *, document: MjcfDocument, names: Names, geoms: GeomReader, joints: JointReader
    ) -> None:
        """Keep the readers of geoms and joints."""
        self._document = document
        self._diagnostics = document.diagnostics
        self._names = names
        self._geom_reader = geoms
        self._joint_reader = joints
        self.links: list[Located[Link]] = []
        self.joints: dict[str, Located[Joint]] = {}
        self.references: dict[str, float] = {}
        self.springdampers: dict[str, tuple[float, float]] = {}
        self.bodies: dict[str, MjcfBody] = {}
        self.sites: dict[str, tuple[MjcfBody, Array]] = {}
        self.without_axis: set[str] = set()
        self.surroundings: set[str] = set()
        self.mocap: set[str] = set()
        self.outside: set[tuple[str, str]] = set()
        self.unread = 0

    def is_free(self, body: PlacedElement) -> bool:
        """Return whether a body has a free joint."""
        return any(
            placed.element.tag in JOINTS and self._joint_reader.is_free(placed)
            for placed in placed_elements(
                body.element, document=self._document, child_class=body.child_class
            )
        )

    def inner_joints(self, body: PlacedElement) -> bool:
        """Return whether a body or one below it has a joint that is not free."""
        joints = sum(element.tag in JOINTS for element in body.element.walk())
        return joints > self.is_free(body)

    def leaves_out(self, element: Element) -> bool:
        """Return whether an element acts on bodies beside the robot alone, and list it if so."""
        named = {
            (REFERENCES[attribute], name)
            for part in element.walk()
            for attribute, name in part.attributes.items()
            if REFERENCES.get(attribute) in ("body", "joint", "site")
        } - {("body", WORLD)}
        outside = self.outside | {("body", name) for name in self.surroundings}
        if not named or not named <= outside:
            return False
        self._document.left_out.add("part of other bodies", element)
        return True

    def read(self, top: Sequence[PlacedElement], world: MjcfBody | None) -> None:
        """Read bodies and their descendants.

        Args:
            world: Their parent; None if the only one is the root itself.
        """
        pending: list[tuple[PlacedElement, MjcfBody | None]] = [
            (placed, world) for placed in reversed(top)
        ]
        while pending:
            placed, parent = pending.pop()
            self.unread += 1
            with self._diagnostics.at(placed.element):
                body, children = self._read_one(placed, parent)
                pending.extend((child, body) for child in reversed(children))
                self.unread -= 1

    def check_surroundings(self, parts: Sequence[PlacedElement]) -> None:
        """Check the geoms outside the robot, and record the names of its bodies."""
        pending = list(parts)
        while pending:
            placed = pending.pop()
            with self._diagnostics.at(placed.element):
                named = placed.element.attributes.get("name")
                if placed.element.tag == "geom":
                    self._geom_reader.check(placed)
                elif placed.element.tag in (*JOINTS, "site") and named:
                    kind = "site" if placed.element.tag == "site" else "joint"
                    self.outside.add((kind, named))
                elif placed.element.tag == "body":
                    self.surroundings.add(placed.element.attributes.get("name", ""))
                    pending.extend(
                        placed_elements(
                            placed.element, document=self._document, child_class=placed.child_class
                        )
                    )

    def read_sites(self, parts: Sequence[PlacedElement], body: MjcfBody) -> None:
        """Record the poses of the named sites of a body, for constraints."""
        for placed in parts:
            if placed.element.tag != "site" or "name" not in placed.element.attributes:
                continue
            with self._diagnostics.at(placed.element):
                element = self._document.defaults.complete(placed.element, placed.child_class)
                if "fromto" in element.attributes:
                    points = self._document.reading.attributes.vector(element, "fromto", 6)
                    X_FS, _ = two_point_pose(points)
                else:
                    X_FS = self._document.pose(element)
                self.sites[element.attributes["name"]] = (body, placed.X_BF @ X_FS)

    def _read_one(
        self, placed: PlacedElement, parent: MjcfBody | None
    ) -> tuple[MjcfBody, list[PlacedElement]]:
        element = placed.element
        name = self._name(element)
        # A fault is recorded and the rest read, with what is below: one run shows every fault.
        with self._diagnostics.at(element):
            self._refuse_motion_from_outside(element)
        with self._diagnostics.at(element):
            self._refuse_gravity_compensation(element)
        X_PB = placed.X_BF
        with self._diagnostics.at(element):
            X_PB = self._pose(placed)
        parts = list(
            placed_elements(
                element,
                document=self._document,
                child_class=placed.child_class,
                X=self._written_in(X_PB, parent),
            )
        )
        motions = []
        for inner in parts:
            if inner.element.tag in JOINTS:
                read = [self._joint_reader.placeholder(inner)]
                with self._diagnostics.at(inner.element):
                    read = self._joint_reader.read(inner)
                motions += self._named_apart(read, inner.element, name)
        body = MjcfBody(name, IDENTITY, X_PB, moves=True)
        self.unread += 1
        with self._diagnostics.at(element):
            body = self._body(name, element, motions, X_PB=X_PB, parent=parent)
            self.unread -= 1
        self.bodies[name] = body
        geoms = self._geoms(parts, body)
        inertia = None
        with self._diagnostics.at(element):
            inertia = body_inertia(
                name,
                parts,
                weighed=[geom.inertia for geom in geoms if geom.inertia is not None],
                body=element,
                document=self._document,
            )
        self.links.append(
            Located(
                Link(
                    name,
                    inertia=moved_inertia(inertia, body.X_LB) if inertia else None,
                    collisions=_placed([g.geometry for g in geoms if g.collides], body.X_LB),
                    visuals=_placed([g.geometry for g in geoms if g.seen], body.X_LB),
                    line=self._diagnostics.line_of(element),
                ),
                element.line,
            )
        )
        self.read_sites(parts, body)
        return body, [inner for inner in parts if inner.element.tag == "body"]

    def _named_apart(
        self, motions: list[MjcfJoint], element: Element, body: str
    ) -> list[MjcfJoint]:
        """Return the hinges that stand for one ball joint with names of their own."""
        if len(motions) == 1:
            return motions
        named = "name" in element.attributes
        if named:
            self.without_axis.add(element.attributes["name"])
        stem = "" if named else f"{body}/ball"
        return [
            replace(motion, name=self._names.fresh("joint", f"{stem}{motion.name}"))
            for motion in motions
        ]

    def _pose(self, placed: PlacedElement) -> Array:
        """Return the pose of a body in its parent, shape (4, 4).

        MuJoCo puts a body of global coordinates that has no pose at its centre of mass; here it
        keeps its parent's frame, which is the same mechanism.
        """
        posed = any(name in placed.element.attributes for name in ("pos", *ORIENTATIONS))
        if self._document.compiler.global_coordinates and not posed:
            return IDENTITY
        return placed.X_BF @ self._document.pose(placed.element)

    def _written_in(self, X_PB: Array, parent: MjcfBody | None) -> Array:
        """Return the pose in a body of the frame that its elements are written in, (4, 4)."""
        if not self._document.compiler.global_coordinates:
            return IDENTITY
        return inverse_pose(parent.X_WB @ X_PB if parent else X_PB)

    def _name(self, element: Element) -> str:
        if "name" not in element.attributes:
            return self._names.fresh("body", "body")
        return self._document.reading.attributes.name(element)

    def _refuse_motion_from_outside(self, element: Element) -> None:
        if self._document.reading.attributes.flag(element, "mocap", default=False):
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: a nested body cannot be a mocap body",
                remedy="remove mocap, or put the body into the world",
            )

    def _refuse_gravity_compensation(self, element: Element) -> None:
        if self._document.reading.attributes.number(element, "gravcomp", default=0.0) != 0:
            self._document.let_pass(
                Allowance.GRAVITY_COMPENSATION,
                element,
                "gravity compensation is not supported",
                remedy="remove gravcomp and let the controller compensate",
                repair="leave it out",
            )

    def _body(
        self,
        name: str,
        element: Element,
        motions: list[MjcfJoint],
        *,
        X_PB: Array,
        parent: MjcfBody | None,
    ) -> MjcfBody:
        """Add the joints between a body and its parent, with massless links between them."""
        free = [motion for motion in motions if motion.joint is None]
        if free and (len(motions) > 1 or parent is not None):
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: a free joint must be the only joint of an outermost body",
            )
        if parent is None:
            self.without_axis.update(motion.name for motion in free)
            if not np.array_equal(X_PB, IDENTITY):
                self._document.left_out.add("base pose", element)
            if any(motion.aligned for motion in free) and not any(
                inner.tag == "body" for inner in element.walk() if inner is not element
            ):
                self._document.left_out.add("free body's alignment", element)
            return MjcfBody(name, IDENTITY, X_PB, moves=bool(free))
        X, above, anchor = parent.X_LB @ X_PB, parent.link, np.zeros(3)
        for i, motion in enumerate(motions):
            joint = motion.name or self._names.fresh("joint", f"{name}/joint")
            last = i == len(motions) - 1
            below = name if last else self._names.fresh("body", f"{name}/{joint}")
            # A slide has no anchor, so the frame stays where it is.
            assert motion.joint is not None
            turns = motion.joint.type is not JointType.PRISMATIC
            shift = motion.anchor - anchor if turns else np.zeros(3)
            anchor = anchor + shift
            X_PJ = frozen(X @ pose(shift) @ motion.reference_pose())
            moving = replace(motion.joint, name=joint, parent=above, child=below, X_PJ=X_PJ)
            self.joints[joint] = Located(moving, motion.line)
            self.references[joint] = motion.reference
            if motion.springdamper:
                self.springdampers[joint] = motion.springdamper
            if not last:
                self.links.append(Located(Link(below), motion.line))
            X, above = np.eye(4), below
        if not motions:
            joint = self._names.fresh("joint", f"{name}/fixed")
            fixed = Joint(joint, JointType.FIXED, above, name, frozen(X))
            self.joints[joint] = Located(fixed, element.line)
        if np.any(anchor):
            self._diagnostics.repair(
                Code.UNSUPPORTED,
                f"link {name}",
                "link frame moved to the joint's anchor",
                line=element.line,
            )
        return MjcfBody(
            name, pose(-anchor), parent.X_WB @ X_PB, moves=parent.moves or bool(motions)
        )

    def _geoms(self, parts: list[PlacedElement], body: MjcfBody) -> list[Geom]:
        weigh = geoms_bring_mass(parts, self._document)
        geoms = []
        for placed in parts:
            if placed.element.tag != "geom":
                continue
            with self._diagnostics.at(placed.element):
                geom = self._geom_reader.read(placed, fixed=not body.moves, weigh=weigh)
                if geom is not None:
                    geoms.append(geom)
        return geoms


def _placed(geometries: list[Geometry], X_LB: Array) -> tuple[Geometry, ...]:
    return tuple(Geometry(g.shape, frozen(X_LB @ g.X_LG), g.name, g.color) for g in geometries)
