"""Cases of the slide study, one run of each, and its measures."""

from dataclasses import replace
from itertools import product
from math import cos, degrees, radians, sin

import numpy as np

from kinetarium.batch.study import case_of, refuse_empty
from kinetarium.engines.registry import chosen_engines, matched_options, open_engine
from kinetarium.model.robot import Box
from kinetarium.ranges import check_ranges
from kinetarium.recording.recording import Recording, Row
from kinetarium.rollout.loop import Rollout
from kinetarium.scene import Material, Scene, free_body, ground
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.studies.slide import Case, Config, Profile

_SIZE = (0.1, 0.1, 0.05)
"""Edges of a box [m]: flat, so that it does not tip over."""
_MASS = 1.0
"""Mass of a box [kg]."""
_SETTLE = 0.5
"""Time in which the boxes come to rest before they are set sliding [s]."""
_END = 0.2
"""Share of the initial speed at which the measurement ends [-]: before stiction begins."""
_SHIFT, _STRETCH = 2.0, 0.02
"""Greatest displacement of a direction [deg] and of a speed [-]."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each profile, engine, speed and start.

    Raises:
        KinetariumError: If an engine is not available or a list is empty.
    """
    check_ranges(config)
    refuse_empty(config, "profile", "angle", "speed")
    return tuple(
        case_of(config, Case, engine=engine, profile=profile, speed=speed, start=start)
        for profile, engine, speed, start in product(
            dict.fromkeys(config.profile),
            chosen_engines(config.engine),
            dict.fromkeys(config.speed),
            range(config.starts),
        )
    )


def run(case: Case) -> Recording:
    """Let the boxes come to rest, set all of them sliding at once, and record every step."""
    engine = open_engine(case.engine)
    own = case.profile is Profile.DEFAULTS
    chosen = engine.options.stock() if own else matched_options(engine).options
    with Rollout(
        scene(case), engine=case.engine, timestep=case.timestep, options=chosen, seed=case.seed
    ) as rollout:
        rollout.run(duration=_SETTLE, sample_rate=1 / case.timestep)
        rest = rollout.simulation.state()
        twists = np.zeros_like(rest.twists)
        for twist, (angle, speed) in zip(twists, launches(case), strict=True):
            twist[:2] = speed * cos(angle), speed * sin(angle)
        # Twice as long as Coulomb's law needs; with a hop some need longer.
        return rollout.run(
            duration=_whole(2 * case.speed / (case.friction * GRAVITY) + 0.1, case.timestep),
            sample_rate=1 / case.timestep,
            start=replace(rest, time=0.0, twists=twists),
        )


def _whole(duration: float, timestep: float) -> float:
    return round(duration / timestep) * timestep


def launches(case: Case) -> Array:
    """Return direction [rad] and speed [m/s] of every box, shape (boxes, 2)."""
    nominal = np.array([(radians(angle), case.speed) for angle in case.angle])
    if not case.start:
        return nominal
    away = np.random.default_rng([case.seed, case.start]).uniform(-1.0, 1.0, nominal.shape)
    nominal[:, 0] += away[:, 0] * radians(_SHIFT)
    nominal[:, 1] *= 1 + away[:, 1] * _STRETCH
    return nominal


def scene(case: Case) -> Scene:
    """Return the scene: a row of boxes on the ground, too far apart to touch each other."""
    surface = Material(friction=case.friction)
    apart = 1.0 + 4 * case.speed**2 / (2 * case.friction * GRAVITY)
    boxes = tuple(
        free_body(
            f"box{i}",
            Box(_SIZE),
            mass=_MASS,
            position=(0.0, -i * apart, _SIZE[2] / 2),
            material=surface,
        )
        for i in range(len(case.angle))
    )
    return Scene(bodies=(ground(surface), *boxes), gravity=frozen([0.0, 0.0, -GRAVITY]))


def score(case: Case, recording: Recording) -> list[Row]:
    """Measure how each box was braked.

    Returns:
        For each direction:
        angle_deg: The direction, without displacement.
        deceleration_ratio: Mean deceleration until a fifth of the initial speed is left, over
            friction times gravity; 1 by Coulomb's law, None if the box did not slow down.
        deflection_deg: Greatest angle between the velocity and its initial direction.
        hop_m: Greatest rise of the box's centre.
    """
    given = launches(case)
    return [
        {"angle_deg": angle, **_braking(case, recording, box=i, launch=given[i])}
        for i, angle in enumerate(case.angle)
    ]


def _braking(case: Case, recording: Recording, *, box: int, launch: Array) -> Row:
    time, height = recording["time"], recording["poses"][:, box, 2]
    velocity = recording["twists"][:, box, :2]
    speed = np.linalg.norm(velocity, axis=1)
    slow = np.flatnonzero(speed < _END * launch[1])
    last = int(slow[0]) - 1 if slow.size else 0
    along = np.array([cos(launch[0]), sin(launch[0])])
    across = np.array([-along[1], along[0]])
    turned = np.arctan2(velocity[: last + 1] @ across, velocity[: last + 1] @ along)
    slowed = float(speed[0] - speed[last]) / (case.friction * GRAVITY)
    return {
        "deceleration_ratio": slowed / float(time[last] - time[0]) if last else None,
        "deflection_deg": degrees(float(np.abs(turned).max())),
        "hop_m": max(0.0, float((height - height[0]).max())),
    }
