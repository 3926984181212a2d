"""Names and references: no duplicates, no references to unknown names."""

from collections.abc import Iterator

from kinetarium.model.attributes import nearest_name
from kinetarium.model.diagnostics import Allowance, Code
from kinetarium.model.markup import Element
from kinetarium.model.reading import Reading

REFERENCES = {
    **dict.fromkeys(("body", "body1", "body2", "subtree1", "subtree2", "target"), "body"),
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(
        ("site", "site1", "site2", "refsite", "cranksite", "slidersite", "sidesite"), "site"
    ),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    "actuator": "actuator",
    "camera": "camera",
}
"""The kind of element that an attribute refers to, in sections with references."""

_REFERRING = ("worldbody", "contact", "equality", "tendon", "actuator", "sensor")
_SHARED = ("equality", "tendon", "actuator", "sensor")
"""Sections whose elements may not share a name, whatever their tags."""
NAMES_ONLY = ("texture", "material", "geom")
"""Elements that a model does not know by their names."""
_KEEP_FIRST = f", or pass --lenient {Allowance.DUPLICATE_NAMES} to keep the first"
_WORLD = "world"
_LONGEST_SUGGESTION = 40
_MOST_SUGGESTIONS = 500

Known = set[tuple[str, str]]
"""The names in a file, each with the kind of its element."""


def check_names(root: Element, *, reading: Reading) -> Known:
    """List the names in a file whose replicas are written out, and record duplicates."""
    known = {("body", _WORLD)}
    for kind, element in named_elements(root):
        if (kind, element.attributes["name"]) in known:
            with reading.diagnostics.at(element):
                raise reading.diagnostics.refusal(
                    Code.DUPLICATE_NAME,
                    f"{element}: duplicate {kind} name",
                    remedy="use a unique name for each"
                    + (_KEEP_FIRST if kind in NAMES_ONLY else ""),
                )
        known.add((kind, element.attributes["name"]))
    return known


def written_names(root: Element) -> Known:
    """List the names in a file as written, before replicas are expanded."""
    return {(kind, element.attributes["name"]) for kind, element in named_elements(root)}


def check_references(root: Element, known: Known, *, reading: Reading) -> None:
    """Record every reference to a name that does not exist, after replicas are written out."""
    for section in (child for child in root.children if child.tag in _REFERRING):
        for element in section.walk():
            for attribute, kind in _references(element):
                name = element.attributes[attribute]
                if (kind, name) not in known:
                    with reading.diagnostics.at(element):
                        meant = near_name(name, {other for of, other in known if of == kind})
                        raise reading.diagnostics.refusal(
                            Code.UNKNOWN_NAME,
                            f"{element} names the {kind} {name[:80]!r}, which does not exist",
                            remedy=f"did you mean {meant!r}?" if meant else f"define the {kind}",
                        )


def near_name(name: str, known: set[str]) -> str | None:
    """Return the known name nearest to a misspelt one, unless the search would take too long."""
    if len(name) > _LONGEST_SUGGESTION or len(known) > _MOST_SUGGESTIONS:
        return None
    return nearest_name(name, known)


def named_elements(root: Element) -> Iterator[tuple[str, Element]]:
    """Yield the elements that have names, each with its kind."""
    for section in root.children:
        if section.tag == "worldbody":
            for element in section.walk():
                kind = "joint" if element.tag == "freejoint" else element.tag
                if element.attributes.get("name"):
                    yield kind, element
        elif section.tag in (*_SHARED, "contact", "asset"):
            for element in section.children:
                kind = section.tag if section.tag in _SHARED else element.tag
                # A mesh may be named by its file, so its own reader checks for duplicates.
                if element.attributes.get("name") and element.tag != "mesh":
                    yield kind, element


def _references(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the attributes of an element that are references, each with the kind of its target."""
    for attribute in element.attributes:
        if attribute in REFERENCES:
            yield attribute, REFERENCES[attribute]
    for attribute, type_ in (("objname", "objtype"), ("refname", "reftype")):
        kind = element.attributes.get(type_, "").removeprefix("x")
        if attribute in element.attributes and kind in REFERENCES.values():
            yield attribute, kind
