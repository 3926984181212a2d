"""load_robot: from a catalogue name or a robot file to a RobotModel."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.assets import AssetResolver, installed_packages
from kinetarium.model.diagnostics import Allowance, Code, Diagnostics, RobotFileError
from kinetarium.model.reading import Reading
from kinetarium.model.robot import (
    IDENTITY,
    Declarations,
    Geometry,
    Joint,
    JointType,
    Link,
    Loop,
    MeshFile,
    RobotModel,
    Site,
    Source,
)
from kinetarium.model.urdf import read_urdf
from kinetarium.model.xacro import expand_xacro, uses_xacro
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose_from_rpy


def read_robot_file(
    file: str | PathLike[str],
    *,
    mesh_roots: Sequence[str | PathLike[str]] = (),
    allow: Iterable[Allowance] = (),
    arguments: Mapping[str, str] | None = None,
    root: str = "",
) -> RobotModel:
    """Read a URDF, xacro or MJCF file strictly.

    Args:
        file: The robot file; the root element determines its format.
        mesh_roots: Folders besides the file's own that meshes and includes may come from.
        allow: Faults to allow; each is listed in the model's repairs.
        arguments: Values of xacro arguments.
        root: Name of the body that is the robot, in an MJCF file with several.

    Raises:
        RobotFileError: If the file is refused, with every fault.
    """
    text = fspath(file)
    diagnostics = Diagnostics(text, allow=frozenset(allow))
    if "\0" in text:
        raise diagnostics.refusal(Code.UNREADABLE, "a path cannot contain a NUL character")
    path = Path(text)
    assets = AssetResolver(
        path.parent, roots=[Path(root) for root in mesh_roots], diagnostics=diagnostics
    )
    reading = Reading(path, diagnostics, assets, root)
    with diagnostics.collecting():
        return _read(reading, arguments or {})
    raise RobotFileError(*sorted(diagnostics.refusals, key=lambda one: (one.file, one.line or 0)))


def _read(reading: Reading, arguments: Mapping[str, str]) -> RobotModel:
    diagnostics = reading.diagnostics
    root = reading.open_markup(reading.path)
    if arguments and not uses_xacro(root):
        raise diagnostics.refusal(
            Code.UNKNOWN_NAME, "the file takes no arguments: it is not xacro", line=root.line
        )
    if reading.root and root.tag != "mujoco":
        raise diagnostics.refusal(
            Code.UNKNOWN_NAME,
            f"the root {reading.root!r} cannot be chosen: the file holds one robot",
            remedy="--root is for MJCF files",
        )
    match root.tag:
        case "robot" if uses_xacro(root):
            expanded = expand_xacro(root, reading=reading, arguments=arguments)
            return read_urdf(expanded, reading=reading, format="xacro")
        case "robot":
            return read_urdf(root, reading=reading)
        case "mujoco":
            # Imported here: most robots are URDF files.
            from kinetarium.model.mjcf import read_mjcf

            return read_mjcf(root, reading=reading)
    raise diagnostics.refusal(
        Code.WRONG_ROOT,
        f"the root element is <{root.tag}>",
        remedy="a robot file begins with <robot> (URDF, xacro) or <mujoco> (MJCF)",
        line=root.line,
    )


def attach(
    carrier: RobotModel,
    payload: RobotModel,
    *,
    link: str,
    X_LP: Array = IDENTITY,
    prefix: str = "",
    name: str | None = None,
) -> RobotModel:
    """Fix the root link of one robot to a link of another.

    Args:
        carrier: The robot that carries, such as a mobile base.
        payload: The robot that is carried, such as an arm.
        link: The carrier's link that it is fixed to.
        X_LP: Pose of the payload's root link in that link, shape (4, 4).
        prefix: Put before every name of the payload; needed where both use the same names.
        name: Name of the result; by default both names joined.

    Returns:
        One robot; it floats freely if the carrier does.

    Raises:
        UnknownNameError: If the carrier has no such link.
        KinetariumError: If both have a link, joint or loop of the same name.
    """
    carrier.link(link)
    carried = _renamed(payload, prefix)
    mount = Joint(f"{carried.root}_mount", JointType.FIXED, link, carried.root, frozen(X_LP))
    branch = {link}
    for joint in carrier.joints:
        if joint.parent in branch:
            branch.add(joint.child)
    # Depth-first order: the payload comes after all other descendants of the link.
    end = max(i for i, each in enumerate(carrier.links) if each.name in branch) + 1
    joints = carrier.joints
    name = name or f"{carrier.name}-{payload.name}"
    parts = (carrier.source.sha256, payload.source.sha256, link, prefix, str(X_LP.tolist()))
    whole = RobotModel(
        name=name,
        links=carrier.links[:end] + carried.links + carrier.links[end:],
        joints=(*joints[: end - 1], mount, *carried.joints, *joints[end - 1 :]),
        loops=carrier.loops + carried.loops,
        free_base=carrier.free_base,
        source=Source(name, carrier.source.format, sha256("\n".join(parts).encode()).hexdigest()),
        repairs=carrier.repairs + carried.repairs,
        declared=Declarations(
            driven=carrier.declared.driven + carried.declared.driven,
            sites=carrier.declared.sites + carried.declared.sites,
        ),
    )
    _refuse_shared_names(whole)
    return whole


def _renamed(robot: RobotModel, prefix: str) -> RobotModel:
    """Put a prefix before every name in a robot."""

    def rename_joint(joint: Joint) -> Joint:
        return replace(
            joint,
            name=prefix + joint.name,
            parent=prefix + joint.parent,
            child=prefix + joint.child,
            mimic=joint.mimic and replace(joint.mimic, joint=prefix + joint.mimic.joint),
        )

    def rename_loop(loop: Loop) -> Loop:
        a, b = prefix + loop.link_a, prefix + loop.link_b
        return replace(loop, name=prefix + loop.name, link_a=a, link_b=b)

    return replace(
        robot,
        links=tuple(replace(link, name=prefix + link.name) for link in robot.links),
        joints=tuple(rename_joint(joint) for joint in robot.joints),
        loops=tuple(rename_loop(loop) for loop in robot.loops),
        declared=Declarations(
            driven=tuple(prefix + name for name in robot.declared.driven),
            sites=tuple(
                Site(prefix + site.name, prefix + site.link, site.X_LS)
                for site in robot.declared.sites
            ),
        ),
    )


def _refuse_shared_names(robot: RobotModel) -> None:
    for kind, parts in (("link", robot.links), ("joint", robot.joints), ("loop", robot.loops)):
        (name, times), *_ = Counter(part.name for part in parts).most_common(1) or [("", 0)]
        if times > 1:
            raise KinetariumError(
                f"both robots have a {kind} '{name}'; use a prefix for the names of the second"
            )


_ROBOTS = files("kinetarium") / "robots"


@dataclass(frozen=True, slots=True)
class Mounting:
    """How two robots of the catalogue are combined.

    Attributes:
        carrier: Name of the robot that carries.
        payload: Name of the robot that is carried.
        link: The carrier's link that the payload's root is fixed to.
        xyz: Position of that root in the link [m].
        rpy: Its roll, pitch and yaw [rad].
    """

    carrier: str
    payload: str
    link: str
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class CatalogueMesh:
    """A mesh of an installed data package, shown instead of a link's primitives.

    Attributes:
        uri: Its address, package://PACKAGE/PATH.
        xyz: Position of the mesh in the link [m].
        rpy: Its roll, pitch and yaw [rad].
        color: Red, green, blue and opacity in 0..1, or None for that of the primitives.
    """

    uri: str
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    color: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """The catalogue's data of a robot, known without opening its file.

    Attributes:
        name: The name it is loaded by.
        title: Maker and model.
        description: One line on its use.
        licence: Licence of the published facts it is built on, as their source states it.
        sources: Where those facts come from.
        base: The root link.
        home: Joint positions of the home pose by joint name [rad or m]; others are zero.
        display: Meshes to show by link, if their package is installed.
        flange: The link to which tools are fixed; empty for a robot without an arm.
        tool: The end-effector link; empty for a robot without an arm.
        free_base: Whether the root floats freely.
        base_height: Height of the root link over the ground [m].
        file: The robot file, or empty for a robot combined from two others.
        mounting: How it is combined, or None for a robot with its own file.
    """

    name: str
    title: str
    description: str
    licence: str
    sources: tuple[str, ...]
    base: str
    home: Mapping[str, float]
    display: Mapping[str, tuple[CatalogueMesh, ...]]
    flange: str = ""
    tool: str = ""
    free_base: bool = False
    base_height: float = 0.0
    file: str = ""
    mounting: Mounting | None = None


@cache
def list_robots() -> tuple[CatalogueEntry, ...]:
    """Return every robot of the catalogue, in its order; no robot file is opened.

    Example:
        >>> from kinetarium import list_robots
        >>> [entry.name for entry in list_robots() if entry.free_base]
        ['husky4', 'husky2', 'scout', 'husky4-panda', 'scout-panda']
    """
    entries: dict[str, CatalogueEntry] = {}
    for name, table in tomllib.loads((_ROBOTS / "catalogue.toml").read_text("utf-8")).items():
        if "mounting" in table:
            entries[name] = _composite(name, table, entries)
        else:
            entries[name] = _entry(name, table)
    return tuple(entries.values())


def catalogue_names() -> tuple[str, ...]:
    """Return the names of the robots in the catalogue, in its order."""
    return tuple(entry.name for entry in list_robots())


def catalogue_entry(name: str) -> CatalogueEntry:
    """Return the catalogue's data of one robot.

    Raises:
        UnknownNameError: If there is no robot of that name.
    """
    for entry in list_robots():
        if entry.name == name:
            return entry
    raise UnknownNameError("robot", name, known=catalogue_names())


def load_catalogue_robot(name: str) -> RobotModel:
    """Load a robot of the catalogue.

    Links have the visual meshes of an installed data package, if there is one, and their
    collision primitives otherwise; the physics is the same.
    """
    entry = catalogue_entry(name)
    if entry.mounting:
        mounting = entry.mounting
        carrier = load_catalogue_robot(mounting.carrier)
        payload = load_catalogue_robot(mounting.payload)
        X_LP = _pose(mounting.xyz, mounting.rpy)
        return attach(carrier, payload, link=mounting.link, X_LP=X_LP, name=name)
    with as_file(_ROBOTS / entry.file) as path:
        robot = read_robot_file(path)
    return replace(
        robot,
        name=name,
        free_base=entry.free_base,
        links=tuple(
            _with_display_meshes(link, entry.display.get(link.name, ())) for link in robot.links
        ),
        source=replace(robot.source, file=name),
    )


def robot_file(name_or_path: str | PathLike[str]) -> AbstractContextManager[Path]:
    """Return the URDF or MJCF file of a robot, as a context in which it exists.

    Raises:
        KinetariumError: If it is combined of two robots, or a xacro file.
    """
    text = fspath(name_or_path)
    if text in catalogue_names():
        entry = catalogue_entry(text)
        if entry.mounting:
            raise KinetariumError(f"robot '{text}' is combined of two files and has none itself")
        return as_file(_ROBOTS / entry.file)
    if text.endswith(".xacro"):
        raise KinetariumError("a xacro file has to be expanded first: kinetarium convert")
    return nullcontext(Path(text))


def _entry(name: str, table: dict[str, Any]) -> CatalogueEntry:
    display = {
        link: tuple(CatalogueMesh(**_tuples(mesh)) for mesh in meshes)
        for link, meshes in table.pop("display", {}).items()
    }
    home = MappingProxyType(table.pop("home", {}))
    return CatalogueEntry(name, home=home, display=MappingProxyType(display), **_tuples(table))


def _composite(
    name: str, table: dict[str, Any], known: Mapping[str, CatalogueEntry]
) -> CatalogueEntry:
    """Derive the entry of a combined robot from those of its two robots."""
    mounting = Mounting(**_tuples(table["mounting"]))
    carrier, payload = known[mounting.carrier], known[mounting.payload]
    return CatalogueEntry(
        name,
        title=table["title"],
        description=table["description"],
        licence=f"{carrier.licence} AND {payload.licence}",
        sources=carrier.sources + payload.sources,
        base=carrier.base,
        flange=payload.flange,
        tool=payload.tool,
        free_base=carrier.free_base,
        base_height=carrier.base_height,
        home=MappingProxyType({**carrier.home, **payload.home}),
        mounting=mounting,
        display=MappingProxyType({**carrier.display, **payload.display}),
    )


def _with_display_meshes(link: Link, meshes: tuple[CatalogueMesh, ...]) -> Link:
    """Use meshes as visuals of a link, if all of them are installed."""
    visuals = []
    for mesh in meshes:
        package, _, path = mesh.uri.removeprefix("package://").partition("/")
        folder = installed_packages().get(package)
        if folder is None or not (folder / path).is_file():
            return link
        shape = MeshFile(mesh.uri, folder / path)
        color = mesh.color or link.visuals[0].color
        visuals.append(Geometry(shape, _pose(mesh.xyz, mesh.rpy), color=color))
    return replace(link, visuals=tuple(visuals)) if visuals else link


def _pose(xyz: tuple[float, float, float], rpy: tuple[float, float, float]) -> Array:
    return frozen(pose_from_rpy(xyz, rpy))


def _tuples(table: dict[str, Any]) -> dict[str, Any]:
    """Convert the lists of a TOML table to tuples."""
    return {key: tuple(value) if type(value) is list else value for key, value in table.items()}


ROBOT_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf")


def load_robot(
    name_or_path: str | PathLike[str],
    *,
    mesh_roots: Sequence[str | PathLike[str]] = (),
    allow: Iterable[Allowance] = (),
    arguments: Mapping[str, str] | None = None,
    root: str = "",
) -> RobotModel:
    """Load a robot of the catalogue or from a URDF, xacro or MJCF file.

    Example:
        >>> from kinetarium import load_robot
        >>> load_robot("ur5").joint("elbow_joint").limits.velocity
        3.15

    Args:
        name_or_path: A catalogue name such as "panda", or a file.
        mesh_roots: Folders besides the file's own that meshes and includes may come from.
        allow: Faults to allow; each is listed in the model's repairs.
        arguments: Values of xacro arguments.
        root: Name of the body that is the robot, in an MJCF file with several.

    Returns:
        The robot, with every change that was made in `repairs`.

    Raises:
        RobotFileError: If the file is refused, with every fault.
        UnknownNameError: If it is neither a file nor in the catalogue.
        KinetariumError: If it is an address.
    """
    text = fspath(name_or_path)
    if text in catalogue_names():
        return load_catalogue_robot(text)
    if "://" in text:
        raise KinetariumError(f"'{text}' is an address; download the robot, nothing is fetched")
    looks_like_a_name = "/" not in text and "\\" not in text and not text.endswith(ROBOT_SUFFIXES)
    if looks_like_a_name and not _exists(text):
        raise UnknownNameError("robot", text, known=catalogue_names())
    return read_robot_file(text, mesh_roots=mesh_roots, allow=allow, arguments=arguments, root=root)


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for the system, or contains NUL
        return False
