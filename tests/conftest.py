"""What holds for all tests."""

import os
import signal

import pytest

from needs import need

# Tables fit the width of COLUMNS, which the workers of pytest-xdist set.
os.environ.pop("COLUMNS", None)

# A shell that starts the tests in the background makes them deaf to ctrl-C, and with them every
# process whose answer to it is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave tests whose machine lacks what they are marked to need."""
    for mark in item.iter_markers("needs"):
        need(*mark.args)
