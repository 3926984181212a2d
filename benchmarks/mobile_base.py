"""Bases that forgive, stops and lines: `python -m benchmarks.mobile_base [ROBOT ...] [--seed N]`.

For each robot (scout-panda and husky4-panda): random tables with grasps from above, of which a
robust base and an ordinary one are judged under 300 random errors; ten objects on two tables,
whose stops are compared with an exact cover by every base of the raster; random lines of the tool,
whose motion is judged again by differences. CPU time of the process.
"""

from argparse import ArgumentParser
from itertools import product
from math import pi, radians
from time import process_time_ns

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.interpolate import CubicSpline
from scipy.optimize import Bounds, LinearConstraint, milp

from kinetarium import load_robot
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.dynamics import link_poses
from kinetarium.model.robot import Box, Geometry
from kinetarium.reach import BaseError, Obstacles, Placer, kept_map, place_stops
from kinetarium.reach.placement import stops
from kinetarium.reach.placement.follow import ACCELERATION, follow
from kinetarium.reach.placement.robust import headed, poses_kept
from kinetarium.reach.placement.stance import have_room
from kinetarium.reach.placement.whole_body import BaseMotionLimits
from kinetarium.roles import RoleOptions
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

ROBOTS = ("scout-panda", "husky4-panda")
TOOL = "panda_hand_tcp"
ERROR = BaseError(0.03, 0.03, radians(3))
TABLES, ERRORS, TWO_TABLES, LINES = 40, 300, 6, 20
RATE = 25.0
"""Ticks of a line [Hz]."""
RAMP = 1.0
"""Time in which the tool sets off, and in which it stops [s]."""


def about_z(angle: float) -> Array:
    return rotation_about((0.0, 0.0, 1.0), angle)


def table_at(X_WT: Array) -> list[Geometry]:
    """Return a table 1.2 x 0.6 x 0.7 m with four legs."""
    legs = [((0.05, 0.05, 0.66), (0.57 * i, 0.27 * j, 0.33)) for i, j in product((-1, 1), repeat=2)]
    parts = [((1.2, 0.6, 0.04), (0.0, 0.0, 0.68)), *legs]
    return [Geometry(Box(size), X_WT @ pose(at)) for size, at in parts]


def grasps_on(
    X_WT: Array, rng: np.random.Generator, *, yaws: int, rises: tuple[float, ...]
) -> Array:
    """Return grasps from above of an object on a table, shape (yaws * rises, 4, 4)."""
    x, y = rng.uniform(-1, 1, 2) * [0.5, 0.2]
    turn = rng.uniform(-pi, pi)
    down = np.diag([1.0, -1.0, -1.0])
    return np.array(
        [
            X_WT @ pose((x, y, 0.75 + rise), about_z(turn + k * pi / 2) @ down)
            for k in range(yaws)
            for rise in rises
        ]
    )


