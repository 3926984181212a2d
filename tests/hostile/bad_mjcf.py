"""Broken and hostile MJCF files, each with the code it must be refused with.

Every case is one change to a sound robot, so that nothing but the change can
be the reason of the refusal.
"""

from collections.abc import Iterator

from hostile.case import Case, Change

SOUND = """<?xml version="1.0"?>
<mujoco model="arm">
  <compiler angle="radian"/>
  <option timestep="0.002" gravity="0 0 -9.81"/>
  <size memory="16M"/>
  <default>
    <geom density="500"/>
    <default class="strong"><joint damping="1"/></default>
  </default>
  <asset>
    <mesh name="wedge" vertex="0 0 0  0.1 0 0  0 0.1 0  0 0 0.1"
          face="0 2 1  0 1 3  0 3 2  1 2 3"/>
  </asset>
  <worldbody>
    <body name="base">
      <body name="upper" pos="0 0 0.5" quat="1 0 0 0">
        <joint name="shoulder" axis="0 1 0" range="-1 1"/>
        <inertial pos="0 0 0.1" mass="2" diaginertia="0.02 0.02 0.01"/>
        <geom name="bone" type="capsule" size="0.05" fromto="0 0 0 0 0 0.4"/>
        <body name="fore" pos="0 0 0.4" childclass="strong">
          <joint name="elbow" type="hinge" axis="0 1 0" range="-1 1"/>
          <geom type="box" size="0.1 0.1 0.1"/>
          <geom type="mesh" mesh="wedge" mass="0.5"/>
          <body name="tip" pos="0 0 0.2">
            <joint name="slide" type="slide" axis="1 0 0" range="0 0.1"/>
            <geom size="0.02"/>
            <site name="end"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <equality>
    <joint joint1="slide" joint2="elbow" polycoef="0 0.1 0 0 0"/>
    <connect body1="tip" body2="base" anchor="0 0 0"/>
  </equality>
  <actuator>
    <motor joint="shoulder" gear="20" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


INERTIAL = '<inertial pos="0 0 0.1" mass="2" diaginertia="0.02 0.02 0.01"/>'
CONNECT = '<connect body1="tip" body2="base" anchor="0 0 0"/>'
COUPLING = '<joint joint1="slide" joint2="elbow" polycoef="0 0.1 0 0 0"/>'
MOTOR = '<motor joint="shoulder" gear="20" ctrlrange="-1 1"/>'
SHOULDER = '<joint name="shoulder" axis="0 1 0" range="-1 1"/>'
BOX = '<geom type="box" size="0.1 0.1 0.1"/>'
FACES = 'face="0 2 1  0 1 3  0 3 2  1 2 3"'
TENDON = '<tendon><fixed name="a"><joint joint="elbow" coef="1"/></fixed></tendon>'
OPTION = 'timestep="0.002" gravity="0 0 -9.81"'
WORLD = "<worldbody>"
END = "</worldbody>"

CHANGES = [
    # the file as XML
    Change("document type", "doctype", "<mujoco", "<!DOCTYPE mujoco><mujoco"),
    Change("entity", "doctype", "<mujoco", '<!DOCTYPE m [<!ENTITY a "b">]><mujoco'),
    Change("truncated", "not-xml", "</mujoco>", ""),
    Change("unclosed body", "not-xml", "<body name=", "<body><body name="),
    # elements and attributes
    Change("wrong root", "wrong-root", "mujoco", "robots"),
    Change("unknown section", "unknown-element", "<option", "<options"),
    Change("misspelt attribute", "unknown-element", 'range="-1 1"/>\n        <in',
           'rnage="-1 1"/>\n        <in'),
    Change("unknown attribute", "unknown-element", 'mass="2"', 'mass="2" colour="red"'),
    Change("unknown element in body", "unknown-element", BOX, "<geometry/>"),
    Change("joint in the world", "unknown-element", WORLD, f"{WORLD}<joint/>"),
    Change("inertial in the world", "unknown-element", WORLD, WORLD + INERTIAL),
    Change("misspelt option", "unknown-element", OPTION, 'gravitiy="0 0 -1"'),
    Change("misspelt flag", "unknown-element", "<asset>",
           '<option><flag gravitiy="disable"/></option><asset>'),
    Change("element in an option", "unknown-element", "<asset>",
           "<option><flags/></option><asset>"),
    Change("misspelt size", "unknown-element", 'memory="16M"', 'memry="16M"'),
    Change("two sets of flags", "duplicate-element", "<asset>",
           "<option><flag/><flag/></option><asset>"),
    Change("setting that is no more", "unknown-element", "<compiler",
           '<compiler exactmeshinertia="true"'),
    Change("switched by a number", "bad-value", "<compiler", '<compiler autolimits="1"'),
    Change("two joints in a class", "duplicate-element", '<joint damping="1"/>',
           '<joint damping="1"/><joint armature="1"/>'),
    Change("name in a class", "unknown-element", '<joint damping="1"/>',
           '<joint damping="1" name="j"/>'),
    Change("place of a mesh in a class", "unknown-element", '<geom density="500"/>',
           '<geom density="500"/><mesh refpos="1 0 0"/>'),
    Change("gravity compensation of a frame", "unknown-element", BOX,
           f'<frame gravcomp="1">{BOX}</frame>'),
    Change("attribute of the world", "unknown-element", WORLD, '<worldbody childclass="strong">'),
    Change("attribute of the root", "unknown-element", '<mujoco model="arm"', '<mujoco name="arm"'),
    Change("target of another actuator", "unknown-element", "<motor", '<motor body="tip"'),
    Change("gain of another actuator", "unknown-element", "<motor", '<motor kp="1"'),
    Change("misspelt sensor", "unknown-element", END, f"{END}<sensor><gyros/></sensor>"),
    Change("sensor of nothing", "missing-attribute", END, f"{END}<sensor><gyro/></sensor>"),
    Change("misspelt state", "unknown-element", END, f'{END}<keyframe><key qps="0"/></keyframe>'),
    Change("misspelt view", "unknown-element", END, f'{END}<visual><map zner="1"/></visual>'),
    Change("distance from two things", "bad-value", END,
           f'{END}<sensor><distance geom1="bone" body1="tip" body2="base"/></sensor>'),
    Change("reference by half", "missing-attribute", END,
           f'{END}<sensor><framepos objtype="site" objname="end" reftype="body"/></sensor>'),
    Change("class of a camera", "unknown-name", END, f'<camera class="weak"/>{END}'),
    Change("class of a light", "unknown-name", END, f'<light class="weak"/>{END}'),
    Change("joint of a fixed tendon in a spatial one", "unknown-element", "<actuator>",
           '<tendon><spatial><joint joint="elbow" coef="1"/></spatial></tendon><actuator>'),
    Change("two inertials", "duplicate-element", INERTIAL, INERTIAL + INERTIAL),
    Change("attach", "unsupported", BOX, BOX + '<attach model="m" prefix="x"/>'),
    Change("composite", "unsupported", BOX, BOX + '<composite type="cable"/>'),
    Change("flexcomp", "unsupported", BOX, BOX + '<flexcomp name="f" type="grid"/>'),
    Change("plugin", "unsupported", "<asset>", "<extension><plugin/></extension><asset>"),
    Change("deformable", "unsupported", "<asset>", "<deformable><flex/></deformable><asset>"),
    # numbers
    Change("nan time step", "bad-number", 'timestep="0.002"', 'timestep="nan"'),
    Change("zero time step", "bad-value", 'timestep="0.002"', 'timestep="0"'),
    Change("negative time step", "bad-value", 'timestep="0.002"', 'timestep="-1"'),
    Change("infinite gravity", "bad-number", OPTION, 'gravity="0 0 -inf"'),
    Change("gravity of two numbers", "bad-number", OPTION, 'gravity="0 0"'),
    Change("infinite wind", "bad-number", OPTION, 'wind="inf 0 0"'),
    Change("nan density of the air", "bad-number", OPTION, 'density="nan"'),
    Change("nan viscosity", "bad-number", OPTION, 'viscosity="nan"'),
    Change("nan position", "bad-number", 'pos="0 0 0.5"', 'pos="0 0 nan"'),
    Change("huge position", "bad-number", 'pos="0 0 0.5"', 'pos="0 0 1e300"'),
    Change("position of two numbers", "bad-number", 'pos="0 0 0.5"', 'pos="0 0"'),
    Change("hexadecimal", "bad-number", 'mass="2"', 'mass="0x2"'),
    Change("decimal comma", "bad-number", 'mass="2"', 'mass="2,5"'),
    Change("empty number", "bad-number", 'mass="2"', 'mass=""'),
    Change("nan in a default nobody uses", "bad-number", 'damping="1"', 'armature="nan"'),
    Change("nan friction", "bad-number", BOX, '<geom type="box" size="1 1 1" friction="nan"/>'),
    Change("nan colour", "bad-number", BOX, '<geom type="box" size="1 1 1" rgba="nan 0 0 1"/>'),
    Change("group of many digits", "bad-value", BOX, '<geom size="1" group="99999999999"/>'),
    Change("half a contact type", "bad-value", BOX, '<geom size="1" contype="1.5"/>'),
    Change("whole number with a point", "bad-value", BOX, '<geom size="1" group="2.0"/>'),
    Change("whole number with an exponent", "bad-value", BOX,
           f'<replicate count="1e1">{BOX}</replicate>'),
    Change("rough beyond sense", "bad-value", BOX, '<geom size="1" friction="-1 0 0"/>'),
    Change("too many numbers", "too-large", "<asset>",
           "<asset>" + "".join(f'<mesh name="m{i}" vertex="{"0 " * 300_000}"/>' for i in range(4))),
    # numbers in what is left out
    Change("nan state", "bad-number", END, f'{END}<keyframe><key qpos="nan"/></keyframe>'),
    Change("infinite time", "bad-number", END, f'{END}<keyframe><key time="-inf"/></keyframe>'),
    Change("huge state", "bad-number", END, f'{END}<keyframe><key qpos="0 1e999"/></keyframe>'),
    Change("hexadecimal state", "bad-number", END, f'{END}<keyframe><key qpos="0x1"/></keyframe>'),
    Change("nan extent", "bad-number", END, f'{END}<statistic extent="nan"/>'),
    Change("nan view", "bad-number", END, f'{END}<visual><map znear="nan"/></visual>'),
    Change("nan camera", "bad-number", END, f'<camera fovy="nan"/>{END}'),
    Change("nan light", "bad-number", END, f'<light pos="NaN 0 0"/>{END}'),
    Change("nan of the user", "bad-number", END,
           f'{END}<custom><numeric name="n" data="1 nan"/></custom>'),
    Change("nan noise", "bad-number", END,
           f'{END}<sensor><jointpos joint="elbow" noise="nan"/></sensor>'),
    Change("nan terrain", "bad-number", "<asset>", '<asset><hfield name="h" elevation="0 nan"/>'),
    Change("nan coefficient", "bad-number", "<actuator>",
           TENDON.replace('"1"', '"nan"') + "<actuator>"),
    Change("nan of a pair", "bad-number", END,
           f'{END}<contact><pair geom1="bone" geom2="bone" friction="nan"/></contact>'),
    # sizes of memory
    Change("memory bomb", "too-large", '"16M"', '"100E"'),
    Change("memory that is no number", "bad-number", '"16M"', '"lots"'),
    Change("user data bomb", "too-large", 'memory="16M"', 'nuserdata="999999999"'),
    Change("negative size", "bad-value", 'memory="16M"', 'nkey="-5"'),
    Change("terrain bomb", "too-large", "<asset>",
           '<asset><hfield size="1 1 1 1" nrow="1000000" ncol="1000000"/>'),
    Change("texture bomb", "too-large", "<asset>",
           '<asset><texture width="1000000" height="1000000"/>'),
    Change("replica bomb", "too-large", BOX, f'<replicate count="999999">{BOX}</replicate>'),
    Change("bomb of the user", "too-large", END,
           f'{END}<custom><numeric name="n" size="1000000000"/></custom>'),
    Change("too many classes", "too-large", "<geom density", "".join(
        f'<default class="c{i}"/>' for i in range(5001)) + "<geom density"),
    Change("nested replica bomb", "too-large", BOX,
           '<replicate count="1000">' * 9 + BOX + "</replicate>" * 9),
    Change("too many bodies", "too-large", BOX,
           f'{BOX}<replicate count="6000"><body><geom size="1"/></body></replicate>'),
    Change("too many geoms", "too-large", BOX, f'<replicate count="11000">{BOX}</replicate>'),
    Change("too deep", "too-large", BOX, "<body>" * 120 + "</body>" * 120),
    Change("half a replica", "bad-value", BOX, f'<replicate count="1.5">{BOX}</replicate>'),
    Change("no replica", "bad-value", BOX, f'<replicate count="0">{BOX}</replicate>'),
    Change("replicas without count", "missing-attribute", BOX, f"<replicate>{BOX}</replicate>"),
    # settings
    Change("global coordinates", "unsupported", "<compiler", '<compiler coordinate="global"'),
    Change("unknown unit", "bad-value", '"radian"', '"gon"'),
    Change("wrong euler sequence", "bad-value", "<compiler", '<compiler eulerseq="xyw"'),
    Change("negative least mass", "bad-value", "<compiler", '<compiler boundmass="-1"'),
    Change("unknown integrator", "bad-value", "<option", '<option integrator="magic"'),
    Change("unknown solver", "bad-value", "<option", '<option solver="mine"'),
    Change("switched by a word", "bad-value", "<asset>",
           '<option><flag contact="maybe"/></option><asset>'),
    Change("next to no mass", "mass", "<compiler", '<compiler settotalmass="1e-300"'),
    Change("total mass of more than the robot", "unsupported", "<compiler",
           '<compiler settotalmass="5" fusestatic="true"'),
    Change("mass that is thrown away", "bad-value", "<compiler",
           '<default><geom contype="0" conaffinity="0"/></default>'
           '<compiler discardvisual="true" inertiafromgeom="true"'),
    Change("mass that is lost by fusing", "unsupported", '<geom name="bone" type="capsule"',
           '</body></body></worldbody><compiler fusestatic="true" inertiafromgeom="true"/>'
           '<worldbody><body name="other"><body><geom name="bone" type="capsule"'),
    # default classes
    Change("missing class", "unknown-name", BOX, '<geom class="weak" size="1"/>'),
    Change("missing child class", "unknown-name", 'childclass="strong"', 'childclass="weak"'),
    Change("class of its own name", "duplicate-name", '<joint damping="1"/>',
           '<default class="strong"/>'),
    Change("class of the outermost name", "duplicate-name", 'class="strong"', 'class="main"'),
    Change("class without a name", "missing-attribute", '<default class="strong">', "<default>"),
    Change("outermost class renamed", "bad-value", "<default>", '<default class="mine">'),
    # bodies and masses
    Change("no bodies", "no-links", SOUND[SOUND.index(WORLD):SOUND.index("</mujoco>")], ""),
    Change("two bodies of one name", "duplicate-name", 'body name="fore"', 'body name="upper"'),
    Change("a body named world", "duplicate-name", 'body name="fore"', 'body name="world"'),
    Change("body with an empty name", "empty-name", 'body name="fore"', 'body name=""'),
    Change("negative mass", "mass", 'mass="2"', 'mass="-2"'),
    Change("negative mass of a geom", "mass", 'mass="0.5"', 'mass="-0.5"'),
    Change("negative density", "mass", 'density="500"', 'density="-500"'),
    Change("heavy as a star", "mass", BOX, '<geom size="1e12" density="1e12"/>'),
    Change("heavy by its scale", "mass", '<mesh name="wedge"',
           '<mesh name="wedge" scale="1e9 1e9 1e9"'),
    Change("mocap body inside", "bad-value", 'body name="fore"', 'body mocap="true" name="fore"'),
    Change("mocap body with a joint", "unsupported", END,
           f'<body mocap="true"><joint/><geom size="1"/></body>{END}'),
    Change("robot on a mocap body", "unsupported", END,
           f'<body mocap="true"><body><joint/><geom size="1"/></body></body>{END}'),
    Change("expression for a name", "bad-value", 'body name="fore"', 'body name="${fore}"'),
    Change("negative moment", "inertia", '"0.02 0.02 0.01"', '"-0.02 -0.02 -0.01"'),
    Change("impossible moment", "inertia", '"0.02 0.02 0.01"', '"0.02 0.02 9"'),
    Change("inertial without place", "missing-attribute", 'inertial pos="0 0 0.1"', "inertial"),
    Change("inertial without mass", "missing-attribute", ' mass="2"', ""),
    Change("full inertia and axes", "bad-value", 'diaginertia="0.02 0.02 0.01"',
           'fullinertia="1 1 1 0 0 0" quat="1 0 0 0"'),
    Change("massless branch", "massless", '<geom size="0.02"/>', '<geom size="0.02" mass="0"/>'),
    Change("weightless by gravcomp", "unsupported", 'body name="fore"',
           'body gravcomp="1" name="fore"'),
    Change("robot beside another", "two-roots", END,
           '<body><freejoint/><geom size="0.1"/><body><joint/><geom size="0.1"/></body></body>'
           + END),
    Change("free joint inside", "unsupported", SHOULDER, "<freejoint/>"),
    Change("free joint and a hinge", "unsupported", '<body name="base">',
           '<body name="base"><freejoint/><joint/>'),
    # orientations
    Change("zero quaternion", "bad-value", 'quat="1 0 0 0"', 'quat="0 0 0 0"'),
    Change("quaternion of three numbers", "bad-number", 'quat="1 0 0 0"', 'quat="1 0 0"'),
    Change("two orientations", "bad-value", 'quat="1 0 0 0"', 'quat="1 0 0 0" euler="0 0 0"'),
    Change("angle about no axis", "bad-value", 'quat="1 0 0 0"', 'axisangle="0 0 0 1"'),
    Change("parallel axes", "bad-value", 'quat="1 0 0 0"', 'xyaxes="1 0 0 2 0 0"'),
    Change("almost parallel axes", "bad-value", 'quat="1 0 0 0"', 'xyaxes="1 0 0 2 1e-8 0"'),
    Change("no z axis", "bad-value", 'quat="1 0 0 0"', 'zaxis="0 0 0"'),
    Change("frame without direction", "bad-value", BOX, f'<frame zaxis="0 0 0">{BOX}</frame>'),
    # joints
    Change("unknown joint type", "joint-type", 'type="hinge"', 'type="revolute"'),
    Change("ball joint", "unsupported", 'type="hinge"', 'type="ball"'),
    Change("zero axis", "zero-axis", 'axis="0 1 0" range="-1 1"/>\n        <in',
           'axis="0 0 0"/>\n        <in'),
    Change("next to no axis", "zero-axis", 'axis="0 1 0" range="-1 1"/>\n        <in',
           'axis="0 5e-8 0"/>\n        <in'),
    Change("reversed range", "limits", SHOULDER, SHOULDER.replace("-1 1", "1 -1")),
    Change("empty range", "limits", SHOULDER, SHOULDER.replace("-1 1", "1 1")),
    Change("limited without range", "limits", SHOULDER,
           SHOULDER.replace('range="-1 1"', 'limited="true"')),
    Change("range without limited", "limits", "<compiler", '<compiler autolimits="false"'),
    Change("limited by a word", "bad-value", SHOULDER,
           SHOULDER.replace("<joint", '<joint limited="yes"')),
    Change("negative damping", "bad-value", 'damping="1"', 'damping="-1"'),
    Change("negative friction", "bad-value", 'damping="1"', 'frictionloss="-1"'),
    Change("negative armature", "bad-value", 'damping="1"', 'armature="-1"'),
    Change("damping of four numbers", "bad-number", 'damping="1"', 'damping="1 0 0 0"'),
    Change("cubic damping", "unsupported", 'damping="1"', 'damping="1 0 1"'),
    Change("cubic damping by the class around", "unsupported", '<geom density="500"/>',
           '<geom density="500"/><joint damping="1 0 1"/>'),
    Change("half a spring by its time", "bad-value", 'damping="1"', 'springdamper="0.1 0"'),
    Change("negative spring", "bad-value", 'damping="1"', 'stiffness="-10"'),
    Change("uneven spring", "unsupported", 'damping="1"', 'stiffness="10 1"'),
    Change("two joints of one name", "duplicate-name", 'name="elbow"', 'name="shoulder"'),
    Change("free joint of a joint's name", "duplicate-name", '<body name="base">',
           '<body name="base"><freejoint name="elbow"/>'),
    Change("joint with an empty name", "empty-name", 'name="elbow"', 'name=" "'),
    # geoms and meshes
    Change("unknown shape", "bad-value", 'type="box"', 'type="cube"'),
    Change("negative size of a box", "size", 'size="0.1 0.1 0.1"', 'size="0.1 -0.1 0.1"'),
    Change("zero radius", "size", 'size="0.05"', 'size="0"'),
    Change("vanishing radius", "size", 'size="0.05"', 'size="1e-200"'),
    Change("missing size", "size", 'size="0.05" ', ""),
    Change("negative size that means nothing", "size", 'size="0.02"', 'size="0.02 -1 -1"'),
    Change("negative size of a site", "size", '<site name="end"', '<site size="-1" name="end"'),
    Change("negative size in the world", "size", END, f'<geom type="box" size="-1 1 1"/>{END}'),
    Change("no size in the world", "size", END, f'<geom type="box"/>{END}'),
    Change("unknown mesh in the world", "unknown-name", END, f'<geom type="mesh" mesh="m"/>{END}'),
    Change("unknown mesh of a mocap body", "unknown-name", END,
           f'<body mocap="true"><geom type="mesh" mesh="m"/></body>{END}'),
    Change("two geoms of one name", "duplicate-name", BOX, '<geom name="bone" size="1"/>'),
    Change("two materials of one name", "duplicate-name", "<asset>",
           '<asset><material name="m"/><material name="m"/>'),
    Change("mesh that nobody uses", "mesh-missing", "<asset>", '<asset><mesh file="none.stl"/>'),
    Change("mesh elsewhere that nobody uses", "mesh-remote", "<asset>",
           '<asset><mesh file="http://x.org/m.stl"/>'),
    Change("texture outside", "mesh-outside", "<asset>", '<asset><texture file="/etc/passwd"/>'),
    Change("texture elsewhere", "mesh-remote", "<asset>",
           '<asset><texture fileright="http://x.org/t.png"/>'),
    Change("terrain outside", "mesh-outside", "<asset>",
           '<asset><hfield name="h" size="1 1 1 1" file="../../h.png"/>'),
    Change("skin outside", "mesh-outside", "<asset>", '<asset><skin file="/etc/passwd"/>'),
    Change("too many sizes", "bad-number", 'size="0.1 0.1 0.1"', 'size="0.1 0.1 0.1 0.1"'),
    Change("points that coincide", "size", "0 0 0 0 0 0.4", "0 0 0 0 0 0"),
    Change("sphere between points", "bad-value", 'type="capsule"', 'type="sphere"'),
    Change("points and place", "bad-value", 'type="capsule"', 'type="capsule" pos="0 0 1"'),
    Change("mesh between points", "bad-value", 'mesh="wedge" mass="0.5"',
           'mesh="wedge" mass="0.5" fromto="0 0 0 1 1 1"'),
    Change("hollow by the wrong word", "bad-value", 'mesh="wedge" mass="0.5"',
           'mesh="wedge" mass="0.5" shellinertia="true"'),
    Change("moving plane", "unsupported", BOX, '<geom type="plane" size="1 1 1"/>'),
    Change("distance field", "unsupported", 'type="box"', 'type="sdf"'),
    Change("box fitted to a mesh", "unsupported", 'type="box"', 'type="box" mesh="wedge"'),
    Change("hollow geom", "unsupported", BOX, '<geom size="0.1" shellinertia="true"/>'),
    Change("unknown mesh", "unknown-name", 'mesh="wedge"', 'mesh="wegde"'),
    Change("mesh without a name", "missing-attribute", ' mesh="wedge"', ""),
    Change("two meshes of one name", "duplicate-name", "<asset>",
           '<asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>'),
    Change("mesh with a face too many", "mesh-broken", FACES, FACES.replace("1 2 3", "1 2 9")),
    Change("mesh with a negative corner", "mesh-broken", FACES, FACES.replace("1 2 3", "1 2 -1")),
    Change("mesh with half a corner", "mesh-broken", FACES, FACES.replace("1 2 3", "1 2 0.5")),
    Change("mesh with half a face", "mesh-broken", FACES, FACES.replace("1 2 3", "1 2")),
    Change("mesh with a face turned over", "mesh-broken", FACES,
           FACES.replace("1 2 3", "1 3 2") + ' inertia="exact"'),
    Change("mesh by its hull, cut down", "unsupported", FACES + "/>", FACES + '/><mesh name="ball" '
           'inertia="convex" maxhullvert="4" vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 1 1"/></asset>'
           '<worldbody><body><geom type="mesh" mesh="ball"/></body></worldbody><asset>'),
    Change("hull of three corners", "bad-value", '<mesh name="wedge"',
           '<mesh name="wedge" maxhullvert="3"'),
    Change("mesh of three points", "mesh-broken", "0 0.1 0  0 0 0.1", "0 0.1 0"),
    Change("flat mesh for a mass", "mesh-broken", "0 0 0.1\"", "0.1 0.1 0\""),
    Change("flat points without faces", "mesh-broken", f'0 0 0.1"\n          {FACES}',
           '0.1 0.1 0"'),
    Change("flattened mesh", "size", '<mesh name="wedge"', '<mesh name="wedge" scale="1 1 0"'),
    Change("built-in mesh", "unsupported", "<asset>",
           '<asset><mesh name="cone" builtin="cone" params="9 1"/>'),
    Change("mesh from a file and from here", "bad-value", '<mesh name="wedge"',
           '<mesh name="wedge" file="a.stl"'),
    Change("unknown rule of mass", "bad-value", '<mesh name="wedge"',
           '<mesh name="wedge" inertia="solid"'),
    # constraints
    Change("tied to a missing body", "unknown-name", 'body1="tip"', 'body1="tipp"'),
    Change("tied to itself", "loop", 'body2="base"', 'body2="tip"'),
    Change("tied without anchor", "missing-attribute", ' anchor="0 0 0"', ""),
    Change("tied at a missing site", "unknown-name", CONNECT,
           '<weld site1="end" site2="begin"/>'),
    Change("tied at one site", "missing-attribute", CONNECT, '<weld site1="end"/>'),
    Change("tied to nothing, not now", "unknown-name", CONNECT,
           '<weld active="false" body1="zz" body2="tip"/>'),
    Change("pair of a missing geom", "unknown-name", END,
           f'{END}<contact><pair geom1="bone" geom2="bon"/></contact>'),
    Change("a missing body left alone", "unknown-name", END,
           f'{END}<contact><exclude body1="tip" body2="tap"/></contact>'),
    Change("a missing joint sensed", "unknown-name", END,
           f'{END}<sensor><jointpos joint="elbo"/></sensor>'),
    Change("a missing frame sensed", "unknown-name", END,
           f'{END}<sensor><framepos objtype="xbody" objname="tap"/></sensor>'),
    Change("tied at sites and an anchor", "bad-value", CONNECT,
           '<connect site1="end" site2="end" anchor="0 0 0"/>'),
    Change("tied by bodies and sites", "bad-value", CONNECT,
           '<weld site1="end" site2="end" body1="tip"/>'),
    Change("two sites of one name", "duplicate-name", '<site name="end"/>',
           '<site name="end"/><site name="end"/>'),
    Change("follows a missing joint", "unknown-name", 'joint2="elbow"', 'joint2="elbo"'),
    Change("missing joint follows", "unknown-name", 'joint1="slide"', 'joint1="slid"'),
    Change("follows itself", "mimic", 'joint2="elbow"', 'joint2="slide"'),
    Change("followers in a circle", "mimic", COUPLING,
           COUPLING + '<joint joint1="elbow" joint2="slide"/>'),
    Change("follows two joints", "mimic", COUPLING,
           COUPLING + '<joint joint1="slide" joint2="shoulder"/>'),
    Change("follows a curve", "unsupported", "0 0.1 0 0 0", "0 0.1 0.2 0 0"),
    Change("held by no joint", "unsupported", ' joint2="elbow"', ""),
    Change("constraint of tendons", "unsupported", COUPLING,
           f'<tendon tendon1="a"/></equality>{TENDON}<equality>'),
    Change("elastic tendon", "unsupported", "<actuator>",
           '<tendon><fixed damping="5"><joint joint="elbow" coef="1"/></fixed></tendon><actuator>'),
    Change("limited tendon", "unsupported", "<actuator>",
           '<tendon><fixed range="0 1"><joint joint="elbow" coef="1"/></fixed></tendon><actuator>'),
    # actuators
    Change("tendon of a missing joint", "unknown-name", "<actuator>",
           TENDON.replace("elbow", "elbo") + "<actuator>"),
    Change("tendon of a missing site", "unknown-name", "<actuator>",
           '<tendon><spatial><site site="end"/><site site="eend"/></spatial></tendon><actuator>'),
    Change("tendon along nothing", "missing-element", "<actuator>",
           '<tendon><fixed name="t"/></tendon><actuator>'),
    Change("two tendons of one name", "duplicate-name", "<actuator>", f"{TENDON * 2}<actuator>"),
    Change("motor of nothing", "missing-attribute", 'motor joint="shoulder"', "motor"),
    Change("motor of two things", "bad-value", "<motor", '<motor site="end"'),
    Change("motor of a missing tendon", "unknown-name", 'motor joint="shoulder"',
           'motor tendon="shoulder"'),
    Change("motor of a missing site", "unknown-name", 'motor joint="shoulder"', 'motor site="s"'),
    Change("adhesion of a missing body", "unknown-name", MOTOR,
           '<adhesion body="s" ctrlrange="0 1"/>'),
    Change("two motors of one name", "duplicate-name", MOTOR,
           MOTOR.replace("<motor", '<motor name="m"') * 2),
    Change("motor of a missing joint", "unknown-name", 'motor joint="shoulder"',
           'motor joint="shulder"'),
    Change("reversed effort", "limits", MOTOR, MOTOR.replace("-1 1", "1 -1")),
    Change("seven gears", "bad-number", 'gear="20"', 'gear="1 2 3 4 5 6 7"'),
    Change("inertia of a drive of a tendon", "unsupported", "<actuator>",
           f'{TENDON}<actuator><motor tendon="a" armature="0.1"/>'),
    Change("damping of a drive of a tendon", "unsupported", "<actuator>",
           f'{TENDON}<actuator><motor tendon="a" damping="0.1"/>'),
    Change("inertia of a drive of a site", "unsupported", "<actuator>",
           '<actuator><motor site="end" armature="0.1"/>'),
    Change("unknown actuator", "unknown-element", "<motor", "<engine"),
]  # fmt: skip


def bad_mjcfs() -> Iterator[Case]:
    """Yield every bad file."""
    yield Case("empty file", b"", "not-xml")
    yield Case("NUL bytes", SOUND.encode().replace(b"arm", b"a\0m"), "encoding")
    yield Case("UTF-16", SOUND.encode("utf-16"), "encoding")
    yield Case("trailing garbage", SOUND.encode() + b"<x/>", "not-xml")
    for change in CHANGES:
        assert change.old in SOUND, change.name
        yield Case(change.name, SOUND.replace(change.old, change.new).encode(), change.code)
