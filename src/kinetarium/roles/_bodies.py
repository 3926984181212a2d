"""The rigid bodies of a robot: links that fixed joints connect, with points on their surfaces."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, pi

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Geometry, Joint, JointType, RobotModel
from kinetarium.spatial.arrays import Array

_SAMPLES = 400
"""Points on a surface: 3 mm apart on a finger, and quick to compare."""


@dataclass(frozen=True, eq=False)
class Body:
    """Links that do not move relative to each other.

    Attributes:
        index: Its place among the bodies.
        links: Indices of its links in the model; the first one is moved by the joint.
        joint: The moving joint above it; None for the root.
        parent: Index of the body above; -1 for the root.
        children: Indices of the bodies below.
    """

    index: int
    links: list[int]
    joint: Joint | None
    parent: int
    children: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Surface:
    """Points spread evenly over a body's surface, in the body's frame.

    Attributes:
        points: The points [m], shape (n, 3).
        normals: Unit normals, outwards where the shape is closed, shape (n, 3).
        links: Index in the model of each point's link, shape (n,).
        spacing: Their mean distance [m].
    """

    points: Array
    normals: Array
    links: NDArray[np.intp]
    spacing: float


class Bodies:
    """The tree of rigid bodies of one robot.

    Attributes:
        model: The robot.
        bodies: The bodies, parents before children.
        rest: Positions of the moving joints [rad or m], shape (joints,): zero, or the
            middle of the range where zero is beyond the limits.
    """

    def __init__(self, model: RobotModel) -> None:
        """Connect the links of a robot."""
        self.model = model
        self.bodies: list[Body] = []
        self.of_link: dict[str, int] = {}
        links = {link.name: i for i, link in enumerate(model.links)}
        for link in model.links:
            joint = model.parent_joint.get(link.name)
            if joint is None or joint.type is not JointType.FIXED:
                parent = self.of_link[joint.parent] if joint else -1
                body = Body(len(self.bodies), [links[link.name]], joint, parent)
                self.bodies.append(body)
                if joint:
                    self.bodies[parent].children.append(body.index)
            else:
                body = self.bodies[self.of_link[joint.parent]]
                body.links.append(links[link.name])
            self.of_link[link.name] = body.index
        self.coordinate = {joint.name: i for i, joint in enumerate(model.moving_joints)}
        self._followers = [joint for joint in model.moving_joints if joint.mimic]
        self.rest = self.positions({})
        self._surfaces: dict[int, Surface | None] = {}

    def positions(self, chosen: Mapping[str, Array | float], *, count: int | None = None) -> Array:
        """Return the positions of all joints, shape (joints,) or (count, joints).

        Args:
            chosen: Positions of some independent joints [rad or m], each shape () or (count,);
                the others rest and followers follow.
            count: How many configurations; None for one.
        """
        shape = () if count is None else (count,)
        q = np.zeros((*shape, len(self.coordinate)))
        for joint in self.model.moving_joints:
            lower, upper = joint.limits.lower, joint.limits.upper
            inside = lower <= 0.0 <= upper
            rest = 0.0 if inside else (lower + upper) / 2
            value = rest if isfinite(rest) else np.clip(0.0, lower, upper)
            q[..., self.coordinate[joint.name]] = chosen.get(joint.name, value)
        for joint in self._followers:
            assert joint.mimic
            leader = q[..., self.coordinate[joint.mimic.joint]]
            q[..., self.coordinate[joint.name]] = (
                joint.mimic.multiplier * leader + joint.mimic.offset
            )
        return q

    def poses(self, q: Array) -> Array:
        """Return the poses of all links in the root's frame, shape (..., links, 4, 4)."""
        return link_poses(self.model, q)

    @cached_property
    def rest_poses(self) -> Array:
        """The poses of all links at rest in the root's frame, shape (links, 4, 4)."""
        return self.poses(self.rest)

    def name(self, body: Body) -> str:
        """Return the name of a body's first link."""
        return self.model.links[body.links[0]].name

    def below(self, index: int) -> Iterator[Body]:
        """Yield a body and all bodies below it, parents first."""
        pending = [index]
        while pending:
            body = self.bodies[pending.pop()]
            yield body
            pending.extend(reversed(body.children))

    def chain(self, index: int) -> list[Body]:
        """Return the bodies from the root to one, which is the last."""
        chain = [self.bodies[index]]
        while chain[-1].parent >= 0:
            chain.append(self.bodies[chain[-1].parent])
        return chain[::-1]

    def vertices(self, body: Body) -> Array:
        """Return the corners of a body's shapes at rest in the root's frame, shape (n, 3).

        A body without shapes has the origins of its links.
        """
        parts = [
            _moved(self.rest_poses[i] @ geometry.X_LG, triangulate(geometry.shape).vertices)
            for i in body.links
            for geometry in self._geometry(body, i)
        ]
        if not parts:
            return self.rest_poses[body.links, :3, 3]
        return np.concatenate(parts)

    def has_shapes(self, body: Body) -> bool:
        """Return whether a body has any shape."""
        return any(self.model.links[i].collisions or self.model.links[i].visuals
                   for i in body.links)  # fmt: skip

    def surface(self, body: Body) -> Surface | None:
        """Return points on the surface of a body; None if it has no shape."""
        if body.index not in self._surfaces:
            self._surfaces[body.index] = self._sampled(body)
        return self._surfaces[body.index]

    def _geometry(self, body: Body, link: int) -> tuple[Geometry, ...]:
        if any(self.model.links[i].collisions for i in body.links):
            return self.model.links[link].collisions
        return self.model.links[link].visuals

    def _sampled(self, body: Body) -> Surface | None:
        first = np.linalg.inv(self.rest_poses[body.links[0]])
        corners, owners = [np.zeros((0, 3, 3))], [np.zeros(0, dtype=np.intp)]
        for i in body.links:
            X_BL = first @ self.rest_poses[i]
            for geometry in self._geometry(body, i):
                mesh = triangulate(geometry.shape, segments=12)
                moved = _moved(X_BL @ geometry.X_LG, mesh.vertices)
                corners.append(_outward(moved[mesh.faces]))
                owners.append(np.full(len(mesh.faces), i))
        triangles, owner = np.concatenate(corners), np.concatenate(owners)
        a, b, c = triangles.transpose(1, 0, 2)
        normals = np.cross(b - a, c - a)
        areas = np.linalg.norm(normals, axis=1) / 2
        total = float(areas.sum())
        if total <= 0.0:
            return None
        # Evenly along the cumulative area; within triangles by the R2 sequence
        # (Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
        steps = np.arange(_SAMPLES)
        face = np.searchsorted(np.cumsum(areas), (steps + 0.5) * total / _SAMPLES)
        face = np.minimum(face, len(areas) - 1)
        u, v = (0.5 + np.outer((0.7548776662466927, 0.5698402909980532), steps)) % 1.0
        u, v = np.where(u + v > 1, 1 - u, u)[:, None], np.where(u + v > 1, 1 - v, v)[:, None]
        points = a[face] + u * (b - a)[face] + v * (c - a)[face]
        unit = normals[face] / (2 * areas[face, None])
        return Surface(points, unit, owner[face], float(np.sqrt(total / _SAMPLES)))


def _outward(triangles: Array) -> Array:
    """Return triangles that face outwards on the whole: they enclose a positive volume."""
    a, b, c = (triangles - triangles.mean(axis=(0, 1))).transpose(1, 0, 2)
    volume = np.einsum("ij,ij->", np.cross(a, b), c)
    return triangles if volume >= 0 else triangles[:, ::-1]


def travel(joint: Joint) -> tuple[float, float]:
    """Return the range of a joint [rad or m]; half a turn to either side if it is unlimited."""
    lower, upper = joint.limits.lower, joint.limits.upper
    return (lower if isfinite(lower) else -pi, upper if isfinite(upper) else pi)


def is_unlimited(joint: Joint) -> bool:
    """Return whether a joint may turn without end."""
    if joint.type is JointType.CONTINUOUS:
        return True
    lower, upper = joint.limits.lower, joint.limits.upper
    return joint.type is JointType.REVOLUTE and upper - lower > 8 * pi


def _moved(X: Array, points: Array) -> Array:
    return np.asarray(points @ X[:3, :3].T + X[:3, 3])
