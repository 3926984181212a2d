"""Rewriting of a file before it is read: includes, older dialects and replicas."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinetarium.model.diagnostics import Allowance, Code, RobotFileError
from kinetarium.model.markup import MOST_DEPTH, MOST_ELEMENTS, Element
from kinetarium.model.mjcf.compiler import Compiler, InertiaSource
from kinetarium.model.mjcf.references import NAMES_ONLY, REFERENCES, named_elements
from kinetarium.model.reading import Reading
from kinetarium.spatial.rotation import quaternion_from_rotation


def include_files(root: Element, *, reading: Reading) -> None:
    """Replace every <include> by the content of its file.

    Args:
        root: The root of the main file, changed in place.
        reading: The file being read; includes come from its folder or an allowed root.
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
            with reading.diagnostics.at(child):
                content = _content(child, seen=seen, reading=reading)
                waiting.extend(reversed(content))
                elements += sum(1 for element in content for _ in element.walk())
                if elements > MOST_ELEMENTS:
                    raise _too_large(f"more than {MOST_ELEMENTS:,} elements", child, reading)
            reading.diagnostics.stop_if_refused()
        parent.children = children
        pending.extend((child, depth + 1) for child in children)


def _content(element: Element, *, seen: set[Path], reading: Reading) -> list[Element]:
    uri = reading.attributes.name(element, "file")
    if element.children:
        raise reading.diagnostics.refusal(
            Code.INCLUDE, f"include {uri!r} has child elements", remedy="put them beside it"
        )
    folder = reading.path.parent
    try:
        path = reading.assets.include(uri, line=element.line)
    except RobotFileError:
        # A file that is not beside the main file may be beside the including file.
        folder = Path(element.file or reading.path).parent
        if folder == reading.path.parent:
            raise
        path = reading.assets.include(uri, line=element.line, folder=folder)
    if path in seen:
        raise reading.diagnostics.refusal(
            Code.INCLUDE,
            f"include {uri!r} is a duplicate, or includes itself",
            remedy="include each file once",
        )
    seen.add(path)
    file = str(folder / uri)
    with reading.diagnostics.within(file, None):
        root = reading.open_markup(path, code=Code.INCLUDE)
    if not root.children:
        raise reading.diagnostics.refusal(Code.INCLUDE, f"include {uri!r} is empty")
    for inner in root.walk():
        inner.file = file
    return root.children


def _too_large(what: str, element: Element, reading: Reading) -> RobotFileError:
    return reading.diagnostics.refusal(
        Code.TOO_LARGE, f"{what} with all includes", remedy="simplify the file", line=element.line
    )


# What earlier versions of MuJoCo and Bullet's reader accept beyond the format. Only what has one
# meaning is accepted; anything else is left for the check of the vocabulary.

FORMER = {
    "option": ("collision", "mpr_iterations", "mpr_tolerance", "apirate"),
    "flag": ("sensornoise", "passive"),
    "compiler": ("convexhull",),
}
"""Attributes of MuJoCo 2.3.3 that 3.17 does not have, and that are not mechanics of a robot."""

_FIXED = "fixed"
_BODIES = ("body", "worldbody", "frame", "replicate")


def accept_dialects(root: Element, *, reading: Reading) -> None:
    """Rewrite what MuJoCo 3.17 refuses and has one meaning, and list each as a repair.

    Args:
        root: The root of the file with its includes in place, changed in place.
    """
    from_geoms = any(
        section.attributes.get("inertiafromgeom") == InertiaSource.ALWAYS
        for section in root.all("compiler")
    )
    for section in root.children:
        for element in section.walk():
            _drop_former_attributes(element, reading)
            if element.tag in _BODIES:
                _drop_fixed_joints(element, reading)
                if from_geoms:
                    _drop_unused_inertial(element, reading)
    if Allowance.DUPLICATE_NAMES in reading.diagnostics.allow:
        _drop_duplicates(root, reading)


def _drop_former_attributes(element: Element, reading: Reading) -> None:
    for name in FORMER.get(element.tag, ()):
        if element.attributes.pop(name, None) is not None:
            with reading.diagnostics.at(element):
                reading.diagnostics.repair(
                    Code.UNKNOWN_ELEMENT,
                    element.tag,
                    f"{name} omitted: an attribute of earlier versions of MuJoCo",
                    line=element.line,
                )


def _drop_fixed_joints(body: Element, reading: Reading) -> None:
    """Remove joints of the type "fixed", which Bullet reads: a body without a joint is fixed."""
    for joint in body.all("joint"):
        if joint.attributes.get("type") == _FIXED:
            _remove(joint, body)
            with reading.diagnostics.at(joint):
                reading.diagnostics.repair(
                    Code.JOINT_TYPE,
                    str(joint),
                    "omitted: its type 'fixed' means no joint",
                    line=joint.line,
                )


def _drop_unused_inertial(body: Element, reading: Reading) -> None:
    """Remove an <inertial> without pos, if the mass of its body comes from geoms."""
    for inertial in body.all("inertial"):
        if "pos" not in inertial.attributes and body.all("geom"):
            _remove(inertial, body)
            with reading.diagnostics.at(inertial):
                reading.diagnostics.repair(
                    Code.MISSING_ATTRIBUTE,
                    f"inertial of {body}",
                    'omitted: it has no pos, and masses come from geoms (inertiafromgeom="true")',
                    line=inertial.line,
                )


def _remove(child: Element, parent: Element) -> None:
    parent.children = [each for each in parent.children if each is not child]


