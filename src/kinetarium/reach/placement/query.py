"""place_base: the best base for a set of poses.

A map estimates for a raster of positions how many poses each will reach; exact inverse
kinematics then scores the best ones and refines the best by random steps. All reported
solutions are solved for at the returned base: within 1e-7 m and rad, within the joint limits,
free of collisions if the map was built so.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
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
from kinetarium.reach.ik.solver import solve_many
from kinetarium.reach.maps.files import MapFileError, ReachMap, map_pieces
from kinetarium.reach.maps.recipe import MapKind, graded_grid
from kinetarium.reach.placement.base_placement import BasePlacement as BasePlacement
from kinetarium.reach.placement.branches import MARGINS, Examiner, clearances
from kinetarium.reach.placement.files import TaskPoses, checked_task
from kinetarium.reach.placement.plane import FLOOR, BasePlane
from kinetarium.reach.placement.plane import Effort as Effort
from kinetarium.reach.placement.plane import Objective as Objective
from kinetarium.reach.placement.robust import (
    BaseError,
    Trial,
    eroded,
    find_robust,
    headed,
    variants_of,
)
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
    solve_at_base,
)
from kinetarium.reach.placement.stance import Room, find_stance, have_room, make_room
from kinetarium.roles.roles import BaseKind
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose

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


class Placer:
    """A map, a robot and obstacles, prepared for several queries.

    Attributes:
        arm: The robot.
        floor: The plane on which the robot stands.
        stance: How it stands there.
        plane: The plane of base links: the floor itself for a robot whose root is fixed.
        radius: Radius of the map [m].
        travel: The posture in which it travels [rad or m], shape (joints,).
        scene: The arm with its obstacles.
        room: The whole robot with its obstacles, its arm as it travels.
    """

    def __init__(
        self,
        reach_map: ReachMap,
        *,
        robot: RobotModel | None = None,
        plane: BasePlane = FLOOR,
        obstacles: Obstacles = NO_OBSTACLES,
        base: BaseKind | None = None,
        travel: ArrayLike | None = None,
    ) -> None:
        """Load the robot and warm up the kernels.

        Args:
            reach_map: An inverse reachability map.
            robot: The robot; if None, the one that the map names is loaded.
            plane: The plane on which the robot stands: on its wheels, if its root is not fixed.
            obstacles: The obstacles, in the plane's frame.
            base: How its root moves; by default as its roles say.
            travel: The posture in which it travels [rad or m], shape (joints,); home by default.

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
        self.floor, self.stance = plane, find_stance(self.arm.chain, base=base)
        # Base links are in a plane of their own, parallel to the floor.
        rise = self.stance.height / plane.normal[2]
        self.plane = BasePlane(plane.normal, plane.height + rise) if rise else plane
        self.radius = recipe.radius
        held = self.arm.chain.held[self.arm.chain.coordinates]
        self.travel: Array = np.array(held if travel is None else travel, dtype=np.float64)
        if self.travel.shape != held.shape or not np.isfinite(self.travel).all():
            raise KinetariumError(f"a travelling posture needs {len(held)} finite joint positions")
        self._put_among(obstacles)
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
        other._put_among(obstacles)
        return other

    def _put_among(self, obstacles: Obstacles) -> None:
        """Put the arm and the whole robot among obstacles, in the floor's frame."""
        if self.plane is not self.floor:
            X_PF = inverse_pose(self.plane.frame) @ self.floor.frame
            shapes = [replace(part, X_LG=X_PF @ part.X_LG) for part in obstacles.shapes]
            obstacles = obstacles._replace(shapes=tuple(shapes))
        self.scene: ArmInScene = put_arm_in_scene(self.arm, obstacles, height=self.stance.height)
        self.room: Room = make_room(self.arm, obstacles.shapes, q=self.travel)

    def scores(
        self,
        poses: Array,
        *,
        step: float = STEP,
        raster: tuple[Array, Array] | None = None,
    ) -> tuple[Array, Array, Array]:
        """Return the scores of a raster of positions by the map.

        Args:
            poses: Poses of the tool in the plane's frame, shape (n, 4, 4).
            step: Distance of neighbouring positions [m].
            raster: Coordinates x and y of another raster than that around the poses [m].

        Returns:
            Coordinates x and y in the plane's frame [m], and the scores, shape (len(x), len(y)).
        """
        recipe = self._map.recipe
        poses = np.ascontiguousarray(poses)  # kernels are compiled for such
        x, y = raster or base_raster(poses, radius=recipe.radius, step=step)
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
        objective, effort = self._choices(objective, effort)
        task = checked_task(poses)
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
                effort=self.arm.full_effort,
            )
            steps = WIDTHS * STEPS[: EXAMINED[effort]]
            examined = examiner.best(best, steps=steps)
        chosen = best if examined is None else examined
        base, q, w = chosen.base, chosen.q, chosen.w
        elapsed = perf_counter() - start
        if not (w >= 0.0).any():
            raise KinetariumError(
                f"no base in the plane was found from which {self.arm.chain.tool!r} reaches "
                f"any of the poses{self._why(goals.poses)}"
            )
        placement = self._placement(self.plane.frame @ base_pose(base), q, w)
        if examined is None or not continuous:
            return replace(placement, elapsed=elapsed)
        return replace(placement, elapsed=elapsed, flips=examined.flips, strain=examined.strain)

    def place_robust(
        self,
        poses: ArrayLike | TaskPoses,
        *,
        error: BaseError,
        k: int = 1,
        alternatives: int = 1,
        objective: Objective | str = Objective.COUNT,
        effort: Effort | str = Effort.STANDARD,
    ) -> tuple[BasePlacement, ...]:
        """Find bases that reach all poses wherever the robot stops in a box around them.

        The whole robot, with the arm in its travelling posture, is clear of obstacles under every
        error; any heading is tried. If no base is found that keeps all poses, the one that was
        refused last is returned, and is not `robust`.

        Args:
            poses: Poses X_WT of the tool, shape (n, 4, 4), or poses with tolerances.
            error: The box of errors of the robot's root.
            k: Number of bases, which differ by more than 0.15 m or 30 degrees.
            alternatives: Number of equally long parts of the poses, any of which suffices.
            objective: What configurations at the poses are chosen by; see `place`.
            effort: The duration of the search, if nothing is found soon.

        Returns:
            At most k bases, best first.

        Raises:
            UnknownNameError: If there is no such objective or effort.
            KinetariumError: If a pose is invalid, or no base was found that reaches any of them.
        """
        objective, effort = self._choices(objective, effort)
        task = checked_task(poses)
        if k < 1 or alternatives < 1 or len(task.X_WT) % alternatives:
            raise KinetariumError(
                f"{len(task.X_WT)} poses are not {alternatives} equally long alternatives, "
                f"or {k} bases are not a number to find"
            )
        start = perf_counter()
        goals, rolls = task.goals(inverse_pose(self.plane.frame))
        variants = variants_of(goals)
        ways = variants.reshape(alternatives, -1, *variants.shape[1:])
        found = find_robust(
            self.scene,
            self.room,
            poses=ways,
            error=error,
            X_RB=self.stance.X_RB,
            trials=self._trials(ways[:, :, 0], effort),
            k=k,
        )
        if not found or not found[0].kept.any():
            # Without a candidate nothing was in the way: the map itself does not reach the poses.
            beyond = not found and not any(
                len(trial.candidates) for trial in self._trials(ways[:, :, 0], effort)
            )
            unreached = found or beyond
            where = "reaches any of the poses" if unreached else "has room among the obstacles"
            hint = self._why(goals.poses, beyond=beyond)
            raise KinetariumError(f"no base was found where the robot {where}{hint}")
        elapsed = perf_counter() - start
        return tuple(
            replace(
                self.at(one.base, goals, rolls=rolls, objective=objective),
                kept=one.kept.mean(axis=0),
                robust=one.is_robust,
                alternative=one.chosen,
                elapsed=elapsed,
            )
            for one in found
        )

    def reach_from(self, X_WR: ArrayLike, poses: ArrayLike) -> BasePlacement:
        """Solve for poses X_WT of the tool, shape (n, 4, 4), where the robot's root is X_WR.

        Raises:
            KinetariumError: If a pose is invalid.
        """
        [root], X_WT = checked_poses(np.asarray(X_WR)[None]), checked_poses(poses)
        start = perf_counter()
        X_WB = root @ self.stance.X_RB
        X_PB = inverse_pose(self.plane.frame) @ X_WB
        ik, joints = self.scene.ik, len(self.arm.chain.joints)
        q, w = np.full((len(X_WT), joints), np.nan), np.full(len(X_WT), -1.0)
        if move_base(self.scene, inverse_pose(X_PB)[:3], np.empty((joints + 2, 3, 4))):
            solve_many(ik, inverse_pose(X_WB) @ X_WT, self.arm.full_effort, False, q, w)
        return replace(self._placement(X_WB, q, w), elapsed=perf_counter() - start)

    def free(self, roots: ArrayLike) -> NDArray[np.bool_]:
        """Return whether the whole robot, its arm as it travels, is clear of obstacles.

        Args:
            roots: Roots x, y [m] and yaw [rad] on the floor, in its frame, shape (n, 3).
        """
        rows = np.asarray(roots, dtype=np.float64).reshape(-1, 3)
        X_RB = self.stance.X_RB
        c, s = np.cos(rows[:, 2]), np.sin(rows[:, 2])
        bases = rows + np.arctan2(X_RB[1, 0], X_RB[0, 0]) * np.array([0.0, 0.0, 1.0])
        bases[:, 0] += c * X_RB[0, 3] - s * X_RB[1, 3]
        bases[:, 1] += s * X_RB[0, 3] + c * X_RB[1, 3]
        free: NDArray[np.bool_] = have_room(self.room, bases)
        return free

    def _trials(self, ways: Array, effort: Effort) -> Iterator[Trial]:
        """Yield candidates: by the map, then finer and with more headings and effort."""
        solves = 4 * SOLVES[effort][0] * ways[0].shape[0]
        for step, headings, tried in ((STEP, 8, self.arm.effort), (STEP / 2, 16, self.arm.effort)):
            x, y, scores = self.scores(ways[0], step=step)
            for way in ways[1:]:
                scores = np.maximum(scores, self.scores(way, step=step)[2])
            flat = eroded(scores).ravel() + 1e-3 * scores.ravel()
            some = np.flatnonzero(flat > 0.0)
            some = some[np.argsort(-flat[some], kind="stable")]
            places = np.column_stack([x[some // len(y)], y[some % len(y)]])
            yield Trial(headed(places, headings=headings), tried, solves)
            solves *= PATIENCE
        yield Trial(headed(places, headings=16), self.arm.full_effort, solves)

    def at(
        self,
        base: Array,
        goals: Goals,
        *,
        rolls: NDArray[np.int64],
        objective: Objective = Objective.COUNT,
    ) -> BasePlacement:
        """Return configurations for poses at one base.

        Args:
            base: x, y [m] and yaw [rad] in the plane's frame, shape (3,).
            goals: The poses, with `rolls` from `TaskPoses.goals`.
            objective: What they are chosen by.
        """
        if objective in MARGINS:
            examiner = Examiner(
                self.arm.chain,
                self.scene,
                goals=goals,
                rolls=rolls,
                objective=objective,
                speed=0.0,
                effort=self.arm.full_effort,
            )
            one = examiner.examine(base)
            q, w = one.q, one.w
        else:
            effort = self.arm.full_effort
            every, values = solve_at_base(self.scene, goals.poses, base=base, effort=effort)
            # Of the variants of a pose the first that is reached.
            first = goals.starts[:-1] + [
                int((part >= 0.0).argmax()) for part in np.split(values, goals.starts[1:-1])
            ]
            q, w = every[first], values[first]
        return self._placement(self.plane.frame @ base_pose(base), q, w)

    def _placement(self, X_WB: Array, q: Array, w: Array) -> BasePlacement:
        """Return a placement for a base link; manipulabilities are negative where it misses."""
        X_WR, reached = X_WB @ inverse_pose(self.stance.X_RB), w >= 0.0
        R_PW = self.plane.frame[:3, :3].T
        yaw, root_yaw = (
            float(np.arctan2(R[1, 0], R[0, 0])) for R in (R_PW @ X_WB[:3, :3], R_PW @ X_WR[:3, :3])
        )
        quality = np.where(reached, w, np.nan)
        return BasePlacement(X_WB, yaw, reached, q, quality, 0.0, X_WR=X_WR, root_yaw=root_yaw)

    def _why(self, X_PT: Array, *, beyond: bool = False) -> str:
        """Return a hint on heights, the most common reason why nothing is reached.

        Args:
            beyond: Whether the map reaches none of the poses; otherwise heights tell.
        """
        z, reach = X_PT[:, 2, 3], self._map.recipe.radius
        if not beyond and (np.abs(z) < reach).any():
            return ""
        low, high = float(z.min()), float(z.max())
        return (
            f": the poses are {low:.2f} to {high:.2f} m above its base link, "
            f"the map reaches {reach:g} m"
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

    def _choices(
        self, objective: Objective | str, effort: Effort | str
    ) -> tuple[Objective, Effort]:
        """Check the options of a query."""
        if objective not in tuple(Objective):
            raise UnknownNameError("objective", str(objective), known=Objective)
        if effort not in tuple(Effort):
            raise UnknownNameError("effort", str(effort), known=Effort)
        if objective == Objective.CLEARANCE and not self._has_obstacles:
            raise KinetariumError("the objective 'clearance' needs obstacles")
        return Objective(objective), Effort(effort)

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
