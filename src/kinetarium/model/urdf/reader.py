"""URDF robots: the links and joints of a file, a floating base recognised."""

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.reading import Reading
from kinetarium.model.robot import Joint, Link, RobotModel
from kinetarium.model.tree import Located, assemble
from kinetarium.model.urdf.children import Children
from kinetarium.model.urdf.joints import JointReader, UrdfJointType
from kinetarium.model.urdf.links import Color, LinkReader

_PARTS = ("link", "joint", "material")
_FOREIGN = (
    "gazebo", "transmission", "sensor", "ros2_control", "mujoco", "drake", "plugin", "group",
    "loop_joint", "deformable",
)  # fmt: skip


def read_urdf(root: Element, *, reading: Reading, format: str = "urdf") -> RobotModel:
    """Read a URDF tree.

    Args:
        root: The <robot> element, free of xacro.
        reading: The file being read.
        format: What the file was written in.

    Raises:
        RobotFileError: With every fault that was found.
    """
    findings = reading.findings
    children = Children(findings)
    name = ""
    with findings.collecting():
        name = reading.attributes.name(root)
    children.check(root, _PARTS, foreign=_FOREIGN)
    colors: dict[str, Color] = {}
    link_reader = LinkReader(reading=reading, children=children, colors=colors)
    for element in root.all("material"):
        with findings.collecting():
            color = link_reader.color(element)
            if color is not None:
                colors[reading.attributes.name(element)] = color
    links: list[Located[Link]] = []
    for element in root.all("link"):
        with findings.collecting():
            links.append(Located(link_reader.read(element), element.line))
    joints: list[Located[Joint]] = []
    floating: list[Element] = []
    joint_reader = JointReader(reading=reading, children=children)
    for element in root.all("joint"):
        with findings.collecting():
            kind = joint_reader.kind(element)
            if kind is UrdfJointType.FLOATING:
                floating.append(element)
            elif kind is UrdfJointType.PLANAR:
                for part in joint_reader.planar(element):
                    if isinstance(part, Link):
                        links.append(Located(part, element.line))
                    else:
                        joints.append(Located(part, element.line))
            else:
                joints.append(Located(joint_reader.read(element), element.line))
    children.report()
    findings.stop_if_refused()
    if floating:
        links = _without_world(floating, links, joint_reader, reading)
    return assemble(
        name,
        links=links,
        joints=joints,
        free_base=bool(floating),
        reading=reading,
        format=format,
    )


def _without_world(
    floating: list[Element],
    links: list[Located[Link]],
    joint_reader: JointReader,
    reading: Reading,
) -> list[Located[Link]]:
    """Drop the bare root above the one floating joint: the robot begins below it."""
    world, base = joint_reader.ends(floating[0])
    if base not in {located.item.name for located in links}:
        raise reading.findings.refusal(
            Code.UNKNOWN_NAME,
            f"the floating joint names the link {base!r}, which does not exist",
            line=floating[0].line,
        )
    bare = [
        located
        for located in links
        if located.item.name == world
        and not (located.item.inertia or located.item.collisions or located.item.visuals)
    ]
    if len(floating) > 1 or not bare:
        raise reading.findings.refusal(
            Code.UNSUPPORTED,
            "a floating joint is read only between an empty root link and the robot's base",
            remedy="make separate robots of parts that fly apart",
            line=floating[-1].line,
        )
    return [located for located in links if located is not bare[0]]
