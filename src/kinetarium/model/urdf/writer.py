"""A robot model as URDF, complete and exact to the last digit."""

from math import isinf
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kinetarium.errors import KinetariumError
from kinetarium.model.mesh.formats import stl_bytes
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Inertia,
    Joint,
    JointType,
    Link,
    MeshData,
    MeshFile,
    RobotModel,
    Shape,
    Sphere,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rpy_from_rotation

_WORLD = "world"


def write_urdf(model: RobotModel, *, mesh_folder: str) -> tuple[str, dict[str, bytes]]:
    """Write a model as URDF.

    Meshes of data packages are referenced by their package:// address; others are
    written as numbered files beside the URDF.

    Args:
        mesh_folder: Folder of the mesh files, relative to the URDF.

    Returns:
        The text, and the mesh files by name.

    Raises:
        KinetariumError: If the robot has closed loops, which URDF cannot describe.
    """
    if model.loops:
        raise KinetariumError(
            f"robot '{model.name}' has closed loops, which URDF cannot describe; convert it to mjcf"
        )
    meshes: dict[str, bytes] = {}
    robot = Element("robot", name=model.name)
    if model.free_base:
        names = {link.name for link in model.links}
        world = next(
            name for name in (_WORLD, *(f"{_WORLD}_{i}" for i in range(len(names) + 1)))
            if name not in names
        )  # fmt: skip
        SubElement(robot, "link", name=world)
        floating = SubElement(robot, "joint", name=f"{world}_floating", type="floating")
        SubElement(floating, "parent", link=world)
        SubElement(floating, "child", link=model.root)
    for link in model.links:
        _add_link(robot, link, mesh_folder, meshes)
    for joint in model.joints:
        _add_joint(robot, joint)
    indent(robot)
    return f'<?xml version="1.0"?>\n{tostring(robot, encoding="unicode")}\n', meshes


def _numbers(values: Array | tuple[float, ...]) -> str:
    return " ".join(repr(float(value)) for value in values)


def _add_origin(parent: Element, X: Array) -> None:
    SubElement(parent, "origin", xyz=_numbers(X[:3, 3]), rpy=_numbers(rpy_from_rotation(X[:3, :3])))


def _add_link(robot: Element, link: Link, mesh_folder: str, meshes: dict[str, bytes]) -> None:
    element = SubElement(robot, "link", name=link.name)
    if link.inertia:
        _add_inertia(element, link.inertia)
    for tag, geometries in (("visual", link.visuals), ("collision", link.collisions)):
        for geometry in geometries:
            _add_geometry(SubElement(element, tag), geometry, mesh_folder, meshes)


def _add_inertia(parent: Element, inertia: Inertia) -> None:
    element = SubElement(parent, "inertial")
    SubElement(element, "origin", xyz=_numbers(inertia.center))
    SubElement(element, "mass", value=repr(inertia.mass))
    upper = {f"i{a}{b}": (i, j) for i, a in enumerate("xyz") for j, b in enumerate("xyz") if i <= j}
    moments = {key: repr(float(inertia.moment[at])) for key, at in upper.items()}
    SubElement(element, "inertia", moments)


def _add_geometry(
    element: Element, geometry: Geometry, mesh_folder: str, meshes: dict[str, bytes]
) -> None:
    if geometry.name:
        element.set("name", geometry.name)
    _add_origin(element, geometry.X_LG)
    container = SubElement(element, "geometry")
    _add_shape(container, geometry.shape, mesh_folder, meshes)
    if geometry.color and element.tag == "visual":
        # Without a name the material has its own colour.
        material = SubElement(element, "material", name="")
        SubElement(material, "color", rgba=_numbers(geometry.color))


def _add_shape(
    container: Element, shape: Shape, mesh_folder: str, meshes: dict[str, bytes]
) -> None:
    match shape:
        case Box(size):
            SubElement(container, "box", size=_numbers(size))
        case Sphere(radius):
            SubElement(container, "sphere", radius=repr(radius))
        case Cylinder(radius, length):
            SubElement(container, "cylinder", radius=repr(radius), length=repr(length))
        case Capsule(radius, length):
            SubElement(container, "capsule", radius=repr(radius), length=repr(length))
        case MeshFile(uri, _, scale) if uri.startswith("package://"):
            SubElement(container, "mesh", filename=uri, scale=_numbers(scale))
        case MeshFile() | MeshData():
            name = f"{len(meshes):03d}.stl"
            meshes[name] = stl_bytes(mesh_of(shape))
            SubElement(container, "mesh", filename=f"{mesh_folder}/{name}")


def _add_joint(robot: Element, joint: Joint) -> None:
    element = SubElement(robot, "joint", name=joint.name, type=joint.type)
    _add_origin(element, joint.X_PJ)
    SubElement(element, "parent", link=joint.parent)
    SubElement(element, "child", link=joint.child)
    if joint.type is JointType.FIXED:
        return
    SubElement(element, "axis", xyz=_numbers(joint.axis))
    limits = joint.limits
    bounds = {"velocity": limits.velocity, "effort": limits.effort}
    if joint.type is not JointType.CONTINUOUS:
        bounds = {"lower": limits.lower, "upper": limits.upper, **bounds}
    # 1e16 is how URDF files customarily write "no limit".
    SubElement(
        element,
        "limit",
        {k: repr(1e16 if v > 0 else -1e16) if isinf(v) else repr(v) for k, v in bounds.items()},
    )
    losses = {"damping": joint.damping, "friction": joint.friction, "armature": joint.armature}
    if any(losses.values()):
        SubElement(element, "dynamics", {k: repr(v) for k, v in losses.items() if v})
    if joint.mimic:
        SubElement(
            element,
            "mimic",
            joint=joint.mimic.joint,
            multiplier=repr(joint.mimic.multiplier),
            offset=repr(joint.mimic.offset),
        )
