"""Maps of reach and base placement beside NumPy and what peers would take."""

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from benchmarks.ratio import Ratio, compare
from benchmarks.reach_ik import eaik, toolbox, trac_ik
from kernel_references import slice_reference
from kinetarium import load_robot
from kinetarium.batch.study import open_study
from kinetarium.dynamics.chain import SerialChain, serial_chain
from kinetarium.model.assets import installed_packages
from kinetarium.reach.arm import prepare_arm
from kinetarium.reach.collision.obstacles import read_obstacles
from kinetarium.reach.collision.pieces import body_pieces
from kinetarium.reach.maps._makers import sphere_poses, write_poses
from kinetarium.reach.maps.build import build_map, map_maker
from kinetarium.reach.maps.files import ReachMap, open_map
from kinetarium.reach.maps.grid import voxel_grid
from kinetarium.reach.maps.recipe import MapKind, map_recipe
from kinetarium.reach.maps.slice import slice_values
from kinetarium.reach.placement.files import read_task
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.reach.placement.query import Placer
from kinetarium.studies.reach.comparison.config import Method
from kinetarium.studies.reach.comparison.run import random_poses

PEERS = {
    "roboticstoolbox ik_LM": toolbox,
    "pytracik": partial(trac_ik, timeout=0.005),
    "EAIK": eaik,
}
"""With their own defaults: most poses of a map cannot be reached, and giving up is theirs to do."""
SAMPLE = 300
"""Poses of the map that a peer is given."""
LAYERS = range(3, 67, 10)
OUR_METHODS = (Method.FAST, Method.STANDARD, Method.THOROUGH)
RULES = {
    Method.PAPER: "slices of a 3-D map, as in the paper",
    Method.RM4D: "a binary 4-D map, as RM4D",
    Method.REULEAUX: "moved voxels, as Reuleaux",
}


def ratios() -> Iterator[Ratio]:
    yield from _slices()
    yield from _building()
    with TemporaryDirectory() as folder:
        robot = load_robot("panda")
        graded = build_map(robot, Path(folder) / "panda.rmap", kind=MapKind.IRM4)
        yield from _opening(graded)
    yield from _placing()
    yield from _placing_meshes()


def _slices() -> Iterator[Ratio]:
    grid = voxel_grid(0.03, radius=1.0)
    rng = np.random.default_rng(0)
    values = rng.uniform(0, 0.1, grid.shape).astype(np.float32)
    X_WT = random_poses(rng, count=1)[0]
    words = {"plane": BasePlane(), "grid": grid}
    words |= {"x": X_WT[0, 3] + grid.axis, "y": X_WT[1, 3] + grid.axis}
    yield compare(
        "slice of 67 x 67 points",
        ours=lambda: slice_values(values, X_WT, **words),
        peer=lambda: slice_reference(values, X_WT, **words),
        peer_name="the definition in NumPy",
        repeats=100,
    )


def _building() -> Iterator[Ratio]:
    """Time every tenth layer of the full-size map, peers at some of its poses; extrapolate."""
    robot = load_robot("panda")
    peers = dict(_peers_us(serial_chain(robot)))
    for solid in (False, True):
        arm = prepare_arm(robot, self_collision=solid)
        recipe = map_recipe(
            robot,
            kind=MapKind.IRM3,
            voxel=0.03,
            poses=50,
            radius=1.0,
            self_collision=solid,
            usual_effort=arm.map_effort,
        )
        maker, voxels = map_maker(recipe, arm), voxel_grid(recipe.voxel, radius=1.0).count
        maker.shard(0)
        start = process_time()
        for layer in LAYERS:
            maker.shard(layer)
        cost = 1e6 * (process_time() - start) * maker.shards / len(LAYERS)
        subject = f"irm3 of 67^3 x 50 poses{', self-collision' if solid else ''}"
        for peer, each in peers.items():
            yield Ratio(subject, peer, cost, recipe.poses * voxels**3 * each)


