"""One run: a turn that shows where the robot turns about, plans, and the mission in an engine."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from itertools import pairwise
from math import degrees, pi, radians
from time import process_time

import numpy as np

from kinetarium.control.phases import Phase, PhasedController, Wait
from kinetarium.control.vehicle.laws import LegTracking, PlanarPose
from kinetarium.control.vehicle.legs import LegDriver, turning_centre
from kinetarium.control.vehicle.wheel_driver import planar_pose
from kinetarium.control.vehicle.wheeled_base import Chassis
from kinetarium.dynamics import link_poses
from kinetarium.engines.protocol import Engine, Options
from kinetarium.engines.registry import matched_options, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.metrics import LOOP_TIME
from kinetarium.recording.recording import Channel, Recording
from kinetarium.rollout.loop import Rollout
from kinetarium.scene import Scene
from kinetarium.scene.tables import Stand, TableScene
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import (
    continuous,
    pose,
    quaternion_from_rotation,
    rotation_from_quaternion,
)
from kinetarium.studies.pick.arm_motion import RATE, first_commands
from kinetarium.studies.pick.config import Case
from kinetarium.studies.pick.contacts import ContactsProbe
from kinetarium.studies.pick.mission import Mission, Turning
from kinetarium.studies.pick.planning import Planner
from kinetarium.studies.pick.robot import ROBOT, Picker, open_picker

SAMPLE_RATE = 50.0
"""How often samples are taken [Hz]."""
_TYRES = {"physx": 0.4}
"""Friction of tyres, where it is not that of everything else [-]: at 0.8 PhysX turns the Scout
about one of its front wheels, which sticks, and by less than a third of the commanded yaw rate."""
_CONTACTS: dict[str, dict[str, float]] = {"dart": {"contact_cfm": 1e-3}}
"""What differs from an engine's matched options: rigid contacts of a finger are lost while the arm
moves on a curve, see `DartOptions`; a finger of 30 g then strikes the object at 2 m/s."""
_WIDEST = 2.0
"""Largest multiplier of the track: beyond it a vehicle on an arc would be steered too hard [-]."""
_TURNS = pi / 2, 0.0, -pi / 4, pi / 4
"""Headings to which a robot turns beforehand [rad]: along axes of the ground, to which friction
may be tied, and between them."""
_LEAST_TURN = 0.5
"""Share of a turn below which it does not show where the robot turns about [-]."""
_LONGEST = 150.0
"""Simulated time after which a mission is given up, for each object [s]."""


def run(case: Case) -> Recording:
    """Plan and run the mission; what cannot be planned is not run."""
    engine, picker = open_engine(case.engine), open_picker(case.robot, case.reading, case.sha256)
    options = _options(engine)

    def turning(picker: Picker) -> Turning:
        if not case.calibrate:
            return Turning()
        return calibrated(picker, case.engine, case.friction, case.tyres, case.timestep)

    most, turn = case.localisation
    planner = Planner(picker, case.layout, (most, radians(turn)), turning(picker).spread)
    mission = Mission(case, planner, turning)
    controller = mission.controller()
    with Rollout(
        scene(case, engine), engine=engine, timestep=case.timestep, options=options
    ) as rollout:
        begin = process_time()
        recording = rollout.run(
            duration=_LONGEST * len(case.layout.objects) if mission.planned else 0.0,
            controller=controller,
            probes=[_probe(case, picker)],
            sample_rate=SAMPLE_RATE,
            until=lambda _: controller.done,
        )
        timing = {LOOP_TIME: process_time() - begin}
    phases = [[each.name, each.begin, each.end] for each in controller.times]
    facts = {**mission.facts(), "turning": asdict(turning(picker)), "phases": phases}
    facts |= {"map": planner.slice(0), "closing": picker.closing(force=case.force)}
    timing |= {f"{what}_s": seconds for what, seconds in planner.elapsed.items()}
    return replace(
        recording,
        channels={**recording.channels, **_grip_channels(picker, recording)},
        facts={**recording.facts, **facts},
        timing=timing,
    )


def scene(case: Case, engine: Engine) -> Scene:
    """Return the scene of a case."""
    picker = open_picker(case.robot, case.reading, case.sha256)
    return picker.scene(
        case.layout,
        friction=case.friction,
        tyres=_tyres(engine, case.tyres, friction=case.friction),
        rule=engine.info.friction_rule,
        force=case.force,
    )


def _tyres(engine: Engine, asked: float, *, friction: float) -> float:
    """Return the friction coefficient between tyres and ground [-]."""
    return asked or _TYRES.get(engine.info.name, friction)


def _options(engine: Engine) -> Options:
    matched = matched_options(engine).options
    return replace(matched, **_CONTACTS.get(engine.info.name, {}))


def _probe(case: Case, picker: Picker) -> ContactsProbe:
    first, second = picker.gripper.fingers[:2]
    weights = tuple(held.mass * GRAVITY for held in case.layout.objects)
    return ContactsProbe((first.links, second.links), weights, case.friction)


def _grip_channels(picker: Picker, recording: Recording) -> dict[str, Channel]:
    """Return the grip frame in the world over time, as rows of position and quaternion."""
    model = picker.model
    columns = recording.channels["q"].columns
    order = [columns.index(f"{ROBOT}/{joint.name}") for joint in model.moving_joints]
    X_WR = np.array(
        [pose(row[:3], rotation_from_quaternion(row[3:])) for row in recording["poses"][:, 0]]
    )
    tool = [link.name for link in model.links].index(picker.arm.tool)
    X_WL = link_poses(model, recording["q"][:, order], X_WB=X_WR)[:, tool]
    X_WG = X_WL @ picker.grip_in_tool
    rows = np.concatenate([X_WG[:, :3, 3], quaternion_from_rotation(X_WG[:, :3, :3])], axis=1)
    return {"grip": Channel(continuous(rows), "m, wxyz", ("x", "y", "z", "qw", "qx", "qy", "qz"))}


@lru_cache(maxsize=16)
def calibrated(
    picker: Picker, name: str, friction: float, tyres: float, timestep: float
) -> Turning:
    """Turn the robot to and fro on empty ground, without feedback of its position.

    Where friction is not the same in all directions, turns shift it to different sides.
    """
    engine = open_engine(name)
    options = _options(engine)
    empty = picker.scene(
        TableScene(start=Stand(), tables=(), objects=()),
        friction=friction,
        tyres=_tyres(engine, tyres, friction=friction),
        rule=engine.info.friction_rule,
        force=1.0,
    )
    poses: list[PlanarPose] = []
    chassis = Chassis(picker.base, 1.0)
    forwards = picker.base.frame[2]

    def phases(controller: PhasedController) -> Iterator[Phase]:
        yield Wait("settle", 0.5)
        poses.append(planar_pose(controller.measurement.poses[0]))
        for heading in _TURNS:
            yield LegDriver(
                [],
                heading=heading + forwards,
                chassis=chassis,
                centre=PlanarPose(0.0, 0.0, forwards),
                law=LegTracking(along=0.0),
            )
            yield Wait("rest", 0.3)
            poses.append(planar_pose(controller.measurement.poses[0]))

    controller = PhasedController(phases, start=first_commands(picker), rate=RATE)
    with Rollout(empty, engine=engine, timestep=timestep, options=options) as rollout:
        recording = rollout.run(
            duration=30.0,
            controller=controller,
            sample_rate=SAMPLE_RATE,
            until=lambda _: controller.done,
        )
    if len(poses) <= len(_TURNS):
        return Turning()
    for (begin, end), (before, after) in zip(
        pairwise((0.0, *_TURNS)), pairwise(poses), strict=True
    ):
        asked, turned = abs(end - begin), abs(after.heading - before.heading)
        if turned < _LEAST_TURN * asked:
            raise KinetariumError(
                f"'{picker.model.name}' turns by {degrees(turned):.1f} of {degrees(asked):.0f} deg"
                f" in {name}: its wheels are too weak, or slip"
            )
    centres = np.array([turning_centre(*pair) for pair in pairwise(poses)])
    x, y = centres.mean(axis=0).tolist()
    spread = float(np.linalg.norm(centres - (x, y), axis=1).max())
    asked = np.abs(chassis.commanded_speeds(recording["command"])[1]).sum() / SAMPLE_RATE
    turned = sum(abs(b.heading - a.heading) for a, b in pairwise(poses))
    ratio = float(asked / turned)
    wider = min(ratio, _WIDEST) if picker.base.skids else 1.0
    return Turning(x, y, multiplier=wider, ratio=ratio, spread=spread)
