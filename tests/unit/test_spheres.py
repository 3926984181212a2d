"""Sphere models: kernels against their references, pairs, ground and obstacles."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.dynamics import (
    BoxObstacle,
    Obstacles,
    SphereModel,
    SphereObstacle,
    link_poses,
    mesh_kernel,
    mesh_reference,
    random_positions,
    sphere_reference,
)
from kinetarium.dynamics.collision_pairs import collision_pairs
from kinetarium.dynamics.triangle_groups import TriangleGroups
from kinetarium.errors import UnknownNameError
from kinetarium.model.robot import (
    Geometry,
    Joint,
    JointType,
    Limits,
    Link,
    Loop,
    LoopKind,
    RobotModel,
    Source,
)
from kinetarium.model.shapes import Box, Capsule, Sphere
from kinetarium.model.solids import triangulate
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose

UNLIMITED = Limits()


def chain(count: int = 5, *, limits: Limits = UNLIMITED) -> RobotModel:
    """A chain of capsules with a fixed tool at its end and a frame without shape."""
    part = Geometry(Capsule(0.04, 0.2), frozen(pose([0, 0, 0.15])))
    links = [Link(f"link{k}", collisions=(part,)) for k in range(count)]
    joints = [
        Joint(
            f"joint{k}",
            JointType.REVOLUTE,
            f"link{k - 1}",
            f"link{k}",
            frozen(pose([0, 0, 0.3])),
            frozen([0, 1, 0] if k % 2 else [0, 0.6, 0.8]),
            limits,
        )
        for k in range(1, count)
    ]
    tool = Joint("tool_joint", JointType.FIXED, links[-1].name, "tool", frozen(pose([0, 0, 0.3])))
    links += [Link("tool", collisions=(Geometry(Box((0.1, 0.1, 0.05))),)), Link("frame")]
    joints += [tool, replace(tool, name="frame_joint", parent="tool", child="frame")]
    return RobotModel("chain", tuple(links), tuple(joints), Source("chain", "urdf", ""))


@pytest.fixture(scope="module")
def spheres() -> SphereModel:
    return SphereModel(chain(), excess=0.02)


OBSTACLES = Obstacles(
    ground=-0.1,
    spheres=(SphereObstacle((0.6, 0, 0.5), 0.2), SphereObstacle((-0.5, 0.5, 0.5), 0.1)),
    boxes=(BoxObstacle(pose([0, 0.8, 0.6], so3.exp([0.3, 0.2, 0.9])), (0.5, 0.2, 0.3)),),
)


@pytest.mark.parametrize("obstacles", [Obstacles(), OBSTACLES], ids=["alone", "among obstacles"])
def test_kernel_agrees_with_its_reference(spheres: SphereModel, obstacles: Obstacles) -> None:
    rng = np.random.default_rng(0)
    poses = link_poses(spheres.model, random_positions(spheres.model, rng, count=60))
    expected = [sphere_reference.clearance(X, spheres.arrays, obstacles.arrays) for X in poses]
    clearance = spheres.clearance_batch(poses, obstacles=obstacles)
    np.testing.assert_allclose(clearance, expected, atol=1e-13)
    collides = spheres.collides_batch(poses, obstacles=obstacles)
    np.testing.assert_array_equal(collides, np.array(expected) < 0)
    assert 0 < collides.sum() < len(poses)
    assert spheres.clearance(poses[0], obstacles=obstacles) == clearance[0]
    assert spheres.collides(poses[0], obstacles=obstacles) == collides[0]


def test_mesh_kernels_agree_with_their_references() -> None:
    rng = np.random.default_rng(1)
    mesh = triangulate(Sphere(0.2), segments=32)
    vertices = mesh.vertices * rng.uniform(0.8, 1.2, (len(mesh.vertices), 1))
    triangles = np.concatenate([vertices[mesh.faces], np.zeros((1, 3, 3))])  # one without area
    points = rng.uniform(-0.3, 0.3, (500, 3))
    groups = TriangleGroups.of(triangles)
    assert len(groups.radii) > 30
    distances = mesh_kernel.distances(points, groups)
    np.testing.assert_allclose(distances, mesh_reference.distances(points, triangles), atol=1e-14)
    around = mesh_reference.winding_numbers(points, triangles)
    np.testing.assert_allclose(around, np.round(around), atol=1e-9)
    np.testing.assert_allclose(mesh_kernel.winding_numbers(points, groups), around, atol=0.1)


def test_links_joined_by_a_joint_are_not_checked() -> None:
    pairs = collision_pairs(chain(3))
    assert pairs == (("link0", "link2"), ("link0", "tool"))


def test_links_joined_by_a_loop_are_not_checked() -> None:
    model = chain(3)
    looped = replace(model, loops=(Loop("loop", LoopKind.POINT, "frame", "link0"),))
    assert collision_pairs(looped) == ()


def test_pairs_can_be_ignored_in_either_order() -> None:
    ignore = [("tool", "link0"), ("link0", "link2")]
    assert collision_pairs(chain(3), ignore=ignore) == ()
    with pytest.raises(UnknownNameError, match="link2"):
        collision_pairs(chain(3), ignore=[("link0", "link_2")])


def test_pairs_that_always_overlap_are_left_out_and_named() -> None:
    model = chain(4, limits=Limits(-0.1, 0.1))
    ball = Geometry(Sphere(0.5), frozen(pose([0, 0, 0.15])))
    fat = replace(model.links[0], collisions=(ball,))
    spheres = SphereModel(replace(model, links=(fat, *model.links[1:])), excess=0.05)
    assert spheres.overlapping == (("link0", "link2"),)
    assert ("link0", "link2") not in spheres.pairs
    assert ("link1", "link3") in spheres.pairs


def test_only_moving_links_are_kept_from_the_ground() -> None:
    model = chain(3)
    ground = Obstacles(ground=0.5)
    straight = link_poses(model, np.zeros(2))
    assert SphereModel(model, excess=0.05).collides(straight, obstacles=ground)
    standing = SphereModel(model, excess=0.05, standing=["link1"])
    assert not standing.collides(straight, obstacles=ground)
    lower = standing.clearance(straight, obstacles=ground)
    assert 0.0 < lower <= 0.6 + 0.15 - 0.1 - 0.04 - 0.5
    with pytest.raises(UnknownNameError):
        SphereModel(model, excess=0.05, standing=["wheel"])


def test_a_robot_without_shapes_is_always_clear() -> None:
    model = RobotModel("frame", (Link("frame"),), (), Source("frame", "urdf", ""))
    spheres = SphereModel(model)
    assert spheres.clearance(np.eye(4)[None], obstacles=OBSTACLES) == np.inf
    assert not spheres.collides(np.eye(4)[None], obstacles=OBSTACLES)


def test_the_same_robot_gives_the_same_spheres() -> None:
    first, second = (SphereModel(chain(3), excess=0.04).arrays for _ in range(2))
    for mine, theirs in zip(first, second, strict=True):
        np.testing.assert_array_equal(mine, theirs)
