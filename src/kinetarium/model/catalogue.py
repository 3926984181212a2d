"""The robots that come with Kinetarium: what there is, and loading one by name."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from types import MappingProxyType
from typing import Any

from kinetarium.errors import UnknownNameError
from kinetarium.model.attach import attach
from kinetarium.model.gate import read_robot_file
from kinetarium.model.packages import installed_packages
from kinetarium.model.robot import Geometry, Link, RobotModel
from kinetarium.model.shapes import MeshFile
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_rpy

_ROBOTS = files("kinetarium") / "robots"


@dataclass(frozen=True, slots=True)
class Mounting:
    """How two robots of the catalogue make a third.

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
class DisplayMesh:
    """A mesh of an installed data package that is shown in place of a link's primitives.

    Attributes:
        uri: Its address, package://PACKAGE/PATH.
        xyz: Position of the mesh in the link [m].
        rpy: Its roll, pitch and yaw [rad].
        color: Red, green, blue and opacity in 0..1, or None for that of
            the primitives it stands for.
    """

    uri: str
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    color: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What the catalogue says of a robot without opening its file.

    Attributes:
        name: The name it is loaded by.
        title: Maker and model.
        description: One line on what it is good for.
        licence: Licence of the published facts it is built on, as their source states it.
        sources: Where those facts come from.
        base: The root link.
        home: Joint positions of the home pose by joint name [rad or m]; others are zero.
        display: Meshes to show by link, if their package is installed.
        flange: The link tools are fixed to; empty for a robot without an arm.
        tool: The link that does the work; empty for a robot without an arm.
        free_base: Whether the root floats freely.
        base_height: Height of the root link over the ground it stands on [m].
        file: The robot file, or empty for a robot put together from two others.
        mounting: How it is put together, or None for a robot with a file of its own.
    """

    name: str
    title: str
    description: str
    licence: str
    sources: tuple[str, ...]
    base: str
    home: Mapping[str, float]
    display: Mapping[str, tuple[DisplayMesh, ...]]
    flange: str = ""
    tool: str = ""
    free_base: bool = False
    base_height: float = 0.0
    file: str = ""
    mounting: Mounting | None = None


@cache
def catalogue() -> tuple[CatalogueEntry, ...]:
    """Give every robot of the catalogue, in its order; no robot file is opened."""
    entries: dict[str, CatalogueEntry] = {}
    for name, table in tomllib.loads((_ROBOTS / "catalogue.toml").read_text("utf-8")).items():
        if "mounting" in table:
            entries[name] = _composite(name, table, entries)
        else:
            entries[name] = _entry(name, table)
    return tuple(entries.values())


def catalogue_names() -> tuple[str, ...]:
    """Give the names of the robots in the catalogue, in its order."""
    return tuple(entry.name for entry in catalogue())


def catalogue_entry(name: str) -> CatalogueEntry:
    """Give what the catalogue says of one robot.

    Raises:
        UnknownNameError: If there is no robot of that name.
    """
    for entry in catalogue():
        if entry.name == name:
            return entry
    raise UnknownNameError("robot", name, known=catalogue_names())


def load_catalogue_robot(name: str) -> RobotModel:
    """Load a robot of the catalogue through the gate.

    Links show the meshes of an installed data package where there are any,
    and their collision primitives otherwise; the physics is the same.

    Raises:
        UnknownNameError: If there is no robot of that name.
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
        links=tuple(_dressed(link, entry.display.get(link.name, ())) for link in robot.links),
        source=replace(robot.source, file=name),
    )


def _entry(name: str, table: dict[str, Any]) -> CatalogueEntry:
    display = {
        link: tuple(DisplayMesh(**_tuples(mesh)) for mesh in meshes)
        for link, meshes in table.pop("display", {}).items()
    }
    home = MappingProxyType(table.pop("home", {}))
    return CatalogueEntry(name, home=home, display=MappingProxyType(display), **_tuples(table))


def _composite(
    name: str, table: dict[str, Any], known: Mapping[str, CatalogueEntry]
) -> CatalogueEntry:
    """Take over from the two robots what follows from them."""
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


def _dressed(link: Link, meshes: tuple[DisplayMesh, ...]) -> Link:
    """Show meshes in place of a link's primitives, if all of them are installed."""
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
    return frozen(pose(xyz, rotation_from_rpy(rpy)))


def _tuples(table: dict[str, Any]) -> dict[str, Any]:
    """Turn the lists of a TOML table into tuples."""
    return {key: tuple(value) if type(value) is list else value for key, value in table.items()}
