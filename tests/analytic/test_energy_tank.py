"""A variable impedance in contact: the energy that it adds, with a tank and without."""

import numpy as np
import pytest

from kinetarium.control.admittance.law import AdmittanceGains, AdmittanceSE3
from kinetarium.control.admittance.tank import EnergyTank, VariableImpedance, matrix
from kinetarium.errors import KinetariumError
from kinetarium.spatial import se3

DT = 1e-3
REST, ZERO = np.eye(4), np.zeros(6)


def random_gains(rng: np.random.Generator) -> AdmittanceGains:
    """Draw two positive definite matrices."""
    parts = []
    for low, high in ((50.0, 400.0), (50.0, 4000.0)):
        turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
        full = turn @ np.diag(rng.uniform(low, high, 6)) @ turn.T
        parts.append((full + full.T) / 2)
    return AdmittanceGains(*parts)


def kinetic(law: AdmittanceSE3) -> float:
    """Return h^T D h/(2 s), from the gains and the impulse alone."""
    D, K = matrix(law.gains.D), matrix(law.gains.K)
    h = np.linalg.solve(D, law.impulse - K @ law.error)
    return float(h @ D @ h) / (2 * law.gains.wrench_gain)


@pytest.mark.parametrize("level", [0.0, 0.02])
def test_random_changes_never_add_more_than_the_tank_has(level: float) -> None:
    rng = np.random.default_rng(3)
    law = AdmittanceSE3(random_gains(rng), timestep=DT)
    tank = EnergyTank(level, capacity=0.02)
    impedance = VariableImpedance(law, tank=tank)
    stiffness = np.array([1e4] * 3 + [500.0] * 3)
    X, added, partly = np.eye(4), 0.0, 0
    law.take_over(rng.uniform(-0.1, 0.1, 6))
    for tick in range(5000):
        F_D = rng.uniform(-60, 60, 6) * [1, 1, 1, 0.1, 0.1, 0.1] if tick % 200 < 40 else ZERO
        F_B = -stiffness * se3.log(X)
        V = law.step(X, X_WD=REST, V_D=ZERO, F_B=F_B, F_D=F_D)
        if tick % 5 == 0:  # 1,000 changes
            impedance.request(random_gains(rng))
        before, there = kinetic(law), tank.level
        spent, filled = tank.spent, tank.filled
        impedance.advance()
        more = kinetic(law) - before
        added += more
        assert more <= there + (tank.filled - filled) + 1e-9
        assert tank.spent - spent == pytest.approx(max(more, 0.0), abs=1e-9)
        assert 0 <= tank.level <= tank.capacity
        assert added <= level + tank.filled + 1e-9
        partly += not impedance.is_done
        X = X @ se3.exp(V * DT)
    assert impedance.added == pytest.approx(added, abs=1e-6)
    assert tank.spent > 0.02 and partly > 20  # it did pay, and it did refuse


def swing(tank: EnergyTank | None) -> tuple[float, float]:
    """Return the greatest departure of the first and of the last period [m].

    D is quadrupled whenever the body passes the middle at full speed, and put back when it turns
    round: each half period doubles the energy, more than a weak damper takes.
    """
    light, heavy = AdmittanceGains(100.0, 40.0), AdmittanceGains(400.0, 40.0)
    law = AdmittanceSE3(light, timestep=DT)
    impedance = VariableImpedance(law, tank=tank)
    law.take_over(np.array([0.05, 0, 0, 0, 0, 0]))
    X, places, last = np.eye(4), [], np.zeros(2)
    for _ in range(4000):
        F_B = np.array([-1e4 * X[0, 3], 0, 0, 0, 0, 0])
        V = law.step(X, X_WD=REST, V_D=ZERO, F_B=F_B, F_D=ZERO)
        if last[0] * X[0, 3] < 0:
            impedance.request(heavy)
        elif last[1] * V[0] < 0:
            impedance.request(light)
        impedance.advance()
        last = np.array([X[0, 3], V[0]])
        X = X @ se3.exp(V * DT)
        places.append(abs(X[0, 3]))
        if places[-1] > 10:
            break
    return max(places[:500]), max(places[-500:])


def test_a_constructed_change_is_unstable_without_a_tank_and_bounded_with_one() -> None:
    first, last = swing(None)
    assert last > 20 * first
    _, last = swing(EnergyTank(0.1, capacity=1.0))
    at_first = 0.5 * 100.0 / 0.5 * 0.05**2
    assert last <= 1.01 * np.sqrt(2 * (at_first + 0.1) / 1e4)


def test_a_tank_cannot_start_beyond_its_capacity_and_s_is_no_impedance() -> None:
    with pytest.raises(KinetariumError, match="cannot start"):
        EnergyTank(3.0, capacity=2.0)
    law = AdmittanceSE3(AdmittanceGains(300.0, 200.0), timestep=DT)
    with pytest.raises(KinetariumError, match="wrench error"):
        VariableImpedance(law, tank=None).request(AdmittanceGains(1.0, 1.0, wrench_gain=1.0))
