"""Self-collision: exact for primitives, and honest against public meshes."""

import coal
import numpy as np
import pytest
from scipy.spatial import cKDTree

from coal_collision import PUBLIC, meshes_touching, touching
from collision_pairs import collision_pairs
from kinetarium import load_robot
from kinetarium.dynamics.chain import SerialChain, ranges, serial_chain
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, Geometry, MeshData, RobotModel, TriangleMesh
from kinetarium.reach.collision import _gjk as gjk
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.collision.pieces import MOST_CORNERS, body_pieces
from kinetarium.spatial import pose, so3
from kinetarium.spatial.arrays import Array, frozen
from needs import needs


def coal_hull(points: Array) -> coal.CollisionGeometry:
    corners = coal.StdVec_Vec3s()
    for point in points:
        corners.append(point)
    return coal.Convex.convexHull(corners, False, "")


def own_pairs(model: RobotModel, *, same: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of links to check where some are one body with the hand."""
    pairs = collision_pairs(model)
    return [(a, b) for a, b in pairs if not (a.startswith(same) and b.startswith(same))]


@pytest.mark.parametrize("name", ["panda", "ur5", "kr250"])
def test_primitives_are_judged_as_an_independent_library_does(name: str) -> None:
    model = load_robot(name)
    chain = serial_chain(model)
    q = np.random.default_rng(0).uniform(
        chain.arrays.lower, chain.arrays.upper, (150, len(chain.joints))
    )
    hand = ("panda_hand", "panda_left", "panda_right", "panda_link6", "panda_link7")
    expected = touching(model, chain.whole(q), own_pairs(model, same=hand))
    reported = collisions(body_pieces(chain), chain.arrays, q)
    assert expected.sum() > 5
    assert (expected != reported).sum() == 0


def test_convex_sets_of_every_kind_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    kinds = np.array([[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]])
    for _ in range(1000):
        kind = rng.integers(0, 5, 2)
        sizes = rng.uniform(0.02, 0.2, (2, 4)) * kinds[kind]
        corners = [
            rng.uniform(-1, 1, (20, 3)) * size[:3] if k == 4 else np.zeros((0, 3))
            for k, size in zip(kind, sizes, strict=True)
        ]
        ends = np.cumsum([len(points) for points in corners])
        rows = np.zeros((2, 9))
        rows[:, :4], rows[:, 7], rows[:, 8] = sizes, [0, ends[0]], ends
        margin = rng.choice([0.0, 0.05])
        R, p = so3.exp(rng.normal(size=3) * 2), rng.normal(size=3) * 0.2
        shapes = [
            coal_hull(points)
            if len(points)
            else coal.Cylinder(size[3], 2 * size[2])
            if size[3]
            else coal.Box(*np.maximum(2 * size[:3], 1e-9))
            for size, points in zip(sizes, corners, strict=True)
        ]
        distance = coal.distance(
            shapes[0], coal.Transform3s.Identity(), shapes[1], coal.Transform3s(R, p),
            coal.DistanceRequest(), coal.DistanceResult(),
        )  # fmt: skip
        if abs(distance - margin) > 1e-5:
            axes = (tuple(R[:, 0]), tuple(R[:, 1]), tuple(R[:, 2]))
            assert gjk.closer(rows, np.concatenate(corners), 0, 1, *axes, tuple(p), margin) == (
                distance < margin
            )


def test_the_gap_of_segments_is_that_of_their_nearest_points() -> None:
    rng = np.random.default_rng(2)
    t = np.linspace(-1, 1, 201)
    for turn in (*rng.normal(size=(50, 3)), np.zeros(3), np.array([np.pi, 0, 0])):
        u, v, d = so3.exp(rng.normal(size=3))[:, 2], so3.exp(turn)[:, 2], rng.normal(size=3)
        u = v if not turn.any() else u
        a, b = rng.uniform(0.1, 1, 2)
        points, others = np.outer(a * t, u), d + np.outer(b * t, v)
        sampled = np.linalg.norm(points[:, None] - others, axis=2).min()
        gap = np.sqrt(gjk.segments_gap(tuple(u), a, tuple(v), b, tuple(d)))
        assert sampled - 0.02 < gap <= sampled + 1e-12


def against_meshes(name: str, count: int) -> None:
    chain = serial_chain(load_robot(name))
    lower, upper = chain.arrays.lower, chain.arrays.upper
    q = np.random.default_rng(0).uniform(lower, upper, (count, len(lower)))
    truth = meshes_touching(name, chain.whole(q))
    reported = collisions(body_pieces(chain), chain.arrays, q)
    assert truth.mean() > 0.08
    assert not (truth & ~reported).any()
    assert (reported & ~truth).sum() <= 0.07 * (~truth).sum()


@needs("example-robot-data")
@pytest.mark.parametrize("name", PUBLIC)
def test_no_collision_of_the_public_meshes_is_missed(name: str) -> None:
    against_meshes(name, 1000)


@pytest.mark.slow
@needs("example-robot-data")
@pytest.mark.parametrize("name", PUBLIC)
def test_no_collision_of_the_public_meshes_is_missed_in_full(name: str) -> None:
    against_meshes(name, 10_000)


@needs("example-robot-data")
@pytest.mark.parametrize(
    ("name", "tool", "invented"), [("panda", "panda_hand_tcp", 0.0), ("ur5", "tool0", 0.03)]
)
def test_meshes_collide_as_the_hulls_of_their_shells(name: str, tool: str, invented: float) -> None:
    model = load_robot(PUBLIC[name][0])
    chain = serial_chain(model, tool=tool)
    lower, upper = ranges(chain.arrays)
    q = np.random.default_rng(0).uniform(lower, upper, (300, len(lower)))
    body = {model.root: 0}
    for joint in model.joints:
        moved = joint.name in chain.joints
        body[joint.child] = chain.joints.index(joint.name) + 1 if moved else body[joint.parent]
    names = [link.name for link in model.links if link.collisions]
    pairs = [(a, b) for a in names for b in names if body[b] - body[a] >= 2]
    truth = touching(model, chain.whole(q), pairs)
    reported = collisions(body_pieces(chain), chain.arrays, q)
    assert truth.sum() > 20
    assert not (truth & ~reported).any()
    assert (reported & ~truth).mean() <= invented


def mesh_of_boxes(*boxes: Geometry) -> MeshData:
    vertices, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    for box in boxes:
        mesh = triangulate(box.shape)
        faces = np.vstack([faces, mesh.faces + len(vertices)])
        vertices = np.vstack([vertices, mesh.vertices @ box.X_LG[:3, :3].T + box.X_LG[:3, 3]])
    return MeshData("boxes", TriangleMesh(frozen(vertices), faces))


def blocks(chain: SerialChain, shape: MeshData, at: Array) -> bool:
    """Whether an obstacle touches the arm with all joints in the middle of their ranges."""
    pieces = body_pieces(chain, obstacles=(Geometry(shape, frozen(at)),))
    around = pieces.pairs[pieces.pairs[:, 1] == len(pieces.bodies) - 1]
    return bool(
        collisions(pieces._replace(pairs=around), chain.arrays, chain.arrays.middle[None])[0]
    )


def test_what_stands_between_the_shells_of_a_mesh_is_free() -> None:
    chain = serial_chain(load_robot("ur5"))
    boards = [Geometry(Box((9.0, 9.0, 0.1)), pose((0.0, 0.0, z))) for z in (-4.0, 4.0)]
    assert not blocks(chain, mesh_of_boxes(*boards), pose())
    assert blocks(chain, mesh_of_boxes(*boards), pose((0.0, 0.0, 4.09)))
    assert blocks(chain, mesh_of_boxes(Geometry(Box((9.0, 9.0, 8.1)))), pose())


def test_a_flat_mesh_blocks() -> None:
    chain = serial_chain(load_robot("ur5"))
    corners = frozen([[-9.0, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]])
    sheet = MeshData("sheet", TriangleMesh(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32)))
    assert blocks(chain, sheet, pose((0.0, 0.0, 0.09)))
    assert not blocks(chain, sheet, pose((0.0, 0.0, 3.0)))


def test_a_hull_of_many_corners_still_encloses_them() -> None:
    points = np.random.default_rng(3).normal(size=(15 * MOST_CORNERS, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    faces = np.arange(len(points), dtype=np.int32).reshape(-1, 3)
    ball = MeshData("ball", TriangleMesh(frozen(points), faces))
    pieces = body_pieces(serial_chain(load_robot("ur5")), obstacles=(Geometry(ball),))
    X, corners, radius = pieces.places[-1], pieces.corners, pieces.sizes[-1, 4]
    assert len(corners) < len(points) / 5
    assert radius < 0.11
    gaps, _ = cKDTree(corners @ X[:, :3].T + X[:, 3]).query(points)
    assert gaps.max() <= radius + 1e-12
