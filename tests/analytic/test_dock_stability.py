"""Delay and stiffness: the closed form, the map, and the controller itself."""

import numpy as np
import pytest

from kinetarium.batch.study import Outcome
from kinetarium.control.admittance.law import (
    AdmittanceGains,
    AdmittanceSE3,
    critical_delay,
    critical_frequency,
)
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import RunStatus
from kinetarium.studies.dock.stability.config import StabilityConfig
from kinetarium.studies.dock.stability.config import cases as stability_cases
from kinetarium.studies.dock.stability.figures import report
from kinetarium.studies.dock.stability.run import growth_rate, run, score


@pytest.mark.parametrize(
    ("ratio", "stiffness", "milliseconds"),
    [(0, 1e4, 40.2), (0, 1e5, 4.0), (0, 1e6, 0.4),
     (0.02, 1e4, 60.0), (0.02, 1e5, 23.4), (0.02, 1e6, 16.2)],
)  # fmt: skip
def test_known_critical_delays_of_the_papers_gains(ratio, stiffness, milliseconds):
    delay = critical_delay(300.0, 200.0, s=0.5, stiffness=stiffness, damping=ratio * stiffness)
    assert 1e3 * delay == pytest.approx(milliseconds, abs=0.05)


@pytest.mark.parametrize("damping", [0.0, 500.0, 5e4])
@pytest.mark.parametrize("K", [1.0, 200.0, 4000.0])
def test_a_root_lies_on_the_imaginary_axis_there(K, damping):
    law = {"s": 0.5, "stiffness": 1e5, "damping": damping}
    w, tau = critical_frequency(300.0, K, **law), critical_delay(300.0, K, **law)
    z = 1j * w
    residual = 300 * z**2 + K * z + 0.5 * (damping * z + 1e5) * np.exp(-tau * z)
    assert abs(residual) < 1e-9 * 300 * w**2
    assert tau > 0


def test_the_map_agrees_with_the_closed_form():
    config = StabilityConfig(
        stiffness=(1e4, 1e5, 1e6), delay_ms=(0.2, 1.0, 3.4, 4.6, 14.0, 39.0, 45.0)
    )
    verdicts = [row["agrees"] for case in stability_cases(config) for row in score(case, run(case))]
    assert len(verdicts) == 42
    assert all(verdict is not False for verdict in verdicts)
    assert sum(verdict is None for verdict in verdicts) < 5


def test_a_measured_loop_is_marked_and_judged():
    """5 ms at 1e5 N/m: too late for the paper's gains without damping (4.0 ms), not with (23.4)."""
    config = StabilityConfig(
        stiffness=(1e4, 1e5), delay_ms=(1.0, 10.0), measured_ms=5.0, measured_stiffness=1e5
    )
    outcomes = []
    for case in stability_cases(config):
        recording = run(case)
        rows = tuple(score(case, recording))
        outcomes.append(Outcome(case, RunStatus.COMPLETED, "", rows, recording, {}))
    findings = report(outcomes)
    assert "without damping bears 4 ms, unstable" in findings.conclusion
    assert "bears 23.4 ms, stable" in findings.conclusion
    growth, border = findings.sections[0].figures
    assert [(mark.x, mark.y) for mark in growth.marks if mark.label == "measured"] == [(5.0, 1e5)]
    assert [line.name for line in border.series][-1] == "measured loop"


@pytest.mark.slow
def test_every_cell_of_the_whole_map_agrees():
    rows = [row for case in stability_cases(StabilityConfig()) for row in score(case, run(case))]
    assert len(rows) == 676
    assert all(row["agrees"] is not False for row in rows)


def test_growth_is_measured():
    time = np.linspace(0, 10, 80)
    assert growth_rate(time, np.exp(-0.3 * time)) == pytest.approx(-0.3)
    assert growth_rate(time, np.minimum(np.exp(3 * time), 1e6)) > 1


@pytest.mark.parametrize(("delay_ms", "stable"), [(2, True), (6, False)])
def test_the_controller_itself_is_stable_up_to_the_critical_delay(delay_ms, stable):
    """The law at 10 kHz on a spring of 1e5 N/m felt late: 4.0 ms are critical."""
    law = AdmittanceSE3(AdmittanceGains(300.0, 200.0), timestep=1e-4)
    X, X_WD, zero = np.eye(4), np.eye(4), np.zeros(6)
    X[0, 3] = 1e-3
    late = [0.0] * (delay_ms * 10)
    amplitudes = []
    for _ in range(30000):
        late.append(-1e5 * X[0, 3])
        F_B = np.array([late.pop(0), 0, 0, 0, 0, 0])
        X[0, 3] += 1e-4 * law.step(X, X_WD=X_WD, V_D=zero, F_B=F_B, F_D=zero)[0]
        amplitudes.append(abs(X[0, 3]))
    assert bool(max(amplitudes[-5000:]) < 0.9 * max(amplitudes[:5000])) is stable


@pytest.mark.parametrize(
    "wrong",
    [{"stiffness": ()}, {"delay_ms": (0.0,)}, {"damping_ratio": (-1.0,)}, {"preset": ()},
     {"stiffness": (1e9,), "damping_ratio": (1.0,), "delay_ms": (1e3,)}],
)  # fmt: skip
def test_nonsense_is_refused(wrong):
    with pytest.raises(KinetariumError):
        stability_cases(StabilityConfig(**wrong))
