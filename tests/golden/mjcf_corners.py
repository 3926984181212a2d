"""Corner cases of MJCF: classes, limits, masses, shapes, constraints and drives."""

BOX = '<geom type="box" size="0.1 0.2 0.3"/>'
ASKEW = '<geom type="box" size="0.1 0.2 0.3" pos="0.1 0.2 0.3" euler="10 20 30"/>'
INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
HINGE = '<joint name="hinge" axis="1 1 0"/>'
PRISM = (
    'vertex="0 0 0  2 0 0  2 1 0  1 1 0  1 3 0  0 3 0  0 0 1  2 0 1  2 1 1  1 1 1  1 3 1  0 3 1" '
    'face="0 2 1 0 3 2 0 5 3 3 5 4 6 7 8 6 8 9 6 9 11 9 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 '
    '2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11"'
)
TETRAHEDRON = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"'
SIZES = {
    "sphere": "0.1", "capsule": "0.1 0.2", "cylinder": "0.1 0.2", "ellipsoid": "0.1 0.2 0.3",
    "box": "0.1 0.2 0.3",
}  # fmt: skip


def world(body: str, before: str = "", after: str = "") -> str:
    """Return a file with something in its world."""
    return f"<mujoco>{before}<worldbody>{body}</worldbody>{after}</mujoco>"


def body(inside: str, before: str = "", after: str = "", *, joint: str = HINGE) -> str:
    """Return a file with one body that moves."""
    return world(f'<body name="a" pos="1 2 3">{joint}{inside}</body>', before, after)


def defaults(settings: str, inside: str = BOX, *, joint: str = HINGE, before: str = "") -> str:
    """Return a file with default classes and one body that moves."""
    return body(inside, f"{before}<default>{settings}</default>", joint=joint)


def jointed(attributes: str, before: str = "") -> str:
    """Return a file with one joint."""
    return body(BOX, before, joint=f'<joint name="j" {attributes}/>')


def meshed(mesh: str, geom: str = "") -> str:
    """Return a file with one mesh."""
    asset = f'<asset><mesh name="m" {mesh}/></asset>'
    return body(f'<geom name="g" type="mesh" mesh="m" {geom}/>', asset)


def tied(equality: str, before: str = "") -> str:
    """Return a file with three bodies and a constraint."""
    bodies = (
        f'<body name="p"><joint name="j1" ref="10"/>{BOX}<site name="s1" pos="0.1 0 0"/></body>'
        f'<body name="q" pos="1 0 0"><joint name="j2" ref="20"/>{BOX}'
        '<site name="s2" pos="0.3 0 0.1" euler="10 20 30"/></body>'
        f'<body name="r" pos="2 0 0"><joint name="j3" type="slide"/>{BOX}</body>'
    )
    return world(bodies, before, f"<equality>{equality}</equality>")


def driven(actuator: str, before: str = "") -> str:
    """Return a file with an actuator."""
    return body(BOX, before, f"<actuator>{actuator}</actuator>")


