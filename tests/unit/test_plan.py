from pathlib import Path

import pytest

from kinetarium.batch.axes import PlanError
from kinetarium.batch.plan import Plan
from kinetarium.batch.study import list_studies, open_study
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.studies.drop.config import Config

MANY = list(range(1, 200))


def write(folder: Path, text: str) -> Path:
    path = folder / "batch.toml"
    path.write_text(text)
    return path


def test_a_config_is_a_plan_of_its_own() -> None:
    plan = Plan.of(open_study("drop"), Config(engine=("mujoco",), height=0.25))
    (task,) = plan.tasks()
    assert plan.single == Config(engine=("mujoco",), height=0.25)
    assert task.case["engine"] == "mujoco" and task.case["height"] == 0.25
    assert task.study_class == "kinetarium.studies.drop:Drop"


def test_lists_of_values_are_combined(tmp_path: Path) -> None:
    plan = Plan.read(
        write(
            tmp_path,
            'study = "drop"\n[config]\nengine = "mujoco"\n'
            "[grid]\nheight = [0.25, 0.5]\ntimestep = [0.001, 0.002, 0.004]\n",
        )
    )
    cases = [(task.case["height"], task.case["timestep"]) for task in plan.tasks()]
    assert cases == [(h, dt) for h in (0.25, 0.5) for dt in (0.001, 0.002, 0.004)]


def test_single_cases_are_kept_in_order_and_doubles_run_once(tmp_path: Path) -> None:
    plan = Plan.read(
        write(
            tmp_path,
            'study = "drop"\n[config]\nengine = ["mujoco"]\n'
            "[[case]]\nheight = 0.5\n[[case]]\nheight = 0.1\n[[case]]\nheight = 0.5\n",
        )
    )
    assert [task.case["height"] for task in plan.tasks()] == [0.5, 0.1]
    assert len(plan.configs()) == 3


def test_a_batch_is_no_single_config(tmp_path: Path) -> None:
    plan = Plan.read(write(tmp_path, 'study = "drop"\n[grid]\nheight = [0.25, 0.5]\n'))
    with pytest.raises(PlanError, match="a batch of 2 configs"):
        _ = plan.single


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no study"),
        ("study = 3", "has no study"),
        ('study = "drip"', "unknown study 'drip'; did you mean 'drop'"),
        ('study = "drop"\ngird = 1', "unknown entry"),
        ('study = "drop"\n[config]\nhight = 1.0', "unknown field 'hight'; did you mean 'height'"),
        ('study = "drop"\n[config]\nheight = "high"', "height"),
        ('study = "drop"\n[grid]\nheight = 0.5', "'grid.height' must be a list"),
        ('study = "drop"\n[grid]\nheight = []', "'grid.height' must be a list"),
        ('study = "drop"\nconfig = 5', "'config' must be a table"),
        ('study = "drop"\ncase = 5', "'case' must be a list of tables"),
        (f'study = "drop"\n[grid]\nheight = {MANY}\nmass = {MANY}\nsize = {MANY}', "more than"),
        ("study = ", "Invalid value"),
    ],
)  # fmt: skip
def test_a_bad_plan_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(KinetariumError, match=message) as caught:
        Plan.read(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_study_of_another_name_is_unknown() -> None:
    assert "drop" in {study.name for study in list_studies()}
    with pytest.raises(UnknownNameError, match=r"known: .*drop"):
        open_study("nothing")


def test_more_cases_than_a_folder_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = {"engine": ["mujoco", "bullet"]}
    content = {"study": "drop", "config": engines, "grid": {"mass": [1, 2]}}
    plan = Plan(open_study("drop"), content)
    monkeypatch.setattr("kinetarium.batch.plan.MOST_POINTS", 4)
    assert len(plan.tasks()) == 4
    monkeypatch.setattr("kinetarium.batch.plan.MOST_POINTS", 3)
    with pytest.raises(PlanError, match="more than 3 cases"):
        plan.tasks()


def test_lists_that_multiply_are_refused_before_they_are_multiplied() -> None:
    drive = open_study("drive")
    many = tuple(1e-3 + 1e-6 * number for number in range(500))
    rough = tuple(0.1 + 1e-3 * number for number in range(500))
    config = drive.config(timestep=many, friction=rough, iterations=tuple(range(500)))
    with pytest.raises(PlanError, match="more than 100000 cases"):
        Plan.of(drive, config).tasks()
