from math import pi, tan

import numpy as np
import pytest
from scipy.spatial import cKDTree

from kinetarium.figure.robot_page import robot_scene
from kinetarium.figure.scene3d import Mesh3D, Scene3D, decimate, face_shares
from kinetarium.model.load import load_robot
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import (
    Box,
    Geometry,
    Joint,
    JointType,
    Link,
    RobotModel,
    Source,
    Sphere,
    TriangleMesh,
)
from kinetarium.report.matplotlib.still import scene_png
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose


def area(mesh):
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2


def grid(n):
    """A unit square of 2 n^2 triangles in the plane z = 0."""
    x, y = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1))
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    i = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    lower = np.column_stack([i, i + 1, i + n + 2])
    upper = np.column_stack([i, i + n + 2, i + n + 1])
    return vertices, np.concatenate([lower, upper]).astype(np.int32)


def test_small_meshes_stay_as_they_are():
    mesh = triangulate(Sphere(1.0))
    assert decimate(mesh, most_faces=len(mesh.faces)) is mesh


@pytest.mark.parametrize("most", [60, 300, 1000])
def test_spheres_stay_round(most):
    mesh = triangulate(Sphere(0.5), segments=96)
    few = decimate(mesh, most_faces=most)
    assert most / 3 < len(few.faces) <= most
    radii = np.linalg.norm(few.vertices, axis=1)
    assert np.abs(radii - 0.5).max() < 0.08
    assert area(few) == pytest.approx(pi, rel=0.15)
    assert sorted(set(few.faces.ravel().tolist())) == list(range(len(few.vertices)))
    a, b, c = few.vertices[few.faces].transpose(1, 0, 2)
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c)
    assert (outward > 0).mean() > 0.95


def borders(mesh):
    """Return how many edges have one face, and how many more than two; places count once."""
    _, of_vertex = np.unique(np.round(mesh.vertices, 7), axis=0, return_inverse=True)
    faces = of_vertex.ravel()[mesh.faces]
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, count = np.unique(edges, axis=0, return_counts=True)
    return int((count == 1).sum()), int((count > 2).sum())


def test_closed_surfaces_stay_closed():
    """The arms of the Panda, of 12,516 and 12,716 triangles, and a thin shell."""
    panda = load_robot("panda")
    meshes = [triangulate(panda.link(f"panda_link{i}").visuals[0].shape) for i in (1, 2)]
    ball = triangulate(Sphere(0.5), segments=64)
    inner = TriangleMesh(ball.vertices * 0.98, ball.faces[:, ::-1])
    shell = TriangleMesh(
        np.concatenate([ball.vertices, inner.vertices]),
        np.concatenate([ball.faces, inner.faces + len(ball.vertices)]),
    )
    for mesh in (*meshes, shell):
        few = decimate(mesh, most_faces=600)
        assert len(few.faces) <= 600 < len(mesh.faces)
        assert borders(mesh) == borders(few) == (0, 0)
        # Every vertex is near the surface as it was, here near its vertices.
        size = np.ptp(mesh.vertices, axis=0).max()
        away = cKDTree(mesh.vertices).query(few.vertices)[0]
        assert away.max() < 0.04 * size
        assert area(few) == pytest.approx(area(mesh), rel=0.05)


def test_tangled_meshes_of_many_parts_stay_whole():
    """A body with a wall inside, whose edges have three faces, and with a hundred screws."""
    body = triangulate(Sphere(0.5), segments=96)
    ring = body.vertices[np.abs(body.vertices[:, 2]) < 1e-9]
    fan = np.array([[0, i + 1, (i + 1) % len(ring) + 1] for i in range(len(ring))])
    parts = [(body.vertices, body.faces), (np.vstack([np.zeros((1, 3)), ring]), fan)]
    screw = triangulate(Sphere(0.01), segments=12)
    rng = np.random.default_rng(0)
    for _ in range(100):
        place = rng.normal(size=3)
        parts.append((screw.vertices + 0.5 * place / np.linalg.norm(place), screw.faces))
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    mesh = TriangleMesh(
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([faces + start for (_, faces), start in zip(parts, starts, strict=False)]),
    )
    assert borders(mesh)[1] > 0
    few = decimate(mesh, most_faces=500)
    assert 300 < len(few.faces) <= 500
    # Every place on the ball is near a corner: clusters would leave shards and screws.
    assert cKDTree(few.vertices).query(body.vertices)[0].max() < 0.12
    assert area(few) == pytest.approx(area(mesh), rel=0.1)
    assert borders(few)[0] == 0


