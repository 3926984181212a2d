"""Route: a plan cut into cycles: poses of the body along its path, and footholds for each."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from kinetarium.legs.body_path import BodyPath, curve_path, spin_path
from kinetarium.legs.course import Heading
from kinetarium.legs.error import LegsError
from kinetarium.legs.footholds import footholds
from kinetarium.legs.gait import Timing
from kinetarium.legs.walk_plan import WalkPlan
from kinetarium.spatial.arrays import Array

MOST_FRAMES = 100_000
"""Frames of the longest walk; more would not fit into memory with all their links."""
_WHOLE = 1e-9
"""Share of a stride that a path may exceed whole strides by [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """Where the body goes, and where its feet would stand.

    Attributes:
        path: The body's path.
        cycles: Number of cycles.
        two_phase: Whether the body moves twice in a cycle.
        ways: Ways along the path at which the body stops, and one beyond, shape (m,).
        poses: x, y and heading of the body there, shape (m, 3).
        holds: The foothold of each leg that is its place at rest there, shape (m, 4, 3).
    """

    path: BodyPath
    cycles: int
    two_phase: bool
    ways: Array
    poses: Array
    holds: Array

    @property
    def stride(self) -> float:
        """Way of the feet at the greatest distance in one cycle [unit]."""
        return self.path.length / self.cycles


def lay_route(plan: WalkPlan) -> Route:
    """Cut a plan into equal cycles.

    Raises:
        LegsError: If the walk takes too many frames.
        PathError: If the way-points make no path.
    """
    machine = plan.machine
    rest = machine.neutral_feet
    radius = float(np.hypot(rest[:, 0], rest[:, 1]).max())
    if plan.heading is Heading.SPIN:
        path = spin_path(
            plan.waypoints[0],
            heading_deg=plan.heading_deg,
            spin_deg=plan.spin_deg,
            radius=radius,
        )
    else:
        path = curve_path(
            plan.waypoints,
            curve=plan.curve,
            turning=plan.heading is Heading.TURN,
            heading_deg=plan.heading_deg,
            radius=radius,
            stride=plan.stride,
        )
    wanted = path.length / plan.stride
    if not wanted * 4 * plan.frames_per_step <= MOST_FRAMES:
        raise LegsError(
            f"a way of {path.length:.4g} in strides of {plan.stride:g} takes more than"
            f" {MOST_FRAMES} frames; shorten it, lengthen the stride or take fewer frames per step"
        )
    cycles = max(1, ceil(wanted - _WHOLE))
    two_phase = plan.timing is Timing.TWO_PHASE
    moves = 2 * cycles if two_phase else cycles
    ways: Array = np.arange(moves + 2, dtype=np.float64) * (path.length / moves)
    poses = path.poses(ways)
    holds = footholds(plan.terrain, _placed(rest, poses), highest=plan.lift)
    return Route(path, cycles, two_phase, ways, poses, holds)


def _placed(points: Array, poses: Array) -> Array:
    """Give points of the body frame on the ground for each pose, shape (m, points, 2)."""
    c, s = np.cos(poses[:, 2:]), np.sin(poses[:, 2:])
    x, y = points[:, 0], points[:, 1]
    return np.stack([poses[:, :1] + c * x - s * y, poses[:, 1:2] + s * x + c * y], axis=-1)
