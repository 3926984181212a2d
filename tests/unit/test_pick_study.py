"""pick: a mission in MuJoCo, its score on the recording, refusals and the conclusion."""

from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from math import cos, pi, radians, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetarium.batch.study import Outcome
from kinetarium.cli import main
from kinetarium.control.phases import Wait
from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError
from kinetarium.figure.charts import Bars
from kinetarium.figure.text import Prose
from kinetarium.model.load import load_robot
from kinetarium.plan import planning_robot
from kinetarium.recording.recording import Channel, Recording, RunStatus
from kinetarium.roles import RoleOptions
from kinetarium.scene.tables import TableObject
from kinetarium.spatial.rotation import pose as pose_of
from kinetarium.spatial.rotation import rotation_about
from kinetarium.studies.pick.config import Case, Config, Placement, Replan, cases
from kinetarium.studies.pick.contacts import MOST_LOAD, friction_load
from kinetarium.studies.pick.figures import replay, report
from kinetarium.studies.pick.mission import Attempt, Mission
from kinetarium.studies.pick.planning import ArmPlan, Planner, arm_reach
from kinetarium.studies.pick.robot import ARM_MARGIN, open_picker
from kinetarium.studies.pick.run import calibrated, run, scene
from kinetarium.studies.pick.score import Cause, score
from kinetarium.studies.pick.way import OUT_OF_REACH, PlanningError

NEAR = """start = { x = 0.0, y = -1.3, yaw = 60 }
[[tables]]
[[objects]]
x = 0.1
y = -0.2
yaw = 25
"""


@pytest.fixture(scope="module")
def mission(tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Recording]:
    file = tmp_path_factory.mktemp("scene") / "near.toml"
    file.write_text(NEAR)
    [case] = cases(Config(engine=("mujoco",), scene=(str(file),)))
    return case, run(case)


def test_the_object_is_lifted_and_held_although_the_base_stops_elsewhere(
    mission: tuple[Case, Recording],
) -> None:
    case, recording = mission
    [row] = score(case, recording)
    assert row["success"] and row["cause"] == "" and row["tries"] == 1
    assert row["stop_error_mm"] < 10 and row["stop_error_deg"] < 0.5
    # Localisation, not driving, displaces the base.
    assert 1 < row["base_error_mm"] < 1e3 * 0.03 * 2**0.5 + 10
    assert row["tool_error_mm"] < 1 and row["slip_mm"] < 1
    assert row["grip_n"] == pytest.approx(case.force, abs=0.5)
    assert row["grip_law"] and row["creep_mm_s"] < 0.1
    assert row["touches"] == 0
    names = [name for name, *_ in recording.facts["phases"]]
    assert names[:2] == ["settle", "drive"]
    assert names[-5:] == ["approach", "lower", "close", "lift", "hold"]
    # The arm loads the front axle: the robot turns about a point ahead of the middle.
    assert 0.03 < recording.facts["turning"]["x"] < 0.1
    assert abs(recording.facts["turning"]["y"]) < 0.01


def test_options_of_an_engine_do_not_change_its_tyres(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetarium.studies.pick.run._TYRES", {"mujoco": 0.4})
    names = ("mujoco", "mujoco:iterations=20")
    for case in cases(Config(engine=names, scenes=1)):
        [placed] = scene(case, open_engine(case.engine)).robots
        assert {each.friction for each in placed.link_materials.values()} == {0.4}, case.engine


def test_fingers_press_as_asked_and_the_report_says_where_that_is_above_a_limit(
    mission: tuple[Case, Recording],
) -> None:
    case = replace(mission[0], force=200.0)
    recording = run(case)
    [row] = score(case, recording)
    assert row["success"] and row["slip_mm"] < 1
    assert row["grip_n"] == pytest.approx(200.0, abs=1.0)
    sections = {each.title: each for each in report([outcome(case, recording, **row)]).sections}
    said = sections["Grip forces"].figures[0]
    assert isinstance(said, Prose)
    assert "'panda_finger_joint2' closes with 200 N m or N, above its limit of 100" in said.text


def test_quaternions_of_the_grip_do_not_flip(mission: tuple[Case, Recording]) -> None:
    turns = mission[1]["grip"][:, 3:]
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0, atol=1e-9)
    assert np.abs(np.diff(turns, axis=0)).max() < 0.2


