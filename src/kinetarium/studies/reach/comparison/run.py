"""One method: the bases it chooses for sets of poses, scored by two evaluators.

Every base is scored by exact inverse kinematics and by a numerical solver with one start,
whose failures dominate the published success rates.
"""

from collections.abc import Callable
from dataclasses import replace
from time import thread_time
from typing import Any, NamedTuple

import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.model.load import load_robot
from kinetarium.model.robot import RobotModel
from kinetarium.reach.arm import Arm, prepare_arm
from kinetarium.reach.collision.arm_in_scene import ArmInScene, put_arm_in_scene
from kinetarium.reach.maps.build import compute_map
from kinetarium.reach.maps.files import ReachMap
from kinetarium.reach.maps.recipe import MapKind, MapOptions, graded_grid, map_recipe
from kinetarium.reach.placement.plane import FLOOR, Effort
from kinetarium.reach.placement.query import BasePlacement, Placer
from kinetarium.reach.placement.score_raster import grade_bases, sum_of_slices
from kinetarium.reach.placement.search import base_pose, solve_at_base
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    rotation_from_quaternion,
)
from kinetarium.storage.serialization import to_builtins
from kinetarium.studies.reach.comparison._baselines import (
    algorithm_2,
    brute_force,
    random_base,
    sampled_map,
    solve_numerically,
    transformed_voxels,
)
from kinetarium.studies.reach.comparison.config import Case, Method
from kinetarium.studies.reach.placement.run import record_placement

POSES = 20
HALF = 1.0
"""Half the edge length of the square of base positions [m]."""
STEP = 0.05
AXIS = np.asarray(-HALF + STEP / 2 + STEP * np.arange(round(2 * HALF / STEP)))
"""Coordinates x and y of the raster of base positions [m]."""
BINARY = np.minimum(np.arange(256), 1).astype(np.float64)
QUARTILES = (0.25, 0.5, 0.75)
_REPEATS = 21


class _Chooser(NamedTuple):
    """A method, prepared.

    Attributes:
        choose: From poses of the tool, shape (n, 4, 4), to x, y [m] and yaw [rad] of a base.
        map: Its map, if it has one.
        scores: Scores of the raster for poses, if the method has them.
        one: The same for the first pose alone, for Table 2.
    """

    choose: Callable[[Array], Array]
    map: ReachMap | None = None
    scores: Callable[[Array], Array] | None = None
    one: Callable[[Array], Array] | None = None


def run(case: Case) -> Recording:
    """Choose a base for every set of poses, and for the three of Tables 1 and 2.

    Raises:
        KinetariumError: If the robot has changed since the case was made.
    """
    robot = load_robot(case.robot)
    if robot.source.sha256 != case.robot_sha256:
        raise KinetariumError(f"'{case.robot}' has changed since the case was made")
    arm = prepare_arm(robot)
    scene = put_arm_in_scene(arm)
    method = _chooser(case, robot, arm=arm, scene=scene)
    rng = np.random.default_rng(case.seed)
    three = random_poses(rng, count=3)
    bases, judged = np.empty((case.sets, 3)), np.empty((case.sets, 2, POSES))
    costs = np.empty(case.sets)
    for n in range(case.sets):
        poses = random_poses(rng, count=POSES)
        start = thread_time()
        bases[n] = method.choose(poses)
        costs[n] = thread_time() - start
        judged[n] = _scored(arm, scene, poses=poses, base=bases[n])
    base = method.choose(three)
    exact, numerical = _scored(arm, scene, poses=three, base=base)
    channels = {
        "time": Channel(np.arange(float(case.sets)), "number of the set"),
        "bases": Channel(bases, "m, m, rad", ("x", "y", "yaw")),
        "exact": Channel(judged[:, 0], "m^3"),
        "numerical": Channel(judged[:, 1], "m^3"),
        "three_exact": Channel(exact, "m^3"),
        "three_numerical": Channel(numerical, "m^3"),
    }
    recipe = method.map.recipe if method.map else None
    facts: dict[str, Any] = {
        "voxel_m": recipe and recipe.voxel,
        "poses_per_voxel": recipe and recipe.poses,
    }
    if case.shown and method.map:
        shown = _shown(case, robot, method.map, three=three, base=base)
        channels, facts = {**shown.channels, **channels}, {**shown.facts, **facts}
    quartiles = zip(("lower_s", "median_s", "upper_s"), np.quantile(costs, QUARTILES), strict=True)
    timing = {name: float(cost) for name, cost in quartiles}
    return Recording(channels, "running", facts, timing | _costs(method, arm, scene, three=three))