def random_line(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return times and poses of a tool from rest to rest, on a bent line at 0.1 to 0.4 m/s.

    The tool points anywhere between level and down, and keeps its side of the path but for a sway.
    """
    heading = rng.uniform(-pi, pi)
    corners = [np.array([*rng.uniform(-2, 2, 2), rng.uniform(0.6, 1.2)])]
    for _ in range(int(rng.integers(1, 5))):
        step = rng.uniform(0.8, 2.0) * np.array([np.cos(heading), np.sin(heading)])
        z = np.clip(corners[-1][2] + rng.uniform(-0.2, 0.2), 0.6, 1.2)
        corners.append(np.array([*(corners[-1][:2] + step), z]))
        heading += rng.uniform(-0.7, 0.7)
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1)))
    ends = "natural" if len(s) < 3 else "not-a-knot"
    path = CubicSpline(s, corners, bc_type=ends)
    tilt, side, roll = rng.uniform(pi / 2, pi), *rng.uniform(-pi, pi, 2)
    sway, speed = rng.uniform(0.0, 0.4), rng.uniform(0.1, 0.4)
    end = s[-1] / speed + RAMP
    t = np.arange(0.0, end, 1 / RATE)

    def rising(u: Array) -> Array:
        return speed * (u / 2 - RAMP / (2 * pi) * np.sin(pi * u / RAMP))

    even = speed * (np.clip(t, RAMP, end - RAMP) - RAMP)
    whole = rising(np.array(RAMP))
    gone = rising(np.clip(t, 0.0, RAMP)) + even + whole - rising(np.clip(end - t, 0.0, RAMP))
    way = path(gone, 1)
    yaw = np.unwrap(np.arctan2(way[:, 1], way[:, 0])) + side
    yaw += sway * np.sin(2 * pi * gone / s[-1])
    tilted = rotation_about((0.0, 1.0, 0.0), tilt) @ about_z(roll)
    X = [pose(p, about_z(a) @ tilted) for p, a in zip(path(gone), yaw, strict=True)]
    return t, np.array(X)


def robust_bases(placer: Placer, *, seed: int) -> tuple[str, ...]:
    """Return what is kept of 12 poses a scene under random errors, and the times."""
    cost, kept, plain, robust = [], [], [], 0
    for number in range(TABLES + 1):
        rng = np.random.default_rng([seed, number])
        X = pose((*rng.uniform(-1, 1, 2), 0.0), about_z(rng.uniform(-pi, pi)))
        crate = Geometry(Box((0.4, 0.4, 0.6)), X @ pose((0.2, 1.2, 0.3)))
        scene = placer.among(Obstacles((*table_at(X), crate), ground=True))
        poses = grasps_on(X, rng, yaws=4, rises=(0.0, 0.12, 0.15))
        begin = process_time_ns()
        [found] = scene.place_robust(poses, error=ERROR)
        if number == 0:  # compiles and loads
            continue
        cost.append((process_time_ns() - begin) / 1e6)
        robust += bool(found.robust)
        variants = (inverse_pose(scene.plane.frame) @ poses)[:, None]
        offsets = ERROR.offsets(rng.uniform(-1, 1, (ERRORS, 3)), scene.stance.X_RB)
        for one, shares in ((found, kept), (scene.place(poses), plain)):
            X_PB = inverse_pose(scene.plane.frame) @ one.X_WB
            base = np.array([*X_PB[:2, 3], np.arctan2(X_PB[1, 0], X_PB[0, 0])])
            args = (scene.scene, scene.room, variants, base, offsets, scene.arm.full_effort)
            shares.append(poses_kept(*args).mean())
    words = f"{robust} of {TABLES} robust, {_share(kept)} kept"
    note = f"ordinary base: {_share(plain)} kept"
    return "robust base, 12 poses", words, *_times(cost), note


def _share(kept: list[float]) -> str:
    return f"{100 * np.mean(kept):.4g} % (least {100 * min(kept):.4g} %)"


def _times(cost: list[float]) -> tuple[str, str]:
    return f"{np.median(cost):.3g}", f"{max(cost):.3g}"


def fewest_stops(placer: Placer, *, seed: int, error: BaseError) -> tuple[str, ...]:
    """Return the numbers of stops for ten objects on two tables, beside those of exact covers."""
    cost, counts, exact = [], [], []
    for number in range(TWO_TABLES + 1):
        rng = np.random.default_rng([seed, 1000 + number])
        first = pose((0.0, 0.0, 0.0), about_z(rng.uniform(-pi, pi)))
        away, side = rng.uniform(1.8, 3.5), rng.uniform(-pi, pi)
        second = pose(
            (away * np.cos(side), away * np.sin(side), 0.0), about_z(rng.uniform(-pi, pi))
        )
        scene = placer.among(Obstacles((*table_at(first), *table_at(second)), ground=True))
        objects = [grasps_on(X, rng, yaws=1, rises=(0.0, 0.12)) for X in 5 * (first, second)]
        poses, groups = np.concatenate(objects), np.repeat(np.arange(10), 2)
        begin = process_time_ns()
        found = place_stops(scene, poses, groups=groups, error=error)
        if number == 0:
            continue
        cost.append((process_time_ns() - begin) / 1e6)
        counts.append(len(found.bases) if (found.stop_of >= 0).all() else -len(found.bases))
        if error == stops.EXACTLY:
            exact.append(exact_cover(scene, poses))
    words = f"stops: {counts}" + (f", exact covers: {exact}" if exact else "")
    subject = "10 objects on two tables" + ("" if exact else ", forgiving")
    return subject, words, *_times(cost), ""


def exact_cover(placer: Placer, poses: Array) -> int:
    """Return how few of all bases of the raster reach both poses of every object."""
    X_PT = inverse_pose(placer.plane.frame) @ poses
    x, y, _ = placer.scores(X_PT, step=stops.STEPS[0])
    places = np.column_stack([each.ravel() for each in np.meshgrid(x, y, indexing="ij")])
    bases = headed(places, headings=stops.HEADINGS)
    bases = bases[have_room(placer.room, bases)]
    here, args = np.zeros((1, 3)), (placer.scene, placer.room, X_PT[:, None])
    rows = {
        tuple(poses_kept(*args, base, here, placer.arm.effort)[0].reshape(-1, 2).all(axis=1))
        for base in bases
    }
    reach = np.array(sorted(rows), dtype=float)
    solved = milp(
        np.ones(len(reach)),
        integrality=np.ones(len(reach)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(reach.T, lb=reach.any(axis=0).astype(float)),
    )
    return round(solved.fun)


def driven_lines(placer: Placer, *, seed: int, limits: BaseMotionLimits) -> tuple[str, ...]:
    """Return how many random lines are driven, and what their motion uses of the limits."""
    chain, driven = placer.arm.chain, 0
    fastest = np.array([chain.model.joint(name).limits.velocity for name in chain.joints])
    cost, speeds, accelerations, aside, faults = [], [0.0], [0.0], [0.0], []
    for number in range(LINES + 1):
        t, X_WT = random_line(np.random.default_rng([seed, 2000 + number]))
        begin = process_time_ns()
        found = follow(placer, t, poses=X_WT, limits=limits)
        if number == 0:
            continue
        cost.append((process_time_ns() - begin) / 1e6)
        if found.faults:
            faults.append(f"line {number} {found.faults[0]}")
            continue
        driven += 1
        rates = np.diff(found.joints, axis=0) * RATE
        speeds.append(float((np.abs(rates) / fastest).max()))
        accelerations.append(float(np.abs(np.diff(rates, axis=0)).max() * RATE / ACCELERATION))
        steps = np.diff(found.vehicle, axis=0)
        mean = found.vehicle[:-1, 2] + steps[:, 2] / 2
        aside.append(float(np.abs(np.cos(mean) * steps[:, 1] - np.sin(mean) * steps[:, 0]).max()))
    words = (
        f"{driven} of {LINES}; of limits: joint speed {max(speeds):.2f}, acceleration"
        f" {max(accelerations):.2f}; sideways {max(aside):.0e} m"
    )
    note = "; ".join(faults)
    return "random lines", words, *_times(cost), note


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("robot", nargs="*", default=ROBOTS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    table = Table(title=f"Seed {given.seed}, CPU ms")
    for column in ("robot", "what", "result", "median", "most", "note"):
        table.add_column(column, overflow="fold")
    for name in given.robot:
        robot = RoleOptions().open(name)
        placer = Placer(kept_map(load_robot(name), tool=TOOL))
        base, chain = vehicle(robot), placer.arm.chain
        x, y, heading = base.frame
        links = [link.name for link in robot.model.links]
        q = [robot.home[joint.name] for joint in robot.model.moving_joints]
        X_RB = link_poses(robot.model, q)[links.index(chain.base_link)]
        X = inverse_pose(pose((x, y, 0.0), about_z(heading))) @ X_RB
        mount = (float(X[0, 3]), float(X[1, 3]), float(np.arctan2(X[1, 0], X[0, 0])))
        table.add_row(name, *robust_bases(placer, seed=given.seed))
        for error in (stops.EXACTLY, ERROR):
            table.add_row(name, *fewest_stops(placer, seed=given.seed, error=error))
        limits = BaseMotionLimits(sideways=False, mount=mount)
        table.add_row(name, *driven_lines(placer, seed=given.seed, limits=limits))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