def test_the_friction_of_a_finger_bears_the_weight_and_its_moment() -> None:
    """Two contacts 8 mm before and behind the middle of a pad that faces y."""
    points = np.array([[0.008, 0.0, 0.5], [-0.008, 0.0, 0.5]])
    normals = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])

    def load(center: tuple[float, float, float], **changes: Any) -> float:
        values = {"forces": np.array([15.0, 15.0]), "weight": 2.0, "friction": 0.5} | changes
        return friction_load(points, normals, center=np.array(center), **values)

    assert load((0.0, 0.02, 0.4)) == pytest.approx(2 / 15)
    # By hand: one contact bears W/2 (1 + d/r) = 6 N of its limit of 7.5.
    assert load((0.04, 0.02, 0.5)) == pytest.approx(6 / 7.5)
    assert load((0.06, 0.0, 0.5)) > 1
    uneven = np.array([20.0, 10.0])  # the centre of pressure is 8/3 mm ahead
    assert load((0.008 / 3, 0.0, 0.5), forces=uneven) == pytest.approx(2 / 15)
    assert load((0.01, 0.0, 0.5), forces=np.array([30.0, 0.0])) == MOST_LOAD
    assert load((0.0, 0.0, 0.5), forces=np.zeros(2)) == MOST_LOAD


def changed(recording: Recording, *, falls: float) -> Recording:
    """Return a recording in which the object falls from some time before the end on [s]."""
    poses = recording["poses"].copy()
    late = recording["time"] > recording["time"][-1] - falls
    poses[late, 1, 2] = poses[0, 1, 2]
    channel = recording.channels["poses"]
    channels = {**recording.channels, "poses": Channel(poses, channel.unit, channel.columns)}
    return replace(recording, channels=channels)


def test_what_is_dropped_before_the_end_is_no_success(mission: tuple[Case, Recording]) -> None:
    case, recording = mission
    [row] = score(case, changed(recording, falls=0.5))
    assert (row["success"], row["cause"]) == (False, "dropped")
    [row] = score(case, changed(recording, falls=100.0))
    assert (row["success"], row["cause"]) == (False, "missed")


def test_what_a_drive_touched_counts_although_it_did_not_end(
    mission: tuple[Case, Recording],
) -> None:
    case, recording = mission
    contacts = recording["contacts"].copy()
    contacts[100:110, 0] = 50.0
    channel = recording.channels["contacts"]
    facts = dict(recording.facts)
    facts["phases"] = [each for each in facts["phases"] if each[0] in ("settle", "drive")]
    facts["stops"] = [{**facts["stops"][0], "phases": [1, None], "base_error": None}]
    facts["attempts"] = [{**facts["attempts"][0], "phases": [0, 0]}]
    stuck = replace(
        recording,
        channels={**recording.channels, "contacts": Channel(contacts, "", channel.columns)},
        facts=facts,
    )
    [row] = score(case, stuck)
    assert (row["success"], row["cause"], row["touches"]) == (False, "too late", 1)


def outcome(case: Case, recording: Recording | None = None, **row: Any) -> Outcome[Case]:
    status = RunStatus.COMPLETED if row else RunStatus.CRASHED
    rows = ({**dict.fromkeys(("base_error_mm", "touches", "stop")), **row},) if row else ()
    return Outcome(case, status, "", rows, recording, {})


