"""Rooms: what a pull does, that both sides have the same input, and what a crash does."""

import os
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

from kinetarium.batch.worker_main import process_usage
from kinetarium.dynamics import RobotDynamics
from kinetarium.errors import KinetariumError
from kinetarium.interactive._description import inertia_box, room_facts, room_replay
from kinetarium.interactive.room import (
    Ended,
    News,
    Reset,
    Room,
    Run,
    SetUp,
    SideFrame,
    SideOpened,
    Steps,
    ask_worker,
)
from kinetarium.interactive.setup import ObjectShape, RoomError, RoomObject, RoomSetup
from kinetarium.interactive.simulation import HEAD, Inputs, JointMode, LiveSimulation, Pull
from kinetarium.interactive.worker import Advance, CheckRobot, OpenRoom, Refused, _Desk
from kinetarium.model.robot import Inertia
from kinetarium.storage.serialization import SerializationError, from_builtins

BALL = RoomObject(shape=ObjectShape.SPHERE, size=(0.1, 0.1, 0.1), mass=2.0, position=(0, 0, 1))
WEIGHTLESS = RoomSetup(robot="", gravity=(0.0, 0.0, 0.0), ground=False, objects=(BALL,))
HAND = "robot/panda_hand"


def simulated(setup):
    return LiveSimulation(setup, setup.open_robot(file="", folder=""))


def test_a_pulled_ball_moves_as_a_critically_damped_oscillator():
    """A force at its centre: x'' = w^2 (a - x) - 2 w x', so x = a (1 - (1 + w t) exp(-w t))."""
    room = simulated(replace(WEIGHTLESS, timestep=2e-4))
    f, way, t = 1.0, 0.2, 0.3
    pull = Pull(solid="object 1", point=(0, 0, 0), target=(way, 0, 1), frequency=f)
    room.advance(round(t / 2e-4), Inputs(pull=pull))
    w = 2 * np.pi * f
    expected = way * (1 - (1 + w * t) * np.exp(-w * t))
    assert room.poses()[0, 0] == pytest.approx(expected, rel=2e-3)
    room.advance(1, Inputs())
    assert np.isnan(room._force).all()  # it was let go


def test_the_inertia_of_a_pull_at_the_rim_is_less_than_the_mass():
    """3 / trace(1/m + r^2/I) with I = 2/5 m r^2: 3 m / (3 + 2 * 5/2) = 3/8 m."""
    room = simulated(WEIGHTLESS)
    at_rim = room._inertia_at(Pull(solid="object 1", point=(0.05, 0, 0), target=(0, 0, 0)))
    assert at_rim == pytest.approx(3 / 8 * 2.0, rel=1e-9)


def test_a_pull_is_limited_and_named_solids_must_exist():
    room = simulated(WEIGHTLESS)
    pull = Pull(solid="object 1", point=(0, 0, 0), target=(1000, 0, 1), frequency=1.0)
    room.advance(1, Inputs(pull=pull))
    most = 2.0 * (2 * np.pi) ** 2 * 0.5
    assert np.linalg.norm(room._force) == pytest.approx(most, rel=1e-6)
    with pytest.raises(RoomError, match="no solid 'hand'"):
        room.advance(1, Inputs(pull=replace(pull, solid="hand")))
    with pytest.raises(RoomError, match="no joint 'elbow'"):
        room.advance(1, Inputs(targets={"elbow": 1.0}))


