"""Broken and hostile URDF files, each with the code it must be refused with.

Every case is one change to a sound robot, so that nothing but the change can
be the reason of the refusal.
"""

from collections.abc import Iterator

from hostile.case import Case, Change

SOUND = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/>
    </inertial>
    <collision>
      <geometry><box size="0.1 0.1 0.2"/></geometry>
    </collision>
    <visual>
      <geometry><cylinder radius="0.05" length="0.2"/></geometry>
    </visual>
  </link>
  <link name="fore">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
    <collision>
      <geometry><sphere radius="0.05"/></geometry>
    </collision>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.5"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0 0 0.2"/>
    <parent link="upper"/>
    <child link="fore"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="2"/>
    <mimic joint="shoulder" multiplier="2"/>
  </joint>
</robot>
"""


MASS = '<mass value="2"/>'
MOMENT = '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/>'
AXIS = '<child link="upper"/>\n    <axis xyz="0 1 0"/>'
LIMIT = '<limit lower="-1" upper="1" effort="50" velocity="2"/>\n  </joint>\n  <joint name="elbow"'
BOX = '<box size="0.1 0.1 0.2"/>'
SHOULDER = '<joint name="shoulder" type="revolute">'
MIMIC = '<mimic joint="shoulder" multiplier="2"/>'
END = "</robot>"
JOINT = (
    '<link name="tip"><inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    '<joint name="wrist" type="continuous"><parent link="fore"/><child link="tip"/>{}</joint>'
)


def _limit(text: str) -> str:
    return LIMIT.replace('<limit lower="-1" upper="1" effort="50" velocity="2"/>', text)


def _axis(text: str) -> str:
    return AXIS.replace('<axis xyz="0 1 0"/>', text)


def _moment(xx: float, yy: float, zz: float, xy: float = 0.0) -> str:
    return f'<inertia ixx="{xx}" ixy="{xy}" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'


def _mesh(uri: str) -> str:
    return f'<mesh filename="{uri}"/>'


CHANGES = [
    # The document
    Change("doctype", "doctype", "<robot", "<!DOCTYPE robot>\n<robot"),
    Change("entity", "doctype", "<robot", '<!DOCTYPE r [<!ENTITY a "b">]>\n<robot'),
    Change("external entity", "doctype", "<robot",
           '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<robot'),
    Change("external dtd", "doctype", "<robot",
           '<!DOCTYPE r SYSTEM "http://example.com/r.dtd">\n<robot'),
    Change("undefined entity", "not-xml", 'name="arm"', 'name="&arm;"'),
    Change("unclosed element", "not-xml", END, ""),
    Change("crossed elements", "not-xml", "</inertial>", "</link>"),
    Change("trailing element", "not-xml", END, END + "<robot/>"),
    Change("trailing text", "not-xml", END, END + "rm -rf"),
    Change("bare ampersand", "not-xml", 'name="arm"', 'name="a & b"'),
    Change("attribute twice", "not-xml", 'name="arm"', 'name="arm" name="leg"'),
    Change("attribute without quotes", "not-xml", 'name="arm"', "name=arm"),
    Change("control character", "not-xml", 'name="arm"', 'name="a\x01m"'),
    Change("declared utf-16", "encoding", '<?xml version="1.0"?>',
           '<?xml version="1.0" encoding="utf-16"?>'),
    Change("unknown encoding", "encoding", '<?xml version="1.0"?>',
           '<?xml version="1.0" encoding="klingon"?>'),
    Change("many attributes", "too-large", 'name="arm"',
           'name="arm" ' + " ".join(f'a{i}="0"' for i in range(101))),
    Change("long attribute", "too-large", 'name="arm"', f'name="{"a" * (2**20 + 1)}"'),
    Change("deep nesting", "too-large", END, "<a>" * 150 + "</a>" * 150 + END),
    Change("very deep nesting", "too-large", END, "<a>" * 200_000 + "</a>" * 200_000 + END),
    Change("many elements", "too-large", END, "<gazebo/>" * 200_001 + END),
    # Structure
    Change("no robot name", "missing-attribute", '<robot name="arm">', "<robot>"),
    Change("empty robot name", "empty-name", 'name="arm"', 'name=""'),
    Change("empty link name", "empty-name", '<link name="base"/>', '<link name=""/>'),
    Change("blank link name", "empty-name", '<link name="base"/>', '<link name="  "/>'),
    Change("missing link name", "missing-attribute", '<link name="base"/>', "<link/>"),
    Change("unprintable link name", "bad-value", '<link name="base"/>', '<link name="b&#10;e"/>'),
    Change("empty joint name", "empty-name", 'name="shoulder" type', 'name="" type'),
    Change("missing joint name", "missing-attribute", SHOULDER, '<joint type="revolute">'),
    Change("duplicate link", "duplicate-name", '<link name="base"/>',
           '<link name="base"/><link name="base"/>'),
    Change("duplicate joint", "duplicate-name", 'name="elbow"', 'name="shoulder"'),
    Change("unknown joint type", "joint-type", SHOULDER, SHOULDER.replace("revolute", "rotary")),
    Change("joint type in capitals", "joint-type", SHOULDER,
           SHOULDER.replace("revolute", "Revolute")),
    Change("missing joint type", "missing-attribute", SHOULDER, '<joint name="shoulder">'),
    Change("empty joint type", "joint-type", SHOULDER, SHOULDER.replace("revolute", "")),
    Change("two roots", "two-roots", '<link name="base"/>', '<link name="base"/><link name="b2"/>'),
    Change("two parents", "two-parents", END,
           '<joint name="j" type="fixed"><parent link="base"/><child link="fore"/></joint>' + END),
    Change("cycle without root", "cycle", '<parent link="base"/>', '<parent link="fore"/>'),
    Change("cycle beside a root", "cycle", END,
           '<link name="a"/><link name="b"/>'
           '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
           '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>' + END),
    Change("self joint", "self-joint", '<parent link="base"/>', '<parent link="upper"/>'),
    Change("missing parent element", "missing-element", '<parent link="base"/>', ""),
    Change("missing child element", "missing-element", '<child link="upper"/>', ""),
    Change("parent without link", "missing-attribute", '<parent link="base"/>', "<parent/>"),
    Change("unknown parent", "unknown-name", '<parent link="base"/>', '<parent link="bass"/>'),
    Change("unknown child", "unknown-name", '<child link="upper"/>', '<child link="uper"/>'),
    Change("parent twice", "duplicate-element", '<parent link="base"/>',
           '<parent link="base"/><parent link="fore"/>'),
    Change("limit twice", "duplicate-element", LIMIT,
           _limit('<limit effort="1" velocity="1"/><limit effort="2" velocity="1"/>')),
    Change("inertial twice", "duplicate-element", "<inertial>\n      <mass",
           "<inertial/><inertial>\n      <mass"),
    Change("origin twice", "duplicate-element", '<origin xyz="0 0 0.5"/>',
           '<origin xyz="0 0 0.5"/><origin xyz="0 0 0.6"/>'),
    Change("misspelt inertial", "unknown-element", "<inertial>\n      <mass",
           "<intertial/><inertial>\n      <mass"),
    Change("link inside a link", "unknown-element", "<inertial>\n      <mass",
           '<link name="inner"/><inertial>\n      <mass'),
    Change("endless element name", "too-large", END, f"<{'link' * 100_000}/>" + END),
    Change("endless attribute name", "too-large", 'name="arm"', f'name="arm" {"a" * 900_000}="1"'),
    Change("attributes without end", "too-large", END,
           ("<g " + " ".join(f'a{i}=""' for i in range(99)) + "/>") * 6000 + END),
    Change("stray text", "unknown-element", END, "stray text" + END),
    Change("name with an edge space", "bad-value", '<link name="base"/>', '<link name="base "/>'),
    Change("misspelt joint", "unknown-element", END, "<jiont/>" + END),
    Change("misspelt limit attribute", "unknown-element", LIMIT,
           _limit('<limit lowr="-1" upper="1" effort="50" velocity="2"/>')),
    Change("misspelt origin attribute", "unknown-element", '<origin xyz="0 0 0.5"/>',
           '<origin xzy="0 0 0.5"/>'),
    # Mechanics that would be lost: misspelt, or where it means nothing
    Change("one wrong letter in an origin", "unknown-element", '<origin xyz="0 0 0.5"/>',
           '<origin xyx="0 0 0.5"/>'),
    Change("a misspelt twin of an attribute", "unknown-element", 'rpy="0 0 0"',
           'rpy="0 0 0" rpj="0 0 1"'),
    Change("origin in capitals", "unknown-element", '<origin xyz="0 0 0.5"/>',
           '<origin XYZ="0 0 0.5"/>'),
    Change("position of another format", "unknown-element", '<origin xyz="0 0 0.5"/>',
           '<origin position="0 0 0.5"/>'),
    Change("quaternion of another format", "unknown-element", '<origin xyz="0 0 0.5"/>',
           '<origin xyz="0 0 0.5" quat="1 0 0 1"/>'),
    Change("angles in degrees", "unknown-element", '<origin xyz="0 0 0.5"/>',
           '<origin xyz="0 0 0.5" rpy="90 0 0" degrees="true"/>'),
    Change("limits under longer names", "unknown-element", LIMIT,
           _limit('<limit lower_limit="-1" upper_limit="1" effort="50" velocity="2"/>')),
    Change("damping under a longer name", "unknown-element", MIMIC,
           '<dynamics damping_coefficient="1"/>'),
    Change("numbers between the tags", "unknown-element", '<origin xyz="0 0 0.5"/>',
           "<origin>0 0 0.5</origin>"),
    Change("origin inside the parent", "unknown-element", '<parent link="base"/>',
           '<parent link="base"><origin xyz="0 0 1"/></parent>'),
    Change("limit inside the axis", "unknown-element", AXIS,
           _axis('<axis xyz="0 1 0"><limit lower="-1" upper="1"/></axis>')),
    Change("dynamics inside the limit", "unknown-element", LIMIT,
           _limit('<limit lower="-1" upper="1" effort="50" velocity="2">'
                  '<dynamics damping="1"/></limit>')),
    Change("mass in a link", "unknown-element", '<link name="base"/>',
           '<link name="base"><mass value="2"/></link>'),
    Change("moment in a link", "unknown-element", '<link name="base"/>',
           f'<link name="base">{MOMENT}</link>'),
    Change("misspelt mass in a link", "unknown-element", '<link name="base"/>',
           '<link name="base"><mas value="2"/></link>'),
    Change("link that stands elsewhere", "unknown-element", '<link name="base"/>',
           '<link name="base"><origin xyz="0 0 1"/></link>'),
    Change("shape in a collision", "unknown-element", "<collision>",
           '<collision><sphere radius="1"/>'),
    Change("axis with angles", "unknown-element", AXIS, _axis('<axis xyz="0 1 0" rpy="0 0 1"/>')),
    Change("damping in the limit", "unknown-element", LIMIT,
           _limit('<limit lower="-1" upper="1" effort="50" velocity="2" damping="1"/>')),
    Change("position in a joint", "unknown-element", SHOULDER,
           SHOULDER.replace(">", ' xyz="0 0 1">')),
    Change("mass of an inertial", "unknown-element", "<inertial>\n      <origin",
           '<inertial mass="3">\n      <origin'),
    Change("radius of a box", "unknown-element", BOX, '<box size="0.1 0.1 0.2" radius="0.1"/>'),
    Change("scale of a box", "unknown-element", BOX, '<box size="0.1 0.1 0.2" scale="2 2 2"/>'),
    Change("links inside an unknown element", "unknown-element", END,
           '<model><link name="a"><inertial/></link></model>' + END),
    Change("joints inside an unknown element", "unknown-element", END,
           '<model><joint name="a"><parent link="base"/></joint></model>' + END),
    Change("loop joint", "unsupported", END, '<loop_joint name="a"/>' + END),
    Change("include without xacro", "unsupported", END, '<include filename="a.urdf"/>' + END),
    Change("include of XML", "unsupported", END, '<xi:include href="a.urdf"/>' + END),
    Change("moment given twice", "inertia", MOMENT, MOMENT.replace("/>", ' iyx="1"/>')),
    Change("limits of another format", "unknown-element", LIMIT,
           _limit('<limit min="-1" max="1" effort="50" velocity="2"/>')),
    Change("half a name", "unknown-element", MIMIC, '<dynamics damp="1"/>'),
    Change("two names in one", "unknown-element", '<origin xyz="0 0 0.5"/>',
           '<origin xyzrpy="0 0 0.5 0 0 0"/>'),
    Change("pose of a link", "unknown-element", '<link name="base"/>',
           '<link name="base"><pose>0 0 1 0 0 0</pose></link>'),
    Change("centre of an inertial", "unknown-element", MASS, MASS + '<com xyz="0 0 1"/>'),
    Change("damping of a joint", "unknown-element", MIMIC, "<damping>1</damping>"),
    Change("deformable", "unsupported", END, '<deformable name="a"/>' + END),
    # Versions
    Change("version to come", "bad-value", 'name="arm"', 'name="arm" version="1.3"'),
    Change("version two", "bad-value", 'name="arm"', 'name="arm" version="2.0"'),
    Change("version of one number", "bad-value", 'name="arm"', 'name="arm" version="1"'),
    Change("version of words", "bad-value", 'name="arm"', 'name="arm" version="latest"'),
    Change("empty version", "bad-value", 'name="arm"', 'name="arm" version=""'),
    Change("quaternion before its version", "bad-value", '<origin xyz="0 0 0.5"/>',
           '<origin xyz="0 0 0.5" quat_xyzw="0 0 1 0"/>'),
    Change("floating inside the tree", "unsupported", SHOULDER.replace("shoulder", "elbow"),
           '<joint name="elbow" type="floating">'),
    # Numbers
    Change("nan mass", "bad-number", MASS, '<mass value="nan"/>'),
    Change("infinite mass", "bad-number", MASS, '<mass value="inf"/>'),
    Change("overflowing mass", "bad-number", MASS, '<mass value="1e999"/>'),
    Change("overflowing limit", "bad-number", LIMIT,
           _limit('<limit lower="-1" upper="1e999" effort="50" velocity="2"/>')),
    Change("absurd mass", "bad-number", MASS, '<mass value="1e300"/>'),
    Change("hexadecimal mass", "bad-number", MASS, '<mass value="0x10"/>'),
    Change("comma mass", "bad-number", MASS, '<mass value="1,5"/>'),
    Change("underscore mass", "bad-number", MASS, '<mass value="1_5"/>'),
    Change("foreign digits", "bad-number", MASS, '<mass value="\u0662"/>'),
    Change("mass with unit", "bad-number", MASS, '<mass value="2kg"/>'),
    Change("empty mass", "bad-number", MASS, '<mass value=""/>'),
    Change("mass of two numbers", "bad-number", MASS, '<mass value="2 3"/>'),
    Change("missing mass value", "missing-attribute", MASS, "<mass/>"),
    Change("missing mass", "missing-element", MASS, ""),
    Change("missing moment", "missing-element", MOMENT, ""),
    Change("missing ixx", "missing-attribute", MOMENT, MOMENT.replace('ixx="0.02"', "")),
    Change("nan moment", "bad-number", MOMENT, MOMENT.replace('ixy="0"', 'ixy="NaN"')),
    Change("nan position", "bad-number", 'xyz="0 0 0.5"', 'xyz="0 nan 0.5"'),
    Change("two coordinates", "bad-number", 'xyz="0 0 0.5"', 'xyz="0 0.5"'),
    Change("four coordinates", "bad-number", 'xyz="0 0 0.5"', 'xyz="0 0 0 0.5"'),
    Change("comma coordinates", "bad-number", 'xyz="0 0 0.5"', 'xyz="0,0,0.5"'),
    Change("infinite angle", "bad-number", 'rpy="0 0 0"', 'rpy="0 -inf 0"'),
    Change("word for a number", "bad-number", 'rpy="0 0 0"', 'rpy="0 0 pi"'),
    Change("expression without xacro", "bad-number", MASS, '<mass value="${m}"/>'),
    Change("endless digits", "bad-number", MASS, f'<mass value="{"9" * 100_000}"/>'),
    Change("no-break spaces", "bad-number", 'xyz="0 0 0.5"', 'xyz="0\u00a00\u00a00.5"'),
    Change("half a million numbers", "bad-number", 'xyz="0 0 0.5"', f'xyz="{"0 " * 500_000}"'),
    # Numbers that are not used, but show a broken file
    Change("nan safety", "bad-number", MIMIC, '<safety_controller k_velocity="nan"/>'),
    Change("hexadecimal calibration", "bad-number", MIMIC, '<calibration rising="0x1"/>'),
    # Physics
    Change("negative mass", "mass", MASS, '<mass value="-2"/>'),
    Change("massless end", "massless", '<mass value="1"/>', '<mass value="0"/>'),
    Change("no inertial at the end", "massless",
           '<inertial>\n      <mass value="1"/>\n      <inertia ixx="0.01" ixy="0" ixz="0" '
           'iyy="0.01" iyz="0" izz="0.01"/>\n    </inertial>', ""),
    Change("negative definite moment", "inertia", MOMENT, _moment(-0.1, -0.1, -0.1)),
    Change("strongly indefinite moment", "inertia", MOMENT, _moment(-0.09, 0.1, 0.1)),
    Change("indefinite by a product", "inertia", MOMENT, _moment(0.01, 0.01, 0.01, xy=0.5)),
    Change("needle against the triangle", "inertia", MOMENT, _moment(0.001, 0.001, 1.0)),
    Change("zero axis", "zero-axis", AXIS, _axis('<axis xyz="0 0 0"/>')),
    Change("nan axis", "bad-number", AXIS, _axis('<axis xyz="0 nan 1"/>')),
    Change("axis without direction", "missing-attribute", AXIS, _axis("<axis/>")),
    Change("missing limit", "limits", LIMIT, _limit("")),
    Change("reversed limits", "limits", LIMIT,
           _limit('<limit lower="1" upper="-1" effort="50" velocity="2"/>')),
    Change("lower above the default upper", "limits", LIMIT,
           _limit('<limit lower="1" effort="50" velocity="2"/>')),
    Change("negative effort", "limits", LIMIT,
           _limit('<limit lower="-1" upper="1" effort="-50" velocity="2"/>')),
    Change("negative speed", "limits", LIMIT,
           _limit('<limit lower="-1" upper="1" effort="50" velocity="-2"/>')),
    Change("missing effort", "missing-attribute", LIMIT,
           _limit('<limit lower="-1" upper="1" velocity="2"/>')),
    Change("missing speed", "missing-attribute", LIMIT,
           _limit('<limit lower="-1" upper="1" effort="2"/>')),
    Change("nan limit", "bad-number", LIMIT,
           _limit('<limit lower="nan" upper="1" effort="50" velocity="2"/>')),
    Change("infinite limit", "bad-number", LIMIT,
           _limit('<limit lower="-1" upper="inf" effort="50" velocity="2"/>')),
    Change("reversed limits of a continuous joint", "limits", MIMIC + "\n  </joint>",
           "</joint>" + JOINT.format('<limit lower="1" upper="-1"/>')),
    Change("fixed joint that follows itself", "mimic", MIMIC + "\n  </joint>",
           "</joint>" + JOINT.replace("continuous", "fixed").format('<mimic joint="wrist"/>')),
    Change("limits beyond all measure", "limits", LIMIT,
           _limit('<limit lower="1e13" upper="1e14" effort="50" velocity="2"/>')),
    Change("limits below all measure", "limits", LIMIT,
           _limit('<limit lower="-1e14" upper="-1e13" effort="50" velocity="2"/>')),
    Change("negative damping", "bad-value", MIMIC, '<dynamics damping="-1"/>'),
    Change("nan friction", "bad-number", MIMIC, '<dynamics friction="nan"/>'),
    # Couplings
    Change("mimic of nothing", "mimic", MIMIC, '<mimic joint="wrist"/>'),
    Change("mimic of a planar joint", "mimic", SHOULDER, SHOULDER.replace("revolute", "planar")),
    Change("mimic of itself", "mimic", MIMIC, '<mimic joint="elbow"/>'),
    Change("mimic without joint", "missing-attribute", MIMIC, "<mimic/>"),
    Change("nan mimic", "bad-number", MIMIC, '<mimic joint="shoulder" multiplier="nan"/>'),
    Change("mimic loop", "mimic", LIMIT,
           _limit('<limit lower="-1" upper="1" effort="50" velocity="2"/><mimic joint="elbow"/>')),
    Change("mimic of a fixed joint", "mimic", SHOULDER, SHOULDER.replace("revolute", "fixed")),
    # Shapes
    Change("zero box", "size", BOX, '<box size="0.1 0 0.2"/>'),
    Change("negative box", "size", BOX, '<box size="0.1 -0.1 0.2"/>'),
    Change("flat box", "bad-number", BOX, '<box size="0.1 0.1"/>'),
    Change("zero sphere", "size", BOX, '<sphere radius="0"/>'),
    Change("negative sphere", "size", BOX, '<sphere radius="-1"/>'),
    Change("cylinder without length", "missing-attribute", BOX, '<cylinder radius="1"/>'),
    Change("negative cylinder", "size", BOX, '<cylinder radius="1" length="-1"/>'),
    Change("nan capsule", "bad-number", BOX, '<capsule radius="1" length="nan"/>'),
    Change("empty geometry", "missing-element", BOX, ""),
    Change("no geometry", "missing-element", f"<geometry>{BOX}</geometry>", ""),
    Change("two shapes", "duplicate-element", BOX, BOX + BOX),
    Change("unknown shape", "missing-element", BOX, '<torus radius="1"/>'),
    # Meshes, all of them places where no mesh may come from
    Change("missing mesh", "mesh-missing", BOX, _mesh("nowhere.stl")),
    Change("mesh without name", "missing-attribute", BOX, "<mesh/>"),
    Change("empty mesh name", "empty-name", BOX, _mesh("")),
    Change("remote mesh", "mesh-remote", BOX, _mesh("http://example.com/a.stl")),
    Change("secure remote mesh", "mesh-remote", BOX, _mesh("https://example.com/a.stl")),
    Change("ftp mesh", "mesh-remote", BOX, _mesh("ftp://example.com/a.stl")),
    Change("absolute mesh", "mesh-outside", BOX, _mesh("/etc/passwd")),
    Change("file address", "mesh-outside", BOX, _mesh("file:///etc/passwd")),
    Change("mesh above", "mesh-outside", BOX, _mesh("../../../../../../../../etc/passwd")),
    Change("package leaving itself", "mesh-outside", BOX,
           _mesh("package://example-robot-data/../../../../../../../etc/passwd")),
    Change("unknown package", "mesh-missing", BOX, _mesh("package://no_such_robot/a.stl")),
    Change("flattening scale", "size", BOX, '<mesh filename="a.stl" scale="1 1 0"/>'),
    Change("nan scale", "bad-number", BOX, '<mesh filename="a.stl" scale="1 1 nan"/>'),
]  # fmt: skip


FLOATING = SOUND.replace(
    "</robot>",
    """  <link name="world"/>
  <joint name="root" type="floating">
    <origin xyz="0 0 1"/>
    <parent link="world"/>
    <child link="base"/>
  </joint>
