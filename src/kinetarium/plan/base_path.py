"""plan_base_path: turns in place and straight legs of a base, for the whole robot on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import atan2, ceil, cos, floor, hypot, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import Geometry
from kinetarium.plan._lattice import CELL, HEADINGS, search
from kinetarium.plan._legs import (
    RESOLUTION,
    SAME,
    Drivable,
    direct,
    free_motion,
    merged,
    shorten,
    turned,
    way_cost,
)
from kinetarium.plan.arm_path import PlanningRobot, driving_body
from kinetarium.reach.collision.arm_in_scene import Obstacles
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.collision.pieces import grown
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import wrapped

MARGIN = 0.06
"""Distance that a robot keeps from obstacles while it drives: 3 cm is too little if its turning
centre is not known [m]."""
GOOD = 1.3
"""A way in a few legs is taken if it costs at most so much of one without obstacles."""
MOST_POSES = 8_000_000
"""Largest lattice."""
PATIENCE = 3_000, 10_000
"""Lattice poses after which a search from the start is ended, and one from the goal."""
AROUND = 1.0
"""Room of the lattice around start, goal and obstacles, beside the size of the robot [m]."""
FAR = 5.0
"""Obstacles farther than this from start and goal do not enlarge the lattice [m]."""

Planar = tuple[float, float, float]


class BaseKinematics(StrEnum):
    """How a base moves."""

    DIFFERENTIAL = "differential"
    SKID_STEER = "skid-steer"
    OMNIDIRECTIONAL = "omnidirectional"
    STEERED = "steered"


@dataclass(frozen=True, slots=True)
class BaseLeg:
    """A turn in place or a straight leg.

    Attributes:
        start: Pose of the base link in the world: x, y [m], yaw [rad].
        end: The same at the end; the yaw is not wrapped.
        turn: Angle of a turn [rad]; 0 for a straight leg.
        length: Length of a straight leg, negative backwards [m]; 0 for a turn.
        direction: Direction of motion against the heading [rad]; 0 unless it moves sideways.
    """

    start: Planar
    end: Planar
    turn: float = 0.0
    length: float = 0.0
    direction: float = 0.0


@dataclass(frozen=True, slots=True)
class BasePath:
    """The way of a base, or why there is none.

    Attributes:
        legs: Its legs; none if it is at the goal already, or there is no way.
        steered: The frame in the base link that is steered: x, y [m], heading [rad].
        reason: Why there is no way, in one line; empty if there is one.
        reached: Lattice poses that were reached; 0 if a few legs lead to the goal.
    """

    legs: tuple[BaseLeg, ...]
    steered: Planar = (0.0, 0.0, 0.0)
    reason: str = ""
    reached: int = 0

    @property
    def found(self) -> bool:
        """Whether there is a way."""
        return not self.reason

    @property
    def poses(self) -> Array:
        """Poses of the base link between the legs: x, y [m], yaw [rad], shape (legs + 1, 3)."""
        ends = [self.legs[0].start, *(leg.end for leg in self.legs)] if self.legs else []
        return np.array(ends).reshape(-1, 3)

    @property
    def length(self) -> float:
        """Length of all straight legs [m]."""
        return sum(abs(leg.length) for leg in self.legs)

    @property
    def turning(self) -> float:
        """Angle of all turns [rad]."""
        return sum(abs(leg.turn) for leg in self.legs)


def plan_base_path(
    robot: PlanningRobot,
    obstacles: Obstacles,
    *,
    start: ArrayLike,
    goal: ArrayLike,
    posture: ArrayLike,
    height: float = 0.0,
    steered: ArrayLike = (0.0, 0.0, 0.0),
    motion: BaseKinematics | str = BaseKinematics.DIFFERENTIAL,
    margin: float = MARGIN,
    end_margin: float | None = None,
    held: Sequence[Geometry] = (),
) -> BasePath:
    """Find a way of a base among obstacles.

    The whole robot is checked in its posture, not a footprint. A few legs are tried first, then A*
    on a lattice with shortcuts. The margin holds at poses between which no point of the robot moves
    by more than 4 cm; margins below 2 cm count as 2 cm, so that nothing is touched in between.

    Args:
        robot: The robot.
        obstacles: Shapes in the world's frame. The ground is not checked.
        start: Pose of the base link: x, y [m], yaw [rad].
        goal: The same at the end, which is met exactly.
        posture: Positions of the chain while it drives [rad or m], shape (joints,).
        height: Height of the base link [m].
        steered: The frame in the base link that is steered: x, y [m], heading [rad]. The base
            turns about its origin and drives along its x axis.
        motion: How the base moves. A steered base, which cannot turn in place, is refused.
        margin: Distance from obstacles [m].
        end_margin: The same within 0.3 m of start and goal; by default the same.
        held: Shapes of what the tool holds, in the tool's frame.

    Raises:
        KinetariumError: If an argument is invalid, or the base is steered.
    """
    if motion not in tuple(BaseKinematics):
        raise UnknownNameError("motion of a base", str(motion), known=BaseKinematics)
    if motion == BaseKinematics.STEERED:
        raise KinetariumError(
            "a steered base cannot turn in place: base paths are planned for differential, "
            "skid-steer and omnidirectional ones"
        )
    frame = _planar(steered, "steered")
    a, b = (
        steered_pose(_planar(pose, name), frame)
        for pose, name in ((start, "start"), (goal, "goal"))
    )
    end_margin = margin if end_margin is None else end_margin
    if not (0.0 <= margin < 1.0 and 0.0 <= end_margin < 1.0):
        raise KinetariumError(f"margins must be within [0, 1) m, not {margin} and {end_margin}")
    body = driving_body(robot, obstacles, posture=posture, held=held)
    base = Drivable(
        _robot_grown(body, by=max(margin, RESOLUTION / 2)),
        _robot_grown(body, by=max(end_margin, RESOLUTION / 2)),
        frame,
        np.array([a[:2], b[:2]]),
        float(height),
        _radius(body, frame),
        motion == BaseKinematics.OMNIDIRECTIONAL,
    )
    where = (float(frame[0]), float(frame[1]), float(frame[2]))
    for name, pose in (("goal", b), ("start", a)):
        if not free_motion(base, pose, pose):
            gap = f"{max(end_margin, RESOLUTION / 2):.3g} m"
            reason = f"the robot is closer than {gap} to an obstacle at the {name}"
            return BasePath((), where, reason)
    poses, cost, least = direct(base, a, b)
    reached = 0
    if cost > GOOD * least:
        if _box(base, a, b) is None:
            return BasePath((), where, "start and goal are too far apart for a lattice of 0.1 m")
        found, reached = _lattice_way(base, a, b)
        if len(found):
            found = shorten(base, found)
            if way_cost(base, found, True) < cost:
                poses = found
        if not len(poses):
            reason = f"no way to the goal keeps {margin:.3g} m from all obstacles"
            return BasePath((), where, f"{reason} ({reached} poses were reached)", reached)
    legs = _legs(merged(poses), frame, goal=_planar(goal, "goal"))
    return BasePath(legs, where, "", reached)


def steered_pose(base: ArrayLike, steered: ArrayLike) -> Array:
    """Return the pose of the steered frame in the world.

    Args:
        base: Poses of the base link: x, y [m], yaw [rad], shape (..., 3).
        steered: The steered frame in the base link, shape (3,).
    """
    p, (x, y, heading) = np.asarray(base, dtype=np.float64), np.asarray(steered, dtype=np.float64)
    c, s = np.cos(p[..., 2]), np.sin(p[..., 2])
    return np.stack(
        [p[..., 0] + c * x - s * y, p[..., 1] + s * x + c * y, p[..., 2] + heading], axis=-1
    )


def base_pose(of_steered: ArrayLike, steered: ArrayLike) -> Array:
    """Return the pose of the base link in the world; see `steered_pose`.

    Args:
        of_steered: Poses of the steered frame in the world, shape (..., 3).
        steered: The steered frame in the base link, shape (3,).
    """
    x, y, heading = np.asarray(steered, dtype=np.float64)
    c, s = cos(heading), sin(heading)
    return steered_pose(of_steered, (-c * x - s * y, s * x - c * y, -heading))


def _planar(pose: ArrayLike, name: str) -> Array:
    values = np.asarray(pose, dtype=np.float64)
    if values.shape != (3,) or not np.isfinite(values).all():
        raise KinetariumError(f"{name}: a pose of a base is x, y and yaw, three finite numbers")
    return values


def _robot_grown(body: PieceArrays, *, by: float) -> PieceArrays:
    """Return the pieces of the robot, the first body, grown by a layer [m]."""
    all_grown = grown(body, by=by)
    clusters = body.body_starts[1]
    first = body.cluster_starts[clusters]
    all_grown.sizes[first:] = body.sizes[first:]
    all_grown.clusters[clusters:] = body.clusters[clusters:]
    all_grown.bodies[1:] = body.bodies[1:]
    return all_grown


def _radius(body: PieceArrays, frame: Array) -> float:
    """Return the largest distance of a point of the robot from the steered axis [m]."""
    end = body.cluster_starts[body.body_starts[1]]
    if not end:
        return 0.0
    away = np.linalg.norm(body.places[:end, :2, 3] - frame[:2], axis=1)
    return float((away + body.sizes[:end, 6]).max())


def _box(base: Drivable, a: Array, b: Array) -> np.ndarray | None:
    """Return the bounds of the lattice in cells in the goal's frame; None if it is too large."""
    first = base.wide.body_starts[1]
    balls = base.wide.clusters[first:]
    ends = np.array([a[:2], b[:2]])
    gaps = np.linalg.norm(balls[:, None, :2] - ends, axis=-1).min(axis=1) - balls[:, 3]
    balls = balls[gaps < FAR]
    points = [ends, balls[:, :2] + balls[:, 3:], balls[:, :2] - balls[:, 3:]]
    c, s = cos(b[2]), sin(b[2])
    local = (np.concatenate(points) - b[:2]) @ np.array([[c, -s], [s, c]])
    local = np.clip(local, local[:2].min(axis=0) - FAR, local[:2].max(axis=0) + FAR)
    room = base.radius + AROUND
    box = np.array([
        [floor(value) for value in (local.min(axis=0) - room) / CELL],
        [ceil(value) for value in (local.max(axis=0) + room) / CELL],
    ])  # fmt: skip
    return box if (box[1] - box[0] + 1).prod() * HEADINGS <= MOST_POSES else None


