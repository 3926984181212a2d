"""follow: a mobile base that drives while its arm follows a trajectory; the paper's future work.

From the best of several places beside the first pose, on one branch of the arm's configurations,
base and arm are optimised together over the whole trajectory (`whole_body`). The result can be
driven: joints are continuous, each pose is reached to 1e-7 m and rad, and a vehicle with wheels
moves along arcs. Where a limit is exceeded, a pose lost or something hit, it is said where and why.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, pi
from time import process_time

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from kinetarium.dynamics.chain import ChainArrays, SerialChain
from kinetarium.dynamics.forward import place
from kinetarium.dynamics.forward import poses as tool_poses
from kinetarium.errors import KinetariumError
from kinetarium.reach.collision.arm_in_scene import ArmInScene
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.reach.ik.start_table import EXACT
from kinetarium.reach.placement.branches import jacobians, limit_margins
from kinetarium.reach.placement.query import Placer
from kinetarium.reach.placement.search import base_pose, move_base_to, solve_at_base
from kinetarium.reach.placement.whole_body import BaseMotionLimits, Course, course, optimised
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose

ACCELERATION = 7.5
"""Acceleration limit of joints, which robot files do not have [rad/s^2 or m/s^2]: the least of the
Panda's."""
COARSE = 100
"""Most ticks of the paths by which starts are compared."""
STARTS = (8, 16)
"""Starts that are compared by such paths: at first, and all around if none can be driven."""
TRIED = (3, 5)
"""Starts from which the whole path is planned until one has no fault, likewise."""
EXPLAINED = 12
"""Lost poses for which a base is sought that reaches them alone."""
DIFFERENT = 0.2
"""Least difference of two starts in any coordinate [m or rad]."""
PLACES = 60
"""Places beside the first pose where the arm is solved for."""
AHEAD = 1.5
"""Time whose poses choose these places by a map [s]."""
NEAR_START = 0.6
"""Distance over which the tool may move while the base stands still [m]."""
COMFORT = 0.5
"""Distance from joint limits beyond which more is no better [rad]."""
EVEN = 0.5
"""Length over which the direction of the tool's path is averaged [m]."""
STAGES = ((0.01, 15), (0.1, 15), (1.0, 15), (5.0, 10))
"""Weights of what must hold exactly, and iterations."""
LOST = 1e-3
"""Error of the tool after the optimisation from which a pose is given up [m or rad]."""
GIVEN_UP = 0.01
"""Weight of such a pose."""
USES = (
    "joint speed",
    "joint acceleration",
    "base speed",
    "base turning",
    "base acceleration",
    "base turning acceleration",
)
"""Limits, in the order of `Following.use`."""
ROUNDING = 1e-9
"""Excess over a limit that is rounding [-]."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of a trajectory that cannot be driven.

    Attributes:
        first: Its first tick.
        last: Its last tick.
        begin: Length of the tool's path before it [m].
        end: The same at its end [m].
        reason: Why.
    """

    first: int
    last: int
    begin: float
    end: float
    reason: str

    def __str__(self) -> str:
        """Return it in words: "from 1.20 to 1.31 m: joint speed 1.4 of its limit (elbow)"."""
        where = f"at {self.begin:.2f} m"
        if self.last > self.first:
            where = f"from {self.begin:.2f} to {self.end:.2f} m"
        return f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True, eq=False)
