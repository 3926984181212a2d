"""The table and the summary of a sweep, against values that are known beforehand."""

from io import BytesIO
from typing import Any

import numpy as np
import polars
import pytest

from kinetarium.batch._sweep_report import check_shown, sweep_findings
from kinetarium.batch.axes import PlanError
from kinetarium.batch.sweep_table import parquet, sweep_table
from kinetarium.errors import KinetariumError
from kinetarium.figure.charts import Bars, Heatmap, Lines, Parallel
from kinetarium.recording.recording import Run, RunStatus
from kinetarium.report.matplotlib.still import draw_still
from kinetarium.report.plotly.charts import plotly_parallel


def run(number: int, rows: Any, status: RunStatus = RunStatus.COMPLETED, **case: Any) -> Run:
    message = "" if status is RunStatus.COMPLETED else f"{status}: because"
    return Run(f"{number:04d}", "toy", case, status, message, tuple(rows))


def swept(points: list[dict[str, Any]], results: list[Any], failed: int = 0) -> Any:
    pairs = zip(points, results, strict=False)
    runs = [run(i, [row], **point) for i, (point, row) in enumerate(pairs)]
    runs += [run(len(runs) + i, [], RunStatus.CRASHED, **points[0]) for i in range(failed)]
    varied = {r.key: dict(r.case) for r in runs}
    return sweep_table(runs, varied)


def grid(noise: float = 0.0, count: int = 20, seed: int = 0) -> Any:
    """Return a sweep of y = 2 gain + [engine is b], each point with some noise."""
    rng = np.random.default_rng(seed)
    points = [
        {"gain": gain, "engine": engine}
        for gain in (1.0, 2.0, 3.0)
        for engine in ("a", "b")
        for _ in range(count)
    ]
    results = [
        {"y": 2 * p["gain"] + (p["engine"] == "b") + rng.normal(0, noise), "z": -p["gain"]}
        for p in points
    ]
    return swept(points, results, failed=3)


def test_main_effects_are_those_of_the_model() -> None:
    findings = sweep_findings(grid(noise=0.01), {"sweep": {"results": ["y"]}})
    effects = {entry["axis"]: entry for entry in findings.summary["effects"]["y"]}
    assert effects["gain"]["difference"] == pytest.approx(4.0, abs=0.01)
    assert (effects["gain"]["low"], effects["gain"]["high"]) == ("1", "3")
    assert effects["engine"]["difference"] == pytest.approx(1.0, abs=0.01)
    # Variances of balanced levels: 4 var(1, 2, 3) = 8/3 and var(0, 1) = 1/4.
    assert effects["gain"]["share_of_variance"] == pytest.approx(32 / 35, abs=1e-3)
    assert effects["engine"]["share_of_variance"] == pytest.approx(3 / 35, abs=1e-3)
    said = findings.conclusion
    assert said.startswith("gain has the largest main effect: y ")
    assert "3 of 123 cases did not complete (3 crashed)" in said


def test_intervals_cover_the_true_difference() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(300):
        points = [{"x": level} for level in ("a", "b") for _ in range(8)]
        results = [{"y": 5.0 * (p["x"] == "b") + rng.normal()} for p in points]
        findings = sweep_findings(swept(points, results), {"sweep": {}})
        [effect] = findings.summary["effects"]["y"]
        low, high = effect["interval_95"]
        inside += low <= 5.0 <= high
    assert 270 <= inside <= 298, "95 % of 300 is 285, with a standard deviation of 4"


def test_no_effect_is_called_clear_in_noise() -> None:
    points = [{"x": level} for level in ("a", "b", "c") for _ in range(5)]
    rng = np.random.default_rng(2)
    findings = sweep_findings(swept(points, [{"y": rng.normal()} for _ in points]), {"sweep": {}})
    assert findings.conclusion.startswith("No effect is clear; the largest is that of x")


def test_axes_of_many_numbers_are_divided_into_quarters() -> None:
    points = [{"x": float(number)} for number in range(100)]
    rows = swept(points, [{"y": point["x"]} for point in points])
    [effect] = sweep_findings(rows, {"sweep": {}}).summary["effects"]["y"]
    assert effect["difference"] == pytest.approx(75.0)


