"""Sliding boxes in every engine, compared with Coulomb's law and with friction pyramids."""

from dataclasses import replace
from math import sqrt
from typing import Any

import pytest

from kinetarium.batch.check_study import check_study
from kinetarium.batch.study import Outcome
from kinetarium.recording.recording import RunStatus
from kinetarium.studies.slide import Case, Config, Profile, Slide
from kinetarium.studies.slide.run import launches
from needs import need

pytestmark = pytest.mark.engine


def slid(engine: str, *, profile: Profile = Profile.MATCHED, **values: Any) -> dict[float, Any]:
    """Return the rows of one run by direction."""
    need(engine)
    study = Slide()
    config = Config(engine=(engine,), profile=(profile,), **{"speed": (0.5,), **values})
    (case,) = study.cases(config)
    return {row["angle_deg"]: row for row in study.score(case, study.run(case))}


@pytest.mark.parametrize("engine", ["bullet", "ode", "dart"])
def test_a_pyramid_holds_more_across_its_corners_and_turns_the_path(engine: str) -> None:
    rows = slid(engine, angle=(0.0, 30.0, 45.0))
    assert rows[0.0]["deceleration_ratio"] == pytest.approx(1.0, abs=1e-3)
    assert rows[45.0]["deceleration_ratio"] == pytest.approx(sqrt(2), abs=1e-3)
    # The slower of the two components stops first: from then on the box slides along an axis.
    assert rows[30.0]["deflection_deg"] == pytest.approx(30.0, abs=0.2)
    assert rows[45.0]["hop_m"] < 1e-6


@pytest.mark.parametrize("engine", ["physx", "drake", "rapier"])
def test_a_cone_holds_the_same_in_every_direction(engine: str) -> None:
    for row in slid(engine, angle=(0.0, 30.0, 45.0)).values():
        assert row["deceleration_ratio"] == pytest.approx(1.0, abs=2e-3)
        assert row["deflection_deg"] < 0.5
        assert row["hop_m"] < 1e-6


def test_mujocos_cone_lifts_what_slides_and_its_pyramid_is_inside_the_cone() -> None:
    rows = slid("mujoco", angle=(0.0, 45.0))
    assert rows[45.0]["deceleration_ratio"] == pytest.approx(1.0, abs=0.02)
    assert rows[45.0]["hop_m"] == pytest.approx(1.87e-3, rel=0.1)
    own = slid("mujoco", angle=(0.0, 45.0), profile=Profile.DEFAULTS)
    assert own[45.0]["deceleration_ratio"] == pytest.approx(sqrt(0.5), abs=0.02)
    assert own[0.0]["deceleration_ratio"] == pytest.approx(1.0, abs=0.02)


def test_a_box_slides_among_others_as_it_does_alone() -> None:
    alone, among = slid("ode", angle=(45.0,)), slid("ode", angle=(45.0, 0.0, 20.0))
    assert among[45.0] == pytest.approx(alone[45.0], rel=1e-9, abs=1e-12)


def test_starts_are_displaced_alike_in_every_engine() -> None:
    study = Slide()
    first, second = study.cases(Config(engine=("mujoco",), speed=(1.0,), starts=2))
    assert launches(first)[:, 1] == pytest.approx(1.0)
    away = launches(second) - launches(first)
    assert abs(away).max() > 0 and abs(away[:, 0]).max() <= 0.035
    assert (launches(replace(second, engine="ode")) == launches(second)).all()
    assert (launches(replace(second, seed=1)) != launches(second)).any()


def outcome(case: Case, ratios: dict[float, float | None]) -> Outcome[Case]:
    rows = tuple(
        {"angle_deg": angle, "deceleration_ratio": ratio, "deflection_deg": 0.0, "hop_m": 0.0}
        for angle, ratio in ratios.items()
    )
    status = RunStatus.COMPLETED if rows else RunStatus.CRASHED
    return Outcome(case, status, "", rows, None, {})


def test_the_conclusion_names_the_law_of_friction_and_counts_failed_runs() -> None:
    study = Slide()
    one, other = study.cases(Config(engine=("mujoco",), speed=(1.0, 2.0), angle=(0.0, 45.0)))
    cone = study.report([outcome(one, {0.0: 1.0, 45.0: 1.01})])
    assert "cone: mujoco 1.010" in cone.conclusion
    pyramid = study.report([outcome(one, {0.0: 1.0, 45.0: 1.414})])
    assert "pyramid around the cone: mujoco 1.414" in pyramid.conclusion
    broken = study.report([outcome(one, {0.0: 1.0, 45.0: 1.0}), outcome(other, {})])
    assert "did not complete: mujoco 1.000 (1 of 2 failed)" in broken.conclusion
    assert broken.headline.rows[0][2:4] == ("did not complete", "1/2")


def test_the_study_holds_together() -> None:
    config = Config(engine=("mujoco",), speed=(0.5,), angle=(0.0, 45.0))
    for check in check_study(Slide(), config):
        assert check.passed, check
