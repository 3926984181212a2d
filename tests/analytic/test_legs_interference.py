"""Interference of walking machines, against an independent intersection of their meshes."""

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from coal_collision import coal_shape, placed
from kinetarium.legs import Heading, LegKind, LinkShape, Machine, WalkPlan, plan_walk
from kinetarium.legs.mechanism.interference import BODY, LINKS, PARTS, checked_pairs
from kinetarium.legs.mechanism.machine import link_mesh
from kinetarium.model.robot import MeshData
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.studies.walk.config import random_waypoints

TOUCHING = 1e-6
"""Nearer than this to touching, either answer is right [unit]."""
SPIN = {"waypoints": ((0.0, 0.0),), "heading": Heading.SPIN}


def compare(plan, *, every=1):
    """Compare each frame with Coal, pair by pair, and return how many overlap."""
    walk = plan_walk(plan)
    found = walk.interference
    shapes = [shape for of in plan.machine.link_shapes for shape in of]
    meshes = [link_mesh(shape, unit_m=1.0) for shape in shapes]
    models = [coal_shape(MeshData("", mesh)) for mesh in meshes]
    poses = np.concatenate([walk.links.reshape(-1, BODY, 7), walk.body[:, np.newaxis]], axis=1)
    close = near(poses[::every], [mesh.vertices for mesh in meshes], found.pairs)
    request, overlapping = coal.CollisionRequest(), 0
    for frame, rows, pairs in zip(range(0, len(poses), every), poses[::every], close, strict=True):
        X = [placed(pose(row[:3], rotation_from_quaternion(row[3:]))) for row in rows]
        hits = np.zeros(len(PARTS), dtype=bool)
        for a, b, _ in found.pairs[pairs].tolist():
            result = coal.CollisionResult()
            if coal.collide(models[a], X[a], models[b], X[b], request, result):
                hits[[a, b]] = True
        if (hits != found.hits[frame]).any():
            assert nearly_touching(models, X, found.pairs), (plan, frame)
        assert (found.depth[frame] > 0).any() == found.hits[frame].any()
        overlapping += int(hits.any())
    return overlapping


def near(poses, vertices, pairs):
    """Return which pairs have bounding boxes along the world's axes that overlap, shape (n, p)."""
    low, high = np.empty((2, *poses.shape[:2], 3))
    for part, points in enumerate(vertices):
        axes = Rotation.from_quat(poses[:, part, 3:], scalar_first=True).as_matrix()
        corners = points @ axes.mT + poses[:, part, np.newaxis, :3]
        low[:, part], high[:, part] = corners.min(axis=1), corners.max(axis=1)
    a, b = pairs[:, 0], pairs[:, 1]
    return ((low[:, a] <= high[:, b]) & (low[:, b] <= high[:, a])).all(axis=2)


def nearly_touching(models, X, pairs):
    request = coal.DistanceRequest()
    for a, b, _ in pairs.tolist():
        result = coal.DistanceResult()
        if abs(coal.distance(models[a], X[a], models[b], X[b], request, result)) < TOUCHING:
            return True
    return False


def walks(count):
    for seed in range(count):
        kind = list(LegKind)[seed % 3]
        machine = Machine(kind=kind, foot_offset=6.0 * (seed // 3 % 2))
        yield WalkPlan(machine=machine, waypoints=random_waypoints(seed), stride=20.0, sway=1.0)


def test_overlaps_are_those_of_the_meshes():
    assert compare(WalkPlan(machine=Machine(kind=LegKind.TTT1), **SPIN), every=6) > 5
    compare(WalkPlan(stride=31.87), every=40)
    sections = tuple((3 * np.cos(t), 2 * np.sin(t) - 0.5) for t in np.arange(5) * 2 * np.pi / 5)
    odd = Machine(shapes=(LinkShape("shank", sections, 2.0, -38.0, 36.0),), body_length=24.0)
    assert compare(WalkPlan(machine=odd, stride=24.0), every=40) > 0
    for plan in walks(3):
        compare(plan, every=90)


@pytest.mark.slow
def test_overlaps_of_whole_walks_are_those_of_the_meshes():
    assert compare(WalkPlan(machine=Machine(kind=LegKind.TTT1), **SPIN)) > 50
    compare(WalkPlan(stride=31.87))
    assert sum(compare(plan) for plan in walks(1000)) > 30_000


def test_a_ttt1_robot_cannot_turn_on_the_spot():
    walk = plan_walk(WalkPlan(machine=Machine(kind=LegKind.TTT1), **SPIN))
    warned = [warning for warning in walk.warnings if warning.kind == "interference"]
    assert {warning.leg for warning in warned} == {1, 2, 3, 4}
    assert all("deep in the body" in warning.text for warning in warned)
    for kind in LegKind:
        straight = plan_walk(WalkPlan(machine=Machine(kind=kind)))
        assert not straight.interference.hits.any()
    spun = plan_walk(WalkPlan(machine=Machine(kind=LegKind.TTT2), **SPIN))
    assert not spun.interference.hits.any()


def test_depth_is_how_far_a_leg_slides_into_the_body():
    """A TTT1 leg that slides inwards, against the width of what it slides with."""
    machine = Machine(kind=LegKind.TTT1, body_width=41.5)
    plan = WalkPlan(machine=machine, waypoints=((0, 0), (0, 1.2)), heading=Heading.CRAB, lift=0.0)
    walk = plan_walk(plan)
    inward = -walk.joints[:, :, 1] * [-1, -1, 1, 1]
    (slider,) = {corner[1] for corner in machine.link_shapes[2][2].section if corner[1] > 0}
    body = max(y for _, y in machine.body_shape.section)
    expected = np.maximum(inward + slider - (machine.body_width / 2 - body), 0.0)
    assert expected.max() > 0.1
    np.testing.assert_allclose(walk.interference.depth, expected, atol=1e-9)


def test_times_of_overlap_are_told_part_by_part():
    found = plan_walk(WalkPlan(machine=Machine(kind=LegKind.TTT1), **SPIN)).interference
    hits = np.zeros_like(found.hits)
    for name, first, last in found.spans():
        assert not hits[first : last + 1, PARTS.index(name)].any()
        hits[first : last + 1, PARTS.index(name)] = True
    np.testing.assert_array_equal(hits, found.hits)
    for kind, own in zip(LegKind, (8, 7, 7), strict=True):
        assert len(checked_pairs(kind)) == 4 * own + 6 * LINKS**2
