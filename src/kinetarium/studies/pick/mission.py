"""The mission: drive, correct, plan again, approach, grasp, lift and hold, as phases."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import cos, degrees, radians, sin
from typing import Any

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.control.phases import Phase, PhasedController, Wait
from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.legs import LegDriver, LegEnd
from kinetarium.control.vehicle.wheel_driver import planar_pose
from kinetarium.control.vehicle.wheeled_base import Chassis
from kinetarium.plan import TimedMotion
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.studies.pick.arm_motion import RATE, ArmMotion, Fingers, first_commands
from kinetarium.studies.pick.config import Case, Placement
from kinetarium.studies.pick.planning import ArmPlan, Planner, narrow
from kinetarium.studies.pick.robot import Picker
from kinetarium.studies.pick.way import OUT_OF_REACH, PlanningError, Way, distance

HOLD = 2.0
"""How long an object is held [s]."""
_SETTLE = 0.5
"""Time to come to rest on the wheels [s]."""
_REST = 0.4
"""Time for the base to come to rest after a drive [s]."""
_GIVEN_UP = 0.2
"""How long a robot stands that has no plan [s]."""
_NEAR_ENOUGH = 0.010, radians(0.5)
"""Distance from the goal [m] and heading error [rad] up to which a stop is not corrected."""


@dataclass(frozen=True, slots=True)
class Turning:
    """How a robot turns in an engine, found by a turn beforehand.

    Attributes:
        x: The point about which it turns, in the root's frame, to the front [m].
        y: The same to the left [m].
        multiplier: Of the track, by which it is steered [-].
        ratio: Commanded over actual yaw rate [-]: the multiplier, unless that would be too large.
        spread: How far that point of single turns is from it [m].
    """

    x: float = 0.0
    y: float = 0.0
    multiplier: float = 1.0
    ratio: float = 1.0
    spread: float = 0.0


@dataclass(eq=False)
class Stop:
    """A place where the robot picks objects.

    Attributes:
        goal: The chosen pose of the root.
        way: The way there.
        objects: The objects that are picked from there.
        planner: Plans for the posture in which the arm travels there.
        posture: The motion of the arm to that posture; None if it has it.
        base_error: True distance from the goal [mm, deg].
        stop_error: The same at the first stop, as localisation knows it [mm, deg].
        corrections: Correction drives.
        phases: The first phase, and the first of what follows, among those of the controller;
            None if the run ended before.
    """

    goal: PlanarPose
    way: Way
    objects: list[int]
    planner: Planner
    posture: TimedMotion | None = None
    base_error: tuple[float, float] | None = None
    stop_error: tuple[float, float] | None = None
    corrections: int = 0
    phases: tuple[int, int | None] = (0, 0)


@dataclass(eq=False)
class Attempt:
    """An attempt to pick an object.

    Attributes:
        object: The object.
        stop: Number of the stop; None if there was none.
        failed: What could not be planned, and empty otherwise.
        reason: Why not.
        limit_margin: Least distance of a joint from its limits [rad or m].
        phases: The first phase, and the first of what follows, among those of the controller;
            None if the run ended before.
        again: Whether the object was out of reach from an earlier stop.
    """

    object: int
    stop: int | None = None
    failed: str = ""
    reason: str = ""
    limit_margin: float | None = None
    phases: tuple[int, int | None] = (0, 0)
    again: bool = False


class Mission:
    """One run: phases of a controller, and what happened."""

    def __init__(self, case: Case, planner: Planner, turning: Callable[[Picker], Turning]) -> None:
        """Choose the stops, and plan the way to the first one.

        Args:
            case: What is run.
            planner: Plans for the arm at home while the robot drives.
            turning: Returns how a robot turns.
        """
        self._case, self._planner, self._turning = case, planner, turning
        self._picker = planner.picker
        self._posture = planner.picker.posture
        self._rng = np.random.default_rng((case.seed, case.number, 1))
        self._off = PlanarPose(0.0, 0.0, 0.0)
        self.attempts = [Attempt(i) for i in range(len(case.layout.objects))]
        self.stops: list[Stop] = []
        layout = case.layout
        self._places = [layout.object_pose(i) for i in range(len(layout.objects))]
        start = PlanarPose(layout.start.x, layout.start.y, radians(layout.start.yaw))
        self._stand = start
        self._queue: list[tuple[PlanarPose, list[int]]] = []
        self._by_map = case.placement in (Placement.ROBUST, Placement.MAP)
        if len(self.attempts) > 1 and self._by_map:
            self._queue = planner.stops(placement=case.placement, start=start)
        self._plan_stop(start)

    @property
    def planned(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.stops)

    def controller(self) -> PhasedController:
        """Return the controller of all joints."""
        return PhasedController(self._phases, start=first_commands(self._picker), rate=RATE)

    def facts(self) -> dict[str, Any]:
        """Return what the run is judged by besides its recording, as JSON values."""
        stops = [
            {
                **{name: getattr(stop, name) for name in ("base_error", "stop_error", "phases")},
                "goal": list(stop.goal),
                "way": [list(each) for each in stop.way.poses],
                "objects": list(stop.objects),
                "corrections": stop.corrections,
                "turning": asdict(self._turning(stop.planner.picker)),
            }
            for stop in self.stops
        ]
        return {"stops": stops, "attempts": [asdict(each) for each in self.attempts]}

    def known_pose(self, measurement: Measurement) -> PlanarPose:
        """Return the pose of the root as localisation knows it."""
        true = planar_pose(measurement.poses[0])
        off = self._off
        return PlanarPose(true.x + off.x, true.y + off.y, true.heading + off.heading)

    def _centre(self, planner: Planner) -> PlanarPose:
        """Return the steered point in the root's frame, and the direction forwards."""
        turning = self._turning(planner.picker)
        return PlanarPose(turning.x, turning.y, self._picker.base.frame[2])

    def _plan_stop(self, start: PlanarPose) -> None:
        """Plan the next stop: that of the queue, or for the first object that is left."""
        while self._queue:
            goal, objects = self._queue.pop(0)
            try:
                way = self._planner.way(start, goal, centre=self._centre(self._planner))
                posture = self._change(self._planner)
            except PlanningError:
                continue  # its objects are tried one by one, as those that are not reached
            if near := self._planner.reachable(goal, objects):
                self._add_stop(Stop(goal, way, near, self._planner, posture))
                return
        for attempt in self.attempts:
            if attempt.stop is not None or attempt.failed:
                continue
            try:
                stop = self._stop(attempt.object, self._planner, start)
            except PlanningError as reason:
                narrower = self._stop_in_little_room(attempt.object, start)
                if narrower is None:
                    attempt.failed, attempt.reason = reason.what, str(reason)
                    continue
                stop = narrower
            left = [a.object for a in self.attempts if a.stop is None and not a.failed]
            others = [i for i in left if i != attempt.object]
            stop.objects += stop.planner.reachable(stop.goal, others) if others else []
            self._add_stop(stop)
            return

    def _stop(self, index: int, planner: Planner, start: PlanarPose) -> Stop:
        """Return a stop for an object.

        Raises:
            PlanningError: If there is none.
        """
        posture = self._change(planner)
        goal, way = planner.stop(
            index,
            placement=self._case.placement,
            rng=np.random.default_rng((self._case.seed, self._case.number, 2)),
            start=start,
            centre=self._centre(planner),
        )
        return Stop(goal, way, [index], planner, posture)

    def _stop_in_little_room(self, index: int, start: PlanarPose) -> Stop | None:
        """Return a stop to which the robot drives with its arm in a narrow posture."""
        picker = narrow(self._picker)
        if picker is None:
            return None
        shift = self._turning(picker).spread
        try:
            return self._stop(index, replace(self._planner, picker=picker, shift=shift), start)
        except PlanningError:
            return None

    def _change(self, planner: Planner) -> TimedMotion | None:
        """Return the motion of the arm to the posture in which it travels; None if it has it.

        Raises:
            PlanningError: If there is none.
        """
        if np.array_equal(self._posture, planner.picker.posture):
            return None
        return planner.take_posture(self._posture, base=self._stand, places=self._places)

    def _add_stop(self, stop: Stop) -> None:
        self.stops.append(stop)
        for i in stop.objects:
            self.attempts[i].stop = len(self.stops) - 1

    def _draw_error(self, goal: PlanarPose) -> None:
        """Draw the error of localisation for a stop, along the axes of its goal."""
        most, turn = self._case.localisation
        x, y, yaw = self._rng.uniform(-1.0, 1.0, 3) * (most, most, radians(turn))
        c, s = cos(goal.heading), sin(goal.heading)
        self._off = PlanarPose(c * x - s * y, s * x + c * y, float(yaw))

    def _phases(self, controller: PhasedController) -> Iterator[Phase]:
        yield Wait("settle", _SETTLE)
        done = 0
        while done < len(self.stops):
            stop = self.stops[done]
            self._draw_error(stop.goal)
            first = len(controller.times)
            stop.phases = (first, None)
            if stop.posture is not None:
                picker = stop.planner.picker
                name = "unfold" if picker.travel is None else "fold"
                yield ArmMotion(name, stop.posture, picker=picker, holder=picker.usual_holder)
                self._posture = picker.posture
            yield from self._drive(stop, controller)
            stop.phases = (first, len(controller.times))
            last = stop.objects[-1]
            for i in stop.objects:
                more = i != last or any(a.stop is None and not a.failed for a in self.attempts)
                yield from self._pick(self.attempts[i], stop, controller, put_back=more)
            done += 1
            self._stand = planar_pose(controller.measurement.poses[0])
            self._places = self._seen(controller.measurement)
            self._plan_stop(self.known_pose(controller.measurement))

    def _drive(self, stop: Stop, controller: PhasedController) -> Iterator[Phase]:
        yield self._driver(stop, stop.way.legs, "drive")
        yield Wait("rest", _REST)
        off, turn = distance(self.known_pose(controller.measurement), stop.goal)
        stop.stop_error = (1e3 * off, degrees(turn))
        while stop.corrections < self._case.corrections:
            if off <= _NEAR_ENOUGH[0] and turn <= _NEAR_ENOUGH[1]:
                break
            stop.corrections += 1
            legs = () if off <= _NEAR_ENOUGH[0] else self._correction(stop, controller)
            yield self._driver(stop, legs, "correct")
            yield Wait("rest", _REST)
            off, turn = distance(self.known_pose(controller.measurement), stop.goal)
        off, turn = distance(planar_pose(controller.measurement.poses[0]), stop.goal)
        stop.base_error = (1e3 * off, degrees(turn))

    def _correction(self, stop: Stop, controller: PhasedController) -> tuple[LegEnd, ...]:
        """Return a way to the goal from where the base is; none if there is no room."""
        try:
            now = self.known_pose(controller.measurement)
            centre = self._centre(stop.planner)
            return stop.planner.way(now, stop.goal, centre=centre, leave=True).legs
        except PlanningError:
            return ()

    def _driver(self, stop: Stop, legs: Sequence[LegEnd], name: str) -> LegDriver:
        centre, turning = self._centre(stop.planner), self._turning(stop.planner.picker)
        return LegDriver(
            legs,
            heading=stop.goal.heading + centre.heading,
            chassis=Chassis(self._picker.base, turning.multiplier),
            centre=centre,
            name=name,
            locate=self.known_pose,
        )

    def _pick(
        self, attempt: Attempt, stop: Stop, controller: PhasedController, *, put_back: bool
    ) -> Iterator[Phase]:
        first = len(controller.times)
        attempt.phases = (first, None)
        plan = self._plan(attempt, stop, controller.measurement)
        if plan is None:
            yield Wait("give up", _GIVEN_UP)
            attempt.phases = (first, len(controller.times))
            self._try_again(attempt)
            return
        attempt.limit_margin = plan.limit_margin
        layout = self._case.layout
        move = partial(
            ArmMotion,
            picker=self._picker,
            holder=self._picker.widths(layout.objects[attempt.object])[plan.quarter],
        )
        fingers = partial(Fingers, picker=self._picker, holder=move.keywords["holder"])
        yield move("approach", plan.approach)
        yield move("lower", plan.down)
        yield fingers("close", force=self._case.force)
        yield move("lift", plan.up, loaded=True)
        yield Wait("hold", HOLD)
        attempt.phases = (first, len(controller.times))
        if put_back:
            yield move("put back", plan.up, loaded=True, backwards=True)
            yield fingers("open")
            yield move("retreat", plan.down, backwards=True)
            yield move("return", plan.approach, backwards=True)

    def _try_again(self, attempt: Attempt) -> None:
        """Set an object that is out of reach from where the base stopped up for another stop.

        The map knows poses of the tool, not the lines between them, and a base that is shared is
        seldom the best of any object. A fixed base would be the same again, and a random one
        another draw: how often the first one reaches the object is what they show.
        """
        chosen = self._by_map and self._case.replan
        if chosen and attempt.failed == OUT_OF_REACH and not attempt.again:
            attempt.again, attempt.stop, attempt.failed, attempt.reason = True, None, "", ""

    def _plan(self, attempt: Attempt, stop: Stop, measurement: Measurement) -> ArmPlan | None:
        """Plan the arm's motion, from where the base is or from where it should be."""
        layout = self._case.layout
        base = stop.planner.root(stop.goal)
        places = [layout.object_pose(i) for i in range(len(layout.objects))]
        if self._case.replan:
            base, places = _pose(measurement.poses[0]), self._seen(measurement)
        try:
            return stop.planner.reach(attempt.object, base=base, places=places)
        except PlanningError as reason:
            attempt.failed, attempt.reason = reason.what, str(reason)
            return None

    def _seen(self, measurement: Measurement) -> list[Array]:
        """Return the poses of the objects."""
        return [_pose(row) for row in measurement.poses[1 : 1 + len(self._case.layout.objects)]]


def _pose(row: Array) -> Array:
    return pose(row[:3], rotation_from_quaternion(row[3:]))
