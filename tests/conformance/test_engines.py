"""Every engine passes every check it declares, and declares all that it can do."""

import pytest

from conformance.engine_names import ENGINES
from kinetarium import check_engine
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.protocol import Capability
from kinetarium.engines.registry import open_engine

_RARE = {Capability.SPINNING_FRICTION, Capability.ROLLING_FRICTION, Capability.SOLVER_REPORT}
_JOINT_SPACE = {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS}
LACKING = {
    "bullet": _RARE | {Capability.MASS_RATIOS},
    "dart": _RARE | {Capability.MESHES},
    "drake": _RARE | {Capability.RESTITUTION},
    "newton": _JOINT_SPACE,
    "ode": _RARE | _JOINT_SPACE,
    "physx": _RARE | _JOINT_SPACE | {Capability.FRICTION_FORCES},
    "rapier": _RARE | _JOINT_SPACE,
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


def test_every_check_names_its_law_and_its_source() -> None:
    assert all(check.help and check.law and check.source for check in CHECKS)
    assert len({check.name for check in CHECKS}) == len(CHECKS) >= 60


@pytest.mark.parametrize("name", ENGINES)
def test_declares_all_that_it_can_do(name: str) -> None:
    lacking = set(Capability) - open_engine(name).info.capabilities
    assert lacking == LACKING.get(name, set())
