"""A robot prepared for planning, its arm among obstacles, and paths of the arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.dynamics.chain import SerialChain, link_frames, ranges, serial_chain
from kinetarium.dynamics.forward import poses
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Geometry, RobotModel
from kinetarium.plan._joint_space import (
    ArmArrays,
    blocked_many,
    connect_trees,
    contact,
    free_edge,
    levers,
    shorten,
)
from kinetarium.reach.arm import Arm, arm_of
from kinetarium.reach.collision.arm_in_scene import NO_OBSTACLES, Obstacles
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.collision.pieces import grown, with_held, with_obstacles
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.roles.studied_robot import PLANAR_JOINTS
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose

MARGIN = 0.01
"""Distance that an arm keeps from obstacles [m]."""
SAMPLES = 2000
"""Random configurations in which the levers of joints are measured."""
TRIES = 4000
"""Random configurations of the longest search."""
SHORTCUTS = 6
"""Random shortcuts that are tried."""
SLACK = 1e-9
"""How far a position may be beyond a limit [rad or m]."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanningRobot:
    """A robot for planning: made once, since its pieces take time.

    Attributes:
        arm: The chain from the base to the tool with its solver and its convex pieces.
        levers: How far any point of the robot moves, at most, per unit of each joint
            [m/rad or 1], shape (joints,).
    """

    arm: Arm
    levers: Array

    @property
    def chain(self) -> SerialChain:
        """The chain from the base to the tool."""
        return self.arm.chain

    @property
    def pieces(self) -> PieceArrays:
        """The convex pieces of the robot."""
        return self.arm.ik.pieces

    def whole(self, q: ArrayLike) -> Array:
        """Put positions of the chain, shape (..., joints), among those of all moving joints."""
        return self.chain.whole(np.asarray(q, dtype=np.float64))


def planning_robot(
    model: RobotModel,
    *,
    tool: str | None = None,
    X_LT: ArrayLike | None = None,
    base_link: str | None = None,
    positions: Mapping[str, float] | None = None,
) -> PlanningRobot:
    """Prepare a robot for planning.

    All joints between base and tool belong to the arm, such as those of a lifting torso.

    Args:
        model: The robot.
        tool: The tool link; see `serial_chain`.
        X_LT: Pose of the tool's frame in the tool link, shape (4, 4); by default the same.
        base_link: The link whose pose is that of the base; by default the root, or the link that
            the joints of a planar base move.
        positions: Positions of joints outside the chain, such as those of an open gripper
            [rad or m]; by default those of the catalogue, or zero.

    Raises:
        UnknownNameError: If there is no such link.
        KinetariumError: If there is no chain to the tool.
    """
    if base_link is None:
        below = {joint.name: joint.child for joint in model.joints}
        base_link = below.get(PLANAR_JOINTS[-1], model.root)
    chain = serial_chain(model, base_link=base_link, tool=tool)
    if positions:
        held = [
            positions.get(joint.name, default)
            for joint, default in zip(model.moving_joints, chain.held, strict=True)
        ]
        chain = replace(chain, held=frozen(held))
    if X_LT is not None:
        frames = chain.arrays.frames.copy()
        last = np.vstack([frames[-1], [0.0, 0.0, 0.0, 1.0]])
        frames[-1] = (last @ checked_poses(np.asarray(X_LT)[None])[0])[:3]
        chain = replace(chain, arrays=chain.arrays._replace(frames=frames))
    arm = arm_of(chain)
    q = np.random.default_rng(0).uniform(*ranges(chain.arrays), (SAMPLES, len(chain.joints)))
    return PlanningRobot(arm, levers(chain.arrays, arm.ik.pieces, q))


@dataclass(frozen=True, slots=True, eq=False)
class PlacedArm:
    """An arm on a base that stands, among obstacles.

    Attributes:
        robot: The robot.
        X_WB: Pose of its base, shape (4, 4).
        arrays: Its pieces with what it holds, and the obstacles grown by the margin, in the
            base's frame, for kernels.
    """

    robot: PlanningRobot
    X_WB: Array
    arrays: ArmArrays

    def collides(self, q: ArrayLike) -> NDArray[np.bool_]:
        """Return whether configurations [rad or m], shape (n, joints), collide, shape (n,)."""
        return np.asarray(blocked_many(self.arrays, _rows(q, self.robot)))

    def contact(self, q: ArrayLike) -> str:
        """Return what touches at a configuration in words, or nothing."""
        a, b = contact(self.arrays, checked_q(q, self.robot)).tolist()
        if b < 0:
            return ""
        if a < 0:
            return "the robot and the ground"
        chain = self.robot.chain
        moved = [chain.base_link, *(chain.model.joint(name).child for name in chain.joints)]
        other = f"'{moved[b]}'" if b < len(moved) else "an obstacle"
        return f"'{moved[a]}' and {other}"

    def tool_poses(self, q: ArrayLike) -> Array:
        """Return the poses X_WT, shape (n, 4, 4), at configurations, shape (n, joints)."""
        return np.asarray(self.X_WB @ poses(self.robot.chain.arrays, _rows(q, self.robot)))


