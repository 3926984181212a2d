"""Picking the children of a URDF element: each at most once, none misspelt, the rest noted."""

from collections import Counter
from collections.abc import Collection

from kinetarium.model.findings import Code, Findings
from kinetarium.model.markup import Element
from kinetarium.model.spelling import refuse_misspelt_element


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
        for child in element.children:
            if child.tag in known:
                continue
            if child.tag not in foreign and ":" not in child.tag:
                with self.findings.collecting():
                    refuse_misspelt_element(child, known, findings=self.findings)
            key = (element.tag, child.tag)
            self._left_out[key] += 1
            self._lines.setdefault(key, child.line)

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
        for (parent, tag), count in self._left_out.items():
            self.findings.repair(
                Code.UNKNOWN_ELEMENT,
                f"<{parent}>",
                f"left out {count} <{tag}>, which is no part of the robot's mechanics",
                line=self._lines[parent, tag],
            )
