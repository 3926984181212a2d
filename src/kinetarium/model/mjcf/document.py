"""MjcfDocument: the state shared by the readers of one MJCF file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kinetarium.model.attributes import nearest_name
from kinetarium.model.diagnostics import Allowance, Code, Diagnostics, RobotFileError
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import ORIENTATIONS, Compiler
from kinetarium.model.mjcf.references import near_name
from kinetarium.model.mjcf.vocabulary import ACTUATORS
from kinetarium.model.mjcf.vocabulary.element_rule import LeftOut
from kinetarium.model.reading import Reading
from kinetarium.model.robot import IDENTITY
from kinetarium.spatial.arrays import Array

MAIN = "main"
"""The default class of elements without one."""

_SHARED = {
    **dict.fromkeys(ACTUATORS, "actuator"),
    **dict.fromkeys(("connect", "weld"), "equality"),
    **dict.fromkeys(("fixed", "spatial"), "tendon"),
}
"""Elements that share one set of defaults in a class; others have their own."""

_PARTIAL = ("size", "damping", "stiffness", "gear")
"""Attributes of which only the first numbers may be written."""

Settings = dict[str, dict[str, str]]


class Defaults:
    """The default classes of one file."""

    def __init__(self, sections: Sequence[Element], *, reading: Reading) -> None:
        """Read all top-level <default> sections."""
        self._reading = reading
        self._classes: dict[str, Settings] = {MAIN: {}}
        for section in sections:
            with reading.diagnostics.at(section):
                if (section.attributes.get("class") or MAIN) != MAIN:
                    raise reading.diagnostics.refusal(
                        Code.BAD_VALUE,
                        "the outermost <default> has a class other than 'main'",
                        remedy="put a <default> around it",
                    )
                self._fill(section, MAIN)

    def _fill(self, section: Element, name: str) -> None:
        """Read the settings of a class, then its subclasses, which inherit all of them."""
        settings = self._classes[name]
        nested = section.all("default")
        for child in section.children:
            if child.tag != "default":
                kind = _SHARED.get(child.tag, child.tag)
                settings[kind] = _merged(settings.get(kind, {}), child.attributes)
        for child in nested:
            with self._reading.diagnostics.at(child):
                subclass = self._reading.attributes.name(child, "class")
                if subclass in self._classes:
                    raise self._reading.diagnostics.refusal(
                        Code.DUPLICATE_NAME, f"duplicate default class {subclass!r}"
                    )
                self._classes[subclass] = dict(settings)
                self._fill(child, subclass)

    def check_all(self, root: Element) -> None:
        """Record every element that names an unknown class, omitted elements included."""
        for element in root.walk():
            if element.tag != "default":
                for attribute in ("class", "childclass"):
                    if attribute in element.attributes:
                        with self._reading.diagnostics.at(element):
                            self._check(element.attributes[attribute], element)

    def _check(self, name: str, element: Element) -> None:
        if name not in self._classes:
            meant = nearest_name(name, self._classes)
            raise self._reading.diagnostics.refusal(
                Code.UNKNOWN_NAME,
                f"{element} names the default class {name!r}, which does not exist",
                remedy=f"did you mean {meant!r}?" if meant else "define it in <default>",
            )

    def complete(
        self, element: Element, child_class: str = MAIN, *, kind: str | None = None
    ) -> Element:
        """Return an element with the defaults of its class filled in.

        Args:
            child_class: The class of elements here without one.
            kind: The tag whose defaults to use, if not the element's own.
        """
        name = element.attributes.get("class", child_class)
        # An unknown class of an element that was refused already is not recorded again.
        settings = self._classes.get(name, {}).get(
            kind or _SHARED.get(element.tag, element.tag), {}
        )
        merged = _merged(settings, element.attributes)
        return Element(element.tag, merged, element.line, file=element.file)


def _merged(inherited: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """Override inherited attributes by own ones, as MuJoCo does.

    An orientation replaces an orientation in any notation, and of attributes with a
    variable count of numbers, fewer numbers replace only the first ones.
    """
    merged = {**inherited, **own}
    if any(name in own for name in ORIENTATIONS):
        merged = {k: v for k, v in merged.items() if k in own or k not in ORIENTATIONS}
    for name in _PARTIAL:
        if name in own and name in inherited:
            words, before = own[name].split(), inherited[name].split()
            merged[name] = " ".join(words + before[len(words) :])
    return merged


@dataclass(frozen=True, slots=True)
class MjcfDocument:
    """One MJCF file with its includes, settings and default classes.

    Attributes:
        reading: The file being read.
        left_out: Records elements that a robot model does not have.
        compiler: The compiler settings.
        defaults: The default classes.
    """

    reading: Reading
    left_out: LeftOut
    compiler: Compiler
    defaults: Defaults

    @property
    def diagnostics(self) -> Diagnostics:
        """The diagnostics of the file."""
        return self.reading.diagnostics

    def pose(self, element: Element) -> Array:
        """Return the pose, shape (4, 4), of an element."""
        return self.compiler.pose(element, self.reading)

    def let_pass(
        self, allowance: Allowance, element: Element, fault: str, *, remedy: str, repair: str
    ) -> None:
        """Refuse what is not supported, unless the user allows it; then list the repair.

        Args:
            repair: What is done instead, in the infinitive.
        """
        if allowance not in self.diagnostics.allow:
            raise self.diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: {fault}",
                remedy=f"{remedy}, or pass --lenient {allowance} to {repair}",
            )
        self.diagnostics.repair(
            Code.UNSUPPORTED,
            str(element),
            f"{fault}; asked to {repair}",
            line=element.line,
        )

    def unknown(
        self, element: Element, kind: str, name: str, *, known: Iterable[str]
    ) -> RobotFileError:
        """Return the error for an element that refers to an unknown name."""
        meant = near_name(name, set(known))
        return self.diagnostics.refusal(
            Code.UNKNOWN_NAME,
            f"{element} names the {kind} {name[:80]!r}, which does not exist",
            remedy=f"did you mean {meant!r}?" if meant else f"define the {kind}",
        )

    def interval(
        self, element: Element, *, limited: str, bounds: str
    ) -> tuple[float, float] | None:
        """Return an interval that may be disabled.

        Args:
            element: The element, with its defaults.
            limited: The attribute that is true, false or auto.
            bounds: The attribute with the two ends.

        Returns:
            The ends, the first below the second; None if it is disabled.
        """
        attributes = element.attributes
        choice = attributes.get(limited, "auto")
        lower, upper = self.reading.attributes.vector(element, bounds, 2, default=(0.0, 0.0))
        if choice == "false" or (choice == "auto" and lower == upper == 0):
            return None
        if choice == "auto" and not self.compiler.limits_from_range:
            raise self.diagnostics.refusal(
                Code.LIMITS,
                f"{element} has {bounds} but not {limited}, and autolimits is off",
                remedy=f'write {limited}="true"',
            )
        if lower >= upper:
            raise self.diagnostics.refusal(
                Code.LIMITS,
                f"{element}: {bounds} is reversed, empty or missing",
                remedy="write the lower end first, then the upper",
            )
        return float(lower), float(upper)


@dataclass(frozen=True, slots=True, eq=False)
class PlacedElement:
    """An element of a body, with the pose of the <frame> around it.

    Attributes:
        element: The element.
        X_BF: Pose of the innermost frame around it in the body, shape (4, 4).
        child_class: The default class there.
    """

    element: Element
    X_BF: Array
    child_class: str


def placed_elements(
    element: Element, *, document: MjcfDocument, child_class: str = MAIN, X: Array = IDENTITY
) -> Iterator[PlacedElement]:
    """Yield the child elements of a body or the world, those in frames included.

    Args:
        X: Pose of the element in the body, shape (4, 4).
    """
    name = element.attributes.get("childclass", child_class)
    for child in element.children:
        if child.tag == "frame":
            inner = X @ document.pose(child)
            yield from placed_elements(child, document=document, child_class=name, X=inner)
        else:
            yield PlacedElement(child, X, name)


class Names:
    """Makes names that are not used in the file."""

    def __init__(self, sections: Sequence[Element]) -> None:
        """Record the names of the bodies and joints in the sections."""
        self._taken = {
            (element.tag, element.attributes["name"])
            for section in sections
            for element in section.walk()
            if "name" in element.attributes
        }
        self._used: Counter[tuple[str, str]] = Counter()

    def fresh(self, kind: str, stem: str) -> str:
        """Return a new name: the stem itself if it is free, or the stem and a number."""
        while True:
            self._used[kind, stem] += 1
            number = self._used[kind, stem]
            name = stem if number == 1 else f"{stem}{number}"
            if (kind, name) not in self._taken:
                self._taken.add((kind, name))
                return name
