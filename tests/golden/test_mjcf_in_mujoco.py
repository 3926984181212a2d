"""MJCF as we read and write it again is the same mechanism to MuJoCo as the file itself."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from kinetarium import Allowance, RobotFileError, RobotModel, load_robot
from kinetarium.model.mjcf import write_mjcf
from needs import public

INERTIAL = '<inertial pos="0.01 0.02 0.03" mass="1.5" diaginertia="0.02 0.03 0.04"/>'
GEOM = '<geom type="box" size="0.1 0.2 0.3" pos="0.01 0.02 0.03" euler="10 20 30"/>'
L_PRISM = (
    'vertex="0 0 0  2 0 0  2 1 0  1 1 0  1 3 0  0 3 0  0 0 1  2 0 1  2 1 1  1 1 1  1 3 1  0 3 1" '
    'face="0 2 1 0 3 2 0 5 3 3 5 4 6 7 8 6 8 9 6 9 11 9 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 '
    '2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11"'
)


def _world(body: str, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{body}</worldbody>{after}</mujoco>"


def _jointed(inside: str, before: str = "") -> str:
    return _world(f'<body name="a" pos="1 2 3"><joint axis="1 1 0"/>{inside}</body>', before)


def _pair(equality: str) -> str:
    bodies = (
        f'<body name="base"><geom size="0.1"/><site name="s0" pos="0.1 0.2 0.3" euler="5 6 7"/>'
        f'<body name="a" pos="0.1 0.2 0.3" euler="10 20 30"><joint name="p" pos="0.1 0 0"/>{GEOM}'
        f'<site name="s1" pos="0.3 0 0" zaxis="1 2 3"/></body>'
        f'<body name="b" pos="-0.4 0.2 0.5" euler="50 -20 70">'
        f'<joint name="q" axis="1 0 0" ref="20" pos="0 0.2 0"/><joint name="r" type="slide"/>{GEOM}'
        f'<site name="s2" type="capsule" size="0.1" fromto="0 0 0 0.2 0.3 0.1"/></body></body>'
    )
    return _world(bodies, after=f"<equality>{equality}</equality>")


MECHANISMS = {
    "hinge off the origin": _jointed(GEOM).replace("<joint", '<joint pos="0.3 -0.2 0.1"'),
    "slide with a reference": _jointed(
        f'{GEOM}<body pos="0 0 1"><joint type="slide" axis="1 0 0" ref="0.3"/>{GEOM}</body>'
    ),
    "hinge with a reference": _jointed(GEOM).replace("<joint", '<joint ref="40" pos="1 0 0"'),
    "three joints on a body": _jointed(
        '<joint type="slide" axis="0 1 1" pos="9 9 9"/><joint axis="0 0 1" pos="0 0.5 0" ref="10"/>'
        f'{GEOM}<body pos="0 0 1"><joint axis="1 0 0" pos="0 0.1 0.2"/>{GEOM}</body>'
    ),
    "free body with a branch": _world(
        f'<body pos="0 0 2" euler="0 90 0"><freejoint/>{GEOM}'
        f'<body pos="0 0 1"><joint axis="0 1 0"/>{GEOM}</body></body>'
    ),
    "several bodies on the world": _world(
        f'<body name="a"><joint/>{GEOM}</body><body name="b" pos="1 0 0"><joint/>{INERTIAL}</body>'
    ),
    "base that stands askew": _world(
        f'<body euler="0 30 0">{GEOM}<body><joint axis="1 0 0"/>{GEOM}</body></body>'
    ),
    "frames in frames": _jointed(
        '<frame pos="1 0 0" euler="0 0 90"><frame quat="1 1 0 0"><joint pos="0 1 0" axis="1 0 0"/>'
        f'{GEOM}<body pos="0 0 1"><joint/>{INERTIAL}</body></frame>'
        '<inertial pos="1 0 0" mass="2" diaginertia="1 2 2.5"/></frame>'
    ),
    "replicas": _world(
        f'<body name="hub"><joint/>{GEOM}<replicate count="3" offset="0.1 0 0" euler="0 0 40">'
        '<geom size="0.1 0.1" type="cylinder" pos="0 1 0"/>'
        '<replicate count="2" sep="-" euler="30 0 0">'
        f'<body name="arm" pos="0 0 1"><joint name="j"/>{GEOM}<body name="tip"><joint name="k"/>'
        f"{GEOM}</body></body></replicate></replicate></body>",
        after='<equality><joint joint1="j" joint2="k" polycoef="0.1 2 0 0 0"/></equality>'
        '<actuator><motor joint="j" armature="0.1" gear="3"/></actuator>',
    ),
    "replicas about several axes": _world(
        f'<body name="hub"><joint/>{GEOM}<frame euler="5 6 7"><replicate count="4" '
        'offset="0.1 0.2 0.3" euler="10 20 30" childclass="loose"><replicate count="2" sep="-" '
        f'euler="-40 0 50"><body name="arm" pos="0 0 1"><joint name="j"/>{GEOM}</body></replicate>'
        "</replicate></frame></body>",
        "<compiler eulerseq='yZx'/>"
        "<default><default class='loose'><joint damping='3'/></default></default>",
    ),
    "classes in classes": _world(
        '<body childclass="outer"><joint/><geom/><body childclass="inner" pos="0 0 1"><joint/>'
        '<geom/><geom class="outer" quat="1 0 1 0"/><geom class="main" size="1"/>'
        '<body><frame childclass="outer"><joint axis="1 0 0"/><geom size="0.2"/></frame></body>'
        "</body></body>",
        "<default><default class='outer'><joint damping='2'/><default class='inner'>"
        "<geom size='0.3'/></default><geom type='capsule' size='0.1 0.5' euler='10 0 0'/>"
        "</default><joint armature='0.5' damping='1'/><geom density='700'/></default>",
    ),
    "all orientations": _jointed(
        '<geom type="box" size="0.1 0.2 0.3" axisangle="1 2 3 40"/>'
        '<geom type="box" size="0.1 0.2 0.3" xyaxes="1 2 0 0 1 1"/>'
        '<geom type="box" size="0.1 0.2 0.3" zaxis="1 -1 0.5"/>'
        '<geom type="box" size="0.1 0.2 0.3" zaxis="0 0 -2"/>'
        '<geom type="box" size="0.1 0.2 0.3" quat="2 1 0 3"/>'
        '<geom type="box" size="0.1 0.2 0.3" euler="10 20 30"/>',
        '<compiler eulerseq="zYx"/>',
    ),
    "radians": _jointed(GEOM, '<compiler angle="radian"/>'),
    "all primitives": _jointed(
        '<geom size="0.2"/><geom type="capsule" size="0.1 0.3" pos="1 0 0"/>'
        '<geom type="cylinder" size="0.1 0.3" pos="0 1 0"/>'
        '<geom type="ellipsoid" size="0.1 0.2 0.3" euler="5 6 7"/>'
        '<geom type="ellipsoid" size="0.1" fromto="0 0 0 1 2 3" mass="3"/>'
        '<geom type="box" size="0.1" fromto="1 0 0 0 2 1"/>'
        '<geom type="capsule" size="0.1 7 8" fromto="0 0 1 0 0 -1" density="20"/>'
        '<geom type="cylinder" size="0.1" fromto="0 1 0 0.5 0 0" mass="0"/>'
    ),
    "inertial with axes": _jointed(
        '<inertial pos="1 0 0" mass="2" diaginertia="1 2 2.5" euler="30 40 50"/>' + GEOM
    ),
    "full inertia": _jointed(
        '<inertial pos="1 0 0" mass="2" fullinertia="1 2 2.5 0.1 0.2 0.3"/>' + GEOM
    ),
    "geoms before inertial": _jointed(INERTIAL + GEOM, '<compiler inertiafromgeom="true"/>'),
    "inertial without geoms": _jointed(INERTIAL, '<compiler inertiafromgeom="true"/>'),
    "groups that weigh": _jointed(
        GEOM + '<geom size="0.2" group="3"/>', '<compiler inertiagrouprange="2 4"/>'
    ),
    "least mass and moment": _jointed(
        '<body><joint axis="1 0 0"/></body><body><joint/>' + INERTIAL + "</body>" + GEOM,
        '<compiler boundmass="2" boundinertia="0.035"/>',
    ),
    "balanced": _jointed(
        '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.2 0.9" euler="9 8 7"/>',
        '<compiler balanceinertia="true"/>',
    ),
    "mass of a mesh, legacy": _jointed(
        '<geom type="mesh" mesh="m" pos="1 0 0"/>', f'<asset><mesh name="m" {L_PRISM}/></asset>'
    ),
    "mass of a mesh, convex": _jointed(
        '<geom type="mesh" mesh="m" mass="3"/>',
        f'<asset><mesh name="m" inertia="convex" {L_PRISM}/></asset>',
    ),
    "mass of a mesh, exact": _jointed(
        '<geom type="mesh" mesh="m" density="3" euler="1 2 3"/>',
        '<default><mesh scale="0.1 -0.2 0.3" inertia="exact"/></default>'
        f'<asset><mesh name="m" {L_PRISM}/></asset>',
    ),
    "mass of a mesh, shell": _jointed(
        '<geom type="mesh" mesh="m"/>',
        '<asset><mesh name="m" inertia="shell" refpos="1 2 3" refquat="1 1 0 1" '
        f"{L_PRISM}/></asset>",
    ),
    "mesh of points": _jointed(
        '<geom type="mesh" mesh="m"/>',
        '<asset><mesh name="m" vertex="0 0 0  1 0 0  0 1 0  1 1 0  0 0 1  1 0 1  0 1 1  1 1 1 '
        '0.5 0.5 0.5  0.5 0.5 1.5  0.5 0.5 1"/></asset>',
    ),
    "hull around a vertex that no face uses": _jointed(
        '<geom type="mesh" mesh="m"/>',
        '<asset><mesh name="m" inertia="convex" vertex="0 0 0 1 0 0 0 1 0 0 0 1 3 3 3" '
        'face="0 2 1 0 1 3 0 3 2 1 2 3"/></asset>',
    ),
    "inertial beside geoms without mass": _jointed(
        INERTIAL + '<geom size="0.2" mass="0"/>', '<compiler inertiafromgeom="true"/>'
    ),
    "outermost class without a name": _jointed(
        GEOM, '<default class=""><joint damping="2"/></default>'
    ),
    "almost upside down": _world(
        f'<body name="a" zaxis="3e-8 0 -1"><joint axis="1 0 0"/>{GEOM}</body>'
    ),
    "weld": _pair('<weld body1="a" body2="b" anchor="0.1 0.2 0.3"/>'),
    "weld at a pose": _pair('<weld body1="a" body2="b" relpose="0.1 0.2 0.3 1 2 3 4"/>'),
    "weld of sites": _pair('<weld site1="s1" site2="s2"/>'),
    "weld to the world": _pair('<weld body1="b"/>'),
    "connect": _pair('<connect body1="a" body2="b" anchor="0.1 0.2 0.3"/>'),
    "connect sites": _pair('<connect site1="s0" site2="s2"/>'),
    "connect to the world": _pair('<connect body1="b" anchor="0.1 0.2 0.3"/>'),
    "coupled joints": _pair('<joint joint1="q" joint2="r" polycoef="0.2 3 0 0 0"/>'),
    "coupled by two numbers": _pair('<joint joint1="p" joint2="q" polycoef="0.2 -3"/>'),
    "coupled by an offset": _pair('<joint joint1="p" joint2="q" polycoef="0.2"/>'),
    "coupled with a reference": _pair('<joint joint1="p" joint2="q" polycoef="0.2 -3 0 0 0"/>'),
}


@pytest.fixture(autouse=True)
def _almost_massless_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the mass that links between two joints are given out of the comparison."""
    monkeypatch.setattr("kinetarium.model.tree.MASSLESS_SHARE", 1e-11)