def test_the_conclusion_counts_successes_and_names_causes(
    mission: tuple[Case, Recording],
) -> None:
    case, recording = mission
    other = replace(case, placement=Placement.RANDOM, replan=False)
    found = report(
        [
            outcome(case, recording, **score(case, recording)[0]),
            outcome(case, success=False, cause="out of reach"),
            outcome(other, success=False, cause="missed"),
            outcome(other),
        ]
    )
    words = found.conclusion
    assert (
        "placed robustly and planned again at the stop, it lifts and holds 1 of 2 in mujoco"
        " (9% to 91%). Not planned again: at random 0 of 2 in mujoco."
    ) in words
    assert "out of reach 1, missed 1, crashed 1" in words
    assert "1 of 4 runs did not complete (1 crashed)." in words
    assert [section.title for section in found.sections][:2] == ["Success", "From above"]
    failures = found.sections[0].figures[1]
    assert isinstance(failures, Bars) and failures.value.label == "objects"
    shown = replay(replace(case, engine="not installed"), recording)
    assert len(shown.guides) == 1
    assert {"drive", "approach", "close", "hold"} <= {each.name for each in shown.markers}


def test_fingers_are_closed_one_by_one_and_the_grasp_is_above_the_object() -> None:
    picker = open_picker("scout-panda", RoleOptions())
    assert not any(joint.mimic for joint in picker.model.joints)
    held = cases(Config(engine=("mujoco",), scenes=1))[0].layout.objects[0]
    X_WO = np.eye(4)
    for quarter in picker.widths(held):
        X_WG = picker.grasp(held, X_WO, quarter)
        assert X_WG[:3, 2] == pytest.approx((0, 0, -1))
        assert 0 < X_WG[2, 3] < held.size[2] / 2
        assert abs(X_WG[:2, 1] @ (0, 1)) == pytest.approx((quarter + 1) % 2, abs=1e-9)


def test_reach_and_outline_are_those_of_the_robot() -> None:
    pickers = [open_picker(name, RoleOptions()) for name in ("scout-panda", "husky4-panda")]
    # The corners of their wheels are 0.54 and 0.56 m from the middle.
    assert [picker.outline for picker in pickers] == [0.5, 0.6]
    assert arm_reach(planning_robot(load_robot("panda"))) == 1.0
    assert arm_reach(planning_robot(load_robot("kr250"))) > 2.7  # its data sheet, to the wrist


