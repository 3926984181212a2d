"""A robot model as MJCF, complete and exact to the last digit."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isinf
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from kinetarium.model.mesh.formats import stl_bytes
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.triangles import read_only_mesh
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Inertia,
    Joint,
    JointType,
    Link,
    LoopKind,
    MeshData,
    MeshFile,
    RobotModel,
    Shape,
    Sphere,
    TriangleMesh,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation

MOST_FACES = 200_000
"""MuJoCo's limit for STL files; larger meshes are split."""
_FLATNESS = 1e-6
"""A mesh thinner than this fraction of its extent is flat."""
_THICKNESS = 1e-4
"""Thickness that a flat mesh gets, as a fraction of its extent."""


class MeshFiles:
    """Collects the meshes of one model, each of them once.

    Attributes:
        files: The files so far, by name.
    """

    def __init__(self) -> None:
        """Start without files."""
        self.files: dict[str, bytes] = {}
        self._names: dict[tuple[Path | int, tuple[float, ...]], list[str]] = {}

    def add(self, shape: MeshFile | MeshData) -> list[str]:
        """Add a mesh, and return the file names of its pieces: none if it has no surface."""
        if isinstance(shape, MeshFile):
            key: tuple[Path | int, tuple[float, ...]] = (shape.path, shape.scale)
        else:
            key = (id(shape.mesh), ())
        if key not in self._names:
            mesh = _with_volume(mesh_of(shape))
            self._names[key] = [self._write(piece) for piece in _pieces(mesh)] if mesh else []
        return self._names[key]

    def _write(self, mesh: TriangleMesh) -> str:
        name = f"{len(self.files):03d}.stl"
        self.files[name] = stl_bytes(mesh)
        return name


