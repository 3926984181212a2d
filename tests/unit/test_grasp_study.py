"""The grasp study in its short form."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kinetarium.batch.check_study import check_study
from kinetarium.batch.study import Outcome
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError
from kinetarium.figure.charts import Lines
from kinetarium.ranges import RangeError
from kinetarium.recording.recording import Row, RunStatus
from kinetarium.studies.grasp import Grasp, profiles
from kinetarium.studies.grasp.config import Case, Config, Profile, Start, ToolPath
from kinetarium.studies.grasp.profiles import JointControl, setting
from kinetarium.studies.grasp.task import PERIOD, offsets

pytestmark = pytest.mark.engine
SHORT = Config(
    engine=("mujoco",),
    path=(ToolPath.CIRCLE,),
    profile=(Profile.MATCHED,),
    starts=2,
    duration=0.6,
    start=Start.ABRUPT,
)


def _judged(**changes: Any) -> tuple[Outcome[Case], Row]:
    study = Grasp()
    case = replace(study.cases(SHORT)[0], **changes)
    recording = study.run(case)
    rows = tuple(study.score(case, recording))
    return Outcome(case, RunStatus.COMPLETED, "", rows, recording, {"loop_cpu_s": 1.0}), rows[0]


def test_it_is_a_study() -> None:
    assert not [check for check in check_study(Grasp(), SHORT) if not check.passed]


def test_every_profile_engine_path_and_start_is_a_case() -> None:
    config = replace(
        SHORT, profile=tuple(Profile), path=(ToolPath.CIRCLE, ToolPath.EIGHT), release=True
    )
    cases = Grasp().cases(config)
    assert len(cases) == 3 * 3 * 2
    tuned = {case.timestep for case in cases if case.profile is Profile.TUNED}
    assert tuned == {2e-3}
    varied = Grasp().cases(replace(SHORT, timestep=(1e-3, 2e-3), iterations=(10, 20, 30)))
    assert len(varied) == 2 * 2 * 3
    rough = Grasp().cases(replace(SHORT, friction=(0.1, 0.4, 0.1), starts=1))
    assert [case.friction for case in rough] == [0.1, 0.4]


@pytest.mark.parametrize(
    "fault",
    [
        {"starts": 0},
        {"duration": 0.1},
        {"duration": float("nan")},
        {"seed": -1},
        {"timestep": (0.0,)},
        {"timestep": (0.003,)},
        {"iterations": (-1,)},
        {"friction": (-0.1,)},
        {"friction": (float("nan"),)},
        {"path": ()},
        {"engine": ("nonesuch",)},
    ],
)
def test_what_makes_no_sense_is_refused(fault: dict[str, Any]) -> None:
    with pytest.raises(KinetariumError):
        Grasp().cases(replace(SHORT, **fault))


def test_a_refusal_names_the_field_and_its_range() -> None:
    with pytest.raises(RangeError, match=r"starts: -3 is outside 1 \.\. 1000$"):
        Grasp().cases(replace(SHORT, starts=-3))


def test_steps_that_no_run_would_end_are_refused() -> None:
    with pytest.raises(KinetariumError, match="takes more than 2000000 steps"):
        Grasp().cases(replace(SHORT, duration=1000.0, timestep=(1e-4,)))


def test_paths_set_off_across_the_pads_and_come_back() -> None:
    for path in (ToolPath.CIRCLE, ToolPath.SQUARE, ToolPath.EIGHT):
        moved = offsets(path, np.array([0.0, 1e-3, PERIOD / 4, PERIOD]) / PERIOD)
        np.testing.assert_allclose(moved[[0, -1]], 0.0, atol=1e-12)
        assert moved[1, 0] > 0.05 * 1e-3
        assert np.linalg.norm(moved[2]) >= 0.1 - 1e-12


def test_a_displaced_cube_is_held_as_a_rigid_grasp_would_hold_it() -> None:
    _, row = _judged(start=1)
    assert row["held"]
    assert row["slip_m"] < 5e-4
    assert row["tilt_deg"] < 0.1
    assert row["zero_contact_samples"] == 0
    assert row["force_mean_n"] == pytest.approx(100.0, abs=0.1)
    assert row["force_ft_mean_n"] == pytest.approx(row["force_mean_n"], rel=1e-3)
    assert row["moving_variance_n2"] == pytest.approx(row["ideal_variance_n2"], rel=0.05)
    assert row["tracking_rmse_m"] == pytest.approx(row["ideal_rmse_m"], abs=2e-5)
    assert row["one_step_rad_s2"] < 1e-3


def test_a_cube_that_is_lost_has_no_variance() -> None:
    outcome, row = _judged(profile=Profile.DEFAULTS)
    assert row["held"] is False
    assert row["held_s"] < 0.6
    assert row["moving_variance_n2"] is None
    assert row["zero_contact_samples"] > 0
    findings = Grasp().report([outcome])
    assert findings.summary["groups"][0]["held"] == 0


def test_a_run_that_ends_before_the_path_is_judged() -> None:
    outcome, _ = _judged()
    recording = outcome.recording
    assert recording is not None
    channels = {
        name: replace(channel, values=channel.values[:40])
        for name, channel in recording.channels.items()
    }
    cut = replace(recording, channels=channels, status="diverged")
    (row,) = Grasp().score(outcome.case, cut)
    assert row["held"] is False
    assert row["held_s"] == 0.0
    assert row["moving_variance_n2"] is None


def test_the_cube_slides_where_friction_ends() -> None:
    """Two pads hold m g by friction down to a grip of m g / (2 mu)."""
    outcome, row = _judged(path=ToolPath.RELEASE)
    assert row["sliding_grip_n"] == pytest.approx(9.81 / 1.6, rel=0.05)
    assert row["moving_variance_n2"] is None
    assert Grasp().report([outcome]).headline.rows


def test_friction_may_be_set() -> None:
    """The grip at which the cube slides is m g / (2 mu)."""
    _, row = _judged(path=ToolPath.RELEASE, friction=1.0)
    assert row["sliding_grip_n"] == pytest.approx(9.81 / 2, rel=0.05)


def test_iterations_may_be_set() -> None:
    outcome, _ = _judged(iterations=7)
    assert outcome.recording is not None
    assert outcome.recording.facts["options"]["iterations"] == 7


def test_what_was_varied_is_drawn_instead_of_the_engines() -> None:
    outcomes = [_judged(friction=friction)[0] for friction in (0.02, 0.8)]
    findings = Grasp().report(outcomes)
    figures = {f.title: f for s in findings.sections for f in s.figures if isinstance(f, Lines)}
    assert set(figures) == {"Slip over friction", "Variance over friction"}
    (slip,) = figures["Slip over friction"].series
    assert list(slip.x) == [0.02, 0.8]
    assert 200 > slip.y[0] > 20 > slip.y[1]
    (ratio,) = figures["Variance over friction"].series
    assert np.isnan(ratio.y[0]) and ratio.y[1] == pytest.approx(1.0, rel=0.05)
    assert [row[3:5] for row in findings.headline.rows] == [(0.02, "0/1"), (0.8, "1/1")]


def test_effort_is_drawn_over_its_cost() -> None:
    outcomes = [_judged(timestep=timestep)[0] for timestep in (1e-3, 2e-3)]
    findings = Grasp().report(outcomes)
    figures = {f.title: f for s in findings.sections for f in s.figures if isinstance(f, Lines)}
    assert set(figures) == {"Variance over the time step", "Force and cost", "Slip and cost"}
    (slip,) = figures["Slip and cost"].series
    rows = [row for outcome in outcomes for row in outcome.rows]
    assert np.nanmax(slip.y) == pytest.approx(1e3 * max(row["slip_m"] for row in rows))


def test_an_unknown_engine_takes_part_with_its_own_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @dataclass(frozen=True)
    class Options:
        stiffness: float = 3.0

        @classmethod
        def stock(cls) -> "Options":
            return cls()

        def with_iterations(self, n: int) -> "Options":
            return self

    class Engine:
        options = Options
        info = replace(open_engine("mujoco").info, name="plugin")

    monkeypatch.setattr(profiles, "open_engine", lambda name: Engine())
    for profile in Profile:
        chosen = setting("plugin", profile)
        assert chosen.options == Options()
        assert chosen.friction == 0.8
        assert (chosen.control is JointControl.LAW) == (profile is Profile.MATCHED)


def test_the_conclusion_counts_what_was_lost_and_what_did_not_run() -> None:
    held, _ = _judged()
    lost, _ = _judged(friction=0.02)
    failed = Outcome(replace(held.case, engine="dart"), RunStatus.FAILED, "no", (), None, {})
    words = Grasp().report([held]).conclusion
    assert words.startswith("Profile 'matched': all 1 engines hold the box in 1 runs; the force")
    words = Grasp().report([held, lost, failed]).conclusion
    assert "0 of 2 engines hold the box in every run" in words
    assert "it is lost by mujoco in 1 of 2 runs" in words
    assert "runs did not complete: dart in 1 of 1" in words
