"""COLLADA files: the triangles of the scene, placed by its nodes, in metres.

The file's <unit> is applied. Its <up_axis> is not, as in Pinocchio and in RViz:
programs such as MeshLab write Y_UP into every file, so that existing robot files
rely on untransformed coordinates.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.diagnostics import Diagnostics, RobotFileError
from kinetarium.model.markup import Element, parse_xml
from kinetarium.model.mesh.triangles import (
    MOST_COORDINATE,
    MOST_STEPS,
    MOST_TRIANGLES,
    BrokenMeshError,
    decimal_numbers,
    fan_triangles,
    refuse_placeholder,
    triangle_mesh,
)
from kinetarium.model.robot import TriangleMesh
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about

MOST_DEPTH = 100

_TRANSFORMS = {"matrix": 16, "translate": 3, "rotate": 4, "scale": 3}
_COUNT = re.compile(r"[0-9]{1,9}")


def read_collada(data: bytes) -> TriangleMesh:
    """Read a COLLADA file."""
    refuse_placeholder(data)
    try:
        root = parse_xml(data, diagnostics=Diagnostics(""))
    except RobotFileError as error:
        refusal = error.refusals[0]
        raise BrokenMeshError(refusal.message, line=refusal.line) from None
    if root.tag != "COLLADA":
        raise BrokenMeshError(f"its root is <{root.tag[:40]}> instead of <COLLADA>", line=root.line)
    with np.errstate(all="ignore"):  # overflows are refused at the end
        return triangle_mesh(*_ColladaScene(root).read())


class _Triangles(NamedTuple):
    """Points, shape (n, 3), and triangles between them, shape (m, 3)."""

    vertices: Array
    faces: NDArray[np.int64]


class _ColladaScene:
    """The scene of one document."""

    def __init__(self, root: Element) -> None:
        self._root = root
        # Some exporters give a scene and its node the same id.
        self._by_id = {(e.tag, e.attributes.get("id")): e for e in root.walk()}
        self._parts: list[_Triangles] = []
        self._geometries: dict[int, _Triangles] = {}
        self._positions: dict[str, Array] = {}
        self._steps = 0
        self._triangles = 0

    def read(self) -> _Triangles:
        """Return the triangles of the scene; without <scene> those of all visual scenes."""
        self._check_up_axis()
        X = np.diag([*[self._unit()] * 3, 1.0])
        shown = [
            self._target(instance, "url", "visual_scene")
            for scene in self._root.all("scene")
            for instance in scene.all("instance_visual_scene")
        ]
        scenes = shown or self._library("visual_scenes", "visual_scene")
        if len(scenes) == 1:
            for node in scenes[0].all("node"):
                self._visit(node, X, depth=0)
        else:
            for geometry in self._library("geometries", "geometry"):
                self._show(geometry, X)
        return _joined(self._parts)

    def _library(self, name: str, tag: str) -> list[Element]:
        libraries = self._root.all(f"library_{name}")
        return [element for library in libraries for element in library.all(tag)]

    def _check_up_axis(self) -> None:
        for axis in (axis for asset in self._root.all("asset") for axis in asset.all("up_axis")):
            if axis.text.strip() not in ("X_UP", "Y_UP", "Z_UP"):
                _refuse(axis, "must be X_UP, Y_UP or Z_UP")

    def _unit(self) -> float:
        """Return the length of the file's unit [m]."""
        for unit in (unit for asset in self._root.all("asset") for unit in asset.all("unit")):
            meter = float(_numbers(unit, unit.attributes.get("meter", "1"), count=1)[0])
            return meter if meter > 0 else _refuse(unit, "is not positive")
        return 1.0

    def _visit(self, node: Element, X: Array, *, depth: int) -> None:
        """Collect the geometry of a node and its descendants; X is the pose of its parent."""
        self._count_steps(node)
        if depth > MOST_DEPTH:
            _refuse(node, "contains itself")
        for child in node.children:
            if child.tag in _TRANSFORMS:
                X = X @ _transform(child)
            elif child.tag in ("lookat", "skew", "instance_controller"):
                _refuse(child, "is not supported")
        for child in node.children:
            match child.tag:
                case "instance_geometry":
                    self._show(self._target(child, "url", "geometry"), X)
                case "instance_node":
                    self._visit(self._target(child, "url", "node"), X, depth=depth + 1)
                case "node":
                    self._visit(child, X, depth=depth + 1)

    def _count_steps(self, element: Element) -> None:
        self._steps += 1 + len(element.children)
        if self._steps > MOST_STEPS:
            _refuse(element, f"instantiates more than {MOST_STEPS:,} nodes and surfaces")

    def _show(self, geometry: Element, X: Array) -> None:
        vertices, faces = self._geometry(geometry)
        self._triangles += len(faces)
        if self._triangles > MOST_TRIANGLES:
            _refuse(geometry, f"instantiates more than {MOST_TRIANGLES:,} triangles")
        if np.linalg.det(X[:3, :3]) < 0:
            faces = faces[:, ::-1]  # mirrored triangles face outwards again
        self._parts.append(_Triangles(vertices @ X[:3, :3].T + X[:3, 3], faces))

    def _geometry(self, geometry: Element) -> _Triangles:
        """Read all surfaces of a geometry, once even if it is instantiated several times."""
        key = id(geometry)
        if key not in self._geometries:
            mesh, surfaces = _child(geometry, "mesh"), []
            self._count_steps(mesh)
            for child in mesh.children:
                if child.tag in ("triangles", "polylist", "polygons"):
                    surfaces.append(self._surface(child))
                elif child.tag in ("tristrips", "trifans"):
                    _refuse(child, "is not supported; export triangles")
            self._geometries[key] = _joined(surfaces)
        return self._geometries[key]

    def _surface(self, surface: Element) -> _Triangles:
        """Read the polygons of a surface, and the vertices they use."""
        vertex = _input(surface, "VERTEX")
        position = _input(self._target(vertex, "source", "vertices"), "POSITION")
        points = self._points(self._target(position, "source", "source"))
        stride = 1 + max(_count(entry, "offset") for entry in surface.all("input"))
        indices, sizes = _polygons(surface, stride)
        corners = indices[_count(vertex, "offset") :: stride]
        if corners.min(initial=0) < 0 or corners.max(initial=-1) >= len(points):
            _refuse(surface, f"has an index outside its {len(points)} vertices")
        used, compact = np.unique(corners, return_inverse=True)
        return _Triangles(points[used], fan_triangles(compact, sizes))

    def _points(self, source: Element) -> Array:
        """Read a source of positions, once even if several surfaces use it."""
        name = source.attributes["id"]
        if name not in self._positions:
            accessor = _child(_child(source, "technique_common"), "accessor")
            array = self._target(accessor, "source", "float_array")
            values = _numbers(array, array.text, count=_count(array, "count"))
            count, stride = _count(accessor, "count"), _count(accessor, "stride", default=1)
            start = _count(accessor, "offset", default=0)
            if stride < 3 or start + count * stride > len(values):
                _refuse(accessor, f"does not fit an array of {len(values)} numbers")
            if not (np.abs(values) <= MOST_COORDINATE).all():
                _refuse(array, "has a coordinate beyond 1e9")
            table = values[start : start + count * stride].reshape(count, stride)
            self._positions[name] = table[:, :3]
        return self._positions[name]

    def _target(self, element: Element, attribute: str, tag: str) -> Element:
        """Resolve a reference within the document."""
        reference = element.attributes.get(attribute, "")
        target = self._by_id.get((tag, reference[1:]))
        if not reference.startswith("#") or target is None:
            _refuse(element, f"refers to a <{tag}> that does not exist")
        return target


