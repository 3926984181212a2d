"""How a result was made: the command and the versions, for the foot of a report."""

from importlib.metadata import PackageNotFoundError, version
from platform import platform, python_version

_PACKAGES = (
    "kinetarium", "numpy", "matplotlib", "plotly", "jinja2", "example-robot-data", "pybullet",
)  # fmt: skip


def provenance(command_line: str) -> tuple[tuple[str, str], ...]:
    """Give names and values that tell how to make a report again.

    Args:
        command_line: The exact command.
    """
    return (
        ("command", command_line),
        *((name, _version(name)) for name in _PACKAGES),
        ("python", python_version()),
        ("platform", platform(terse=True)),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
