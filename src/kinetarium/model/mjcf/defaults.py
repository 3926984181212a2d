"""Default classes: what elements say that is not written in them."""

from collections.abc import Sequence

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import ORIENTATIONS
from kinetarium.model.mjcf.origins import Origins
from kinetarium.model.mjcf.vocabulary import ACTUATORS
from kinetarium.model.reading import Reading
from kinetarium.model.spelling import nearest_name

MAIN = "main"
"""The class of elements that name none."""

_SHARED = {
    **dict.fromkeys(ACTUATORS, "actuator"),
    **dict.fromkeys(("connect", "weld"), "equality"),
    **dict.fromkeys(("fixed", "spatial"), "tendon"),
}
"""Elements that share one set of defaults in a class; others have their own."""

_PARTIAL = ("size", "damping", "stiffness", "gear")
"""Attributes of which the first numbers may be given alone."""

Settings = dict[str, dict[str, str]]


class Defaults:
    """The default classes of one file."""

    def __init__(self, sections: Sequence[Element], *, reading: Reading, origins: Origins) -> None:
        """Read all top-level <default> sections.

        Args:
            sections: The sections in file order.
            reading: The file being read.
            origins: Names the file of each element.
        """
        self._reading = reading
        self._origins = origins
        self._classes: dict[str, Settings] = {MAIN: {}}
        for section in sections:
            with origins.at(section):
                if (section.attributes.get("class") or MAIN) != MAIN:
                    raise reading.findings.refusal(
                        Code.BAD_VALUE,
                        "the outermost <default> has a class other than 'main'",
                        remedy="put a <default> around it",
                        line=section.line,
                    )
                self._fill(section, MAIN)

    def _fill(self, section: Element, name: str) -> None:
        """Take the settings of a class first, for its subclasses begin with all of them."""
        settings = self._classes[name]
        nested = section.all("default")
        for child in section.children:
            if child.tag != "default":
                kind = _SHARED.get(child.tag, child.tag)
                settings[kind] = _merged(settings.get(kind, {}), child.attributes)
        for child in nested:
            with self._origins.at(child):
                subclass = self._reading.attributes.name(child, "class")
                if subclass in self._classes:
                    raise self._reading.findings.refusal(
                        Code.DUPLICATE_NAME,
                        f"two default classes are named {subclass!r}",
                        line=child.line,
                    )
                self._classes[subclass] = dict(settings)
                self._fill(child, subclass)

    def check_all(self, root: Element) -> None:
        """Note every element that asks for a class which does not exist, left out or not."""
        for element in root.walk():
            if element.tag != "default":
                for attribute in ("class", "childclass"):
                    if attribute in element.attributes:
                        with self._origins.at(element):
                            self.check(element.attributes[attribute], element)

    def check(self, name: str, element: Element) -> str:
        """Give back the name of a class that an element asks for.

        Raises:
            RobotFileError: If there is no such class.
        """
        if name not in self._classes:
            meant = nearest_name(name, self._classes)
            raise self._reading.findings.refusal(
                Code.UNKNOWN_NAME,
                f"{element} names the default class {name!r}, which does not exist",
                remedy=f"did you mean {meant!r}?" if meant else "define it in <default>",
                line=element.line,
            )
        return name

    def complete(self, element: Element, child_class: str = MAIN, *, kind: str = "") -> Element:
        """Give an element with what its class says of it filled in.

        Args:
            element: The element as written.
            child_class: The class of elements here that name none.
            kind: Whose defaults to take, if not those of the element's tag.
        """
        name = self.check(element.attributes.get("class", child_class), element)
        settings = self._classes[name].get(kind or _SHARED.get(element.tag, element.tag), {})
        return Element(element.tag, _merged(settings, element.attributes), element.line)


def _merged(inherited: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """Let own attributes override inherited ones as MuJoCo does.

    An orientation replaces an orientation however it is written, and where an
    attribute may hold more or fewer numbers, fewer replace only the first ones.
    """
    merged = {**inherited, **own}
    if any(name in own for name in ORIENTATIONS):
        merged = {k: v for k, v in merged.items() if k in own or k not in ORIENTATIONS}
    for name in _PARTIAL:
        if name in own and name in inherited:
            words, before = own[name].split(), inherited[name].split()
            merged[name] = " ".join(words + before[len(words) :])
    return merged
