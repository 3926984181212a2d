"""Axes of sweeps: how values are combined, paired and sampled, and what is refused beforehand."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, norm

from kinetarium.batch.axes import PlanError, points
from kinetarium.batch.plan import Plan
from kinetarium.batch.study import open_study
from kinetarium.errors import KinetariumError

KIND = open_study("drop").config


def plan(**content: Any) -> Plan:
    return Plan.of_content({"study": "drop", **content}).as_sweep()


def sampled(block: str, count: int, **axes: Any) -> dict[str, list[Any]]:
    found = points({block: {"samples": count, "seed": 3, "axes": axes}}, KIND)
    return {name: [point[name] for point in found] for name in axes}


def test_blocks_are_combined_and_pairs_stay_together() -> None:
    content = {
        "grid": {"mass": [1.0, 2.0], "slope": [0.0, 5.0, 10.0]},
        "zip": {"height": [0.1, 0.2], "size": [0.3, 0.4]},
    }
    found = points(content, KIND)
    assert len(found) == 2 * 3 * 2
    assert {(point["height"], point["size"]) for point in found} == {(0.1, 0.3), (0.2, 0.4)}
    assert len({tuple(point.values()) for point in found}) == 12


def test_a_latin_hypercube_has_one_sample_in_each_share() -> None:
    count = 50
    found = sampled("latin", count, height={"uniform": [1.0, 2.0]}, mass={"log": [0.01, 100.0]})
    for shares in (
        np.array(found["height"]) - 1.0,
        np.log(np.array(found["mass"]) / 0.01) / np.log(1e4),
    ):
        assert sorted((shares * count).astype(int)) == list(range(count))


def test_samples_follow_their_distributions() -> None:
    found = sampled(
        "random",
        4000,
        height={"uniform": [1.0, 3.0]},
        mass={"log": [0.1, 10.0]},
        size={"normal": [0.5, 0.1]},
        shape={"choice": ["box", "sphere", "capsule"]},
    )
    assert kstest((np.array(found["height"]) - 1.0) / 2.0, "uniform").pvalue > 0.01
    assert kstest(np.log10(found["mass"]) / 2.0 + 0.5, "uniform").pvalue > 0.01
    assert kstest(found["size"], norm(0.5, 0.1).cdf).pvalue > 0.01
    assert all(abs(count - 4000 / 3) < 150 for count in Counter(found["shape"]).values())
    assert found == sampled(
        "random",
        4000,
        height={"uniform": [1.0, 3.0]},
        mass={"log": [0.1, 10.0]},
        size={"normal": [0.5, 0.1]},
        shape={"choice": ["box", "sphere", "capsule"]},
    )


def test_whole_fields_have_whole_samples() -> None:
    found = sampled(
        "random", 20, **{"seed": {"uniform": [0, 9]}, "mujoco.iterations": {"log": [1, 99]}}
    )
    assert all(type(value) is int for values in found.values() for value in values)


def test_options_of_an_engine_are_axes() -> None:
    tasks = plan(
        config={"engine": ["mujoco", "bullet"]},
        grid={"mujoco": {"iterations": [10, 50]}, "mass": [1.0, 2.0]},
    ).varied_tasks()
    engines = Counter(task.case["engine"] for task, _ in tasks)
    assert engines == {"mujoco:iterations=10": 2, "mujoco:iterations=50": 2, "bullet": 2}
    for task, point in tasks:
        asked = task.case["engine"].partition("=")[2]
        assert point["mujoco.iterations"] == (int(asked) if asked else None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"grid": {"hieght": [1.0]}}, "unknown field 'hieght'; did you mean 'height'"),
        ({"grid": {"mujocco": {"cone": ["x"]}}}, "unknown field 'mujocco'; did you mean 'mujoco'"),
        ({"grid": {"mujoco": {"iteration": [1]}}}, "did you mean 'iterations'"),
        ({"grid": {"mujoco": {"iterations": ["many"]}}}, "expected int"),
        ({"grid": {"mujoco": {"cone": ["eliptic"]}}}, "did you mean 'elliptic'"),
        ({"grid": {"mass": [1.0, -2.0]}}, "mass"),
        ({"grid": {"engine": ["mujoko"]}}, "did you mean 'mujoco'"),
        ({"grid": {"mass": 2.0}}, "'grid.mass' must be a list"),
        ({"zip": {"mass": [1.0], "size": [1.0, 2.0]}}, "equally long"),
        ({"grid": {"mass": [1.0]}, "zip": {"mass": [1.0]}}, "'mass' is varied twice"),
        ({"gird": {"mass": [1.0]}}, "did you mean 'grid'"),
        ({"random": {"axes": {"mass": {"uniform": [1, 2]}}}}, "random.samples"),
        ({"random": {"samples": 2}}, "needs its axes"),
        ({"random": {"samples": 2, "axes": {"mass": {"unifrom": [1, 2]}}}}, "'uniform'"),
        ({"latin": {"samples": 2, "axes": {"mass": {"log": [0, 2]}}}}, "positive"),
        ({"latin": {"samples": 2, "axes": {"mass": {"uniform": [3, 2]}}}}, "below the second"),
        ({"latin": {"samples": 2, "axes": {"mass": [1, 2]}}}, "must be a distribution"),
        *(
            ({"random": {"samples": 2, "axes": {"seed": {kind: limits}}}}, "of up to 1e+150")
            for kind, limits in {
                "uniform": [-1e308, 1e308],
                "log": [1, float("inf")],
                "normal": [float("nan"), 1],
            }.items()
        ),
        ({"random": {"samples": 2, "axes": {"seed": {"uniform": [1, 10**400]}}}}, "of up to"),
        ({"random": {"samples": 2, "axes": {"seed": {"log": [1e-300, 1e140]}}}}, "from 1e-150"),
        ({"latin": {"samples": 2, "seed": -1, "axes": {"mass": {"log": [1, 2]}}}}, "latin.seed"),
        ({"grid": {"mass": [1.0] * 400, "size": [1.0] * 400}}, "more than 100000"),
        ({"grid": {f"axis{i}": [1, 2] * 5 for i in range(20)}}, "more than 100000"),
        ({"grid": {"mass": [1.0]}, "case": [{"mass": 2.0}]}, "by an axis and in [[case]]"),
        ({"grid": {"mujoco": [1, 2]}}, "'mujoco.OPTION'"),
        ({"grid": {"mujoco": {"cone": {"x": [1]}}}}, "'mujoco.cone.x' is no option"),
        (
            {"random": {"samples": 2, "axes": {"mujoco": {"uniform": [1, 2]}}}},
            "'mujoco' is no option of an engine",
        ),
        (
            {"random": {"samples": 2, "axes": {"mujoco": {"a": {"b": {"log": [1, 2]}}}}}},
            "'mujoco.a.b' is no option",
        ),
        (
            {"config": {"engine": ["bullet"]}, "grid": {"mujoco": {"iterations": [1, 2]}}},
            "no case depends on it",
        ),
    ],
)
def test_what_is_refused_before_anything_runs(content: dict[str, Any], message: str) -> None:
    with pytest.raises(KinetariumError) as refusal:
        plan(**content).tasks()
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_plan_without_axes_is_one_point() -> None:
    assert points({}, KIND) == [{}]
    with pytest.raises(PlanError, match="list of tables"):
        plan(case=3)
