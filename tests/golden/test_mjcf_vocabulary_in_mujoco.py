"""The table of elements and attributes says what MuJoCo itself says of the format."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import mujoco
import pytest

from kinetarium.model.assets import AssetResolver
from kinetarium.model.diagnostics import Diagnostics, RobotFileError
from kinetarium.model.markup import parse_xml
from kinetarium.model.mjcf.vocabulary import check_vocabulary
from kinetarium.model.mjcf.vocabulary.element_rule import (
    Attribute,
    ElementRule,
    LeftOut,
    Treatment,
    attributes_of,
)
from kinetarium.model.mjcf.vocabulary.table import CONTEXTS, ROOT
from kinetarium.model.reading import Reading

MALFORMED = re.compile(
    "Schema violation|bad format|problem reading|enough data|too much data|invalid keyword|"
    "required attribute missing|multiple orientation|cannot both be defined|unknown layer role|"
    "cannot have attributes"
)
"""How MuJoCo says that a file is not in the format, whatever it means."""
LEFT_TO_READERS = {
    ("geom", "type"), ("joint", "type"), ("mesh", "builtin"), ("mesh", "face"), ("mesh", "params"),
    ("texture", "gridlayout"), ("hfield", "elevation"),
}  # fmt: skip
"""What other checks look at, and what MuJoCo looks at only together with something else."""
BASES = {
    "dcmotor": {"motorconst": "1", "resistance": "1"},
    "numeric": {"data": "1"},
}
"""What elements need to mean something, besides what the table requires."""
VALUES = {"maxhullvert": "4", "eulerseq": "xyz", "memory": "1M", "objtype": "body"}


@dataclass(frozen=True)
class Place:
    """An element where it may stand: the tags above it, each with what it needs, and its kind."""

    above: tuple[tuple[str, ElementRule], ...]
    tag: str
    kind: ElementRule

    @property
    def path(self) -> str:
        """The tags from the section down, a body counting as the world does."""
        tags = [tag for tag, _ in self.above] + [self.tag]
        return "/".join(tag for tag in tags if tag != "mujoco")

    def written(self, attributes: dict[str, str]) -> str:
        """Return a document with this element in it."""
        text = _opened(self.tag, attributes) + "/>"
        for tag, kind in reversed(self.above):
            text = f"{_opened(tag, _needed(tag, kind))}>{text}</{tag}>"
        return text


def _opened(tag: str, attributes: dict[str, str]) -> str:
    return " ".join([f"<{tag}", *(f'{name}="{text}"' for name, text in attributes.items())])


def _value(attribute: Attribute, count: int | None = None) -> str:
    if attribute.name in VALUES:
        return VALUES[attribute.name]
    if attribute.numbers is not None:
        return " ".join(["1"] * (max(attribute.numbers[0], 1) if count is None else count))
    return attribute.words[0] if attribute.words else "thing"


def _needed(tag: str, kind: ElementRule) -> dict[str, str]:
    known = attributes_of(kind)
    needed = [attribute.name for attribute in known.values() if attribute.required]
    for choice in kind.one_of.split():
        needed += re.split(r"[+]", re.sub(r"\(.*?\)", "", choice).split("|")[-1])
    return {name: _value(known[name]) for name in needed if name != "class"} | BASES.get(tag, {})


def _places() -> Iterator[Place]:
    """Yield every place of the table once, bodies in bodies and defaults in defaults not again."""
    root: tuple[tuple[str, ElementRule], ...] = (("mujoco", ROOT),)
    pending = [(root, ROOT)]
    while pending:
        above, kind = pending.pop()
        for tag, child in CONTEXTS[kind.context].items():
            if child.treatment is Treatment.UNSUPPORTED or tag in [each for each, _ in above]:
                continue
            if tag in ("frame", "replicate") and any(each == "body" for each, _ in above):
                continue
            yield Place(above, tag, child)
            if tag not in ("frame", "replicate"):
                pending.append(((*above, (tag, child)), child))


PLACES = list(_places())


def _theirs() -> dict[str, tuple[str, set[str]]]:
    """Return MuJoCo's table: for each path how often the element may come, and its attributes."""
    rows: dict[str, tuple[str, set[str]]] = {}
    stack: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        match = re.match(r"( *)(\S+) \((.)\)(.*)", line)
        if match:
            stack = [*stack[: len(match[1]) // 3], match[2].replace("(world)body", "worldbody")]
            path = "/".join(stack[1:])
            rows[path] = (match[3], set(match[4].split()))
        else:
            rows[path][1].update(line.split())
    return rows


def _our_refusal(text: str) -> str:
    diagnostics = Diagnostics("robot.xml")
    reading = Reading(
        Path("robot.xml"), diagnostics, AssetResolver(Path(), diagnostics=diagnostics)
    )
    root = parse_xml(text.encode(), diagnostics=diagnostics)
    try:
        check_vocabulary(root, reading=reading, left_out=LeftOut())
        diagnostics.stop_if_refused()
    except RobotFileError as error:
        return str(error)
    return ""


def _their_refusal(text: str) -> str:
    try:
        mujoco.MjSpec.from_string(text)
    except ValueError as error:
        return str(error).replace("\n", " ")
    return ""


def _assert_same_verdict(place: Place, attributes: dict[str, str]) -> None:
    text = place.written(attributes)
    ours, theirs = _our_refusal(text), _their_refusal(text)
    if MALFORMED.search(theirs):
        assert ours, f"{text}\naccepted, but MuJoCo says: {theirs}"
    # MuJoCo does not look at the attributes of frames and replicas that it does not know.
    if ours and place.tag not in ("frame", "replicate"):
        assert theirs, f"{text}\naccepted by MuJoCo, but we say: {ours}"


def _is_left_to_readers(place: Place, attribute: Attribute) -> bool:
    of_a_class = attribute.name in ("class", "childclass")
    return of_a_class or (place.tag, attribute.name) in LEFT_TO_READERS


def test_same_elements_and_attributes() -> None:
    theirs = _theirs()
    ours = {}
    for place in PLACES:
        path = place.path.replace("worldbody/body", "worldbody")
        if place.tag not in ("worldbody", "frame", "replicate"):
            attributes = set(attributes_of(place.kind))
            ours[path] = ("?" if place.kind.once else "*", attributes)
    unsupported = ("plugin", "attach", "composite", "flexcomp", "flex", "model", "extension")
    wanted = {
        path: ("?" if count == "?" else "*", attributes)
        for path, (count, attributes) in theirs.items()
        if (path and not any(tag in unsupported for tag in path.split("/")))
        or path == "equality/flex"
    }
    assert ours.keys() == wanted.keys()
    assert ours == wanted


def test_what_is_unsupported_is_part_of_the_format() -> None:
    known = {path.split("/")[-1] for path in _theirs()}
    refused = {
        tag
        for context in CONTEXTS.values()
        for tag, kind in context.items()
        if kind.treatment is Treatment.UNSUPPORTED
    }
    assert refused <= known


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_same_verdict_on_the_plain_element(place: Place) -> None:
    needed = _needed(place.tag, place.kind)
    assert not _our_refusal(place.written(needed))
    assert not MALFORMED.search(_their_refusal(place.written(needed)))
    _assert_same_verdict(place, needed | {"nonsense": "1"})
    for name in needed:
        _assert_same_verdict(place, {k: v for k, v in needed.items() if k != name})


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_same_verdict_on_every_attribute(place: Place) -> None:
    needed = _needed(place.tag, place.kind)
    for attribute in attributes_of(place.kind).values():
        if not _is_left_to_readers(place, attribute):
            values = ["@@@", "1.5", "1 x", "true false", "auto", "none", "enable", "body"]
            values += attribute.words
            values += [" ".join(["1"] * count) for count in (1, 2, 3, 4, 5, 6, 7, 8, 10, 11)]
            for value in dict.fromkeys(values):
                _assert_same_verdict(place, needed | {attribute.name: value})


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_same_verdict_on_every_pair_of_attributes(place: Place) -> None:
    needed = _needed(place.tag, place.kind)
    known = [a for a in attributes_of(place.kind).values() if not _is_left_to_readers(place, a)]
    for first, second in combinations(known, 2):
        pair = {first.name: _value(first), second.name: _value(second)}
        _assert_same_verdict(place, needed | pair)