def _polygons(surface: Element, stride: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the raw indices of a surface, and the number of corners of each polygon."""
    lists = [_numbers(p, p.text, kind=np.int64) for p in surface.all("p")]
    indices = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
    corners, rest = divmod(len(indices), stride)
    if corners > 3 * MOST_TRIANGLES:
        _refuse(surface, f"has more than {3 * MOST_TRIANGLES:,} corners")
    match surface.tag:
        case "triangles":
            sizes = np.full(corners // 3, 3)
        case "polylist":
            vcount = _child(surface, "vcount")
            sizes = _numbers(vcount, vcount.text, kind=np.int64)
        case _:
            if surface.all("ph"):
                _refuse(surface, "has polygons with holes, which are not supported")
            sizes = np.array([len(p) // stride for p in lists], dtype=np.int64)
    fits = len(sizes) == _count(surface, "count") and sizes.sum() == corners and not rest
    if not fits or sizes.min(initial=0) < 0 or sizes.max(initial=0) > corners:
        _refuse(surface, "has a number of indices that does not match its count")
    return indices, sizes


def _transform(element: Element) -> Array:
    """Read one transform of a node as a homogeneous matrix, shape (4, 4)."""
    values = _numbers(element, element.text, count=_TRANSFORMS[element.tag])
    match element.tag:
        case "translate":
            return pose(values)
        case "scale":
            return np.diag([*values, 1.0])
        case "rotate":
            length = float(np.linalg.norm(values[:3]))
            if length == 0:
                _refuse(element, "has no axis")
            return pose(rotation=rotation_about(values[:3] / length, np.radians(values[3])))
    X = values.reshape(4, 4)
    if not np.allclose(X[3], (0, 0, 0, 1)):
        _refuse(element, "is not a homogeneous transform: its last row is not 0 0 0 1")
    return X


def _joined(parts: Sequence[_Triangles]) -> _Triangles:
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return _Triangles(
        np.concatenate([np.zeros((0, 3)), *(part.vertices for part in parts)]),
        np.concatenate(
            [
                np.zeros((0, 3), dtype=np.int64),
                *(part.faces + start for part, start in zip(parts, starts, strict=False)),
            ]
        ),
    )


def _numbers(
    element: Element, text: str, *, count: int | None = None, kind: type = np.float64
) -> NDArray[Any]:
    """Read the finite numbers of an element, and check their count."""
    try:
        values = decimal_numbers(text, kind=kind)
    except BrokenMeshError:
        _refuse(element, "contains something that is not a number")
    if count is not None and len(values) != count:
        _refuse(element, f"has {len(values)} numbers instead of {count}")
    if not np.isfinite(values).all():
        _refuse(element, "contains a number that is not finite")
    return values


def _count(element: Element, attribute: str, *, default: int | None = None) -> int:
    """Read an attribute that is a count; without a default it is required."""
    text = element.attributes.get(attribute)
    if text is None and default is not None:
        return default
    if text is None or not _COUNT.fullmatch(text):
        _refuse(element, f"has no valid {attribute}")
    return int(text)


def _child(element: Element, tag: str) -> Element:
    """Return the first child with a tag."""
    for child in element.children:
        if child.tag == tag:
            return child
    _refuse(element, f"has no <{tag}>")


def _input(element: Element, semantic: str) -> Element:
    """Return the first input with a semantic."""
    for child in element.all("input"):
        if child.attributes.get("semantic") == semantic:
            return child
    _refuse(element, f"has no input {semantic}")


def _refuse(element: Element, problem: str) -> NoReturn:
    raise BrokenMeshError(f"<{element.tag}> {problem}", line=element.line)
