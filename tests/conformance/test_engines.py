"""Every engine passes every check it declares, and declares all that it can do."""

import pytest

from conformance.engine_names import ENGINES
from kinetarium import check_engine
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.protocol import Capability
from kinetarium.engines.registry import open_engine

LACKING = {
    "drake": {Capability.RESTITUTION},
    "newton": {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS},
    "ode": {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS},
    "physx": {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS},
    "rapier": {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS},
}
APPLICABLE = [
    pytest.param(name, check, id=f"{name}-{check.name}")
    for name in ENGINES
    for check in CHECKS
    if not check.needs & LACKING.get(name, set())
]

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(("name", "check"), APPLICABLE)
def test_conforms(name: str, check) -> None:
    (outcome,) = check_engine(name, checks=[check])
    assert outcome.passed, outcome


@pytest.mark.parametrize("name", ENGINES)
def test_declares_all_that_it_can_do(name: str) -> None:
    lacking = set(Capability) - open_engine(name).info.capabilities
    assert lacking == LACKING.get(name, set())
