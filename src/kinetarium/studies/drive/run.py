"""One drive: a robot that follows a reference in an engine."""

from collections.abc import Sequence
from dataclasses import replace
from math import radians
from time import process_time
from typing import Any

import numpy as np

from kinetarium.control.interface import Controller
from kinetarium.control.vehicle.laws import DrivingLaw, FeedForward, Kanayama, PlanarPose
from kinetarium.control.vehicle.reference import (
    CircleReference,
    DrivingReference,
    EightReference,
    SquareReference,
)
from kinetarium.control.vehicle.wheel_driver import WheelDriver
from kinetarium.engines.protocol import Engine, FrictionRule
from kinetarium.engines.registry import open_engine
from kinetarium.metrics import LOOP_TIME
from kinetarium.recording.recording import Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Material, Scene
from kinetarium.scene.presets import driving_ground
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Robot
from kinetarium.studies.drive.profiles import CONTROL_RATE, Settings, settings
from kinetarium.studies.drive.vehicle import vehicle

SLICK = Material(friction=0.0)


def ground_scene(
    robot: Robot,
    *,
    wheels: Sequence[str],
    start: PlanarPose,
    friction: float,
    rule: FrictionRule,
    wheel_damping: float,
) -> Scene:
    """Put a robot on level ground.

    Args:
        wheels: Names of its links that roll; everything else has no friction.
        start: Where it stands.
        friction: Between wheels and ground [-].
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
    """Return ground and tyres such that tyres grip by the friction and slick casters do not at all.

    Where an engine takes the greater or the average of two surfaces, a slick
    caster would still grip a rough ground; so there the ground is slick too, and
    the tyres bring all the friction.
    """
    match rule:
        case FrictionRule.MAXIMUM:
            return SLICK, Material(friction)
        case FrictionRule.AVERAGE:
            return SLICK, Material(2 * friction)
        case FrictionRule.GEOMETRIC_MEAN | FrictionRule.MINIMUM:
            return Material(friction), Material(friction)


_ASIDE = 2e-3
"""Largest displacement along x and y [m]."""
_TURNED = radians(2.0)
"""Largest displacement of the heading [rad]."""


def start_placement(start: int, *, seed: int) -> PlanarPose:
    """Return the placement of a start; the same numbers in every engine.

    Args:
        start: Number of the start; number 0 is the origin, heading along x.
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
"""How often a sample is recorded [Hz]."""

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
    robot = vehicle(case.robot)
    reference = REFERENCES[case.path]
    driver = WheelDriver(
        reference,
        law=_LAWS[case.control],
        drive=robot.drive(chosen.multiplier),
        left=robot.left,
        wait=SETTLE,
        rate=CONTROL_RATE,
    )
    return drive(
        engine,
        robot=case.robot,
        chosen=chosen,
        controller=driver,
        start=start_placement(case.start, seed=case.seed),
        duration=SETTLE + reference.duration + HOLD,
        seed=case.seed,
    )


def drive(
    engine: Engine,
    *,
    robot: Robot,
    chosen: Settings,
    controller: Controller,
    start: PlanarPose,
    duration: float,
    seed: int,
) -> Recording:
    """Drive a robot on level ground, and record what the engine made of the model.

    Args:
        chosen: What is set in the engine.
        controller: Gives the speeds of the wheels.
        start: Where the robot stands at first.
        duration: How long [s].
        seed: Seed of everything random in the engine.
    """
    scene = ground_scene(
        robot,
        wheels=vehicle(robot).wheels,
        start=start,
        friction=chosen.friction,
        rule=engine.info.friction_rule,
        wheel_damping=chosen.wheel_damping,
    )
    audit = _audit(engine, scene, chosen=chosen)
    steps = round(duration * SAMPLE_RATE)
    begin = process_time()
    recording = simulate(
        scene,
        engine=engine,
        controller=controller,
        duration=steps / SAMPLE_RATE,
        timestep=chosen.timestep,
        sample_rate=SAMPLE_RATE,
        options=chosen.options,
        seed=seed,
    )
    timing = {LOOP_TIME: process_time() - begin}
    made_with = {
        "friction": chosen.friction,
        "wheel_damping": chosen.wheel_damping,
        "multiplier": vehicle(robot).drive(chosen.multiplier).multiplier,
        "settings": chosen.words,
    }
    facts = {**recording.facts, **made_with, **audit}
    return replace(recording, facts=facts, timing=timing)


def _audit(engine: Engine, scene: Scene, *, chosen: Settings) -> dict[str, Any]:
    """Read back what the engine loaded, which must be the one model before anything is compared."""
    simulation = engine.compile(scene, timestep=chosen.timestep, options=chosen.options)
    try:
        audit = simulation.audit()
    finally:
        simulation.close()
    mass = sum(solid.inertia.mass for solid in audit.solids)
    return {
        "mass_error": mass / scene.robots[0].model.mass - 1,
        "joint_damping": max(joint.damping for joint in audit.joints),
        "armature": max(joint.armature for joint in audit.joints),
        "remarks": list(audit.remarks),
    }
