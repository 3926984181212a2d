"""compare_methods: the tables of the source, with every method and two evaluators.

Table 1 judges the bases chosen for three poses, Table 2 is what choosing them costs, Table 3
the success over many sets of 20 random poses; published numbers stand beside ours. Every
base is judged twice: by exact inverse kinematics, and by a numerical solver with one
start, which is what the published success rates mostly show the limits of.
"""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.model.load import load_robot
from kinetarium.model.robot import RobotModel
from kinetarium.reach.maps.files import ReachMap
from kinetarium.reach.maps.grid import VoxelGrid
from kinetarium.reach.maps.recipe import MapKind, graded_grid
from kinetarium.reach.placement.plane import FLOOR
from kinetarium.reach.placement.query import Effort, Placer
from kinetarium.reach.placement.score_raster import grade_bases, sum_of_slices
from kinetarium.reach.placement.search import solve_at_base
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    rotation_about,
    rotation_from_quaternion,
)
from kinetarium.storage.atomic import check_folder, make_folder, write_atomic
from kinetarium.storage.serialization import versioned_json
from kinetarium.studies.reach._resolution import (
    Progress,
    kept_map,
    solve_numerically,
    success_by_resolution,
)
from kinetarium.studies.reach.baselines import (
    algorithm_2,
    brute_force,
    random_base,
    sampled_map,
    transformed_voxels,
)

TABLES = "tables.json"
SHORT = 100
"""Sets by which coarser maps are judged, at most."""
TIMING = "timing.json"
POSES = 20
HALF = 1.0
"""Half an edge of the square of bases [m]."""
STEP = 0.05
MOST_SETS = 100_000
MOST_SAMPLES = 1_000_000_000
BINARY = np.minimum(np.arange(256), 1).astype(np.float64)

PUBLISHED: dict[str, Any] = {
    "table_2_ms": {
        "reuleaux": {"map": 2543.53, "base": 122.29, "total": 2665.82},
        "paper": {"map": 0.1623, "base": 61.06, "total": 61.22},
    },
    "table_3": {
        "random": {"success": (0.3643, 0.2298), "manipulability": (0.0628, 0.0165)},
        "rm4d": {"success": (0.5864, 0.1441), "manipulability": (0.0370, 0.0130)},
        "paper": {"success": (0.6579, 0.1421), "manipulability": (0.0671, 0.0082)},
    },
}
"""The numbers of the source: mean and standard deviation in its Table 3."""

Method = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class _Bench:
    """Everything that the methods share."""

    placer: Placer
    robot: RobotModel
    paper_map: ReachMap
    graded_map: ReachMap
    binary: np.ndarray[Any, np.dtype[np.uint8]]
    x: Array
    y: Array
    rng: np.random.Generator


