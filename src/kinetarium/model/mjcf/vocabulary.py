"""The elements and attributes of MJCF: what is read, what is left out and what is refused.

Every number is checked here, also in attributes that are left out and in
defaults that nothing uses: a file with a NaN in it is not to be trusted.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.left_out import LeftOut
from kinetarium.model.mjcf.origins import Origins
from kinetarium.model.mjcf.references import REFERENCES
from kinetarium.model.reading import Reading
from kinetarium.model.spelling import nearest_name

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper",
    "cylinder", "muscle", "adhesion", "dcmotor",
)  # fmt: skip


MOST_NUMBERS = 1_000_000
"""The most numbers written in one robot; larger meshes are in files of their own."""

_WHOLE = frozenset(("contype", "conaffinity", "condim", "priority", "group"))
_MOST_WHOLE = 2**31 - 1
_NOT_NEGATIVE = {"size": Code.SIZE, "friction": Code.BAD_VALUE}
_NAMES = frozenset(
    ("name", "class", "childclass", "model", "objname", "refname", "mesh", "material", "sep")
)
"""Attributes that hold names, which may look like anything."""
_NO_NUMBER = re.compile(
    r"(?<!\S)[+-]?(?:nan|inf(?:inity)?|0x[0-9a-f]+|[0-9.]+e\+?0*[1-9][0-9]{2,})(?!\S)",
    re.IGNORECASE,
)
"""What other programs read as a number, and as none that can be used."""


class Fate(Enum):
    """What becomes of an element."""

    READ = auto()
    LEFT_OUT = auto()
    UNSUPPORTED = auto()


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of an element.

    Attributes:
        words: Attributes that hold words.
        numbers: Attributes that hold numbers.
        left_out: Attributes that hold numbers and have no place in a robot model.
        inside: Which elements may stand inside it, as a key of the contexts.
        fate: What becomes of it.
        open: Whether it may have attributes that are not listed.
    """

    words: str = ""
    numbers: str = ""
    left_out: str = ""
    inside: str = "nothing"
    fate: Fate = Fate.READ
    open: bool = False


_POSE = "pos quat axisangle xyaxes zaxis euler"
_LEFT_OUT = Kind(fate=Fate.LEFT_OUT)
_UNSUPPORTED = Kind(fate=Fate.UNSUPPORTED)
_JOINT = Kind(
    "name class type limited actuatorfrclimited actuatorgravcomp",
    "pos axis range ref damping frictionloss armature stiffness springref springdamper "
    "springyield actuatorfrcrange group user",
    "margin solreflimit solimplimit solreffriction solimpfriction",
)
_GEOM = Kind(
    "name class type mesh hfield material shellinertia fluidshape castshadow",
    f"{_POSE} size fromto contype conaffinity group mass density rgba fitscale user",
    "condim priority friction solmix solref solimp margin gap surfacevel adhesion fluidcoef",
    inside="geom",
)
_SITE = Kind("name class type material mesh", f"{_POSE} size fromto group rgba user")
_MESH = Kind(
    "name class content_type file inertia builtin material smoothnormal",
    "scale vertex normal texcoord face refpos refquat maxhullvert params",
    inside="geom",
)
_MATERIAL = Kind(
    "name class texture texuniform",
    "rgba emission specular shininess reflectance metallic roughness texrepeat",
    inside="material",
)
_TENDON = Kind(
    "name class limited actuatorfrclimited material",
    "range stiffness damping frictionloss armature springlength springyield actuatorfrcrange "
    "margin width rgba group user solreflimit solimplimit solreffriction solimpfriction",
    inside="path",
)
_ACTUATOR = Kind(
    "name class joint jointinparent tendon site refsite body cranksite slidersite ctrllimited "
    "forcelimited actlimited dyntype gaintype biastype actearly input interp",
    "gear forcerange ctrlrange armature damping group user actdim actrange lengthrange cranklength "
    "delay nsample inheritrange dynprm gainprm biasprm kp kv ki dampratio timeconst tausmooth area "
    "diameter bias range force scale lmin lmax vmax fpmax fvmax gain velrange ffrange posrange "
    "imax slewmax cogging controller inductance lugre motorconst nominal resistance saturation "
    "thermal",
)
_PAIR = Kind(
    "name class geom1 geom2", "condim friction solref solreffriction solimp margin gap adhesion"
)
_SOLVER = "solref solimp"
_COMPILER = Kind(
    "angle assetdir autolimits balanceinertia conflict coordinate discardvisual eulerseq fitaabb "
    "fusestatic inertiafromgeom meshdir passthrough savecanonical savecompiled saveinertial "
    "strippath texturedir usethread alignfree convexhull exactmeshinertia",
    "boundmass boundinertia settotalmass inertiagrouprange",
    inside="compiler",
)