def test_figures_show_the_chosen_results() -> None:
    shown = {"results": ["y"], "pareto": ["y", "z"], "heat": ["engine", "gain"]}
    findings = sweep_findings(grid(), {"sweep": {**shown, "maximise": ["z"]}})
    figures = [figure for section in findings.sections for figure in section.figures]
    [bars] = [figure for figure in figures if isinstance(figure, Bars)]
    assert bars.categories == ("gain 1", "gain 2", "gain 3", "engine a", "engine b")
    [front] = [figure for figure in figures if isinstance(figure, Lines)]
    best = front.series[-1]
    # Less y and more z: both are best at the lowest gain in engine a.
    assert best.name == "Pareto front" and set(best.x) == {2.0} and set(best.y) == {-1.0}
    [heat] = [figure for figure in figures if isinstance(figure, Heatmap)]
    np.testing.assert_allclose(heat.values, [[2, 3], [4, 5], [6, 7]])
    [parallel] = [figure for figure in figures if isinstance(figure, Parallel)]
    assert [scale.label for scale in parallel.scales][-1] == "y"
    assert sum(np.isnan(series.y).sum() for series in parallel.series) == 120, "a gap for each case"
    tones = {series.name: number for number, series in enumerate(parallel.series)}
    chart = plotly_parallel(parallel, tones)
    assert [trace["name"] for trace in chart["data"]] == ["a", "b"]
    assert b"<svg" in draw_still(parallel, tones).svg


def test_a_sweep_of_failures_alone_is_summarised() -> None:
    rows = swept([{"x": 1.0}], [], failed=2)
    findings = sweep_findings(rows, {"sweep": {"results": ["y"]}})
    assert "2 of 2 cases did not complete (2 crashed)" in findings.conclusion


def test_the_table_has_one_type_per_column_and_keeps_names_apart() -> None:
    runs = [
        run(0, [{"start": 0.5, "n": 1, "text": "t", "deep": {"x": 1.0}, "many": [1]}], start=0),
        run(1, [{"start": 0.7, "n": 2.5, "text": None}], start=1),
        run(2, [], RunStatus.TIMED_OUT, start=1),
    ]
    varied = {r.key: {"start": "abrupt", "list": [1, 2]} for r in runs}
    data = parquet(sweep_table(runs, varied))
    assert data == parquet(sweep_table(runs, varied))
    frame = polars.read_parquet(BytesIO(data))
    assert frame.columns == [
        "start", "list", "case.start", "status", "message", "key",
        "result.start", "n", "text", "deep.x",
    ]  # fmt: skip
    assert frame["n"].to_list() == [1.0, 2.5, None]
    assert frame["status"].to_list() == ["completed", "completed", "timed out"]
    assert frame["message"][2] == "timed out: because"


@pytest.mark.parametrize(
    "shown", [{"heat": ["gain", "engin"]}, {"heat": ["gain"]}, {"results": "y"}, {"paretto": []}]
)
def test_what_a_report_cannot_show_is_refused_before_anything_runs(shown: Any) -> None:
    with pytest.raises(KinetariumError):
        check_shown({"sweep": shown}, ["gain", "engine"])


def test_axes_that_vary_together_are_named_together() -> None:
    points = [
        {"gain": g, "mass": 10 - g, "size": s}
        for g in (1.0, 2.0, 3.0)
        for s in (1, 2)
        for _ in "ab"
    ]
    rng = np.random.default_rng(1)
    rows = [{"y": p["gain"] + 0.1 * p["size"] + rng.normal(0, 0.01)} for p in points]
    findings = sweep_findings(swept(points, rows), {"sweep": {}})
    assert findings.conclusion.startswith("gain with mass has the largest main effect: y ")
    assert "The levels of gain and mass vary together" in findings.lead
    assert "vary together" not in sweep_findings(grid(noise=0.1), {"sweep": {}}).lead


def test_an_unknown_result_is_refused_with_the_nearest() -> None:
    with pytest.raises(PlanError, match=r"unknown result 'yy'; did you mean 'y'.*runs are kept"):
        sweep_findings(grid(), {"sweep": {"results": ["yy"]}})