class Following:
    """The motion of base and arm along a trajectory.

    Attributes:
        times: Times [s], shape (n,).
        bases: x, y [m] and yaw [rad] of the arm's base link in the plane's frame, shape (n, 3).
        vehicle: The same of the frame in which the vehicle does not move sideways, shape (n, 3).
        reached: Whether the pose of each time is reached, shape (n,).
        joints: Joint positions, NaN where it is not [rad or m], shape (n, joints).
        manipulability: Manipulabilities, NaN where it is not [m^3], shape (n,).
        use: What is used of each limit of `USES` from the tick before to this one [-],
            shape (n, 6); above 1 where it is exceeded.
        collides: Whether arm or base collide, shape (n,).
        arc: Length of the tool's path up to each tick [m], shape (n,).
        faults: Where the trajectory cannot be driven; empty if it can.
        elapsed: Computing time of the whole plan [s].
    """

    times: Array
    bases: Array
    vehicle: Array
    reached: NDArray[np.bool_]
    joints: Array
    manipulability: Array
    use: Array
    collides: NDArray[np.bool_]
    arc: Array
    faults: tuple[Fault, ...]
    elapsed: float


def follow(
    placer: Placer,
    times: ArrayLike,
    *,
    poses: ArrayLike,
    limits: BaseMotionLimits | None = None,
    acceleration: float = ACCELERATION,
) -> Following:
    """Plan the motion of a base and its arm so that each pose is reached at its time.

    The base starts from rest near places that the map prefers for the first poses.

    Args:
        placer: Map, robot, plane and obstacles.
        times: Increasing times [s], shape (n,).
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        limits: What the base can do; by default that of a small base that moves in all directions.
        acceleration: Acceleration limit of the joints [rad/s^2 or m/s^2].

    Raises:
        KinetariumError: If a pose is invalid, or no base reaches the first.
    """
    t, X_WT = np.asarray(times, dtype=np.float64), checked_poses(poses)
    if t.shape != (len(X_WT),) or not len(t) or not (np.diff(t) > 0).all():
        raise KinetariumError("a trajectory needs one time per pose, and increasing times")
    begin = process_time()
    X_PT = inverse_pose(placer.plane.frame) @ X_WT
    ahead = X_PT[: int(np.searchsorted(t, t[0] + AHEAD, side="right"))]
    x, y, scores = placer.scores(ahead[:: max(len(ahead) // 8, 1)])
    top = np.argsort(-scores.ravel(), kind="stable")[: 8 * PLACES : 8]
    places = np.column_stack([x[top // len(y)], y[top % len(y)]])
    planner = LinePlanner(
        placer.arm.chain,
        placer.scene,
        limits=limits or BaseMotionLimits(),
        acceleration=acceleration,
        effort=placer.arm.full_effort,
    )
    found = planner.plan(t, X_PT, places=places)
    return replace(found, elapsed=process_time() - begin)


class LinePlanner:
    """An arm on a mobile base, prepared to plan motions along trajectories."""

    def __init__(
        self,
        chain: SerialChain,
        scene: ArmInScene,
        *,
        limits: BaseMotionLimits,
        acceleration: float = ACCELERATION,
        effort: int,
    ) -> None:
        """Keep the robot and its limits.

        Args:
            scene: The same arm with its obstacles.
            limits: What the base can do.
            acceleration: Acceleration limit of the joints [rad/s^2 or m/s^2].
            effort: As in `solve_many`.
        """
        self._chain, self._scene, self._limits = chain, scene, limits
        fastest = [chain.model.joint(name).limits.velocity or inf for name in chain.joints]
        self._speeds = np.array(fastest)
        self._accelerations = np.full(len(fastest), acceleration)
        self._effort = effort

    def plan(self, times: Array, X_PT: Array, *, places: Array | None = None) -> Following:
        """Plan the motion along a trajectory.

        Args:
            times: Increasing times [s], shape (n,).
            X_PT: Poses of the tool in the plane's frame, shape (n, 4, 4).
            places: Positions of the arm's base link to start from [m], shape (m, 2); by default
                all around the first pose.

        Raises:
            KinetariumError: If the first pose is not reached.
        """
        begin = process_time()
        best: Following | None = None
        for tried, guesses in zip(TRIED, self._rounds(times, X_PT, places), strict=True):
            for path, posture in self._coarse(times, X_PT, guesses)[:tried]:
                found = self._planned(times, X_PT, path=path, posture=posture)
                if best is None or _undriven(found) < _undriven(best):
                    best = found
                if not best.faults:
                    return replace(best, elapsed=process_time() - begin)
        if best is None:
            raise KinetariumError(
                f"no base in the plane was found from which {self._chain.tool!r} reaches the first"
                " pose of the trajectory, at 0.00 m"
            )
        faults = self._explained(best, X_PT)
        return replace(best, faults=faults, elapsed=process_time() - begin)

    def _rounds(self, times: Array, X_PT: Array, places: Array | None) -> Iterator[list[Array]]:
        """Yield first guesses, then others for a trajectory that these do not follow."""
        X = X_PT[_spread(len(times), COARSE)]
        guesses = self._guesses(X, places, most=sum(STARTS))
        yield guesses[: STARTS[0]]
        yield guesses[STARTS[0] :] if places is None else self._guesses(X, None, most=STARTS[1])

    def _explained(self, found: Following, X_PT: Array) -> tuple[Fault, ...]:
        """Return the faults; of lost poses it is said which of them no base reaches."""
        lost = np.flatnonzero(~found.reached)
        some = lost[_spread(len(lost), EXPLAINED)] if len(lost) else lost
        never = [k for k in some.tolist() if not self._is_reached(X_PT[k])]
        faults = []
        for fault in found.faults:
            if inside := [k for k in never if fault.first <= k <= fault.last]:
                where = [f"{found.arc[k]:.2f} m" for k in dict.fromkeys((inside[0], inside[-1]))]
                reason = f"{fault.reason}; no base reaches {' to '.join(where)}"
                fault = replace(fault, reason=reason)
            faults.append(fault)
        return tuple(faults)

    def _is_reached(self, X_PT: Array) -> bool:
        """Return whether any base of many all around a pose reaches it."""
        for x, y in self._around(X_PT, np.linspace(1 / 16, 1.0, 16)):
            facing = float(np.arctan2(X_PT[1, 3] - y, X_PT[0, 3] - x))
            for turn in (0.0, pi / 2, pi, -pi / 2):
                base = np.array([x, y, facing + turn])
                _, w = solve_at_base(self._scene, X_PT[None], base=base, effort=self._effort)
                if w[0] >= 0.0:
                    return True
        return False

    def _around(self, X_PT: Array, radii: Array) -> Array:
        """Return positions in 12 directions from a pose; radii are in lengths of the arm."""
        reach = sum(float(np.linalg.norm(X[:, 3])) for X in self._chain.arrays.frames[1:])
        bearings = np.arange(12) * (pi / 6)
        around = np.column_stack([np.cos(bearings), np.sin(bearings)])
        return np.asarray(X_PT[:2, 3] + (reach * radii[:, None, None] * around).reshape(-1, 2))

    def _planned(self, times: Array, X_PT: Array, *, path: Array, posture: Array) -> Following:
        """Plan the motion at all ticks from that at some of them."""
        task = self._course(times, X_PT, posture)
        if len(path) < len(times):
            path = CubicSpline(times[_spread(len(times), COARSE)], path)(times)
        z, _ = self._optimised(task, path)
        lost = self._errors(z, X_PT) > LOST
        if lost.any():
            task = task._replace(wanted=np.where(lost, GIVEN_UP, 1.0))
            z, _ = self._optimised(task, z)
        found = self._judged(times, X_PT, z)
        if found.faults:
            z, _ = self._optimised(task, z)
            again = self._judged(times, X_PT, z)
            found = min(found, again, key=_undriven)
        return found

    def _optimised(self, task: Course, path: Array) -> tuple[Array, float]:
        """Optimise a path; what must hold exactly is pulled softly at first."""
        cost = inf
        for firm, iterations in STAGES:
            task = task._replace(firm=firm)
            path, cost = optimised(self._chain.arrays, task, path, iterations=iterations)
        return path, cost

    def _course(self, times: Array, X_PT: Array, posture: Array) -> Course:
        return course(
            self._chain.arrays,
            times,
            X_PT=X_PT,
            posture=posture,
            limits=self._limits,
            speeds=self._speeds,
            accelerations=self._accelerations,
        )

    def _coarse(self, times: Array, X_PT: Array, guesses: list[Array]) -> list[tuple[Array, Array]]:
        """Return paths at some ticks from first guesses, the best first, and their postures."""
        some = _spread(len(times), COARSE)
        t, X = times[some], X_PT[some]
        found = []
        for guess in guesses:
            posture = guess[0, 3:].copy()
            z, cost = self._optimised(self._course(t, X, posture), guess)
            lost = float((self._errors(z, X) > LOST).sum())
            lost += float(collisions_along(self._scene, self._bases(z), z[:, 3:].copy()).sum())
            found.append(((lost, cost), z, posture))
        found.sort(key=lambda one: one[0])
        return [(z, posture) for _, z, posture in found]

    def _guesses(self, X_PT: Array, places: Array | None, *, most: int) -> list[Array]:
        """Return paths to begin with: a base that moves with the tool, and what its arm does.

        Those come first whose arm follows farthest within its limits, and of these the ones that
        are farthest from limits and singularities.
        """
        chain = self._chain.arrays
        guides = _guides(X_PT, sideways=self._limits.sideways)
        ways, joints, comfort = [], [], []
        for base, q, ease in self._starts(X_PT[0], float(guides[0][0, 2]), places):
            for guide in guides:
                ways.append(self._carried(base, guide))
                joints.append(q)
                comfort.append(ease)
        if not ways:
            return []
        vehicles, q = np.array(ways), np.array(joints)
        path = np.empty((len(vehicles), len(X_PT), 3 + q.shape[1]))
        path[:, :, :3] = vehicles
        kept = np.zeros(len(vehicles))
        for k in range(len(X_PT)):
            wanted = self._seen(self._bases(vehicles[:, k]), X_PT[[k] * len(q)])
            for _ in range(3):
                q = q + _steps(chain, q, wanted, most=0.3)
            off = np.abs(_twists(tool_poses(chain, q), wanted)).max(axis=1)
            kept += (off < 0.05) & (q > chain.lower).all(axis=1) & (q < chain.upper).all(axis=1)
            path[:, k, 3:] = q
        order = np.lexsort((-np.array(comfort), -kept))
        chosen: list[Array] = []
        for n in order:
            apart = all(np.abs(path[n, 0] - other[0]).max() > DIFFERENT for other in chosen)
            if apart and len(chosen) < most:
                chosen.append(path[n])
        return chosen

    def _starts(
        self, X_PT: Array, ahead: float, places: Array | None
    ) -> list[tuple[Array, Array, float]]:
        """Return bases and configurations that reach the first pose, and how comfortable each is.

        Args:
            ahead: Direction in which the tool moves [rad].
            places: As in `plan`.
        """
        if places is None:
            places = self._around(X_PT, np.linspace(0.2, 0.8, 5))
        found = []
        for x, y in places:
            facing = float(np.arctan2(X_PT[1, 3] - y, X_PT[0, 3] - x))
            yaws = [facing + turn for turn in (0.0, pi / 2, pi, -pi / 2)]
            if not self._limits.sideways:
                yaws = [ahead + self._limits.mount[2] + turn for turn in (0.0, pi)]
            for yaw in yaws:
                base = np.array([x, y, yaw])
                q, w = solve_at_base(self._scene, X_PT[None], base=base, effort=self._effort)
                if w[0] >= 0.0:
                    margin = float(limit_margins(self._chain.arrays, q[0]))
                    found.append((base, q[0], float(w[0]) * min(margin, COMFORT)))
        return found

    def _carried(self, base: Array, guide: Array) -> Array:
        """Return the vehicle's way if a base at the start keeps its place beside a guide."""
        vehicle = _vehicle_of(base, self._limits.mount)
        turn = guide[:, 2] - guide[0, 2]
        c, s = np.cos(turn), np.sin(turn)
        dx, dy = vehicle[:2] - guide[0, :2]
        shift = np.column_stack([c * dx - s * dy, s * dx + c * dy])
        return np.column_stack([guide[:, :2] + shift, vehicle[2] + turn])

    def _bases(self, z: Array) -> Array:
        """Return the poses of the arm's base link for the vehicle's, shape (n, 3)."""
        x, y, yaw = self._limits.mount
        c, s = np.cos(z[:, 2]), np.sin(z[:, 2])
        return np.column_stack([z[:, 0] + c * x - s * y, z[:, 1] + s * x + c * y, z[:, 2] + yaw])

    def _seen(self, bases: Array, X_PT: Array) -> Array:
        """Return poses of the tool in the frames of bases, shape (n, 4, 4)."""
        return np.array([inverse_pose(base_pose(b)) @ X for b, X in zip(bases, X_PT, strict=True)])

    def _errors(self, z: Array, X_PT: Array) -> Array:
        """Return the error of the tool [m or rad], the greater of both, shape (n,)."""
        wanted = self._seen(self._bases(z), X_PT)
        off = np.abs(_twists(tool_poses(self._chain.arrays, z[:, 3:]), wanted))
        return np.asarray(off.max(axis=1))

    def _judged(self, times: Array, X_PT: Array, z: Array) -> Following:
        """Make a path exact, and find out where limits are exceeded."""
        chain = self._chain.arrays
        vehicle = z[:, :3] if self._limits.sideways else _on_arcs(z[:, :3])
        bases = self._bases(vehicle)
        wanted = self._seen(bases, X_PT)
        q = np.clip(z[:, 3:], chain.lower, chain.upper)
        for _ in range(8):
            q = np.clip(q + _steps(chain, q, wanted, most=0.1), chain.lower, chain.upper)
        e = _twists(tool_poses(chain, q), wanted)
        reached = (np.linalg.norm(e[:, :3], axis=1) <= EXACT) & (
            np.linalg.norm(e[:, 3:], axis=1) <= EXACT
        )
        struck = collisions_along(self._scene, bases, q)
        J = jacobians(chain, 1.0, q)
        volume = np.sqrt(np.maximum(np.linalg.det(J @ J.mT), 0.0))
        arc = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(X_PT[:, :3, 3], axis=0), axis=1)))
        use, joint = self._use(times, vehicle, q)
        found = Following(
            times,
            bases,
            vehicle,
            reached,
            np.where(reached[:, None], q, np.nan),
            np.where(reached, volume, np.nan),
            use,
            struck,
            arc,
            (),
            0.0,
        )
        return replace(found, faults=self._faults(found, q, e, joint))

    def _use(self, t: Array, vehicle: Array, q: Array) -> tuple[Array, NDArray[np.int64]]:
        """Return what is used of the limits, and the joints that use most of their own."""
        use, joint = np.zeros((len(t), len(USES))), np.zeros((len(t), 2), dtype=np.int64)
        if len(t) < 2:
            return use, joint
        h = np.diff(t)[:, None]
        middle = 0.5 * (h[1:] + h[:-1])
        rates = np.diff(q, axis=0) / h
        limits = self._limits
        speeds = np.abs(rates) / self._speeds
        changes = np.abs(np.diff(rates, axis=0) / middle) / self._accelerations
        use[1:, 0], joint[1:, 0] = speeds.max(axis=1), speeds.argmax(axis=1)
        use[2:, 1], joint[2:, 1] = changes.max(axis=1), changes.argmax(axis=1)
        u = np.diff(vehicle, axis=0) / h
        # From rest.
        if limits.sideways:
            a = np.vstack([u[:1] / h[0], np.diff(u, axis=0) / middle])
            along = np.hypot(a[:, 0], a[:, 1])
        else:
            mean = 0.5 * (vehicle[1:, 2] + vehicle[:-1, 2])
            v = np.cos(mean) * u[:, 0] + np.sin(mean) * u[:, 1]
            along = np.abs(np.append(v[0] / h[0, 0], np.diff(v) / middle[:, 0]))
        turns = np.abs(np.append(u[0, 2] / h[0, 0], np.diff(u[:, 2]) / middle[:, 0]))
        use[1:, 2] = np.hypot(u[:, 0], u[:, 1]) / limits.speed
        use[1:, 3] = np.abs(u[:, 2]) / limits.turning
        use[1:, 4] = along / limits.acceleration
        use[1:, 5] = turns / limits.turning_acceleration
        return use, joint

    def _faults(
        self, found: Following, q: Array, e: Array, joint: NDArray[np.int64]
    ) -> tuple[Fault, ...]:
        """Return the parts that cannot be driven, in the order of the path."""
        names = self._chain.joints
        margins = np.minimum(q - self._chain.arrays.lower, self._chain.arrays.upper - q)
        over = found.use > 1.0 + ROUNDING
        kind = np.where(over.any(axis=1), 3 + np.argmax(found.use * over, axis=1), 0)
        kind = np.where(found.collides, 2, kind)
        kind = np.where(~found.reached, 1, kind)
        faults = []
        edges = np.flatnonzero(np.diff(kind, prepend=0, append=0))
        for first, end in pairwise(edges):
            if not kind[first]:
                continue
            last = int(end) - 1
            part = slice(int(first), last + 1)
            if kind[first] == 1:
                shift, turn = (np.linalg.norm(e[part, i : i + 3], axis=1).max() for i in (0, 3))
                reason = (
                    f"the tool is off by {1e3 * shift:.1f} mm and {np.degrees(turn):.1f} degrees"
                )
                tight = [f"{names[j]} at its limit" for j in range(len(names))
                         if margins[part, j].min() < 1e-3]  # fmt: skip
                tight += [f"{name} at its limit" for i, name in enumerate(USES)
                          if found.use[part, i].max() > 0.98]  # fmt: skip
                reason += f" ({', '.join(tight[:3]) or 'out of reach'})"
            elif kind[first] == 2:
                reason = "the robot collides"
            else:
                which = int(kind[first]) - 3
                worst = int(first) + int(found.use[part, which].argmax())
                reason = f"{USES[which]} is {found.use[worst, which]:.2f} of its limit"
                if which < 2:
                    reason += f" ({names[joint[worst, which]]})"
            where = float(found.arc[first]), float(found.arc[last])
            faults.append(Fault(int(first), last, *where, reason))
        return tuple(faults)


def _undriven(found: Following) -> tuple[int, float]:
    """Return how many ticks are in faults, and the greatest use of a limit."""
    return sum(f.last - f.first + 1 for f in found.faults), float(found.use.max())


def _spread(count: int, most: int) -> NDArray[np.int64]:
    """Return indices, about `most`, evenly spread, but denser where the base sets off."""
    even = np.linspace(0, count - 1, min(count, most)).round().astype(np.int64)
    dense = np.arange(0.0, np.log2(max(even[1] if len(even) > 1 else 1, 1)), 0.5)
    return np.unique([*even, *np.exp2(dense).astype(np.int64)])


def _guides(X_PT: Array, *, sideways: bool) -> list[Array]:
    """Return motions that a base may begin with: with the tool, or at rest.

    Returns:
        x, y [m] and direction [rad] at each pose, shape (n, 3) each.
    """
    xy = X_PT[:, :2, 3]
    steps = np.linalg.norm(np.diff(xy, axis=0), axis=1)
    length = float(steps.sum())
    still = np.column_stack([np.tile(xy[0], (len(xy), 1)), np.zeros(len(xy))])
    if length < 1e-6:
        return [still]
    # Averaged, since corners and small loops turn too fast for a vehicle.
    sigma = max(EVEN / length * len(xy), 1.0)
    ways = np.gradient(gaussian_filter1d(xy, sigma, axis=0, mode="nearest"), axis=0)
    yaw = np.unwrap(np.arctan2(ways[:, 1], ways[:, 0]))
    moving = [np.column_stack([xy, yaw])]
    if sideways:
        turned = X_PT[:, :3, :3] @ X_PT[0, :3, :3].T
        with_tool = np.arctan2(turned[:, 1, 0] - turned[:, 0, 1], turned[:, 0, 0] + turned[:, 1, 1])
        moving = [np.column_stack([xy, np.unwrap(with_tool)]), np.column_stack([xy, 0.0 * yaw])]
    wide = float(np.linalg.norm(xy - xy.mean(axis=0), axis=1).max())
    still[:, 2] = moving[0][0, 2]
    return [*moving, still] if wide < NEAR_START else moving


def _vehicle_of(base: Array, mount: tuple[float, float, float]) -> Array:
    """Return the vehicle's x, y and yaw for those of the arm's base link."""
    x, y, yaw = mount
    heading = base[2] - yaw
    c, s = np.cos(heading), np.sin(heading)
    return np.array([base[0] - (c * x - s * y), base[1] - (s * x + c * y), heading])


def _on_arcs(vehicle: Array) -> Array:
    """Return a path whose every step is along the mean heading: an arc, without sideways motion."""
    steps = np.diff(vehicle, axis=0)
    mean = 0.5 * (vehicle[1:, 2] + vehicle[:-1, 2])
    along = np.cos(mean) * steps[:, 0] + np.sin(mean) * steps[:, 1]
    path = vehicle.copy()
    path[1:, 0] = vehicle[0, 0] + np.cumsum(along * np.cos(mean))
    path[1:, 1] = vehicle[0, 1] + np.cumsum(along * np.sin(mean))
    return path


def _steps(chain: ChainArrays, q: Array, wanted: Array, *, most: float) -> Array:
    """Return the least steps of joints that move the tool towards poses, shape (n, joints).

    Args:
        most: Longest step of a joint; longer ones are shortened [rad or m].
    """
    J = jacobians(chain, 1.0, q)
    e = _twists(tool_poses(chain, q), wanted)
    # Damped, since an arm may have less than six joints.
    least = J.mT @ np.linalg.solve(J @ J.mT + 1e-12 * np.eye(6), e[:, :, None])
    longest = np.abs(least).max(axis=1, keepdims=True)
    return np.asarray((least * np.minimum(1.0, most / np.maximum(longest, 1e-12)))[:, :, 0])


def _twists(X: Array, wanted: Array) -> Array:
    """Return what moves poses onto others: shifts and rotation vectors, shape (n, 6)."""
    turns = so3.log(wanted[:, :3, :3] @ X[:, :3, :3].mT)
    return np.concatenate([wanted[:, :3, 3] - X[:, :3, 3], turns], axis=1)


@compiled
def collisions_along(scene: ArmInScene, bases: Array, q: Array) -> NDArray[np.bool_]:
    """Return whether arm or base collide, for bases, shape (n, 3), and joints, (n, joints)."""
    joints = q.shape[1]
    X, X_BP = np.empty((joints + 2, 3, 4)), np.empty((3, 4))
    result, last = np.empty(len(q), dtype=np.bool_), no_last_contact()
    for n in range(len(q)):
        free = move_base_to(scene, bases[n, 0], bases[n, 1], bases[n, 2], X_BP, X)
        place(scene.ik.chain, q[n], X)
        result[n] = not free or collides(scene.ik.pieces, X, q[n], last)
    return result
