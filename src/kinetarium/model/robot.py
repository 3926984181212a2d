"""RobotModel: the immutable robot description that every engine and study is built from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetarium.errors import UnknownNameError
from kinetarium.model.diagnostics import Repair
from kinetarium.spatial.arrays import Array, frozen


@dataclass(frozen=True, slots=True)
class Box:
    """A box with its edges along the axes.

    Attributes:
        size: Full edge lengths along x, y, z [m].
    """

    size: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere.

    Attributes:
        radius: Radius [m].
    """

    radius: float


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A cylinder along z.

    Attributes:
        radius: Radius [m].
        length: Full length along z [m].
    """

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Capsule:
    """A cylinder along z with a half sphere at each end.

    Attributes:
        radius: Radius [m].
        length: Length of the cylindrical part along z [m].
    """

    radius: float
    length: float


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles as read-only arrays.

    Attributes:
        vertices: Corner points [m], shape (n, 3).
        faces: Indices of the corners of each triangle, shape (m, 3).
    """

    vertices: Array
    faces: NDArray[np.int32]

    @cached_property
    def bounds(self) -> Array:
        """The lowest and the highest coordinates [m], shape (2, 3)."""
        return frozen([self.vertices.min(axis=0), self.vertices.max(axis=0)])


@dataclass(frozen=True, slots=True)
class MeshFile:
    """A triangle mesh in a file, loaded when needed.

    Attributes:
        uri: The address as the robot file wrote it.
        path: The file, resolved and within the allowed roots.
        scale: Factors along x, y, z; a negative one mirrors.
    """

    uri: str
    path: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class MeshData:
    """A triangle mesh that is part of the robot file itself, or generated from a shape.

    Attributes:
        name: Its name.
        mesh: The triangles.
    """

    name: str
    mesh: TriangleMesh


Shape = Box | Sphere | Cylinder | Capsule | MeshFile | MeshData
"""The shapes of a geometry."""