</robot>""",
)

FLOATING_CHANGES = [
    Change("nan at a floating joint", "bad-number", 'xyz="0 0 1"', 'xyz="0 0 nan"'),
    Change("floating joint named twice", "duplicate-name", 'name="root"', 'name="elbow"'),
    Change("floating joint without name", "missing-attribute", ' name="root"', ""),
    Change("floating from nowhere", "unknown-name", '<parent link="world"/>',
           '<parent link="nowhere"/>'),
    Change("floating to itself", "self-joint", '<parent link="world"/>', '<parent link="base"/>'),
    Change("floating child of two", "two-parents", '<child link="base"/>', '<child link="upper"/>'),
    Change("two floating joints", "unsupported", "</robot>",
           '<link name="rock"/><joint name="j" type="floating"><parent link="world"/>'
           '<child link="rock"/></joint></robot>'),
    Change("root beside the floating base", "unsupported", "</robot>",
           '<link name="rock"/><joint name="j" type="fixed"><parent link="world"/>'
           '<child link="rock"/></joint></robot>'),
]  # fmt: skip

NEWER = SOUND.replace('name="arm"', 'name="arm" version="1.2"')

NEWER_CHANGES = [
    Change("quaternion and angles", "bad-value", 'xyz="0 0 0.5"',
           'rpy="0 0 0" quat_xyzw="0 0 0 1"'),
    Change("quaternion of three", "bad-number", 'xyz="0 0 0.5"', 'quat_xyzw="0 0 1"'),
    Change("quaternion of nothing", "bad-value", 'xyz="0 0 0.5"', 'quat_xyzw="0 0 0 0"'),
    Change("nan quaternion", "bad-number", 'xyz="0 0 0.5"', 'quat_xyzw="0 0 0 nan"'),
    Change("quaternion in another order", "unknown-element", 'xyz="0 0 0.5"',
           'quat_wxyz="1 0 0 0"'),
    Change("no upper limit", "limits", LIMIT, _limit('<limit lower="-1"/>')),
    Change("no lower limit", "limits", LIMIT, _limit('<limit upper="1"/>')),
    Change("neither limit", "limits", LIMIT, _limit('<limit effort="1" velocity="1"/>')),
    Change("negative acceleration", "limits", LIMIT,
           _limit('<limit lower="-1" upper="1" acceleration="-1"/>')),
    Change("nan jerk", "bad-number", LIMIT, _limit('<limit lower="-1" upper="1" jerk="nan"/>')),
    Change("misspelt acceleration", "unknown-element", LIMIT,
           _limit('<limit lower="-1" upper="1" aceleration="1"/>')),
]  # fmt: skip


def bad_urdfs() -> Iterator[Case]:
    """Yield every bad URDF file."""
    for change in CHANGES:
        assert SOUND.count(change.old) >= 1, change.name
        text = SOUND.replace(change.old, change.new, 1)
        yield Case(change.name, text.encode(), change.code)
    for change in FLOATING_CHANGES:
        assert FLOATING.count(change.old) == 1, change.name
        yield Case(change.name, FLOATING.replace(change.old, change.new).encode(), change.code)
    for change in NEWER_CHANGES:
        assert NEWER.count(change.old) >= 1, change.name
        yield Case(change.name, NEWER.replace(change.old, change.new, 1).encode(), change.code)
    sound = SOUND.encode()
    yield Case("empty file", b"", "not-xml")
    yield Case("blank file", b" \n\t\n", "not-xml")
    yield Case("not markup", b"solid teapot\nendsolid\n", "not-xml")
    yield Case("json", b'{"robot": "arm"}', "not-xml")
    yield Case("elf", b"\x7fELF\x02\x01\x01" + bytes(64), "encoding")
    yield Case("NUL bytes", sound.replace(b"arm", b"a\x00m"), "encoding")
    yield Case("utf-16", SOUND.replace("1.0", "1.0", 1).encode("utf-16"), "encoding")
    yield Case("utf-32", SOUND.encode("utf-32"), "encoding")
    yield Case("latin-1 bytes", SOUND.replace("arm", "\xe4rm").encode("latin-1"), "encoding")
    yield Case("no links", b'<robot name="r"/>', "no-links")
    yield Case("sdf", b'<sdf version="1.6"><model name="m"/></sdf>', "wrong-root")
    yield Case("wrong root", sound.replace(b"robot", b"robots"), "wrong-root")
    yield Case("html", b"<html><body/></html>", "wrong-root")
    for percent in (10, 30, 50, 70, 90, 99):
        cut = sound[: len(sound) * percent // 100]
        yield Case(f"truncated to {percent} %", cut, "not-xml")
