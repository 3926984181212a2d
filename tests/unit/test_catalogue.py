"""The catalogue: sound models, public kinematics, primitives that enclose the meshes."""

from importlib.resources import files
from itertools import combinations
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pytest

from kinetarium.dynamics import RobotDynamics
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model import load as catalogue_module
from kinetarium.model.assets import installed_packages
from kinetarium.model.load import (
    attach,
    catalogue_entry,
    catalogue_names,
    list_robots,
    load_catalogue_robot,
    read_robot_file,
)
from kinetarium.model.robot import Box, Cylinder, Geometry, JointType, MeshFile, RobotModel, Sphere
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about
from needs import public

NAMES = (
    "panda", "ur5", "two-link", "husky4", "husky2", "scout", "husky4-panda", "scout-panda", "kr250",
)  # fmt: skip
PANDA_ARM = (0.629769, 4.970684, 0.646926, 3.228604, 3.587895, 1.225946, 1.666555, 0.735522)
KUKA = (225.96, 367.37, 232.06, 191.53, 47.94, 23.69, 12.25)
MASSES = {
    "panda": sum(PANDA_ARM) + 0.73 + 2 * 0.015 + 2 * 0.015,
    "two-link": 8.393 + 2.275,
    "husky4": 33.455 + 4 * 2.637,
    "scout": 67.0,
    "kr250": sum(KUKA) + 2.0 + 1.0,
}


def link_poses(robot: RobotModel, home: dict[str, float]) -> dict[str, Array]:
    """X_WL of every link, with the root at the origin."""
    poses = {robot.root: np.eye(4)}
    for joint in robot.joints:
        position = home.get(joint.name, 0.0)
        motion = np.eye(4)
        if joint.type is JointType.PRISMATIC:
            motion = pose(position * joint.axis)
        elif joint.type is not JointType.FIXED:
            motion = pose(rotation=rotation_about(joint.axis, position))
        poses[joint.child] = poses[joint.parent] @ joint.X_PJ @ motion
    return poses


def distance(geometry: Geometry, points: Array) -> Array:
    """Signed distance [m] of points in the link frame to a primitive; negative inside."""
    local = points @ geometry.X_LG[:3, :3] + inverse_pose(geometry.X_LG)[:3, 3]
    match geometry.shape:
        case Sphere(radius):
            return np.linalg.norm(local, axis=1) - radius
        case Box(size):
            outside = np.abs(local) - np.array(size) / 2
        case Cylinder(radius, length):
            rho, height = np.hypot(local[:, 0], local[:, 1]), np.abs(local[:, 2])
            outside = np.column_stack([rho - radius, height - length / 2])
    return np.linalg.norm(np.maximum(outside, 0), axis=1) + np.minimum(outside.max(axis=1), 0)


def solid_points(geometry: Geometry, rng: np.random.Generator) -> Array:
    """Random points inside a primitive, in the link frame, shape (n, 3)."""
    match geometry.shape:
        case Sphere(radius):
            extent = np.full(3, radius)
        case Box(size):
            extent = np.array(size) / 2
        case Cylinder(radius, length):
            extent = np.array([radius, radius, length / 2])
    points = rng.uniform(-1, 1, (1500, 3)) * extent
    points = points @ geometry.X_LG[:3, :3].T + geometry.X_LG[:3, 3]
    return points[distance(geometry, points) <= 0]


def test_names_are_the_promised_ones() -> None:
    assert catalogue_names() == NAMES


def test_unknown_name_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'husky4'"):
        load_catalogue_robot("husky")


