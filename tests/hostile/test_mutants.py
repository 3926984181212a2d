"""Mutants of sound robot files raise nothing but the gate's own refusal."""

import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hostile.bad_urdf import SOUND
from kinetarium import RobotFileError, load_robot
from kinetarium.model.mesh.formats import stl_bytes
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box

XACRO = """<robot name="arm" xmlns:xacro="http://ros.org/wiki/xacro">
  <xacro:property name="length" value="${2 * 0.1}"/>
  <xacro:arg name="heavy" default="true"/>
  <xacro:macro name="bar" params="name mass:=1 *place">
    <link name="${name}">
      <inertial><xacro:insert_block name="place"/><mass value="${mass * length}"/>
        <inertia ixx="${mass / 12}" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="${0.1 if mass else 1}"/>
      </inertial>
      <visual><geometry><mesh filename="box.stl" scale="1 ${-1} 1"/></geometry></visual>
    </link>
  </xacro:macro>
  <link name="base"/>
  <xacro:bar name="tip"><origin xyz="0 0 ${length}"/></xacro:bar>
  <xacro:if value="$(arg heavy)">
    <joint name="j" type="continuous">
      <parent link="base"/><child link="tip"/><axis xyz="0 0 ${cos(pi)}"/>
    </joint>
  </xacro:if>
</robot>
"""

MJCF = """<mujoco model="arm">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.002" gravity="0 0 -9.81"/>
  <default><joint damping="0.1"/>
    <default class="thin"><geom type="capsule" size="0.02"/></default></default>
  <asset><mesh name="m" file="box.stl" scale="0.1 0.1 0.1"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
      <body name="arm" euler="0 0.3 0" childclass="thin">
        <joint name="j1" axis="0 1 0" range="-1 1" pos="0 0 0.1"/>
        <geom fromto="0 0 0 0 0 0.4"/>
        <body name="hand" pos="0 0 0.4" quat="1 0 0 1">
          <joint name="j2" type="slide" axis="1 0 0" range="0 0.1"/>
          <geom type="mesh" mesh="m" density="500"/>
          <geom type="box" size="0.1 0.1 0.1" mass="0.5"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="j2" joint2="j1" polycoef="0 0.1 0 0 0"/>
    <connect body1="hand" body2="base" anchor="0 0 0"/></equality>
  <actuator><motor joint="j1" gear="2" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>
"""

NUMBERS = (
    "nan", "inf", "-inf", "0", "-1", "1e999", "1e308", "1e-320", "0x1F", "1,5", "", " ", "9" * 400,
    "${1/0}", "${2**9**9}", "${a}", "$(find x)", "true", "\u0663", "1 2 3 4 5 6 7", "../../x",
)  # fmt: skip


def _flip_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randint(1, 200) :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    piece = data[start : start + rng.randint(1, 300)]
    return data[:start] + piece * rng.randint(2, 20) + data[start:]


def _change_value(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb'"[^"]*"', data))
    if not places:
        return data
    for place in sorted(rng.sample(places, min(2, len(places))), key=lambda m: -m.start()):
        value = rng.choice(NUMBERS).replace('"', "").encode()
        data = data[: place.start()] + b'"' + value + b'"' + data[place.end() :]
    return data


def _swap_values(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb'"[^"]*"', data))
    if len(places) < 2:
        return data
    first, second = sorted(rng.sample(places, 2), key=lambda m: m.start())
    return b"".join(
        [data[: first.start()], second[0], data[first.end() : second.start()], first[0]]
    ) + data[second.end() :]  # fmt: skip


def _drop_element(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb"<[^<>]*/>", data))
    if not places:
        return data
    place = rng.choice(places)
    return data[: place.start()] + data[place.end() :]


def _double_element(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb"<(\w+)\b[^<>]*[^/]>.*?</\1>", data, re.DOTALL))
    if not places:
        return data
    place = rng.choice(places)
    return data[: place.end()] + place[0] + data[place.end() :]


def _rename_element(data: bytes, rng: random.Random) -> bytes:
    names = sorted(set(re.findall(rb"<([\w:]+)", data)))
    old, new = rng.choice(names), rng.choice(names)
    return re.sub(rb"(</?)" + re.escape(old) + rb"\b", lambda m: m[1] + new, data)


MUTATORS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip_bytes, _cut, _repeat, _change_value, _change_value, _swap_values, _drop_element,
    _double_element, _rename_element,
)  # fmt: skip


def _run(folder: Path, *, seed: int, count: int) -> None:
    rng = random.Random(seed)
    box = stl_bytes(triangulate(Box((1.0, 1.0, 1.0))))
    sources = {"arm.urdf": SOUND.encode(), "arm.xacro": XACRO.encode(), "arm.xml": MJCF.encode()}
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for i in range(count):
            name, data = rng.choice(sorted(sources.items()))
            for _ in range(rng.randint(1, 3)):
                data = rng.choice(MUTATORS)(data, rng) or b" "
            file = folder / name
            file.write_bytes(data)
            mesh = box if rng.random() < 0.8 else _flip_bytes(_cut(box, rng), rng)
            (folder / "box.stl").write_bytes(mesh)
            try:
                model = load_robot(file)
            except RobotFileError:
                continue
            except BaseException as error:
                keep = folder / f"kept-{name}"
                keep.write_bytes(data)
                pytest.fail(f"mutant {i} of seed {seed} ({keep}): {type(error).__name__}: {error}")
            assert np.isfinite(model.mass)
            assert model.mass >= 0


@pytest.mark.parametrize("text", [SOUND, XACRO, MJCF], ids=["urdf", "xacro", "mjcf"])
def test_the_seeds_are_sound(text: str, tmp_path: Path) -> None:
    (tmp_path / "box.stl").write_bytes(stl_bytes(triangulate(Box((1.0, 1.0, 1.0)))))
    file = tmp_path / "arm.xml"
    file.write_text(text)
    assert load_robot(file).mass > 0


@pytest.mark.parametrize("seed", range(10))
def test_fifty_mutants(seed: int, tmp_path: Path) -> None:
    _run(tmp_path, seed=seed, count=50)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_five_hundred_mutants(seed: int, tmp_path: Path) -> None:
    _run(tmp_path, seed=seed, count=500)