@pytest.mark.parametrize("engine", ["mujoco", "bullet", "dart"])
def test_a_held_panda_yields_to_a_pull_as_its_stiffness_says(engine):
    """At rest the servos' torques are those of the force: k (q - q0) = J^T F."""
    room = simulated(RoomSetup(engine=engine, gravity=(0, 0, 0), servo=6.0))
    place = room.poses()[room.shown.index(HAND)]
    target = tuple((place[:3] + np.array([0.0, 0.1, 0.0])).tolist())
    room.advance(1500, Inputs(pull=Pull(solid=HAND, point=(0, 0, 0), target=target)))
    state = room._simulation.state()
    J = RobotDynamics(room.robot.model).jacobian(state.q, "panda_hand")[:3]
    servos = np.array([each.stiffness for each in room.layout.actuations])
    driven = room.layout.command_joints
    torque = servos * (state.q - room._targets)[driven]
    expected = (J.T @ room._force)[driven]
    assert np.abs(state.v).max() < 1e-3
    np.testing.assert_allclose(torque[:7], expected[:7], atol=0.02 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("robot", "joint", "fastest"),
    [("panda", "panda_joint1", 2.175), ("ur5", "wrist_1_joint", 3.2)],
)
def test_kinematic_joints_follow_exactly_at_their_speed_limit(robot, joint, fastest):
    room = simulated(RoomSetup(robot=robot))
    here = room.layout.joints.index(f"robot/{joint}")
    start = room.start.q[here]
    inputs = Inputs(mode=JointMode.KINEMATIC, targets={joint: start + 1.0})
    room.advance(100, inputs)  # 0.2 s
    assert room._simulation.state().q[here] - start == pytest.approx(0.2 * fastest, abs=1e-3)
    room.advance(300, inputs)
    assert room._simulation.state().q[here] - start == pytest.approx(1.0, abs=1e-3)


def test_kinematic_joints_without_a_speed_limit_have_one_all_the_same(tmp_path):
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="{{}}"><inertial><mass value="1"/>{inertia}</inertial></link>'
    joint = '<joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint>'
    file = tmp_path / "wheel.urdf"
    file.write_text(f'<robot name="r">{link.format("a")}{link.format("b")}{joint}</robot>')
    setup = RoomSetup()
    room = LiveSimulation(setup, setup.open_robot(file=str(file), folder=str(tmp_path)))
    room.advance(100, Inputs(mode=JointMode.KINEMATIC, targets={"turn": 9.0}))  # 0.2 s
    assert room._simulation.state().q[0] == pytest.approx(0.2 * 3.0, abs=1e-3)


def test_targets_stay_within_limits_and_followers_follow():
    room = simulated(RoomSetup())
    room.advance(1, Inputs(targets={"panda_joint1": 99.0, "panda_finger_joint1": 0.01}))
    joints = [name.partition("/")[2] for name in room.layout.joints]
    assert room._targets[0] == room.robot.model.joint("panda_joint1").limits.upper
    assert room._targets[joints.index("panda_finger_joint2")] == pytest.approx(0.01)


def test_a_frame_has_everything_where_the_page_reads_it():
    room = simulated(RoomSetup(objects=(replace(BALL, position=(0.5, 0, 0.05)),)))
    room.advance(50, Inputs(number=7))
    frame = room.frame(3)
    number, heard, when, contacts, listed, diverged = HEAD.unpack_from(frame)
    assert (number, heard, diverged) == (3, 7, 0) and when == pytest.approx(0.1)
    values = np.frombuffer(frame, "<f4", offset=HEAD.size)
    n, joints = len(room.shown), len(room.layout.joints)
    np.testing.assert_allclose(values[: 7 * n].reshape(n, 7), room.poses(), atol=1e-6)
    assert len(values) == 7 * n + 3 * joints + 6 + 8 * listed and contacts == listed >= 1
    a, b, *_, fz = values[-8:]
    pair = {room.layout.solids[int(a)], room.layout.solids[int(b)]}
    assert pair == {"ground", "object 1"} and abs(fz) == pytest.approx(2 * 9.81, rel=0.05)


def test_facts_and_looks_name_the_same_solids():
    room = simulated(RoomSetup(objects=(BALL,)))
    facts, looks = room_facts(room), room_replay(room)
    assert [solid["name"] for solid in facts["solids"]] == [solid.name for solid in looks.solids]
    hand = next(solid for solid in facts["solids"] if solid["name"] == HAND)
    link = room.robot.model.link("panda_hand")
    assert hand["inertia"]["mass"] == link.inertia.mass and hand["pulled"]
    base = facts["solids"][0]
    assert not base["pulled"]  # it is fixed to the world