IDENTITY = frozen([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


class JointType(StrEnum):
    """How a child link may move relative to its parent."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Mass properties of a link, in the axes of the link frame.

    Attributes:
        mass: Mass [kg].
        center: Centre of mass p_LC in the link frame [m], shape (3,).
        moment: Moment of inertia about the centre of mass, in link axes
            [kg m^2], shape (3, 3).
    """

    mass: float
    center: Array
    moment: Array


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """A shape with a pose on a link.

    Attributes:
        shape: The shape.
        X_LG: Pose of the shape in the link frame, shape (4, 4).
        name: A name from the file, or empty.
        color: Red, green, blue and opacity in 0..1, or None for the viewer's default.
    """

    shape: Shape
    X_LG: Array = field(default_factory=lambda: IDENTITY)
    name: str = ""
    color: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A rigid body.

    Attributes:
        name: Its name, unique among the links.
        inertia: Mass properties; None for a massless frame.
        collisions: Collision geometry.
        visuals: Visual geometry.
        line: Its line in the robot file; None for an included or generated link.
    """

    name: str
    inertia: Inertia | None = None
    collisions: tuple[Geometry, ...] = ()
    visuals: tuple[Geometry, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of a joint; infinite where there are none.

    Attributes:
        lower: Lowest position [rad or m].
        upper: Highest position [rad or m].
        velocity: Highest speed [rad/s or m/s].
        effort: Highest torque or force as in the robot file, which engines apply [N m or N].
    """

    lower: float = -inf
    upper: float = inf
    velocity: float = inf
    effort: float = inf

    @property
    def rated_effort(self) -> float:
        """Highest torque or force of its drive [N m or N], infinite where none is stated.

        Zero, which exporters write by default, states none: nothing is controlled or judged by it.
        """
        return self.effort or inf


@dataclass(frozen=True, slots=True)
class Mimic:
    """A coupling: position = multiplier * position of the leader + offset.

    Attributes:
        joint: The leader, an independent joint.
        multiplier: Ratio [-, or rad/m between different kinds].
        offset: Position at the leader's zero [rad or m].
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A joint; the child link's frame is the joint frame after the motion.

    Attributes:
        name: Its name, unique among the joints.
        type: How the child may move.
        parent: Name of the parent link.
        child: Name of the child link.
        X_PJ: Pose of the joint frame in the parent link at position zero, shape (4, 4).
        axis: Unit axis in the joint frame, shape (3,).
        limits: Limits of position, speed and effort.
        damping: Viscous damping [N m s/rad or N s/m].
        friction: Coulomb friction [N m or N].
        armature: Inertia of the drive seen at the joint [kg m^2 or kg].
        stiffness: Stiffness of a spring in the joint [N m/rad or N/m].
        springref: Position at which that spring is relaxed [rad or m].
        mimic: The coupling to another joint, or None for an independent joint.
        line: Its line in the robot file; None for an included or generated joint.
    """

    name: str
    type: JointType
    parent: str
    child: str
    X_PJ: Array = field(default_factory=lambda: IDENTITY)
    axis: Array = field(default_factory=lambda: frozen([1, 0, 0]))
    limits: JointLimits = JointLimits()
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    springref: float = 0.0
    mimic: Mimic | None = None
    line: int | None = None


class LoopKind(StrEnum):
    """What a loop constraint connects."""

    POINT = "point"
    POSE = "pose"


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A constraint that closes a kinematic loop between two links.

    Attributes:
        name: Its name, unique among the loops.
        kind: Whether two points or two whole frames coincide.
        link_a: Name of the first link.
        link_b: Name of the second link.
        X_AC: The constrained frame in link a, shape (4, 4).
        X_BC: The constrained frame in link b, shape (4, 4).
    """

    name: str
    kind: LoopKind
    link_a: str
    link_b: str
    X_AC: Array = field(default_factory=lambda: IDENTITY)
    X_BC: Array = field(default_factory=lambda: IDENTITY)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model came from.

    Attributes:
        file: The file as the user named it, or the catalogue name.
        format: "urdf", "xacro" or "mjcf".
        sha256: Hash of the robot file and its includes.
    """

    file: str
    format: str
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A named frame on a link.

    Attributes:
        name: Its name.
        link: The link it is on.
        X_LS: Its pose in the link frame, shape (4, 4).
    """

    name: str
    link: str
    X_LS: Array


@dataclass(frozen=True, slots=True, eq=False)
class Declarations:
    """What a robot file states about the use of its joints and links, beside the mechanics.

    Attributes:
        driven: Joints with an actuator, a transmission or a command interface of ros2_control.
        poses: Named positions of joints [rad or m], such as keyframes, by name and joint.
        tilts: Angle of the root to the vertical in the poses where it floats [rad], by name.
        sites: Named frames.
    """

    driven: tuple[str, ...] = ()
    poses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    tilts: Mapping[str, float] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A valid robot: a tree of links and joints, couplings and loops.

    Links and joints are in depth-first order, a parent before its children;
    joint coordinates q are in that order over `moving_joints`.

    Example:
        >>> from kinetarium import load_robot
        >>> panda = load_robot("panda")
        >>> panda.root, len(panda.moving_joints), round(panda.mass, 2)
        ('panda_link0', 9, 17.48)

    Attributes:
        name: The robot's name.
        links: The links, the root first.
        joints: The joints, each moving exactly one child link.
        loops: Constraints that close loops.
        free_base: Whether the root link floats freely, according to the file.
        source: Where the model came from.
        repairs: The changes that the reader made.
        declared: What the file states about the use of joints and links.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    source: Source
    loops: tuple[Loop, ...] = ()
    free_base: bool = False
    repairs: tuple[Repair, ...] = ()
    declared: Declarations = Declarations()

    @property
    def root(self) -> str:
        """Name of the root link."""
        return self.links[0].name

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return sum(link.inertia.mass for link in self.links if link.inertia)

    @cached_property
    def moving_joints(self) -> tuple[Joint, ...]:
        """The joints that are not fixed, in coordinate order."""
        return tuple(joint for joint in self.joints if joint.type is not JointType.FIXED)

    @cached_property
    def parent_joint(self) -> dict[str, Joint]:
        """The parent joint of each link, by the link's name; the root has none."""
        return {joint.child: joint for joint in self.joints}

    def link(self, name: str) -> Link:
        """Return the link of a name.

        Raises:
            UnknownNameError: If there is no such link.
        """
        for link in self.links:
            if link.name == name:
                return link
        raise UnknownNameError("link", name, known=(link.name for link in self.links))

    def joint(self, name: str) -> Joint:
        """Return the joint of a name.

        Raises:
            UnknownNameError: If there is no such joint.
        """
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise UnknownNameError("joint", name, known=(joint.name for joint in self.joints))
