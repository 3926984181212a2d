"""Inverse kinematics beside installable peers: `python -m benchmarks.reach_ik`.

Every solver gets the same poses, made by forward kinematics of random joint positions
within the limits. A solution counts if our forward kinematics, which the tests hold
against Pinocchio, puts the tool within 0.1 mm and 1 mrad of the pose and all joints
are within their limits. The figure is the CPU time of the process, all its threads, per
solution that counts; all take turns, so that a noisy machine disturbs them alike. Peers
are called as their documentation shows, one pose at a time; whoever is not installed is
skipped by name.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.resources import as_file, files
from time import process_time_ns

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.ratio import Ratio
from kinetarium import load_robot
from kinetarium.dynamics import forward
from kinetarium.dynamics.chain import SerialChain, link_frames, serial_chain
from kinetarium.reach.ik import generic as generic_ik
from kinetarium.reach.ik import panda as panda_ik
from kinetarium.reach.ik.panda_geometry import panda_arrays
from kinetarium.reach.ik.solve import STARTS, SWEEP, ik_arrays
from kinetarium.reach.ik.start_table import start_table

Solve = Callable[[np.ndarray], np.ndarray | None]
"""Returns joint positions for a pose of the tool in the base link's frame, or None."""
SolveMany = Callable[[np.ndarray, np.ndarray], None]
"""Writes joint positions for poses, NaN for none."""

OURS = 100_000
"""Poses that our own solvers get."""
ROUNDS = 10


@dataclass(frozen=True)
class Result:
    """How one solver did: share of poses solved, and CPU time per verified solution [us]."""

    robot: str
    solver: str
    success: float
    cost_us: float


def main() -> None:
    table = Table(title="Inverse kinematics: CPU time per verified solution")
    for column in ("robot", "solver", "solved", "us", "times closed form", "times search"):
        table.add_column(column, justify="left" if column in ("robot", "solver") else "right")
    console = Console(width=120)
    for robot in ("panda", "ur5", "kr250"):
        results = list(_results(robot, console))
        costs = {result.solver: result.cost_us for result in results}
        for result in results:
            closed = costs.get("closed form")
            table.add_row(
                result.robot,
                result.solver,
                f"{100 * result.success:.2f} %",
                f"{result.cost_us:.2f}",
                f"{result.cost_us / closed:.1f}" if closed else "",
                f"{result.cost_us / costs['search']:.1f}",
            )
    console.print(table)


def ratios() -> Iterator[Ratio]:
    """Yield our cost against that of every peer that is installed, for the common table."""
    for robot in ("panda", "ur5", "kr250"):
        own, *peers = _results(robot, Console(stderr=True, width=120))
        for peer in peers:
            if peer.solver != "search":
                subject = f"{robot}: inverse kinematics, {own.solver}"
                yield Ratio(subject, peer.solver, own.cost_us, peer.cost_us)


