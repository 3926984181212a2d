"""Limits on the work and the size of one expansion, so that a small file cannot explode."""

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.markup import MOST_ELEMENTS, Element

MOST_STEPS = 1_000_000
"""Source elements, attributes and nodes of expressions processed; a few CPU seconds."""

MOST_CHARACTERS = 64 * 2**20
"""The size of the expanded text, intermediate texts included."""


class Budget:
    """Counts the work, elements and characters of one expansion and stops it at the limits."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        """Start with nothing used."""
        self._diagnostics = diagnostics
        self._steps = 0
        self._elements = 0
        self._characters = 0

    def spend(self, steps: int = 1) -> None:
        """Count steps of work."""
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise self._exhausted(f"more than {MOST_STEPS:,} steps")

    def make_element(self, element: Element) -> None:
        """Count an element of the result, its attributes and its text."""
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise self._exhausted(f"more than {MOST_ELEMENTS:,} elements")
        self.make_text(len(element.tag) + len(element.text))
        self.make_text(sum(len(name) + len(text) for name, text in element.attributes.items()))

    def make_text(self, characters: int) -> None:
        """Count characters of the result."""
        self._characters += characters
        if self._characters > MOST_CHARACTERS:
            raise self._exhausted(f"more than {MOST_CHARACTERS // 2**20} Mi characters")

    def _exhausted(self, what: str) -> RobotFileError:
        return self._diagnostics.refusal(
            Code.TOO_LARGE,
            f"expanding the xacro takes {what}",
            remedy="look for macros that call each other without end",
        )
