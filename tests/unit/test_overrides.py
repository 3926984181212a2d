"""What a study may change in every engine."""

import pytest

from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.dart.options import DartOptions
from kinetarium.engines.ode.options import OdeOptions, OdeSolver
from kinetarium.engines.physx.options import PhysxOptions
from kinetarium.engines.registry import check_timesteps, distinct_iterations
from kinetarium.errors import KinetariumError


def test_iterations_go_where_an_engine_counts_them() -> None:
    assert BulletOptions().with_iterations(7).iterations == 7
    assert PhysxOptions().with_iterations(7).position_iterations == 7
    assert DartOptions().with_iterations(7) == DartOptions()
    assert BulletOptions().with_iterations(0) == BulletOptions()


def test_iterations_of_ode_are_those_of_its_iterative_solver() -> None:
    assert OdeOptions().solver is OdeSolver.DIRECT
    assert OdeOptions().with_iterations(7) == OdeOptions(solver=OdeSolver.QUICK, iterations=7)
    assert OdeOptions().with_iterations(0).solver is OdeSolver.DIRECT


def test_an_engine_without_iterations_is_run_once() -> None:
    assert distinct_iterations(DartOptions(), (0, 5, 20)) == (0,)
    assert distinct_iterations(BulletOptions(), (0, 5, 20, 5)) == (0, 5, 20)
    assert distinct_iterations(BulletOptions(), (50,)) == (50,)
    assert distinct_iterations(BulletOptions(), ()) == (0,)


def test_every_step_is_a_whole_part_of_the_period() -> None:
    check_timesteps((1e-3, 0.01, 0.01 / 3), period=0.01)
    for step in (0.003, 0.02, 0.0, -1e-3, float("nan"), float("inf"), 1e-320):
        with pytest.raises(KinetariumError):
            check_timesteps((step,), period=0.01)
