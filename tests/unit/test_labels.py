from kinetarium.batch.labels import case_labels
from kinetarium.legs import LegKind, Machine
from kinetarium.studies.drop.config import Case
from kinetarium.studies.walk.cases import cases as walk_cases
from kinetarium.studies.walk.config import Config as WalkConfig


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