@pytest.mark.parametrize("name", NAMES)
def test_models_are_sound(name: str) -> None:
    entry, robot = catalogue_entry(name), load_catalogue_robot(name)
    assert robot.repairs == ()
    assert (robot.name, robot.root, robot.source.file) == (name, entry.base, name)
    assert robot.free_base == entry.free_base == bool(entry.base_height)
    assert [joint.child for joint in robot.joints] == [link.name for link in robot.links[1:]]
    for joint in robot.moving_joints:
        assert 0 < joint.limits.velocity < inf and 0 < joint.limits.effort < inf, joint.name
        if joint.type is not JointType.CONTINUOUS:
            assert -inf < joint.limits.lower < joint.limits.upper < inf, joint.name
        assert joint.limits.lower <= entry.home.get(joint.name, 0.0) <= joint.limits.upper
    for link in robot.links:
        assert bool(link.visuals) == bool(link.collisions)
        assert all(type(g.shape) in (Box, Sphere, Cylinder) for g in link.collisions)
        assert all(g.color for g in link.visuals)
    assert entry.home.keys() <= {joint.name for joint in robot.moving_joints}
    assert {entry.flange, entry.tool} - {""} <= {link.name for link in robot.links}
    assert entry.title and entry.description and entry.licence and entry.sources


