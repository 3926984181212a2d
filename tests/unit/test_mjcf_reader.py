"""What becomes of the parts of an MJCF file, and what is said of those that are left out."""

from collections.abc import Callable
from math import inf, pi, radians
from pathlib import Path

import numpy as np
import pytest

from kinetarium import RobotFileError, RobotModel, load_robot
from kinetarium.model.diagnostics import Allowance
from kinetarium.model.mesh.formats import stl_bytes
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.mesh.triangles import MOST_POINTS, BrokenMeshError, convex_hull
from kinetarium.model.mjcf import meshes
from kinetarium.model.mjcf.meshes import mesh_inertia
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    JointType,
    LoopKind,
    MeshData,
    MeshFile,
    Mimic,
    Sphere,
)

Read = Callable[..., RobotModel]
GEOM = '<geom size="0.1"/>'
ARM = f'<body name="base">{GEOM}<body name="arm"><joint name="j" {{}}/>{GEOM}</body></body>'

TENDON = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a reader of the content of <worldbody> and of what stands before and after it."""

    def read(world: str, before: str = "", after: str = "", **options: object) -> RobotModel:
        file = tmp_path / "robot.xml"
        file.write_text(f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>")
        return load_robot(file, **options)

    return read


def _repairs(model: RobotModel) -> dict[str, str]:
    return {repair.where: repair.message for repair in model.repairs}


class TestRoot:
    def test_a_fixed_body_at_the_origin_is_the_root(self, read: Read) -> None:
        model = read(ARM.format(""))
        assert (model.root, model.free_base, model.name) == ("base", False, "robot")
        assert model.repairs == ()

    def test_a_fixed_body_elsewhere_hangs_on_the_world(self, read: Read) -> None:
        model = read(f'<body name="base" pos="0 0 1">{GEOM}</body>')
        assert model.root == "world"
        joint = model.joint("base/fixed")
        assert (joint.type, joint.parent) == (JointType.FIXED, "world")
        np.testing.assert_array_equal(joint.X_PJ[:3, 3], [0, 0, 1])

    def test_a_jointed_body_hangs_on_the_world(self, read: Read) -> None:
        model = read(f'<body name="cart"><joint name="x" type="slide"/>{GEOM}</body>')
        assert (model.root, model.link("world").inertia) == ("world", None)
        assert model.joint("x").parent == "world"

    @pytest.mark.parametrize("joint", ["<freejoint/>", '<joint type="free" range="0 1"/>'])
    def test_a_free_body_is_the_root_wherever_it_is(self, read: Read, joint: str) -> None:
        model = read(f'<body name="base" pos="0 0 1">{joint}{GEOM}</body>')
        assert (model.root, model.free_base, model.joints) == ("base", True, ())
        assert "base pose" in _repairs(model)

    def test_surroundings_are_left_out(self, read: Read) -> None:
        model = read(
            f'<geom type="plane" size="1 1 1"/><body name="table">{GEOM}</body>'
            f'<body name="hand" mocap="true">{GEOM}</body><body name="a"><freejoint/>{GEOM}</body>'
        )
        assert [link.name for link in model.links] == ["a"]
        assert {"world geom", "world body", "mocap body"} <= set(_repairs(model))

    def test_ground_in_a_fixed_body_is_left_out(self, read: Read) -> None:
        model = read(f'<body name="base"><geom type="plane" size="1 1 1"/>{GEOM}</body>')
        assert len(model.link("base").collisions) == 1
        assert "ground" in _repairs(model)


class TestJoints:
    def test_a_hinge_without_range_turns_for_ever(self, read: Read) -> None:
        joint = read(ARM.format("")).joint("j")
        assert joint.type is JointType.CONTINUOUS
        assert (joint.limits.lower, joint.limits.upper) == (-inf, inf)
        np.testing.assert_array_equal(joint.axis, [0, 0, 1])

    def test_ranges_are_in_degrees(self, read: Read) -> None:
        joint = read(ARM.format('range="-90 45"')).joint("j")
        assert joint.type is JointType.REVOLUTE
        assert joint.limits.lower == pytest.approx(-pi / 2, rel=1e-15)
        assert joint.limits.upper == pytest.approx(pi / 4, rel=1e-15)

    def test_a_range_may_be_switched_off(self, read: Read) -> None:
        assert read(ARM.format('range="0 1" limited="false"')).joint("j").limits.upper == inf

    def test_losses(self, read: Read) -> None:
        joint = read(ARM.format('damping="1" frictionloss="2" armature="3"')).joint("j")
        assert (joint.damping, joint.friction, joint.armature) == (1, 2, 3)

    def test_the_frame_moves_to_the_anchor(self, read: Read) -> None:
        model = read(ARM.format('pos="0 0 0.3"'))
        np.testing.assert_allclose(model.joint("j").X_PJ[:3, 3], [0, 0, 0.3])
        link = model.link("arm")
        assert link.inertia is not None
        np.testing.assert_allclose(link.inertia.center, [0, 0, -0.3])
        np.testing.assert_allclose(link.collisions[0].X_LG[:3, 3], [0, 0, -0.3])
        assert _repairs(model)["link arm"] == "link frame moved to the joint's anchor"

    def test_the_anchor_of_a_slide_means_nothing(self, read: Read) -> None:
        model = read(ARM.format('type="slide" pos="0 0 0.3"'))
        assert model.repairs == ()
        np.testing.assert_array_equal(model.joint("j").X_PJ, np.eye(4))

    def test_links_between_joints_are_named_after_both(self, read: Read) -> None:
        model = read(f'<body name="a"><joint name="x"/><joint name="y"/><joint/>{GEOM}</body>')
        assert [link.name for link in model.links] == ["world", "a/x", "a/y", "a"]
        assert [joint.name for joint in model.joints] == ["x", "y", "a/joint"]

    def test_given_names_never_collide_with_made_ones(self, read: Read) -> None:
        model = read(
            f'<body>{GEOM}<body name="body"><joint name="body2/joint"/>{GEOM}</body>'
            f"<body><joint/><joint/>{GEOM}</body></body>"
        )
        assert len({link.name for link in model.links}) == len(model.links) == 4
        assert len({joint.name for joint in model.joints}) == len(model.joints) == 3


class TestGeoms:
    def test_shapes(self, read: Read) -> None:
        model = read(
            '<body name="a"><geom size="0.1"/><geom type="capsule" size="0.1 0.2"/>'
            '<geom type="cylinder" size="0.1 0.2"/><geom type="box" size="0.1 0.2 0.3"/>'
            '<geom type="ellipsoid" size="0.1 0.2 0.3"/></body>'
        )
        *shapes, ellipsoid = (geometry.shape for geometry in model.link("a").collisions)
        assert shapes == [Sphere(0.1), Capsule(0.1, 0.4), Cylinder(0.1, 0.4), Box((0.2, 0.4, 0.6))]
        assert isinstance(ellipsoid, MeshData)
        np.testing.assert_allclose(
            np.sum((ellipsoid.mesh.vertices / [0.1, 0.2, 0.3]) ** 2, axis=1), 1
        )

    @pytest.mark.parametrize(
        ("attributes", "collisions", "visuals"),
        [
            ("", 1, 1),
            ('group="3"', 1, 0),
            ('contype="0" conaffinity="0"', 0, 1),
            ('contype="0" conaffinity="0" group="4"', 0, 1),
            ('contype="0"', 1, 1),
            ('name="pad" contype="0" conaffinity="0" group="3"', 1, 0),
        ],
    )
    def test_roles(self, read: Read, attributes: str, collisions: int, visuals: int) -> None:
        model = read(
            '<geom name="floor" type="plane" size="1 1 1"/>'
            f'<body name="a"><geom size="0.1" {attributes}/></body>',
            after='<contact><pair geom1="pad" geom2="floor"/></contact>'
            if "pad" in attributes
            else "",
        )
        link = model.link("a")
        assert (len(link.collisions), len(link.visuals)) == (collisions, visuals)

    @pytest.mark.parametrize(
        ("attributes", "color"),
        [
            ("", None),
            ('rgba="1 0 0 0.5"', (1, 0, 0, 0.5)),
            ('material="green"', (0, 1, 0, 1)),
            ('material="green" rgba="0 0 1 1"', (0, 0, 1, 1)),
            ('material="green" rgba="0.5 0.5 0.5 1"', (0, 1, 0, 1)),
            ('material="wood"', None),
            ('material="nowhere"', None),
        ],
    )
    def test_colors(self, read: Read, attributes: str, color: object) -> None:
        materials = (
            '<asset><material name="green" rgba="0 1 0 1"/><texture name="t" type="2d"/>'
            '<material name="wood" texture="t"/></asset>'
        )
        model = read(f'<body name="a"><geom size="0.1" {attributes}/></body>', before=materials)
        assert model.link("a").visuals[0].color == color

    def test_mesh_files(self, read: Read, tmp_path: Path) -> None:
        (tmp_path / "meshes").mkdir()
        box = stl_bytes(triangulate(Box((1.0, 1.0, 1.0))))
        (tmp_path / "meshes" / "cube.STL").write_bytes(box)
        model = read(
            '<body name="a"><geom type="mesh" mesh="cube"/></body>',
            '<compiler assetdir="meshes/"/>'
            '<asset><mesh file="cube.STL" scale="0.1 0.1 0.1" refpos="0 0 1"/></asset>',
        )
        geometry = model.link("a").collisions[0]
        assert isinstance(geometry.shape, MeshFile)
        assert geometry.shape.uri == "meshes/cube.STL"
        np.testing.assert_allclose(geometry.X_LG[:3, 3], [0, 0, -0.1])
        assert model.mass == pytest.approx(1, rel=1e-6)

    def test_sheared_meshes_are_bounded(
        self, read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "cube.stl").write_bytes(stl_bytes(triangulate(Box((1.0, 1.0, 1.0)))))
        monkeypatch.setattr(meshes, "MOST_SHEARED_TRIANGLES", 30)
        sheared = '<mesh name="m{}" file="cube.stl" scale="1 2 3" refquat="1 2 3 4"/>'
        body = '<body name="a"><geom type="mesh" mesh="m0"/></body>'
        read(body, f"<asset>{sheared.format(0)}{sheared.format(1)}</asset>")
        with pytest.raises(RobotFileError, match="triangles with an uneven scale"):
            read(body, f"<asset>{''.join(sheared.format(i) for i in range(3))}</asset>")

    def test_a_missing_mesh_may_be_allowed(self, read: Read) -> None:
        asset = '<asset><mesh name="m" file="lost.stl"/></asset>'
        inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        body = f'<body name="a">{inertial}<geom type="mesh" mesh="m"/></body>'
        model = read(body, asset, allow=[Allowance.MISSING_MESH])
        assert model.link("a").collisions == ()
        assert '<mesh name="m">' in _repairs(model)


class TestEfforts:
    @pytest.mark.parametrize(
        ("actuators", "effort"),
        [
            ("", inf),
            ('<motor joint="j"/>', inf),
            ('<motor joint="j" gear="-5" ctrlrange="-2 2"/>', 10),
            ('<motor joint="j" gear="5" ctrlrange="-2 2" ctrllimited="false"/>', inf),
            ('<motor joint="j" gear="5" ctrlrange="-2 2" forcerange="-1 1"/>', 5),
            ('<position joint="j" kp="100" ctrlrange="-2 2"/>', inf),
            ('<position joint="j" kp="100" ctrlrange="-2 2" forcerange="-7 7"/>', 7),
            ('<velocity joint="j" forcerange="-7 7"/><motor joint="j" ctrlrange="-2 2"/>', 9),
            ('<velocity joint="j" forcerange="-7 7"/><motor joint="j"/>', inf),
            ('<general jointinparent="j" forcerange="-3 4"/>', 4),
            ('<motor joint="j" gear="0"/>', 0),
            ('<motor tendon="t" ctrlrange="-1 1"/>', inf),
        ],
    )
    def test_what_actuators_give(self, read: Read, actuators: str, effort: float) -> None:
        model = read(ARM.format(""), after=f"{TENDON}<actuator>{actuators}</actuator>")
        assert model.joint("j").limits.effort == effort

    def test_the_joint_bounds_them_all(self, read: Read) -> None:
        motor = '<actuator><motor joint="j" ctrlrange="-9 9"/></actuator>'
        model = read(ARM.format('actuatorfrcrange="-5 5"'), after=motor)
        assert model.joint("j").limits.effort == 5

    def test_defaults_hold_for_every_kind(self, read: Read) -> None:
        model = read(
            ARM.format(""),
            '<default><general forcerange="-6 6"/></default>',
            '<actuator><position joint="j"/></actuator>',
        )
        assert model.joint("j").limits.effort == 6

    def test_the_drive_is_seen_through_the_gear(self, read: Read) -> None:
        motor = '<actuator><motor joint="j" gear="3" armature="2" damping="1"/></actuator>'
        joint = read(ARM.format('armature="1"'), after=motor).joint("j")
        assert (joint.armature, joint.damping) == (19, 9)

    def test_uneven_efforts_are_said(self, read: Read) -> None:
        motor = '<actuator><motor name="m" joint="j" ctrlrange="0 3"/></actuator>'
        model = read(ARM.format(""), after=motor)
        assert "larger" in _repairs(model)['<motor name="m">']


class TestConstraints:
    PAIR = (
        f'<body name="base">{GEOM}<body name="a"><joint name="p" ref="10"/>{GEOM}</body>'
        f'<body name="b" pos="1 0 0"><joint name="q" ref="20" pos="0 0.5 0"/>{GEOM}</body></body>'
    )

    def _read(self, read: Read, equality: str) -> RobotModel:
        return read(self.PAIR, after=f"<equality>{equality}</equality>")

    def test_coupled_joints(self, read: Read) -> None:
        model = self._read(read, '<joint joint1="p" joint2="q" polycoef="0.5 2 0 0 0"/>')
        mimic = model.joint("p").mimic
        assert isinstance(mimic, Mimic)
        assert (mimic.joint, mimic.multiplier) == ("q", 2)
        assert mimic.offset == pytest.approx(radians(10) + 0.5 - 2 * radians(20), rel=1e-14)

    def test_points_tied(self, read: Read) -> None:
        loop = self._read(read, '<connect body1="a" body2="b" anchor="0.2 0 0"/>').loops[0]
        assert (loop.name, loop.kind, loop.link_a, loop.link_b) == (
            "connect", LoopKind.POINT, "a", "b",
        )  # fmt: skip
        np.testing.assert_allclose(loop.X_AC[:3, 3], [0.2, 0, 0])
        np.testing.assert_allclose(loop.X_BC[:3, 3], [-0.8, -0.5, 0])

    def test_tied_to_the_world(self, read: Read) -> None:
        loop = self._read(read, '<weld name="w" body1="b" anchor="0 0 1"/>').loops[0]
        assert (loop.name, loop.kind, loop.link_b) == ("w", LoopKind.POSE, "base")
        np.testing.assert_allclose(loop.X_BC[:3, 3], [0, 0, 1])
        np.testing.assert_allclose(loop.X_AC[:3, 3], [-1, -0.5, 1])

    def test_a_weld_without_torque_ties_points(self, read: Read) -> None:
        loop = self._read(read, '<weld body1="a" body2="b" torquescale="0"/>').loops[0]
        assert loop.kind is LoopKind.POINT

    def test_what_is_switched_off_is_left_out(self, read: Read) -> None:
        model = self._read(read, '<weld body1="a" body2="b" active="false"/>')
        assert model.loops == ()
        assert "inactive equality" in _repairs(model)


def test_includes_are_read_in_place(read: Read, tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(
        f'<mujocoinclude><body name="arm"><joint name="j"/>{GEOM}</body></mujocoinclude>'
    )
    (tmp_path / "settings.xml").write_text(
        '<mujoco><include file="deeper.xml"/><compiler angle="radian"/></mujoco>'
    )
    (tmp_path / "deeper.xml").write_text('<x><default><joint range="-1 1"/></default></x>')
    plain = read(f'<body name="base">{GEOM}</body>')
    model = read(
        f'<body name="base">{GEOM}<include file="arm.xml"/></body>',
        '<include file="settings.xml"/>',
    )
    assert model.joint("j").limits.upper == 1
    assert model.source.sha256 != plain.source.sha256


def test_an_include_may_lie_beside_the_file_that_asks_for_it(read: Read, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        '<x><include file="units.xml"/><worldbody><body name="arm"><joint name="j" range="-1 1"/>'
        f"{GEOM}</body></worldbody></x>"
    )
    (tmp_path / "parts" / "units.xml").write_text('<x><compiler angle="radian"/></x>')
    model = read("", '<include file="parts/arm.xml"/>')
    assert model.joint("j").limits.upper == 1
    (tmp_path / "units.xml").write_text('<x><compiler angle="degree"/></x>')
    assert read("", '<include file="parts/arm.xml"/>').joint("j").limits.upper == radians(1)


def test_the_latest_folder_of_assets_holds(read: Read, tmp_path: Path) -> None:
    for folder, edge in (("first", 1.0), ("second", 2.0)):
        (tmp_path / folder).mkdir()
        cube = stl_bytes(triangulate(Box((edge, edge, edge))))
        (tmp_path / folder / "cube.stl").write_bytes(cube)
    body = '<body name="a"><geom type="mesh" mesh="cube"/></body>'
    asset = '<asset><mesh file="cube.stl"/></asset>'
    two = '<compiler meshdir="first"/><compiler assetdir="second"/>'
    assert read(body, two + asset).mass == pytest.approx(8000, rel=1e-6)
    one = '<compiler meshdir="first" assetdir="second"/>'
    assert read(body, one + asset).mass == pytest.approx(1000, rel=1e-6)


class TestListedDifferences:
    """What is otherwise than in MuJoCo is said."""

    @pytest.mark.parametrize(
        ("joint", "compiler", "said"),
        [
            ('<freejoint align="true"/>', "", True),
            ("<freejoint/>", '<compiler alignfree="true"/>', True),
            ('<joint type="free"/>', '<compiler alignfree="true"/>', True),
            ('<freejoint align="false"/>', '<compiler alignfree="true"/>', False),
            ("<freejoint/>", "", False),
        ],
    )
    def test_the_frame_of_a_free_body_stays(
        self, read: Read, joint: str, compiler: str, said: bool
    ) -> None:
        body = f'<body name="a">{joint}<geom size="0.1" pos="1 0 0"/>{{}}</body>'
        assert ("free body's alignment" in _repairs(read(body.format(""), compiler))) == said
        child = f'<body name="b"><joint name="j"/>{GEOM}</body>'
        assert "free body's alignment" not in _repairs(read(body.format(child), compiler))

    @pytest.mark.parametrize(("place", "said"), [('pos="0 0 1"', True), ("", False)])
    def test_the_least_mass_is_at_the_origin(self, read: Read, place: str, said: bool) -> None:
        model = read(
            f'<body name="a">{GEOM}<body name="b" {place}><joint name="j"/></body></body>',
            '<compiler boundmass="0.5" boundinertia="0.1"/>',
        )
        inertia = model.link("b").inertia
        assert inertia is not None
        assert (inertia.mass, *inertia.center) == (0.5, 0, 0, 0)
        assert ("boundmass" in _repairs(model).get("link b", "")) == said


def test_what_is_only_seen_is_left_out(read: Read) -> None:
    model = read(
        f'<body name="a">{GEOM}</body>',
        '<visual><global offwidth="64"/><map znear="0.1"/><rgba haze="1 1 1 1"/></visual>',
        '<deformable><skin name="s" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="a" '
        'bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin>'
        "</deformable>",
    )
    assert {"visual", "skin"} <= set(_repairs(model))


def test_what_is_left_out_is_said_once_for_each_kind(read: Read) -> None:
    model = read(
        '<light/><light/><body name="a"><geom size="0.1" friction="1" condim="4"/><site name="s"/>'
        '<geom size="0.1" margin="1"/><camera/><body name="b"><joint name="j"/><geom size="1"/>'
        "</body></body>",
        '<option timestep="0.01" integrator="RK4"><flag gravity="disable"/></option><visual/>'
        '<statistic extent="1"/><custom><numeric name="n" data="1"/></custom><size nkey="5"/>',
        '<sensor><gyro site="s"/></sensor><keyframe><key qpos="0"/></keyframe>'
        f'<contact><exclude body1="a" body2="b"/></contact>{TENDON}',
    )
    repairs = _repairs(model)
    assert len(repairs) == len(model.repairs)
    assert repairs["light"].startswith("2 omitted")
    assert repairs["geom"].startswith("friction, condim, margin omitted")
    assert repairs["option"].startswith("timestep, integrator omitted")
    assert repairs["flag"].startswith("gravity omitted")
    assert set(repairs) == {
        "light", "camera", "geom", "option", "flag", "visual", "statistic", "custom", "sensor",
        "keyframe", "exclude", "tendon",
    }  # fmt: skip


def test_what_refers_to_what_is_replicated_or_left_out_is_accepted(read: Read) -> None:
    model = read(
        '<camera name="eye" target="a"/><geom name="floor" type="plane" size="1 1 1"/>'
        '<body name="a"><geom name="ball" size="0.1"/><replicate count="2"><site name="s"/>'
        "</replicate></body>",
        '<asset><texture name="t" type="2d" file="none.png"/><mesh name="unused" '
        'vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>',
        '<sensor><gyro site="s"/><gyro site="s1"/><framepos objtype="body" objname="world"/>'
        '</sensor><contact><pair geom1="floor" geom2="ball"/></contact>'
        '<custom><text name="nan" data="nan inf"/></custom>',
    )
    assert "texture" in _repairs(model)


def test_a_mesh_is_weighed_once(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = []
    monkeypatch.setattr(
        meshes, "mesh_inertia", lambda *given: weighed.append(given) or mesh_inertia(*given)
    )
    model = read(
        '<body name="a">' + '<geom type="mesh" mesh="m"/>' * 5 + "</body>",
        '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>',
    )
    assert len(weighed) == 1
    assert model.mass == pytest.approx(5 * 1000 / 6)


class TestHull:
    def test_encloses_all_points_and_is_closed(self) -> None:
        points = np.random.default_rng(5).normal(size=(500, 3))
        faces = convex_hull(points)
        a, b, c = (points[faces[:, i]] for i in range(3))
        normals = np.cross(b - a, c - a)
        heights = points @ normals.T - np.einsum("ij,ij->i", normals, a)
        assert heights.max() < 1e-12
        corners, edges = len(np.unique(faces)), len(faces) * 3 // 2
        assert corners - edges + len(faces) == 2

    def test_points_on_faces_and_edges_are_no_corners(self) -> None:
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 3), axis=-1).reshape(-1, 3)
        faces = convex_hull(grid)
        a, b, c = (grid[faces[:, i]] for i in range(3))
        assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(1, rel=1e-12)

    def test_too_many_points_are_refused(self) -> None:
        with pytest.raises(BrokenMeshError, match="too long"):
            convex_hull(np.zeros((MOST_POINTS + 1, 3)))

    @pytest.mark.parametrize("rank", [0, 1, 2])
    def test_what_encloses_nothing_is_refused(self, rank: int) -> None:
        points = np.random.default_rng(6).normal(size=(20, 3))
        points[:, rank:] = 1.0
        with pytest.raises(BrokenMeshError, match="plane"):
            convex_hull(points)
