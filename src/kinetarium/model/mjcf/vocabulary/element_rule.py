"""ElementRule: the attributes and children of an MJCF element, in the notation of the table.

Attributes are words separated by blanks, in any order:

    name          any text
    pos:3         three numbers
    size:1-3      one to three numbers
    user:0-       any count of numbers
    group:i1      one whole number
    limited:auto  one of a set of words, here the set named "auto"
    output:image+ one or several words of a set
    !mass:1       one number, required
"""

import re
from collections import Counter
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from kinetarium.model.diagnostics import Code, Diagnostics
from kinetarium.model.markup import Element

CHOICES = {
    "flag": ("true", "false"),
    "auto": ("true", "false", "auto"),
    "unless": ("false", "auto"),
    "switch": ("enable", "disable"),
    "angle": ("degree", "radian"),
    "coordinate": ("local", "global"),
    "conflict": ("warning", "merge", "error"),
    "passthrough": ("none",),
    "lengthrange": ("none", "muscle", "muscleuser", "all"),
    "integrator": ("Euler", "RK4", "implicit", "implicitfast", "discrete"),
    "cone": ("pyramidal", "elliptic"),
    "jacobian": ("dense", "sparse", "auto"),
    "solver": ("PGS", "CG", "Newton"),
    "sleep": ("auto", "never", "allowed", "init"),
    "joint": ("free", "ball", "slide", "hinge"),
    "shape": (
        "plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf",
    ),
    "fluid": ("none", "ellipsoid"),
    "inertia": ("convex", "exact", "legacy", "shell"),
    "builtin": (
        "none", "sphere", "hemisphere", "cone", "supertorus", "supersphere", "wedge", "plate",
        "ellipsoid", "cylinder", "box",
    ),
    "texture": ("2d", "cube", "skybox"),
    "pattern": ("none", "gradient", "checker", "flat"),
    "mark": ("none", "edge", "cross", "random"),
    "colorspace": ("auto", "linear", "sRGB"),
    "role": (
        "rgb", "occlusion", "roughness", "metallic", "normal", "opacity", "emissive", "rgba", "orm",
    ),
    "view": ("fixed", "track", "trackcom", "targetbody", "targetbodycom"),
    "projection": ("perspective", "orthographic"),
    "image": ("rgb", "depth", "distance", "normal", "segmentation"),
    "light": ("spot", "directional", "point", "image"),
    "interpolation": ("zoh", "linear", "cubic"),
    "dynamics": (
        "none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "pid", "user",
    ),
    "gain": ("fixed", "affine", "muscle", "dcmotor", "so3", "pid", "user"),
    "bias": ("none", "affine", "muscle", "dcmotor", "so3", "user"),
    "input": ("none", "expmap", "quat", "pos", "vel", "ff", "voltage"),
    "object": ("body", "xbody", "geom", "site", "camera"),
    "ray": ("dist", "dir", "origin", "point", "normal", "depth"),
    "contact": ("found", "force", "torque", "dist", "pos", "normal", "tangent"),
    "reduction": ("none", "mindist", "maxforce", "netforce"),
    "data": ("real", "positive", "axis", "quaternion"),
    "stage": ("none", "pos", "vel", "acc"),
}  # fmt: skip
"""The sets of valid words of attributes, by their names in the table."""

_WRITTEN = re.compile(
    r"(?P<required>!?)(?P<name>\w+)"
    r"(?::(?:(?P<whole>i?)(?P<least>\d+)(?P<dash>-?)(?P<most>\d*)|(?P<choice>[a-z]+)(?P<list>\+?)))?"
)


class Treatment(Enum):
    """Whether an element is read, omitted or refused."""

    READ = auto()
    LEFT_OUT = auto()
    UNSUPPORTED = auto()