@pytest.mark.parametrize(("name", "mass"), MASSES.items())
def test_masses(name: str, mass: float) -> None:
    assert load_catalogue_robot(name).mass == pytest.approx(mass, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_links_that_are_no_neighbours_are_apart_at_home(name: str) -> None:
    entry, robot = catalogue_entry(name), load_catalogue_robot(name)
    rng = np.random.default_rng(0)
    poses = link_poses(robot, dict(entry.home))
    body = {robot.root: robot.root}
    for joint in robot.joints:
        body[joint.child] = body[joint.parent] if joint.type is JointType.FIXED else joint.child
    above = {body[j.child]: body[j.parent] for j in robot.joints if j.type is not JointType.FIXED}
    clouds = {
        link.name: np.vstack([solid_points(g, rng) for g in link.collisions])
        for link in robot.links
        if link.collisions
    }
    for a, b in combinations(clouds, 2):
        one, two = body[a], body[b]
        if one == two or above.get(one) == two or above.get(two) == one:
            continue
        X_BA = inverse_pose(poses[b]) @ poses[a]
        points = clouds[a] @ X_BA[:3, :3].T + X_BA[:3, 3]
        assert min(distance(g, points).min() for g in robot.link(b).collisions) > 0, (a, b)


@pytest.mark.parametrize("name", ["husky4", "husky2", "scout"])
def test_mobile_bases_stand_on_their_wheels(name: str) -> None:
    entry, robot = catalogue_entry(name), load_catalogue_robot(name)
    poses = link_poses(robot, {})
    for link in robot.links:
        for geometry in link.collisions:
            points = solid_points(geometry, np.random.default_rng(0))
            X = poses[link.name]
            lowest = (points @ X[:3, :3].T + X[:3, 3])[:, 2].min() + entry.base_height
            if link.name.endswith("wheel_link"):
                radius = geometry.shape.radius  # type: ignore[union-attr]
                center = (X @ geometry.X_LG)[2, 3] + entry.base_height
                assert center - radius == pytest.approx(0, abs=1e-12)
                assert link.inertia is not None and np.argmax(np.diag(link.inertia.moment)) == 1
            else:
                assert lowest > 0.0019
    casters = [link for link in robot.links if link.name.startswith("caster")]
    assert len(casters) == (2 if name == "husky2" else 0)
    for caster in casters:
        height = poses[caster.name][2, 3] + entry.base_height
        assert height - caster.collisions[0].shape.radius == pytest.approx(0.002)  # type: ignore[union-attr]


PUBLIC = [
    ("panda", "panda_description/urdf/panda.urdf", "panda_link8"),
    ("panda", "panda_description/urdf/panda.urdf", "panda_hand_tcp"),
    ("panda", "panda_description/urdf/panda.urdf", "panda_rightfinger"),
    ("ur5", "ur_description/urdf/ur5_robot.urdf", "tool0"),
]


@pytest.mark.parametrize(("name", "file", "frame"), PUBLIC)
def test_kinematics_are_the_published_ones(name: str, file: str, frame: str) -> None:
    folder = public("example-robot-data", "robots")
    ours, theirs = load_catalogue_robot(name), read_robot_file(folder / file)
    rng = np.random.default_rng(2)
    for _ in range(20):
        q = {joint.name: rng.uniform(-0.04, 0.04) for joint in ours.moving_joints}
        q |= {n: rng.uniform(-3, 3) for n in q if "finger" not in n}
        mine, published = link_poses(ours, q)[frame], link_poses(theirs, q)[frame]
        np.testing.assert_allclose(mine, published, atol=1e-9)
    for joint in ours.moving_joints:
        other = theirs.joint(joint.name).limits
        np.testing.assert_allclose(
            (joint.limits.lower, joint.limits.upper, joint.limits.velocity, joint.limits.effort),
            (other.lower, other.upper, other.velocity, other.effort), atol=1e-9,
        )  # fmt: skip


def test_kr250_flange_is_level_at_the_start() -> None:
    home = dict(catalogue_entry("kr250").home)
    poses = link_poses(load_catalogue_robot("kr250"), home)
    np.testing.assert_allclose(poses["flange"][:3, :3], np.eye(3), atol=1e-12)
    assert poses["flange"][0, 3] == pytest.approx(1.5785, abs=5e-5)
    assert poses["docking_face"][0, 3] == pytest.approx(1.5785 + 0.05 + 0.40, abs=5e-5)


def test_satellite_is_exactly_a_hexagonal_prism() -> None:
    satellite = load_catalogue_robot("kr250").link("satellite")
    rng = np.random.default_rng(3)
    points = rng.uniform((-0.02, -0.32, -0.32), (0.42, 0.32, 0.32), (20000, 3))
    x, y, z = points.T
    flat = 0.3 * sqrt(3) / 2
    across = [np.abs(z), np.abs(z / 2 + y * sqrt(3) / 2), np.abs(z / 2 - y * sqrt(3) / 2)]
    inside = (x > 0) & (x < 0.4) & (np.max(across, axis=0) < flat)
    covered = np.min([distance(g, points) for g in satellite.collisions], axis=0) < 0
    np.testing.assert_array_equal(covered, inside)
    assert satellite.inertia is not None
    mesh = points[inside] - (0.2, 0, 0)
    second = mesh.T @ mesh / len(mesh)
    np.testing.assert_allclose(
        satellite.inertia.moment, np.trace(second) * np.eye(3) - second, atol=1.5e-3
    )


def test_two_link_has_the_published_dynamics() -> None:
    dynamics = RobotDynamics(load_catalogue_robot("two-link"))
    q = np.array([0.0, 0.0665])
    np.testing.assert_allclose(dynamics.mass_matrix(q), [[1.970, 0.433], [0.433, 0.192]], atol=5e-4)
    np.testing.assert_allclose(dynamics.gravity_forces(q), [-38.106, -5.567], atol=5e-4)


PANDA, UR5 = (
    "robots/panda_description/meshes/collision",
    "robots/ur_description/meshes/ur5/collision",
)
HUSKY = "husky/meshes"
MESHES = [
    *(("panda", f"panda_link{i}", f"{PANDA}/link{i}.stl") for i in range(8)),
    ("panda", "panda_hand", f"{PANDA}/hand.stl"),
    ("ur5", "shoulder_link", f"{UR5}/shoulder.stl"),
    ("ur5", "upper_arm_link", f"{UR5}/upperarm.stl"),
    ("ur5", "forearm_link", f"{UR5}/forearm.stl"),
    ("ur5", "wrist_1_link", f"{UR5}/wrist1.stl"),
    ("ur5", "wrist_2_link", f"{UR5}/wrist2.stl"),
    ("ur5", "wrist_3_link", f"{UR5}/wrist3.stl"),
    ("husky4", "base_link", f"{HUSKY}/base_link.stl"),
    ("husky4", "base_link", f"{HUSKY}/top_plate.stl"),
    ("husky4", "front_left_wheel_link", f"{HUSKY}/wheel.stl"),
]


@pytest.mark.parametrize(("name", "link", "file"), MESHES)
def test_primitives_enclose_the_meshes(name: str, link: str, file: str) -> None:
    package = "pybullet_data" if name == "husky4" else "example-robot-data"
    corners = binary_stl(public(package, file))
    weights = np.random.default_rng(4).dirichlet(np.ones(3), 12)
    points = np.vstack(
        [corners.reshape(-1, 3), *(np.einsum("k,nkd->nd", w, corners) for w in weights)]
    )
    geometries = load_catalogue_robot(name).link(link).collisions
    outside = np.min([distance(g, points) for g in geometries], axis=0)
    assert outside.max() < 1.5e-3, "sticks out"
    rng = np.random.default_rng(5)
    solid = np.vstack([solid_points(g, rng) for g in geometries])
    box = np.abs(solid - np.clip(solid, points.min(axis=0), points.max(axis=0)))
    if name != "husky4":
        assert box.max() < 0.03, "stands off"


def binary_stl(path: Path) -> Array:
    """Corners of the triangles of a binary STL file, shape (n, 3, 3)."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    return np.frombuffer(path.read_bytes(), record, offset=84)["corners"].astype(float)


def test_meshes_are_shown_only_where_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue_module, "installed_packages", dict)
    bare = load_catalogue_robot("husky4-panda")
    assert not any(isinstance(g.shape, MeshFile) for link in bare.links for g in link.visuals)
    monkeypatch.undo()
    if {"example-robot-data", "pybullet_data"} <= installed_packages().keys():
        dressed = load_catalogue_robot("husky4-panda")
        for entry in list_robots():
            for link, meshes in entry.display.items():
                robot = dressed if entry.name != "ur5" else load_catalogue_robot("ur5")
                shapes = [g.shape for g in robot.link(link).visuals]
                assert [s.uri for s in shapes if isinstance(s, MeshFile)] == [m.uri for m in meshes]


def test_every_file_is_listed_and_its_sources_are_told() -> None:
    folder = files("kinetarium") / "robots"
    sources = (folder / "SOURCES.md").read_text("utf-8")
    listed = {entry.file for entry in list_robots() if entry.file}
    assert listed == {item.name for item in folder.iterdir() if item.name.endswith(".urdf")}
    assert all(file in sources for file in listed)


def test_attach_puts_the_arm_on_the_base() -> None:
    base, arm = load_catalogue_robot("husky4"), load_catalogue_robot("ur5")
    X_LP = pose([0.1, 0.2, 0.3], rotation_about([0, 0, 1], 0.5))
    whole = attach(base, arm, link="front_left_wheel_link", X_LP=X_LP, prefix="arm_")
    assert whole.name == "husky4-ur5" and whole.free_base
    assert whole.mass == pytest.approx(base.mass + arm.mass)
    assert [joint.child for joint in whole.joints] == [link.name for link in whole.links[1:]]
    names = [link.name for link in whole.links]
    assert names[1:4] == ["front_left_wheel_link", "arm_base_link", "arm_shoulder_link"]
    q = {"front_left_wheel": 0.3, "arm_elbow_joint": 0.7}
    expected = (
        link_poses(base, q)["front_left_wheel_link"]
        @ X_LP
        @ link_poses(arm, {"elbow_joint": 0.7})["tool0"]
    )
    np.testing.assert_allclose(link_poses(whole, q)["arm_tool0"], expected, atol=1e-12)


def test_attach_renames_couplings_and_tells_models_apart() -> None:
    base, arm = load_catalogue_robot("scout"), load_catalogue_robot("panda")
    whole = attach(base, arm, link="mount_plate", prefix="left_")
    mimic = whole.joint("left_panda_finger_joint2").mimic
    assert mimic is not None and mimic.joint == "left_panda_finger_joint1"
    twice = attach(whole, arm, link="mount_plate", prefix="right_", name="twins")
    assert twice.name == "twins" and len(twice.moving_joints) == 4 + 9 + 9
    hashes = {whole.source.sha256, twice.source.sha256, base.source.sha256, arm.source.sha256}
    moved = attach(base, arm, link="mount_plate", prefix="left_", X_LP=pose([0.1, 0, 0]))
    assert len(hashes | {moved.source.sha256}) == 5


def test_attach_refuses_shared_names_and_unknown_links() -> None:
    base, arm = load_catalogue_robot("husky4"), load_catalogue_robot("ur5")
    with pytest.raises(KinetariumError, match=r"both robots have a link 'base_link'.*prefix"):
        attach(base, arm, link="mount_plate")
    with pytest.raises(UnknownNameError, match="did you mean 'mount_plate'"):
        attach(base, arm, link="mount_plat", prefix="arm_")
