"""Plans of a pick: where the base stands, its way there, and the motions of the arm."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import atan2, cos, pi, radians, sin
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Geometry
from kinetarium.plan import (
    PlanningRobot,
    TimedMotion,
    motion_limits,
    narrow_posture,
    place_arm,
    plan_arm_path,
    plan_tool_lines,
    planning_robot,
    side_reach,
    time_line,
    time_path,
)
from kinetarium.reach import BaseError, BasePlacement, Obstacles, Placer, kept_map, place_stops
from kinetarium.scene.tables import TableScene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about, wrapped
from kinetarium.studies.pick.config import Placement
from kinetarium.studies.pick.robot import ARM_MARGIN, Picker
from kinetarium.studies.pick.way import (
    FALLEN,
    NO_BASE,
    NO_PATH,
    OUT_OF_REACH,
    Margins,
    PlanningError,
    Way,
    margins,
    plan_way,
)

PRE_GRASP = 0.12
"""Height of the tool over the grasp before it moves down [m]."""
LIFT = 0.15
"""How far an object is lifted [m]."""
STAND_OFF = 0.55
"""Distance of the arm's base from the object of a fixed placement, or more where there is no room,
over the arm's reach [-]: such as the Panda's reach it from above without being stretched."""
_RANDOM_REACH = (0.4, 0.85)
"""Distance of the arm's base from the object of a random placement over that reach [-]."""
_SLICE = 0.1
"""Distance of neighbouring positions of a drawn map [m]."""
_ROOM = 0.04
"""Distance to all sides by which a base is free that no map chose [m]."""
_DRAWS = 2000
_BASES = 6
"""Bases of a map that are compared."""
_SPARE = 0.005, radians(0.3)
"""Errors of driving that are added to those of localisation [m, rad]."""
_SUNK, _TILTED = 0.02, radians(15.0)
"""How much lower [m], or tilted [rad], an object does not stand any more."""
_TOOL_SPEED = 0.1
"""Speed of the tool along lines [m/s]."""
_SCALE = 0.5
"""Speed of the arm over its limits [-]."""
_NARROWER = 0.05
"""How much less far an arm reaches to the sides in a posture that is worth taking [m]."""


@dataclass(frozen=True, eq=False)
class ArmPlan:
    """The motions of the arm for one object.

    Attributes:
        quarter: The grasp, in quarter turns about the vertical.
        X_WG: The grip frame at the grasp, shape (4, 4).
        approach: From the travelling posture to the pre-grasp.
        down: From there to the grasp.
        up: From the grasp to the lifted object.
        limit_margin: Least distance of a joint from its limits [rad or m].
    """

    quarter: int
    X_WG: Array
    approach: TimedMotion
    down: TimedMotion
    up: TimedMotion
    limit_margin: float


@lru_cache(maxsize=4)
def _placer(picker: Picker) -> Placer:
    reach_map = kept_map(picker.model, tool=picker.arm.tool)
    return Placer(reach_map, robot=picker.model, travel=picker.posture)


@lru_cache(maxsize=4)
def _planning_robot(picker: Picker) -> PlanningRobot:
    return planning_robot(
        picker.model, tool=picker.arm.tool, X_LT=picker.grip_in_tool, positions=picker.positions
    )


def arm_reach(robot: PlanningRobot) -> float:
    """Return how far the arm reaches from the axis of its first turning joint, to 1 cm [m].

    Measured to balls around its links.
    """
    first = int(robot.chain.arrays.prismatic.argmin())
    return round(float(robot.levers[first]), 2)


@lru_cache(maxsize=2)
def narrow(picker: Picker) -> Picker | None:
    """Return the robot as it travels where there is little room; None if it cannot be narrower."""
    robot = _planning_robot(picker)
    posture = narrow_posture(robot, near=picker.home, height=picker.height)
    if (
        posture is None
        or side_reach(robot, picker.posture) < side_reach(robot, posture) + _NARROWER
    ):
        return None
    return replace(picker, travel=tuple(posture.tolist()))


