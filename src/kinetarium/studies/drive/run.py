"""One run: a robot follows a reference in an engine."""

from collections.abc import Sequence
from dataclasses import replace
from math import radians
from time import process_time
from typing import Any

import numpy as np

from kinetarium.control.vehicle.laws import DrivingLaw, FeedForward, Kanayama, PlanarPose
from kinetarium.control.vehicle.reference import (
    CircleReference,
    DrivingReference,
    EightReference,
    SquareReference,
)
from kinetarium.control.vehicle.wheel_driver import WheelDriver
from kinetarium.engines.base.audit import audit_errors
from kinetarium.engines.protocol import Audit, Engine, FrictionRule
from kinetarium.engines.registry import open_engine
from kinetarium.metrics import LOOP_TIME
from kinetarium.recording.recording import Recording
from kinetarium.rollout.loop import Rollout
from kinetarium.scene import Material, Scene
from kinetarium.scene.presets import driving_ground
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Robot
from kinetarium.studies.drive.profiles import CONTROL_RATE, Settings, settings
from kinetarium.studies.drive.vehicle import vehicle

SLICK = Material(friction=0.0)
_TOLERANCE = 1e-5
"""Largest error of a fact of the model as loaded; single precision rounds to 1e-7."""


def ground_scene(
    robot: Robot,
    *,
    wheels: Sequence[str],
    start: PlanarPose,
    friction: float,
    rule: FrictionRule,
    wheel_damping: float,
) -> Scene:
    """Return a scene with a robot on level ground.

    Args:
        wheels: Names of its links that roll; everything else has no friction.
        friction: Friction coefficient between wheels and ground [-].
        rule: How the engine combines the friction of unequal surfaces.
        wheel_damping: Gain of the wheels' servos [N m s/rad].
    """
    floor, tyre = _surfaces(friction, rule)
    scene = driving_ground(robot.value, material=floor, slippery={}, wheel_damping=wheel_damping)
    placed = scene.robots[0]
    links = {link.name: tyre if link.name in wheels else SLICK for link in placed.model.links}
    stand = pose(
        (start.x, start.y, placed.X_WB[2, 3]), rotation_about((0.0, 0.0, 1.0), start.heading)
    )
    return replace(scene, robots=(replace(placed, X_WB=frozen(stand), link_materials=links),))


def _surfaces(friction: float, rule: FrictionRule) -> tuple[Material, Material]:
    """Return materials of ground and tyres with which casters have no friction.

    In an engine that takes the greater or the average of two surfaces, a frictionless
    caster would still have friction on rough ground; there the ground is frictionless
    as well, and the tyres have all the friction.
    """
    match rule:
        case FrictionRule.MAXIMUM:
            return SLICK, Material(friction)
        case FrictionRule.AVERAGE:
            return SLICK, Material(2 * friction)
        case FrictionRule.GEOMETRIC_MEAN | FrictionRule.MINIMUM:
            return Material(friction), Material(friction)


_ASIDE = 2e-3
"""Maximum displacement along x and y [m]."""
_TURNED = radians(2.0)
"""Maximum displacement of the heading [rad]."""


def start_placement(start: int, *, seed: int) -> PlanarPose:
    """Return the initial pose of a start, the same in every engine.

    Args:
        start: Index of the start; 0 is the origin, heading along x.
        seed: Seed of the displacements.
    """
    if start == 0:
        return PlanarPose(0.0, 0.0, 0.0)
    x, y, turn = np.random.default_rng((seed, start)).uniform(-1.0, 1.0, 3).tolist()
    return PlanarPose(_ASIDE * x, _ASIDE * y, _TURNED * turn)


SETTLE = 0.5
"""Time to come to rest on the wheels before the reference begins [s]."""
HOLD = 1.0
"""Time to stand still after its end [s]."""
SAMPLE_RATE = 50.0
"""Sampling rate [Hz]."""

REFERENCES: dict[PathName, DrivingReference] = {
    PathName.CIRCLE: CircleReference(),
    PathName.SQUARE: SquareReference(),
    PathName.EIGHT: EightReference(),
}
_LAWS: dict[PathControl, DrivingLaw] = {
    PathControl.OPEN: FeedForward(),
    PathControl.CLOSED: Kanayama(),
}


def run(case: DriveCase) -> Recording:
    """Let the robot follow the reference."""
    engine = open_engine(case.engine)
    own = settings(engine, case.profile)
    chosen = replace(
        own,
        options=own.options.with_iterations(case.iterations),
        timestep=case.timestep,
        friction=case.friction,
    )
    return drive(
        engine,
        robot=case.robot,
        chosen=chosen,
        reference=REFERENCES[case.path],
        law=_LAWS[case.control],
        multiplier=chosen.multiplier,
        start=start_placement(case.start, seed=case.seed),
        hold=HOLD,
        seed=case.seed,
    )


def drive(
    engine: Engine,
    *,
    robot: Robot,
    chosen: Settings,
    reference: DrivingReference,
    law: DrivingLaw,
    multiplier: float,
    start: PlanarPose,
    seed: int,
    hold: float = 0.0,
) -> Recording:
    """Drive a robot on level ground, and record the model as loaded by the engine.

    Args:
        chosen: The settings of the engine.
        reference: What the robot is to follow.
        law: How it follows it.
        multiplier: Track-width multiplier of skidding wheels in the controller [-].
        seed: Seed of the engine's random numbers.
        hold: Time after the end of the reference [s].
    """
    driven = vehicle(robot)
    driver = WheelDriver(
        reference,
        law=law,
        drive=driven.drive(multiplier),
        left=driven.left,
        wait=SETTLE,
        rate=CONTROL_RATE,
    )
    scene = ground_scene(
        robot,
        wheels=driven.wheels,
        start=start,
        friction=chosen.friction,
        rule=engine.info.friction_rule,
        wheel_damping=chosen.wheel_damping,
    )
    steps = round((SETTLE + reference.duration + hold) * SAMPLE_RATE)
    with Rollout(
        scene, engine=engine, timestep=chosen.timestep, options=chosen.options, seed=seed
    ) as rollout:
        loaded = _loaded(rollout.simulation.audit(), scene, rule=engine.info.friction_rule)
        begin = process_time()
        recording = rollout.run(
            controller=driver, duration=steps / SAMPLE_RATE, sample_rate=SAMPLE_RATE
        )
        timing = {LOOP_TIME: process_time() - begin}
    made_with = {
        "friction": chosen.friction,
        "wheel_damping": chosen.wheel_damping,
        "multiplier": driven.drive(chosen.multiplier).multiplier,
        "settings": chosen.words,
    }
    facts = {**recording.facts, **made_with, **loaded}
    return replace(recording, facts=facts, timing=timing)


def _loaded(audit: Audit, scene: Scene, *, rule: FrictionRule) -> dict[str, Any]:
    """Return what the engine says it has loaded, and where that is not the scene."""
    mass = sum(solid.inertia.mass for solid in audit.solids)
    errors = audit_errors(scene, audit, rule=rule).items()
    off = [f"{fact} is off by {error:.2g}" for fact, error in errors if not error <= _TOLERANCE]
    return {
        "mass_error": mass / scene.robots[0].model.mass - 1,
        "joint_damping": max(joint.damping for joint in audit.joints),
        "armature": max(joint.armature for joint in audit.joints),
        "remarks": [*audit.remarks, *off],
    }