def place_arm(
    robot: PlanningRobot,
    X_WB: ArrayLike,
    *,
    obstacles: Obstacles = NO_OBSTACLES,
    held: Sequence[Geometry] = (),
    margin: float = MARGIN,
) -> PlacedArm:
    """Put an arm among obstacles.

    Args:
        robot: The robot.
        X_WB: Pose of its base in the world, shape (4, 4).
        obstacles: Shapes in the world's frame; the ground is at z = 0.
        held: Shapes of what the tool holds, in the tool's frame.
        margin: Distance that the arm and what it holds keep from obstacles [m].

    Raises:
        KinetariumError: If the pose or the margin is invalid.
    """
    X = checked_poses(np.asarray(X_WB)[None])[0]
    if not 0.0 <= margin < 1.0:
        raise KinetariumError(f"a margin must be within [0, 1) m, not {margin}")
    X_BW = inverse_pose(X)
    around = [replace(shape, X_LG=X_BW @ shape.X_LG) for shape in obstacles.shapes]
    chain = robot.chain.arrays
    own = with_held(robot.pieces, held, X_FT=chain.frames[-1])
    pieces = with_obstacles(own, around)
    arms = robot.levers
    if held:
        # What is held lengthens every lever by at most what it adds to the last body.
        longer = max(_reach(own, -2) - _reach(robot.pieces, -2), 0.0)
        arms = np.where(chain.prismatic, 1.0, arms + longer)
    if around:
        pieces = grown(pieces, by=margin, body=len(pieces.bodies) - 1)
    height = margin - X[2, 3] if obstacles.ground else -np.inf
    floor = np.array([*X_BW[:3, 2], height])
    # A gap that is closed between two checks by less than twice the margin is no contact yet.
    step = max(2.0 * margin, SHORTEST)
    return PlacedArm(robot, X, ArmArrays(chain, pieces, floor, arms, step))


SHORTEST = 5e-3
"""Least motion between two checked configurations [m]; contacts less deep may be missed."""


def _reach(pieces: PieceArrays, body: int) -> float:
    """Return the radius of a ball about the frame of a body around all its pieces [m]."""
    center, radius = pieces.bodies[body, :3], float(pieces.bodies[body, 3])
    return float(np.linalg.norm(center)) + radius if radius >= 0.0 else 0.0


