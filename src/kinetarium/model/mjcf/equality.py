"""Equality constraints: couplings between joints, and loops between bodies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.bodies import WORLD, Body, BodyReader
from kinetarium.model.mjcf.names import Names
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.robot import Loop, LoopKind, Mimic
from kinetarium.model.tree import Located
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion

_POLYNOMIAL = (0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """One end of a loop: a body and a frame in it, shape (4, 4)."""

    body: Body
    X_BC: Array


class EqualityReader:
    """Reads the equality constraints of one file.

    Attributes:
        loops: The loops so far.
    """

    def __init__(
        self, *, scope: Scope, names: Names, bodies: BodyReader, world: Body | None
    ) -> None:
        """Keep what the constraints are between.

        Args:
            scope: The file being read.
            names: Gives names to what has none.
            bodies: The bodies and joints; followers are marked in its joints.
            world: What stands for the world; None if the robot floats in it.
        """
        self._scope = scope
        self._attributes = scope.reading.attributes
        self._names = names
        self._bodies = bodies
        self._world = world
        self.loops: list[Located[Loop]] = []

    def read(self, sections: Sequence[Element]) -> None:
        """Read all <equality> sections."""
        for written in (child for section in sections for child in section.children):
            with self._scope.origins.at(written):
                element = self._scope.defaults.complete(written, kind="equality")
                if not self._attributes.flag(element, "active", default=True):
                    self._scope.left_out.add("inactive equality", element.line)
                elif element.tag == "joint":
                    self._couple(element)
                elif element.tag in ("connect", "weld"):
                    self._close(element)
                else:
                    raise self._scope.refusal(
                        Code.UNSUPPORTED,
                        f"an equality of <{element.tag}> is not supported",
                        element,
                        remedy="constrain joints or bodies instead",
                    )

    def _couple(self, element: Element) -> None:
        """Read y - y0 = a0 + a1 (x - x0), the positions as written being x0 and y0."""
        follower = self._joint(element, "joint1")
        given = (
            self._attributes.numbers(element, "polycoef")
            if "polycoef" in element.attributes
            else ()
        )
        a0, a1, *higher = given + _POLYNOMIAL[len(given) :]
        if "joint2" not in element.attributes or any(higher):
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: only a linear coupling of two joints is supported",
                element,
                remedy="make the joint fixed, or keep the first two numbers of polycoef",
            )
        leader = self._joint(element, "joint2")
        located = self._bodies.joints[follower]
        if located.item.mimic is not None:
            raise self._scope.refusal(
                Code.MIMIC, f"joint {follower!r} follows two joints", element,
                remedy="let each joint follow one",
            )  # fmt: skip
        references = self._bodies.references
        offset = references[follower] + a0 - a1 * references[leader]
        mimic = Mimic(leader, float(a1), float(offset))
        self._bodies.joints[follower] = replace(located, item=replace(located.item, mimic=mimic))

    def _joint(self, element: Element, attribute: str) -> str:
        name = self._attributes.name(element, attribute)
        if name not in self._bodies.references:
            raise self._scope.unknown(element, "joint", name, known=self._bodies.references)
        return name

    def _close(self, element: Element) -> None:
        a, b = self._ends_at_sites(element) or self._ends_at_bodies(element)
        if a.body.link == b.body.link:
            raise self._scope.refusal(
                Code.LOOP, f"{element} ties link {a.body.link!r} to itself", element
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
            link_a=a.body.link,
            link_b=b.body.link,
            X_AC=frozen(a.body.X_LB @ a.X_BC),
            X_BC=frozen(b.body.X_LB @ b.X_BC),
        )
        self.loops.append(Located(loop, element.line))

    def _ends_at_sites(self, element: Element) -> tuple[_End, _End] | None:
        if "site1" not in element.attributes and "site2" not in element.attributes:
            return None
        if "body1" in element.attributes or "body2" in element.attributes:
            raise self._scope.refusal(
                Code.BAD_VALUE, f"{element} names bodies and sites", element, remedy="keep one"
            )
        ends = []
        for attribute in ("site1", "site2"):
            name = self._attributes.name(element, attribute)
            if name not in self._bodies.sites:
                raise self._scope.unknown(element, "site", name, known=self._bodies.sites)
            ends.append(_End(*self._bodies.sites[name]))
        return ends[0], ends[1]

    def _ends_at_bodies(self, element: Element) -> tuple[_End, _End]:
        """Give the ends of a constraint that holds where the file writes the bodies.

        A connect has its anchor in the first body, a weld in the second; the
        other end is where the anchor is at that moment, unless a weld says
        by relpose where it is to be.
        """
        a = self._body(element, self._attributes.name(element, "body1"))
        b = self._body(element, element.attributes.get("body2", WORLD))
        X_AB = inverse_pose(a.X_WB) @ b.X_WB
        if element.tag == "connect":
            X_AC = pose(self._attributes.vector(element, "anchor", 3))
            return _End(a, X_AC), _End(b, inverse_pose(X_AB) @ X_AC)
        X_BC = pose(self._attributes.vector(element, "anchor", 3, default=(0.0, 0.0, 0.0)))
        relative = self._attributes.vector(element, "relpose", 7, default=(0.0,) * 7)
        if np.any(relative[3:]):
            X_AC = pose(relative[:3], rotation_from_quaternion(relative[3:]))
            return _End(a, X_AC), _End(b, X_BC)
        return _End(a, X_AB @ X_BC), _End(b, X_BC)

    def _body(self, element: Element, name: str) -> Body:
        if name in self._bodies.surroundings or (name == WORLD and self._world is None):
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element} ties the robot to its surroundings",
                element,
                remedy="remove it, or fix the robot to the world by a body without joints",
            )
        if name == WORLD and self._world is not None:
            return self._world
        if name not in self._bodies.bodies:
            raise self._scope.unknown(element, "body", name, known=self._bodies.bodies)
        return self._bodies.bodies[name]