_PARTS = {
    "body": Kind(
        "name childclass mocap sleep simple fuse", f"{_POSE} gravcomp user", inside="body"
    ),
    "replicate": Kind("sep childclass", "count offset euler", inside="world"),
    "geom": _GEOM,
    "site": _SITE,
    **dict.fromkeys(("camera", "light"), _LEFT_OUT),
    **dict.fromkeys(("attach", "composite", "flexcomp", "plugin"), _UNSUPPORTED),
}

_CONTEXTS: dict[str, dict[str, Kind]] = {
    "nothing": {},
    "mujoco": {
        "compiler": _COMPILER,
        "option": Kind(open=True, inside="option"),
        "size": Kind(open=True),
        "default": Kind("class", inside="default"),
        "asset": Kind(inside="asset"),
        "worldbody": Kind(inside="world"),
        "contact": Kind(inside="contact"),
        "equality": Kind(inside="equality"),
        "tendon": Kind(inside="tendon"),
        "actuator": Kind(inside="actuator"),
        **dict.fromkeys(("extension", "deformable"), _UNSUPPORTED),
        **dict.fromkeys(("visual", "statistic", "sensor", "keyframe", "custom"), _LEFT_OUT),
    },
    "compiler": {"lengthrange": _LEFT_OUT},
    "option": {"flag": _LEFT_OUT},
    "default": {
        "default": Kind("class", inside="default"),
        "joint": _JOINT,
        "geom": _GEOM,
        "site": _SITE,
        "mesh": _MESH,
        "material": _MATERIAL,
        "equality": Kind("active", left_out=_SOLVER),
        "tendon": _TENDON,
        **dict.fromkeys(ACTUATORS, _ACTUATOR),
        **dict.fromkeys(("texture", "camera", "light"), _LEFT_OUT),
        "pair": _PAIR,
    },
    "asset": {
        "mesh": _MESH,
        "material": _MATERIAL,
        **dict.fromkeys(("texture", "hfield", "skin"), _LEFT_OUT),
        "model": _UNSUPPORTED,
    },
    "material": {"layer": _LEFT_OUT},
    # Joints and masses belong to a body, not to the world nor to what is copied into a body.
    "world": {**_PARTS, "frame": Kind("name childclass", _POSE, inside="world")},
    "body": {
        **_PARTS,
        "frame": Kind("name childclass", _POSE, inside="body"),
        "inertial": Kind("", f"{_POSE} mass diaginertia fullinertia"),
        "joint": _JOINT,
        "freejoint": Kind("name align", "group"),
    },
    "geom": {"plugin": _UNSUPPORTED},
    "contact": {"pair": _PAIR, "exclude": _LEFT_OUT},
    "equality": {
        "connect": Kind("name class active body1 body2 site1 site2", "anchor", _SOLVER),
        "weld": Kind(
            "name class active body1 body2 site1 site2", "anchor relpose torquescale", _SOLVER
        ),
        "joint": Kind("name class active joint1 joint2", "polycoef", _SOLVER),
        **dict.fromkeys(("tendon", "flex", "flexvert", "flexstrain"), Kind(open=True)),
    },
    "tendon": {"fixed": _TENDON, "spatial": _TENDON},
    "path": {
        "joint": Kind("joint", "coef"),
        "site": Kind("site"),
        "geom": Kind("geom sidesite"),
        "pulley": Kind("", "divisor"),
    },
    "actuator": {**dict.fromkeys(ACTUATORS, _ACTUATOR), "plugin": _UNSUPPORTED},
}
_ROOT = Kind("model", inside="mujoco")


