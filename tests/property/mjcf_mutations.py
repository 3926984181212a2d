"""Slips of the pen in MJCF files: misspelt, misplaced, doubled, cut off, of another sign."""

from copy import deepcopy
from dataclasses import replace
from random import Random
from xml.etree.ElementTree import Element

from property.mjcf_draws import MjcfFile

_WORDS = ("true", "false", "auto", "yes", "1", "0", "", "none", "world", "main", "nan")
_NUMBERS = ("0", "-1", "1", "1e-9", "180", "-0.3", "2.5")


def mutated(file: MjcfFile, seed: int) -> tuple[MjcfFile, str]:
    """Return a file with one slip in it, and what the slip is."""
    rng = Random(seed)
    copy = replace(file, root=deepcopy(file.root), unsupported=[*file.unsupported, "a slip"])
    elements = list(copy.root.iter())
    while True:
        slip = rng.choice(_SLIPS)
        said = slip(rng.choice(elements), elements, rng)
        if said:
            _name_joints(copy.root)
            return copy, said


def _name_joints(root: Element) -> None:
    """Return names to the joints that a slip has brought into a body, to tell them apart."""
    joints = [joint for world in root.iter("worldbody") for joint in world.iter("joint")]
    for number, joint in enumerate(joints):
        joint.attrib.setdefault("name", f"unnamed{number}n")


def _misspelt(word: str, rng: Random) -> str:
    i = rng.randrange(len(word))
    return rng.choice([
        word[:i] + word[i + 1 :],
        word[:i] + word[i] + word[i:],
        word[:i] + word[i + 1 : i + 2] + word[i] + word[i + 2 :],
        word.upper(),
        word + "s",
    ])  # fmt: skip


def _attribute(element: Element, rng: Random) -> str:
    return rng.choice(list(element.attrib)) if element.attrib else ""


def _misspell_attribute(element: Element, _: list[Element], rng: Random) -> str:
    name = _attribute(element, rng)
    other = _misspelt(name, rng) if name else ""
    if not other or other in element.attrib:
        return ""
    element.set(other, element.attrib.pop(name))
    return f"{element.tag}: {name} -> {other}"


def _misspell_tag(element: Element, elements: list[Element], rng: Random) -> str:
    tag = element.tag
    element.tag = _misspelt(tag, rng) if rng.random() < 0.6 else rng.choice(elements).tag
    return f"{tag} -> {element.tag}" if element.tag and element.tag != tag else ""


def _move(element: Element, elements: list[Element], rng: Random) -> str:
    above = [each for each in elements if element in list(each)]
    target = rng.choice(elements)
    if not above or target in list(element.iter()):
        return ""
    above[0].remove(element)
    target.insert(rng.randint(0, len(target)), element)
    return f"{element.tag} moved from {above[0].tag} to {target.tag}"


def _double(element: Element, elements: list[Element], _: Random) -> str:
    above = [each for each in elements if element in list(each)]
    if not above:
        return ""
    copy = deepcopy(element)
    for each in copy.iter():
        if "name" in each.attrib:
            each.set("name", each.get("name", "") + "again")
    above[0].append(copy)
    return f"{element.tag} twice in {above[0].tag}"


def _lend_attribute(element: Element, elements: list[Element], rng: Random) -> str:
    lender = rng.choice(elements)
    name = _attribute(lender, rng)
    if not name or name in element.attrib or name == "name":
        return ""
    element.set(name, lender.attrib[name])
    return f"{name} of {lender.tag} lent to {element.tag}"


def _drop_attribute(element: Element, _: list[Element], rng: Random) -> str:
    name = _attribute(element, rng)
    if not name or name == "name":
        return ""
    del element.attrib[name]
    return f"{element.tag} without {name}"


def _drop_element(element: Element, elements: list[Element], _: Random) -> str:
    above = [each for each in elements if element in list(each)]
    if not above:
        return ""
    above[0].remove(element)
    return f"{above[0].tag} without {element.tag}"


def _change_count(element: Element, _: list[Element], rng: Random) -> str:
    name = _attribute(element, rng)
    words = element.attrib[name].split() if name else []
    if not words or not words[0].lstrip("-").replace(".", "").isdigit():
        return ""
    element.set(name, " ".join(words[:-1] if rng.random() < 0.5 else [*words, words[-1]]))
    return f'{element.tag}: {name}="{element.get(name)}"'


def _change_number(element: Element, _: list[Element], rng: Random) -> str:
    name = _attribute(element, rng)
    words = element.attrib[name].split() if name else []
    # Hundreds of replicas would take the time and the memory of all other files together.
    if not words or name in ("vertex", "face", "count") or not words[0].lstrip("-")[:1].isdigit():
        return ""
    words[rng.randrange(len(words))] = rng.choice(_NUMBERS)
    element.set(name, " ".join(words))
    return f'{element.tag}: {name}="{element.get(name)}"'


def _change_word(element: Element, _: list[Element], rng: Random) -> str:
    name = _attribute(element, rng)
    if not name or name in ("name", "file"):
        return ""
    element.set(name, rng.choice(_WORDS))
    return f'{element.tag}: {name}="{element.get(name)}"'


_SLIPS = (
    _misspell_attribute, _misspell_tag, _move, _double, _lend_attribute, _drop_attribute,
    _drop_element, _change_count, _change_number, _change_word,
)  # fmt: skip
