"""Where an expansion stands, so that every refusal names its file and line."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kinetarium.model.findings import Code, Findings, RobotFileError


@dataclass(slots=True)
class Place:
    """The line being expanded.

    Attributes:
        findings: Knows the file.
        line: The line in it.
    """

    findings: Findings
    line: int

    @contextmanager
    def at(self, file: str, line: int) -> Iterator[None]:
        """Stand at another line, perhaps of another file, meanwhile."""
        outer, self.line = self.line, line
        try:
            with self.findings.inside(file):
                yield
        finally:
            self.line = outer

    def refusal(self, code: Code, message: str, *, remedy: str) -> RobotFileError:
        """Make the error for a fault at this place, ready to be raised."""
        return self.findings.refusal(code, message, remedy=remedy, line=self.line)
