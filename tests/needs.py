"""What a test needs of its machine: where that is missing it is skipped, and in CI it fails.

`make test` installs all that there is for the machine, so that a test skipped in CI would be one
that nobody runs.
"""

import os
import shutil
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from kinetarium.engines.registry import list_engines
from kinetarium.model.assets import installed_packages

COMPLETE = bool(os.environ.get("CI")) and sys.platform == "linux"
"""Whether everything is installed, as in CI; ODE has wheels for Linux alone."""
UNBUILT = ("bullet", "pybullet_data") if sys.version_info >= (3, 12) else ()
"""What has no wheel for this Python, by the markers in pyproject.toml."""
DATA = ("example-robot-data", "pybullet_data")


def needs(what: str) -> pytest.MarkDecorator:
    """Mark a test that needs an engine, a data package, a module, a program or a system."""
    return pytest.mark.needs(what)


def need(what: str) -> None:
    """Leave the test, or the module that is being collected, unless the machine has something."""
    if not has(what):
        leave(what)


def leave(what: str) -> NoReturn:
    """Skip a test for what is missing; in CI, fail it."""
    if COMPLETE and what not in UNBUILT:
        pytest.fail(f"needs {what}, which a machine of CI should have")
    pytest.skip(f"needs {what}", allow_module_level=True)


@cache
def has(what: str) -> bool:
    """Return whether the machine has something."""
    if what in DATA:
        return what in installed_packages()
    if what == "linux":
        return sys.platform == "linux"
    engines = {listing.name: listing.available for listing in list_engines()}
    return engines[what] if what in engines else bool(find_spec(what) or shutil.which(what))


def public(package: str, path: str) -> Path:
    """Return a file of a data package."""
    need(package)
    return installed_packages()[package] / path
