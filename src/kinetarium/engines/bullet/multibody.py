"""Multibody: robots and bodies as Bullet's base and links, without its distorting defaults."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np

from kinetarium.engines.bullet.library import BulletClient, position, principal, quaternion_xyzw
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Inertia,
    Joint,
    JointType,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.scene import Base, Body, Motion, PlacedRobot, Plane, SceneError
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose

Shapes = tuple[Geometry, ...]
"""The surface of a base or link."""

_MOST_SHAPES = 16
"""Maximum number of shapes of a link in pybullet."""
LANDSCAPE = (Geometry(Box((2e5, 2e5, 2e3)), frozen(pose((0.0, 0.0, -1e3)))),)
"""The half space, as far as anyone looks [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class BodySpec:
    """A link of a Bullet multibody, or its base.

    Attributes:
        solid: The solid that it is, or whose surface it carries.
        parent: Index of the spec above; -1 for the base, which is spec 0.
        X_PL: Pose of its frame in the one above at joint position zero, shape (4, 4).
        joint: The joint that moves it, or None.
        inertia: Its mass properties, or None.
        surface: What touches: shapes in its frame, or a plane.
        members: The solids that move with it as one and the pose of each in its frame; empty
            for a link that only carries shapes.
    """

    solid: str
    parent: int = -1
    X_PL: Array = field(default_factory=lambda: IDENTITY)
    joint: Joint | None = None
    inertia: Inertia | None = None
    surface: Shapes | Plane = ()
    members: tuple[tuple[str, Array], ...] = ()

    @property
    def is_boxes(self) -> bool:
        """Whether its surface is made of boxes."""
        return not isinstance(self.surface, Plane) and all(
            isinstance(geometry.shape, Box) for geometry in self.surface
        )


def body_specs(body: Body) -> tuple[BodySpec, ...]:
    """Return the specs of a body beside the robots.

    Bullet meets a plane with one corner of a box after the other, which sends
    a box that lands flat into a spin; for boxes the plane is a box too.
    """
    if isinstance(body.shape, Plane):
        base = BodySpec(body.name, surface=body.shape, members=((body.name, IDENTITY),))
        return (base, BodySpec(body.name, 0, surface=LANDSCAPE))
    own, others = _divided((Geometry(body.shape),))
    inertia = body.inertia if body.motion is Motion.FREE else None
    base = BodySpec(body.name, inertia=inertia, surface=own, members=((body.name, IDENTITY),))
    return (base, *_carriers(body.name, others, parent=0, X_BL=IDENTITY))


def robot_specs(
    robot: PlacedRobot, *, keep: Collection[str], touching: Collection[str]
) -> tuple[BodySpec, ...]:
    """Return the specs of a robot, a parent before its children.

    The surface of a link that is not the topmost of its rigid body sits on a
    massless link of its own, so that contacts know the link they are on.

    Args:
        keep: Fixed joints to keep as joints, because a sensor sits in them.
        touching: Solids that may touch anything; the others get no surface.
    """
    model, held = robot.model, robot.base is Base.FIXED
    specs: list[BodySpec] = []
    carriers: list[BodySpec] = []
    places: list[int] = []
    for body in rigid_tree(model, keep=keep):
        place = len(specs)
        places.append(place)
        own: Shapes = ()
        for link, X_BL in body.members:
            solid = f"{robot.name}/{link}"
            shapes = model.link(link).collisions if solid in touching else ()
            if link == body.name:
                own, shapes = _divided(shapes)
            carriers.extend(_carriers(solid, shapes, parent=place, X_BL=X_BL))
        specs.append(
            BodySpec(
                f"{robot.name}/{body.name}",
                places[body.parent] if body.joint else -1,
                body.X_PJ,
                body.joint if body.joint and body.joint.type is not JointType.FIXED else None,
                body.inertia if body.joint or not held else None,
                own,
                tuple((f"{robot.name}/{link}", X_BL) for link, X_BL in body.members),
            )
        )
        if held and not body.joint:
            # Bullet takes what is fixed to link 0 for static, even if link 0 moves; this one rests.
            specs.append(BodySpec(f"{robot.name}/{body.name}", 0))
    return (*specs, *carriers)


def _is_mesh(geometry: Geometry) -> bool:
    return isinstance(geometry.shape, MeshData | MeshFile)


def _divided(shapes: Shapes) -> tuple[Shapes, Shapes]:
    """Return the shapes that can sit on a body itself, and the others."""
    plain = tuple(shape for shape in shapes if not _is_mesh(shape))
    return plain[:_MOST_SHAPES], (*plain[_MOST_SHAPES:], *filter(_is_mesh, shapes))


def _carriers(solid: str, shapes: Shapes, *, parent: int, X_BL: Array) -> Iterator[BodySpec]:
    """Yield massless links for shapes of a link; a mesh has one to itself, in its own frame."""
    plain = tuple(shape for shape in shapes if not _is_mesh(shape))
    for i in range(0, len(plain), _MOST_SHAPES):
        yield BodySpec(solid, parent, X_BL, surface=plain[i : i + _MOST_SHAPES])
    for mesh in filter(_is_mesh, shapes):
        yield BodySpec(solid, parent, frozen(X_BL @ mesh.X_LG), surface=(Geometry(mesh.shape),))


MARGIN = 1e-5
"""By how much a convex hull is thicker than its mesh [m]; Bullet's own choice is 1 mm."""
_MOST_VERTICES = 131_072


def collision_shape(bullet: BulletClient, surface: Shapes | Plane) -> int:
    """Make the shape of a surface; return its number, -1 for none.

    Raises:
        KinetariumError: If a mesh is too large for pybullet.
    """
    if isinstance(surface, Plane):
        return int(bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=[0, 0, 1]))
    if not surface:
        return -1
    shape = surface[0].shape
    if isinstance(shape, MeshData | MeshFile):
        return _hull(bullet, shape)
    kinds, radii, halves, lengths = zip(*(_measures(bullet, g.shape) for g in surface), strict=True)
    return int(
        bullet.createCollisionShapeArray(
            shapeTypes=kinds,
            radii=radii,
            halfExtents=halves,
            lengths=lengths,
            collisionFramePositions=[position(geometry.X_LG) for geometry in surface],
            collisionFrameOrientations=[quaternion_xyzw(geometry.X_LG) for geometry in surface],
        )
    )


