"""The table of MJCF: which elements are allowed where, with which attributes.

It describes the format of MuJoCo 3.17; `mujoco.mj_printSchema` prints MuJoCo's own table.
"""

from kinetarium.model.mjcf.vocabulary import _scene_table as scene
from kinetarium.model.mjcf.vocabulary.element_rule import ElementRule, Treatment

_ALL = "name class group:i1 nsample:i1 interp:interpolation delay:1 ctrlrange:2 user:0-"
_DRIVE = "gear:1-6 damping:1-3 armature:1 cranklength:1"
_BOUND = "forcelimited:auto forcerange:2"
_TARGET = "lengthrange:2 joint jointinparent tendon slidersite cranksite"
_PLACE = "site refsite"
_ANY = f"{_ALL} {_BOUND} {_DRIVE} ctrllimited:auto"
_ACTING = {
    "general": (
        f"{_ANY} actlimited:auto actrange:2 actdim:i1 dyntype:dynamics gaintype:gain "
        "biastype:bias dynprm:0-10 gainprm:0-10 biasprm:0-10 actearly:flag inheritrange:1 "
        "input:input+ velrange:2 ffrange:2",
        f"{_TARGET} {_PLACE} body",
    ),
    "motor": (_ANY, f"{_TARGET} {_PLACE}"),
    "position": (
        f"{_ANY} inheritrange:1 kp:1 kv:1 dampratio:1 timeconst:1",
        f"{_TARGET} {_PLACE}",
    ),
    "velocity": (f"{_ANY} kv:1", f"{_TARGET} {_PLACE}"),
    "intvelocity": (
        f"{_ANY} actlimited:auto actrange:2 inheritrange:1 kp:1 kv:1 dampratio:1",
        f"{_TARGET} {_PLACE}",
    ),
    "orientation": (
        f"{_ALL} {_BOUND} input:input+ kp:1 kv:1 dampratio:1",
        f"joint {_PLACE}",
    ),
    "pid": (
        f"{_ANY} inheritrange:1 input:input+ kp:1 ki:1 kv:1 dampratio:1 posrange:2 velrange:2 "
        "ffrange:2 imax:1 slewmax:1",
        f"{_TARGET} {_PLACE}",
    ),
    "damper": (f"{_ALL} {_BOUND} {_DRIVE} kv:1", f"{_TARGET} {_PLACE}"),
    "cylinder": (f"{_ANY} timeconst:1 area:1 diameter:1 bias:3", f"{_TARGET} {_PLACE}"),
    "muscle": (
        f"{_ANY} timeconst:2 range:2 force:1 scale:1 lmin:1 lmax:1 vmax:1 fpmax:1 fvmax:1",
        f"{_TARGET} tausmooth:1",
    ),
    "adhesion": (f"{_ALL} {_BOUND} gain:1", "body"),
    "dcmotor": (
        f"{_ALL} {_DRIVE} ctrllimited:auto motorconst:1-2 resistance:1 nominal:1-3 "
        "saturation:1-3 inductance:1-2 cogging:1-3 controller:1-6 thermal:1-6 lugre:1-5 "
        "input:input+",
        f"{_TARGET} {_PLACE}",
    ),
}
"""For each actuator its attributes that defaults may have too, and its targets."""

_EXCLUDING = {
    "position": "ctrlrange|inheritrange kv|dampratio",
    "intvelocity": "actrange|inheritrange kv|dampratio",
    "orientation": "kv|dampratio",
    "pid": "posrange|inheritrange ctrlrange|inheritrange kv|dampratio",
}

ACTUATORS = tuple(_ACTING)
"""The actuators, all of which share one set of defaults in a class."""


def _without_names(attributes: str) -> str:
    return " ".join(each for each in attributes.split() if each not in ("name", "class"))


