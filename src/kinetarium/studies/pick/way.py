"""The way of a base to its goal: legs that end with a straight one, where there is room."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, sin

from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.legs import LegEnd
from kinetarium.control.vehicle.wheeled_base import placed
from kinetarium.errors import KinetariumError
from kinetarium.plan import BasePath, PlanningRobot, plan_base_path
from kinetarium.reach import Obstacles
from kinetarium.spatial.rotation import wrapped
from kinetarium.studies.pick.robot import Picker

_MARGIN = 0.03
"""Distance kept on the way besides what localisation takes [m]."""
_END_MARGIN = 0.01
"""The same near start and goal, where placement has considered errors [m]."""
_LAST_LEGS = 0.5, 0.3, -0.5, -0.3
"""Lengths of a straight leg to the goal that are tried, backwards if negative [m]."""


class PlanningError(KinetariumError):
    """A part of a mission for which there is no plan.

    Attributes:
        what: What was not found.
    """

    def __init__(self, what: str, reason: str) -> None:
        """Keep both."""
        super().__init__(reason)
        self.what = what


NO_BASE, NO_PATH, OUT_OF_REACH, FALLEN = "no base", "no path", "out of reach", "fallen"
"""What may not be found."""


@dataclass(frozen=True, slots=True)
class Margins:
    """Distances that a base keeps from obstacles on its way.

    Attributes:
        way: Along the way [m].
        ends: Near the start and near the last turn [m].
        last: On a straight leg to the goal [m].
    """

    way: float
    ends: float
    last: float


def margins(*, spread: float, shift: float) -> tuple[Margins, ...]:
    """Return margins to be tried one after the other, the widest first.

    Args:
        spread: Distance that errors of localisation take [m].
        shift: How far a turn may displace the robot [m].
    """
    wide, narrow = _MARGIN + spread + shift, _MARGIN + (spread + shift) / 2
    return (
        Margins(wide, wide, _END_MARGIN + spread),
        Margins(wide, wide, _END_MARGIN),
        Margins(wide, _END_MARGIN + shift, _END_MARGIN),
        Margins(narrow, _END_MARGIN + shift / 2, _END_MARGIN),
        Margins(narrow, _END_MARGIN, _END_MARGIN),
        Margins(narrow, 0.0, 0.0),
    )


@dataclass(frozen=True)
class Way:
    """The way of a base.

    Attributes:
        legs: The ends of its straight legs, by the point that is steered.
        poses: Poses of the root between legs and turns.
        straight: Whether it ends with a straight leg along the last heading.
    """

    legs: tuple[LegEnd, ...]
    poses: tuple[PlanarPose, ...]
    straight: bool


def plan_way(
    robot: PlanningRobot,
    picker: Picker,
    *,
    obstacles: Obstacles,
    start: PlanarPose,
    goal: PlanarPose,
    centre: PlanarPose,
    margins: Margins,
    leave: bool = False,
) -> Way:
    """Return the way of a base to a goal.

    It ends with a straight leg along the last heading where there is room for one: how far a
    turn shifts the robot is known less well than how far it drives.

    Args:
        obstacles: Everything, in the world's frame.
        centre: The point that is steered, in the root's frame, and the direction forwards.
        margins: Distances that are kept from obstacles.
        leave: Whether the start is near the goal, and is left by a straight leg as well.

    Raises:
        PlanningError: If there is none.
    """

    def legs(a: PlanarPose, b: PlanarPose, near: float) -> BasePath:
        return plan_base_path(
            robot,
            obstacles,
            start=a,
            goal=b,
            posture=picker.posture,
            height=picker.height,
            steered=centre,
            motion=picker.base.kind.value,
            margin=margins.way,
            end_margin=near,
        )

    at_goal = legs(goal, goal, margins.last)
    if not at_goal.found:
        raise PlanningError(NO_BASE, at_goal.reason)
    for before in (*_LAST_LEGS, 0.0):
        via = _moved(goal, before, direction=centre.heading)
        last = legs(via, goal, margins.last) if before else None
        if last is not None and (not last.found or len(last.legs) > 1):
            continue
        begin, first = start, None
        if leave and before:
            begin = _moved(start, before, direction=centre.heading)
            first = legs(start, begin, margins.last)
            if not first.found or len(first.legs) > 1:
                continue
        path = legs(begin, via, margins.ends)
        if path.found:
            return _joined([first, path, last], centre=centre, straight=last is not None)
    raise PlanningError(NO_PATH, path.reason)


def _moved(base: PlanarPose, ahead: float, *, direction: float) -> PlanarPose:
    """Return a pose before another one on a straight line; behind it if `ahead` is negative."""
    angle = base.heading + direction
    return base._replace(x=base.x - ahead * cos(angle), y=base.y - ahead * sin(angle))


def _joined(paths: Sequence[BasePath | None], *, centre: PlanarPose, straight: bool) -> Way:
    legs = [leg for path in paths if path for leg in path.legs]
    ends, poses = [], [legs[0].start] if legs else []
    for leg in legs:
        poses.append(leg.end)
        if leg.length:
            end = placed(centre, PlanarPose(*leg.end))
            ends.append(LegEnd(end.x, end.y, leg.length < 0, end.heading))
    return Way(tuple(ends), tuple(PlanarPose(*each) for each in poses), straight)


def distance(a: PlanarPose, b: PlanarPose) -> tuple[float, float]:
    """Return the distance of two poses [m] and the angle between their headings [rad]."""
    return hypot(a.x - b.x, a.y - b.y), abs(wrapped(a.heading - b.heading))