def _measures(bullet: BulletClient, shape: Shape) -> tuple[int, float, tuple[float, ...], float]:
    """Return kind, radius, half edges and length of a plain shape, as Bullet asks for them."""
    no_edges = (0.0, 0.0, 0.0)
    match shape:
        case Box(size):
            return bullet.GEOM_BOX, 0.0, tuple(edge / 2 for edge in size), 0.0
        case Sphere(radius):
            # Bullet's own spheres see each other only when they overlap, its capsules in time.
            return bullet.GEOM_CAPSULE, radius, no_edges, 0.0
        case Cylinder(radius, length):
            return bullet.GEOM_CYLINDER, radius, no_edges, length
        case Capsule(radius, length):
            return bullet.GEOM_CAPSULE, radius, no_edges, length
        case MeshData() | MeshFile():
            raise AssertionError("a mesh has a link to itself")


def _hull(bullet: BulletClient, shape: MeshData | MeshFile) -> int:
    vertices = mesh_of(shape).vertices
    if len(vertices) > _MOST_VERTICES:
        raise SceneError(
            f"a collision mesh has {len(vertices)} vertices, and Bullet takes {_MOST_VERTICES}"
        )
    number = bullet.createCollisionShape(bullet.GEOM_MESH, vertices=vertices.tolist())
    # Only of a base can pybullet change the margin, and the shape keeps it.
    bearer = bullet.createMultiBody(baseCollisionShapeIndex=number)
    bullet.changeDynamics(bearer, -1, collisionMargin=MARGIN)
    bullet.removeBody(bearer)
    return int(number)


NO_LIMIT = 1e30
"""A joint position that is never reached [rad or m]."""
_MOST_LINKS = 128
"""As many as pybullet reads back of one multibody."""
_NO_SPEED_LIMIT = 1e12
"""Bullet cuts all speeds off at 100 unless another limit is set [m/s, rad/s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Multibody:
    """A robot or body in Bullet.

    Attributes:
        name: Its name in the scene.
        id: Bullet's number for it.
        specs: What it is made of; Bullet's link i is spec i + 1, and link -1 the base.
        X_LI: Pose of the inertial frame of each, by which Bullet knows it, in its own frame,
            shape (specs, 4, 4).
        joints: Bullet's link of each moving joint, in the model's order.
    """

    name: str
    id: int
    specs: tuple[BodySpec, ...]
    X_LI: Array
    joints: tuple[int, ...]

    @property
    def free(self) -> bool:
        """Whether its base flies freely."""
        return self.specs[0].inertia is not None

    def inertial_pose(self, link: str) -> tuple[int, Array]:
        """Return Bullet's link that a link of the robot moves with, and its pose in that, X_IL."""
        return next(
            (i, inverse_pose(X_BI) @ X_BL)
            for i, (spec, X_BI) in enumerate(zip(self.specs, self.X_LI, strict=True), -1)
            for member, X_BL in spec.members
            if member == f"{self.name}/{link}"
        )


