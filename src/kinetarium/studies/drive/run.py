"""One run: a robot follows a reference in an engine."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import cos, radians, sin
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from kinetarium.control.vehicle.laws import DrivingLaw, FeedForward, Kanayama, PlanarPose
from kinetarium.control.vehicle.reference import (
    CircleReference,
    DrivingReference,
    EightReference,
    SquareReference,
)
from kinetarium.control.vehicle.robot_base import (
    SLICK,
    ground_surfaces,
    tyre_links,
    vehicle,
    wheel_drives,
)
from kinetarium.control.vehicle.wheel_driver import WheelDriver
from kinetarium.control.vehicle.wheeled_base import Chassis
from kinetarium.engines.base.audit import audit_errors
from kinetarium.engines.conformance.model_checks import one_step_error
from kinetarium.engines.protocol import Audit, Engine, FrictionRule
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError
from kinetarium.metrics import LOOP_TIME
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, Geometry, Inertia, Joint, JointType, Link
from kinetarium.recording.recording import Recording
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.rollout.loop import Rollout
from kinetarium.scene import Body, Material, Scene, ground
from kinetarium.scene.standing import placed_robot
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.storage.serialization import to_builtins
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Terrain
from kinetarium.studies.drive.profiles import CONTROL_RATE, Settings, settings_of
from kinetarium.studies.drive.vehicle import opened

_TOLERANCE = 1e-4
"""Largest error of a fact of the model as loaded: principal axes of an inertia that was stored in
single precision reproduce it to 6e-5."""
_PAYLOAD = 0.2
"""Edge of a payload [m]."""


class Slab(NamedTuple):
    """A box on the ground: middle and size along x and y, and height [m]."""

    x: float
    y: float
    length: float
    width: float
    height: float

    def body(self, name: str, material: Material) -> Body:
        """Return it as a fixed body."""
        size = (self.length, self.width, self.height)
        where = frozen(pose((self.x, self.y, self.height / 2)))
        return Body(name, Box(size), X_WB=where, material=material)


_TERRACE = 1.0
"""Width of a terrace, and of the ground between two [m]."""
_SLAB = 0.5
"""Edge of a slab of rough paving [m]: about a robot's wheelbase, so that all wheels differ."""
_CLEAR = 1.0
"""Distance from the start within which the ground is level [m]."""


def relief_of(case: DriveCase) -> list[Slab]:
    """Return what lies on the ground of a case, the same in every engine."""
    if case.terrain is Terrain.FLAT:
        return []
    reference = REFERENCES[case.path]
    places, _ = reference.sample(np.linspace(0.0, reference.duration, 200))
    (west, south), (east, north) = places[:, :2].min(axis=0) - 1.5, places[:, :2].max(axis=0) + 1.5
    if case.terrain is Terrain.STEPS:
        middles = np.arange(_CLEAR + _TERRACE / 2, max(east, -west), 2 * _TERRACE)
        y, width = (south + north) / 2, north - south
        return [Slab(float(side * x), float(y), _TERRACE, float(width), case.rise)
                for x in middles for side in (1, -1) if west < side * x < east]  # fmt: skip
    rng = np.random.default_rng(case.seed)
    paved = []
    for x in np.arange(np.floor(west / _SLAB), east / _SLAB) * _SLAB:
        for y in np.arange(np.floor(south / _SLAB), north / _SLAB) * _SLAB:
            height = float(rng.uniform(0.05, 1.0)) * case.rise
            near = np.hypot(*(places[:, :2] - (x, y)).T).min() < _CLEAR
            if near and np.hypot(x, y) > _CLEAR:  # elsewhere no wheel comes
                paved.append(Slab(float(x), float(y), _SLAB, _SLAB, height))
    return paved


def ground_scene(
    robot: StudiedRobot,
    *,
    start: PlanarPose,
    friction: float,
    rule: FrictionRule,
    wheel_damping: float,
    slope: float = 0.0,
    rolling: float = 0.0,
    relief: Sequence[Slab] = (),
) -> Scene:
    """Return a scene with a robot on the ground; only its wheels have friction.

    Joints besides wheels and steering are held in the home pose by servos; those of casters
    are free.

    Args:
        start: Initial pose of the vehicle's frame.
        friction: Friction coefficient between wheels and ground [-].
        rule: How the engine combines the friction of unequal surfaces.
        wheel_damping: Gain of the wheels' servos [N m s/rad].
        slope: Inclination of the ground, which rises along x [deg]: gravity is inclined instead.
        rolling: Rolling resistance of the wheels [m].
        relief: What lies on the ground.
    """
    base = vehicle(robot)
    floor, tyre = ground_surfaces(friction, rule)
    floor, tyre = (replace(each, rolling_friction=rolling) for each in (floor, tyre))
    tyres = tyre_links(robot)
    placed = placed_robot(
        robot,
        name="vehicle",
        actuation=wheel_drives(robot, base, friction=friction, wheel_damping=wheel_damping),
        link_materials={link.name: tyre if link.name in tyres else SLICK
                        for link in robot.model.links},
    )  # fmt: skip
    x, y, ahead = base.frame
    heading = start.heading - ahead
    c, s = cos(heading), sin(heading)
    where = (start.x - (c * x - s * y), start.y - (s * x + c * y), placed.X_WB[2, 3])
    stand = pose(where, rotation_about((0.0, 0.0, 1.0), heading))
    lean = radians(slope)
    down = frozen([-GRAVITY * sin(lean), 0.0, -GRAVITY * cos(lean)])
    bodies = [slab.body(f"slab{i}", floor) for i, slab in enumerate(relief)]
    return Scene((replace(placed, X_WB=frozen(stand)),), (ground(floor), *bodies), gravity=down)


