"""Every engine passes every check it declares, and declares what the studies need."""

import pytest

from conformance.engine_names import ENGINES
from kinetarium import check_engine
from kinetarium.engines.capability import Capability
from kinetarium.engines.registry import open_engine

NEEDED = {
    Capability.CONTACT_FORCES,
    Capability.JOINT_WRENCH,
    Capability.EXTERNAL_WRENCH,
    Capability.MIMIC,
    Capability.FREE_BASE,
}

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("name", ENGINES)
def test_conforms(name: str) -> None:
    outcomes = check_engine(name)
    assert [o for o in outcomes if not o.passed] == []
    assert len(outcomes) >= 18


@pytest.mark.parametrize("name", ENGINES)
def test_declares_what_studies_need(name: str) -> None:
    assert open_engine(name).info.capabilities >= NEEDED