def test_a_body_of_one_large_mesh_has_a_share_of_the_robots_triangles():
    assert face_shares([90_000, 9_000, 12], total=10_000, least=600) == [9089, 908, 600]
    assert face_shares([100, 12], total=10_000, least=600) == [600, 600]
    assert face_shares([], total=10, least=1) == []


def test_flat_faces_stay_flat():
    few = decimate(TriangleMesh(*grid(40)), most_faces=200)
    assert np.abs(few.vertices[:, 2]).max() < 1e-12
    assert area(few) == pytest.approx(1.0, rel=0.1)


def two_links(**shown):
    links = (Link("base"), Link("arm", **shown))
    joints = (
        Joint(
            "turn", JointType.REVOLUTE, "base", "arm", frozen(pose((0, 0, 1))), frozen([0, 1, 0])
        ),
    )
    return RobotModel("robot", links, joints, Source("robot", "urdf", ""))


def test_robots_are_drawn_where_they_are():
    box = Geometry(Box((0.2, 0.2, 1.0)), frozen(pose((0, 0, 0.5))))
    scene = robot_scene(two_links(visuals=(box,)), [pi / 2])
    low, high = scene.bounds
    np.testing.assert_allclose(low, [0.0, -0.1, 0.9], atol=1e-12)
    np.testing.assert_allclose(high, [1.0, 0.1, 1.1], atol=1e-12)


def test_robots_without_visuals_show_what_touches():
    red = (1.0, 0.0, 0.0, 1.0)
    shapes = (
        Geometry(Sphere(0.1)),
        Geometry(Sphere(0.2), color=red),
        Geometry(Sphere(0.3), color=red),
    )
    scene = robot_scene(two_links(collisions=shapes), [0.0])
    assert [body.name for body in scene.bodies] == ["arm", "arm"]
    assert scene.bodies[1].color == red
    assert robot_scene(two_links(), [0.0]) is None


@pytest.mark.parametrize("size", [(1, 1, 1), (3, 0.1, 0.2), (0.001, 0.002, 0.5), (1e3, 2e3, 1.0)])
@pytest.mark.parametrize("aspect", [4 / 3, 0.5])
def test_the_camera_sees_everything(size, aspect):
    body = Mesh3D("box", triangulate(Box(size)), (0.5, 0.5, 0.5, 1.0), frozen(pose((5, -3, 2))))
    scene = Scene3D("box", (body,))
    camera = scene.camera(aspect=aspect)
    np.testing.assert_allclose(camera.rotation.T @ camera.rotation, np.eye(3), atol=1e-12)
    seen = (body.world_points - camera.eye) @ camera.rotation
    assert (seen[:, 2] < 0).all()
    picture = seen[:, :2] / -seen[:, 2:] / tan(camera.view_angle / 2) / [aspect, 1]
    reach = np.abs(picture).max()
    assert 0.8 < reach < 0.97
    middle = (picture.min(axis=0) + picture.max(axis=0)) / 2
    assert np.abs(middle).max() < 0.02


def test_the_ground_lies_under_the_bodies():
    body = Mesh3D("box", triangulate(Box((2.3, 0.7, 1))), (0.5, 0.5, 0.5, 1.0), frozen(np.eye(4)))
    ground = Scene3D("box", (body,)).ground
    assert ground.spacing in (0.2, 0.5)
    points = ground.lines.reshape(-1, 3)
    assert (points[:, 2] == -0.5).all()
    assert (points.min(axis=0)[:2] < [-1.15, -0.35]).all()
    assert (points.max(axis=0)[:2] > [1.15, 0.35]).all()
    remainder = np.remainder(points[:, :2] / ground.spacing + 1e-6, 1.0)
    assert (remainder < 1e-5).all()


def test_pictures_show_the_body_on_nothing():
    from io import BytesIO

    from PIL import Image

    red = Mesh3D("box", triangulate(Box((1, 1, 1))), (1.0, 0.0, 0.0, 1.0), frozen(np.eye(4)))
    png = scene_png(Scene3D("box", (red,)), width=80, height=60)
    pixels = np.asarray(Image.open(BytesIO(png)).convert("RGBA")).astype(int)
    assert pixels.shape == (60, 80, 4)
    r, g, b, opacity = pixels[30, 40]
    assert r > 90 and g < 10 and b < 10 and opacity == 255
    assert pixels[0, 0, 3] == 0
    assert png == scene_png(Scene3D("box", (red,)), width=80, height=60)
