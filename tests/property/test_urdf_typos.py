"""No slip of the pen in a URDF file goes by unnoticed: every letter, every place."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from string import ascii_lowercase
from xml.etree.ElementTree import Element, fromstring, tostring

import pytest

from kinetarium import RobotFileError, load_robot
from kinetarium.model.urdf.vocabulary import ELEMENT_RULES

FULL = """
<robot name="arm" version="1.2">
  <link name="base">
    <visual name="v"><origin xyz="0 0 1" rpy="0 0 1"/>
      <geometry><cylinder radius="1" length="2"/></geometry></visual>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" quat_xyzw="0 0 1 0"/>
      <mass value="2"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0.001" iyy="0.02" iyz="0.001" izz="0.01"/>
    </inertial>
    <collision name="c"><origin xyz="1 0 0"/>
      <geometry><box size="0.1 0.1 0.2"/></geometry></collision>
    <collision><geometry><capsule radius="1" length="2"/></geometry></collision>
    <collision><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <link name="fore">
    <inertial><mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.5"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="2"/>
    <dynamics damping="1" friction="2"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <origin xyz="0 0 0.2"/><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="2"/>
    <mimic joint="shoulder" multiplier="2" offset="0.5"/>
  </joint>
</robot>
"""
LOOKS = {("visual", "name"), ("collision", "name")}
"""What may be lost: names that nothing refers to."""


def _slips(name: str, random: Random) -> Iterator[str]:
    """Yield a name with one letter wrong, missing, doubled or swapped, at every place."""
    for i, letter in enumerate(name):
        other = random.choice(ascii_lowercase.replace(letter, ""))
        yield name[:i] + other + name[i + 1 :]
        if len(name) > 3:
            yield name[:i] + name[i + 1 :]
        yield name[:i] + letter + name[i:]
        if i and name[i - 1] != letter:
            yield name[: i - 1] + letter + name[i - 1] + name[i + 1 :]
    yield name.upper()
    yield name.capitalize()
    yield name + "s"


def _wrong_attributes() -> Iterator[tuple[str, str]]:
    random, seen = Random(0), set(LOOKS)
    for i, element in enumerate(fromstring(FULL).iter()):
        for name in element.attrib:
            if (element.tag, name) in seen:
                continue
            seen.add((element.tag, name))
            for slip in _slips(name, random):
                root = fromstring(FULL)
                changed = list(root.iter())[i]
                if slip in ELEMENT_RULES[element.tag].attributes:
                    continue
                changed.attrib = {slip if k == name else k: v for k, v in changed.attrib.items()}
                yield f"{element.tag} {slip}", tostring(root, encoding="unicode")


def _wrong_tags() -> Iterator[tuple[str, str]]:
    random, seen = Random(1), set()
    root = fromstring(FULL)
    parents = {child: parent.tag for parent in root.iter() for child in parent}
    for i, element in enumerate(root.iter()):
        if (element.tag, parents.get(element)) in seen:
            continue
        seen.add((element.tag, parents.get(element)))
        for slip in _slips(element.tag, random):
            root = fromstring(FULL)
            changed = list(root.iter())[i]
            changed.tag = slip
            if slip not in ELEMENT_RULES:
                yield f"{element.tag} {slip}", tostring(root, encoding="unicode")


def _moved(parents: dict[Element, Element]) -> Iterator[tuple[Element, Element]]:
    for element, parent in parents.items():
        for other in [*parents, *set(parents.values())]:
            if other is not parent and element.tag not in ELEMENT_RULES[other.tag].children:
                yield element, other


def _wrong_places() -> Iterator[tuple[str, str]]:
    root = fromstring(FULL)
    parents = {child: parent for parent in root.iter() for child in parent}
    seen = set()
    for element, other in _moved(parents):
        if (element.tag, parents[element].tag, other.tag) in seen:
            continue
        seen.add((element.tag, parents[element].tag, other.tag))
        if other in element.iter():
            continue
        copy = deepcopy(element)
        other.append(copy)  # once more, so that nothing else is missing
        yield f"{element.tag} in {other.tag}", tostring(root, encoding="unicode")
        other.remove(copy)


@pytest.mark.parametrize("cases", [_wrong_attributes, _wrong_tags, _wrong_places])
def test_every_slip_is_refused(cases, tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(FULL.strip())
    assert load_robot(file).repairs == ()
    accepted, count = [], 0
    for name, text in cases():
        file.write_text(text)
        count += 1
        try:
            load_robot(file)
        except RobotFileError:
            continue
        accepted.append(name)
    assert count > 200
    assert not accepted
