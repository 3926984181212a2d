"""The check of an MJCF file against the table: nothing unknown, misplaced or malformed.

Every number is checked here, also in omitted attributes and unused defaults: a file
with a NaN in it cannot be trusted.
"""

import re
from collections import Counter
from collections.abc import Sequence

from kinetarium.model.attributes import nearest_name
from kinetarium.model.diagnostics import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.vocabulary.element_rule import (
    Attribute,
    ElementRule,
    LeftOut,
    Treatment,
    attributes_of,
)
from kinetarium.model.mjcf.vocabulary.table import CONTEXTS, ROOT
from kinetarium.model.reading import Reading

MOST_NUMBERS = 1_000_000
"""Greatest count of numbers in one robot file; larger meshes are in separate files."""

_WHOLE = re.compile(r"[+-]?[0-9]+")
_MOST_WHOLE = 2**31 - 1
_NOT_NEGATIVE = {"size": Code.SIZE, "friction": Code.BAD_VALUE}
_SET = re.compile(r"(?P<needed>[\w+]+)(?:\((?P<allowed>[\w+]+)\))?")


_SHARED = ("compiler", "default", "asset")
"""Sections that other elements depend on."""
_REPEATING = ("replicate", "attach")


def check_vocabulary(root: Element, *, reading: Reading, left_out: LeftOut) -> None:
    """Check every element, includes in place: known, well placed, well spelt, finite.

    Faulty attributes are removed and the file is read on, to find its other faults as well,
    unless those would be consequences.
    """
    check = _Check(reading, left_out)
    check.check(root)
    shared = {id(e) for section in root.children if section.tag in _SHARED for e in section.walk()}
    if (
        check.misplaced
        or any(element.tag in _REPEATING for element in check.faulty)
        or shared & {id(element) for element in check.faulty}
    ):
        reading.diagnostics.stop_if_refused()
    for element in check.faulty:
        file = element.file or reading.diagnostics.file
        reading.diagnostics.known_bad.add((file, element.line))


