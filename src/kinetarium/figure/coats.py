"""What is seen of links and bodies, few enough triangles to be moved about."""

from functools import lru_cache

from kinetarium.figure.decimate import decimate
from kinetarium.figure.replay import Coat
from kinetarium.figure.scene3d import Color
from kinetarium.model.robot import Geometry, RobotModel
from kinetarium.model.shapes import Shape, TriangleMesh
from kinetarium.model.solids import triangulate
from kinetarium.spatial.arrays import frozen

_MOST_FACES = 600
"""Triangles of one geometry: where a robot in motion begins to look faceted."""

_TONES: tuple[Color, Color] = ((0.88, 0.88, 0.87, 1.0), (0.44, 0.50, 0.58, 1.0))
"""For links without a colour: two tones in turn, so that joints can be seen."""


def link_coats(model: RobotModel) -> dict[str, tuple[Coat, ...]]:
    """Give what is seen of each link, or what touches where nothing is seen at all.

    Returns:
        The coats in the link's frame by the link's name, for every link.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    seen = any(link.visuals for link in model.links)
    return {
        link.name: tuple(
            _coat(geometry, _TONES[index % 2])
            for geometry in (link.visuals if seen else link.collisions)
        )
        for index, link in enumerate(model.links)
    }


def shape_coat(shape: Shape, color: Color) -> Coat:
    """Give a shape in its own frame."""
    return Coat(_few_faces(shape), color)


@lru_cache(maxsize=256)  # replays of one robot are asked for one after the other
def _few_faces(shape: Shape) -> TriangleMesh:
    return decimate(triangulate(shape), most_faces=_MOST_FACES)


def _coat(geometry: Geometry, tone: Color) -> Coat:
    coat = shape_coat(geometry.shape, geometry.color or tone)
    X_LG = geometry.X_LG
    vertices = frozen(coat.mesh.vertices @ X_LG[:3, :3].T + X_LG[:3, 3])
    return Coat(TriangleMesh(vertices, coat.mesh.faces), coat.color)