def compare_methods(
    out: str | PathLike[str],
    *,
    sets: int = 1000,
    seed: int = 0,
    samples: int = 10_000_000,
    workers: int = 1,
    progress: Progress = lambda what, done, total: None,
) -> dict[str, Any]:
    """Compare all ways to choose a base for the Panda, and write the tables.

    Args:
        out: The folder for the maps and the tables; maps that are there are used again.
        sets: Sets of 20 poses.
        seed: Their seed.
        samples: Configurations of the binary map.
        workers: How many shards of a map are made side by side.
        progress: Told what is being done, and how many parts of how many are done.

    Returns:
        The tables as plain data, with what they cost [ms of CPU] under "timing".

    Raises:
        KinetariumError: If a number makes no sense.
        OutputError: If something cannot be written.
    """
    if not 0 < sets <= MOST_SETS:
        raise KinetariumError(f"there must be from 1 to {MOST_SETS} sets, not {sets}")
    if seed < 0 or not 0 < samples <= MOST_SAMPLES:
        raise KinetariumError(
            f"a seed is not negative, and there are from 1 to {MOST_SAMPLES} samples"
        )
    folder = Path(fspath(out))
    if folder.is_dir() and any(folder.iterdir()) and not any(folder.glob("*.rmap*")):
        raise OutputError(f"cannot write {str(folder)!r}: a folder of something else is there")
    check_folder(
        folder, ours=rf"{TABLES}|{TIMING}|report\.html|figures|[a-z0-9_-]+\.rmap(\.building)?"
    )
    make_folder(folder)
    bench = _bench(folder, seed=seed, samples=samples, workers=workers, progress=progress)
    methods = _methods(bench)
    tasks = np.random.default_rng(seed)
    three = random_poses(tasks, count=3)
    tables: dict[str, Any] = {"sets": sets, "seed": seed, "published": PUBLISHED}
    bases = {name: methods[name](three) for name in ("paper", "standard")}
    tables["three_poses"] = {
        "poses": three.tolist(),
        "bases": {name: base.tolist() for name, base in bases.items()},
    }
    tables["table_1"] = {name: _judged(bench, three, base) for name, base in bases.items()}
    timing: dict[str, Any] = {"table_2_ms": _costs(bench, three)}
    results: dict[str, list[Any]] = {name: [] for name in methods}
    first = []
    progress("sets", 0, sets)
    for number in range(sets):
        poses = random_poses(tasks, count=POSES)
        if number < SHORT:
            first.append(poses)
        for name, method in methods.items():
            start = thread_time()
            base = method(poses)
            cost = 1e3 * (thread_time() - start)
            results[name].append((_judged(bench, poses, base), cost))
        progress("sets", number + 1, sets)
    tables["table_3"] = {name: _summary(rows) for name, rows in results.items()}
    tables["distributions"] = {name: _distribution(rows) for name, rows in results.items()}
    tables["resolution"] = success_by_resolution(
        bench.paper_map,
        first,
        placer=bench.placer,
        robot=bench.robot,
        x=bench.x,
        y=bench.y,
        folder=folder,
        workers=workers,
        progress=progress,
    )
    costs = {name: [cost for _, cost in rows] for name, rows in results.items()}
    timing["table_3_ms"] = {name: float(np.median(values)) for name, values in costs.items()}
    timing["each_ms"] = costs
    write_atomic(folder / TABLES, versioned_json(tables))
    write_atomic(folder / TIMING, versioned_json(timing))
    return tables | {"timing": timing}


def random_poses(rng: np.random.Generator, *, count: int) -> Array:
    """Draw poses as in the source: x, y within 0.3 m, z from 0.1 to 0.5 m, any rotation."""
    X = np.tile(pose(), (count, 1, 1))
    X[:, :3, 3] = rng.uniform([-0.3, -0.3, 0.1], [0.3, 0.3, 0.5], (count, 3))
    for n in range(count):
        X[n, :3, :3] = rotation_from_quaternion(rng.normal(size=4))
    return X


def _bench(folder: Path, *, seed: int, samples: int, workers: int, progress: Progress) -> _Bench:
    robot = load_robot("panda")
    maps = {
        kind: kept_map(
            robot, folder / f"{kind}.rmap", kind=kind, workers=workers, progress=progress
        )
        for kind in MapKind
    }
    placer = Placer(maps[MapKind.IRM4], robot=robot)
    grid = graded_grid(maps[MapKind.IRM4].recipe)
    binary = sampled_map(placer.arm, grid, samples=samples, seed=seed)
    axis = np.asarray(-HALF + STEP / 2 + STEP * np.arange(round(2 * HALF / STEP)))
    rng = np.random.default_rng([seed, 1])
    voxels, graded = maps[MapKind.IRM3], maps[MapKind.IRM4]
    return _Bench(placer, robot, voxels, graded, binary, axis, axis, rng)


def _methods(bench: _Bench) -> dict[str, Method]:
    """Return every method by name: from poses to x, y and yaw of a base."""
    arm, scene, x, y = bench.placer.arm, bench.placer.scene, bench.x, bench.y

    def paper(poses: Array) -> Array:
        return algorithm_2(arm, scene, poses=poses, x=x, y=y, scores=_paper(bench, poses))

    def rm4d(poses: Array) -> Array:
        scores = np.zeros((len(x), len(y)))
        grid = graded_grid(bench.graded_map.recipe)
        grade_bases(bench.binary, BINARY, grid, poses, x, y, scores)
        return algorithm_2(arm, scene, poses=poses, x=x, y=y, scores=scores)

    def reuleaux(poses: Array) -> Array:
        scores = _reuleaux(bench, poses)
        return algorithm_2(arm, scene, poses=poses, x=x, y=y, scores=scores)

    def ours(effort: Effort) -> Method:
        def chosen(poses: Array) -> Array:
            placement = bench.placer.place(poses, effort=effort)
            p = placement.X_WB[:3, 3]
            return np.array([p[0], p[1], placement.yaw])

        return chosen

    return {
        "random": lambda poses: random_base(bench.rng, half=HALF),
        "reuleaux": reuleaux,
        "rm4d": rm4d,
        "paper": paper,
        **{str(effort): ours(effort) for effort in Effort},
        "brute force": lambda poses: brute_force(arm, scene, poses=poses, x=x, y=y),
    }


