"""From a case to the walk that is planned for it."""

from dataclasses import replace
from functools import lru_cache

from kinetarium.legs import TABLE_1, Machine, Walk, WalkPlan, plan_walk
from kinetarium.legs.quadruped import mass_center
from kinetarium.studies.walk.config import NO_ENGINE, Case

_FRAMES_IN_PHYSICS = 48
"""Frames of a leg step between which drives are led along straight lines."""


def walk_plan(case: Case) -> WalkPlan:
    """Give the plan of a case.

    In physics the feet are placed about the true centre of mass, which lies behind the middle
    of the hips, since all knees point backwards.

    Raises:
        KinetariumError: If a value makes no sense.
    """
    physical = case.engine != NO_ENGINE
    return WalkPlan(
        machine=true_machine(case) if physical else case.machine,
        waypoints=case.waypoints,
        curve=case.curve,
        heading=case.heading,
        spin_deg=case.spin_deg,
        stride=case.stride,
        lift=case.lift,
        sway=case.sway,
        timing=case.timing,
        order=() if case.leg_order == "auto" else TABLE_1[int(case.leg_order)],
        frames_per_step=_FRAMES_IN_PHYSICS if physical else case.frames,
        step_time=case.step_time,
        terrain=case.terrain,
    )


def true_machine(case: Case) -> Machine:
    """Give a machine with its true centre of mass, its feet about it."""
    x, y = mass_center(case.machine, unit_m=case.unit_m, mass=case.mass)
    return replace(case.machine, com=(x, y), foot_forward=case.machine.foot_forward + x)


@lru_cache(maxsize=4)  # run, score and report look at the same walk
def planned(case: Case) -> Walk:
    """Plan the walk of a case."""
    return plan_walk(walk_plan(case))
