"""Actuators and tendons, as MJCF writes them."""

from kinetarium.model.mjcf.vocabulary.kinds import Fate, Kind

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
"""For each actuator what defaults may hold as well, and what they may not: its target."""

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


ACTUATOR_PARTS = {
    **{
        tag: Kind(f"{own} {target}", at_most_one_of=_EXCLUDING.get(tag, ""))
        for tag, (own, target) in _ACTING.items()
    },
    "plugin": Kind(fate=Fate.UNSUPPORTED),
}
DEFAULT_ACTUATORS = {
    tag: Kind(_without_names(own), once=True, at_most_one_of=_EXCLUDING.get(tag, ""))
    for tag, (own, _) in _ACTING.items()
}

_LINE = (
    "limited:auto range:2 stiffness:1-3 damping:1-3 frictionloss:1 springlength:1-2 margin:1 "
    "group:i1 user:0- solreflimit:1-2 solimplimit:1-5 solreffriction:1-2 solimpfriction:1-5"
)
_FIXED = f"name class {_LINE} armature:1 actuatorfrclimited:auto actuatorfrcrange:2"
_SEEN = "material width:1 rgba:4"

TENDON_PARTS = {
    "fixed": Kind(_FIXED, inside="fixed tendon"),
    "spatial": Kind(f"{_FIXED} {_SEEN}", inside="spatial tendon"),
}
DEFAULT_TENDON = Kind(f"{_LINE} {_SEEN}", once=True)
FIXED_PATH = {"joint": Kind("!joint !coef:1")}
SPATIAL_PATH = {
    "site": Kind("!site"),
    "geom": Kind("!geom sidesite"),
    "pulley": Kind("!divisor:1"),
}