CLASSES = {
    "class before child class": world(
        f'<body name="a" childclass="x"><joint name="j" class="y"/>{BOX}</body>',
        '<default><joint damping="1"/><default class="x"><joint damping="2"/></default>'
        '<default class="y"><joint damping="3"/></default></default>',
    ),
    "child classes in child classes": world(
        f'<body name="a" childclass="x"><joint name="j1"/>{BOX}<body name="b" childclass="y">'
        f'<joint name="j2"/>{BOX}<body name="c"><joint name="j3"/>{BOX}</body></body>'
        f'<body name="d"><joint name="j4"/>{BOX}</body></body>',
        '<default><default class="x"><joint damping="2" armature="1"/><default class="y">'
        '<joint damping="3"/></default></default></default>',
    ),
    "child class of a frame": world(
        f'<body name="a" childclass="y"><frame childclass="x"><joint name="j"/><body name="b">'
        f'<joint name="k"/>{BOX}</body></frame>{BOX}</body>',
        '<default><default class="x"><joint damping="5"/></default><default class="y">'
        '<joint damping="7"/></default></default>',
    ),
    "class above its own settings": defaults(
        '<default class="x"><geom density="10"/></default><geom density="20" type="box" '
        'size="1 1 1"/>',
        '<geom class="x"/><geom/>',
    ),
    "class above those of the class around": defaults(
        '<default class="x"><default class="y"><joint armature="1"/></default>'
        '<joint damping="4"/></default>',
        joint='<joint name="j" class="y"/>',
    ),
    "main class by name": defaults(
        '<joint damping="1"/><default class="x"><joint damping="2"/></default>',
        joint='<joint name="j" class="main"/>',
    ),
    "two sections": body(
        BOX,
        '<default><default class="c"><joint/></default><joint damping="1"/></default><default>'
        '<geom density="10"/></default>',
    ),
    "classes after the bodies": (
        f'<mujoco><worldbody><body name="a" childclass="x"><joint name="j"/>{BOX}</body>'
        '</worldbody><default><default class="x"><joint damping="3"/></default></default></mujoco>'
    ),
    "mass, then density": defaults('<geom mass="3"/>', '<geom size="0.1" density="10"/>'),
    "density, then mass": defaults('<geom density="10"/>', '<geom size="0.1" mass="4"/>'),
    "three sizes, then one": defaults('<geom type="box" size="1 2 3"/>', '<geom size="0.5"/>'),
    "ends": defaults('<geom type="capsule" size="0.1" fromto="0 0 0 1 2 3"/>', "<geom/>"),
    "ends, then others": defaults(
        '<geom type="capsule" size="0.1" fromto="0 0 0 1 2 3"/>', '<geom fromto="1 0 0 0 0 0"/>'
    ),
    "ends, then a turn": defaults(
        '<geom type="capsule" size="0.1" fromto="0 0 0 1 2 3"/>', '<geom euler="1 2 3"/>'
    ),
    "turn, then ends": defaults(
        '<geom type="capsule" size="0.1" quat="1 2 0 0"/>', '<geom fromto="1 0 0 0 0 0"/>'
    ),
    "slide, then hinge": defaults(
        '<joint type="slide" range="-1 1" ref="0.5"/>', joint='<joint name="j" type="hinge"/>'
    ),
    "not limited": defaults('<joint limited="false"/>', joint='<joint name="j" range="-1 1"/>'),
    "limited": defaults('<joint limited="true"/>', joint='<joint name="j" range="-1 1"/>'),
    "not limited, then perhaps": defaults(
        '<joint range="-1 1" limited="false"/>', joint='<joint name="j" limited="auto"/>'
    ),
    "range, then none": defaults('<joint range="-1 1"/>', joint='<joint name="j" range="0 0"/>'),
    "range that nothing uses": defaults(
        '<default class="x"><joint range="0 1"/></default>',
        before='<compiler autolimits="false"/>',
    ),
    **{
        f"{before.split('=')[0]}, then {own.split('=')[0]}": defaults(
            f'<geom {before}/><default class="x"><geom {own}/></default>',
            '<geom type="box" size="1 2 3" class="x"/>',
        )
        for before in ('quat="1 1 0 1"', 'euler="10 20 30"', 'zaxis="1 2 3"')
        for own in ('quat="1 0 0 0"', 'euler="3 2 1"', 'xyaxes="1 2 3 3 2 1"')
    },
}
LIMITS = {
    name: jointed(attributes, before)
    for name, attributes, before in (
        ("one end at zero", 'range="0 30"', ""),
        ("reversed and off", 'range="30 0" limited="false"', ""),
        ("off by nothing", 'limited="auto"', '<compiler autolimits="false"/>'),
        ("on by a word", 'limited="true" range="0 1"', '<compiler autolimits="false"/>'),
        ("degrees", 'range="-90 180" ref="45" springref="30"', ""),
        ("radians", 'range="-1 2" ref="0.5"', '<compiler angle="radian"/>'),
        ("slide among degrees", 'type="slide" range="-0.1 2" ref="0.5"', ""),
        ("many turns", 'range="-720 7200"', ""),
        ("no end", 'range="-1e11 1e11"', ""),
        ("one end", 'type="slide" range="0 1e11"', ""),
        ("reference outside", 'range="-1 1" ref="50"', ""),
        ("unit said twice", 'range="-1 1"', '<compiler angle="radian"/><compiler angle="degree"/>'),
        ("unit said before", 'range="-1 1"', '<compiler angle="radian"/><compiler/>'),
    )
}
JOINTS = {
    "axis of any length": jointed('axis="0 30 40"'),
    "slide away from the origin": jointed('type="slide" pos="1 2 3"'),
    "spring of no stiffness": jointed('springref="30" stiffness="0" springdamper="0 0"'),
    "damping of three numbers": jointed('damping="2 0 0"'),
    "four joints": body(
        BOX,
        joint='<joint name="j1" axis="1 0 0" pos="0.1 0 0"/><joint name="j2" axis="0 1 0" '
        'pos="0 0.2 0" ref="30"/><joint name="j3" type="slide" axis="1 1 1" ref="0.2"/>'
        '<joint name="j4" axis="0 0 1" pos="0 0 0.3"/>',
    ),
    "hinge and slide below another": body(
        f'{BOX}<body name="c" pos="1 1 1" euler="5 6 7"><joint name="jc" pos="0.3 0 0" ref="15"/>'
        f"{BOX}</body>",
        joint='<joint name="j4" axis="0 0 1" pos="0 0 0.3" ref="-20"/>'
        '<joint name="j3" type="slide" axis="1 1 1" ref="0.2"/>',
    ),
    "free in a frame of the world": world(
        '<frame pos="1 2 3" euler="10 20 30"><body name="a" pos="1 0 0"><freejoint/>'
        f"{ASKEW}</body></frame>"
    ),
    "free joint in a frame": world(
        '<body name="a" pos="1 0 0"><frame pos="1 2 3" euler="10 20 30"><freejoint/></frame>'
        f"{ASKEW}</body>"
    ),
    "free joint with an axis": world(
        f'<body name="a"><joint type="free" pos="1 2 3" axis="1 0 0"/>{ASKEW}</body>'
    ),
    "free joint knows no class": world(
        f'<body name="a"><freejoint/>{ASKEW}</body>',
        '<default><joint damping="1" armature="2"/></default>',
    ),
    "massless body that carries a fixed one": body(f'<body name="c" pos="0 1 0">{BOX}</body>'),
    "same name for different things": world(
        '<body name="x"><joint name="x"/><geom name="x" size="1"/><site name="x"/></body>'
    ),
    "settings after the bodies": (
        f'<mujoco><worldbody><body name="a"><joint name="j" range="-1 1"/>{ASKEW}<replicate '
        f'count="3" euler="0.1 0.2 0.3"><body name="b" pos="1 0 0"><joint name="k"/>{BOX}</body>'
        '</replicate></body></worldbody><compiler angle="radian" eulerseq="ZYX"/></mujoco>'
    ),
    "two worlds": (
        f'<mujoco><worldbody><body name="a"><joint name="j"/>{BOX}</body></worldbody><worldbody>'
        f'<body name="b"><joint name="k"/>{BOX}</body></worldbody></mujoco>'
    ),
    **{
        f"turned by {attribute}": world(f'<body name="a" {attribute}>{HINGE}{ASKEW}</body>')
        for attribute in (
            'quat="2 0 0 2"', 'axisangle="3 4 0 50"', 'xyaxes="1 1 0 1 2 3"', 'zaxis="0 0 -1"',
            'zaxis="1e-6 0 -1"', 'zaxis="1e-9 1e-9 1"', 'euler="10 200 -300"',
        )
    },
}  # fmt: skip
MASSES = {
    name: body(inside, before)
    for name, inside, before in (
        ("groups from two to two", '<geom size="0.1"/><geom size="0.2" group="2"/>',
         '<compiler inertiagrouprange="2 2"/>'),
        ("groups beyond the sixth", '<geom size="0.1"/><geom size="0.2" group="6"/>',
         '<compiler inertiagrouprange="0 9"/>'),
        ("group below zero", '<geom size="0.1"/><geom size="0.2" group="-1"/>', ""),
        ("total mass of zero", BOX, '<compiler settotalmass="0"/>'),
        ("total mass",
         f'{BOX}<body name="b"><joint name="k"/>{INERTIAL}</body>',
         '<compiler settotalmass="5"/>'),
        ("total mass above least masses", f'{BOX}<body name="b"><joint name="k"/></body>',
         '<compiler settotalmass="5" boundmass="2" boundinertia="0.1"/>'),
        ("balanced by its axes", '<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>',
         '<compiler balanceinertia="true"/>'),
        ("balanced as a whole", '<inertial pos="0 0 0" mass="1" fullinertia="1 1 3 0.1 0.1 0.1"/>',
         '<compiler balanceinertia="true"/>'),
        ("bounded, then balanced", '<inertial pos="0 0 0" mass="1" diaginertia="1e-5 1 1.2"/>',
         '<compiler balanceinertia="true" boundinertia="0.3"/>'),
        ("by geoms that are only seen",
         f'{INERTIAL}<geom size="0.1" contype="0" conaffinity="0"/>',
         '<compiler inertiafromgeom="true"/>'),
        ("moments in any order",
         '<inertial pos="0.1 0.2 0.3" mass="1" diaginertia="3 1 2.5" quat="1 2 3 4"/>', ""),
        ("moments along an axis",
         '<inertial pos="0.1 0.2 0.3" mass="1" diaginertia="3 1 2.5" zaxis="1 1 1"/>', ""),
        ("next to nothing", '<inertial pos="0 0 0" mass="1e-6" diaginertia="1e-12 1e-12 1e-12"/>',
         ""),
        ("fused", f'{BOX}<body name="b" pos="1 0 0">{INERTIAL}</body>',
         '<compiler fusestatic="true"/>'),
        ("seen and thrown away", f'{BOX}<geom size="0.3" contype="0" conaffinity="0"/>',
         '<compiler discardvisual="true"/>'),
    )
}  # fmt: skip
SHAPES = {
    **{
        f"{kind} {name}": body(f'<geom name="g" type="{kind}" {attributes}/>{BOX}')
        for kind, size in SIZES.items()
        for name, attributes in (
            ("by mass", f'size="{size}" mass="2" pos="0.1 0.2 0.3" euler="10 20 30"'),
            ("by density", f'size="{size}" density="200" quat="1 2 3 4"'),
            ("without mass", f'size="{size}" mass="0"'),
            *(
                []
                if kind == "sphere"
                else [
                    ("between points", 'size="0.1" fromto="0.1 0.2 0.3 1 2 3"'),
                    ("upside down", 'size="0.1 0.5 0.7" fromto="0 0 1 0 0 -1"'),
                ]
            ),
        )
    },
    "very short capsule": body('<geom name="g" type="capsule" size="0.1 1e-7"/>'),
    "mesh with sizes": meshed(PRISM, 'size="5 5 5"'),
    **{
        f"{name}, {rule}": meshed(f'inertia="{rule}" {mesh}', geom)
        for rule in ("legacy", "exact", "convex", "shell")
        for name, mesh, geom in (
            ("prism", PRISM, 'pos="1 0 0" euler="10 20 30" density="50"'),
            ("mirrored prism", f'scale="-1 2 1" {PRISM}', ""),
            ("open tetrahedron", f'{TETRAHEDRON} face="0 2 1 0 1 3 0 3 2"', 'mass="2"'),
            ("two tetrahedra", 'vertex="0 0 0 1 0 0 0 1 0 0 0 1 5 5 5 6 5 5 5 6 5 5 5 6" '
             'face="0 2 1 0 1 3 0 3 2 1 2 3 4 6 5 4 5 7 4 7 6 5 6 7"', ""),
            ("unused vertex", 'vertex="0 0 0 1 0 0 0 1 0 0 0 1 3 3 3" '
             'face="0 2 1 0 1 3 0 3 2 1 2 3"', ""),
            ("vertex twice", 'vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 0 0" '
             'face="0 2 1 0 4 3 0 3 2 1 2 3"', ""),
        )
    },
}  # fmt: skip
CONSTRAINTS = {
    equality: tied(equality)
    for equality in (
        '<joint joint1="j1" joint2="j2" polycoef="0.3"/>',
        '<joint joint1="j1" joint2="j3" polycoef="0.3 -2"/>',
        '<joint joint1="j1" joint2="j3"/>',
        '<joint joint1="j1" joint2="j2"/><joint joint1="j2" joint2="j3"/>',
        '<joint joint1="j1" joint2="j2" active="false"/>',
        '<weld body1="p" body2="q"/>',
        '<weld body1="p"/>',
        '<weld site1="s1" site2="s2"/>',
        '<weld body1="p" body2="q" relpose="1 2 3 0 0 0 0"/>',
        '<weld body1="p" body2="q" relpose="1 2 3 2 0 0 0"/>',
        '<weld body1="p" body2="q" anchor="0.1 0 0" relpose="1 2 3 1 1 0 0"/>',
        '<connect body1="p" body2="q" anchor="0.1 0.2 0.3"/>',
        '<connect body1="p" body2="world" anchor="0 0 0"/>',
        '<connect body1="world" body2="p" anchor="0 0 0"/>',
        '<connect site1="s1" site2="s2"/>',
    )
} | {
    "off by its class": tied(
        '<joint class="x" joint1="j1" joint2="j2"/>',
        '<default><default class="x"><equality active="false"/></default></default>',
    ),
}  # fmt: skip
DRIVES = {
    actuator: driven(actuator)
    for actuator in (
        '<motor joint="hinge" gear="3" armature="0.1"/>',
        '<position joint="hinge" kp="10" kv="2" damping="0.3" gear="2"/>',
        '<motor joint="hinge" armature="0.1"/><motor joint="hinge" armature="0.2" gear="2"/>',
        '<motor jointinparent="hinge" armature="0.1" gear="-2"/>',
        '<general joint="hinge" armature="0.1" damping="0.2" gear="2"/>',
        '<damper joint="hinge" kv="3" ctrlrange="0 1"/>',
        '<dcmotor joint="hinge" motorconst="0.1" resistance="1" armature="0.3" gear="4"/>',
        '<intvelocity joint="hinge" kp="1" actrange="-1 1" armature="0.1"/>',
        '<muscle joint="hinge" lengthrange="0 1" armature="0.1"/>',
    )
} | {
    "of its class": driven(
        '<motor joint="hinge" class="x"/>',
        '<default><default class="x"><motor armature="0.3" gear="2"/></default></default>',
    ),
    "of the class of another actuator": driven(
        '<motor joint="hinge"/>', '<default><position armature="0.3" gear="2" kp="3"/></default>'
    ),
    "of two settings in one class": driven(
        '<motor joint="hinge"/>', '<default><position armature="0.3"/><motor gear="2"/></default>'
    ),
}  # fmt: skip
SAME = {
    f"{kind}: {name}": text
    for kind, cases in (
        ("classes", CLASSES), ("limits", LIMITS), ("joints", JOINTS), ("masses", MASSES),
        ("shapes", SHAPES), ("constraints", CONSTRAINTS), ("drives", DRIVES),
    )
    for name, text in cases.items()
}  # fmt: skip
"""Files that are the same mechanism to us and to MuJoCo."""

