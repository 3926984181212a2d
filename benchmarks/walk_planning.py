"""Planning a walk beside a plain loop over frames: `python -m benchmarks.walk_planning`.

Ours is all of `plan_walk`: path, order search, feet, joints, all link poses, margins and
warnings. The peer gives the link poses alone, leg by leg and frame by frame, as products of
4 x 4 matrices in NumPy. CPU time of the process, per frame; the peer walks fewer frames.
"""

from collections.abc import Iterator
from statistics import median
from time import process_time_ns

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.ratio import Ratio
from kernel_references import link_transforms
from kinetarium.legs import PlannedWalk, WalkPlan, plan_walk

LEG_STEPS = (248, 500, 1000, 2000)
TARGET_MS = 150.0
"""For 1,000 leg steps, 12,000 frames, on an idle core."""
_ROUNDS = 7
_PEER_FRAMES = 100


def ratios() -> Iterator[Ratio]:
    """Compare a frame of 1,000 leg steps with the peer's."""
    walk = plan_walk(_plan(1000))
    ours, peer = [], []
    for _ in range(_ROUNDS):
        ours.append(_cost_us(lambda: plan_walk(walk.plan)) / len(walk.time))
        peer.append(_cost_us(lambda: _frame_by_frame(walk)) / _PEER_FRAMES)
    yield Ratio("plan a frame of a walk", "matrices, frame by frame", median(ours), median(peer))


def main() -> None:
    (ratio,) = ratios()
    table = Table(title="Planning a walk, all link poses included")
    for column in ("leg steps", "frames", "CPU ms", "us per frame"):
        table.add_column(column, justify="right")
    for steps in LEG_STEPS:
        frames = len(plan_walk(_plan(steps)).time)
        cost = median(_cost_us(lambda n=steps: plan_walk(_plan(n))) for _ in range(_ROUNDS))
        table.add_row(str(steps), str(frames), f"{cost / 1000:.1f}", f"{cost / frames:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"target: {TARGET_MS:g} ms for 1,000 leg steps; {ratio.subject}: {ratio.ours_us:.2f} us,"
        f" {ratio.peer} {ratio.peer_us:.0f} us, {1 / ratio.ratio:.0f} times as long"
    )


def _plan(leg_steps: int) -> WalkPlan:
    return WalkPlan(waypoints=((0.0, 0.0), (4.0 * leg_steps, 0.0)))


def _frame_by_frame(walk: PlannedWalk) -> None:
    machine = walk.plan.machine
    for frame in range(_PEER_FRAMES):
        x, y, z, w, _, _, s = walk.body[frame]
        angle = 2 * np.arctan2(s, w)
        c, s = np.cos(angle), np.sin(angle)
        X_WB = np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])
        for leg in range(4):
            X_BH = np.eye(4)
            X_BH[:3, 3] = machine.hips[leg]
            X_WH = X_WB @ X_BH
            foot = X_WH[:3, :3].T @ (walk.feet[frame, leg] - X_WH[:3, 3])
            X_WH @ link_transforms(machine.leg, machine.leg.inverse(foot))


def _cost_us(work) -> float:
    start = process_time_ns()
    work()
    return (process_time_ns() - start) / 1000


if __name__ == "__main__":
    main()
