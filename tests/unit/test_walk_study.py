"""The walking study: cases, waypoints from files, rows, report and replay."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kinetarium.batch.check_study import check_study
from kinetarium.batch.study import Outcome
from kinetarium.errors import KinetariumError
from kinetarium.legs import GaitTiming, Heading, LegKind, Machine, save_machine
from kinetarium.legs.mechanism.machine import link_mesh
from kinetarium.recording.recording import Run, RunStatus
from kinetarium.recording.run_folder import read_run, write_run
from kinetarium.storage.serialization import to_builtins
from kinetarium.studies.walk import Walk
from kinetarium.studies.walk.config import Config, Drives, Ground
from kinetarium.studies.walk.score import distance_along

STUDY = Walk()
ROWS = {
    "min_margin_units", "mean_margin_units", "max_slip_units", "joint_travel", "drive_work",
    "walking_volume_units3", "order", "table1_row", "limit_violations", "foot_gap_min_units",
    "tilt_max_deg", "end_error_m",
}  # fmt: skip


def rows_of(**values):
    return [
        {**STUDY.score(case, STUDY.run(case))[0], "case": case}
        for case in STUDY.cases(Config(**values))
    ]


def test_it_is_a_study():
    results = check_study(Walk(), Config(path=("side",), stride=(32.0,)))
    assert [result for result in results if not result.passed] == []


def test_rows_are_those_of_the_contract():
    row = rows_of(type=(LegKind.TTT2,))[0]
    assert row.keys() >= ROWS
    assert row["min_margin_units"] == pytest.approx(3.2788, abs=1e-4)
    assert (row["order"], row["table1_row"], row["limit_violations"]) == ([1, 2, 3, 4], 1, 0)
    assert row["max_slip_units"] < 1e-9 and row["tilt_max_deg"] is None


def test_a_walk_is_planned_once(monkeypatch, tmp_path):
    case = STUDY.cases(Config(path=("side",)))[0]
    run = Run("key", "walk", to_builtins(case), RunStatus.COMPLETED, "", (), STUDY.run(case))
    monkeypatch.setattr("kinetarium.studies.walk.run.plan_walk", lambda plan: 1 / 0)
    rows = STUDY.score(case, run.recording)
    write_run(tmp_path / "run", replace(run, rows=tuple(rows)), timing={})
    kept = read_run(tmp_path / "run").recording
    assert STUDY.score(case, kept) == rows
    assert STUDY.report([Outcome(case, RunStatus.COMPLETED, "", tuple(rows), kept, {})]).sections
    path = STUDY.replay(case, kept).guides[0].points
    np.testing.assert_allclose(path[-1, :2], kept["body"][-1, :2], atol=1e-9)


def test_a_recording_without_its_plan_is_shown_without_its_path():
    case = STUDY.cases(Config(path=("side",)))[0]
    recording = replace(STUDY.run(case), facts={})  # as of release 0.1
    assert STUDY.replay(case, recording).guides == ()


def test_lateral_travel_of_the_types():
    slide, hinge = (
        row["joint_travel"]["lateral"]
        for row in rows_of(type=(LegKind.TTT1, LegKind.TTT2), path=("side",))
    )
    assert slide / hinge == pytest.approx(6.0, abs=1e-9)


def test_choices_multiply():
    chosen = STUDY.cases(
        Config(path=("straight", "spin"), timing=tuple(GaitTiming), order=("auto", "5", "5"))
    )
    assert len(chosen) == 2 * 2 * 2 * 3


def test_a_walk_without_an_engine_has_neither_pushes_nor_motors():
    planned, *pushed = STUDY.cases(
        Config(
            type=(LegKind.TTT2,),
            engine=("none", "mujoco"),
            push=(1.0, 3.0),
            drives=Drives.MOTOR,
        )
    )
    assert (planned.engine, planned.push, planned.drives) == ("none", 0.0, Drives.IDEAL)
    assert [(case.engine, case.push) for case in pushed] == [("mujoco", 1.0), ("mujoco", 3.0)]
    assert {case.drives for case in pushed} == {Drives.MOTOR}
    row = STUDY.score(planned, STUDY.run(planned))[0]
    assert row["verdict"] == "planned" and "drive_load" not in row


def test_recordings_are_in_metres():
    (case,) = STUDY.cases(Config(type=(LegKind.TTR,), unit_m=0.05, foot_offset=12.0))
    recording = STUDY.run(case)
    assert recording["body"][-1, 0] == pytest.approx(128 * 0.05)
    assert recording["links"].shape[1:] == (36, 7)
    assert recording.channels["joints"].columns[1] == "leg1/omega"
    assert recording["joints"][0, 1] == pytest.approx(-np.pi / 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("way.csv", "x,y\n0,0\n30, 4\n60,0\n"),
        ("way.csv", "0,0\n30,4\n60,0"),
        ("way.json", "[[0, 0], [30, 4], [60, 0]]"),
        ("way.json", '{"waypoints": [[0, 0], [30, 4], [60, 0]]}'),
    ],
)
def test_way_points_from_files(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (case,) = STUDY.cases(
        Config(type=(LegKind.TTT2,), path=(str(tmp_path / name),), heading=Heading.CRAB)
    )
    assert case.waypoints == ((0, 0), (30, 4), (60, 0)) and case.heading is Heading.CRAB


@pytest.mark.parametrize(
    "text", ["", "x,y", "1,2,3\n4,5,6", "[[1]]", "[1, 2]", "{}", "[[0,0],[null,1]]", "[" * 9999,
             "nan,0\n1,1", "0,0\n0,0", "{\"waypoints\": 3}", "\xff\xfe"],
)  # fmt: skip
def test_broken_way_points_are_refused(tmp_path, text):
    path = tmp_path / "way"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(KinetariumError):
        for case in STUDY.cases(Config(path=(str(path),))):
            STUDY.run(case)


@pytest.mark.parametrize(
    "values",
    [{"path": ("nowhere",)}, {"order": ("9",)}, {"order": ("",)}, {"stride": (0.0,)},
     {"stride": (float("nan"),)}, {"sway": (-1.0,)}, {"type": ()}, {"unit_m": 0.0},
     {"mass": -1.0}, {"frames": 1}, {"engine": ("nothing",)},
     {"machine": "nowhere.json"}, {"step_time": 0.0}, {"lift": -1.0},
     {"ground": (Ground.SLOPE,), "slope_deg": 80.0}, {"stride": (1e-3,)}, {"frames": 10_000},
     {"engine": ("mujoco",), "step_time": 1000.0}, {"stable": True, "sway": (1.0,)},
     {"stable": True, "step_time": 1.0}, {"margin": -1.0}, {"push": (1.0,)},
     {"push": (-1.0,)}, {"drives": Drives.MOTOR}, {"terrain": ("nowhere.png",)},
     {"terrain": ("slope",), "ground": (Ground.STEPS,)},
     {"path": ("random:x",)}, {"gait": "nowhere.toml"}, {"gait": "trot", "stable": True},
     {"legs": "nowhere.toml"}, {"legs": "klann", "stable": True},
     {"legs": "klann", "path": ("side",)},
     {"gait": "trot", "step_time": 1.0}, {"gait": "trot", "engine": ("mujoco",)}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(values):
    with pytest.raises(KinetariumError):
        STUDY.cases(Config(**values))


@pytest.mark.parametrize(
    ("flag", "value", "known"),
    [("gait", "gallop", "crawl, trot"), ("legs", "gallop", "klann"),
     ("terrain", ("gallop",), "level, slope, steps")],
)  # fmt: skip
def test_unknown_gaits_legs_and_grounds_are_refused_with_the_known_ones(flag, value, known):
    with pytest.raises(KinetariumError, match=f"--{flag} must be .*{known}.* not 'gallop'"):
        STUDY.cases(Config(**{flag: value}))


@pytest.mark.parametrize(
    ("values", "flags"),
    [({"stride": (20.0, 30.0), "order": ("1", "5")}, "--stride, --order"),
     ({"timing": (GaitTiming.PAPER,)}, "--timing"), ({"heading": Heading.CRAB}, "--heading"),
     ({"gait": "trot", "type": (LegKind.TTT2,)}, "--gait"),
     ({"sway": (2.0,), "push": (1.0,)}, "--sway, --push"),
     ({"foot_offset": 6.0}, "--foot-offset")],
)  # fmt: skip
def test_linkages_refuse_what_they_would_ignore(values, flags):
    with pytest.raises(KinetariumError, match=f"leave out {flags}$"):
        STUDY.cases(Config(legs="jansen", engine=("mujoco",), **values))


def test_an_engine_that_cannot_close_loops_is_refused(monkeypatch):
    class Open:
        class info:  # noqa: N801
            capabilities = frozenset()

    monkeypatch.setattr("kinetarium.engines.registry.open_engine", lambda name: Open)
    with pytest.raises(KinetariumError, match="no closed-loops, which a pantograph needs"):
        STUDY.cases(Config(engine=("open",)))


def test_random_paths_are_those_of_their_numbers():
    one, other, again = (
        STUDY.cases(Config(type=(LegKind.TTT2,), path=(f"random:{n}",)))[0].waypoints
        for n in (1, 2, 1)
    )
    assert one == again != other and len(one) == 4


def test_the_way_along_a_path_is_followed():
    turn = np.linspace(0.0, 2 * np.pi, 257)
    circle = np.column_stack([np.sin(turn), 1 - np.cos(turn)])
    eight = np.column_stack([np.sin(turn), np.sin(turn) * np.cos(turn)])  # crosses itself
    for path in (circle, eight):
        lengths = np.hypot(*np.diff(path, axis=0).T)
        assert distance_along(path, path) == pytest.approx(lengths.sum())
        assert distance_along(path[:200], path) == pytest.approx(lengths[:199].sum())
        assert distance_along(np.repeat(path[:1], 9, axis=0), path) == 0.0
    inside = [0.0, 1.0] + 0.95 * (circle - [0.0, 1.0])
    assert distance_along(inside, circle) == pytest.approx(2 * np.pi, rel=1e-3)
    line, share = np.array([[0.0, 0.0], [3.0, 4.0]]), np.linspace(0.0, 1.1, 50)[:, np.newaxis]
    assert distance_along(share * line[1], line) == pytest.approx(5.5)  # beyond its end
    assert distance_along(-share * line[1], line) == pytest.approx(-5.5)
    assert distance_along(share * line[1], np.zeros((5, 2))) == 0.0  # of a spin


def test_a_stable_walk_is_reported_with_its_sway_and_time():
    (row,) = rows_of(type=(LegKind.TTT2,), path=("side",), stable=True, margin=3.0)
    assert row["min_dynamic_margin_units"] == pytest.approx(3.0, abs=0.1)
    assert row["sway_units"] > 3.0 and 0.2 < row["step_time_s"] < 20.0


def test_linkages_and_gaits_are_reported_and_shown():
    outcomes = []
    for values in ({"legs": "jansen"}, {"gait": "trot", "type": (LegKind.TTT2,)}):
        (case,) = STUDY.cases(Config(**values))
        recording = STUDY.run(case)
        rows = tuple(STUDY.score(case, recording))
        outcomes.append(Outcome(case, RunStatus.COMPLETED, "", rows, recording, {}))
        assert STUDY.replay(case, recording).solids
    findings = STUDY.report(outcomes)
    titles = [getattr(figure, "title", "") for s in findings.sections for figure in s.figures]
    assert "Foot curve: jansen" in titles and "2 planned" in findings.conclusion


def test_a_saved_machine_walks(tmp_path):
    save_machine(Machine(l1=7.0, body_length=50.0), tmp_path / "m.json")
    (case,) = STUDY.cases(Config(type=(LegKind.TTT1,), machine=str(tmp_path / "m.json")))
    assert (case.machine.kind, case.machine.l1) == (LegKind.TTT1, 7.0)


def test_the_report_shows_the_paper_and_the_warnings():
    outcomes = []
    for case in STUDY.cases(Config(type=(LegKind.TTT2,), order=("auto", "5"))):
        recording = STUDY.run(case)
        rows = tuple(STUDY.score(case, recording))
        outcomes.append(Outcome(case, RunStatus.COMPLETED, "", rows, recording, {}))
    findings = STUDY.report(outcomes)
    titles = [getattr(figure, "title", "") for s in findings.sections for figure in s.figures]
    for number in range(1, 6):
        assert any(title.startswith(f"Table {number}") for title in titles)
    assert {"Fig. 12 as printed", "Walking volume", "Planned static margin"} <= set(titles)
    assert "tips over" in json.dumps([row["warnings"] for o in outcomes for row in o.rows])


def test_a_walk_can_be_watched():
    (case,) = STUDY.cases(Config(type=(LegKind.TTT2,), ground=(Ground.STEPS,), stride=(32.0,)))
    recording = STUDY.run(case)
    replay = STUDY.replay(case, recording)
    assert len(replay.solids) == 1 + 36 + 2 and replay.trails == ("body",)
    np.testing.assert_allclose(replay.solids[9].poses[:, :3], recording["feet"][:, 0], atol=1e-12)


def test_prisms_face_outwards():
    for shape in (*Machine().link_shapes[0], Machine().body_shape):
        mesh = link_mesh(shape, unit_m=0.01)
        a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
        volume = np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6
        x, y = np.array(shape.section).T
        area = abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)
        assert volume == pytest.approx(area * abs(shape.top - shape.bottom) * 1e-6)
