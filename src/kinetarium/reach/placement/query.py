"""place_base: the best base for a set of poses.

A map estimates for a raster of positions how many poses each will reach; exact inverse
kinematics then scores the best ones and refines the best by random steps. All reported
solutions are solved for at the returned base: within 1e-7 m and rad, within the joint limits,
free of collisions if the map was built so.
"""

from copy import copy
from dataclasses import dataclass, replace
from math import pi
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.dynamics.chain import serial_chain
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.load import load_robot
from kinetarium.model.robot import RobotModel
from kinetarium.reach.arm import prepare_arm
from kinetarium.reach.collision.arm_in_scene import (
    NO_OBSTACLES,
    ArmInScene,
    Obstacles,
    move_base,
    put_arm_in_scene,
)
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.reach.maps.files import MapFileError, ReachMap, map_pieces
from kinetarium.reach.maps.recipe import MapKind, graded_grid
from kinetarium.reach.placement.branches import MARGINS, Examiner, Flip, clearances
from kinetarium.reach.placement.files import TaskPoses
from kinetarium.reach.placement.plane import FLOOR, BasePlane
from kinetarium.reach.placement.plane import Effort as Effort
from kinetarium.reach.placement.plane import Objective as Objective
from kinetarium.reach.placement.score_raster import (
    GRADES,
    base_raster,
    grade_bases,
    sum_of_slices,
)
from kinetarium.reach.placement.search import (
    BestBase,
    Goals,
    base_pose,
    bases_facing,
    exact_goals,
    no_best_base,
    search_bases,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose
from kinetarium.storage.serialization import to_builtins

STEP = 0.05
"""Distance of neighbouring candidates [m], as in Table 3 of the paper."""
CANDIDATES = 1000
"""Greatest number of positions of the raster that are scored exactly."""
WIDTHS = np.array([0.06, 0.06, 0.5])
"""Size of the first refinement steps about the best base [m, m, rad]."""
STEPS = np.random.default_rng(0).uniform(-1.0, 1.0, (4000, 3))
EXAMINED = {Effort.FAST: 6, Effort.STANDARD: 16, Effort.THOROUGH: 64}
"""Bases whose configurations are all looked at, for margins and for one branch."""
PATIENCE = 8
"""Factor on the effort, and step along the candidates, if fewer than half the poses are reached."""
TOOL_SPEED = 0.1
"""Speed of the tool along a list of poses [m/s]."""


SOLVES = {Effort.FAST: (100, 0), Effort.STANDARD: (250, 150), Effort.THOROUGH: (1400, 600)}
"""IK solves for candidates and for refinement, for 20 poses; proportional for others."""
SOLVES_FOR = 20


@dataclass(frozen=True, slots=True, eq=False)
class BasePlacement:
    """A base and the poses it reaches.

    Attributes:
        X_WB: Pose of the base link, shape (4, 4).
        yaw: Its rotation about the plane's normal [rad].
        reached: Whether each pose is reached, shape (n,).
        joints: Joint positions for each pose, NaN where it is not reached [rad or m],
            shape (n, joints).
        manipulability: The manipulabilities, NaN where a pose is not reached [m^3], shape (n,).
        elapsed: Computing time of the query [s].
        flips: Changes of the configuration along the list; None if the poses were not to be
            reached on one branch.
        strain: The greatest joint speed on the way to each pose at the speed of the tool, as a
            multiple of its limit, NaN where there is no such way, shape (n,); None likewise.
    """

    X_WB: Array
    yaw: float
    reached: NDArray[np.bool_]
    joints: Array
    manipulability: Array
    elapsed: float
    flips: tuple[Flip, ...] | None = None
    strain: Array | None = None

    def as_json(self) -> dict[str, object]:
        """Return the placement as JSON-like data, without the time of the query."""
        x, y, z = self.X_WB[:3, 3].tolist()
        mean = float(self.manipulability[self.reached].mean()) if self.reached.any() else 0.0
        data: dict[str, object] = {
            "base": {"x": x, "y": y, "z": z, "yaw": self.yaw, "pose": self.X_WB.tolist()},
            "reachable": int(self.reached.sum()),
            "total": len(self.reached),
            "manipulability": mean,
            "joints": [
                q.tolist() if reached else None
                for q, reached in zip(self.joints, self.reached, strict=True)
            ],
        }
        kept = self.flips
        data["flips"] = None if kept is None else [to_builtins(flip) for flip in kept]
        return data


class Placer:
    """A map, a robot and obstacles, prepared for several queries.

    Attributes:
        arm: The robot.
        plane: The plane of bases.
        obstacles: The obstacles, in the plane's frame.
        radius: Radius of the map [m].
        scene: The arm with its obstacles.
    """

    def __init__(
        self,
        reach_map: ReachMap,
        *,
        robot: RobotModel | None = None,
        plane: BasePlane = FLOOR,
        obstacles: Obstacles = NO_OBSTACLES,
    ) -> None:
        """Load the robot and warm up the kernels.

        Args:
            reach_map: An inverse reachability map.
            robot: The robot; if None, the one that the map names is loaded.
            obstacles: The obstacles, in the plane's frame.

        Raises:
            MapFileError: If the map is of another kind or was built for another robot file.
            RobotFileError: If the robot's file is refused.
        """
        recipe = reach_map.recipe
        robot = robot or load_robot(recipe.robot)
        check_robot_of_map(reach_map, robot)
        chain = serial_chain(robot, base_link=recipe.base_link, tool=recipe.tool)
        solid = recipe.self_collision or obstacles
        self.arm = prepare_arm(
            robot,
            tool=recipe.tool,
            base_link=recipe.base_link,
            self_collision=recipe.self_collision,
            pieces=map_pieces(reach_map, chain) if solid else None,
        )
        self.plane = plane
        self.obstacles = obstacles.shapes
        self.radius = recipe.radius
        self.scene: ArmInScene = put_arm_in_scene(self.arm, obstacles)
        self._map = reach_map
        self._turns = np.zeros(1) if self.arm.turns else np.arange(8) * np.float64(pi / 4)
        # Warm up the JIT before the first query.
        warm = exact_goals(np.tile(pose((0.3, 0.0, 0.3)), (2, 1, 1)))
        self._search(warm, by_count=True, solves=(1, 1))

    def among(self, obstacles: Obstacles) -> "Placer":
        """Return a placer for other obstacles, which shares what depends on the arm alone.

        Args:
            obstacles: The obstacles, in the plane's frame.

        Raises:
            RobotFileError: If a mesh file cannot be loaded.
        """
        if self.arm.pieces is None and obstacles:
            self.arm = replace(self.arm, pieces=map_pieces(self._map, self.arm.chain))
        other = copy(self)
        other.obstacles = obstacles.shapes
        other.scene = put_arm_in_scene(self.arm, obstacles)
        return other

    def scores(self, poses: Array) -> tuple[Array, Array, Array]:
        """Return the scores of a raster of positions by the map.

        Args:
            poses: Poses of the tool in the plane's frame, shape (n, 4, 4).

        Returns:
            Coordinates x and y in the plane's frame [m], and the scores, shape (len(x), len(y)).
        """
        recipe = self._map.recipe
        x, y = base_raster(poses, radius=recipe.radius, step=STEP)
        if recipe.kind is MapKind.IRM3:
            values = self._map.fields["manipulability"]
            grid = self._map.grid
            return x, y, sum_of_slices(values, poses, plane=FLOOR, grid=grid, x=x, y=y)
        total = np.zeros((len(x), len(y)))
        grid4 = graded_grid(recipe)
        grade_bases(self._map.fields["reach"], GRADES, grid4, poses, x, y, total)
        return x, y, total

    def place(
        self,
        poses: ArrayLike | TaskPoses,
        *,
        objective: Objective | str = Objective.COUNT,
        effort: Effort | str = Effort.STANDARD,
        continuous: bool = False,
        tool_speed: float = TOOL_SPEED,
    ) -> BasePlacement:
        """Find the base for a set of poses.

        Args:
            poses: Poses X_WT of the tool, shape (n, 4, 4), or poses with tolerances.
            effort: The duration of the search.
            continuous: Whether the poses are reached one after the other, on one branch of the
                arm's configurations if a base is found where that is possible. A base with fewer
                flips is better than one with a greater margin, and one with more poses better
                than both.
            tool_speed: Speed of the tool between them [m/s].

        Raises:
            UnknownNameError: If there is no such objective or effort.
            KinetariumError: If a pose is invalid, no base reaches any of them, or the objective
                needs obstacles and there are none.
        """
        if objective not in tuple(Objective):
            raise UnknownNameError("objective", str(objective), known=Objective)
        if effort not in tuple(Effort):
            raise UnknownNameError("effort", str(effort), known=Effort)
        objective, effort = Objective(objective), Effort(effort)
        if objective is Objective.CLEARANCE and not self._has_obstacles:
            raise KinetariumError("the objective 'clearance' needs obstacles")
        if isinstance(poses, TaskPoses):
            task = poses.checked()
        else:
            task = TaskPoses(checked_poses(poses))
        if not len(task.X_WT):
            raise KinetariumError("base placement needs at least one pose")
        start = perf_counter()
        goals, rolls = task.goals(inverse_pose(self.plane.frame))
        share = max(len(task.X_WT), 6) / SOLVES_FOR
        first, then = SOLVES[effort]
        best = self._search(
            goals,
            by_count=objective is not Objective.MANIPULABILITY,
            solves=(int(share * first), int(share * then)),
        )
        examined = None
        if best.score[0] > 0 and (continuous or objective in MARGINS):
            examiner = Examiner(
                self.arm.chain,
                self.scene,
                goals=goals,
                rolls=rolls,
                objective=objective,
                speed=tool_speed if continuous else 0.0,
            )
            steps = WIDTHS * STEPS[: EXAMINED[effort]]
            examined = examiner.best(best, steps=steps, effort=self.arm.full_effort)
        chosen = best if examined is None else examined
        base, q, w = chosen.base, chosen.q, chosen.w
        elapsed = perf_counter() - start
        reached = w >= 0.0
        if not reached.any():
            raise KinetariumError(
                f"no base in the plane was found from which {self.arm.chain.tool!r} reaches "
                "any of the poses"
            )
        return BasePlacement(
            self.plane.frame @ base_pose(base),
            float((base[2] + pi) % (2 * pi) - pi),
            reached,
            q,
            np.where(reached, w, np.nan),
            elapsed,
            examined.flips if examined and continuous else None,
            examined.strain if examined and continuous else None,
        )

    def clearances(self, placement: BasePlacement) -> Array:
        """Return the distance of the arm from the obstacles at each pose of a placement.

        Returns:
            Distances up to 0.5 m [m], shape (n,); NaN where a pose is not reached.
        """
        found = np.full(len(placement.reached), np.nan)
        if self._has_obstacles and placement.reached.any():
            X_PB = inverse_pose(self.plane.frame) @ placement.X_WB
            joints = placement.joints.shape[1]
            move_base(self.scene, inverse_pose(X_PB)[:3], np.empty((joints + 2, 3, 4)))
            q, ik = placement.joints[placement.reached], self.scene.ik
            found[placement.reached] = clearances(ik.pieces, ik.chain, q)
        return found

    @property
    def _has_obstacles(self) -> bool:
        pieces = self.scene.in_plane
        return bool(len(pieces.bodies)) and bool(pieces.body_starts[-2] < pieces.body_starts[-1])

    def _search(self, goals: Goals, *, by_count: bool, solves: tuple[int, int]) -> BestBase:
        """Search for the best base."""
        firsts = goals.poses[goals.starts[:-1]]
        x, y, scores = self.scores(firsts)
        flat = scores.ravel()
        some = np.argpartition(-flat, min(CANDIDATES, flat.size - 1))[:CANDIDATES]
        some = some[np.argsort(-flat[some], kind="stable")]
        places = np.column_stack([x[some // len(y)], y[some % len(y)]])
        candidates = bases_facing(places, firsts[:, :2, 3].mean(axis=0), turns=self._turns)
        best = no_best_base(len(firsts), joints=len(self.arm.chain.joints))
        efforts = (self.arm.effort, self.arm.full_effort)
        search_bases(self.scene, goals, candidates, STEPS, WIDTHS, efforts, by_count, solves, best)
        if best.score[0] < len(firsts) / 2 and solves[0] > 1:
            # The map knows no obstacles: its best positions may all be beside them.
            more, spread = (PATIENCE * solves[0], PATIENCE * solves[1]), candidates[::PATIENCE]
            search_bases(self.scene, goals, spread, STEPS, WIDTHS, efforts, by_count, more, best)
        return best


def check_robot_of_map(reach_map: ReachMap, robot: RobotModel) -> None:
    """Refuse a map that places no bases, or not those of this robot.

    Raises:
        MapFileError: If the map is of another kind or was built for another robot file.
    """
    if reach_map.recipe.kind is MapKind.CAPABILITY:
        raise MapFileError(
            f"{str(reach_map.path)!r} is a capability map: base placement needs irm3 or irm4"
        )
    if robot.source.sha256 != reach_map.recipe.robot_sha256:
        raise MapFileError(
            f"{str(reach_map.path)!r} was built for another file than {robot.source.file!r} "
            "is now: build it again"
        )


def place_base(
    reach_map: ReachMap,
    poses: ArrayLike,
    *,
    robot: RobotModel | None = None,
    objective: Objective | str = Objective.COUNT,
    effort: Effort | str = Effort.STANDARD,
    plane: BasePlane = FLOOR,
    obstacles: Obstacles = NO_OBSTACLES,
) -> BasePlacement:
    """Find the base from which a robot reaches a set of poses best.

    For several queries make a `Placer` once.

    Args:
        reach_map: An inverse reachability map, irm3 or irm4.
        poses: Poses X_WT of the tool in the world, shape (n, 4, 4).
        robot: The robot; if None, the one that the map names is loaded.
        effort: The duration of the search.
        obstacles: The obstacles, from `read_obstacles`.

    Raises:
        MapFileError: If the map is of another kind or was built for another robot file.
        UnknownNameError: If there is no such objective or effort.
        KinetariumError: If a pose is invalid, or no base reaches any of them.
    """
    placer = Placer(reach_map, robot=robot, plane=plane, obstacles=obstacles)
    return placer.place(poses, objective=objective, effort=effort)
