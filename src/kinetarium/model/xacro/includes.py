"""<xacro:include>: other files, inside the allowed roots and without loops."""

import os
from pathlib import Path

from kinetarium.model.findings import Code, RobotFileError
from kinetarium.model.markup import MOST_ELEMENTS, Element
from kinetarium.model.reading import Reading
from kinetarium.model.xacro.place import Place
from kinetarium.model.xacro.values import shown

MOST_DEPTH = 50
"""How deep files may include files."""

MOST_INCLUDES = 1000
"""How often files may be included in all."""


class Includes:
    """Finds and reads the files that a robot file includes, each once."""

    def __init__(self, reading: Reading, *, place: Place) -> None:
        """Start with none.

        Args:
            reading: Finds and reads files.
            place: Where the expansion stands.
        """
        self._reading = reading
        self._place = place
        self._read: dict[Path, Element] = {}
        self._elements = 0
        self._includes = 0
        self.robot_file = Path(os.path.realpath(reading.path))

    def find(self, uri: str, *, including: tuple[Path, ...], optional: bool) -> Path | None:
        """Find an included file.

        Args:
            uri: The file as it is named: relative to the including file, or package://...
            including: The files being included, outermost first.
            optional: Whether one that cannot be found is left out, and listed as a repair.

        Raises:
            RobotFileError: If it is not in the allowed roots, is being included
                already, lies too deep, or is one too many.
        """
        self._includes += 1
        if self._includes > MOST_INCLUDES:
            raise self._place.refusal(
                Code.TOO_LARGE,
                f"more than {MOST_INCLUDES:,} includes",
                remedy="no robot needs that many; define a macro once and call it",
            )
        if any(character in uri for character in "*?["):
            raise self._place.refusal(
                Code.INCLUDE,
                f"include {shown(uri)} is a pattern",
                remedy="include each file by its name",
            )
        line = self._place.line
        try:
            path = self._reading.assets.include(uri, line=line, folder=including[-1].parent)
        except RobotFileError as error:
            if not optional:
                raise
            message = f"left out: {error.refusals[0].message}"
            self._reading.findings.repair(Code.INCLUDE, f"include {shown(uri)}", message, line=line)
            return None
        if path in including:
            loop = [file.name for file in including[including.index(path) :]]
            raise self._place.refusal(
                Code.INCLUDE,
                f"files include one another: {' -> '.join([*loop, path.name])}",
                remedy="remove one of the includes",
            )
        if len(including) > MOST_DEPTH:
            raise self._place.refusal(
                Code.INCLUDE,
                f"includes are more than {MOST_DEPTH} deep",
                remedy="include the files from the robot file itself",
            )
        return path

    def read(self, path: Path) -> Element:
        """Read an included file, once however often it is included.

        Raises:
            RobotFileError: If it cannot be read, or all have too many elements together.
        """
        if path not in self._read:
            root = self._reading.open_markup(path, code=Code.INCLUDE)
            self._elements += sum(1 for _ in root.walk())
            if self._elements > MOST_ELEMENTS:
                raise self._place.refusal(
                    Code.TOO_LARGE,
                    f"the included files have more than {MOST_ELEMENTS:,} elements",
                    remedy="no robot needs that many; include fewer files",
                )
            self._read[path] = root
        return self._read[path]
