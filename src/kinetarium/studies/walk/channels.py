"""The channels of a recorded walk, in SI units."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs import TABLE_1, LegKind, Machine, Walk, WalkPlan, plan_walk
from kinetarium.legs.mechanism.machine import LINK_NAMES
from kinetarium.legs.robot.quadruped import mass_center
from kinetarium.recording.recording import Channel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.walk.config import NO_ENGINE, Case

LEGS = ("leg1", "leg2", "leg3", "leg4")
LINKS = tuple(f"{leg}/{link}" for leg in LEGS for link in LINK_NAMES)
_POSE = "m, wxyz"


def drives(kind: LegKind) -> tuple[str, ...]:
    """Name the twelve driven joints."""
    lateral = "omega" if kind is LegKind.TTR else "h_y"
    return tuple(f"{leg}/{name}" for leg in LEGS for name in ("h_x", lateral, "v_z"))


def joint_scale(kind: LegKind, unit_m: float) -> Array:
    """Return what joint values are multiplied by for SI, shape (3,)."""
    return np.array([unit_m, 1.0 if kind is LegKind.TTR else unit_m, unit_m])


def walk_channels(
    *,
    kind: LegKind,
    time: Array,
    body: Array,
    joints: Array,
    links: Array,
    feet: Array,
    support: NDArray[np.bool_],
    margin: Array,
    com: Array,
) -> dict[str, Channel]:
    """Name the arrays of a walk, all in SI units.

    Args:
        kind: How the legs are driven.
        time: Times [s], shape (n,).
        body: Pose of the body, shape (n, 7).
        joints: Joint values, shape (n, 4, 3).
        links: Poses of the links, shape (n, 4, 9, 7).
        feet: The feet [m], shape (n, 4, 3).
        support: Which of them are to carry, shape (n, 4).
        margin: The planned static margin [m], shape (n,).
        com: The planned centre of mass [m], shape (n, 3).
    """
    n = len(time)
    return {
        "time": Channel(time, "s"),
        "body": Channel(body, _POSE, ("x", "y", "z", "qw", "qx", "qy", "qz")),
        "joints": Channel(joints.reshape(n, 12), "m or rad", drives(kind)),
        "links": Channel(links.reshape(n, 36, 7), _POSE, LINKS),
        "feet": Channel(feet, "m", LEGS),
        "support": Channel(support.astype(np.float64), "-", LEGS),
        "margin": Channel(margin, "m"),
        "com": Channel(com, "m", ("x", "y", "z")),
    }


def planned_channels(walk: Walk, *, unit_m: float) -> dict[str, Channel]:
    """Return a planned walk as channels."""
    kind = walk.plan.machine.kind
    metres = np.array([unit_m] * 3 + [1.0] * 4)
    return walk_channels(
        kind=kind,
        time=walk.time,
        body=walk.body * metres,
        joints=walk.joints * joint_scale(kind, unit_m),
        links=walk.links * metres,
        feet=walk.links[:, :, 8, :3] * unit_m,
        support=walk.support,
        margin=walk.margin * unit_m,
        com=walk.com * unit_m,
    )


_FRAMES_IN_PHYSICS = 48
"""Frames of a leg step between which drives are led along straight lines."""


def walk_plan(case: Case) -> WalkPlan:
    """Return the plan of a case.

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
    """Return a machine with its true centre of mass, its feet about it."""
    x, y = mass_center(case.machine, unit_m=case.unit_m, mass=case.mass)
    return replace(case.machine, com=(x, y), foot_forward=case.machine.foot_forward + x)


@lru_cache(maxsize=4)  # run, score and report look at the same walk
def planned(case: Case) -> Walk:
    """Plan the walk of a case."""
    return plan_walk(walk_plan(case))
