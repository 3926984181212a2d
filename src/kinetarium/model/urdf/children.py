"""Picking the children of a URDF element: each at most once, none misspelt, the rest noted."""

from collections import Counter
from collections.abc import Collection

from kinetarium.model.findings import Code, Findings
from kinetarium.model.markup import Element
from kinetarium.model.spelling import refuse_misspelt_element

_MECHANICS = ("robot", "link", "joint", "inertial", "visual", "collision", "geometry")
_MOST_CHECKED = 300
_MOST_KINDS = 20
"""Kinds of elements that are listed one by one when they are left out."""


class Children:
    """Hands out the children of elements and counts what is left out."""

    def __init__(self, findings: Findings) -> None:
        """Keep the findings that take refusals and repairs."""
        self.findings = findings
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._lines: dict[tuple[str, str], int] = {}

    def check(
        self, element: Element, known: Collection[str], *, foreign: Collection[str] = ()
    ) -> None:
        """Note the children that are not known; refuse those that look misspelt.

        Args:
            element: The parent.
            known: Tags that are read.
            foreign: Tags that other programs put here; never taken for a misspelling.
        """
        if element.text.strip():
            with self.findings.collecting():
                raise self.findings.refusal(
                    Code.UNKNOWN_ELEMENT,
                    f"{element} holds stray text: {element.text.strip()[:40]!r}",
                    remedy="remove it, or make it a comment",
                    line=element.line,
                )
        for child in element.children:
            if child.tag in known:
                continue
            if child.tag in _MECHANICS:
                with self.findings.collecting():
                    raise self.findings.refusal(
                        Code.UNKNOWN_ELEMENT,
                        f"{child} cannot stand inside {element}",
                        remedy="close the element before it",
                        line=child.line,
                    )
            key = (element.tag, child.tag)
            if key not in self._lines:
                self._lines[key] = child.line
                # A few hundred unknown kinds are another program's, not misspellings of ours.
                checked = len(self._lines) <= _MOST_CHECKED
                if checked and child.tag not in foreign and ":" not in child.tag:
                    with self.findings.collecting():
                        refuse_misspelt_element(child, known, findings=self.findings)
            self._left_out[key] += 1

    def at_most_one(self, element: Element, tag: str) -> Element | None:
        """Give the only child of a tag, or None; a second one is refused."""
        found = element.all(tag)
        if len(found) > 1:
            raise self.findings.refusal(
                Code.DUPLICATE_ELEMENT,
                f"{element} has {len(found)} <{tag}>",
                remedy="keep one",
                line=found[1].line,
            )
        return found[0] if found else None

    def exactly_one(self, element: Element, tag: str) -> Element:
        """Give the only child of a tag; none or two are refused."""
        child = self.at_most_one(element, tag)
        if child is None:
            raise self.findings.refusal(
                Code.MISSING_ELEMENT, f"{element} has no <{tag}>", remedy=f"add <{tag} .../>",
                line=element.line,
            )  # fmt: skip
        return child

    def report(self) -> None:
        """List what was left out, one repair for each kind."""
        kinds = list(self._left_out.items())
        for (parent, tag), count in kinds[:_MOST_KINDS]:
            self.findings.repair(
                Code.UNKNOWN_ELEMENT,
                f"<{parent}>",
                f"left out {count} <{tag}>, which is no part of the robot's mechanics",
                line=self._lines[parent, tag],
            )
        if len(kinds) > _MOST_KINDS:
            more = sum(count for _, count in kinds[_MOST_KINDS:])
            self.findings.repair(
                Code.UNKNOWN_ELEMENT,
                "<robot>",
                f"left out {more} elements of {len(kinds) - _MOST_KINDS} further kinds",
                line=self._lines[kinds[_MOST_KINDS][0]],
            )
