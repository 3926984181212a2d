"""The task of a case: the object in the gripper, the path in reach of the arm, and its motion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from kinetarium.batch.study import ConfigError
from kinetarium.control.arm.tracking import JacobianTracker
from kinetarium.dynamics import RobotDynamics
from kinetarium.errors import KinetariumError
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import Box, Capsule, Cylinder, MeshFile, Shape, Sphere
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.roles import Arm, Gripper, Roles
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene.grasped_cube import padded
from kinetarium.scene.held_object import Holder, hold
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.paths import Circle, Polyline, Square
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.storage.regular_file import read_regular
from kinetarium.studies.grasp.config import Case, Closing, Plane, Profile, ToolPath

SETTLE = 1.0
"""Time between closing the fingers and the start of the path [s]."""
PERIOD = 8.0
"""Duration of one lap, unless a speed is given [s]."""
RAMP = 2.0
"""Duration in which the reference reaches its speed, and stops [s]: its acceleration is then about
as large as that of the circle itself."""
_SHRINKS = (1.0, 0.5, 0.25)
"""Scales of the path that are tried, from the largest."""
_DRAWS, _TRIALS = 600, 24
"""Random postures of the arm, and how many of the best are tried along the path."""
_ASTRAY = 1e-3
"""Distance from the path beyond which it is out of reach [m]."""
_TURNS = 200
"""Steps in which a gripper is turned."""
_PARALLEL = 1e-3
"""Deviation of a closing axis from the asked direction [rad]."""
_SPARE = 0.95
"""Share of a joint's effort that may be needed to hold arm and object [-]."""
_MOST_BYTES = 1_000_000
_OFFSET = 2e-3
"""Maximum displacement of the object along the pads [m]."""
_TURN = np.radians(2.0)
"""Maximum rotation of the object about the closing axis [rad]."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a robot does with an object.

    Attributes:
        holder: The arm with the object between its fingers, at the start of the path.
        scale: Of the path; below 1 if the arm does not reach all of it [-].
        moved: Whether the arm starts elsewhere than in its home pose, which is unsuited.
        displacement: Displacement from the start of the path [m], shape (k, 3), at times since
            then [s], shape (k,).
    """

    holder: Holder
    scale: float
    moved: bool
    displacement: Callable[[Array], Array]

    def error(self, q: Array, time: Array) -> Array:
        """Return the distance of the grip from the path [m], shape (k,).

        Args:
            q: Positions of arm and fingers, shape (k, n).
            time: Since the start of the path [s], shape (k,).
        """
        wanted = self.holder.grip_frame(self.holder.home)[:3, 3] + self.displacement(time)
        distance: Array = np.linalg.norm(self.holder.grip_frame(q)[:, :3, 3] - wanted, axis=1)
        return distance


def task(case: Case) -> Task:
    """Return the task of a case; the same in every engine and profile.

    Raises:
        KinetariumError: If the robot has no such gripper, cannot hold the object, or does not
            reach the path.
    """
    alike = replace(case, engine="", profile=Profile.MATCHED, iterations=0, friction=0.0)
    return _task(replace(alike, timestep=1e-3, push=0.0, payload_error=0.0))


@lru_cache(maxsize=32)
def _task(case: Case) -> Task:
    middle = case if case.start == 0 else replace(case, start=0, seed=0)
    if case.start or case.seed:
        whole = _task(replace(middle, seed=0))
        if not case.start:
            return whole
        return replace(whole, holder=_held(case, whole.holder.home[: whole.holder.arm]))
    holder, way = _held(case, None), _way(case)
    fault = ""
    for scale in _SHRINKS:
        scaled = partial(_scaled, way, scale)
        for posture, moved in _postures(holder, case.closing):
            placed = holder.at(posture) if moved else holder
            found = _fault(placed, scaled, duration=path_time(case))
            if not found:
                return Task(placed, scale, moved, scaled)
            fault = fault or found
    fault = fault or f"no posture has the closing axis {case.closing}"
    raise KinetariumError(
        f"{case.robot} cannot carry the object along '{case.path}', not at a quarter of its size"
        f" either: {fault}"
    )


def _scaled(way: Callable[[Array], Array], scale: float, time: Array) -> Array:
    return scale * way(time)


def path_time(case: Case) -> float:
    """Return the time from the start of the path to the end of the run [s]."""
    return RELEASE_TIME if case.release else case.duration


RELEASE_TIME = 9.0
"""Duration of a release [s]."""


