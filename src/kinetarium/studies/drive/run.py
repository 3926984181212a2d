"""One drive: a robot that follows a reference in an engine."""

from dataclasses import replace
from time import process_time
from typing import Any

from kinetarium.control.controller import Controller
from kinetarium.control.driving_law import DrivingLaw, FeedForward, Placement
from kinetarium.control.driving_reference import (
    CircleReference,
    DrivingReference,
    EightReference,
    SquareReference,
)
from kinetarium.control.kanayama import Kanayama
from kinetarium.control.wheel_driver import WheelDriver
from kinetarium.engines.overrides import with_iterations
from kinetarium.engines.protocol import Engine
from kinetarium.engines.registry import open_engine
from kinetarium.metrics.cost import LOOP_TIME
from kinetarium.recording.recording import Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Scene
from kinetarium.studies.drive.config import Control, DriveCase, PathName, Robot
from kinetarium.studies.drive.ground import ground_scene
from kinetarium.studies.drive.profiles import CONTROL_RATE, Settings, settings
from kinetarium.studies.drive.start import start_placement
from kinetarium.studies.drive.vehicle import vehicle

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
_LAWS: dict[Control, DrivingLaw] = {Control.OPEN: FeedForward(), Control.CLOSED: Kanayama()}


def run(case: DriveCase) -> Recording:
    """Let the robot follow the reference."""
    engine = open_engine(case.engine)
    own = settings(engine, case.profile)
    chosen = replace(
        own,
        options=with_iterations(own.options, case.iterations),
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
    start: Placement,
    duration: float,
    seed: int,
) -> Recording:
    """Drive a robot on level ground, and record what the engine made of the model.

    Args:
        engine: The engine.
        robot: The robot.
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
