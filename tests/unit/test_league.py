"""The league: closed forms, equal error, noise, and what changed between versions."""

from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetarium.batch.check_study import check_study
from kinetarium.batch.study import ConfigError, Outcome
from kinetarium.engines.conformance.models import pendulum
from kinetarium.engines.registry import engine_packages, open_engine
from kinetarium.errors import UnknownNameError
from kinetarium.recording.recording import RunStatus
from kinetarium.studies.league import League
from kinetarium.studies.league._standings import LEAST_ROUNDS, Standings, chance
from kinetarium.studies.league.config import Case, Config, Part, cases
from kinetarium.studies.league.figures import report
from kinetarium.studies.league.problems import (
    BY_NAME,
    PERIOD,
    PROBLEMS,
    QUICK_TIMESTEPS,
    TIMESTEPS,
    _swing,
    answers,
    empty_row,
    solve,
)
from needs import need

FALL = BY_NAME["free-fall"]


def test_the_pendulum_swings_as_its_equation_of_motion_says() -> None:
    inertia = pendulum().link("bob").inertia
    assert inertia is not None
    moment = inertia.moment[1, 1] + inertia.mass * 0.5**2
    times = PERIOD * np.arange(1, len(_swing()) + 1)
    motion = solve_ivp(
        lambda t, y: (y[1], -inertia.mass * 9.81 * 0.5 / moment * np.sin(y[0])),
        (0.0, times[-1]), (1.0, 0.0), method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times,
    )  # fmt: skip
    np.testing.assert_allclose(_swing(), motion.y[0], atol=1e-10)


@pytest.mark.parametrize(
    ("name", "error"),
    [("free-fall", 9.81 * 2e-3 / 2), ("skid", 2.0 * 2e-3 / 2), ("pendulum", None)],
)
def test_errors_are_those_of_a_first_order_integrator(name: str, error: float | None) -> None:
    engine, problem = open_engine("mujoco"), BY_NAME[name]
    found = [abs(solve(engine, problem, h)[0] - problem.expected()) for h in (4e-3, 2e-3)]
    assert found[0] == pytest.approx(2 * found[1], rel=0.05)
    if error is not None:
        assert found[1] == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(("name", "engine"), [("stack", "physx"), ("grip", "ode")])
def test_contact_problems_are_solved_to_their_closed_form(name: str, engine: str) -> None:
    """A rigid stack stays and a rigid grip holds, in engines whose contacts are rigid."""
    need(engine)
    assert solve(open_engine(engine), BY_NAME[name], 1e-3)[0] < BY_NAME[name].target / 5


def test_time_steps_divide_the_period() -> None:
    for step in TIMESTEPS:
        assert PERIOD / step == pytest.approx(round(PERIOD / step))
    assert set(QUICK_TIMESTEPS) <= set(TIMESTEPS)
    for problem in PROBLEMS:
        periods = problem.duration / PERIOD
        assert periods == pytest.approx(round(periods))


class Lame:
    """An engine whose runs end in an exception."""

    def __init__(self) -> None:
        self.info = open_engine("mujoco").info

    def compile(self, *args, **named):
        raise RuntimeError("not today")


def test_an_engine_that_fails_has_rows_with_the_reason() -> None:
    found = list(answers(Lame(), ["free-fall@0.001", "no-damping"]))
    assert [a["row"]["failure"] for a in found] == ["RuntimeError: not today"] * 2
    assert [a["row"]["passed"] for a in found] == [None, False]
    assert [a["cpu_s"] for a in found] == [None, None]


# Cases


def test_cases_are_checks_then_rounds_in_changing_order() -> None:
    found = cases(Config(engine=("mujoco",), version=("mujoco==3.0.0", "pybullet==1.2"), rounds=9))
    assert [c.part for c in found] == [Part.CHECKS] * 3 + [Part.CURVES] * 27
    assert [(c.engine, c.package) for c in found[:3]] == [
        ("mujoco", ""), ("mujoco", "mujoco==3.0.0"), ("bullet", "pybullet==1.2"),
    ]  # fmt: skip
    orders = {tuple(c.package for c in found[3 * k : 3 * k + 3]) for k in range(1, 10)}
    assert len(orders) > 3
    assert len({(c.package, c.round) for c in found[3:]}) == 27


