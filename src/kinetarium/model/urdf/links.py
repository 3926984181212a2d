"""URDF links: mass properties, collision and visual geometry, colours."""

from collections.abc import Mapping

import numpy as np

from kinetarium.model.findings import Allowance, Code, RobotFileError
from kinetarium.model.inertia import checked_inertia
from kinetarium.model.markup import Element
from kinetarium.model.reading import Reading
from kinetarium.model.robot import Geometry, Inertia, Link
from kinetarium.model.shapes import Box, Capsule, Cylinder, MeshFile, Shape, Sphere
from kinetarium.model.spelling import refuse_misspelt_attributes
from kinetarium.model.triangles import MOST_COORDINATE
from kinetarium.model.urdf.children import Children
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_rpy

Color = tuple[float, float, float, float]

_LINK_PARTS = ("inertial", "visual", "collision")
_LINK_FOREIGN = ("contact", "collision_checking", "self_collision_checking", "origin", "sensor")
_SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_LEAST_SCALE = 1e-12
_LEAST_EXTENT = 1e-9
_LOST_MESH = (Code.MESH_MISSING, Code.MESH_OUTSIDE, Code.MESH_REMOTE)


def read_origin(parent: Element, *, reading: Reading, children: Children) -> Array:
    """Give the pose, shape (4, 4), in the <origin> of an element; identity without one."""
    origin = children.at_most_one(parent, "origin")
    if origin is None:
        return frozen(np.eye(4))
    refuse_misspelt_attributes(origin, ("xyz", "rpy"), findings=reading.findings)
    xyz = reading.attributes.vector(origin, "xyz", 3, default=(0.0, 0.0, 0.0))
    rpy = reading.attributes.vector(origin, "rpy", 3, default=(0.0, 0.0, 0.0))
    return frozen(pose(xyz, rotation_from_rpy(rpy)))


class LinkReader:
    """Reads the links of one URDF file."""

    def __init__(
        self, *, reading: Reading, children: Children, colors: Mapping[str, Color]
    ) -> None:
        """Keep what the links share.

        Args:
            reading: The file being read.
            children: Hands out child elements.
            colors: The colours of the named materials of the robot.
        """
        self._reading = reading
        self._attributes = reading.attributes
        self._findings = reading.findings
        self._children = children
        self._colors = colors

    def read(self, element: Element) -> Link:
        """Read one <link>."""
        name = self._attributes.name(element)
        self._children.check(element, _LINK_PARTS, foreign=_LINK_FOREIGN)
        inertia = None
        with self._findings.collecting():
            inertial = self._children.at_most_one(element, "inertial")
            inertia = self._inertia(inertial, name) if inertial else None
        return Link(
            name=name,
            inertia=inertia,
            collisions=self._geometries(element.all("collision"), name),
            visuals=self._geometries(element.all("visual"), name),
        )

    def _inertia(self, element: Element, link: str) -> Inertia | None:
        self._children.check(element, ("origin", "mass", "inertia"))
        X_LC = read_origin(element, reading=self._reading, children=self._children)
        mass = self._children.exactly_one(element, "mass")
        moment = self._children.exactly_one(element, "inertia")
        ixx, ixy, ixz, iyy, iyz, izz = (self._attributes.number(moment, key) for key in _MOMENTS)
        R_LC = X_LC[:3, :3]
        moment_C = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        return checked_inertia(
            self._attributes.number(mass, "value"),
            X_LC[:3, 3],
            R_LC @ moment_C @ R_LC.T,
            where=f"link {link}",
            line=element.line,
            findings=self._findings,
        )

    def _geometries(self, elements: list[Element], link: str) -> tuple[Geometry, ...]:
        geometries = []
        for element in elements:
            with self._findings.collecting():
                geometry = self._geometry(element, link)
                if geometry is not None:
                    geometries.append(geometry)
        return tuple(geometries)

    def _geometry(self, element: Element, link: str) -> Geometry | None:
        self._children.check(
            element, ("origin", "geometry", "material"), foreign=("surface", "contact_coefficients")
        )
        X_LG = read_origin(element, reading=self._reading, children=self._children)
        container = self._children.exactly_one(element, "geometry")
        self._children.check(container, _SHAPES, foreign=("material", "plane", "cdf"))
        shapes = [child for child in container.children if child.tag in _SHAPES]
        if len(shapes) != 1:
            raise self._findings.refusal(
                Code.DUPLICATE_ELEMENT if shapes else Code.MISSING_ELEMENT,
                f"a <geometry> of link {link!r} holds {len(shapes)} shapes instead of one",
                remedy=f"one of {', '.join(f'<{tag}>' for tag in _SHAPES)}",
                line=container.line,
            )
        shape = self._shape(shapes[0], link)
        if shape is None:
            return None
        material = self._children.at_most_one(element, "material")
        color = self.color(material) if material else None
        return Geometry(shape, X_LG, element.attributes.get("name", ""), color)

    def _shape(self, element: Element, link: str) -> Shape | None:
        if element.tag == "mesh":
            return self._mesh(element, link)
        if element.tag == "box":
            x, y, z = (float(edge) for edge in self._sizes(element, "size", 3))
            return Box((x, y, z))
        radius = float(self._sizes(element, "radius", 1)[0])
        if element.tag == "sphere":
            return Sphere(radius)
        length = float(self._sizes(element, "length", 1)[0])
        return Cylinder(radius, length) if element.tag == "cylinder" else Capsule(radius, length)

    def _sizes(self, element: Element, name: str, count: int) -> Array:
        sizes = self._attributes.vector(element, name, count)
        if np.any(sizes <= 0):
            raise self._findings.refusal(
                Code.SIZE, f"{element}: {name} must be positive", line=element.line
            )
        return sizes

    def _mesh(self, element: Element, link: str) -> MeshFile | None:
        refuse_misspelt_attributes(element, ("filename", "scale"), findings=self._findings)
        uri = self._attributes.name(element, "filename")
        x, y, z = self._attributes.vector(element, "scale", 3, default=(1.0, 1.0, 1.0))
        if min(abs(x), abs(y), abs(z)) < _LEAST_SCALE:
            raise self._findings.refusal(
                Code.SIZE,
                f"{element}: a scale of zero, or nearly, flattens the mesh",
                line=element.line,
            )
        try:
            path = self._reading.assets.mesh(uri, line=element.line)
        except RobotFileError as error:
            lost = all(refusal.code in _LOST_MESH for refusal in error.refusals)
            if not lost or Allowance.MISSING_MESH not in self._findings.allow:
                raise
            self._findings.repair(
                Code.MESH_MISSING, f"link {link}", f"left out the mesh {uri!r}", line=element.line
            )
            return None
        bounds = self._reading.mesh_bounds(path, line=element.line) * (x, y, z)
        if np.ptp(bounds, axis=0).max() < _LEAST_EXTENT or np.abs(bounds).max() > MOST_COORDINATE:
            raise self._findings.refusal(
                Code.SIZE,
                f"{element}: its scale makes the mesh smaller than {_LEAST_EXTENT:g} m "
                f"or larger than {MOST_COORDINATE:g} m",
                line=element.line,
            )
        return MeshFile(uri, path, (float(x), float(y), float(z)))

    def color(self, element: Element) -> Color | None:
        """Give the colour of a <material>, its own or that of its name."""
        color = self._children.at_most_one(element, "color")
        if color is None:
            return self._colors.get(element.attributes.get("name", ""))
        r, g, b, a = np.clip(self._attributes.vector(color, "rgba", 4), 0.0, 1.0)
        return (float(r), float(g), float(b), float(a))