def make_multibody(
    bullet: BulletClient,
    name: str,
    *,
    specs: tuple[BodySpec, ...],
    self_collision: bool = False,
    damping: float = 0.0,
) -> Multibody:
    """Make a robot or body of the scene in Bullet.

    Args:
        self_collision: Whether its links may touch each other.
        damping: Share of its momentum that it loses per second [1/s].

    Raises:
        SceneError: If there is more to it than pybullet can handle.
    """
    if len(specs) > _MOST_LINKS:
        raise SceneError(
            f"'{name}' takes {len(specs)} links in Bullet, with one for every surface on a fixed"
            f" link and every mesh, and pybullet handles {_MOST_LINKS}"
        )
    base, *links = specs
    moments, frames = zip(*(principal(spec.inertia) for spec in specs), strict=True)
    shapes = [collision_shape(bullet, spec.surface) for spec in specs]
    number = bullet.createMultiBody(
        baseMass=_mass(base),
        baseCollisionShapeIndex=shapes[0],
        baseInertialFramePosition=position(frames[0]),
        baseInertialFrameOrientation=quaternion_xyzw(frames[0]),
        linkMasses=[_mass(link) for link in links],
        linkCollisionShapeIndices=shapes[1:],
        linkVisualShapeIndices=[-1] * len(links),
        linkPositions=[position(link.X_PL) for link in links],
        linkOrientations=[quaternion_xyzw(link.X_PL) for link in links],
        linkInertialFramePositions=[position(X_LI) for X_LI in frames[1:]],
        linkInertialFrameOrientations=[quaternion_xyzw(X_LI) for X_LI in frames[1:]],
        linkParentIndices=[link.parent for link in links],
        linkJointTypes=[_joint_type(bullet, link.joint) for link in links],
        linkJointAxis=[list(link.joint.axis) if link.joint else [0, 0, 1] for link in links],
        flags=bullet.URDF_MAINTAIN_LINK_ORDER | self_collision * bullet.URDF_USE_SELF_COLLISION,
    )
    for i, moment in enumerate(moments, -1):
        bullet.changeDynamics(number, i, localInertiaDiagonal=list(moment))
    bullet.changeDynamics(
        number,
        -1,
        linearDamping=damping,
        angularDamping=damping,
        maxJointVelocity=_NO_SPEED_LIMIT,
        activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
    )
    moving = [(i, link.joint) for i, link in enumerate(links) if link.joint]
    for i, joint in moving:
        _limit(bullet, joint, place=(number, i))
    joints = tuple(i for i, _ in moving)
    # Bullet puts a motor into every joint; at rest, with a limit, it is Coulomb friction.
    friction = [joint.friction for _, joint in moving]
    bullet.setJointMotorControlArray(number, joints, bullet.VELOCITY_CONTROL, forces=friction)
    return Multibody(name, number, specs, frozen(np.array(frames)), joints)


def _mass(spec: BodySpec) -> float:
    return spec.inertia.mass if spec.inertia else 0.0


def _joint_type(bullet: BulletClient, joint: Joint | None) -> int:
    if joint is None:
        return int(bullet.JOINT_FIXED)
    sliding = joint.type is JointType.PRISMATIC
    return int(bullet.JOINT_PRISMATIC if sliding else bullet.JOINT_REVOLUTE)


def _limit(bullet: BulletClient, joint: Joint, *, place: tuple[int, int]) -> None:
    """Enforce the limits of a joint, if it has any."""
    lower, upper = max(joint.limits.lower, -NO_LIMIT), min(joint.limits.upper, NO_LIMIT)
    if lower > -NO_LIMIT or upper < NO_LIMIT:
        bullet.changeDynamics(*place, jointLowerLimit=lower, jointUpperLimit=upper)
