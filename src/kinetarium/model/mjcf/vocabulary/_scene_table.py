"""The elements of MJCF for scenes, views, sensors and states, which are checked and omitted."""

from typing import Any

from kinetarium.model.mjcf.vocabulary.element_rule import ElementRule, Treatment

_POSE = "pos:3 quat:4 axisangle:4 xyaxes:6 zaxis:3 euler:3"
_ORIENTATIONS = "quat|axisangle|xyaxes|zaxis|euler"


def _view(attributes: str) -> ElementRule:
    return ElementRule(attributes, once=True)


VISUAL_ELEMENTS = {
    "global": _view(
        "cameraid:i1 orthographic:flag fovy:1 ipd:1 azimuth:1 elevation:1 linewidth:1 glow:1 "
        "offwidth:i1 offheight:i1 realtime:1 ellipsoidinertia:flag bvactive:flag"
    ),
    "quality": _view("shadowsize:i1 offsamples:i1 numslices:i1 numstacks:i1 numquads:i1"),
    "headlight": _view("ambient:3 diffuse:3 specular:3 active:i1"),
    "map": _view(
        "stiffness:1 stiffnessrot:1 force:1 torque:1 alpha:1 fogstart:1 fogend:1 znear:1 zfar:1 "
        "haze:1 shadowclip:1 shadowscale:1 actuatortendon:1"
    ),
    "scale": _view(
        "forcewidth:1 contactwidth:1 contactheight:1 connect:1 com:1 camera:1 light:1 "
        "selectpoint:1 jointlength:1 jointwidth:1 actuatorlength:1 actuatorwidth:1 framelength:1 "
        "framewidth:1 constraint:1 slidercrank:1 frustum:1"
    ),
    "rgba": _view(
        "fog:4 haze:4 force:4 inertia:4 joint:4 actuator:4 actuatornegative:4 actuatorpositive:4 "
        "com:4 camera:4 light:4 selectpoint:4 connect:4 contactpoint:4 contactforce:4 "
        "contactfriction:4 contacttorque:4 contactgap:4 rangefinder:4 constraint:4 slidercrank:4 "
        "crankbroken:4 frustum:4 bv:4 bvactive:4"
    ),
}
STATISTIC = ElementRule(
    "meaninertia:1 meanmass:1 meansize:1 extent:1 center:3", treatment=Treatment.LEFT_OUT
)

_CAMERA = (
    f"{_POSE} projection:projection fovy:1 ipd:1 resolution:i2 output:image+ mode:view focal:2 "
    "focalpixel:2 principal:2 principalpixel:2 sensorsize:2 user:0-"
)
_LIGHT = (
    "directional:flag type:light castshadow:flag active:flag pos:3 dir:3 bulbradius:1 intensity:1 "
    "range:1 attenuation:3 cutoff:1 softness:1 exponent:1 ambient:3 diffuse:3 specular:3 mode:view"
)
_CAMERA_RULES = f"{_ORIENTATIONS} fovy|sensorsize"
_LIGHT_RULES = "directional|type"
CAMERA = ElementRule(
    f"name class target {_CAMERA}", treatment=Treatment.LEFT_OUT, at_most_one_of=_CAMERA_RULES
)
LIGHT = ElementRule(
    f"name class target texture {_LIGHT}", treatment=Treatment.LEFT_OUT, at_most_one_of=_LIGHT_RULES
)
DEFAULT_CAMERA = ElementRule(
    _CAMERA, treatment=Treatment.LEFT_OUT, once=True, at_most_one_of=_CAMERA_RULES
)
DEFAULT_LIGHT = ElementRule(
    _LIGHT, treatment=Treatment.LEFT_OUT, once=True, at_most_one_of=_LIGHT_RULES
)

_TEXTURE = (
    "type:texture colorspace:colorspace gridsize:i2 gridlayout builtin:pattern rgb1:3 rgb2:3 "
    "mark:mark markrgb:3 random:1 width:i1 height:i1 hflip:flag vflip:flag nchannel:i1 embed:auto"
)
TEXTURE = ElementRule(
    f"name class {_TEXTURE} content_type file fileright fileleft fileup filedown filefront "
    "fileback",
    treatment=Treatment.LEFT_OUT,
)
DEFAULT_TEXTURE = ElementRule(_TEXTURE, treatment=Treatment.LEFT_OUT, once=True)
TERRAIN = ElementRule(
    "name content_type file nrow:i1 ncol:i1 !size:4 elevation:0-", treatment=Treatment.LEFT_OUT
)
SKIN = ElementRule(
    "name file material rgba:4 inflate:1 vertex:0- texcoord:0- face:i0- group:i1",
    context="skin",
    treatment=Treatment.LEFT_OUT,
)
SKIN_ELEMENTS = {
    "bone": ElementRule("!body !bindpos:3 !bindquat:4 !vertid:i0- !vertweight:0-"),
}

_SENSOR = "name cutoff:1 user:0-"
_SAMPLED = "nsample:i1 interp:interpolation delay:1 interval:1-2"
_MEASURED = f"{_SENSOR} {_SAMPLED} noise:1"
_OBJECT = "!objtype:object !objname"
_REFERENCE = "reftype:object refname"


def _sensors(tags: str, attributes: str = "", **combinations: Any) -> dict[str, ElementRule]:
    return dict.fromkeys(tags.split(), ElementRule(f"{_MEASURED} {attributes}", **combinations))


SENSOR_ELEMENTS = {
    **_sensors("touch accelerometer velocimeter gyro force torque magnetometer", "!site"),
    **_sensors("camprojection", "!site !camera"),
    **_sensors("rangefinder", "site camera data:ray+", one_of="site|camera"),
    **_sensors(
        "jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel "
        "jointlimitfrc",
        "!joint",
    ),
    **_sensors(
        "tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc",
        "!tendon",
    ),
    **_sensors("actuatorpos actuatorvel actuatorfrc", "!actuator"),
    **_sensors(
        "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel",
        f"{_OBJECT} {_REFERENCE}",
        together="reftype+refname",
    ),
    **_sensors("framelinacc frameangacc", _OBJECT),
    **_sensors("subtreecom subtreelinvel subtreeangmom", "!body"),
    **_sensors("insidesite", f"!site {_OBJECT} enclosed:flag"),
    **_sensors(
        "distance normal fromto",
        "geom1 geom2 body1 body2",
        one_of="geom1|body1 geom2|body2",
    ),
    **_sensors(
        "contact",
        "geom1 geom2 body1 body2 subtree1 subtree2 site num:i1 data:contact+ reduce:reduction",
        at_most_one_of="geom1|body1|subtree1|site geom2|body2|subtree2",
    ),
    **_sensors("e_potential e_kinetic clock"),
    "tactile": ElementRule(f"{_SENSOR} {_SAMPLED} !geom !mesh"),
    "user": ElementRule(
        f"{_SENSOR} noise:1 objtype objname datatype:data needstage:stage !dim:i1",
        together="objtype+objname",
    ),
    "plugin": ElementRule(treatment=Treatment.UNSUPPORTED),
}
CUSTOM_ELEMENTS = {
    "numeric": ElementRule("!name size:i1 data:0-"),
    "text": ElementRule("!name !data"),
    "tuple": ElementRule("!name", context="tuple"),
}
TUPLE_ELEMENTS = {"element": ElementRule("!objtype !objname prm:1")}
KEYFRAME_ELEMENTS = {
    "key": ElementRule("name time:1 qpos:0- qvel:0- act:0- ctrl:0- mpos:0- mquat:0-"),
}