def test_a_fixed_base_stands_farther_away_for_a_longer_arm(
    mission: tuple[Case, Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = mission[0]
    picker = open_picker(case.robot, case.reading, case.sha256)
    x, y = case.layout.object_pose(0)[:2, 3]
    for reach in (1.0, 1.2):
        monkeypatch.setattr("kinetarium.studies.pick.planning.arm_reach", lambda _, r=reach: r)
        planner = Planner(picker, case.layout, (0.03, radians(3.0)))
        [base] = planner._bases(0, Placement.FIXED, np.random.default_rng(0))
        shoulder = (planner.root(base) @ [*picker.shoulder, 0.0, 1.0])[:2]
        assert np.hypot(*(shoulder - (x, y))) == pytest.approx(0.55 * reach)


@pytest.mark.parametrize("height", [0.02, 0.03, 0.1])
def test_fingers_keep_clear_of_the_table_below_low_objects(height: float) -> None:
    picker = open_picker("scout-panda", RoleOptions())
    held = TableObject(size=(0.05, 0.04, height))
    X_WG = picker.grasp(held, np.eye(4), 0)
    tips = height / 2 + X_WG[2, 3] - picker.reach_of_tips
    assert ARM_MARGIN < tips < height - 0.005


def test_an_object_that_fell_is_not_called_out_of_reach() -> None:
    [case] = cases(Config(engine=("mujoco",), scenes=1))
    picker = open_picker(case.robot, case.reading, case.sha256)
    planner = Planner(picker, case.layout, (0.03, radians(3.0)))
    stood = case.layout.object_pose(0)
    lies = stood @ pose_of((0.0, 0.0, -0.03), rotation_about((1.0, 0.0, 0.0), pi / 2))
    for place, words in (
        (lies, "fallen over"),
        (pose_of((0.0, 0.0, -0.7)) @ stood, "off its table"),
    ):
        with pytest.raises(PlanningError, match=words) as raised:
            planner.reach(0, base=np.eye(4), places=[place])
        assert Cause(raised.value.what) is Cause.FALLEN


def test_a_neighbour_of_the_same_height_that_leans_is_not_in_the_way(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(f"{NEAR}[[objects]]\nx = 0.1462\ny = -0.1784\nyaw = 25\n")
    [case] = cases(Config(engine=("mujoco",), scene=(str(file),)))
    picker = open_picker(case.robot, case.reading, case.sha256)
    planner = Planner(picker, case.layout, (0.03, radians(3.0)))
    base, _ = planner.stop(
        0,
        placement=Placement.ROBUST,
        rng=np.random.default_rng(0),
        start=PlanarPose(0.0, -1.3, radians(60.0)),
        centre=PlanarPose(0.06, 0.0, 0.0),
    )
    places = [case.layout.object_pose(i) for i in range(2)]
    places[1] = pose_of((0.0, 0.0, 0.0015)) @ places[1]
    assert planner.reach(0, base=planner.root(base), places=places).limit_margin > 0


@pytest.mark.parametrize("placement", ["robust", "map", "fixed"])
def test_what_is_out_of_reach_from_a_stop_by_the_map_is_tried_from_another(
    mission: tuple[Case, Recording], monkeypatch: pytest.MonkeyPatch, placement: str
) -> None:
    case = replace(mission[0], placement=Placement(placement))
    plan = Mission._plan
    asked: list[Attempt] = []

    def refuse_once(self: Mission, attempt: Attempt, *args: Any) -> ArmPlan | None:
        asked.append(attempt)
        if len(asked) > 1:
            return plan(self, attempt, *args)
        attempt.failed, attempt.reason = OUT_OF_REACH, "at the end of its reach"
        return None

    monkeypatch.setattr(Mission, "_plan", refuse_once)
    [row] = score(case, run(case))
    if placement == "fixed":
        assert (row["success"], row["stop"], row["tries"]) == (False, 1, 1)
        return
    assert (row["success"], row["stop"], row["tries"], row["reason"]) == (True, 2, 2, "")
    [counts] = report([outcome(case, **row)]).summary.values()
    assert (counts["successes"], counts["first_stop"]) == (1, 0)
    assert "1 of 1, 0 from the first stop, in mujoco" in report([outcome(case, **row)]).conclusion


def test_a_turn_that_shifts_the_robot_touches_nothing() -> None:
    [case] = cases(Config(engine=("mujoco",), scenes=1, seed=1))
    picker = open_picker(case.robot, case.reading, case.sha256)
    planner = Planner(picker, case.layout, (0.03, radians(3.0)), 0.12)
    start = PlanarPose(case.layout.start.x, case.layout.start.y, radians(case.layout.start.yaw))
    goal, way = planner.stop(
        0,
        placement=Placement.ROBUST,
        rng=np.random.default_rng(0),
        start=start,
        centre=PlanarPose(0.1, 0.0, 0.0),
    )
    assert way.straight and way.poses[-1] == pytest.approx(goal)
    # All turns are before the last leg; the shift and what localisation takes.
    shifts = 0.12 + 0.03
    ring = [(shifts * cos(a), shifts * sin(a), 0.0) for a in np.arange(0, 2 * pi, pi / 4)]
    for pose in way.poses[:-1]:
        assert planner.free(np.array(pose) + np.array(ring)).all()


def test_a_correction_turns_away_from_the_table() -> None:
    case = cases(Config(engine=("mujoco",), scenes=11, seed=1))[10]
    picker = open_picker(case.robot, case.reading, case.sha256)
    planner = Planner(picker, case.layout, (0.03, radians(3.0)), 0.12)
    goal = PlanarPose(0.549, -0.013, 0.0)
    ring = [(0.12 * cos(a), 0.12 * sin(a), 0.0) for a in np.arange(0, 2 * pi, pi / 4)]
    assert not planner.free(np.array(goal) + np.array(ring)).all()
    now = PlanarPose(0.552, -0.027, 0.0)
    way = planner.way(now, goal, centre=PlanarPose(0.11, 0.0, 0.0), leave=True)
    assert way.poses[0] == pytest.approx(now) and way.poses[-1] == pytest.approx(goal)
    turns = [a for a, b in pairwise(way.poses) if abs(a.heading - b.heading) > 1e-3]
    assert turns
    for pose in turns:
        assert planner.free(np.array(pose) + np.array(ring)).all()


def test_the_arm_is_folded_where_its_hand_would_meet_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(
        NEAR.replace("[[tables]]", "[[tables]]\nsize = [1.2, 0.6, 0.9]\n[[tables]]\nx = 3.0")
        .replace("y = -0.2", "y = -0.1")
        .replace("y = -1.3", "y = -1.6")
        + "[[objects]]\ntable = 2\nx = 0.1\ny = -0.15\n"
    )
    [case] = cases(Config(engine=("mujoco",), scene=(str(file),)))
    recording = run(case)
    rows = score(case, recording)
    for row in rows:
        assert (row["success"], row["touches"]) == (True, 0) and row["slip_mm"] < 1
    phases = [recording.facts["phases"][slice(*s["phases"])] for s in recording.facts["stops"]]
    driven = [sum(b - a for name, a, b in s if name in ("drive", "correct")) for s in phases]
    assert sorted(row["drive_s"] for row in rows) == pytest.approx(sorted(driven))
    names = [name for name, *_ in recording.facts["phases"]]
    at = names.index("fold")
    assert names[at - 1 : at + 2] == ["return", "fold", "drive"] and names.count("fold") == 1
    unfolded, folded = (stop["turning"]["x"] for stop in recording.facts["stops"])
    assert unfolded == recording.facts["turning"]["x"] != folded
    monkeypatch.setattr("kinetarium.studies.pick.mission.narrow", lambda picker: None)
    high, low = score(case, run(case))
    assert (high["success"], high["cause"], low["success"]) == (False, "no path", True)


def test_the_ratio_of_yaw_rates_is_recorded_beyond_what_is_steered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinetarium.studies.pick.run._WIDEST", 1.2)
    picker = open_picker("scout-panda", RoleOptions())
    found = calibrated.__wrapped__(picker, "mujoco", 0.8, 0.8, 2e-3)
    assert found.multiplier == 1.2 and 1.5 < found.ratio < 2.0


def test_wheels_that_do_not_turn_the_robot_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(Wait):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__("drive", 0.1)

    monkeypatch.setattr("kinetarium.studies.pick.run.LegDriver", Stuck)
    picker = open_picker("scout-panda", RoleOptions())
    with pytest.raises(KinetariumError, match=r"turns by 0.0 of 90 deg in mujoco"):
        calibrated(picker, "mujoco", 0.8, 0.8, 2e-3)


@pytest.mark.parametrize("height", [1.1, 1.3])
def test_nothing_is_driven_to_a_table_that_is_too_high(tmp_path: Path, height: float) -> None:
    high = tmp_path / "high.toml"
    high.write_text(NEAR.replace("[[tables]]", f"[[tables]]\nsize = [1.2, 0.5, {height}]"))
    [case] = cases(Config(engine=("mujoco",), scene=(str(high),)))
    recording = run(case)
    [row] = score(case, recording)
    assert (row["success"], row["cause"], row["table"]) == (False, "no base", 1)
    assert "reach" in row["reason"]
    assert recording["time"][-1] == 0.0


def test_what_cannot_be_picked_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--engine", "mujoco", "--scenes", "1"]
    assert main(["pick", "--robot", "panda", *short]) == 2
    assert "wheels" in capsys.readouterr().err
    assert main(["pick", "--robot", "husky4", *short]) == 2
    assert "gripper" in capsys.readouterr().err
    wide = tmp_path / "wide.toml"
    wide.write_text(NEAR.replace("yaw = 25", "size = [0.2, 0.2, 0.1]"))
    assert main(["pick", "--scene", str(wide), *short]) == 2
    message = capsys.readouterr().err
    assert "200 mm wide" in message and message.count("\n") == 1
    low = tmp_path / "low.toml"
    low.write_text(NEAR.replace("yaw = 25", "size = [0.05, 0.05, 0.012]"))
    assert main(["pick", "--scene", str(low), *short]) == 2
    message = capsys.readouterr().err
    assert "12 mm is too low" in message and message.count("\n") == 1
    with pytest.raises(KinetariumError, match="needs at least one value"):
        cases(Config(engine=("mujoco",), placement=()))


def steered(folder: Path) -> Path:
    """Write a tricycle with an arm, whose front wheel is steered."""
    inertial = (
        '<inertial><mass value="5"/>'
        '<inertia ixx="0.2" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    wheel = (
        '<link name="{0}">' + inertial + '<collision><origin rpy="1.5708 0 0"/><geometry>'
        '<cylinder radius="0.1" length="0.04"/></geometry></collision></link>'
        '<joint name="{0}_joint" type="continuous"><parent link="{1}"/><child link="{0}"/>'
        '<origin xyz="{2}"/><axis xyz="0 1 0"/><limit effort="20" velocity="10"/></joint>'
    )
    (folder / "panda.urdf").write_text((files("kinetarium") / "robots/panda.urdf").read_text())
    file = folder / "tricycle.urdf.xacro"
    file.write_text(
        '<robot name="tricycle" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<link name="body">{inertial}<collision><origin xyz="0 0 0.2"/><geometry>'
        '<box size="0.7 0.5 0.1"/></geometry></collision></link>'
        + wheel.format("left", "body", "-0.3 0.28 0.1")
        + wheel.format("right", "body", "-0.3 -0.28 0.1")
        + f'<link name="fork">{inertial}</link><joint name="fork_joint" type="revolute">'
        '<parent link="body"/><child link="fork"/><origin xyz="0.3 0 0.1"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="50" velocity="2"/></joint>'
        + wheel.format("front", "fork", "0 0 0")
        + '<xacro:include filename="panda.urdf"/><joint name="mount" type="fixed">'
        '<parent link="body"/><child link="panda_link0"/><origin xyz="0 0 0.25"/></joint></robot>'
    )
    return file


def test_a_base_that_is_steered_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pick", "--robot", str(steered(tmp_path)), "--engine", "mujoco"]) == 2
    message = capsys.readouterr().err
    assert "use a base that turns in place" in message and message.count("\n") == 1


def test_every_factor_makes_cases() -> None:
    config = Config(engine=("mujoco",), scenes=2, placement=tuple(Placement), replan=Replan.BOTH)
    found = cases(config)
    assert len(found) == len(set(found)) == 2 * 4 * 2
    assert {radians(case.localisation[1]) for case in found} == {radians(3)}


def test_scene_files_of_one_name_are_named_by_their_paths(tmp_path: Path) -> None:
    files = [tmp_path / "left" / "near.toml", tmp_path / "right" / "near.toml"]
    for file, yaw in zip(files, ("25", "40"), strict=True):
        file.parent.mkdir()
        file.write_text(NEAR.replace("yaw = 25", f"yaw = {yaw}"))
    other = tmp_path / "other.toml"
    other.write_text(NEAR)
    names = tuple(map(str, (*files, other)))
    found = cases(Config(engine=("mujoco",), scene=(*names, names[0])))
    assert [case.scene for case in found] == [*names[:2], "other"]