def _lattice_way(base: Drivable, a: Array, b: Array) -> tuple[Array, int]:
    """Return a way on the lattice, shape (n, 3), none if there is none, and the poses reached.

    A goal is often in a narrow place, which a search from there leaves sooner than one from the
    start finds it, or does not leave at all. Motions can be reversed.
    """
    for most, backwards in ((PATIENCE[0], False), (PATIENCE[1], True), (MOST_POSES, False)):
        ends = (b, a) if backwards else (a, b)
        box = _box(base, *ends)
        if box is None:
            continue
        found, _, reached = search(base, *ends, box, True, most)
        if len(found) or reached < most:
            break
    return np.ascontiguousarray(found[::-1]) if backwards else found, reached


def _legs(poses: Array, frame: Array, *, goal: Array) -> tuple[BaseLeg, ...]:
    """Return the legs between poses of the steered frame."""
    legs: list[BaseLeg] = []
    yaw = float(poses[0, 2] - frame[2])
    start = _tuple(base_pose(poses[0], frame), yaw)
    for n, (before, after) in enumerate(pairwise(poses)):
        dx, dy = after[:2] - before[:2]
        away, turn = hypot(dx, dy), turned(before[2], after[2])
        yaw += turn if away <= SAME else 0.0
        end = _tuple(base_pose(after, frame), yaw)
        if n == len(poses) - 2:
            # Free of rounding errors of the lattice.
            end = (float(goal[0]), float(goal[1]), yaw + turned(yaw, goal[2]))
        if away <= SAME:
            legs.append(BaseLeg(start, end, turn=turn))
        else:
            direction = wrapped(atan2(dy, dx) - before[2])
            back = abs(abs(direction) - pi) < SAME
            direction = 0.0 if back or abs(direction) < SAME else direction
            legs.append(BaseLeg(start, end, length=-away if back else away, direction=direction))
        start = end
    return tuple(legs)


def _tuple(pose: Array, yaw: float) -> Planar:
    return float(pose[0]), float(pose[1]), yaw