def random_poses(rng: np.random.Generator, *, count: int) -> Array:
    """Draw poses as in the paper: x, y within 0.3 m, z from 0.1 to 0.5 m, any rotation."""
    X = np.tile(pose(), (count, 1, 1))
    X[:, :3, 3] = rng.uniform([-0.3, -0.3, 0.1], [0.3, 0.3, 0.5], (count, 3))
    for n in range(count):
        X[n, :3, :3] = rotation_from_quaternion(rng.normal(size=4))
    return X


def _chooser(case: Case, robot: RobotModel, *, arm: Arm, scene: ArmInScene) -> _Chooser:
    """Prepare a method."""

    def best_of(scores: Callable[[Array], Array], **more: Any) -> _Chooser:
        def choose(poses: Array) -> Array:
            return algorithm_2(arm, scene, poses=poses, x=AXIS, y=AXIS, scores=scores(poses))

        return _Chooser(choose, scores=scores, **more)

    match case.method:
        case Method.RANDOM:
            rng = np.random.default_rng([case.seed, 1])
            return _Chooser(lambda poses: random_base(rng, half=HALF))
        case Method.BRUTE_FORCE:
            return _Chooser(lambda poses: brute_force(arm, scene, poses=poses, x=AXIS, y=AXIS))
        case Method.RM4D:
            graded = graded_grid(map_recipe(robot, usual_effort=1, **_options(case, robot)))
            cells = sampled_map(arm, graded, samples=case.samples, seed=case.seed)

            def counts(poses: Array) -> Array:
                scores = np.zeros((len(AXIS), len(AXIS)))
                grade_bases(cells, BINARY, graded, poses, AXIS, AXIS, scores)
                return scores

            return best_of(counts, one=lambda poses: counts(poses[:1]))
        case Method.PAPER | Method.REULEAUX:
            found = compute_map(robot, **_options(case, robot, kind=MapKind.IRM3))
            grid, values = found.grid, found.fields["manipulability"]

            def slices(poses: Array, x: Array = AXIS, y: Array = AXIS) -> Array:
                return sum_of_slices(values, poses, plane=FLOOR, grid=grid, x=x, y=y)

            def around(poses: Array) -> Array:
                return slices(poses[:1], poses[0, 0, 3] + grid.axis, poses[0, 1, 3] + grid.axis)

            def moved(poses: Array) -> Array:
                centers = grid.centers(np.arange(values.size))
                return transformed_voxels(
                    values, centers, poses=poses, size=grid.size, x=AXIS, y=AXIS
                )

            if case.method is Method.PAPER:
                return best_of(slices, map=found, one=around)
            return best_of(moved, map=found, one=lambda poses: moved(poses[:1]))
    graded_map = compute_map(robot, **_options(case, robot))
    placer, effort = Placer(graded_map, robot=robot), Effort(case.method)

    def place(poses: Array) -> Array:
        placement = placer.place(poses, effort=effort)
        return np.array([*placement.X_WB[:2, 3], placement.yaw])

    return _Chooser(place, map=graded_map)