def _rows(q: ArrayLike, robot: PlanningRobot) -> Array:
    rows = np.ascontiguousarray(q, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(robot.chain.joints) or not np.isfinite(rows).all():
        raise KinetariumError(
            f"configurations must be finite, of shape (n, {len(robot.chain.joints)}), "
            f"not {rows.shape}"
        )
    return rows


def checked_q(q: ArrayLike, robot: PlanningRobot) -> Array:
    """Return one configuration [rad or m], shape (joints,).

    Raises:
        KinetariumError: If its shape is wrong or it is not finite.
    """
    return np.asarray(_rows(np.asarray(q, dtype=np.float64)[None], robot)[0])


def driving_body(
    robot: PlanningRobot,
    obstacles: Obstacles,
    *,
    posture: ArrayLike,
    held: Sequence[Geometry] = (),
) -> PieceArrays:
    """Return the whole robot in one posture as one body, for a base that drives.

    The ground is not checked: what does not touch it in this posture does not anywhere.

    Args:
        robot: The robot.
        obstacles: Shapes in the world's frame.
        posture: Positions of the chain [rad or m], shape (joints,).
        held: Shapes of what the tool holds, in the tool's frame.

    Returns:
        The robot as body 0 on frame 1, and the obstacles as body 1 on frame 0, the world's.
    """
    arrays = robot.chain.arrays
    own = with_held(robot.pieces, held, X_FT=arrays.frames[-1])
    X = link_frames(arrays, checked_q(posture, robot))
    places, clusters = own.places.copy(), own.clusters.copy()
    for body in range(len(own.bodies) - 1):
        first, end = own.body_starts[body], own.body_starts[body + 1]
        R, p = X[body, :3, :3], X[body, :3, 3]
        clusters[first:end, :3] = clusters[first:end, :3] @ R.T + p
        span = slice(own.cluster_starts[first], own.cluster_starts[end])
        places[span] = X[body, :3, :3] @ places[span]
        places[span, :, 3] += p
    low = (clusters[:, :3] - clusters[:, 3:]).min(axis=0, initial=np.inf)
    high = (clusters[:, :3] + clusters[:, 3:]).max(axis=0, initial=-np.inf)
    ball = np.full((2, 4), -1.0)
    if len(clusters):
        ball[0, :3] = (low + high) / 2
        away = np.linalg.norm(clusters[:, :3] - ball[0, :3], axis=1)
        ball[0, 3] = (away + clusters[:, 3]).max()
    one = own._replace(
        places=places,
        clusters=clusters,
        bodies=ball,
        body_starts=np.array([0, len(clusters), len(clusters)]),
    )
    return with_obstacles(one, obstacles.shapes)._replace(
        frames=np.array([1, 0]), pairs=np.array([[1, 0]])[: 1 if obstacles.shapes else 0]
    )


@dataclass(frozen=True, slots=True, eq=False)
class ArmPath:
    """Straight lines in joint space, or why there are none.

    Attributes:
        q: Corners, start and goal included [rad or m], shape (n, joints); empty if not found.
        reason: Why there is no path, in one line; empty if there is one.
        nodes: Nodes of the trees of all searches; 0 if the straight line is free.
    """

    q: Array
    reason: str = ""
    nodes: int = 0

    @property
    def found(self) -> bool:
        """Whether there is a path."""
        return not self.reason

    @property
    def straight(self) -> bool:
        """Whether it is one straight line."""
        return self.found and len(self.q) <= 2


def plan_arm_path(
    arm: PlacedArm, start: ArrayLike, *, goal: ArrayLike, seed: int = 0, tries: int = TRIES
) -> ArmPath:
    """Find a path of an arm between two configurations.

    The straight line in joint space is tried first, then RRT-Connect with shortcuts. Between two
    checked configurations no point of the arm moves farther than twice the margin, so that the
    path does not touch an obstacle in between.

    Args:
        arm: The arm among obstacles.
        start: Where it is [rad or m], shape (joints,).
        goal: Where it has to be; joints without limits move to the nearest equal position.
        seed: Seed of the random configurations; the same seed yields the same path.
        tries: Random configurations of the last and longest search; those before it have 100, and
            ten times as many each time.

    Raises:
        KinetariumError: If a configuration, the seed or the number of tries is invalid.
    """
    robot = arm.robot
    if type(seed) is not int or seed < 0:
        raise KinetariumError(f"a seed must be a non-negative integer, not {seed!r}")
    if type(tries) is not int or not 0 <= tries <= 100_000:
        raise KinetariumError(f"tries must be an integer up to 100,000, not {tries!r}")
    a, b = checked_q(start, robot), checked_q(goal, robot)
    chain, arrays = robot.chain.arrays, arm.arrays
    endless = ~chain.prismatic & np.isinf(chain.lower) & np.isinf(chain.upper)
    b = np.where(endless, a + (b - a + pi) % (2 * pi) - pi, b)
    for name, q in (("start", a), ("goal", b)):
        fault = _fault(arm, q)
        if fault:
            return ArmPath(np.empty((0, len(a))), f"the {name} {fault}")
    if free_edge(arrays, a, b):
        return ArmPath(np.array([a, b]))
    # Joints may be sampled where start and goal are, beyond the turn that reaches all poses.
    box = np.array(ranges(chain))
    box[0], box[1] = np.minimum(box[0], np.minimum(a, b)), np.maximum(box[1], np.maximum(a, b))
    rng = np.random.default_rng(seed)
    nodes, done, size = 0, 0, 100
    while done < tries:
        # Most searches are short: random numbers are drawn as each of them needs them.
        size = min(size, tries)
        path, more = connect_trees(arrays, a, b, box, rng.random((size, len(a))))
        nodes, done = nodes + more, done + size
        if len(path):
            return ArmPath(shorten(arrays, path, rng.random((SHORTCUTS, 2))), nodes=nodes)
        size *= 10
    return ArmPath(np.empty((0, len(a))), f"no path found with {done} random configurations", nodes)


def _fault(arm: PlacedArm, q: Array) -> str:
    """Return what is wrong with a configuration, or nothing."""
    chain = arm.robot.chain
    beyond = np.maximum(chain.arrays.lower - q, q - chain.arrays.upper)
    worst = int(beyond.argmax())
    if beyond[worst] > SLACK:
        return f"is {beyond[worst]:.3g} beyond a limit of '{chain.joints[worst]}'"
    if blocked_many(arm.arrays, q[None])[0]:
        return f"collides: {arm.contact(q)}"
    return ""
