"""Names for what the file leaves unnamed."""

from collections import Counter
from collections.abc import Sequence

from kinetarium.model.markup import Element


class Names:
    """Gives names that nothing in the file has."""

    def __init__(self, sections: Sequence[Element]) -> None:
        """Note the names that the bodies and joints below the sections have."""
        self._taken = {
            (element.tag, element.attributes["name"])
            for section in sections
            for element in section.walk()
            if "name" in element.attributes
        }
        self._used: Counter[tuple[str, str]] = Counter()

    def fresh(self, kind: str, stem: str) -> str:
        """Give a new name: the stem itself where it is free, or the stem and a number.

        Args:
            kind: What the name is for, as the tag of its element.
            stem: What the name begins with.
        """
        while True:
            self._used[kind, stem] += 1
            number = self._used[kind, stem]
            name = stem if number == 1 else f"{stem}{number}"
            if (kind, name) not in self._taken:
                self._taken.add((kind, name))
                return name
