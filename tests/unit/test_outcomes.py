"""Outcomes of a study: named, grouped, summed up."""

from dataclasses import dataclass
from math import isnan

import pytest

from kinetarium.batch.outcomes import Outcomes, case_labels, case_table, flag_table, robot_name
from kinetarium.batch.study import Outcome
from kinetarium.figure.text import Prose, Table
from kinetarium.legs import LegKind, Machine
from kinetarium.recording.recording import RunStatus
from kinetarium.studies.drop.config import Case
from kinetarium.studies.walk.config import Config as WalkConfig
from kinetarium.studies.walk.config import cases as walk_cases


def case(engine: str, mass: float) -> Case:
    return Case(engine=engine, mass=mass, height=0.5, size=0.1, timestep=1e-3, duration=1.0, seed=0)


def test_only_what_differs_is_named() -> None:
    assert case_labels([case("mujoco", 1.0), case("bullet", 1.0)]) == ["mujoco", "bullet"]
    assert case_labels([case("mujoco", 1.0), case("mujoco", 2.5)]) == [
        "mujoco, mass 1",
        "mujoco, mass 2.5",
    ]


def test_nothing_to_name() -> None:
    assert case_labels([]) == []
    assert case_labels([case("ode", 1.0)]) == ["ode"]


def test_a_robot_is_not_written_out_where_its_type_tells_cases_apart() -> None:
    asked = WalkConfig(path=("straight", "side"))
    assert case_labels(walk_cases(asked))[:4] == [
        "type ttt1, straight",
        "type ttt2, straight",
        "type ttr, straight",
        "type ttt1, side",
    ]


def test_what_is_inside_a_field_is_named_where_nothing_else_differs() -> None:
    machines = [Machine(), Machine(gain=5.0), Machine(gain=5.0, com=(0.0, -1.5))]
    cases = [{"engine": "none", "path": "curve", "machine": machine} for machine in machines]
    assert case_labels(cases) == [
        "machine gain 6, machine com (0, 0)",
        "machine gain 5, machine com (0, 0)",
        "machine gain 5, machine com (0, -1.5)",
    ]
    kinds = [{"engine": "none", "path": "curve", "machine": Machine(kind=k)} for k in LegKind]
    assert case_labels(kinds) == ["machine kind ttt1", "machine kind ttt2", "machine kind ttr"]


def test_what_has_a_name_is_called_by_it() -> None:
    cases = [{"tool": {"name": name, "mass": mass}} for name, mass in (("hand", 1), ("hook", 2))]
    assert case_labels(cases) == ["tool hand", "tool hook"]


def test_long_lists_are_numbered() -> None:
    paths = [[[0, 0], [x, 0]] for x in (1, 2, 1)]
    cases = [{"engine": "ode", "waypoints": path, "seed": 3} for path in paths]
    assert case_labels(cases) == [
        "ode, waypoints no. 1", "ode, waypoints no. 2", "ode, waypoints no. 1",
    ]  # fmt: skip


def test_without_an_engine_robot_and_path_name_a_lone_case() -> None:
    (lone,) = walk_cases(WalkConfig(type=(LegKind.TTR,), path=("spin",)))
    assert case_labels([lone]) == ["spin"]
    assert case_labels([{"engine": e, "path": "spin"} for e in ("none", "mujoco")]) == [
        "no engine", "mujoco",
    ]  # fmt: skip
    assert case_labels([{"number": 1}]) == [""]


def test_cases_of_different_fields_have_labels() -> None:
    assert case_labels([{"engine": "ode", "mass": 1.0}, {"engine": "ode"}]) == [
        "ode, mass 1",
        "ode",
    ]


def test_no_text_and_many_digits_are_told_apart() -> None:
    assert case_labels([{"tool": ""}, {"tool": "flange"}]) == ["tool none", "tool flange"]
    assert case_labels([{"x": 0.12345671}, {"x": 0.12345672}]) == ["x 0.12345671", "x 0.12345672"]


@dataclass(frozen=True)
class Started:
    engine: str
    start: int


def outcome(engine: str, start: int, **row: float | None) -> Outcome[Started]:
    rows = (row,) if row else ()
    status = RunStatus.COMPLETED if row else RunStatus.CRASHED
    return Outcome(Started(engine, start), status, "" if row else "crashed", rows, None, {})


OUTCOMES = Outcomes(
    [
        outcome("mujoco", 0, error=1.0, flags=["late"]),
        outcome("mujoco", 1, error=4.0, flags=[]),
        outcome("ode", 0, error=None, flags=[]),
        outcome("ode", 1),
    ]
)


def test_outcomes_are_selected_and_grouped_by_their_cases() -> None:
    assert OUTCOMES.distinct("engine") == ("mujoco", "ode")
    assert len(OUTCOMES.of(engine="ode", start=1)) == 1
    assert {key: len(group) for key, group in OUTCOMES.by("engine").items()} == {
        ("mujoco",): 2,
        ("ode",): 2,
    }
    assert list(OUTCOMES.by_case()) == [Started("mujoco", 0), Started("ode", 0)]


def test_measures_are_summed_up_over_the_rows_that_have_them() -> None:
    mujoco, ode = OUTCOMES.of(engine="mujoco"), OUTCOMES.of(engine="ode")
    assert mujoco.spread("error") == (2.5, 1.0, 4.0) and mujoco.median("error") == 2.5
    assert ode.spread("error") is None and ode.spreads(["error"]) == {}
    assert mujoco.spreads(["error", "other"]) == {"error": {"median": 2.5, "min": 1.0, "max": 4.0}}
    assert ode.recording is None and isnan(ode.cost)


def test_tables_of_cases() -> None:
    named = [(f"{o.case.engine} {o.case.start}", o) for o in OUTCOMES]
    table = case_table(named, [("error", "error", "mm", 1e3)])
    assert table.rows[0] == ("mujoco 0", "completed", 1000.0)
    assert table.rows[2:] == (("ode 0", "completed", None), ("ode 1", "crashed", None))
    flags = flag_table(named)
    assert isinstance(flags, Table)
    assert flags.rows == (("mujoco 0", "late"), ("ode 1", "crashed"))
    assert isinstance(flag_table(named[1:3]), Prose)


@pytest.mark.parametrize(
    ("robot", "model", "name"),
    [
        ("panda", "panda", "panda"),
        ("a/go2/urdf/go2.urdf", "quadruped", "go2.urdf"),
        ("a/go2/scene.xml", "quadruped", "quadruped (scene.xml)"),
        ("a/go2/urdf/robot.urdf.xacro", "robot", "go2/robot.urdf.xacro"),
        ("../robot.urdf", "", "robot.urdf"),
    ],
)
def test_robots_are_told_apart_in_words(robot: str, model: str, name: str) -> None:
    assert robot_name(robot, model=model) == name
