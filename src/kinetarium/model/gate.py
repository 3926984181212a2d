"""The gate: every robot file passes here, whatever its format, before anything is built on it."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

from kinetarium.model.assets import AssetResolver
from kinetarium.model.findings import Allowance, Code, Findings
from kinetarium.model.mjcf import read_mjcf
from kinetarium.model.reading import Reading
from kinetarium.model.robot import RobotModel
from kinetarium.model.urdf import read_urdf
from kinetarium.model.xacro import expand_xacro, uses_xacro


def read_robot_file(
    file: str | PathLike[str],
    *,
    mesh_roots: Sequence[str | PathLike[str]] = (),
    allow: Iterable[Allowance] = (),
    arguments: Mapping[str, str] | None = None,
) -> RobotModel:
    """Read a URDF, xacro or MJCF file strictly.

    Args:
        file: The robot file; its format is told by its root element.
        mesh_roots: Folders besides the file's own that meshes and includes may come from.
        allow: Faults to let through, each listed among the model's repairs.
        arguments: Values of xacro arguments.

    Raises:
        RobotFileError: If the file is refused; it carries every reason.
    """
    text = fspath(file)
    findings = Findings(text, allow=frozenset(allow))
    if "\0" in text:
        raise findings.refusal(Code.UNREADABLE, "a path cannot hold a NUL character")
    path = Path(text)
    assets = AssetResolver(
        path.parent, roots=[Path(root) for root in mesh_roots], findings=findings
    )
    reading = Reading(path, findings, assets)
    root = reading.open_markup(path)
    if arguments and not uses_xacro(root):
        raise findings.refusal(
            Code.UNKNOWN_NAME, "the file takes no arguments: it is no xacro", line=root.line
        )
    match root.tag:
        case "robot" if uses_xacro(root):
            plain = expand_xacro(root, reading=reading, arguments=arguments or {})
            return read_urdf(plain, reading=reading, format="xacro")
        case "robot":
            return read_urdf(root, reading=reading)
        case "mujoco":
            return read_mjcf(root, reading=reading)
    raise findings.refusal(
        Code.WRONG_ROOT,
        f"the root element is <{root.tag}>",
        remedy="a robot file begins with <robot> (URDF, xacro) or <mujoco> (MJCF)",
        line=root.line,
    )