def test_an_inertia_box_has_the_mass_and_moments_it_stands_for():
    edges, mass = np.array([0.1, 0.3, 0.5]), 2.0
    moment = mass / 12 * np.diag((edges**2).sum() - edges**2)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    found, axes = inertia_box(Inertia(mass, np.zeros(3), turn @ moment @ turn.T))
    np.testing.assert_allclose(np.sort(found), edges, atol=1e-9)
    rebuilt = axes @ np.diag(mass / 12 * ((found**2).sum() - found**2)) @ axes.T
    np.testing.assert_allclose(rebuilt, turn @ moment @ turn.T, atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_room_keeps_what_has_the_same_name_when_its_engine_changes():
    room = simulated(RoomSetup(objects=(BALL,)))
    room.advance(100, Inputs(targets={"panda_joint1": 0.5}))
    other = simulated(RoomSetup(engine="bullet", objects=(BALL,)))
    other.resume_from(room)
    np.testing.assert_allclose(other.poses(), room.poses(), atol=1e-6)
    np.testing.assert_allclose(other._command, room._command)


def test_setups_are_checked():
    for bad in ({"servo": -1.0}, {"gravity": [0, 0, 1e9]}, {"timestep": 1.0}, {"robots": "panda"},
                {"objects": [{"shape": "torus"}]}, {"objects": [{"mass": 0}]}):  # fmt: skip
        with pytest.raises(KinetariumError):
            from_builtins(RoomSetup, bad, where="room")
    with pytest.raises(SerializationError):
        from_builtins(RoomSetup, {"servo": float("nan")}, where="room")
    with pytest.raises(RoomError, match="20 objects"):
        RoomSetup(objects=(BALL,) * 21).check()
    with pytest.raises(RoomError, match="empty"):
        RoomSetup(robot="").check()


class Listener:
    """What a room has told."""

    def __init__(self):
        self.events = []

    def __call__(self, event):
        self.events.append(event)

    def until(self, condition):
        for _ in range(1200):
            if found := [event for event in tuple(self.events) if condition(event)]:
                return found
            time.sleep(0.05)
        raise AssertionError(self.events[-3:])

    def frames(self, side):
        return [e.data for e in self.events if isinstance(e, SideFrame) and e.side == side]


def is_news(kind):
    return lambda event: isinstance(event, News) and event.data["type"] == kind


@pytest.fixture
def room(tmp_path):
    heard = Listener()
    room = Room(heard, outputs=tmp_path)
    yield room, heard
    room.close()
    assert not room.processes
    assert not list(tmp_path.iterdir())


def both(*engines):
    setup = RoomSetup(robot="", objects=(BALL,))
    return SetUp(tuple(OpenRoom(replace(setup, engine=engine)) for engine in engines))


def test_two_sides_have_the_same_steps_and_inputs_and_no_frame_is_missing(room):
    room, heard = room
    room.send(both("mujoco", "bullet"))
    heard.until(lambda e: isinstance(e, SideOpened) and e.side == 1)
    heard.until(lambda e: isinstance(e, SideOpened) and e.side == 0)
    room.send(Run(True))
    heard.until(is_news("pace"))
    pull = Pull(solid="object 1", point=(0, 0, 0), target=(0.3, 0, 0.5))
    room.send(Inputs(number=5, pull=pull))
    heard.until(lambda e: isinstance(e, SideFrame) and HEAD.unpack_from(e.data)[1] == 5)
    room.send(Run(False))
    room.send(Steps(3))
    time.sleep(0.3)
    heads = [[HEAD.unpack_from(data)[:3] for data in heard.frames(side)] for side in (0, 1)]
    shared = min(map(len, heads))
    assert shared > 10 and heads[0][:shared] == heads[1][:shared]
    numbers = [number for number, *_ in heads[0]]
    assert numbers == list(range(1, len(numbers) + 1))
    before = heads[0][-1][2]
    room.send(Steps(2))
    room.send(Reset())
    heard.until(lambda e: isinstance(e, SideFrame) and HEAD.unpack_from(e.data)[2] == 0.0)
    assert before > 0.0


def test_an_engine_that_crashes_is_news_and_the_other_side_stays(room):
    room, heard = room
    room.send(both("mujoco", "bullet"))
    for side in (0, 1):
        heard.until(lambda e, side=side: isinstance(e, SideOpened) and e.side == side)
    room.send(Run(True))
    heard.until(is_news("pace"))
    os.kill(room.processes[0], signal.SIGSEGV)
    (news,) = heard.until(is_news("crashed"))
    assert news.data["side"] == 0 and "SIGSEGV" in news.data["message"]
    seen = len(heard.frames(1))
    room.send(Run(True))
    heard.until(lambda e: len(heard.frames(1)) > seen + 5)
    heard.events.clear()
    room.send(both("mujoco", "bullet"))
    for side in (0, 1):
        heard.until(lambda e, side=side: isinstance(e, SideOpened) and e.side == side)
    room.send(both("mujoco"))
    heard.until(lambda e: isinstance(e, SideOpened) and len(room.processes) == 1)


def test_a_side_whose_process_cannot_be_started_is_refused_and_the_other_opens(room, monkeypatch):
    room, heard = room
    start, faults = room._start.start, [OSError("no process")]

    def failing_at_first(*args, **options):
        if faults:
            raise faults.pop()
        return start(*args, **options)

    monkeypatch.setattr(room._start, "start", failing_at_first)
    room.send(both("mujoco", "bullet"))
    heard.until(lambda e: isinstance(e, SideOpened) and e.side == 1)
    (news,) = heard.until(is_news("refused"))
    assert news.data["side"] == 0 and not room.closed


def test_a_room_that_fails_says_so_and_closes(room, monkeypatch):
    room, heard = room
    room.send(both("mujoco"))
    heard.until(lambda e: isinstance(e, SideOpened))
    monkeypatch.setattr(room, "_play", lambda command: 1 / 0)
    room.send(Run(True))
    (ended,) = heard.until(lambda e: isinstance(e, Ended))
    assert ended.message == "the room has ended: division by zero"
    room.close()
    assert room.closed


def test_what_cannot_be_built_is_refused_in_a_line(room):
    room, heard = room
    room.send(both("warp"))
    (news,) = heard.until(is_news("refused"))
    assert "unknown engine 'warp'" in news.data["message"]


def test_robot_files_are_read_by_a_worker_and_faults_have_lines(tmp_path):
    bad = tmp_path / "bad.urdf"
    bad.write_text('<robot name="a">\n<link name="b"/>\n<link name="b"/>\n</robot>\n')
    answer = ask_worker(CheckRobot(str(bad), str(tmp_path)), outputs=tmp_path)
    assert isinstance(answer, Refused) and answer.findings[0]["line"] == 3
    good = tmp_path / "good.urdf"
    good.write_text('<robot name="a">\n<link name="b"/>\n</robot>\n')
    assert ask_worker(CheckRobot(str(good), str(tmp_path)), outputs=tmp_path)["links"] == 1


def growth(frames):
    """Return by how much a worker grows while a Panda is pulled, after the first frames [bytes]."""
    desk = _Desk()
    desk.answer(OpenRoom(RoomSetup()))
    usage = []
    for number in range(frames):
        target = (0.4, 0.2 * np.sin(number / 20), 0.6)
        pull = Pull(solid=HAND, point=(0, 0, 0), target=target)
        desk.answer(Advance(number, 10, Inputs(number=number, pull=pull)))
        if number in (frames // 3, frames - 1):
            usage.append(process_usage(os.getpid()).resident)
    return usage[1] - usage[0]


def test_memory_does_not_grow():
    assert growth(900) < 2e6


@pytest.mark.slow
def test_memory_does_not_grow_in_ten_minutes():
    assert growth(30_000) < 4e6