def _held(case: Case, home: Array | None) -> Holder:
    """Place the object between the fingers, displaced in their plane.

    Across that plane the fingers fix its position, and rotated out of it the object would be in
    contact with its edges.
    """
    robot, arm, gripper = _parts(case)
    shape = object_shape(case.object)
    x, z, turn = np.zeros(3)
    if case.start > 0:
        x, z, turn = np.random.default_rng([case.seed, case.start]).uniform(-1.0, 1.0, 3)
    X_TC = pose((x * _OFFSET, 0.0, z * _OFFSET), rotation_about((0.0, 1.0, 0.0), turn * _TURN))
    start = None
    if home is not None:
        names = [j.name for j in robot.model.moving_joints if j.name in arm.joints]
        start = dict(zip(names, home.tolist(), strict=True))
    return hold(robot, arm, gripper=gripper, shape=shape, mass=case.mass, X_TC=X_TC, home=start)


@lru_cache(maxsize=4)
def _opened(robot: str, reading: RoleOptions, digest: str) -> StudiedRobot:
    return reading.open(robot, sha256=digest)


def _parts(case: Case) -> tuple[StudiedRobot, Arm, Gripper]:
    robot = _opened(case.robot, case.reading, case.sha256)
    gripper = robot.roles.gripper(case.gripper or None)
    return robot, _arm(robot.roles, gripper), padded(gripper, robot.model)


def _arm(roles: Roles, gripper: Gripper) -> Arm:
    """Return the arm that carries a gripper."""
    carriers = [arm for arm in roles.arms if arm.gripper == gripper.name]
    return carriers[0] if carriers else roles.arm()


def object_shape(text: str) -> Shape:
    """Return the shape that a text names, such as "box:0.04" or "mesh:part.stl".

    Raises:
        ConfigError: If it names none.
    """
    kind, _, rest = text.partition(":")
    if kind == "mesh" and rest:
        shape = MeshFile(rest, Path(rest))
        _read(shape.path, most=100 * _MOST_BYTES)
        mesh_of(shape)  # refuses what is no mesh
        return shape
    try:
        sizes = tuple(float(word) for word in rest.split(":"))
    except ValueError:
        sizes = ()
    if sizes and all(1e-3 <= size <= 1.0 for size in sizes):
        match kind, sizes:
            case "box", (edge,):
                return Box((edge, edge, edge))
            case "box", (x, y, z):
                return Box((x, y, z))
            case "sphere", (radius,):
                return Sphere(radius)
            case "cylinder", (radius, length):
                return Cylinder(radius, length)
            case "capsule", (radius, length):
                return Capsule(radius, length)
    raise ConfigError(
        f"object '{text}' is not box:EDGE, box:X:Y:Z, sphere:RADIUS, cylinder:RADIUS:LENGTH,"
        " capsule:RADIUS:LENGTH (0.001 to 1 m) or mesh:FILE"
    )


def files_digest(path: str, held: str) -> str:
    """Return the hash of the files of a path and of an object; empty if they are no files."""
    named = [] if path in set(ToolPath) else [Path(path)]
    if held.startswith("mesh:"):
        named.append(Path(held.removeprefix("mesh:")))
    parts = [_read(file, most=100 * _MOST_BYTES) for file in named]
    return sha256(b"\n".join(parts)).hexdigest() if parts else ""


def _read(file: Path, *, most: int) -> bytes:
    try:
        return read_regular(file, most=most)
    except (OSError, ValueError) as error:
        raise ConfigError(f"'{file}' cannot be read: {error}") from None


def read_points(file: Path, plane: Plane) -> Array:
    """Return the points of a path file [m], shape (k, 3): two numbers a line, or three.

    Raises:
        ConfigError: If it is no such file.
    """
    lines = _read(file, most=_MOST_BYTES).decode("utf-8", "replace").splitlines()
    rows = []
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        try:
            row = [float(word) for word in words]
        except ValueError:
            row = [np.nan]
        if row and not (len(row) in (2, 3) and np.isfinite(row).all()):
            raise ConfigError(f"{file}:{number}: a point is two or three numbers in metres")
        if row:
            rows.append(row)
    if len(rows) < 2 or len({len(row) for row in rows}) > 1:
        raise ConfigError(f"{file}: a path needs two points, all of two or all of three numbers")
    points = np.array(rows)
    return points if points.shape[1] == 3 else in_plane(points, plane)


def in_plane(points: Array, plane: Plane) -> Array:
    """Return points of a plane [m], shape (k, 2), in the world's axes, shape (k, 3)."""
    whole = np.zeros((len(points), 3))
    whole[:, ["xyz".index(axis) for axis in plane]] = points
    return whole


