"""Reading URDF: links, joints and a floating base."""

from dataclasses import replace

from kinetarium.model.attributes import Color
from kinetarium.model.diagnostics import Code
from kinetarium.model.markup import Element
from kinetarium.model.reading import Reading
from kinetarium.model.robot import Declarations, Joint, Link, RobotModel
from kinetarium.model.tree import Located, assemble
from kinetarium.model.urdf._joints import JointReader, UrdfJointType
from kinetarium.model.urdf._links import LinkReader
from kinetarium.model.urdf.origins import FIRST, UrdfDocument, read_version
from kinetarium.model.urdf.vocabulary import Children


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
    planar: list[str] = []
    joint_reader = JointReader(document)
    for element in root.all("joint"):
        with diagnostics.at(element):
            kind = joint_reader.kind(element)
            if kind is UrdfJointType.PLANAR:
                planar.append(reading.attributes.name(element))
                for part in joint_reader.planar(element):
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
        if mimic and mimic.joint in planar:
            with diagnostics.collecting():
                raise diagnostics.refusal(
                    Code.MIMIC,
                    f"joint {located.item.name!r} follows {mimic.joint!r}, "
                    "which is planar and has no single position",
                    remedy="a mimic joint must follow a revolute, continuous or prismatic one",
                    line=located.line,
                )
    children.report()
    read = len(links) + len(joints) - 4 * len(planar)
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
