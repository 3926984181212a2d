"""Which file an element was written in, so that refusals name the right one."""

from collections.abc import Iterator
from contextlib import contextmanager

from kinetarium.model.findings import MOST_REFUSALS, Findings, RobotFileError
from kinetarium.model.markup import Element


class Origins:
    """Remembers the elements that came from included files."""

    def __init__(self, findings: Findings) -> None:
        """Keep the findings that take refusals."""
        self._findings = findings
        # The element is kept beside its file so that its id stays its own.
        self._files: dict[int, tuple[Element, str]] = {}

    def add(self, tree: Element, file: str) -> None:
        """Note that an element and all below it were written in an included file."""
        for element in tree.walk():
            self._files[id(element)] = (element, file)

    def file(self, element: Element) -> str | None:
        """Return the included file that an element was written in; None for the main file."""
        return self._files[id(element)][1] if id(element) in self._files else None

    def add_copy(self, copy: Element, original: Element) -> None:
        """Note that one element is a copy of another."""
        if id(original) in self._files:
            self._files[id(copy)] = (copy, self._files[id(original)][1])

    @contextmanager
    def at(self, element: Element) -> Iterator[None]:
        """Name the element's file in what is found meanwhile, note a refusal and go on."""
        _, file = self._files.get(id(element), (element, self._findings.file))
        try:
            with self._findings.inside(file):
                yield
        except RobotFileError as error:
            if len(error.refusals) >= MOST_REFUSALS:
                raise  # it holds all that was noted, and nothing may note it twice
            with self._findings.collecting():
                raise
