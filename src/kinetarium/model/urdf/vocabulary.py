"""The elements and attributes of URDF, and strict access to the children of an element."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kinetarium.model.attributes import extends, is_one_edit_apart, nearest_name, shares_a_word
from kinetarium.model.diagnostics import Allowance, Code, Diagnostics, RobotFileError
from kinetarium.model.markup import Element


@dataclass(frozen=True)
class ElementRule:
    """The attributes and children that an element may have.

    Attributes:
        required: Required attributes.
        optional: Optional attributes.
        children: Child elements that are read.
        foreign: Child elements of other programs; they are omitted and listed.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The attributes it may have."""
        return self.required + self.optional


SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
MIRRORED = {"iyx": "ixy", "izx": "ixz", "izy": "iyz"}
"""Products of inertia that some programs write twice."""
MOTION_LIMITS = ("acceleration", "deceleration", "jerk")
"""Limits of URDF 1.2 that no study uses."""

_GEOMETRY_OWNER = ElementRule(
    optional=("name",),
    children=("origin", "geometry", "material"),
    foreign=("surface", "contact_coefficients", "max_contacts", "color", "texture"),
)

ELEMENT_RULES = {
    "robot": ElementRule(
        required=("name",),
        optional=("version",),
        children=("link", "joint", "material"),
        foreign=("group",),
    ),
    "link": ElementRule(
        required=("name",),
        children=("inertial", "visual", "collision"),
        foreign=(
            "contact", "collision_checking", "self_collision_checking", "self_collision",
            "self_filter", "material", "surface", "mask",
        ),
    ),
    "inertial": ElementRule(children=("origin", "mass", "inertia")),
    "origin": ElementRule(optional=("xyz", "rpy", "quat_xyzw")),
    "mass": ElementRule(required=("value",)),
    "inertia": ElementRule(required=MOMENTS, optional=tuple(MIRRORED)),
    "visual": _GEOMETRY_OWNER,
    "collision": _GEOMETRY_OWNER,
    "geometry": ElementRule(children=SHAPES, foreign=("material", "plane", "cdf")),
    "box": ElementRule(required=("size",)),
    "cylinder": ElementRule(required=("radius", "length")),
    "sphere": ElementRule(required=("radius",)),
    "capsule": ElementRule(required=("radius", "length")),
    "mesh": ElementRule(required=("filename",), optional=("scale",)),
    "joint": ElementRule(
        required=("name", "type"),
        children=("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
        foreign=("calibration", "safety_controller", "hardwareInterface", "joint_properties"),
    ),
    "parent": ElementRule(required=("link",)),
    "child": ElementRule(required=("link",)),
    "axis": ElementRule(required=("xyz",)),
    "limit": ElementRule(optional=("lower", "upper", "effort", "velocity", *MOTION_LIMITS)),
    "dynamics": ElementRule(optional=("damping", "friction", "armature")),
    "mimic": ElementRule(required=("joint",), optional=("multiplier", "offset")),
}  # fmt: skip
"""By tag; elements that only affect appearance (materials, colours) are not listed."""

FOREIGN_ANYWHERE = frozenset(
    ("gazebo", "transmission", "sensor", "ros2_control", "mujoco", "drake", "plugin", "verbose")
)
"""Elements of other programs, allowed anywhere with any content."""

_INCLUDE = ("an include, which URDF does not have", "write <xacro:include filename=.../>")
NOT_READ = {
    "loop_joint": ("a joint that closes a loop, which URDF does not have", "write it as MJCF"),
    "deformable": ("a deformable body, which is not supported", "remove it"),
    "include": _INCLUDE,
    "xi:include": _INCLUDE,
}
"""Elements that are part of the mechanics in other formats, and what to do about them."""

_COMMON_ATTRIBUTES = frozenset(("name", "version", "type", "link", "joint", "value", "filename"))
_OTHER_FORMATS = frozenset(
    (
        "pos", "position", "pose", "translation", "quat", "quaternion", "orientation", "rotation",
        "euler", "axisangle", "roll", "pitch", "yaw", "angle", "x", "y", "z", "mass", "inertia",
        "com", "center_of_mass", "axis", "limit", "range", "min", "max", "low", "high", "unit",
        "units", "degrees", "deg", "radians",
    )
)  # fmt: skip

MECHANICAL_NAMES = _OTHER_FORMATS | frozenset(
    name
    for kind in ELEMENT_RULES.values()
    for name in kind.attributes
    if name not in _COMMON_ATTRIBUTES
)
"""Words for poses, motion and mass, here or in other formats."""


_MOST_CHECKED = 300
"""How many unknown names are compared with known ones; more are those of another program."""
_MOST_KINDS = 20
"""How many kinds of omitted elements and attributes are listed one by one."""
_SILENT_PREFIXES = ("xmlns", "xml:", "xsi:")
_DEFINING = {"link": ("inertial", "visual", "collision"), "joint": ("parent", "child")}
"""What makes a <link> or <joint> a definition rather than a mention."""


class Children:
    """Finds the children of elements and counts those that are omitted.

    Omitted elements are listed; mechanics that would be lost with them (in the
    wrong place, or misspelt) is refused.
    """

    def __init__(self, diagnostics: Diagnostics) -> None:
        """Keep the diagnostics for refusals and repairs."""
        self.diagnostics = diagnostics
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._lines: dict[tuple[str, str], int] = {}
        self._meant: dict[tuple[str, str, tuple[str, ...]], str | None] = {}

    def check(self, element: Element) -> None:
        """Check the attributes and the tags of the children of an element; record every fault."""
        for fault in self._faults(element):
            with self.diagnostics.collecting():
                raise fault

    def at_most_one(self, element: Element, tag: str) -> Element | None:
        """Return the only child of a tag, checked, or None; a second one is refused."""
        found = element.all(tag)
        if len(found) > 1:
            raise self.diagnostics.refusal(
                Code.DUPLICATE_ELEMENT,
                f"{element} has {len(found)} <{tag}>",
                remedy="keep one",
                line=found[1].line,
            )
        if not found:
            return None
        faults = list(self._faults(found[0])) if tag in ELEMENT_RULES else []
        if faults:
            raise RobotFileError(*(refusal for fault in faults for refusal in fault.refusals))
        return found[0]

    def exactly_one(self, element: Element, tag: str) -> Element:
        """Return the only child of a tag, checked; a missing or second one is refused."""
        child = self.at_most_one(element, tag)
        if child is None:
            raise self.diagnostics.refusal(
                Code.MISSING_ELEMENT, f"{element} has no <{tag}>", remedy=f"add <{tag} .../>",
                line=element.line,
            )  # fmt: skip
        return child

    def leave_out_attributes(self, element: Element, *names: str) -> None:
        """Record attributes that were checked but are not used."""
        for name in names:
            if name in element.attributes:
                self._leave_out(element, name, element.line)

    def report(self) -> None:
        """List the omitted elements and attributes, one repair for each kind."""
        kinds = list(self._left_out.items())
        for (parent, what), count in kinds[:_MOST_KINDS]:
            message = f"omitted {count} {what}, not part of the robot's mechanics"
            if not what.startswith("<"):
                message = f"omitted {count} attributes {what!r}, which are not used"
            self.diagnostics.repair(
                Code.UNKNOWN_ELEMENT, f"<{parent}>", message, line=self._lines[parent, what]
            )
        if len(kinds) > _MOST_KINDS:
            more = sum(count for _, count in kinds[_MOST_KINDS:])
            self.diagnostics.repair(
                Code.UNKNOWN_ELEMENT,
                "<robot>",
                f"omitted {more} elements and attributes of {len(kinds) - _MOST_KINDS} more kinds",
                line=self._lines[kinds[_MOST_KINDS][0]],
            )

    def _faults(self, element: Element) -> Iterable[RobotFileError]:
        kind = ELEMENT_RULES[element.tag]
        stray = element.text.strip()
        unknown = [name for name in element.attributes if name not in kind.attributes]
        others = [child for child in element.children if child.tag not in kind.children]
        if stray or unknown or others:
            return self._find_faults(element, kind, stray, unknown, others)
        return ()

    def _find_faults(
        self,
        element: Element,
        kind: ElementRule,
        stray: str,
        unknown: Sequence[str],
        others: Sequence[Element],
    ) -> Iterator[RobotFileError]:
        file = element.file or self.diagnostics.file
        if stray:
            line = element.text_line or element.line
            with self.diagnostics.within(element.text_file or file, line):
                if Allowance.STRAY_TEXT in self.diagnostics.allow:
                    self.diagnostics.repair(
                        Code.UNKNOWN_ELEMENT,
                        str(element),
                        f"omitted stray text: {stray[:40]!r}",
                        line=line,
                    )
                else:
                    yield self.diagnostics.refusal(
                        Code.UNKNOWN_ELEMENT,
                        f"{element} contains stray text: {stray[:40]!r}",
                        remedy="remove it, make it a comment, or pass --lenient stray-text",
                    )
        for name in unknown:
            if not name.startswith(_SILENT_PREFIXES):
                with self.diagnostics.within(file, element.line):
                    fault = self._attribute_fault(element, name, kind)
                if fault:
                    yield fault
        for child in others:
            with self.diagnostics.within(child.file or self.diagnostics.file, child.line):
                fault = self._child_fault(element, child, kind)
            if fault:
                yield fault

    def _attribute_fault(
        self, element: Element, name: str, kind: ElementRule
    ) -> RobotFileError | None:
        """Return the error for an attribute that is invalid in the element, or record it."""
        meant = self._meant_attribute(element, name, kind)
        if meant:
            return self.diagnostics.refusal(
                Code.UNKNOWN_ELEMENT,
                f"{element} has the unknown attribute {name!r}",
                remedy=f"did you mean {meant!r}?",
            )
        if name.lower() in MECHANICAL_NAMES and not _is_zero(element.attributes[name]):
            known = ", ".join(kind.attributes)
            return self.diagnostics.refusal(
                Code.UNKNOWN_ELEMENT,
                f"{element} has the attribute {name!r}, which is invalid there",
                remedy=f"it takes {known}" if known else "it takes no attributes",
            )
        self._leave_out(element, name, element.line)
        return None

    def _child_fault(
        self, element: Element, child: Element, kind: ElementRule
    ) -> RobotFileError | None:
        """Return the error for a child that is invalid in the element, or record it."""
        tag = child.tag
        if tag in NOT_READ:
            what, remedy = NOT_READ[tag]
            return self.diagnostics.refusal(Code.UNSUPPORTED, f"{child} is {what}", remedy=remedy)
        if tag not in kind.foreign and tag not in FOREIGN_ANYWHERE and ":" not in tag:
            if tag in ELEMENT_RULES and not _places_nothing(child):
                return self.diagnostics.refusal(
                    Code.UNKNOWN_ELEMENT,
                    f"{child} cannot be inside {element}",
                    remedy=_right_place(tag),
                )
            meant = self._meant_element(element, child, kind)
            if meant:
                return self.diagnostics.refusal(
                    Code.UNKNOWN_ELEMENT,
                    f"unknown element <{tag}>",
                    remedy=f"did you mean <{meant}>?",
                )
            if tag.lower() in MECHANICAL_NAMES:
                known = ", ".join(f"<{other}>" for other in kind.children)
                return self.diagnostics.refusal(
                    Code.UNKNOWN_ELEMENT,
                    f"{child} is invalid inside {element}",
                    remedy=f"it takes {known}" if known else "it takes no elements",
                )
            inside = _definition_inside(child)
            if inside:
                return self.diagnostics.refusal(
                    Code.UNKNOWN_ELEMENT,
                    f"{inside} is inside the unknown element {child}",
                    remedy=f"{_right_place(inside.tag)}, and not inside <{tag}>",
                    line=inside.line,
                )
        self._leave_out(element, f"<{tag}>", child.line)
        return None

    def _meant_attribute(self, element: Element, name: str, kind: ElementRule) -> str | None:
        """Find the optional attribute nearest to a misspelt one.

        A missing required attribute is reported by the readers, with the misspelt one.
        """
        absent = tuple(other for other in kind.optional if other not in element.attributes)
        key = (element.tag, name, absent)
        if ":" in name or not self._is_worth_comparing(key):
            return None
        if key not in self._meant:
            there = [other for other in kind.attributes if other in element.attributes]
            alike = [other for other in (*there, *absent) if is_one_edit_apart(name, other)]
            alike += [other for other in absent if extends(name, other)]
            self._meant[key] = nearest_name(name, [*absent, *alike]) or next(iter(alike), None)
        return self._meant[key]

    def _meant_element(self, element: Element, child: Element, kind: ElementRule) -> str | None:
        """Find the element nearest to a misspelt one, valid here or elsewhere."""
        key = (element.tag, child.tag, kind.children)
        if child.tag in ELEMENT_RULES or not self._is_worth_comparing(key):
            return None
        if key not in self._meant:
            meant = nearest_name(child.tag, kind.children)
            meant = meant or next(
                (other for other in ELEMENT_RULES if is_one_edit_apart(child.tag, other)), None
            )
            # self_collision belongs to another program and is not a misspelt collision.
            self._meant[key] = None if meant and shares_a_word(child.tag, meant) else meant
        return self._meant[key]

    def _is_worth_comparing(self, key: tuple[str, str, tuple[str, ...]]) -> bool:
        return key in self._meant or len(self._meant) < _MOST_CHECKED

    def _leave_out(self, element: Element, what: str, line: int) -> None:
        key = (element.tag, what)
        self._lines.setdefault(key, line)
        self._left_out[key] += 1


def _right_place(tag: str) -> str:
    owners = [f"<{owner}>" for owner, kind in ELEMENT_RULES.items() if tag in kind.children]
    return f"put it directly into {' or '.join(owners)}" if owners else "close the element before"


def _is_zero(text: str) -> bool:
    """Return whether a text consists of zeros, which have no effect anywhere."""
    try:
        return not any(float(word) for word in text.split())
    except ValueError:
        return False


def _places_nothing(element: Element) -> bool:
    """Return whether an element is an <origin> that is the identity."""
    numbers = element.attributes.values()
    return element.tag == "origin" and not element.children and all(map(_is_zero, numbers))


def _definition_inside(element: Element) -> Element | None:
    """Find a link or joint that would be lost with an unknown element."""
    for inner in element.walk():
        if inner.tag == "inertial":
            return inner
        if any(child.tag in _DEFINING.get(inner.tag, ()) for child in inner.children):
            return inner
    return None