ACTUATOR_ELEMENTS = {
    **{
        tag: ElementRule(f"{own} {target}", at_most_one_of=_EXCLUDING.get(tag, ""))
        for tag, (own, target) in _ACTING.items()
    },
    "plugin": ElementRule(treatment=Treatment.UNSUPPORTED),
}
DEFAULT_ACTUATORS = {
    tag: ElementRule(_without_names(own), once=True, at_most_one_of=_EXCLUDING.get(tag, ""))
    for tag, (own, _) in _ACTING.items()
}

_LINE = (
    "limited:auto range:2 stiffness:1-3 damping:1-3 frictionloss:1 springlength:1-2 margin:1 "
    "group:i1 user:0- solreflimit:1-2 solimplimit:1-5 solreffriction:1-2 solimpfriction:1-5"
)
_FIXED = f"name class {_LINE} armature:1 actuatorfrclimited:auto actuatorfrcrange:2"
_SEEN = "material width:1 rgba:4"

TENDON_ELEMENTS = {
    "fixed": ElementRule(_FIXED, context="fixed tendon"),
    "spatial": ElementRule(f"{_FIXED} {_SEEN}", context="spatial tendon"),
}
DEFAULT_TENDON = ElementRule(f"{_LINE} {_SEEN}", once=True)
FIXED_PATH = {"joint": ElementRule("!joint !coef:1")}
SPATIAL_PATH = {
    "site": ElementRule("!site"),
    "geom": ElementRule("!geom sidesite"),
    "pulley": ElementRule("!divisor:1"),
}


_TURN = "quat:4 axisangle:4 xyaxes:6 zaxis:3 euler:3"
_ORIENTATIONS = "quat|axisangle|xyaxes|zaxis|euler"
_POSE = f"pos:3 {_TURN}"
_UNSUPPORTED = ElementRule(treatment=Treatment.UNSUPPORTED)
_JOINT = (
    "limited:auto actuatorfrclimited:auto actuatorgravcomp:flag pos:3 axis:3 range:2 ref:1 "
    "damping:1-3 frictionloss:1 armature:1 stiffness:1-3 springref:1 springdamper:2 "
    "actuatorfrcrange:2 group:i1 user:0-"
)
_SOFT_JOINT = "margin:1 solreflimit:1-2 solimplimit:1-5 solreffriction:1-2 solimpfriction:1-5"
_GEOM = (
    f"{_POSE} mesh hfield material shellinertia:flag fluidshape:fluid size:1-3 fromto:6 "
    "contype:i1 conaffinity:i1 group:i1 mass:1 density:1 rgba:4 fitscale:1 user:0-"
)
_CONTACT = (
    "condim:i1 priority:i1 friction:1-3 solmix:1 solref:1-2 solimp:1-5 margin:1 gap:1 "
    "surfacevel:1-6 adhesion:1 fluidcoef:1-5"
)
_SITE = f"{_POSE} type:shape material mesh size:1-3 fromto:6 group:i1 rgba:4 user:0-"
_MESH = "scale:3 inertia:inertia maxhullvert:i1"
_MATERIAL = (
    "texture texuniform:flag rgba:4 emission:1 specular:1 shininess:1 reflectance:1 metallic:1 "
    "roughness:1 texrepeat:2"
)
_PAIR = "condim:i1 friction:1-5 solref:1-2 solreffriction:1-2 solimp:1-5 margin:1 gap:1 adhesion:1"
_SOLVER = "solref:1-2 solimp:1-5"
_EQUALITY = "name class active:flag"