def _options(case: Case, robot: RobotModel, *, kind: MapKind = MapKind.IRM4) -> MapOptions:
    """Return the options of a map of reduced resolution."""
    usual = map_recipe(robot, usual_effort=1, kind=kind)
    poses = max(usual.poses // case.fewer, 1)
    return {"kind": kind, "voxel": usual.voxel * case.coarser, "poses": poses}


def _scored(arm: Arm, scene: ArmInScene, *, poses: Array, base: Array) -> Array:
    """Return the manipulability of each pose by both evaluators, NaN where it is not reached.

    Returns:
        By exact inverse kinematics and by the solver with one start [m^3], shape (2, n).
    """
    _, exact = solve_at_base(scene, poses, base=base, effort=arm.full_effort)
    q, numerical = np.empty((len(poses), len(arm.chain.joints))), np.empty(len(poses))
    X_BT = inverse_pose(base_pose(base)) @ poses
    solve_numerically(arm.chain.arrays, arm.ik.pieces, X_BT, q, numerical)
    found = np.array([exact, numerical])
    return np.where(found >= 0.0, found, np.nan)


def _shown(
    case: Case, robot: RobotModel, paper_map: ReachMap, *, three: Array, base: Array
) -> Recording:
    """Record the paper's maps, and its base for three poses as a placement."""
    placer = Placer(paper_map, robot=robot)
    q, w = solve_at_base(placer.scene, three, base=base, effort=placer.arm.full_effort)
    reached = w >= 0.0
    quality = np.where(reached, w, np.nan)
    placement = BasePlacement(base_pose(base), float(base[2]), reached, q, quality, 0.0)
    recording = record_placement(placement, three, placer=placer)
    capability = compute_map(robot, **_options(case, robot, kind=MapKind.CAPABILITY))
    maps = {str(each.recipe.kind): each for each in (paper_map, capability)}
    fields = {
        f"{kind}/{name}": Channel(values, each.units[name])
        for kind, each in maps.items()
        for name, values in each.fields.items()
    }
    recipes = {"maps": {kind: to_builtins(each.recipe) for kind, each in maps.items()}}
    return replace(
        recording,
        channels={**recording.channels, **fields},
        facts={**recording.facts, **recipes},
    )


def _costs(method: _Chooser, arm: Arm, scene: ArmInScene, *, three: Array) -> dict[str, float]:
    """Return the CPU times of the map of a pose and of the base for three poses [s] (Table 2)."""
    if method.scores and method.one:
        scores, one = method.scores(three), method.one
        each = _cost(lambda: one(three))
        base = _cost(lambda: algorithm_2(arm, scene, poses=three, x=AXIS, y=AXIS, scores=scores))
        return {"three_map_s": each, "three_base_s": base, "three_total_s": 3 * each + base}
    return {"three_total_s": _cost(lambda: method.choose(three))} if method.map else {}


def _cost(work: Callable[[], object]) -> float:
    """Return the median CPU time of a function [s]."""
    work()
    costs = []
    for _ in range(_REPEATS):
        start = thread_time()
        work()
        costs.append(thread_time() - start)
    return float(np.median(costs))


EVALUATORS = ("exact", "numerical")


def score(case: Case, recording: Recording) -> Row:
    """Summarise the sets of a method.

    Returns:
        voxel_m, poses_per_voxel: Of its map; None without a map.
        EVALUATOR_success, EVALUATOR_success_std: Mean and standard deviation over the sets of the
            fraction of reached poses, by "exact" inverse kinematics and by a "numerical" solver
            with one start.
        EVALUATOR_all_reached: Fraction of the sets whose poses are all reached.
        EVALUATOR_manipulability, EVALUATOR_manipulability_std: Mean and standard deviation of the
            mean over the reached poses [m^3]; None if no set has any.
        EVALUATOR_three: Manipulability of each of the three poses of Table 1 [m^3]; None where
            it is not reached.
    """
    facts = recording.facts
    row = {name: facts[name] for name in ("voxel_m", "poses_per_voxel")}
    for name in EVALUATORS:
        success, quality = spread(recording[name])
        three = recording[f"three_{name}"].tolist()
        row |= {
            f"{name}_success": float(success.mean()),
            f"{name}_success_std": float(success.std()),
            f"{name}_all_reached": float((success == 1.0).mean()),
            f"{name}_manipulability": float(quality.mean()) if len(quality) else None,
            f"{name}_manipulability_std": float(quality.std()) if len(quality) else None,
            f"{name}_three": [None if np.isnan(w) else w for w in three],
        }
    return row


def spread(judged: Array) -> tuple[Array, Array]:
    """Return the success of every set, and the mean manipulability of those with any [m^3].

    Args:
        judged: Manipulabilities, NaN where a pose is not reached [m^3], shape (sets, poses).
    """
    found = [row[~np.isnan(row)] for row in judged]
    success = np.array([len(values) / judged.shape[1] for values in found])
    return success, np.array([values.mean() for values in found if len(values)])