@dataclass(eq=False)
class Planner:
    """Plans for a robot among tables.

    Attributes:
        picker: The robot.
        tables: The scene.
        error: Largest error of the base, along its axes [m] and of its heading [rad].
        shift: How far a turn may displace the robot [m].
        elapsed: Computing time of each kind of plan [s].
    """

    picker: Picker
    tables: TableScene
    error: tuple[float, float]
    shift: float = 0.0
    elapsed: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the robot; what depends on it alone is computed once in a process."""
        standing = tuple(geometry for _, geometry in self.tables.standing())
        self._standing = standing
        everything = Obstacles((*standing, *self.tables.object_shapes()), ground=True)
        self.everything = everything
        self._placer = _placer(self.picker).among(everything)
        self._robot = _planning_robot(self.picker)
        self._reach_of_arm = arm_reach(self._robot)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        begin = process_time()
        try:
            yield
        finally:
            self.elapsed[what] = self.elapsed.get(what, 0.0) + process_time() - begin

    def tool_poses(self, index: int) -> Array:
        """Return poses of the tool's link for an object, three for each grasp, (3 k, 4, 4).

        Pre-grasp, grasp and lifted.
        """
        held, X_WO = self.tables.objects[index], self.tables.object_pose(index)
        X_GL = inverse_pose(self.picker.grip_in_tool)
        poses = []
        for quarter in self.picker.widths(held):
            X_WG = self.picker.grasp(held, X_WO, quarter)
            for up in (PRE_GRASP, 0.0, LIFT):
                poses.append(pose((0.0, 0.0, up)) @ X_WG @ X_GL)
        return np.array(poses)

    def stop(
        self,
        index: int,
        *,
        placement: Placement,
        rng: np.random.Generator,
        start: PlanarPose,
        centre: PlanarPose,
    ) -> tuple[PlanarPose, Way]:
        """Return the pose of the root from which to pick an object, and the way there.

        Of several bases the first is taken to which a straight leg leads with the widest margins.

        Raises:
            PlanningError: If there is none.
        """
        with self._timed("placement"):
            bases = list(self._bases(index, placement, rng))
        checked: set[PlanarPose] = set()
        if placement not in (Placement.ROBUST, Placement.MAP):
            checked.update(bases)  # whether they reach the object is what is compared
        fallback: tuple[PlanarPose, Way] | None = None
        fault = PlanningError(NO_PATH, "")
        for wide in self._margins:
            for base in list(bases):
                try:
                    if base not in checked:
                        self._check_reach(base, index)
                        checked.add(base)
                except PlanningError as reason:
                    fault = reason
                    bases.remove(base)
                    continue
                try:
                    way = self._way(start, base, centre=centre, margins=wide)
                except PlanningError as reason:
                    fault = reason
                    continue
                fallback = fallback or (base, way)
                if way.straight:
                    return base, way
        if fallback is None:
            raise fault
        return fallback

    def _check_reach(self, base: PlanarPose, index: int) -> None:
        """Check that the arm reaches an object from a base of the map, which knows no lines.

        Raises:
            PlanningError: If it does not.
        """
        places = [self.tables.object_pose(i) for i in range(len(self.tables.objects))]
        try:
            self.reach(index, base=self.root(base), places=places)
        except PlanningError as reason:
            raise PlanningError(NO_BASE, f"at the best base {reason}") from None

    def stops(
        self, *, placement: Placement, start: PlanarPose
    ) -> list[tuple[PlanarPose, list[int]]]:
        """Return the fewest bases for all objects by the map, each with its objects, in order.

        The first grasp of each object counts; objects without a base are left out.
        """
        count = len(self.tables.objects)
        error = self._box if placement is Placement.ROBUST else BaseError(0.0, 0.0, 0.0)
        with self._timed("placement"):
            try:
                found = place_stops(
                    self._placer.among(Obstacles(self._standing, ground=True)),
                    np.concatenate([self.tool_poses(i)[:3] for i in range(count)]),
                    error=error,
                    groups=np.repeat(np.arange(count), 3),
                    start=(start.x, start.y),
                )
            except KinetariumError:
                return []
        stop_of = found.stop_of[::3]
        return [
            (_planar(base), [i for i in range(count) if stop_of[i] == number])
            for number, base in enumerate(found.bases)
        ]

    @property
    def _box(self) -> BaseError:
        most, turn = self.error[0] + _SPARE[0], self.error[1] + _SPARE[1]
        return BaseError(most, most, turn)

    def _bases(
        self, index: int, placement: Placement, rng: np.random.Generator
    ) -> Sequence[PlanarPose]:
        match placement:
            case Placement.ROBUST:
                return self._by_map(index, self._box)
            case Placement.MAP:
                return self._by_map(index, BaseError(0.0, 0.0, 0.0))
            case Placement.FIXED:
                return [self._in_front(index)]
            case Placement.RANDOM:
                return [self._anywhere(index, rng)]

    def _by_map(self, index: int, error: BaseError) -> list[PlanarPose]:
        """Return bases by the map, those first from which the arm's motions are found."""
        others = [shape for i, shape in enumerate(self.tables.object_shapes()) if i != index]
        bases = self._placer.among(Obstacles((*self._standing, *others), ground=True))
        held = self.tables.objects[index]
        try:
            found = bases.place_robust(
                self.tool_poses(index),
                error=error,
                k=_BASES,
                alternatives=len(self.picker.widths(held)),
            )
        except KinetariumError as reason:
            raise PlanningError(NO_BASE, str(reason)) from None
        return [_planar(one) for one in found]

    def root(self, base: PlanarPose) -> Array:
        """Return the pose of the root on the ground as a matrix, shape (4, 4)."""
        upright = rotation_about((0.0, 0.0, 1.0), base.heading)
        return pose((base.x, base.y, self.picker.height), upright)

    def _facing(self, index: int, *, away: float, angle: float, turn: float = 0.0) -> PlanarPose:
        """Return the root such that the arm's base is away from the object and faces it."""
        x, y = self.tables.object_pose(index)[:2, 3]
        heading = angle + pi + turn
        bx, by = self.picker.shoulder
        return PlanarPose(
            float(x + away * cos(angle) - (cos(heading) * bx - sin(heading) * by)),
            float(y + away * sin(angle) - (sin(heading) * bx + cos(heading) * by)),
            wrapped(heading),
        )

    def _in_front(self, index: int) -> PlanarPose:
        held = self.tables.objects[index]
        table = self.tables.tables[held.table - 1]
        length, width, _ = table.size
        gaps = {0.0: length / 2 - held.x, pi: length / 2 + held.x,
                pi / 2: width / 2 - held.y, -pi / 2: width / 2 + held.y}  # fmt: skip
        side = min(gaps, key=lambda angle: gaps[angle])
        near = STAND_OFF * self._reach_of_arm
        for more in np.arange(0.0, 0.6, 0.05).tolist():
            base = self._facing(index, away=near + more, angle=radians(table.yaw) + side)
            if self._has_room(base):
                return base
        raise PlanningError(NO_BASE, "there is no room in front of the object")

    def _anywhere(self, index: int, rng: np.random.Generator) -> PlanarPose:
        for _ in range(_DRAWS):
            base = self._facing(
                index,
                away=self._reach_of_arm * float(rng.uniform(*_RANDOM_REACH)),
                angle=float(rng.uniform(-pi, pi)),
                turn=float(rng.uniform(-pi / 4, pi / 4)),
            )
            if self._has_room(base):
                return base
        raise PlanningError(NO_BASE, "there is no room around the object")

    def slice(self, index: int) -> dict[str, list[Any]]:
        """Return the map around an object: how well bases of the arm reach its poses [%].

        Returns:
            Coordinates "x" and "y" of the arm's base [m], and "scores" by x and y.
        """
        poses = inverse_pose(self._placer.plane.frame) @ self.tool_poses(index)
        x, y, scores = self._placer.scores(poses, step=_SLICE)
        share = np.rint(100 * scores / max(float(scores.max()), 1e-9)).astype(int)
        return {"x": x.round(3).tolist(), "y": y.round(3).tolist(), "scores": share.tolist()}

    def free(self, bases: Array) -> NDArray[np.bool_]:
        """Return whether the robot is free of everything at poses of the root, shape (n, 3)."""
        return self._placer.free(bases)

    def _has_room(self, base: PlanarPose) -> bool:
        """Return whether the robot is free of everything at a base and beside it."""
        beside = np.array([(0, 0, 0), *((x, y, 0) for x in (-1, 1) for y in (-1, 1))])
        return bool(self.free(np.array(base) + _ROOM * beside).all())

    def way(
        self, start: PlanarPose, goal: PlanarPose, *, centre: PlanarPose, leave: bool = False
    ) -> Way:
        """Return the way of the base to a goal, with the widest margins that there are.

        Args:
            leave: Whether the start is near the goal: turns are then away from both.

        Raises:
            PlanningError: If there is none.
        """
        fault = PlanningError(NO_PATH, "")
        for wide in self._margins:
            try:
                return self._way(start, goal, centre=centre, margins=wide, leave=leave)
            except PlanningError as reason:
                fault = reason
        raise fault

    @property
    def _margins(self) -> tuple[Margins, ...]:
        most, turn = self.error
        return margins(spread=most + turn * self.picker.outline, shift=self.shift)

    def _way(
        self,
        start: PlanarPose,
        goal: PlanarPose,
        *,
        centre: PlanarPose,
        margins: Margins,
        leave: bool = False,
    ) -> Way:
        with self._timed("base path"):
            return plan_way(
                self._robot,
                self.picker,
                obstacles=self.everything,
                start=start,
                goal=goal,
                centre=centre,
                margins=margins,
                leave=leave,
            )

    def reach(self, index: int, *, base: Array, places: Sequence[Array]) -> ArmPlan:
        """Return the motions of the arm for an object.

        Args:
            base: Pose of the root, shape (4, 4).
            places: Poses of all objects, shape (4, 4) each.

        Raises:
            PlanningError: If there are none.
        """
        with self._timed("arm"):
            return self._reach(index, base=base, places=places)

    def take_posture(self, q: Array, *, base: PlanarPose, places: Sequence[Array]) -> TimedMotion:
        """Return the motion of the arm to the posture in which the robot travels.

        Args:
            q: Where the arm is [rad or m], shape (arm,).
            base: Where the robot stands.
            places: Poses of all objects, shape (4, 4) each.

        Raises:
            PlanningError: If there is none.
        """
        with self._timed("arm"):
            shapes = zip(self.tables.object_shapes(), places, strict=True)
            about = (*self._standing, *(Geometry(shape.shape, X_WO) for shape, X_WO in shapes))
            arm = place_arm(self._robot, self.root(base),
                            obstacles=Obstacles(about, ground=True), margin=ARM_MARGIN)  # fmt: skip
            path = plan_arm_path(arm, q, goal=self.picker.posture)
        if not path.found:
            raise PlanningError(NO_PATH, path.reason)
        return time_path(path.q, motion_limits(self._robot.chain, scale=_SCALE))

    def reachable(self, base: PlanarPose, objects: Sequence[int]) -> list[int]:
        """Return the objects that the arm reaches from a base, placed as planned."""
        places = [self.tables.object_pose(i) for i in range(len(self.tables.objects))]
        found = []
        for i in objects:
            try:
                self.reach(i, base=self.root(base), places=places)
                found.append(i)
            except PlanningError:
                continue
        return found

    def _reach(self, index: int, *, base: Array, places: Sequence[Array]) -> ArmPlan:
        held, picker = self.tables.objects[index], self.picker
        below = self.tables.object_pose(index)[2, 3] - places[index][2, 3]
        if below > _SUNK or places[index][2, 2] < cos(_TILTED):
            how = "off its table" if below > held.size[2] else "over"
            raise PlanningError(FALLEN, f"the object has fallen {how}")
        shapes = [
            Geometry(shape.shape, X_WO)
            for shape, X_WO in zip(self.tables.object_shapes(), places, strict=True)
        ]
        others = [shape for i, shape in enumerate(shapes) if i != index]
        about = (*self._standing, *others)
        arm = place_arm(self._robot, base, obstacles=Obstacles(about, ground=True),
                        margin=ARM_MARGIN)  # fmt: skip
        every = Obstacles((*about, shapes[index]), ground=True)
        above = place_arm(self._robot, base, obstacles=every, margin=ARM_MARGIN)
        X_WO = _upright(places[index])
        quarters = list(picker.widths(held))
        grasps = [picker.grasp(held, X_WO, quarter) for quarter in quarters]
        lines = np.array([[pose((0.0, 0.0, PRE_GRASP)) @ X, X] for X in grasps])
        down = plan_tool_lines(arm, lines, near=picker.home)
        order = sorted(
            range(len(down)), key=lambda i: -down[i].limit_margin if down[i].found else 1e9
        )
        limits = motion_limits(self._robot.chain, scale=_SCALE)
        reason = down[order[0]].reason
        for i in order:
            if not down[i].found:
                break
            lifted = np.array([[grasps[i], pose((0.0, 0.0, LIFT)) @ grasps[i]]])
            (up,) = plan_tool_lines(arm, lifted, start=down[i].q[-1])
            if not up.found:
                reason = up.reason
                continue
            path = plan_arm_path(above, picker.posture, goal=down[i].q[0])
            if not path.found:
                reason = path.reason
                continue
            return ArmPlan(
                quarters[i],
                grasps[i],
                time_path(path.q, limits),
                time_line(down[i], limits, tool_speed=_TOOL_SPEED),
                time_line(up, limits, tool_speed=_TOOL_SPEED),
                min(down[i].limit_margin, up.limit_margin),
            )
        raise PlanningError(OUT_OF_REACH, reason)


def _planar(base: BasePlacement) -> PlanarPose:
    return PlanarPose(float(base.X_WR[0, 3]), float(base.X_WR[1, 3]), float(base.root_yaw))


def _upright(X_WO: Array) -> Array:
    """Return the pose of an object that stands, without the small tilt of a soft contact."""
    yaw = atan2(X_WO[1, 0], X_WO[0, 0])
    return pose(X_WO[:3, 3], rotation_about((0.0, 0.0, 1.0), yaw))