def _in_mujoco(model: RobotModel) -> mujoco.MjModel:
    text, meshes = write_mjcf(model, mesh_folder="meshes")
    assets = {f"meshes/{name}": data for name, data in meshes.items()}
    return mujoco.MjModel.from_xml_string(text, assets)


def _mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    M = np.zeros((model.nv, model.nv))
    for row, unit in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    return M


def _residuals(data: mujoco.MjData) -> np.ndarray:
    """Return how far the constraints are from being met, whatever their order and sign."""
    return np.sort(np.abs(data.efc_pos))


def _assert_same_mechanics(original: mujoco.MjModel, ours: mujoco.MjModel) -> None:
    assert (ours.nq, ours.nv) == (original.nq, original.nv)
    for name in ("dof_damping", "dof_frictionloss", "jnt_limited"):
        np.testing.assert_allclose(getattr(ours, name), getattr(original, name), atol=1e-12)
    limited = original.jnt_limited.astype(bool)
    np.testing.assert_allclose(ours.jnt_range[limited], original.jnt_range[limited], atol=1e-12)
    off = mujoco.mjtDisableBit
    for model in (original, ours):
        model.opt.gravity[:] = [0, 0, -9.81]
        model.opt.density = model.opt.viscosity = 0
        model.opt.disableflags = int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_ACTUATION)
        model.opt.disableflags |= int(off.mjDSBL_FRICTIONLOSS)
    there, here = mujoco.MjData(original), mujoco.MjData(ours)
    rng = np.random.default_rng(2)
    for _ in range(5):
        there.qpos[:] = rng.uniform(-1, 1, original.nq)
        mujoco.mj_normalizeQuat(original, there.qpos)
        there.qvel[:] = rng.uniform(-1, 1, original.nv)
        here.qpos[:], here.qvel[:] = there.qpos, there.qvel
        mujoco.mj_forward(original, there)
        mujoco.mj_forward(ours, here)
        M = _mass_matrix(original, there)
        np.testing.assert_allclose(_mass_matrix(ours, here), M, atol=1e-9 * np.abs(M).max())
        scale = max(np.abs(there.qfrc_bias).max(), 1e-6)
        np.testing.assert_allclose(here.qfrc_bias, there.qfrc_bias, atol=1e-8 * scale)
        np.testing.assert_allclose(_residuals(here), _residuals(there), atol=1e-9)