REFUSED = {
    "joint in the world": world(f'<joint/><body name="a">{BOX}</body>'),
    "joint in a frame of the world": world(f'<frame><joint/></frame><body name="a">{BOX}</body>'),
    "free body in another": world(f"<body>{BOX}<body><freejoint/>{BOX}</body></body>"),
    "limited without a range": jointed('limited="true"'),
    "empty range in force": jointed('range="0 0" limited="true"'),
    "range neither on nor off": jointed('range="0 1"', '<compiler autolimits="false"/>'),
    "force neither on nor off": jointed(
        'actuatorfrcrange="-1 1"', '<compiler autolimits="false"/>'
    ),
    "place and ends": defaults(
        '<geom type="capsule" size="0.1" pos="1 0 0"/>', '<geom fromto="1 0 0 0 0 0"/>'
    ),
    "moment said twice": body(
        '<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" diaginertia="2 2 2"/>'
    ),
    "negative moment": body('<inertial pos="0 0 0" mass="1" diaginertia="-1 1 1"/>'),
    "two letters of Euler": body(ASKEW, '<compiler eulerseq="xy"/>'),
    "moving plane": body(f'<geom type="plane" size="1 1 1"/>{BOX}'),
    "cylinder of no length": body('<geom type="cylinder" size="0.1 0"/>'),
    "points that coincide": body('<geom type="capsule" size="0.1" fromto="1 1 1 1 1 1"/>'),
    "inside out": meshed(f'inertia="exact" {TETRAHEDRON} face="0 1 2 0 3 1 0 2 3 1 3 2"'),
    "flat": meshed('vertex="0 0 0 1 0 0 0 1 0 1 1 0" face="0 1 2 1 3 2"'),
    "tied to itself": tied('<weld body1="p" body2="p"/>'),
    "drive without a target": driven("<motor/>"),
    "name of a frame twice": world(f'<frame name="f"/><frame name="f"/><body>{BOX}</body>'),
}
"""Files that both refuse."""
