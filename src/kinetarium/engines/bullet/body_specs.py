"""Robots and bodies as the parts that Bullet's multibodies consist of."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Geometry,
    Inertia,
    Joint,
    JointType,
    MeshData,
    MeshFile,
)
from kinetarium.scene import Base, Body, Motion, PlacedRobot, Plane
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

Shapes = tuple[Geometry, ...]
"""The surface of a part."""

_MOST_SHAPES = 16
"""As many shapes as pybullet takes for one link."""
LANDSCAPE = (Geometry(Box((2e5, 2e5, 2e3)), frozen(pose((0.0, 0.0, -1e3)))),)
"""The half space, as far as anyone looks [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A link of a Bullet multibody, or its base.

    Attributes:
        solid: The solid that it is, or whose surface it carries.
        parent: Index of the part above; -1 for the base, which is part 0.
        X_PL: Pose of its frame in the part above at joint position zero, shape (4, 4).
        joint: The joint that moves it, or None.
        inertia: Its mass properties, or None.
        surface: What touches: shapes in its frame, or a plane.
        members: The solids that move with it as one and the pose of each in its frame; none
            for a mere carrier of shapes.
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


def body_parts(body: Body) -> tuple[Part, ...]:
    """Return a body beside the robots as parts.

    Bullet meets a plane with one corner of a box after the other, which sends
    a box that lands flat into a spin; for boxes the plane is a box too.
    """
    if isinstance(body.shape, Plane):
        base = Part(body.name, surface=body.shape, members=((body.name, IDENTITY),))
        return (base, Part(body.name, 0, surface=LANDSCAPE))
    own, others = _divided((Geometry(body.shape),))
    inertia = body.inertia if body.motion is Motion.FREE else None
    base = Part(body.name, inertia=inertia, surface=own, members=((body.name, IDENTITY),))
    return (base, *_carriers(body.name, others, parent=0, X_BL=IDENTITY))


def robot_parts(
    robot: PlacedRobot, *, keep: Collection[str], touching: Collection[str]
) -> tuple[Part, ...]:
    """Return a robot as parts, a parent before its children.

    The surface of a link that is not the topmost of its rigid body sits on a
    massless part of its own, so that contacts know the link they are on.

    Args:
        keep: Fixed joints to keep as joints, because a sensor sits in them.
        touching: Solids that may touch anything; the others get no surface.
    """
    model, held = robot.model, robot.base is Base.FIXED
    parts: list[Part] = []
    carriers: list[Part] = []
    places: list[int] = []
    for body in rigid_tree(model, keep=keep):
        place = len(parts)
        places.append(place)
        own: Shapes = ()
        for link, X_BL in body.members:
            solid = f"{robot.name}/{link}"
            shapes = model.link(link).collisions if solid in touching else ()
            if link == body.name:
                own, shapes = _divided(shapes)
            carriers.extend(_carriers(solid, shapes, parent=place, X_BL=X_BL))
        parts.append(
            Part(
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
            parts.append(Part(f"{robot.name}/{body.name}", 0))
    return (*parts, *carriers)


def _is_mesh(geometry: Geometry) -> bool:
    return isinstance(geometry.shape, MeshData | MeshFile)


def _divided(shapes: Shapes) -> tuple[Shapes, Shapes]:
    """Return the shapes that can sit on a body itself, and the others."""
    plain = tuple(shape for shape in shapes if not _is_mesh(shape))
    return plain[:_MOST_SHAPES], (*plain[_MOST_SHAPES:], *filter(_is_mesh, shapes))


def _carriers(solid: str, shapes: Shapes, *, parent: int, X_BL: Array) -> Iterator[Part]:
    """Yield massless parts for shapes of a link; a mesh has one to itself, in its own frame."""
    plain = tuple(shape for shape in shapes if not _is_mesh(shape))
    for i in range(0, len(plain), _MOST_SHAPES):
        yield Part(solid, parent, X_BL, surface=plain[i : i + _MOST_SHAPES])
    for mesh in filter(_is_mesh, shapes):
        yield Part(solid, parent, frozen(X_BL @ mesh.X_LG), surface=(Geometry(mesh.shape),))