@pytest.mark.parametrize("text", MECHANISMS.values(), ids=MECHANISMS.keys())
def test_same_mechanism(text: str, tmp_path: Path) -> None:
    file = tmp_path / "mechanism.xml"
    file.write_text(text)
    original = mujoco.MjModel.from_xml_string(text)
    _assert_same_mechanics(original, _in_mujoco(load_robot(file)))


PUBLIC = (
    "ant", "capsule", "capsule_fromtoY", "cylinder_fromtoZ", "half_cheetah", "hello_mjcf",
    "hopper", "humanoid", "humanoid_symmetric", "humanoid_symmetric_no_ground",
    "inverted_double_pendulum", "inverted_pendulum", "reacher", "swimmer", "walker2d",
)  # fmt: skip
OUTDATED = (
    r"""\bstiffness=["'][^"']*["']""", r'coordinate="global"', r"<inertial mass=\S*/>",
    r'\bcollision="\w*"', r'material="geom"', r'settotalmass="\w*"',
)  # fmt: skip
"""What keeps these files out of MuJoCo today, or, as springs do, out of our model."""


@pytest.mark.parametrize("name", PUBLIC)
def test_same_public_robot(name: str, tmp_path: Path) -> None:
    text = public("pybullet_data", f"mjcf/{name}.xml").read_text()
    for pattern in OUTDATED:
        text = re.sub(pattern, "", text)
    file = tmp_path / f"{name}.xml"
    file.write_text(text)
    _assert_same_mechanics(mujoco.MjModel.from_xml_string(text), _in_mujoco(load_robot(file)))


