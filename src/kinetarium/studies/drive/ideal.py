"""The ideal drive without an engine: ramped open-loop commands and Coulomb friction.

Spherical wheels of a differential or steered base roll without slip. Others are in the steady
skid of their momentary speeds (`coulomb.py`): transients are neglected, which a slow vehicle
completes within centimetres.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import inf, isnan
from typing import Any

import numpy as np

from kinetarium.control.vehicle.reference import DrivingReference
from kinetarium.control.vehicle.wheeled_base import Chassis, DriveType, WheeledBase
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Terrain
from kinetarium.studies.drive.coulomb import (
    Footprint,
    Skid,
    coulomb_arc,
    coulomb_skid,
    variants,
)
from kinetarium.studies.drive.profiles import CONTROL_RATE
from kinetarium.studies.drive.run import HOLD, REFERENCES
from kinetarium.studies.drive.vehicle import recorded_vehicle, yaw_ratio

_NODE = 10
"""Number of commands between two solutions of the skid, which is interpolated linearly."""
_LEAST_YAW = 0.05
"""Yaw rate above which a reference turns [rad/s]."""


@dataclass(frozen=True, slots=True, eq=False)
class IdealDrive:
    """A drive in open loop, with a sample for each command.

    Attributes:
        position: Position of the robot at the time of the command [m], shape (n, 2).
        heading: Its unwrapped heading at that time [rad], shape (n,).
        yaw_rate: Its yaw rate until the next command [rad/s], shape (n,).
        commanded: The commanded yaw rate [rad/s], shape (n,).
    """

    position: Array
    heading: Array
    yaw_rate: Array
    commanded: Array


@dataclass(frozen=True, slots=True)
class _Conditions:
    """Friction, gain of the servos, track multiplier and footprint of a drive."""

    friction: float
    wheel_damping: float
    multiplier: float
    footprint: Footprint = Footprint.EDGES

    def turn(self, base: WheeledBase, v: float, w: float, *, near: Skid | None = None) -> Skid:
        """Return the steady motion of a vehicle with commanded speeds [m/s, rad/s]."""
        same: dict[str, Any] = {
            "friction": self.friction,
            "wheel_damping": self.wheel_damping,
            "effort": base.driven[0].effort or inf,
            "footprint": self.footprint,
            "near": near,
        }
        if base.kind is DriveType.STEERED:
            return coulomb_arc(base, v=v, curvature=w / v, **same)
        left, right = base.drive(self.multiplier).wheel_speeds(v, w)
        return coulomb_skid(base, left=left, right=right, **same)


@lru_cache(maxsize=64)
def ideal_drive(
    base: WheeledBase,
    path: PathName,
    *,
    friction: float,
    wheel_damping: float,
    multiplier: float,
    footprint: Footprint = Footprint.EDGES,
) -> IdealDrive:
    """Return the ideal open-loop motion of a vehicle on level ground.

    Args:
        friction: Friction coefficient between wheels and ground [-].
        wheel_damping: Gain of the wheels' servos [N m s/rad].
        multiplier: Track-width multiplier of skidding wheels [-].
        footprint: Where the wheels touch the ground.
    """
    commands = _commands(REFERENCES[path], Chassis(base, multiplier))
    conditions = _Conditions(friction, wheel_damping, multiplier, footprint)
    last: list[Skid | None] = [None]

    @cache
    def skid(v: float, w: float) -> tuple[float, float, float]:
        if not w or not base.slips:
            return v, 0.0, w
        last[0] = found = conditions.turn(base, v, w, near=last[0])
        return found.forward, found.sideways, found.yaw_rate

    bend = np.abs(np.diff(commands, n=2, axis=0, prepend=commands[:1], append=commands[-1:]))
    kinks = np.flatnonzero((bend > 1e-3).any(axis=1))
    nodes = np.union1d(np.arange(0, len(commands), _NODE), [*kinks, len(commands) - 1])
    solved = np.array([skid(v, w) for v, w in commands[nodes].tolist()])
    every = np.arange(len(commands))
    forward, sideways, yaw_rate = (np.interp(every, nodes, column) for column in solved.T)
    turned = np.append(0.0, np.cumsum(yaw_rate) / CONTROL_RATE)
    # The heading in the middle of a period with constant speeds.
    middle = (turned[1:] + turned[:-1]) / 2
    c, s = np.cos(middle), np.sin(middle)
    steps = np.stack([forward * c - sideways * s, forward * s + sideways * c], axis=-1)
    position = np.vstack([np.zeros(2), np.cumsum(steps, axis=0) / CONTROL_RATE])
    return IdealDrive(
        frozen(position[:-1]), frozen(turned[:-1]), frozen(yaw_rate), frozen(commands[:, 1])
    )


def _commands(reference: DrivingReference, chassis: Chassis) -> Array:
    """Return the open-loop commands [m/s and rad/s], shape (n, 2)."""
    times = np.arange(0.0, reference.duration + HOLD, 1 / CONTROL_RATE)
    now = (0.0, 0.0)
    speeds = np.empty((len(times), 2))
    for k, (v, w) in enumerate(reference.sample(times)[1].tolist()):
        now = chassis.toward((v, w), now=now, period=1 / CONTROL_RATE)
        speeds[k] = chassis.speeds(now)
    return speeds


def ideal_of(case: DriveCase, facts: Mapping[str, Any]) -> IdealDrive | None:
    """Return the ideal drive of a case; None in closed loop, and where the ground is not level.

    Args:
        facts: The facts of one of its recordings.
    """
    if case.control is PathControl.CLOSED or case.slope or case.terrain is not Terrain.FLAT:
        return None
    return ideal_drive(recorded_vehicle(facts), case.path, **_conditions(case, facts))


def ideal_yaw_range(case: DriveCase, facts: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the least and the greatest yaw ratio that cannot be told from the ideal [-].

    Over footprints of the wheels, and errors of the centre of mass; None if the wheels do not
    skid, or there is no ideal.

    Args:
        facts: The facts of one of its recordings.
    """
    base, ideal = recorded_vehicle(facts), ideal_of(case, facts)
    ratio = yaw_ratio(ideal.yaw_rate, ideal.commanded) if ideal else None
    if not base.slips or ratio is None or isnan(ratio):
        return None
    # The relative uncertainty of one turn is that of the path.
    v, w = _usual_turn(REFERENCES[case.path])
    conditions = _Conditions(case.friction, facts["wheel_damping"], facts["multiplier"])
    rates = [
        replace(conditions, footprint=footprint).turn(variant, v, w).yaw_rate
        for variant, footprint in variants(base)
    ]
    known = [rate for rate in rates if not isnan(rate)]
    exact = rates[0]
    return (ratio * min(known) / exact, ratio * max(known) / exact) if not isnan(exact) else None


def _usual_turn(reference: DrivingReference) -> tuple[float, float]:
    """Return the median speed [m/s] and yaw rate [rad/s] of a reference where it turns."""
    times = np.arange(0.0, reference.duration, 1 / CONTROL_RATE)
    v, w = reference.sample(times)[1].T
    turns = np.abs(w) > _LEAST_YAW
    return float(np.median(v[turns])), float(np.median(np.abs(w[turns])))


def _conditions(case: DriveCase, facts: Mapping[str, Any]) -> dict[str, float]:
    own = {name: facts[name] for name in ("wheel_damping", "multiplier")}
    return {"friction": case.friction, **own}