class _Check:
    """Checks one file."""

    def __init__(self, reading: Reading, left_out: LeftOut) -> None:
        self._attributes = reading.attributes
        self._diagnostics = reading.diagnostics
        self._left_out = left_out
        self._numbers = 0
        self.misplaced = False
        self.faulty: list[Element] = []

    def check(self, root: Element) -> None:
        with self._diagnostics.at(root):
            self._check_attributes(root, ROOT)
        pending = [(root, ROOT, Treatment.READ)]
        while pending:
            element, kind, treatment = pending.pop()
            known = CONTEXTS[kind.context]
            count = Counter(child.tag for child in element.children)
            for child in element.children:
                well_placed = False
                with self._diagnostics.at(child):
                    self._check_place(child, element, known)
                    self._check_count(child, element, known[child.tag], count)
                    well_placed = True
                if not well_placed:
                    self.misplaced = True
                    continue
                inner = Treatment.READ
                before = len(self._diagnostics.refusals)
                with self._diagnostics.at(child):
                    inner = self._checked(child, known, treatment)
                if len(self._diagnostics.refusals) > before:
                    self.faulty.append(child)
                pending.append((child, known[child.tag], inner))
                if self._numbers > MOST_NUMBERS:
                    self._refuse_size(child)

    def _checked(
        self, element: Element, known: dict[str, ElementRule], around: Treatment
    ) -> Treatment:
        """Check the attributes of an element; return its treatment."""
        kind = known[element.tag]
        if around is Treatment.LEFT_OUT:
            self._check_attributes(element, kind)
            return around
        if kind.treatment is Treatment.LEFT_OUT:
            self._left_out.add(element.tag, element)
            self._check_attributes(element, kind)
            return kind.treatment
        self._numbers += self._check_attributes(element, kind)
        attributes = attributes_of(kind)
        for name in element.attributes:
            if attributes[name].left_out:
                self._left_out.add_attribute(element, name)
            if name in _NOT_NEGATIVE and any(
                value < 0 for value in self._attributes.numbers(element, name)
            ):
                raise self._diagnostics.refusal(
                    _NOT_NEGATIVE[name], f"{element}: {name} is negative"
                )
        return kind.treatment

    def _check_place(self, child: Element, parent: Element, known: dict[str, ElementRule]) -> None:
        kind = known.get(child.tag)
        if kind is None:
            meant = nearest_name(child.tag, known)
            raise self._diagnostics.refusal(
                Code.UNKNOWN_ELEMENT,
                f"<{child.tag}> is not allowed in {parent}",
                remedy=f"did you mean <{meant}>?" if meant else "remove it",
            )
        if kind.treatment is Treatment.UNSUPPORTED:
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"<{child.tag}> is not supported, and the robot would differ without it",
                remedy="load and save the file with MuJoCo, which writes plain bodies, or remove "
                "it",
            )

    def _check_count(
        self, child: Element, parent: Element, kind: ElementRule, count: Counter[str]
    ) -> None:
        if kind.once and count[child.tag] > 1:
            times, count[child.tag] = count[child.tag], 1  # reported once
            raise self._diagnostics.refusal(
                Code.DUPLICATE_ELEMENT, f"{parent} has {times} <{child.tag}>", remedy="keep one"
            )

    def _check_attributes(self, element: Element, kind: ElementRule) -> int:
        """Check the attributes of an element; return the count of their numbers."""
        known = attributes_of(kind)
        count, invalid = 0, set(element.attributes)
        for name in element.attributes:
            with self._diagnostics.at(element):
                count += self._check_attribute(element, name, known)
                invalid.remove(name)
        if invalid:
            for name in invalid:
                del element.attributes[name]
            return count
        for attribute in known.values():
            if attribute.required:
                self._attributes.text(element, attribute.name)
        self._check_choices(element, kind)
        return count

    def _check_attribute(self, element: Element, name: str, known: dict[str, Attribute]) -> int:
        """Check one attribute of an element; return the count of its numbers."""
        text, attribute = element.attributes[name], known.get(name)
        if attribute is None:
            meant = nearest_name(name, known)
            raise self._diagnostics.refusal(
                Code.UNKNOWN_ELEMENT,
                f"{element} has the unknown attribute {name!r}",
                remedy=f"did you mean {meant!r}?" if meant else "remove it",
            )
        if "${" in text:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: {name} is an expression, {text[:40]!r}",
                remedy="write its value; MJCF has no expressions",
            )
        if attribute.numbers is not None:
            values = self._attributes.numbers(element, name)
            self._check_numbers(element, attribute, values)
            return len(values)
        if attribute.words:
            self._check_words(element, attribute)
        return 0

    def _check_numbers(
        self, element: Element, attribute: Attribute, values: Sequence[float]
    ) -> None:
        assert attribute.numbers is not None
        least, most = attribute.numbers
        if len(values) < least or (most is not None and len(values) > most):
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise self._diagnostics.refusal(
                Code.BAD_NUMBER,
                f"{element}: {attribute.name} has {len(values)} numbers instead of {wanted}",
            )
        words = element.attributes[attribute.name].split()
        if attribute.whole and not (
            all(map(_WHOLE.fullmatch, words)) and all(abs(value) <= _MOST_WHOLE for value in values)
        ):
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: {attribute.name} is {element.attributes[attribute.name][:40]!r}",
                remedy="write an integer of up to 32 bits, without a point or an exponent",
            )

    def _check_words(self, element: Element, attribute: Attribute) -> None:
        text = element.attributes[attribute.name]
        words = text.split() if attribute.several else [text]
        if not words or any(word not in attribute.words for word in words):
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: {attribute.name} is {text[:40]!r}",
                remedy=f"one of {', '.join(attribute.words)}",
            )

    def _check_choices(self, element: Element, kind: ElementRule) -> None:
        """Check the combination of attributes."""
        given = element.attributes.keys()
        for choice in kind.at_most_one_of.split():
            present = [name for name in choice.split("|") if name in given]
            if len(present) > 1:
                what = "two orientations, " if "quat" in choice else "both "
                raise self._diagnostics.refusal(
                    Code.BAD_VALUE,
                    f"{element} has {what}{present[0]} and {present[1]}",
                    remedy="keep one",
                )
        for choice in kind.one_of.split():
            self._check_one_of(element, [_needed_and_allowed(each) for each in choice.split("|")])
        together = set(kind.together.split("+")) if kind.together else set()
        missing = sorted(together - given)
        if missing and missing != sorted(together):
            self._attributes.text(element, missing[0])

    def _check_one_of(self, element: Element, sets: Sequence[tuple[list[str], list[str]]]) -> None:
        """Check that one set of attributes is complete, and no other begun."""
        begun = [
            needed
            for needed, allowed in sets
            if any(name in element.attributes for name in needed + allowed)
        ]
        if len(begun) > 1:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element} has attributes of two kinds, {begun[0][0]} and {begun[1][0]}",
                remedy="keep one",
            )
        if not begun:
            names = " or ".join(" and ".join(needed) for needed, _ in sets)
            raise self._diagnostics.refusal(
                Code.MISSING_ATTRIBUTE, f"{element} has neither {names}"
            )
        for name in begun[0]:
            self._attributes.text(element, name)

    def _refuse_size(self, element: Element) -> None:
        with self._diagnostics.at(element):
            raise self._diagnostics.refusal(
                Code.TOO_LARGE,
                f"more than {MOST_NUMBERS:,} numbers in one robot",
                remedy="put meshes into separate files",
            )
        self._diagnostics.stop_if_refused()


def _needed_and_allowed(written: str) -> tuple[list[str], list[str]]:
    match = _SET.fullmatch(written)
    assert match is not None, written
    return match["needed"].split("+"), match["allowed"].split("+") if match["allowed"] else []
