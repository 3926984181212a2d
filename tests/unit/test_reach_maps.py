"""Voxel grids, poses on spheres, the fields of maps, and maps on disk."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetarium import KinetariumError, load_robot
from kinetarium.errors import OutputError, UnknownNameError
from kinetarium.reach.ik.solve import solve_ik
from kinetarium.reach.maps import build
from kinetarium.reach.maps._makers import fibonacci_points, poses_at, sphere_poses, write_poses
from kinetarium.reach.maps.build import build_map, kept_map
from kinetarium.reach.maps.files import ReachMap, describe_map, open_map, verify_map
from kinetarium.reach.maps.grid import voxel_grid
from kinetarium.reach.maps.recipe import graded_grid
from kinetarium.reach.placement.plane import base_plane
from kinetarium.reach.placement.score_raster import (
    GRADES,
    cells_under,
    grade_bases,
    slice_map,
    write_slice,
)
from kinetarium.spatial import so3
from kinetarium.spatial.rotation import inverse_pose, pose

PANDA = load_robot("panda")


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReachMap]:
    folder = tmp_path_factory.mktemp("maps")
    density = {"capability": (0.4, 5), "irm3": (0.4, 5), "irm4": (0.25, 2)}
    return {
        kind: build_map(
            PANDA, folder / f"{kind}.rmap", kind=kind, voxel=voxel, poses=poses, workers=2
        )
        for kind, (voxel, poses) in density.items()
    }


def test_the_grid_of_the_source() -> None:
    grid = voxel_grid(0.03, radius=1.0)
    assert grid.count**3 == 300_763
    assert grid.lower == pytest.approx(-1.005)
    assert (
        grid.indices(grid.centers(np.arange(grid.count**3)))
        == np.stack(np.unravel_index(np.arange(grid.count**3), grid.shape), axis=-1)
    ).all()


def test_points_outside_a_grid_have_indices_outside() -> None:
    grid = voxel_grid(0.1, radius=0.5)
    assert (grid.indices([[-0.551, 0, 0]])[0, 0]) == -1
    assert (grid.indices([[0.551, 0, 0]])[0, 0]) == grid.count


@pytest.mark.parametrize("size", [0.0, -1.0, 2.0, 1e-9, float("nan")])
def test_voxels_that_make_no_grid(size: float) -> None:
    with pytest.raises(KinetariumError):
        voxel_grid(size, radius=1.0)


def test_fibonacci_points_are_spread_evenly() -> None:
    points = fibonacci_points(200)
    assert np.allclose(np.linalg.norm(points, axis=1), 1)
    assert np.abs(points.mean(axis=0)).max() < 0.01
    nearest = np.sort(np.linalg.norm(points[:, None] - points, axis=-1), axis=1)[:, 1]
    assert nearest.min() > 0.6 * np.sqrt(4 * np.pi / 200)


def test_poses_on_a_sphere_look_at_its_centre_and_follow_the_seed() -> None:
    X = sphere_poses(50, radius=0.015, seed=3)
    assert np.allclose(X[:, :3, 3] + 0.015 * X[:, :3, 2], 0)
    assert np.allclose(X[:, :3, :3].mT @ X[:, :3, :3], np.eye(3))
    assert (X == sphere_poses(50, radius=0.015, seed=3)).all()
    assert not np.allclose(X, sphere_poses(50, radius=0.015, seed=4))


@pytest.mark.parametrize("inverse", [False, True])
def test_poses_of_voxels_are_poses_about_their_middles(inverse: bool) -> None:
    poses, centers = sphere_poses(6, radius=0.1, seed=0), np.array([[0.1, 0.2, 0.3], [-1, 0, 2]])
    X = np.empty((12, 3, 4))
    write_poses(centers, poses, inverse=inverse, X_BT=X)
    expected = np.tile(poses, (2, 1, 1, 1))
    expected[..., :3, 3] += centers[:, None]
    expected = inverse_pose(expected) if inverse else expected
    assert np.allclose(X, expected.reshape(-1, 4, 4)[:, :3], atol=1e-15)


@pytest.mark.parametrize("kind", ["capability", "irm3"])
def test_voxels_hold_what_inverse_kinematics_says(kind: str, maps: dict[str, ReachMap]) -> None:
    found = maps[kind]
    grid, recipe = found.grid, found.recipe
    assert found.fields["reachable"].shape == grid.shape
    assert 0 < found.fields["reachable"].max() <= recipe.poses
    centers = grid.centers(np.arange(grid.count**3))
    X = np.empty((len(centers) * 5, 3, 4))
    poses = sphere_poses(5, radius=recipe.voxel / 2, seed=0)
    write_poses(centers, poses, inverse=kind == "irm3", X_BT=X)
    whole = np.tile(pose(), (len(X), 1, 1))
    whole[:, :3] = X
    # Solved with more effort and without collisions: never less.
    solved = solve_ik(PANDA, whole).found.reshape(-1, 5).sum(axis=1)
    reached = found.fields["reachable"].reshape(-1)
    assert (reached <= solved).all()
    assert reached.sum() > 0.8 * solved.sum()
    assert ((found.fields["manipulability"].reshape(-1) > 0) == (reached > 0)).all()


def test_coordinates_of_the_graded_map_lead_to_their_own_cell(maps: dict[str, ReachMap]) -> None:
    grid = graded_grid(maps["irm4"].recipe)
    rng = np.random.default_rng(0)
    n = 200
    z = grid.bottom + rng.uniform(0, grid.layers, n) * grid.size
    theta = rng.uniform(0.01, np.pi - 0.01, n)
    x, y = grid.lower + rng.uniform(0, grid.side, (2, n)) * grid.size
    azimuth, roll = rng.uniform(-np.pi, np.pi, (2, n))
    X = np.tile(pose(), (n, 1, 1))
    X[:, :3] = poses_at(z, theta, x=x, y=y, azimuth=azimuth, roll=roll)
    assert np.allclose(X[:, :3, :3].mT @ X[:, :3, :3], np.eye(3))
    for k in range(n):
        cells = cells_under(grid, X[k], x=np.zeros(1), y=np.zeros(1))
        assert cells.inside.all()
        assert cells.layer == int((z[k] - grid.bottom) / grid.size)
        assert cells.tilt == int(theta[k] / np.pi * grid.tilts)
        assert cells.i[0, 0] == int((x[k] - grid.lower) / grid.size)
        assert cells.j[0, 0] == int((y[k] - grid.lower) / grid.size)


def test_graded_cells_say_what_part_of_the_bases_reaches(maps: dict[str, ReachMap]) -> None:
    """Grades predict what inverse kinematics finds for poses the map never saw."""
    found = maps["irm4"]
    grid, reach = graded_grid(found.recipe), found.fields["reach"]
    rng = np.random.default_rng(5)
    z, radius, theta = (
        rng.uniform(0.0, 0.8, 600),
        rng.uniform(0.2, 0.8, 600),
        rng.uniform(0, np.pi, 600),
    )
    angle, azimuth, roll = rng.uniform(-np.pi, np.pi, (3, 600))
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    X = np.tile(pose(), (600, 1, 1))
    X[:, :3] = poses_at(z, theta, x=x, y=y, azimuth=azimuth, roll=roll)
    grades = np.array(
        [cells_under(grid, P, x=np.zeros(1), y=np.zeros(1)).values(reach)[0, 0] for P in X]
    )
    solved = solve_ik(PANDA, X).found
    # The cells are a quarter of a metre wide.
    assert solved[grades == 255].mean() > 0.85
    assert solved[grades == 0].mean() < 0.5


def test_the_kernel_adds_up_what_the_cells_say(maps: dict[str, ReachMap]) -> None:
    found = maps["irm4"]
    grid, reach = graded_grid(found.recipe), found.fields["reach"]
    rng = np.random.default_rng(1)
    poses = np.tile(pose(), (5, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = (
        so3.exp(rng.normal(size=(5, 3))),
        rng.uniform(-0.5, 0.9, (5, 3)),
    )
    poses[4] = pose((0.1, 0.2, 5.0))  # above the map
    poses[3, :3, :3] = np.eye(3)  # points straight up
    x, y = np.linspace(-1, 1, 23), np.linspace(-0.7, 1.2, 31)
    total = np.zeros((23, 31))
    grade_bases(reach, GRADES, grid, poses, x, y, total)
    plain = sum(GRADES[cells_under(grid, X, x=x, y=y).values(reach).astype(int)] for X in poses)
    assert total.max() > 0
    assert np.allclose(total, plain)


def test_a_map_says_how_it_was_made(maps: dict[str, ReachMap]) -> None:
    recipe = open_map(maps["irm3"].path).recipe
    assert recipe == maps["irm3"].recipe
    assert (recipe.robot, recipe.tool, recipe.radius) == ("panda", "panda_link8", 1.0)
    assert recipe.robot_sha256 == PANDA.source.sha256
    assert not maps["irm3"].fields["reachable"].flags.writeable
    verify_map(maps["irm3"].path)
    facts = describe_map(maps["irm3"])
    assert json.loads(json.dumps(facts))["fields"]["reachable"]["shape"] == [5, 5, 5]


def test_slices_of_both_maps_agree(maps: dict[str, ReachMap], tmp_path: Path) -> None:
    X_WT = pose((0.2, -0.1, 0.3), so3.exp(np.array([0.0, 2.5, 0.3])))
    for kind in ("irm3", "irm4"):
        cut = slice_map(maps[kind], X_WT)
        best = np.unravel_index(cut.reach.argmax(), cut.reach.shape)
        foot = np.hypot(cut.x[best[0]] - 0.2, cut.y[best[1]] + 0.1)
        assert 0.1 < foot < 0.9
        assert ((cut.manipulability > 0) == (cut.reach > 0)).all()
        write_slice(cut, tmp_path / kind)
        assert (np.load(tmp_path / kind / "reach.npy", allow_pickle=False) == cut.reach).all()


def test_what_cannot_be_sliced(maps: dict[str, ReachMap], tmp_path: Path) -> None:
    with pytest.raises(KinetariumError, match="no base in the plane reaches"):
        slice_map(maps["irm3"], pose((0, 0, 5)))
    with pytest.raises(KinetariumError, match="capability map"):
        slice_map(maps["capability"], pose((0, 0, 0.5)))
    with pytest.raises(KinetariumError, match="rigid"):
        slice_map(maps["irm3"], np.full((4, 4), np.nan))
    with pytest.raises(KinetariumError, match="point up"):
        base_plane((0, 0, -1), height=0)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("dear")
    with pytest.raises(OutputError, match="other content"):
        write_slice(slice_map(maps["irm3"], pose((0, 0, 0.5))), tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "dear"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"kind": "irm5"}, UnknownNameError),
        ({"tool": "nose"}, UnknownNameError),
        ({"tool": "panda_link0"}, KinetariumError),
        ({"voxel": 1e-5}, KinetariumError),
        ({"voxel": float("nan")}, KinetariumError),
        ({"poses": -1}, KinetariumError),
        ({"radius": float("inf")}, KinetariumError),
        ({"seed": -1}, KinetariumError),
        ({"workers": 0}, KinetariumError),
        ({"effort": -3}, KinetariumError),
    ],
)
def test_what_cannot_be_built(words: dict, error: type, tmp_path: Path) -> None:
    with pytest.raises(error):
        build_map(PANDA, tmp_path / "m.rmap", **words)
    assert list(tmp_path.iterdir()) == []


def test_a_robot_without_a_chain_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KinetariumError):
        build_map(load_robot("husky4"), tmp_path / "m.rmap")
    assert list(tmp_path.iterdir()) == []


def test_a_kept_map_that_is_broken_is_built_again_and_one_that_was_killed_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "cache_folder", lambda: tmp_path)
    built, counts = build_map, list[tuple[int, int]]()

    def coarse(*args: Any, **options: Any) -> ReachMap:
        progress = lambda done, total: counts.append((done, total))  # noqa: E731
        return built(*args, voxel=0.5, poses=1, progress=progress, **options)

    def killed(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "build_map", coarse)
    with monkeypatch.context() as while_joining:
        while_joining.setattr(build, "write_map", killed)
        with pytest.raises(KeyboardInterrupt):
            kept_map(PANDA)
    counts.clear()
    first = kept_map(PANDA)
    assert counts[0] == counts[-1] and first.path is not None  # all shards were there
    (first.path / "manifest.json").write_bytes(b"{")
    assert kept_map(PANDA).recipe == first.recipe
    counts.clear()
    assert kept_map(PANDA).path == first.path and counts == []
    assert list((tmp_path / "maps").iterdir()) == [first.path]


def test_other_arms_have_maps_too(tmp_path: Path) -> None:
    found = build_map(load_robot("ur5"), tmp_path / "ur5.rmap", kind="irm4", voxel=0.5, poses=1)
    assert found.fields["reach"].max() == 255
