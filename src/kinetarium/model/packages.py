"""Robot data packages that are installed beside Kinetarium."""

from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path


@cache
def installed_packages() -> dict[str, Path]:
    """Give the folders of the installed robot data packages by name, importing none of them."""
    found = {"example-robot-data": _example_robot_data(), "pybullet_data": _pybullet_data()}
    return {name: folder.resolve() for name, folder in found.items() if folder and folder.is_dir()}


def _example_robot_data() -> Path | None:
    """The wheel installs its data under a prefix of its own, beside the Python packages."""
    try:
        wheel = distribution("example-robot-data")
    except PackageNotFoundError:
        return None
    return Path(str(wheel.locate_file("cmeel.prefix/share/example-robot-data")))


def _pybullet_data() -> Path | None:
    spec = find_spec("pybullet_data")
    return Path(spec.origin).parent if spec and spec.origin else None