def _results(robot: str, console: Console) -> Iterator[Result]:
    chain = serial_chain(load_robot(robot))
    entries = [*_ours(chain), *_peers(robot, chain, console)]
    poses = [_poses(chain, count) for _, _, count in entries]
    q = [np.full((count, len(chain.joints)), np.nan) for _, _, count in entries]
    costs = np.zeros(len(entries))
    for (_, solve, _), X_BT in zip(entries, poses, strict=True):
        solve(X_BT[:1], np.empty((1, len(chain.joints))))
    for turn in range(ROUNDS):
        for n, (_, solve, count) in enumerate(entries):
            part = slice(turn * count // ROUNDS, (turn + 1) * count // ROUNDS)
            start = process_time_ns()
            solve(poses[n][part], q[n][part])
            costs[n] += (process_time_ns() - start) / 1000
    for n, (name, _, _) in enumerate(entries):
        verified = _verified(chain, poses[n], q[n])
        yield Result(robot, name, float(verified.mean()), costs[n] / max(verified.sum(), 1))


def _ours(chain: SerialChain) -> Iterator[tuple[str, SolveMany, int]]:
    ik, starts = ik_arrays(chain), start_table(chain.arrays, seed=0)

    def closed(poses: np.ndarray, q: np.ndarray) -> None:
        w = np.empty(len(q))
        panda_ik.solve_many(ik.panda, ik.chain, ik.pieces, poses, SWEEP, False, q, w)

    def search(poses: np.ndarray, q: np.ndarray) -> None:
        w = np.empty(len(q))
        generic_ik.solve_many(starts, ik.chain, ik.pieces, poses, STARTS, False, q, w)

    if ik.closed:
        yield "closed form", closed, OURS
    yield "search", search, OURS


def _peers(
    robot: str, chain: SerialChain, console: Console
) -> Iterator[tuple[str, SolveMany, int]]:
    for name, (build, count) in PEERS.items():
        try:
            solve = build(robot, chain)
        except ImportError as missing:
            console.print(f"{robot}: {name} is not installed ({missing.name})")
        except Exception as fault:
            console.print(
                f"{robot}: {name} does not take this arm ({type(fault).__name__}: {fault})"
            )
        else:
            yield name, partial(_one_by_one, solve), count


def _one_by_one(solve: Solve, poses: np.ndarray, q: np.ndarray) -> None:
    for n, pose in enumerate(poses):
        found = solve(pose)
        if found is not None:
            q[n] = found


def _poses(chain: SerialChain, count: int) -> np.ndarray:
    arrays = chain.arrays
    rng = np.random.default_rng(0)
    return forward.poses(
        arrays, rng.uniform(arrays.lower, arrays.upper, (count, len(arrays.lower)))
    )


def _verified(chain: SerialChain, poses: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Tell which rows of q, NaN for none, reach their pose within the limits."""
    arrays = chain.arrays
    reached = forward.poses(arrays, np.nan_to_num(q))
    off = np.linalg.norm(reached[:, :3, 3] - poses[:, :3, 3], axis=1)
    # |R - R'| = 2 sqrt(2) sin(angle / 2)
    turn = np.linalg.norm(reached[:, :3, :3] - poses[:, :3, :3], axis=(1, 2)) / np.sqrt(2)
    inside = ((arrays.lower - 1e-6 <= q) & (q <= arrays.upper + 1e-6)).all(axis=1)
    return inside & (off < 1e-4) & (turn < 1e-3)


def eaik(robot: str, chain: SerialChain) -> Solve:
    """Solve with joint 7 held, at one position after the other, for seven joints."""
    from eaik.IK_HP import HPRobot

    arrays = chain.arrays
    places = link_frames(arrays, np.zeros(len(arrays.lower)))
    axes = places[1:-1, :3, 2]
    offsets = np.diff(places[:, :3, 3], axis=0)
    turn = np.eye(4)
    turn[:3, :3] = places[-1, :3, :3].T
    held = panda_arrays(arrays).sweep[:64, 0] if len(axes) == 7 else [None]
    arms = [HPRobot(axes, offsets, [] if q7 is None else [(6, float(q7))]) for q7 in held]
    if not arms[0].hasKnownDecomposition():
        raise ValueError("no known decomposition")

    def solve(X_BT: np.ndarray) -> np.ndarray | None:
        target = X_BT @ turn
        for arm, q7 in zip(arms, held, strict=True):
            found = arm.IK(target)
            for q, least_squares in zip(np.asarray(found.Q), found.is_LS, strict=True):
                full = q if q7 is None or len(q) == 7 else np.append(q, q7)
                # Angles come within half a turn; limits may be elsewhere.
                full = arrays.middle + (full - arrays.middle + np.pi) % (2 * np.pi) - np.pi
                if not least_squares and ((arrays.lower <= full) & (full <= arrays.upper)).all():
                    return full
        return None

    return solve


def toolbox(robot: str, chain: SerialChain, **settings: float) -> Solve:
    """Solve as by default, but to a tolerance with which the solutions count."""
    from roboticstoolbox import ET, ETS

    arrays = chain.arrays
    steps = []
    for i, frame in enumerate(arrays.frames):
        steps.append(ET.SE3(np.vstack([frame, [0, 0, 0, 1]])))
        if i < len(arrays.lower):
            steps.append(ET.Rz(qlim=[arrays.lower[i], arrays.upper[i]]))
    arm = ETS(steps)

    def solve(X_BT: np.ndarray) -> np.ndarray | None:
        found = arm.ik_LM(X_BT, tol=1e-10, **settings)
        return np.asarray(found.q) if found.success else None

    return solve


def trac_ik(robot: str, chain: SerialChain, *, timeout: float = 0.05) -> Solve:
    """Solve from the middle of the limits, for at most so long [s]."""
    from trac_ik import TracIK

    with as_file(files("kinetarium") / "robots" / f"{robot}.urdf") as path:
        arm = TracIK(chain.base_link, chain.tool, str(path), timeout=timeout, epsilon=1e-5)
    middle = chain.arrays.middle

    def solve(X_BT: np.ndarray) -> np.ndarray | None:
        found = arm.ik(X_BT[:3, 3], X_BT[:3, :3], seed_jnt_values=middle)
        return None if found is None else np.asarray(found)

    return solve


def _ssik(robot: str, chain: SerialChain) -> Solve:
    """Solve with the code that is generated beforehand, where there is some for the arm."""
    import ssik

    known = {"panda": "franka_panda_ik", "ur5": "ur5_ik"}
    arm = ssik.Manipulator.from_prebuilt(known[robot]) if robot in known else None
    q = np.full(len(chain.joints), 0.3)
    if arm is None or not np.allclose(arm.fk(q), forward.poses(chain.arrays, q[None])[0]):
        with as_file(files("kinetarium") / "robots" / f"{robot}.urdf") as path:
            arm = ssik.Manipulator.from_urdf(path, base=chain.base_link, ee=chain.tool)
        arm.prepare()

    def solve(X_BT: np.ndarray) -> np.ndarray | None:
        found = arm.solve(X_BT, max_solutions=1)
        return np.asarray(found[0].q) if found else None

    return solve


PEERS = {
    "EAIK": (eaik, 300),
    "roboticstoolbox ik_LM": (toolbox, 1000),
    "roboticstoolbox ik_LM, k = 0.1": (partial(toolbox, k=0.1), 1000),
    "pytracik": (trac_ik, 300),
    "ssik": (_ssik, 300),
}


if __name__ == "__main__":
    main()