def test_versions_alone_leave_the_installed_engines_out_and_reuse_what_is_here() -> None:
    installed = open_engine("mujoco").info.version
    found = cases(Config(version=(f"MuJoCo=={installed}", "mujoco==3.0.0"), rounds=1))
    assert {(c.version, c.package) for c in found} == {
        (installed, ""), ("3.0.0", "mujoco==3.0.0"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["mujoco", "mujoco>=3", "mujoco==", "mujoco==3.0.0 --find-links=x", "--target==1", "-r==1",
     "mujoco==../x", "mujoco==3.*", "mujoco==3\n", "git+https://x@y==1", "a==1==2"],
)  # fmt: skip
def test_what_is_not_a_pinned_version_never_reaches_pip(text: str) -> None:
    with pytest.raises(ConfigError, match="--version takes package==version"):
        cases(Config(version=(text,)))


def test_a_package_of_no_engine_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown package of an engine 'requests'"):
        cases(Config(version=("requests==2.0",)))


def test_engines_name_their_packages() -> None:
    assert engine_packages().items() >= {
        "mujoco": "mujoco", "bullet": "pybullet", "dart": "dartpy", "drake": "drake",
        "physx": "sapien", "rapier": "rapier3d",
    }.items()  # fmt: skip
    assert "ode" not in engine_packages()  # its library comes with other packages


# Standings


def curve(version: str, number: int, *, pace: float, errors=None, engine: str = "e") -> Outcome:
    """A round of an engine whose error is h, and whose cost is pace / h [us/s]."""
    case = Case(engine=engine, version=version, package="", part=Part.CURVES, round=number,
                quick=True)  # fmt: skip
    rows, timing = [], {"wall_s": 1.0}
    for step in QUICK_TIMESTEPS:
        error = step if errors is None else errors[step]
        item = f"free-fall@{step:g}"
        rows.append({**empty_row(item, ""), "value": error, "expected": 0.0, "error": error})
        timing[item] = pace / step * 1e-6
    return Outcome(case, RunStatus.COMPLETED, "", tuple(rows), None, timing)


def checked(version: str, engine: str = "e", **values: float) -> Outcome:
    """Checks whose right figure is 1, within 0.1."""
    case = Case(engine=engine, version=version, package="", part=Part.CHECKS, round=0, quick=True)
    rows = [
        {**empty_row(name, ""), "value": value, "expected": 1.0, "tolerance": 0.1,
         "passed": abs(value - 1) <= 0.1, "error": abs(value - 1)}
        for name, value in values.items()
    ]  # fmt: skip
    return Outcome(case, RunStatus.COMPLETED, "", tuple(rows), None, {"wall_s": 1.0})


def failed(version: str, part: Part = Part.CHECKS, number: int = 0) -> Outcome:
    case = Case(engine="e", version=version, package=f"e=={version}", part=part, round=number,
                quick=True)  # fmt: skip
    message = f"VersionError: e {version} cannot be installed"
    return Outcome(case, RunStatus.FAILED, message, (), None, {"wall_s": 1.0})


def test_cost_at_equal_error_lies_on_the_curve() -> None:
    standings = Standings([curve("1", k, pace=p) for k, p in enumerate((8.0, 10.0, 13.0))])
    # Error 8 mm is reached by the coarsest step already.
    cost = standings.equal_error(("e", "1"), FALL)
    assert cost == pytest.approx((10 / 4e-3, 8 / 4e-3, 13 / 4e-3, 3))
    # Doubled and shifted: error 4 h reaches 8 mm at h = 2 ms exactly, 3 h between the steps.
    for factor in (4.0, 3.0):
        errors = {step: factor * step for step in QUICK_TIMESTEPS}
        standings = Standings([curve("1", 0, pace=10.0, errors=errors)])
        cost = standings.equal_error(("e", "1"), FALL)
        assert cost is not None and cost.median == pytest.approx(10.0 * factor / 8e-3)
    errors = dict.fromkeys(QUICK_TIMESTEPS, 0.1)
    assert Standings([curve("1", 0, pace=1.0, errors=errors)]).equal_error(("e", "1"), FALL) is None


def league_of(first: tuple[float, ...], second: tuple[float, ...]) -> Standings:
    """Two versions with these paces, one in each round."""
    rounds = [curve("1", k, pace=p) for k, p in enumerate(first)]
    return Standings(rounds + [curve("2", k, pace=p) for k, p in enumerate(second)])


@pytest.mark.parametrize(
    ("first", "second", "ties"),
    [
        ((10, 11, 11, 12), (11.5, 14, 14, 15), True),
        ((10, 11, 11, 12), (12.5, 14, 14, 15), False),
        ((100, 100, 100, 100.1), (102, 102, 102, 102.1), True),  # separate, but by 2 % only
        ((10, 11, 12), (12.5, 14, 15), True),  # too few rounds
    ],
)
def test_sides_tie_unless_every_round_separates_them(first, second, ties: bool) -> None:
    standings = league_of(first, second)
    ranking = standings.ranking(FALL)
    assert [(side, tie) for side, _, tie in ranking] == [(("e", "1"), True), (("e", "2"), ties)]
    (change,) = standings.changes()
    assert change.alike == (("free-fall",) if ties else ())
    said = str(report(standings._outcomes).sections[0])
    assert ("too few" in said) == (len(first) < LEAST_ROUNDS)


def test_a_side_that_lost_a_round_has_no_place() -> None:
    whole = [curve("2", k, pace=10.0 + k) for k in range(5)]
    crashed = [failed("1", Part.CURVES, number=k) for k in range(1, 5)]
    standings = Standings([curve("1", 0, pace=1.0), *crashed, *whole])
    assert [side for side, _, _ in standings.ranking(FALL)] == [("e", "2")]
    (change,) = standings.changes()
    assert change.speeds == change.alike == ()
    assert "e 1 has no place: 1 of 5 rounds were measured" in str(report(standings._outcomes))


def test_chance_is_that_of_the_rank_test() -> None:
    from scipy.stats import mannwhitneyu

    for rounds in (2, 3, 5):
        exact = mannwhitneyu(range(rounds), range(rounds, 2 * rounds), method="exact").pvalue
        assert chance(rounds) == pytest.approx(exact)


def test_changes_between_versions_are_named() -> None:
    outcomes = [
        checked("1.10", good=1.0, broken=1.05, moved=1.09, repaired=2.0),
        checked("1.9", good=1.0, broken=1.2, moved=0.95, repaired=1.0),
        *(curve("1.10", k, pace=p) for k, p in enumerate((10.0, 10.1) * 2)),
        *(curve("1.9", k, pace=p) for k, p in enumerate((20.0, 20.1) * 2)),
    ]
    (change,) = Standings(outcomes).changes()
    assert (change.old, change.new) == (("e", "1.9"), ("e", "1.10"))  # 9 is before 10
    assert (change.broken, change.repaired) == (("repaired",), ("broken",))
    assert {name for name, *_ in change.moved} == {"broken", "moved", "repaired"}
    assert (change.same, change.compared) == (1, 4)
    assert change.errors == ()
    (name, ratio), = change.speeds  # fmt: skip
    assert name == "free-fall" and ratio == pytest.approx(10.05 / 20.05)
    lead = report(outcomes).lead
    assert "e 1.9 fails 1 of 4 checks: by its figures (broken)" in lead
    assert "From e 1.9 to 1.10: repaired no longer passes, broken now passes" in lead
    assert "free-fall takes 0.50 times the CPU time" in lead


def test_errors_that_changed_are_named_at_the_worst_step() -> None:
    other = {step: step * (1.5 if step == 2e-3 else 1.01) for step in QUICK_TIMESTEPS}
    outcomes = [curve("1", 0, pace=1.0), curve("2", 0, pace=1.0, errors=other)]
    (change,) = Standings(outcomes).changes()
    assert change.errors == (("free-fall", 2e-3, 2e-3, 3e-3),)
    assert "its error at 2 ms was 0.002, and is 0.003" in str(report(outcomes).sections)


def test_what_failed_is_counted_and_said() -> None:
    outcomes = [checked("1", good=1.0), failed("2"), failed("2", Part.CURVES)]
    findings = report(outcomes)
    assert "e 2 could not be compared: e 2 cannot be installed." in findings.lead
    assert "e 1 passes every check that applies (1)." in findings.lead
    assert findings.conclusion.startswith("1 of 2 sides pass every check that applies.")
    assert "2 of 3 runs did not complete" in findings.conclusion
    by_version = {side["version"]: side for side in findings.summary["sides"]}
    assert by_version["2"]["without_figure"] == 2
    assert by_version["2"]["refused"] == "e 2 cannot be installed"
    assert by_version["1"]["refused"] == ""
    report([failed("2")])


def test_a_lost_round_leaves_the_others() -> None:
    outcomes = [curve("1", 0, pace=1.0), failed("1", Part.CURVES, 1), curve("1", 2, pace=4.0)]
    standings = Standings(outcomes)
    cost = standings.cost_at(("e", "1"), FALL, timestep=1e-3)
    assert cost and (cost.min, cost.max) == pytest.approx((1e3, 4e3))
    assert len(standings.failures(("e", "1"))) == 1
    assert "1 run or check has no figure" in report(outcomes).lead


def test_costs_are_in_the_answer_and_not_in_the_metrics() -> None:
    outcomes = [curve("1", k, pace=p) for k, p in enumerate((1.0, 2.0))]
    findings = report(outcomes)
    rows = findings.answer["costs"]
    assert [row["timestep"] for row in rows] == list(QUICK_TIMESTEPS)
    assert [row["cost_us"] for row in rows] == pytest.approx([1.5 / h for h in QUICK_TIMESTEPS])
    assert all(a["error"] > b["error"] for a, b in pairwise(rows))
    assert "cost" not in str(findings.summary) + str(findings.extra)
    faster = [curve("1", k, pace=p) for k, p in enumerate((0.1, 0.2))]
    assert report(faster).summary == findings.summary


def test_the_skid_has_the_length_of_the_closed_form() -> None:
    skid = BY_NAME["skid"]
    assert skid.expected() == pytest.approx(2.0**2 / (2 * 0.5 * 9.81))
    assert sqrt(2 * skid.expected() / (0.5 * 9.81)) < skid.duration  # it rests before the end


def test_the_league_is_a_study() -> None:
    config = Config(engine=("mujoco",), rounds=1, quick=True)
    assert [check for check in check_study(League(), config) if not check.passed] == []