@dataclass(frozen=True, slots=True)
class Attribute:
    """The valid values of an attribute.

    Attributes:
        name: Its name.
        numbers: Least and greatest count of numbers, None for no maximum; None for words.
        whole: Whether its numbers are integers.
        words: The valid words; empty if any text is valid.
        several: Whether it may have several of the words.
        required: Whether it is required.
        left_out: Whether it is checked and omitted.
    """

    name: str
    numbers: tuple[int, int | None] | None = None
    whole: bool = False
    words: tuple[str, ...] = ()
    several: bool = False
    required: bool = False
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class ElementRule:
    """The attributes and children that an element may have.

    Attributes:
        attributes: Its attributes, in the short notation.
        left_out: Attributes that are checked and omitted, likewise.
        context: Which elements may be inside it, as a key of the contexts.
        treatment: Whether it is read, omitted or refused.
        once: Whether it may occur only once among its siblings.
        one_of: Sets of attributes of which exactly one must be complete and no other begun:
            those of a set are joined by "+", sets separated by "|", choices by blanks.
            Optional attributes of a set are in parentheses.
        at_most_one_of: Attributes that exclude each other, likewise.
        together: Attributes that must all be present or all be missing, joined by "+".
    """

    attributes: str = ""
    left_out: str = ""
    context: str = "nothing"
    treatment: Treatment = Treatment.READ
    once: bool = False
    one_of: str = ""
    at_most_one_of: str = ""
    together: str = ""


@cache
def attributes_of(kind: ElementRule) -> dict[str, Attribute]:
    """Return the attributes of an element by their names."""
    kept = [_attribute(written, left_out=False) for written in kind.attributes.split()]
    dropped = [_attribute(written, left_out=True) for written in kind.left_out.split()]
    return {attribute.name: attribute for attribute in kept + dropped}


def _attribute(written: str, *, left_out: bool) -> Attribute:
    match = _WRITTEN.fullmatch(written)
    assert match is not None, written
    numbers = None
    if match["least"]:
        least = int(match["least"])
        most = least if not match["dash"] else int(match["most"]) if match["most"] else None
        numbers = (least, most)
    return Attribute(
        name=match["name"],
        numbers=numbers,
        whole=bool(match["whole"]),
        words=CHOICES[match["choice"]] if match["choice"] else (),
        several=bool(match["list"]),
        required=bool(match["required"]),
        left_out=left_out,
    )


_WHY = {
    "geom": "contact properties belong to the scene",
    "joint": "softness belongs to the engine",
    "connect": "softness belongs to the engine",
    "weld": "softness belongs to the engine",
    "equality": "softness belongs to the engine",
    "option": "simulation options belong to the scene",
    "flag": "simulation options belong to the scene",
    "visual": "the view belongs to the viewer",
    "statistic": "the view belongs to the viewer",
    "light": "lights belong to the viewer",
    "camera": "cameras belong to the scene",
    "texture": "only plain colours are kept",
    "layer": "only plain colours are kept",
    "sensor": "sensors belong to the scene",
    "keyframe": "states belong to the study",
    "exclude": "collision filters belong to the scene",
    "hfield": "terrain belongs to the scene",
    "ground": "terrain belongs to the scene",
    "world geom": "fixed surroundings belong to the scene",
    "world body": "fixed surroundings belong to the scene",
    "other body": "bodies that move beside the robot belong to the scene",
    "part of other bodies": "it acts on bodies beside the robot",
    "mocap body": "mocap bodies belong to the scene",
    "weld to a mocap body": "motion from outside belongs to the controller",
    "actuator": "only effort limits are kept, gains belong to the controller",
    "tendon": "it transmits no force but an actuator's",
    "free body's alignment": "the base frame stays as in the file",
    "base pose": "the scene places the robot",
    "inactive equality": "it has no effect",
}


class LeftOut:
    """Counts omitted elements and attributes, for one repair of each kind."""

    def __init__(self) -> None:
        """Start with none."""
        self._count: Counter[str] = Counter()
        self._first: dict[str, Element] = {}
        self._attributes: dict[str, dict[str, Element]] = {}

    def add(self, what: str, element: Element) -> None:
        """Record an omission: an element and its tag or role."""
        self._count[what] += 1
        self._first.setdefault(what, element)

    def add_attribute(self, element: Element, name: str) -> None:
        """Record the omission of an attribute."""
        self._attributes.setdefault(element.tag, {}).setdefault(name, element)

    def report(self, diagnostics: Diagnostics) -> None:
        """List the omissions as repairs."""
        for what, count in self._count.items():
            times = f"{count} omitted" if count > 1 else "omitted"
            self._say(what, times, self._first[what], diagnostics)
        for tag, names in self._attributes.items():
            first = min(names.values(), key=lambda element: (element.file, element.line))
            self._say(tag, f"{', '.join(names)} omitted", first, diagnostics)

    @staticmethod
    def _say(what: str, message: str, element: Element, diagnostics: Diagnostics) -> None:
        why = _WHY.get(what, "not part of the robot's mechanics")
        with diagnostics.at(element):
            diagnostics.repair(Code.UNSUPPORTED, what, f"{message}: {why}", line=element.line)