_COMPILER = ElementRule(
    "angle:angle assetdir autolimits:flag balanceinertia:flag conflict:conflict "
    "coordinate:coordinate discardvisual:flag eulerseq fitaabb:flag fusestatic:flag "
    "inertiafromgeom:auto meshdir passthrough:passthrough savecanonical:flag savecompiled:flag "
    "saveinertial:flag strippath:flag texturedir usethread:flag alignfree:flag boundmass:1 "
    "boundinertia:1 settotalmass:1 inertiagrouprange:i2",
    context="compiler",
)
_LENGTHRANGE = ElementRule(
    "mode:lengthrange useexisting:flag uselimit:flag accel:1 maxforce:1 timeconst:1 timestep:1 "
    "inttotal:1 interval:1 tolrange:1",
    treatment=Treatment.LEFT_OUT,
    once=True,
)
_OPTION = ElementRule(
    left_out="timestep:1 impratio:1 tolerance:1 ls_tolerance:1 noslip_tolerance:1 "
    "ccd_tolerance:1 sleep_tolerance:1 gravity:3 wind:3 magnetic:3 density:1 viscosity:1 "
    "o_margin:1 o_solref:1-2 o_solimp:1-5 o_friction:1-5 integrator:integrator cone:cone "
    "jacobian:jacobian solver:solver iterations:i1 ls_iterations:i1 noslip_iterations:i1 "
    "ccd_iterations:i1 sdf_iterations:i1 sdf_initpoints:i1 actuatorgroupdisable:i0-",
    context="option",
)
_FLAG = ElementRule(
    left_out=" ".join(
        f"{name}:switch"
        for name in (
            "actuation", "autoreset", "clampctrl", "constraint", "contact", "damper", "diagexact",
            "energy", "equality", "eulerdamp", "filterparent", "frictionloss", "fwdinv", "gravity",
            "invdiscrete", "ipc", "island", "limit", "midphase", "multiccd", "nativeccd",
            "override", "refsafe", "sensor", "sleep", "spring", "warmstart",
        )
    ),
    once=True,
)  # fmt: skip
_SIZE = ElementRule(
    "memory njmax:i1 nconmax:i1 nstack:i1 nuserdata:i1 nkey:i1 nuser_body:i1 nuser_jnt:i1 "
    "nuser_geom:i1 nuser_site:i1 nuser_cam:i1 nuser_tendon:i1 nuser_actuator:i1 nuser_sensor:i1",
    at_most_one_of="memory|njmax memory|nstack",
)

_BODY_ELEMENTS = {
    "body": ElementRule(
        f"name childclass mocap:flag sleep:sleep simple:unless fuse:unless {_POSE} gravcomp:1 "
        "user:0-",
        context="body",
        at_most_one_of=_ORIENTATIONS,
    ),
    "replicate": ElementRule("sep childclass !count:i1 offset:3 euler:3", context="world"),
    # The readers of geoms and joints check their types, which other attributes depend on.
    "geom": ElementRule(
        f"name class type {_GEOM}", _CONTACT, context="geom", at_most_one_of=_ORIENTATIONS
    ),
    "site": ElementRule(f"name class {_SITE}", at_most_one_of=_ORIENTATIONS),
    "camera": scene.CAMERA,
    "light": scene.LIGHT,
    **dict.fromkeys(("attach", "composite", "flexcomp", "plugin"), _UNSUPPORTED),
}


def _frame(context: str) -> ElementRule:
    return ElementRule(f"name childclass {_POSE}", context=context, at_most_one_of=_ORIENTATIONS)


