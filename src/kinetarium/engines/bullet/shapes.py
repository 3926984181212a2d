"""Surfaces as Bullet's collision shapes."""

from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.parts import Shapes
from kinetarium.engines.bullet.transforms import position, quaternion_xyzw
from kinetarium.errors import KinetariumError
from kinetarium.model.mesh import mesh_of
from kinetarium.model.shapes import Box, Capsule, Cylinder, MeshData, MeshFile, Shape, Sphere
from kinetarium.scene import Plane

MARGIN = 1e-5
"""By how much a convex hull is thicker than its mesh [m]; Bullet's own choice is 1 mm."""
_MOST_VERTICES = 131_072


def collision_shape(bullet: BulletClient, surface: Shapes | Plane) -> int:
    """Make the shape of a part's surface; give its number, -1 for none.

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
    """Give kind, radius, half edges and length of a plain shape, as Bullet asks for them."""
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
            raise AssertionError("a mesh has a part to itself")


def _hull(bullet: BulletClient, shape: MeshData | MeshFile) -> int:
    vertices = mesh_of(shape).vertices
    if len(vertices) > _MOST_VERTICES:
        raise KinetariumError(
            f"a collision mesh has {len(vertices)} vertices, and Bullet takes {_MOST_VERTICES}"
        )
    number = bullet.createCollisionShape(bullet.GEOM_MESH, vertices=vertices.tolist())
    # Only of a base can pybullet change the margin, and the shape keeps it.
    bearer = bullet.createMultiBody(baseCollisionShapeIndex=number)
    bullet.changeDynamics(bearer, -1, collisionMargin=MARGIN)
    bullet.removeBody(bearer)
    return int(number)