def offsets(path: str, turns: Array, *, size: float = 0.1) -> Array:
    """Return the displacement of a named path in its plane [m], shape (k, 2), after some laps.

    Every path starts along the first axis. Circle and square have constant speed, the eight
    (Gerono's, upright) a constant rate of its parameter.

    Args:
        turns: Laps since the start, shape (k,).
        size: Radius of the circle, half height of the eight, half side of the square [m].
    """
    match path:
        case ToolPath.CIRCLE:
            circle = Circle(size)
            lowest = 0.75
            points = circle.position((turns + lowest) * circle.length)
            return points + frozen([0.0, size])
        case ToolPath.SQUARE:
            square = Square(2 * size)
            return square.position(turns * square.length) + size
        case ToolPath.EIGHT:
            angle = 2 * np.pi * turns
            return np.stack([size / 2 * np.sin(2 * angle), size * np.sin(angle)], axis=-1)
        case _:
            return np.zeros((*turns.shape, 2))


def _way(case: Case) -> Callable[[Array], Array]:
    """Return the displacement along a path [m], shape (k, 3), over the time since its start [s]."""
    duration = path_time(case)
    if case.path in set(ToolPath):
        lap = offsets(case.path, np.linspace(0.0, 1.0, 4001), size=case.size)
        length = float(np.linalg.norm(np.diff(lap, axis=0), axis=1).sum())
        period = length / case.speed if case.speed and length else PERIOD

        def named(time: Array) -> Array:
            turns = _travel(time, end=duration, ramp=case.ramp) / period
            return in_plane(offsets(case.path, turns, size=case.size), case.plane)

        return named
    if case.files != files_digest(case.path, case.object):
        raise KinetariumError(f"'{case.path}' has changed since the case was created")
    line = Polyline(read_points(Path(case.path), case.plane))
    speed = case.speed or line.length / PERIOD
    steady = line.length / speed
    end = min(duration, steady + min(RAMP, steady) * case.ramp)

    def drawn(time: Array) -> Array:
        along = speed * _travel(np.minimum(time, end), end=end, ramp=case.ramp)
        return np.asarray(line.position(np.minimum(along, line.length)) - line.position(0.0))

    return drawn


def _travel(time: Array, *, end: float, ramp: bool) -> Array:
    """Return the time [s] after which a steady motion is as far as one that starts smoothly.

    The speed rises by 10 u^3 - 15 u^4 + 6 u^5, so that acceleration and jerk begin at zero.

    Args:
        time: Since the start [s], shape (k,).
        end: When the motion stops [s].
        ramp: Whether it starts and stops smoothly.
    """
    if not ramp:
        return np.asarray(time)
    rise = min(RAMP, end / 2)

    def risen(since: Array) -> Array:
        u = np.clip(since / rise, 0.0, 1.0)
        return np.asarray(rise * u**4 * (2.5 - 3 * u + u**2))

    steady = np.clip(time - rise, 0.0, end - 2 * rise)
    return np.asarray(risen(time) + steady + rise / 2 - risen(np.maximum(end - time, 0.0)))