def test_total_mass(tmp_path: Path) -> None:
    file = tmp_path / "scaled.xml"
    file.write_text(_jointed(GEOM, '<compiler settotalmass="14"/>'))
    model = load_robot(file)
    assert model.mass == pytest.approx(14, rel=1e-12)
    unscaled = mujoco.MjModel.from_xml_string(_jointed(GEOM))
    inertia = model.link("a").inertia
    assert inertia is not None
    factor = 14 / unscaled.body_mass[1]
    np.testing.assert_allclose(
        np.linalg.eigvalsh(inertia.moment), np.sort(unscaled.body_inertia[1]) * factor, rtol=1e-9
    )


HINGES = "".join(
    f'<joint name="{name}" axis="{axis}" pos="0.1 0 0.2" damping="2" armature="0.1"/>'
    for name, axis in (("s/x", "1 0 0"), ("s/y", "0 1 0"), ("s/z", "0 0 1"))
)


def test_a_ball_joint_becomes_three_hinges(tmp_path: Path) -> None:
    ball = '<joint name="s" type="ball" pos="0.1 0 0.2" damping="2" armature="0.1" range="0 90"/>'
    text = _jointed(f'{GEOM}<body pos="0 0 1">{ball}{GEOM}</body>')
    file = tmp_path / "ball.xml"
    file.write_text(text)
    with pytest.raises(RobotFileError, match="--lenient ball-joints"):
        load_robot(file)
    model = load_robot(file, allow=[Allowance.BALL_JOINTS])
    assert any("three hinges" in one.message and "limit" in one.message for one in model.repairs)
    _assert_same_mechanics(
        mujoco.MjModel.from_xml_string(text.replace(ball, HINGES)), _in_mujoco(model)
    )