def _with_volume(mesh: TriangleMesh) -> TriangleMesh | None:
    """Add a second layer to a flat mesh, since MuJoCo needs a convex hull for collisions."""
    vertices = mesh.vertices.astype(np.float32).astype(np.float64)
    centered = vertices - vertices.mean(axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    thin, middle, long = np.ptp(centered @ axes, axis=0)
    if middle <= _FLATNESS * long:
        return None
    if thin > _FLATNESS * long:
        return mesh
    layer = mesh.vertices + _THICKNESS * long * axes[:, 0]
    return read_only_mesh(
        np.concatenate([mesh.vertices, layer]),
        np.concatenate([mesh.faces, mesh.faces[:, ::-1] + len(layer)]),
    )


def _pieces(mesh: TriangleMesh) -> Iterator[TriangleMesh]:
    for start in range(0, len(mesh.faces), MOST_FACES):
        yield TriangleMesh(mesh.vertices, mesh.faces[start : start + MOST_FACES])


_WORLD = "world"
_UNLIMITED = 1e10
"""MuJoCo's notation for no limit [rad or m]."""
_LEAST_ROOM = 1e-9
"""Least range of a joint: MuJoCo refuses an empty one."""
_LEAST_INERTIA = 1e-14
"""Least mass [kg] and moment [kg m^2] of a moving body that MuJoCo accepts."""


class ActuatorKind(StrEnum):
    """What the actuators of a written file command."""

    POSITION = "position"
    VELOCITY = "velocity"
    TORQUE = "torque"


@dataclass(frozen=True, kw_only=True)
class MjcfExtras:
    """What a file gets beside the mechanics of a robot.

    Attributes:
        actuators: The kind of actuators of the independent joints; None for no actuators.
        stiffness: Gain kp of position actuators [N m/rad or N/m].
        damping: Gain kv of position and velocity actuators [N m s/rad or N s/m].
        home: Positions of joints in the keyframe "home" [rad or m]; None for no keyframe. Joints
            that are missing are at zero.
        height: Height of a free base in that keyframe [m].
    """

    actuators: ActuatorKind | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    home: Mapping[str, float] | None = None
    height: float = 0.0


_NO_EXTRAS = MjcfExtras()
_COLLISION = {"group": "3"}
_VISUAL = {"group": "2", "contype": "0", "conaffinity": "0"}


def write_mjcf(
    model: RobotModel, *, mesh_folder: str, extras: MjcfExtras = _NO_EXTRAS
) -> tuple[str, dict[str, bytes]]:
    """Write a model as MJCF.

    Every link is a body; a massless fixed root named "world" is MuJoCo's world.
    Speed limits are omitted, since MJCF has none. Meshes are written as numbered
    files beside it.

    Args:
        mesh_folder: Folder of the mesh files, relative to the MJCF file.
        extras: Actuators and a keyframe.

    Returns:
        The text, and the mesh files by name.
    """
    writer = _Writer(model)
    bodies = list(writer.bodies())
    meshes = writer.meshes.files
    lines = [
        f"<mujoco model={quoteattr(model.name)}>",
        "  " + _tag("compiler", angle="radian", inertiafromgeom="false", meshdir=mesh_folder),
        # Masses are written with the bodies; as a shell even a flat mesh is accepted.
        *_section("asset", (_tag("mesh", name=n, file=n, inertia="shell") for n in meshes)),
        *_section("worldbody", bodies),
        *_section("equality", writer.equalities()),
        *_section("actuator", _actuators(model, extras)),
        *_section("keyframe", _keyframes(model, extras)),
        "</mujoco>",
    ]
    return "\n".join(lines) + "\n", meshes


class _Writer:
    """Writes the parts of one model, line by line."""

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self.meshes = MeshFiles()
        self._geom_names: set[str] = set()
        self._sites: dict[str, list[str]] = defaultdict(list)
        for loop in model.loops:
            self._sites[loop.link_a].append(_tag("site", name=f"{loop.name}/a", **_pose(loop.X_AC)))
            self._sites[loop.link_b].append(_tag("site", name=f"{loop.name}/b", **_pose(loop.X_BC)))
        root = model.links[0]
        massless = root.inertia is None and not model.free_base
        self._world = root.name if root.name == _WORLD and massless else None

    def bodies(self) -> Iterator[str]:
        """Yield the links as nested bodies."""
        opened: list[str] = []
        for link in self._model.links:
            joint = self._model.parent_joint.get(link.name)
            while opened and joint and opened[-1] != joint.parent:
                yield from self._end(opened)
            if link.name != self._world:
                placed = _pose(joint.X_PJ) if joint else {}
                begin = _tag("body", name=self._body_name(link.name), **placed)
                yield "  " * len(opened) + begin.removesuffix("/>") + ">"
            opened.append(link.name)
            yield from ("  " * len(opened) + line for line in self._content(link, joint))
        while opened:
            yield from self._end(opened)

    def equalities(self) -> Iterator[str]:
        """Yield the couplings and the loops."""
        for joint in self._model.joints:
            if joint.mimic:
                line = [joint.mimic.offset, joint.mimic.multiplier, 0.0, 0.0, 0.0]
                yield _tag(
                    "joint", joint1=joint.name, joint2=joint.mimic.joint, polycoef=_numbers(line)
                )
        for loop in self._model.loops:
            tag = "connect" if loop.kind is LoopKind.POINT else "weld"
            yield _tag(tag, name=loop.name, site1=f"{loop.name}/a", site2=f"{loop.name}/b")

    def _end(self, opened: list[str]) -> Iterator[str]:
        if opened.pop() != self._world:
            yield "  " * len(opened) + "</body>"

    def _body_name(self, link: str) -> str:
        """Return a link's own name; "world" is reserved in MuJoCo and gets underscores."""
        names = {each.name for each in self._model.links} if link == _WORLD else set()
        while link in names or link == _WORLD:
            link += "_"
        return link

    def _content(self, link: Link, joint: Joint | None) -> Iterator[str]:
        if joint is None and self._model.free_base:
            yield _tag("freejoint")
        if joint is not None and joint.type is not JointType.FIXED:
            yield _joint(joint)
        if link.inertia is not None:
            yield _inertial(link.inertia)
        for geometry in link.collisions:
            yield from self._geom(geometry, _COLLISION)
        for geometry in link.visuals:
            yield from self._geom(geometry, _VISUAL)
        yield from self._sites[link.name]

    def _geom(self, geometry: Geometry, role: dict[str, str]) -> Iterator[str]:
        common = {**role, **_pose(geometry.X_LG)}
        if geometry.color:
            common["rgba"] = _numbers(geometry.color)
        for shape in self._shapes(geometry.shape):
            named = {}
            # MuJoCo refuses duplicate names of geoms; a model allows them.
            if geometry.name and geometry.name not in self._geom_names:
                named["name"] = geometry.name
                self._geom_names.add(geometry.name)
            yield _tag("geom", **named, **shape, **common)

    def _shapes(self, shape: Shape) -> list[dict[str, str]]:
        """Return the attributes of a shape, or of the pieces of a mesh."""
        match shape:
            case Box(size):
                return [{"type": "box", "size": _numbers(edge / 2 for edge in size)}]
            case Sphere(radius):
                return [{"type": "sphere", "size": repr(radius)}]
            case Cylinder(radius, length):
                return [{"type": "cylinder", "size": _numbers((radius, length / 2))}]
            case Capsule(radius, length):
                return [{"type": "capsule", "size": _numbers((radius, length / 2))}]
            case MeshFile() | MeshData():
                return [{"type": "mesh", "mesh": name} for name in self.meshes.add(shape)]


def _joint(joint: Joint) -> str:
    attributes = {
        "name": joint.name,
        "type": "slide" if joint.type is JointType.PRISMATIC else "hinge",
        "axis": _numbers(joint.axis),
    }
    lower, upper = joint.limits.lower, joint.limits.upper
    if not (isinf(lower) and isinf(upper)):
        bounds = (max(lower, -_UNLIMITED), min(max(upper, lower + _LEAST_ROOM), _UNLIMITED))
        attributes |= {"limited": "true", "range": _numbers(bounds)}
    if not isinf(joint.limits.effort):
        effort = max(joint.limits.effort, _LEAST_ROOM)
        attributes["actuatorfrcrange"] = _numbers((-effort, effort))
    losses = {
        "damping": joint.damping,
        "frictionloss": joint.friction,
        "armature": joint.armature,
        "stiffness": joint.stiffness,
        "springref": joint.springref,
    }
    attributes |= {name: repr(value) for name, value in losses.items() if value}
    return _tag("joint", **attributes)


def driven_joints(model: RobotModel) -> list[Joint]:
    """Return the joints that get actuators: those that the file drives, or all independent ones."""
    free = [joint for joint in model.moving_joints if joint.mimic is None]
    return [joint for joint in free if joint.name in model.declared.driven] or free


def _actuators(model: RobotModel, extras: MjcfExtras) -> Iterator[str]:
    for joint in driven_joints(model) if extras.actuators else ():
        limits, attributes = joint.limits, {"name": joint.name, "joint": joint.name}
        effort = "" if isinf(limits.effort) else _numbers((-limits.effort, limits.effort))
        match extras.actuators:
            case ActuatorKind.POSITION:
                attributes |= {"kp": repr(extras.stiffness), "kv": repr(extras.damping)}
                if not isinf(limits.lower) and limits.lower < limits.upper < inf:
                    attributes["ctrlrange"] = _numbers((limits.lower, limits.upper))
                yield _tag("position", **attributes, **({"forcerange": effort} if effort else {}))
            case ActuatorKind.VELOCITY:
                attributes["kv"] = repr(extras.damping)
                yield _tag("velocity", **attributes, **({"forcerange": effort} if effort else {}))
            case ActuatorKind.TORQUE:
                yield _tag("motor", **attributes, **({"ctrlrange": effort} if effort else {}))


def _keyframes(model: RobotModel, extras: MjcfExtras) -> Iterator[str]:
    if extras.home is None:
        return
    home = {joint.name: extras.home.get(joint.name, 0.0) for joint in model.moving_joints}
    for joint in model.moving_joints:
        if joint.mimic:
            home[joint.name] = joint.mimic.multiplier * home[joint.mimic.joint] + joint.mimic.offset
    base = [0.0, 0.0, extras.height, 1.0, 0.0, 0.0, 0.0] if model.free_base else []
    control = {}
    if extras.actuators is ActuatorKind.POSITION:
        control["ctrl"] = _numbers(home[joint.name] for joint in driven_joints(model))
    yield _tag("key", name="home", qpos=_numbers([*base, *home.values()]), **control)


def _inertial(inertia: Inertia) -> str:
    """Write principal moments and axes, which MuJoCo keeps unchanged."""
    moments, axes = np.linalg.eigh(inertia.moment)
    if np.linalg.det(axes) < 0:
        axes = -axes
    return _tag(
        "inertial",
        pos=_numbers(inertia.center),
        quat=_numbers(quaternion_from_rotation(axes)),
        mass=repr(float(max(inertia.mass, _LEAST_INERTIA))),
        diaginertia=_numbers(np.maximum(moments, _LEAST_INERTIA)),
    )


def _pose(X: Array) -> dict[str, str]:
    return {"pos": _numbers(X[:3, 3]), "quat": _numbers(quaternion_from_rotation(X[:3, :3]))}


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)


def _tag(tag: str, /, **attributes: str) -> str:
    words = [tag, *(f"{name}={quoteattr(text)}" for name, text in attributes.items())]
    return f"<{' '.join(words)}/>"


def _section(tag: str, lines: Iterable[str]) -> list[str]:
    inner = [f"    {line}" for line in lines]
    return [f"  <{tag}>", *inner, f"  </{tag}>"] if inner else []