def _paper(bench: _Bench, poses: Array) -> Array:
    values, grid = bench.paper_map.fields["manipulability"], bench.paper_map.grid
    return sum_of_slices(values, poses, plane=FLOOR, grid=grid, x=bench.x, y=bench.y)


def _reuleaux(bench: _Bench, poses: Array) -> Array:
    grid: VoxelGrid = bench.paper_map.grid
    values = bench.paper_map.fields["manipulability"]
    centers = grid.centers(np.arange(values.size))
    return transformed_voxels(values, centers, poses=poses, size=grid.size, x=bench.x, y=bench.y)


def _judged(bench: _Bench, poses: Array, base: Array) -> dict[str, list[float | None]]:
    """Return the manipulability of each pose by both evaluators, None where it is missed."""
    arm = bench.placer.arm
    _, exact = solve_at_base(bench.placer.scene, poses, base=base, effort=arm.full_effort)
    X_PB = pose((base[0], base[1], 0.0), rotation_about((0, 0, 1), base[2]))
    X_BT = inverse_pose(X_PB) @ poses
    q, numerical = np.empty((len(poses), len(arm.chain.joints))), np.empty(len(poses))
    solve_numerically(arm.chain.arrays, arm.ik.pieces, X_BT, q, numerical)
    return {
        name: [float(v) if v >= 0 else None for v in values]
        for name, values in (("exact", exact), ("numerical", numerical))
    }


def _summary(rows: list[Any]) -> dict[str, Any]:
    """Sum up the sets of one method."""
    result: dict[str, Any] = {}
    for evaluator in ("exact", "numerical"):
        found = [[v for v in judged[evaluator] if v is not None] for judged, _ in rows]
        success = np.array([len(values) / POSES for values in found])
        quality = np.array([np.mean(values) for values in found if values])
        result[evaluator] = {
            "success": (float(success.mean()), float(success.std())),
            "all_reached": float((success == 1.0).mean()),
            "manipulability": (float(quality.mean()), float(quality.std()))
            if len(quality)
            else None,
        }
    return result


def _distribution(rows: list[Any]) -> dict[str, Any]:
    """Return success and mean manipulability of every set, None where nothing was reached."""
    result: dict[str, Any] = {}
    for evaluator in ("exact", "numerical"):
        found = [[v for v in judged[evaluator] if v is not None] for judged, _ in rows]
        result[evaluator] = {
            "success": [len(values) / POSES for values in found],
            "manipulability": [float(np.mean(values)) if values else None for values in found],
        }
    return result


def _costs(bench: _Bench, three: Array) -> dict[str, Any]:
    """Return what maps and bases cost for three poses [ms of CPU]."""
    arm, scene = bench.placer.arm, bench.placer.scene
    grid = bench.paper_map.grid
    values = bench.paper_map.fields["manipulability"]
    table: dict[str, Any] = {}

    def slices() -> Array:
        x, y = three[0, 0, 3] + grid.axis, three[0, 1, 3] + grid.axis
        return sum_of_slices(values, three[:1], plane=FLOOR, grid=grid, x=x, y=y)

    for name, make, scores in (
        ("paper", slices, _paper),
        ("reuleaux", lambda: _reuleaux(bench, three[:1]), _reuleaux),
    ):
        made = scores(bench, three)
        one = _cost(make)
        base = _cost(
            lambda made=made: algorithm_2(  # type: ignore[misc]
                arm, scene, poses=three, x=bench.x, y=bench.y, scores=made
            )
        )
        table[name] = {"map": one, "base": base, "total": one * len(three) + base}
    for effort in Effort:
        total = _cost(lambda effort=effort: bench.placer.place(three, effort=effort))  # type: ignore[misc]
        table[str(effort)] = {"total": total}
    return table


def _cost(work: Callable[[], object], *, repeats: int = 21) -> float:
    """Return the median cost of some work [ms of CPU]."""
    work()
    costs = []
    for _ in range(repeats):
        start = thread_time()
        work()
        costs.append(thread_time() - start)
    return 1e3 * float(np.median(costs))