def laden(robot: StudiedRobot, payload: float) -> StudiedRobot:
    """Return a robot with a box fixed on top of its base, above the middle of its wheels.

    Args:
        payload: Its mass [kg]; none for 0.
    """
    if not payload:
        return robot
    model = robot.model
    x, y, _ = vehicle(robot).frame
    tops = [
        float((triangulate(g.shape).vertices @ g.X_LG[2, :3]).max() + g.X_LG[2, 3])
        for g in model.link(model.root).collisions
    ]
    moment = payload * _PAYLOAD**2 / 6
    box = Geometry(Box((_PAYLOAD, _PAYLOAD, _PAYLOAD)))
    inertia = Inertia(payload, frozen([0.0, 0.0, 0.0]), frozen(np.eye(3) * moment))
    joint = Joint(
        "payload_mount", JointType.FIXED, model.root, "payload",
        frozen(pose((x, y, max(tops, default=0.0) + _PAYLOAD / 2))),
    )  # fmt: skip
    link = Link("payload", inertia, visuals=(box,))
    carrying = replace(model, links=(*model.links, link), joints=(*model.joints, joint))
    return replace(robot, model=carrying)


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
    robot = laden(opened(case.reading, case.robot, case.sha256), case.payload)
    own = settings_of(engine, case.profile, vehicle(robot))
    chosen = replace(
        own,
        options=own.options.with_iterations(case.iterations),
        timestep=case.timestep,
        friction=case.friction,
        multiplier=case.multiplier or own.multiplier,
    )
    return drive(
        engine,
        robot=robot,
        chosen=chosen,
        reference=REFERENCES[case.path],
        law=_LAWS[case.control],
        multiplier=chosen.multiplier,
        start=start_placement(case.start, seed=case.seed),
        hold=HOLD,
        slope=case.slope,
        rolling=case.rolling,
        relief=relief_of(case),
        seed=case.seed,
    )


def drive(
    engine: Engine,
    *,
    robot: StudiedRobot,
    chosen: Settings,
    reference: DrivingReference,
    law: DrivingLaw,
    multiplier: float,
    start: PlanarPose,
    seed: int,
    hold: float = 0.0,
    slope: float = 0.0,
    rolling: float = 0.0,
    relief: Sequence[Slab] = (),
) -> Recording:
    """Drive a robot on the ground, and record the model as loaded by the engine.

    Args:
        chosen: The settings of the engine.
        reference: What the robot is to follow.
        law: How it follows it.
        multiplier: Track-width multiplier of skidding wheels in the controller [-].
        seed: Seed of the engine's random numbers.
        hold: Time after the end of the reference [s].
        slope: Inclination of the ground [deg].
        rolling: Rolling resistance of the wheels [m].
        relief: What lies on the ground.

    Raises:
        KinetariumError: If the engine has loaded another model than that of the scene.
    """
    base = vehicle(robot)
    driver = WheelDriver(
        reference, law=law, chassis=Chassis(base, multiplier), wait=SETTLE, rate=CONTROL_RATE
    )
    rule = engine.info.friction_rule
    scene = ground_scene(
        robot,
        start=start,
        friction=chosen.friction,
        rule=rule,
        wheel_damping=chosen.wheel_damping,
        slope=slope,
        rolling=rolling,
        relief=relief,
    )
    steps = round((SETTLE + reference.duration + hold) * SAMPLE_RATE)
    with Rollout(
        scene, engine=engine, timestep=chosen.timestep, options=chosen.options, seed=seed
    ) as rollout:
        loaded = loaded_facts(
            rollout.simulation.audit(),
            scene,
            engine=engine.info.name,
            rule=rule,
            own_motors=chosen.own_motors,
        )
        begin = process_time()
        recording = rollout.run(
            controller=driver, duration=steps / SAMPLE_RATE, sample_rate=SAMPLE_RATE
        )
        timing = {LOOP_TIME: process_time() - begin}
    made_with = {
        "vehicle": to_builtins(base),
        "drive_type": base.kind.value,
        "friction": chosen.friction,
        "wheel_damping": chosen.wheel_damping,
        "multiplier": base.drive(multiplier).multiplier,
        "slope_deg": slope,
        "settings": chosen.words,
        "one_step_rad_s2": _one_step(engine.info.name),
    }
    facts = {**recording.facts, **made_with, **loaded}
    return replace(recording, facts=facts, timing=timing)


@lru_cache(maxsize=16)
def _one_step(engine: str) -> float:
    """Return the error of an engine's accelerations of a moving arm [rad/s^2]."""
    return one_step_error(open_engine(engine))


def loaded_facts(
    audit: Audit, scene: Scene, *, engine: str, rule: FrictionRule, own_motors: bool = False
) -> dict[str, Any]:
    """Return what an engine says it has loaded.

    Args:
        own_motors: Whether motors of the engine may replace servos of the given gains.

    Raises:
        KinetariumError: If that is not the scene: what follows would be another robot's drive.
    """
    if own_motors:
        audit = replace(audit, drives=None)
    errors = audit_errors(scene, audit, rule=rule).items()
    off = [f"{fact} is off by {error:.2g}" for fact, error in errors if not error <= _TOLERANCE]
    if off:
        more = f" and {len(off) - 3} more" if len(off) > 3 else ""
        raise KinetariumError(
            f"engine '{engine}' has loaded another model: {', '.join(off[:3])}{more}"
        )
    mass = sum(solid.inertia.mass for solid in audit.solids)
    return {
        "mass_error": mass / scene.robots[0].model.mass - 1,
        "joint_damping": max(joint.damping for joint in audit.joints),
        "armature": max(joint.armature for joint in audit.joints),
        "remarks": list(audit.remarks),
    }