GLOBAL = """<mujoco><compiler coordinate="global"/><worldbody>
<body name="a" pos="0.1 0.2 0.3" euler="0 0 90">
<joint name="i" pos="0.1 0 0.4" axis="0 1 1"/>
<geom type="box" size="0.1 0.2 0.3" pos="0.5 0.1 0.4"/>
<body name="b"><joint name="j" pos="0.6 0 0.4" axis="1 0 1"/>
<joint name="k" type="slide" axis="1 2 0"/>
<inertial pos="0.7 0.1 0.2" mass="2" diaginertia="0.02 0.03 0.04"/>
<body name="c" pos="1 1 1"><joint name="l" pos="0.9 1 1.1" axis="0 0 1" ref="20"/>
<geom type="capsule" size="0.1" fromto="1 1 1 1.2 1.4 1.1"/></body></body></body>
</worldbody></mujoco>"""
LOCAL = """<mujoco><worldbody><body name="a" pos="0.1 0.2 0.3" euler="0 0 90">
<joint name="i" pos="-0.2 0 0.1" axis="1 0 1"/>
<geom type="box" size="0.2 0.1 0.3" pos="-0.1 -0.4 0.1"/>
<body name="b" pos="-0.1 -0.6 -0.1" euler="0 0 -90">
<joint name="j" pos="-0.1 -0.1 0.2" axis="1 0 1"/>
<joint name="k" type="slide" axis="1 2 0"/>
<inertial pos="0 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
<body name="c" pos="0.3 0.9 0.8"><joint name="l" pos="-0.1 0 0.1" axis="0 0 1" ref="20"/>
<geom type="capsule" size="0.1" fromto="0 0 0 0.2 0.4 0.1"/></body></body></body>
</worldbody></mujoco>"""
"""The same with local coordinates, computed by hand."""


def test_global_coordinates_are_those_of_earlier_versions(tmp_path: Path) -> None:
    file = tmp_path / "global.xml"
    file.write_text(GLOBAL)
    with pytest.raises(RobotFileError, match="--lenient global-coordinates"):
        load_robot(file)
    model = load_robot(file, allow=[Allowance.GLOBAL_COORDINATES])
    _assert_same_mechanics(mujoco.MjModel.from_xml_string(LOCAL), _in_mujoco(model))


def test_frames_have_no_meaning_in_global_coordinates(tmp_path: Path) -> None:
    file = tmp_path / "global.xml"
    file.write_text(GLOBAL.replace('<geom type="box"', '<frame/><geom type="box"'))
    with pytest.raises(RobotFileError, match="<frame>"):
        load_robot(file, allow=[Allowance.GLOBAL_COORDINATES])


def test_what_bullet_and_earlier_versions_accept(tmp_path: Path) -> None:
    """An old option, a joint of the type "fixed" and an inertial without pos have one meaning."""
    text = _jointed(
        f'{GEOM}<inertial mass="9"/><body name="b" pos="0 0 1"><joint name="f" type="fixed"/>'
        f"{GEOM}</body>",
        '<compiler inertiafromgeom="true"/><option collision="predefined"/>',
    )
    file = tmp_path / "dialect.xml"
    file.write_text(text)
    model = load_robot(file)
    assert {"joint-type", "missing-attribute", "unknown-element"} <= {r.code for r in model.repairs}
    for pattern in (
        '<inertial mass="9"/>',
        '<joint name="f" type="fixed"/>',
        ' collision="predefined"',
    ):
        text = text.replace(pattern, "")
    _assert_same_mechanics(mujoco.MjModel.from_xml_string(text), _in_mujoco(model))
