"""What the tests of engines share."""

from functools import partial

import pytest

from engines.staging import compiled
from kinetarium.engines.registry import EngineUnavailableError, open_engine


@pytest.fixture
def start(request: pytest.FixtureRequest):
    """Compile scenes in the engine whose name is the parameter."""
    try:
        return partial(compiled, open_engine(request.param))
    except EngineUnavailableError as missing:
        pytest.skip(str(missing))
