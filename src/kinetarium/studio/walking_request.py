"""What the page asks to be walked, within bounds that keep the studio quick."""

from dataclasses import dataclass, replace
from typing import Any

from kinetarium.legs import LegKind, LegsError, LinkShape, WalkPlan
from kinetarium.legs.route import lay_route
from kinetarium.recording.plain import PlainDataError, from_plain

MOST_WAYPOINTS = 100
MOST_FRAMES = 12_000
"""Frames of a walk: a thousand leg steps of twelve."""
MOST_BLOCKS = 50
"""Steps on the ground."""
MOST_CORNERS = 32
"""Corners of a link's section."""
_LONGEST_STEP = 10.0
"""Duration of a leg step [s]."""
_GREATEST = 1e9


@dataclass(frozen=True, slots=True)
class WalkRequest:
    """Walks of one plan by machines of some kinds.

    Attributes:
        plan: The plan; its machine is of the first kind.
        kinds: The kinds.
    """

    plan: WalkPlan
    kinds: tuple[LegKind, ...]

    @property
    def plans(self) -> tuple[WalkPlan, ...]:
        """The plan for each kind."""
        machine = self.plan.machine
        return tuple(replace(self.plan, machine=replace(machine, kind=k)) for k in self.kinds)


def walk_request(data: Any) -> WalkRequest:
    """Read {"plan": ..., "kinds": [...]}; what is missing is as in a plan by default.

    Raises:
        KinetariumError: If it makes no sense, or asks for more than the studio walks.
    """
    if not isinstance(data, dict):
        raise PlainDataError("a walk is asked for by a plan")
    _check_numbers(data)
    plan = from_plain(WalkPlan, data.get("plan", {}), where="the plan")
    kinds = from_plain(
        tuple[LegKind, ...], data.get("kinds", [plan.machine.kind.value]), where="the kinds"
    )
    kinds = tuple(dict.fromkeys(kinds)) or (plan.machine.kind,)
    _check_sizes(plan)
    plan = replace(plan, machine=replace(plan.machine, kind=kinds[0]))
    return WalkRequest(plan, kinds)


def _check_numbers(data: Any) -> None:
    """Refuse numbers that no plan needs: JSON as Python reads it may hold NaN and infinity."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int | float) and not abs(value) <= _GREATEST:
            raise PlainDataError(f"a number is none, or beyond {_GREATEST:g}")


def _check_sizes(plan: WalkPlan) -> None:
    if len(plan.waypoints) > MOST_WAYPOINTS:
        raise LegsError(
            f"a path has up to {MOST_WAYPOINTS} way-points here, not {len(plan.waypoints)}"
        )
    if len(plan.terrain.steps) > MOST_BLOCKS:
        raise LegsError(f"the ground has up to {MOST_BLOCKS} steps here")
    if plan.step_time > _LONGEST_STEP:
        raise LegsError(f"a leg step takes up to {_LONGEST_STEP:g} s here, not {plan.step_time:g}")
    for shape in plan.machine.shapes:
        _check_shape(shape)
    frames = 4 * plan.frames_per_step * lay_route(plan).cycles
    if frames > MOST_FRAMES:
        raise LegsError(
            f"this walk takes {frames} frames, and up to {MOST_FRAMES} are shown here: shorten the"
            " path or lengthen the stride"
        )


def _check_shape(shape: LinkShape) -> None:
    if not 3 <= len(shape.section) <= MOST_CORNERS:
        raise LegsError(
            f"the section of link '{shape.name}' has {len(shape.section)} corners;"
            f" it must have from 3 to {MOST_CORNERS}"
        )
    if not shape.bottom < shape.top:
        raise LegsError(f"link '{shape.name}' ends above its start: its bottom must be below")