def check_vocabulary(
    root: Element, *, reading: Reading, origins: Origins, left_out: LeftOut
) -> None:
    """Check every element that is read: none unknown, no attribute misspelt, all numbers finite.

    Args:
        root: The <mujoco> element, its includes in place.
        reading: The file being read.
        origins: Names the file of each element.
        left_out: Takes note of what has no place in a robot model.

    Raises:
        RobotFileError: With every fault that was found.
    """
    _check_attributes(root, _ROOT, reading=reading, left_out=left_out)
    pending, numbers = [(root, _ROOT)], 0
    while pending:
        element, kind = pending.pop()
        known = _CONTEXTS[kind.inside]
        for child in element.children:
            with origins.at(child):
                _check_place(child, element, known, reading=reading)
                if known[child.tag].fate is Fate.LEFT_OUT:
                    left_out.add(child.tag, child.line)
                    for inner in child.walk():
                        _check_words(inner, inner.attributes, reading=reading)
                    continue
                numbers += _check_attributes(
                    child, known[child.tag], reading=reading, left_out=left_out
                )
                pending.append((child, known[child.tag]))
            if numbers > MOST_NUMBERS:
                with origins.at(child):
                    raise reading.findings.refusal(
                        Code.TOO_LARGE,
                        f"more than {MOST_NUMBERS:,} numbers in one robot",
                        remedy="put meshes into files of their own",
                        line=child.line,
                    )
                reading.findings.stop_if_refused()
    reading.findings.stop_if_refused()


def _check_attributes(element: Element, kind: Kind, *, reading: Reading, left_out: LeftOut) -> int:
    """Check the attributes of an element that is read; give how many numbers they hold."""
    words, numbers, dropped = _names(kind)
    count = 0
    for name in element.attributes:
        if name in numbers:
            values = reading.attributes.numbers(element, name)
            count += len(values)
            _check_numbers(element, name, values, reading=reading)
            if name in dropped:
                left_out.add_attribute(element, name)
        elif name not in words and not kind.open and not name.startswith(("xmlns", "xsi:")):
            meant = nearest_name(name, words | numbers)
            raise reading.findings.refusal(
                Code.UNKNOWN_ELEMENT,
                f"{element} has the unknown attribute {name!r}",
                remedy=f"did you mean {meant!r}?" if meant else "remove it",
                line=element.line,
            )
    _check_words(element, element.attributes.keys() - numbers, reading=reading)
    return count


def _check_numbers(
    element: Element, name: str, values: Sequence[float], *, reading: Reading
) -> None:
    """Refuse fractions and negative numbers where they mean nothing."""
    if name in _WHOLE and any(value % 1 or abs(value) > _MOST_WHOLE for value in values):
        raise reading.findings.refusal(
            Code.BAD_VALUE,
            f"{element}: {name} is {element.attributes[name][:40]!r}",
            remedy="a whole number of up to 32 bits",
            line=element.line,
        )
    if name in _NOT_NEGATIVE and any(value < 0 for value in values):
        raise reading.findings.refusal(
            _NOT_NEGATIVE[name], f"{element}: {name} is negative", line=element.line
        )


def _check_words(element: Element, names: Iterable[str], *, reading: Reading) -> None:
    """Refuse, in attributes that are not read as numbers, what is no usable number or name."""
    for name in names:
        text = element.attributes[name]
        if "${" in text:
            raise reading.findings.refusal(
                Code.BAD_VALUE,
                f"{element}: {name} is an expression, {text[:40]!r}",
                remedy="write out what it stands for; MJCF knows no expressions",
                line=element.line,
            )
        if name in _NAMES or name in REFERENCES or element.tag == "text":
            continue
        if match := _NO_NUMBER.search(text):
            raise reading.findings.refusal(
                Code.BAD_NUMBER,
                f"{element}: {name} holds {match[0][:40]!r}, which is not a usable number",
                remedy="write a finite decimal number such as 0.5 or 1e-3",
                line=element.line,
            )


def _check_place(
    child: Element, parent: Element, known: dict[str, Kind], *, reading: Reading
) -> None:
    kind = known.get(child.tag)
    if kind is None:
        meant = nearest_name(child.tag, known)
        raise reading.findings.refusal(
            Code.UNKNOWN_ELEMENT,
            f"<{child.tag}> has no place in {parent}",
            remedy=f"did you mean <{meant}>?" if meant else "remove it",
            line=child.line,
        )
    if kind.fate is Fate.UNSUPPORTED:
        raise reading.findings.refusal(
            Code.UNSUPPORTED,
            f"<{child.tag}> is not supported, and without it this would be another robot",
            remedy="load and save the file with MuJoCo, which writes plain bodies, or remove it",
            line=child.line,
        )


@cache
def _names(kind: Kind) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Give the words, the numbers and, of those, what is left out."""
    dropped = frozenset(kind.left_out.split())
    return frozenset(kind.words.split()), frozenset(kind.numbers.split()) | dropped, dropped
