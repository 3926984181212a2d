"""Planning beside peers: `python -m benchmarks.planning`.

The robot is scout-panda, the scenes are those of a pick: a table 1.2 x 0.6 x 0.7 m, crates on the
way. Arm paths are compared with OMPL's RRT-Connect, if it is installed, and with RRT-Connect in
plain Python; both call the same compiled check of edges. Base paths are compared with Dijkstra's
algorithm in plain Python on the same lattice and with the same check of motions. CPU time of the
process; medians.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import cos, pi, sin
from statistics import median
from time import process_time_ns

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.ratio import Ratio
from kernel_references import lattice_cost
from kinetarium import load_robot
from kinetarium.model.robot import Box, Geometry
from kinetarium.plan import (
    BasePath,
    PlacedArm,
    PlanningRobot,
    motion_limits,
    place_arm,
    plan_arm_path,
    plan_base_path,
    plan_tool_lines,
    planning_robot,
    steered_pose,
    time_base_path,
    time_line,
    time_path,
)
from kinetarium.plan._joint_space import REACH, blocked_many, distance, free_edge
from kinetarium.plan._legs import Drivable, free_motion
from kinetarium.plan.arm_path import driving_body
from kinetarium.reach import Obstacles
from kinetarium.reach.collision.pieces import grown
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about

HEIGHT = 0.235
HOME = np.array([0.0, -pi / 4, 0.0, -3 * pi / 4, 0.0, pi / 2, pi / 4])
CENTRE = (0.064, 0.0, 0.0)
DOWN = np.diag([1.0, -1.0, -1.0])
_SCENES = 40
_PEER_SCENES = 3
_PROBLEMS = 50


@dataclass(frozen=True)
class Scene:
    """A table with an object at (x, y), where the base stands for it, and where it starts."""

    obstacles: Obstacles
    start: Array
    goal: Array
    grasp: Array


def scenes(count: int) -> list[Scene]:
    """Return random scenes in which the base is clear at its start and its goal."""
    rng = np.random.default_rng(1)
    return [_scene(rng) for _ in range(count)]


def _scene(rng: np.random.Generator) -> Scene:
    yaw = rng.uniform(-pi, pi)
    X = pose((0.0, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), yaw))
    along = rng.uniform(-0.3, 0.3)
    (x, y), grasp = (X @ [along, -0.9, 0.0, 1.0])[:2], X @ pose((along, -0.25, 0.75), DOWN)
    goal = np.array([x, y, yaw + pi / 2])
    away, angle = rng.uniform(1.5, 3.0), yaw + rng.uniform(-pi, 0.0)
    start = np.array([x + away * cos(angle), y + away * sin(angle), rng.uniform(-pi, pi)])
    legs = [
        Geometry(Box((0.05, 0.05, 0.66)), X @ pose((0.55 * i, 0.25 * j, 0.33)))
        for i, j in product((-1, 1), repeat=2)
    ]
    top = Geometry(Box((1.2, 0.6, 0.04)), X @ pose((0.0, 0.0, 0.68)))
    crates = []
    for _ in range(int(rng.integers(1, 3))):
        middle = goal + rng.uniform(0.5, 0.6) * (start - goal) + rng.uniform(-0.2, 0.2, 3)
        if min(np.hypot(*(middle - end)[:2]) for end in (start, goal)) > 0.8:
            crates.append(Geometry(Box((0.3, 0.3, 0.5)), pose((*middle[:2], 0.25))))
    return Scene(Obstacles((top, *legs, *crates), ground=True), start, goal, grasp)


@dataclass
class Stopwatch:
    """CPU times [ms] and successes by what was done."""

    costs: dict[str, list[float]] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, begin: int, *, found: bool = True) -> None:
        self.costs.setdefault(what, []).append((process_time_ns() - begin) / 1e6)
        self.found[what] = self.found.get(what, 0) + found


def ratios() -> Iterator[Ratio]:
    """Compare base paths and bent arm paths with peers; medians over the problems."""
    robot = planning_robot(load_robot("scout-panda"), tool="panda_hand_tcp")
    pairs = [_base_costs(robot, scene) for scene in [*scenes(1), *scenes(_PEER_SCENES)]][1:]
    ours, peer = np.median(pairs, axis=0)
    yield Ratio("base path", "Dijkstra in plain Python, same check", ours, peer)
    arm, problems = _bent_problems(robot)
    subject = "arm path, bent"
    ours = _median_us(lambda a, b: plan_arm_path(arm, a, goal=b), problems)
    peer = _median_us(lambda a, b: _plain_rrt(arm, a, b), problems)
    yield Ratio(subject, "RRT-Connect in plain Python, same check", ours, peer)
    try:
        solve = _ompl(arm)
    except ImportError:
        return
    peer = _median_us(lambda a, b: solve(a, b, simplify=False), problems)
    yield Ratio(subject, "OMPL, not simplified, same check", ours, peer)
    peer = _median_us(lambda a, b: solve(a, b, simplify=True), problems)
    yield Ratio(subject, "OMPL, simplified, same check", ours, peer)


def main() -> None:
    robot = planning_robot(load_robot("scout-panda"), tool="panda_hand_tcp")
    _plan_pick(robot, scenes(1)[0], Stopwatch())  # compiles and loads
    watch = Stopwatch()
    for scene in scenes(_SCENES):
        _plan_pick(robot, scene, watch)
    arm, problems = _bent_problems(robot)
    for a, b in problems:
        begin = process_time_ns()
        path = plan_arm_path(arm, a, goal=b)
        watch.add("arm path, bent", begin, found=path.found)
    table = Table(title="Planning a pick, CPU ms")
    for column in ("what", "median", "90 %", "found"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, costs in watch.costs.items():
        high = float(np.percentile(costs, 90))
        found = f"{watch.found[what]} of {len(costs)}"
        table.add_row(what, f"{median(costs):.3g}", f"{high:.3g}", found)
    console = Console(width=110)
    console.print(table)
    for ratio in ratios():
        console.print(
            f"{ratio.subject}: {ratio.ours_us / 1e3:.3g} ms; {ratio.peer}: "
            f"{ratio.peer_us / 1e3:.3g} ms, {1 / ratio.ratio:.3g} times as long"
        )


def _plan_pick(robot: PlanningRobot, scene: Scene, watch: Stopwatch) -> None:
    first = begin = process_time_ns()
    path = _base_path(robot, scene)
    watch.add("base path", begin, found=path.found)
    x, y, yaw = scene.goal
    X_WB = pose((x, y, HEIGHT), rotation_about((0.0, 0.0, 1.0), yaw))
    begin = process_time_ns()
    arm = place_arm(robot, X_WB, obstacles=scene.obstacles, margin=0.005)
    watch.add("arm among obstacles", begin)
    turns = [pose(rotation=rotation_about((0.0, 0.0, 1.0), k * pi / 2)) for k in range(4)]
    lines = [[pose((0.0, 0.0, z)) @ scene.grasp @ turn for z in (0.15, 0.0)] for turn in turns]
    begin = process_time_ns()
    down = [line for line in plan_tool_lines(arm, np.array(lines), near=HOME) if line.found]
    watch.add("4 tool lines, all branches", begin, found=bool(down))
    if not down or not path.found:
        return
    begin = process_time_ns()
    way = plan_arm_path(arm, HOME, goal=down[0].q[0])
    watch.add("arm path to a line", begin, found=way.found)
    begin, limits = process_time_ns(), motion_limits(robot.chain)
    if way.found:
        time_base_path(path), time_path(way.q, limits), time_line(down[0], limits)
        watch.add("time laws", begin)
    watch.add("all of a pick", first, found=way.found)


def _base_path(robot: PlanningRobot, scene: Scene) -> BasePath:
    return plan_base_path(
        robot, scene.obstacles, start=scene.start, goal=scene.goal, posture=HOME, height=HEIGHT,
        steered=CENTRE,
    )  # fmt: skip


def _base_costs(robot: PlanningRobot, scene: Scene) -> tuple[float, float]:
    """Return what we and the peer need for a base path [us]."""
    start, goal = (steered_pose(each, CENTRE) for each in (scene.start, scene.goal))
    # Both bodies are grown: together 6 cm.
    pieces = grown(driving_body(robot, scene.obstacles, posture=HOME), by=0.03)
    ends = np.array([start[:2], goal[:2]])
    base = Drivable(pieces, pieces, np.array(CENTRE), ends, HEIGHT, 0.9, False)
    box = np.array([[-35, -35], [20, 35]])
    free_motion(base, start, start)
    return (
        _cost_us(lambda: _base_path(robot, scene)),
        _cost_us(lambda: lattice_cost(
            start, goal, box=box, free=lambda a, b: bool(free_motion(base, a, b))
        )),
    )  # fmt: skip


def _bent_problems(robot: PlanningRobot) -> tuple[PlacedArm, list[tuple[Array, Array]]]:
    """Return an arm before a table and pairs of free configurations whose line is blocked."""
    (scene,) = scenes(1)
    x, y, yaw = scene.goal
    X_WB = pose((x, y, HEIGHT), rotation_about((0.0, 0.0, 1.0), yaw))
    arm = place_arm(robot, X_WB, obstacles=scene.obstacles)
    chain = robot.chain.arrays
    q = np.random.default_rng(2).uniform(chain.lower, chain.upper, (2000, 7))
    q = q[~arm.collides(q)]
    pairs = list(zip(q[::2], q[1::2], strict=False))
    bent = [pair for pair in pairs if not free_edge(arm.arrays, *pair)]
    return arm, bent[:_PROBLEMS]


def _plain_rrt(arm: PlacedArm, start: Array, goal: Array) -> list[Array]:
    """RRT-Connect in plain Python and NumPy, without shortcuts."""
    arrays, chain = arm.arrays, arm.robot.chain.arrays
    rng = np.random.default_rng(0)
    trees: list[list[tuple[Array, int]]] = [[(start, -1)], [(goal, -1)]]

    def extend(tree: list[tuple[Array, int]], target: Array) -> bool | None:
        gaps = (np.array([node for node, _ in tree]) - target) * arrays.levers
        nearest = int(np.linalg.norm(gaps, axis=1).argmin())
        here = tree[nearest][0]
        away = distance(arrays.levers, here, target)
        there = away <= REACH
        new = target if there else here + (REACH / away) * (target - here)
        if blocked_many(arrays, new[None])[0] or not free_edge(arrays, here, new):
            return None
        tree.append((new, nearest))
        return bool(there)

    if free_edge(arrays, start, goal):
        return [start, goal]
    for _ in range(4000):
        a, b = (trees[0], trees[1]) if len(trees[0]) <= len(trees[1]) else (trees[1], trees[0])
        if extend(a, rng.uniform(chain.lower, chain.upper)) is None:
            continue
        while (met := extend(b, a[-1][0])) is False:
            pass
        if met:
            return [node for node, _ in (*a, *b)]
    return []


def _ompl(arm: PlacedArm) -> Callable[..., bool]:
    """Return OMPL's RRT-Connect with our check of edges as its motion validator.

    Raises:
        ImportError: If OMPL is not installed.
    """
    from ompl import base as ob
    from ompl import geometric as og
    from ompl import util as ou

    ou.setLogLevel(ou.LOG_NONE)
    arrays, chain = arm.arrays, arm.robot.chain.arrays
    joints = len(chain.lower)

    def configuration(state: Sequence[float]) -> Array:
        return np.array([state[j] for j in range(joints)])

    class EdgeCheck(ob.MotionValidator):  # type: ignore[misc]
        def checkMotion(self, a: Sequence[float], b: Sequence[float]) -> bool:  # noqa: N802
            end = configuration(b)
            return not blocked_many(arrays, end[None])[0] and bool(
                free_edge(arrays, configuration(a), end)
            )

    def solve(start: Array, goal: Array, *, simplify: bool) -> bool:
        space = ob.RealVectorStateSpace(joints)
        bounds = ob.RealVectorBounds(joints)
        for j in range(joints):
            bounds.setLow(j, float(chain.lower[j])), bounds.setHigh(j, float(chain.upper[j]))
        space.setBounds(bounds)
        setup = og.SimpleSetup(space)
        setup.setStateValidityChecker(
            lambda state: not blocked_many(arrays, configuration(state)[None])[0]
        )
        information = setup.getSpaceInformation()
        information.setMotionValidator(EdgeCheck(information))
        ends = space.allocState(), space.allocState()
        for state, q in zip(ends, (start, goal), strict=True):
            for j in range(joints):
                state[j] = float(q[j])
        setup.setStartAndGoalStates(*ends)
        setup.setPlanner(og.RRTConnect(information))
        solved = bool(setup.solve(1.0))
        if solved and simplify:
            setup.simplifySolution()
        return solved

    return solve


def _median_us(
    work: Callable[[Array, Array], object], problems: list[tuple[Array, Array]]
) -> float:
    work(*problems[0])
    return median(_cost_us(lambda a=a, b=b: work(a, b)) for a, b in problems)


def _cost_us(work: Callable[[], object]) -> float:
    begin = process_time_ns()
    work()
    return (process_time_ns() - begin) / 1e3


if __name__ == "__main__":
    main()