def _drop_duplicates(root: Element, reading: Reading) -> None:
    """Keep the first of textures and materials of one name, and the name of the first geom."""
    for kind, element in _duplicates(root):
        with reading.diagnostics.at(element):
            if kind == "geom":
                name = element.attributes.pop("name")
                what = "its name, which another geom has, omitted"
            else:
                name = element.attributes["name"]
                what = "omitted: another has its name"
                for section in root.all("asset"):
                    _remove(element, section)
            reading.diagnostics.repair(
                Code.DUPLICATE_NAME, f"{kind} {name}", what, line=element.line
            )


def _duplicates(root: Element) -> Iterator[tuple[str, Element]]:
    known = set[tuple[str, str]]()
    for kind, element in list(named_elements(root)):
        named = kind, element.attributes["name"]
        if kind in NAMES_ONLY and named in known:
            yield kind, element
        known.add(named)


_SECTIONS = ("equality", "actuator")


class Replicator:
    """Expands the <replicate> elements of one file."""

    def __init__(self, root: Element, *, compiler: Compiler, reading: Reading) -> None:
        """Keep the <mujoco> element, which is changed in place."""
        self._root = root
        self._compiler = compiler
        self._reading = reading
        self._elements = 0

    def write_out(self) -> None:
        """Replace every <replicate> by frames with its copies."""
        sections = self._root.all("worldbody")
        if not any(element.tag == "replicate" for top in sections for element in top.walk()):
            return
        self._elements = sum(self._size(section) for section in sections)
        self._elements += sum(1 for tag in _SECTIONS for s in self._root.all(tag) for _ in s.walk())
        self._check_size(self._root)
        for section in sections:
            self._expand(section)

    def _size(self, element: Element) -> int:
        """Count the elements of the result, before any is created."""
        size = sum(self._size(child) for child in element.children)
        return (size + 1) * self._count(element) if element.tag == "replicate" else size + 1

    def _count(self, element: Element) -> int:
        count = self._reading.attributes.number(element, "count")
        if count < 1 or count != int(count):
            raise self._reading.diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: count is {count:g}",
                remedy="write a positive integer",
                line=element.line,
            )
        return int(count)

    def _check_size(self, element: Element) -> None:
        if self._elements > MOST_ELEMENTS:
            raise self._reading.diagnostics.refusal(
                Code.TOO_LARGE,
                f"more than {MOST_ELEMENTS:,} elements with all replicas",
                remedy="simplify the file",
                line=element.line,
            )

    def _expand(self, element: Element) -> None:
        """Expand the innermost replicas first, since their suffixes come first."""
        children: list[Element] = []
        for child in element.children:
            self._expand(child)
            if child.tag == "replicate":
                with self._reading.diagnostics.at(child):
                    children.extend(self._replicas(child))
            else:
                children.append(child)
        element.children = children

    def _replicas(self, element: Element) -> list[Element]:
        count = self._count(element)
        separator = element.attributes.get("sep", "")
        digits = len(str(count))
        suffixes = [f"{separator}{i:0{digits}d}" for i in range(count)]
        offset = self._reading.attributes.vector(element, "offset", 3, default=(0.0, 0.0, 0.0))
        angles = self._reading.attributes.vector(element, "euler", 3, default=(0.0, 0.0, 0.0))
        self._copy_references(element, suffixes)
        position, frames = np.zeros(3), []
        for i, suffix in enumerate(suffixes):
            # Copy i is rotated by i times the Euler angles, which about several axes differs
            # from i rotations by one step.
            R = self._compiler.euler_rotation(i * angles)
            placed = {
                "pos": " ".join(repr(float(x)) for x in position),
                "quat": " ".join(repr(float(x)) for x in quaternion_from_rotation(R)),
            }
            if "childclass" in element.attributes:
                placed["childclass"] = element.attributes["childclass"]
            copies = [self._copy(child, suffix) for child in element.children]
            frames.append(Element("frame", placed, element.line, copies))
            position = position + R @ offset
        return frames

    def _copy(self, element: Element, suffix: str) -> Element:
        attributes = dict(element.attributes)
        if "name" in attributes:
            attributes["name"] += suffix
        children = [self._copy(child, suffix) for child in element.children]
        return replace(element, attributes=attributes, children=children)

    def _copy_references(self, replicate: Element, suffixes: list[str]) -> None:
        """Copy equalities and actuators that refer to copied elements, one for each replica."""
        inside = {
            (element.tag, element.attributes["name"])
            for element in replicate.walk()
            if "name" in element.attributes
        }
        for section in (child for tag in _SECTIONS for child in self._root.all(tag)):
            elements: list[Element] = []
            for element in section.children:
                referring = _referring(element, inside)
                if not any(referring.values()):
                    elements.append(element)
                    continue
                if not all(referring.values()):
                    raise self._reading.diagnostics.refusal(
                        Code.UNSUPPORTED,
                        f"{element} refers to names both inside and outside a <replicate>",
                        remedy="write one for each replica instead",
                        line=element.line,
                    )
                self._elements += len(suffixes)
                self._check_size(element)
                elements.extend(self._renamed(element, referring, suffixes))
            section.children = elements

    def _renamed(
        self, element: Element, names: Iterable[str], suffixes: list[str]
    ) -> Iterable[Element]:
        for suffix in suffixes:
            copy = self._copy(element, suffix)
            for name in names:
                copy.attributes[name] += suffix
            yield copy


def _referring(element: Element, inside: set[tuple[str, str]]) -> dict[str, bool]:
    """Return for each reference of an element whether it is to a name in `inside`."""
    return {
        name: (kind, element.attributes[name]) in inside
        for name, kind in REFERENCES.items()
        if name in element.attributes
    }
