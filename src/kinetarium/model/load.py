"""load_robot: from a catalogue name or a robot file to a RobotModel, through the gate."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

from kinetarium.errors import UnknownNameError
from kinetarium.model.catalogue import catalogue_names, load_catalogue_robot
from kinetarium.model.findings import Allowance
from kinetarium.model.gate import read_robot_file
from kinetarium.model.robot import RobotModel

_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf")


def load_robot(
    name_or_path: str | PathLike[str],
    *,
    mesh_roots: Sequence[str | PathLike[str]] = (),
    allow: Iterable[Allowance] = (),
    arguments: Mapping[str, str] | None = None,
) -> RobotModel:
    """Load a robot of the catalogue or from a URDF, xacro or MJCF file.

    Args:
        name_or_path: A catalogue name such as "panda", or a file.
        mesh_roots: Folders besides the file's own that meshes and includes may come from.
        allow: Faults to let through, each listed among the model's repairs.
        arguments: Values of xacro arguments.

    Returns:
        The robot, with everything the gate changed in `repairs`.

    Raises:
        RobotFileError: If the file is refused; it carries every reason.
        UnknownNameError: If it is neither a file nor in the catalogue.
    """
    text = fspath(name_or_path)
    if text in catalogue_names():
        return load_catalogue_robot(text)
    looks_like_a_name = "/" not in text and "\\" not in text and not text.endswith(_SUFFIXES)
    if looks_like_a_name and not _exists(text):
        raise UnknownNameError("robot", text, known=catalogue_names())
    return read_robot_file(text, mesh_roots=mesh_roots, allow=allow, arguments=arguments)


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for the system, or a NUL inside
        return False