ROOT = ElementRule("model", context="mujoco")
CONTEXTS: dict[str, dict[str, ElementRule]] = {
    "nothing": {},
    "mujoco": {
        "compiler": _COMPILER,
        "option": _OPTION,
        "size": _SIZE,
        "default": ElementRule("class", context="default"),
        "asset": ElementRule(context="asset"),
        "worldbody": ElementRule(context="world"),
        "contact": ElementRule(context="contact"),
        "equality": ElementRule(context="equality"),
        "tendon": ElementRule(context="tendon"),
        "actuator": ElementRule(context="actuator"),
        "deformable": ElementRule(context="deformable"),
        "extension": _UNSUPPORTED,
        "statistic": scene.STATISTIC,
        **{
            tag: ElementRule(context=tag, treatment=Treatment.LEFT_OUT)
            for tag in ("visual", "sensor", "keyframe", "custom")
        },
    },
    "compiler": {"lengthrange": _LENGTHRANGE},
    "option": {"flag": _FLAG},
    "visual": scene.VISUAL_ELEMENTS,
    "default": {
        "default": ElementRule("!class", context="default"),
        "joint": ElementRule(f"type:joint {_JOINT}", _SOFT_JOINT, once=True),
        "geom": ElementRule(
            f"type:shape {_GEOM}", _CONTACT, once=True, at_most_one_of=_ORIENTATIONS
        ),
        "site": ElementRule(_SITE, once=True, at_most_one_of=_ORIENTATIONS),
        "mesh": ElementRule(_MESH, once=True),
        "material": ElementRule(_MATERIAL, context="material", once=True),
        "equality": ElementRule("active:flag", _SOLVER, once=True),
        "tendon": DEFAULT_TENDON,
        "pair": ElementRule(_PAIR, once=True),
        "texture": scene.DEFAULT_TEXTURE,
        "camera": scene.DEFAULT_CAMERA,
        "light": scene.DEFAULT_LIGHT,
        **DEFAULT_ACTUATORS,
    },
    "asset": {
        "mesh": ElementRule(
            f"name class content_type file builtin:builtin material smoothnormal:flag vertex:0- "
            f"normal:0- texcoord:0- face:0- refpos:3 refquat:4 params:0- {_MESH}",
            context="geom",
            at_most_one_of="builtin|file builtin|vertex",
        ),
        "material": ElementRule(f"name class {_MATERIAL}", context="material"),
        "texture": scene.TEXTURE,
        "hfield": scene.TERRAIN,
        "skin": scene.SKIN,
        "model": _UNSUPPORTED,
    },
    "material": {"layer": ElementRule("!texture !role:role", treatment=Treatment.LEFT_OUT)},
    "skin": scene.SKIN_ELEMENTS,
    "deformable": {"flex": _UNSUPPORTED, "skin": scene.SKIN},
    # Joints and masses are allowed in a body, not in the world or in a <replicate>.
    "world": {**_BODY_ELEMENTS, "frame": _frame("world")},
    "body": {
        **_BODY_ELEMENTS,
        "frame": _frame("body"),
        "inertial": ElementRule(
            f"!pos:3 !mass:1 {_TURN} diaginertia:3 fullinertia:6",
            once=True,
            at_most_one_of=f"fullinertia|{_ORIENTATIONS}",
        ),
        "joint": ElementRule(f"name class type {_JOINT}", _SOFT_JOINT),
        "freejoint": ElementRule("name align:auto group:i1"),
    },
    "geom": {"plugin": _UNSUPPORTED},
    "contact": {
        "pair": ElementRule(f"name class geom1 geom2 {_PAIR}"),
        "exclude": ElementRule("name !body1 !body2", treatment=Treatment.LEFT_OUT),
    },
    "equality": {
        "connect": ElementRule(
            f"{_EQUALITY} body1 body2 site1 site2 anchor:3",
            _SOLVER,
            one_of="site1+site2|body1+anchor(body2)",
        ),
        "weld": ElementRule(
            f"{_EQUALITY} body1 body2 site1 site2 anchor:3 relpose:7 torquescale:1",
            _SOLVER,
            one_of="site1+site2|body1(body2+anchor+relpose)",
        ),
        "joint": ElementRule(f"{_EQUALITY} !joint1 joint2 polycoef:1-5", _SOLVER),
        "tendon": ElementRule(f"{_EQUALITY} !tendon1 tendon2 polycoef:1-5", _SOLVER),
        "flex": ElementRule(f"{_EQUALITY} !flex", _SOLVER),
        "flexvert": ElementRule(f"{_EQUALITY} !flex", _SOLVER),
        "flexstrain": ElementRule(f"{_EQUALITY} !flex cell:i3", _SOLVER),
    },
    "tendon": TENDON_ELEMENTS,
    "fixed tendon": FIXED_PATH,
    "spatial tendon": SPATIAL_PATH,
    "actuator": ACTUATOR_ELEMENTS,
    "sensor": scene.SENSOR_ELEMENTS,
    "custom": scene.CUSTOM_ELEMENTS,
    "tuple": scene.TUPLE_ELEMENTS,
    "keyframe": scene.KEYFRAME_ELEMENTS,
}
"""The elements that are allowed in each context."""
