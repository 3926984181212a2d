"""What the tests of engines share."""

from functools import partial

import pytest

from engines.staging import compiled
from kinetarium.engines.registry import open_engine
from needs import need


@pytest.fixture
def start(request: pytest.FixtureRequest):
    """Compile scenes in the engine whose name is the parameter."""
    need(request.param)
    return partial(compiled, open_engine(request.param))