def _peers_us(chain: SerialChain) -> Iterator[tuple[str, float]]:
    """Yield what installed peers take for a pose of the map, reached or not [us]."""
    grid, rng = voxel_grid(0.03, radius=1.0), np.random.default_rng(0)
    centers = grid.centers(rng.integers(0, grid.count**3, SAMPLE))
    X_BT = np.empty((SAMPLE * 50, 3, 4))
    write_poses(centers, sphere_poses(50, radius=0.015, seed=0), inverse=True, X_BT=X_BT)
    poses = np.tile(np.eye(4), (SAMPLE, 1, 1))
    poses[:, :3] = X_BT.reshape(SAMPLE, 50, 3, 4)[np.arange(SAMPLE), rng.integers(0, 50, SAMPLE)]
    for name, build in PEERS.items():
        try:
            solve = build("panda", chain)
        except ImportError:
            continue  # named by reach_ik
        solve(poses[0])
        start = process_time()
        for pose in poses:
            solve(pose)
        yield f"{name}, extrapolated", 1e6 * (process_time() - start) / SAMPLE


def _opening(graded: ReachMap) -> Iterator[Ratio]:
    yield compare(
        "open a map",
        ours=lambda: open_map(graded.path),
        peer=lambda: [
            np.load(graded.path / f"{name}.npy", allow_pickle=False) for name in graded.fields
        ],
        peer_name="np.load of its fields",
        repeats=20,
    )


def _placing() -> Iterator[Ratio]:
    """Compare our search with the rules of others, written with the same kernels, in one run."""
    study = open_study("reach-compare")
    config = study.config(method=(*OUR_METHODS, *RULES), sets=50, coarser=(1,), fewer=(1,))
    costs = {case.method: 1e6 * study.run(case).timing["median_s"] for case in study.cases(config)}
    for ours in OUR_METHODS:
        for rule, name in RULES.items():
            yield Ratio(f"place 20 poses, {ours}", name, costs[ours], costs[rule])


def _placing_meshes() -> Iterator[Ratio]:
    """Place the public UR10 among a table: in a new process, and in one that has placed before."""
    data = installed_packages().get("example-robot-data")
    if data is None:
        return
    file = data / "robots" / "ur_description" / "urdf" / "ur10_robot.urdf"
    rng = np.random.default_rng(1)
    places = rng.uniform([0.5, -0.5, 0.85], [1.0, 0.5, 1.05], (15, 3))
    poses = [{"position": p.tolist(), "quaternion_wxyz": [0, 1, 0, 0]} for p in places]
    table = {"boxes": [{"position": [0.8, 0, 0.73], "size": [0.6, 1.2, 0.04]}]}
    with TemporaryDirectory() as folder:
        path = Path(folder)
        for name, content in (("poses.json", poses), ("table.json", table)):
            (path / name).write_text(json.dumps(content))
        robot = load_robot(str(file))
        ur10 = build_map(robot, path / "ur10.rmap", tool="tool0", voxel=0.15, poses=4)
        words = ["-m", "kinetarium", "reach", "place", "--map", str(ur10.path), "--json", "-"]
        words += ["--poses", str(path / "poses.json"), "--obstacles", str(path / "table.json")]
        yield _in_processes(words)
        alone = Placer(ur10)
        task = read_task(path / "poses.json")
        around = read_obstacles(path / "table.json", plane=BasePlane())
        yield compare(
            "place 15 poses at another table, UR10 with meshes",
            ours=lambda: alone.among(around).place(task),
            peer=lambda: body_pieces(alone.arm.chain),
            peer_name="the hulls of its meshes, as at every call before",
            repeats=1,
        )


def _in_processes(words: list[str]) -> Ratio:
    """Time a command and the imports that no command with kernels can do without."""
    imports = ["-c", "import numba, numpy, scipy.linalg, scipy.spatial"]
    costs = [[_process_us(each) for each in (words, imports)] for _ in range(6)][1:]
    ours, peer = (median(column) for column in zip(*costs, strict=True))
    what = "place 15 poses, UR10 with meshes, new process"
    return Ratio(what, "import Numba and SciPy, new process", ours, peer)


def _process_us(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e6 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
