"""Included files put in their places."""

import os
from pathlib import Path

from kinetarium.model.findings import Code, RobotFileError
from kinetarium.model.markup import MOST_DEPTH, MOST_ELEMENTS, Element
from kinetarium.model.mjcf.origins import Origins
from kinetarium.model.reading import Reading


def include_files(root: Element, *, reading: Reading, origins: Origins) -> None:
    """Replace every <include> by what its file holds.

    Args:
        root: The root of the main file, changed in place.
        reading: The file being read; includes come from its folder or an allowed root.
        origins: Takes note of where elements come from.

    Raises:
        RobotFileError: If a file cannot be included, comes twice (and so also
            if it includes itself), or the whole is too large.
    """
    seen = {Path(os.path.realpath(reading.path))}
    elements = sum(1 for _ in root.walk())
    pending = [(root, 1)]
    while pending:
        parent, depth = pending.pop()
        if depth > MOST_DEPTH:
            raise _too_large(f"more than {MOST_DEPTH} levels of nesting", parent, reading)
        waiting, children = parent.children[::-1], []
        while waiting:
            child = waiting.pop()
            if child.tag != "include":
                children.append(child)
                continue
            with origins.at(child):
                content = _content(child, seen=seen, reading=reading, origins=origins)
                waiting.extend(reversed(content))
                elements += sum(1 for element in content for _ in element.walk())
                if elements > MOST_ELEMENTS:
                    raise _too_large(f"more than {MOST_ELEMENTS:,} elements", child, reading)
            reading.findings.stop_if_refused()
        parent.children = children
        pending.extend((child, depth + 1) for child in children)


def _content(
    element: Element, *, seen: set[Path], reading: Reading, origins: Origins
) -> list[Element]:
    uri = reading.attributes.name(element, "file")
    if element.children:
        raise reading.findings.refusal(
            Code.INCLUDE, f"include {uri!r} has elements of its own inside", line=element.line,
            remedy="put them beside it",
        )  # fmt: skip
    folder = reading.path.parent
    try:
        path = reading.assets.include(uri, line=element.line)
    except RobotFileError:
        # What is not beside the main file may be beside the file that asks for it.
        folder = Path(origins.file(element) or reading.path).parent
        if folder == reading.path.parent:
            raise
        path = reading.assets.include(uri, line=element.line, folder=folder)
    if path in seen:
        raise reading.findings.refusal(
            Code.INCLUDE,
            f"include {uri!r} comes a second time, or includes itself",
            remedy="include each file once",
            line=element.line,
        )
    seen.add(path)
    file = str(folder / uri)
    with reading.findings.inside(file):
        root = reading.open_markup(path, code=Code.INCLUDE)
    if not root.children:
        raise reading.findings.refusal(
            Code.INCLUDE, f"include {uri!r} holds nothing", line=element.line
        )
    for child in root.children:
        origins.add(child, file)
    return root.children


def _too_large(what: str, element: Element, reading: Reading) -> RobotFileError:
    return reading.findings.refusal(
        Code.TOO_LARGE,
        f"{what} with everything included",
        remedy="no robot needs that many; simplify the file",
        line=element.line,
    )