def _fault(holder: Holder, way: Callable[[Array], Array], *, duration: float) -> str:
    """Return why an arm cannot carry the object along a path; empty if it can."""
    dynamics = RobotDynamics(holder.carrying())
    time = np.linspace(0.0, duration, 161)
    q = _followed(holder, way(time), timestep=float(time[1]), gain=0.5 / float(time[1]))
    joints = holder.model.moving_joints[: holder.arm]
    for row in q[:: len(q) // 8]:
        needed = np.abs(dynamics.gravity_forces(row)[: holder.arm])
        for joint, effort in zip(joints, needed.tolist(), strict=True):
            if effort > _SPARE * joint.limits.rated_effort:
                return (
                    f"'{joint.name}' needs {effort:.3g} N m or N to hold {holder.mass:g} kg, its"
                    f" limit is {joint.limits.rated_effort:.3g}"
                )
    start = holder.grip_frame(holder.home)[:3, 3]
    missed = np.linalg.norm(holder.grip_frame(q)[:, :3, 3] - start - way(time), axis=1)
    if missed.max() > _ASTRAY:
        return f"from its home pose it is out of reach by {1e3 * missed.max():.3g} mm"
    return ""


def _followed(holder: Holder, way: Array, *, timestep: float, gain: float = 50.0) -> Array:
    """Return positions of arm and fingers along displacements of the grip, shape (k, n)."""
    if not way.any():
        return np.tile(holder.home, (len(way), 1))
    X_WT = np.tile(holder.grip_frame(holder.home), (len(way), 1, 1))
    X_WT[:, :3, 3] += way
    tracker = JacobianTracker(
        RobotDynamics(holder.model),
        link=holder.palm,
        X_LF=holder.X_PT,
        turning=holder.arm >= 6,
        gain=gain,
    )
    return tracker.follow(holder.home, X_WT, timestep=timestep)


def _postures(holder: Holder, closing: Closing) -> Sequence[tuple[Array, bool]]:
    """Return postures of the arm, its home pose first, then the nimblest of random ones.

    The closing axis is preferred level, joints in the middle of their travel; where another
    direction of the axis is asked for, the arm is turned to it. Collisions of the robot with
    itself are not checked.
    """
    dynamics, n = RobotDynamics(holder.model), holder.arm
    joints = holder.model.moving_joints[:n]
    ends = np.array([(joint.limits.lower, joint.limits.upper) for joint in joints])
    lower = np.where(np.isfinite(ends[:, 0]), ends[:, 0], -np.pi)
    upper = np.where(np.isfinite(ends[:, 1]), ends[:, 1], np.pi)
    free = upper > lower
    draws = np.random.default_rng(0).uniform(lower, upper, size=(_DRAWS, n))
    rows = 6 if n >= 6 else 3
    marks = []
    for draw in draws:
        q = np.concatenate([draw, holder.home[n:]])
        X_WT = holder.grip_frame(q)
        J = dynamics.jacobian(q, holder.palm, point=holder.X_PT[:3, 3])[:rows, :n]
        J[3:] *= 0.2  # a turn of 1 rad is worth 0.2 m
        spare = np.minimum(draw - lower, upper - draw)[free] / (upper - lower)[free]
        upright = X_WT[2, 1] ** 2
        suited = upright if closing is Closing.UPRIGHT else 1 - upright
        least = np.linalg.svd(J, compute_uv=False)[-1]
        marks.append(float(least * spare.min(initial=1.0) * suited))
    best = draws[np.argsort(marks)[::-1][:_TRIALS]]
    if closing is Closing.HOME:
        return [(holder.home[:n], False), *((draw, True) for draw in best)]
    turned = [_turned(holder, posture, closing) for posture in (holder.home[:n], *best)]
    return [(posture, True) for posture in turned if posture is not None]


def _turned(holder: Holder, posture: Array, closing: Closing) -> Array | None:
    """Return a posture near another one with the closing axis as asked for; None if there is none.

    The grip stays where it is, and turns the shortest way.
    """
    placed = holder.at(posture)
    X_WT = placed.grip_frame(placed.home)
    axis = X_WT[:3, 1]
    if closing is Closing.UPRIGHT:
        wanted = np.array([0.0, 0.0, np.copysign(1.0, axis[2])])
    else:
        wanted = np.array([axis[0], axis[1], 0.0])
        if np.linalg.norm(wanted) < _PARALLEL:
            return None
        wanted /= np.linalg.norm(wanted)
    across = np.cross(axis, wanted)
    sine = float(np.linalg.norm(across))
    turn = across * (np.arctan2(sine, float(axis @ wanted)) / sine if sine else 1.0)
    way = np.tile(X_WT, (_TURNS, 1, 1))
    shares = np.minimum(np.linspace(0.0, 1.25, _TURNS), 1.0)  # and time to arrive
    way[:, :3, :3] = [so3.exp(share * turn) @ X_WT[:3, :3] for share in shares]
    tracker = JacobianTracker(
        RobotDynamics(holder.model), link=holder.palm, X_LF=holder.X_PT, turning=True, gain=50.0
    )
    q = tracker.follow(placed.home, way, timestep=0.01)[-1]
    if np.linalg.norm(holder.grip_frame(q)[:3, 1] - wanted) > _PARALLEL:
        return None
    return np.asarray(q[: holder.arm])


@dataclass(frozen=True, slots=True, eq=False)
class ArmReference:
    """A joint motion at equal time intervals, both ends included.

    Attributes:
        q: Positions of the arm [rad or m], shape (k, arm).
        v: Velocities from each position to the next [rad/s or m/s], shape (k, arm).
    """

    q: Array
    v: Array


def arm_reference(case: Case) -> ArmReference:
    """Return the joint motion of a case along its path, the same for all engines."""
    alike = replace(case, engine="", profile=Profile.MATCHED, iterations=0, friction=0.0)
    return _reference(replace(alike, start=0, seed=0, push=0.0, payload_error=0.0))


@lru_cache(maxsize=8)
def _reference(case: Case) -> ArmReference:
    done, steps = task(case), round(path_time(case) / case.timestep)
    time = case.timestep * np.arange(steps + 1, dtype=np.float64)
    q = _followed(done.holder, done.displacement(time), timestep=case.timestep)
    q = q[:, : done.holder.arm]
    v = np.diff(q, axis=0, append=q[-1:]) / case.timestep
    return ArmReference(frozen(q), frozen(v))
