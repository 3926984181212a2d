"""Reading URDF: links with masses, geometry and colours, joints and a floating base."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kinetarium.model.attributes import Color
from kinetarium.model.diagnostics import Allowance, Code, RobotFileError
from kinetarium.model.inertia import checked_inertia
from kinetarium.model.markup import Element
from kinetarium.model.mesh.triangles import MOST_COORDINATE
from kinetarium.model.reading import Reading
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Declarations,
    Geometry,
    Inertia,
    Joint,
    Link,
    MeshFile,
    RobotModel,
    Shape,
    Sphere,
)
from kinetarium.model.tree import Located, assemble
from kinetarium.model.urdf._joints import JointReader, UrdfJointType
from kinetarium.model.urdf.origins import FIRST, UrdfDocument, read_version
from kinetarium.model.urdf.vocabulary import ELEMENT_RULES, MIRRORED, MOMENTS, SHAPES, Children


def read_urdf(root: Element, *, reading: Reading, format: str = "urdf") -> RobotModel:
    """Read a URDF tree.

    Args:
        root: The <robot> element, free of xacro.
        format: The format of the file: "urdf" or "xacro".
    """
    diagnostics = reading.diagnostics
    children = Children(diagnostics)
    name, version = "", FIRST
    with diagnostics.collecting():
        name = reading.attributes.name(root)
    with diagnostics.collecting():
        version = read_version(root, diagnostics=diagnostics)
    children.check(root)
    document = UrdfDocument(reading, children, version)
    colors: dict[str, Color] = {}
    link_reader = LinkReader(document, colors=colors)
    for element in root.all("material"):
        with diagnostics.collecting():
            color = link_reader.color(element)
            if color is not None:
                colors[reading.attributes.name(element)] = color
    links: list[Located[Link]] = []
    for element in root.all("link"):
        with diagnostics.at(element):
            links.append(Located(link_reader.read(element), element.line))
    joints: list[Located[Joint]] = []
    floating: list[str] = []
    split: list[str] = []
    joint_reader = JointReader(document)
    for element in root.all("joint"):
        with diagnostics.at(element):
            kind = joint_reader.kind(element)
            if kind in (UrdfJointType.PLANAR, UrdfJointType.SPHERICAL):
                split.append(reading.attributes.name(element))
                for part in joint_reader.split(element):
                    if isinstance(part, Link):
                        links.append(Located(part, element.line))
                    else:
                        joints.append(Located(part, element.line))
                continue
            joint = joint_reader.read(element)
            joints.append(Located(joint, element.line))
            if kind is UrdfJointType.FLOATING:
                floating.append(joint.name)
    for located in joints:
        mimic = located.item.mimic
        if mimic and mimic.joint in split:
            with diagnostics.collecting():
                raise diagnostics.refusal(
                    Code.MIMIC,
                    f"joint {located.item.name!r} follows {mimic.joint!r}, "
                    "which is planar or spherical and has no single position",
                    remedy="a mimic joint must follow a revolute, continuous or prismatic one",
                    line=located.line,
                )
    children.report()
    read = len(links) + len(joints) - 4 * len(split)
    model = assemble(
        name,
        links=links,
        joints=joints,
        floating=floating,
        reading=reading,
        format=format,
        complete=read == len(root.all("link")) + len(root.all("joint")),
    )
    named = _driven_names(root)
    driven = tuple(joint.name for joint in model.moving_joints if joint.name in named)
    return replace(model, declared=Declarations(driven=driven))


def _driven_names(root: Element) -> set[str]:
    """Return the joints that a transmission or ros2_control drives.

    These elements belong to other programs: what cannot be understood in them is ignored.
    """
    joints = [joint for part in root.all("transmission") for joint in part.all("joint")]
    joints += [
        joint
        for part in root.all("ros2_control")
        for joint in part.all("joint")
        if joint.all("command_interface")
    ]
    return {joint.attributes.get("name", "") for joint in joints}


_LEAST_SCALE = 1e-12
_LEAST_EXTENT = 1e-9
_LOST_MESH = (Code.MESH_MISSING, Code.MESH_OUTSIDE, Code.MESH_REMOTE)


class LinkReader:
    """Reads the links of one URDF file."""

    def __init__(self, document: UrdfDocument, *, colors: Mapping[str, Color]) -> None:
        """Keep what the links share, and the colours of the named materials."""
        self._document = document
        self._reading = document.reading
        self._attributes = document.reading.attributes
        self._diagnostics = document.reading.diagnostics
        self._children = document.children
        self._colors = colors

    def read(self, element: Element) -> Link:
        """Read one <link>."""
        name = self._attributes.name(element)
        self._children.check(element)
        inertia = None
        with self._diagnostics.collecting():
            inertial = self._children.at_most_one(element, "inertial")
            inertia = self._inertia(inertial, name) if inertial else None
        return Link(
            name=name,
            inertia=inertia,
            collisions=self._geometries(element.all("collision"), name),
            visuals=self._geometries(element.all("visual"), name),
            line=self._diagnostics.line_of(element),
        )

    def _inertia(self, element: Element, link: str) -> Inertia | None:
        X_LC = self._document.pose(element)
        mass = self._children.exactly_one(element, "mass")
        moment = self._children.exactly_one(element, "inertia")
        moments = {key: self._attributes.number(moment, key) for key in MOMENTS}
        for twice, key in MIRRORED.items():
            if self._attributes.number(moment, twice, default=moments[key]) != moments[key]:
                raise self._diagnostics.refusal(
                    Code.INERTIA,
                    f"{moment} has {twice} and {key} that differ",
                    remedy=f"leave {twice} out: the moments of inertia are symmetric",
                    line=moment.line,
                )
        ixx, ixy, ixz, iyy, iyz, izz = moments.values()
        R_LC = X_LC[:3, :3]
        moment_C = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        return checked_inertia(
            self._attributes.number(mass, "value"),
            X_LC[:3, 3],
            R_LC @ moment_C @ R_LC.T,
            where=f"link {link}",
            line=element.line,
            diagnostics=self._diagnostics,
        )

    def _geometries(self, elements: list[Element], link: str) -> tuple[Geometry, ...]:
        geometries = []
        for element in elements:
            with self._diagnostics.collecting():
                geometry = self._geometry(element, link)
                if geometry is not None:
                    geometries.append(geometry)
        return tuple(geometries)

    def _geometry(self, element: Element, link: str) -> Geometry | None:
        self._children.check(element)
        X_LG = self._document.pose(element)
        container = self._children.exactly_one(element, "geometry")
        shapes = [child for child in container.children if child.tag in SHAPES]
        if len(shapes) != 1:
            raise self._diagnostics.refusal(
                Code.DUPLICATE_ELEMENT if shapes else Code.MISSING_ELEMENT,
                f"a <geometry> of link {link!r} has {len(shapes)} shapes instead of one",
                remedy=f"one of {', '.join(f'<{tag}>' for tag in SHAPES)}",
                line=container.line,
            )
        written = self._children.exactly_one(container, shapes[0].tag)
        if element.tag == "visual" and self._is_empty(written):
            self._diagnostics.repair(
                Code.SIZE, f"link {link}", f"omitted a visual {written} of size zero",
                line=written.line,
            )  # fmt: skip
            return None
        shape = self._shape(written, link)
        if shape is None:
            return None
        materials = element.all("material")  # of several the first counts, as in urdfdom
        color = self.color(materials[0]) if materials else None
        return Geometry(shape, X_LG, element.attributes.get("name", ""), color)

    def _shape(self, element: Element, link: str) -> Shape | None:
        if element.tag == "mesh":
            return self._mesh(element, link)
        if element.tag == "box":
            x, y, z = self._sizes(element, "size", 3)
            return Box((x, y, z))
        radius = self._sizes(element, "radius", 1)[0]
        if element.tag == "sphere":
            return Sphere(radius)
        length = self._sizes(element, "length", 1)[0]
        return Cylinder(radius, length) if element.tag == "cylinder" else Capsule(radius, length)

    def _is_empty(self, element: Element) -> bool:
        """Return whether a primitive has no size, and may be left out."""
        if Allowance.ZERO_VISUAL not in self._diagnostics.allow or element.tag == "mesh":
            return False
        names = ELEMENT_RULES[element.tag].required
        sizes = [size for name in names for size in self._attributes.numbers(element, name)]
        return min(sizes, default=1.0) == 0

    def _sizes(self, element: Element, name: str, count: int) -> tuple[float, ...]:
        sizes = self._attributes.values(element, name, count)
        if min(sizes) <= 0:
            raise self._diagnostics.refusal(
                Code.SIZE,
                f"{element}: {name} must be positive",
                remedy="correct it (--lenient zero-visual leaves out visual shapes of size zero)",
                line=element.line,
            )
        return sizes

    def _mesh(self, element: Element, link: str) -> MeshFile | None:
        uri = self._attributes.name(element, "filename")
        scale = (1.0, 1.0, 1.0)
        if "scale" in element.attributes:
            x, y, z = self._attributes.values(element, "scale", 3)
            scale = (x, y, z)
        if min(map(abs, scale)) < _LEAST_SCALE:
            raise self._diagnostics.refusal(
                Code.SIZE, f"{element}: the scale is zero, or nearly", line=element.line
            )
        try:
            path = self._reading.assets.mesh(uri, line=element.line)
        except RobotFileError as error:
            lost = all(refusal.code in _LOST_MESH for refusal in error.refusals)
            if not lost or Allowance.MISSING_MESH not in self._diagnostics.allow:
                raise
            self._diagnostics.repair(
                Code.MESH_MISSING, f"link {link}", f"omitted the mesh {uri!r}", line=element.line
            )
            return None
        # Plain numbers: a robot has a hundred meshes, and arrays of three are slow.
        bounds = self._reading.mesh_bounds(path, line=element.line).T.tolist()
        ends = [(s * low, s * high) for s, (low, high) in zip(scale, bounds, strict=True)]
        if (
            max(abs(high - low) for low, high in ends) < _LEAST_EXTENT
            or max(abs(end) for pair in ends for end in pair) > MOST_COORDINATE
        ):
            raise self._diagnostics.refusal(
                Code.SIZE,
                f"{element}: its scale makes the mesh smaller than {_LEAST_EXTENT:g} m "
                f"or larger than {MOST_COORDINATE:g} m",
                line=element.line,
            )
        return MeshFile(uri, path, scale)

    def color(self, element: Element) -> Color | None:
        """Return the colour of a <material>: its own, or that of the material it names."""
        color = self._children.at_most_one(element, "color")
        if color is None:
            return self._colors.get(element.attributes.get("name", ""))
        return self._attributes.color(color)
