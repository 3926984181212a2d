"""Geoms: shapes on bodies, for collision, display and mass."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import pi

import numpy as np

from kinetarium.model.attributes import Color
from kinetarium.model.diagnostics import Code
from kinetarium.model.inertia import moved_inertia, scaled_inertia
from kinetarium.model.markup import Element
from kinetarium.model.mesh.solids import solid_properties, triangulate
from kinetarium.model.mesh.triangles import BrokenMeshError, read_only_mesh
from kinetarium.model.mjcf.compiler import InertiaSource, shortest_turn
from kinetarium.model.mjcf.document import MjcfDocument, PlacedElement
from kinetarium.model.mjcf.meshes import Meshes
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Inertia,
    MeshData,
    Shape,
    Sphere,
    TriangleMesh,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_UNPAINTED = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's default colour of a geom; only another one overrides the material's."""


class Materials:
    """The colours of the materials of one file."""

    def __init__(self, sections: Sequence[Element], *, document: MjcfDocument) -> None:
        """Read the materials of all <asset> sections."""
        self._document = document
        self._diagnostics = document.diagnostics
        self._colors: dict[str, Color | None] = {}
        for element in (child for section in sections for child in section.all("material")):
            with document.diagnostics.at(element):
                name = document.reading.attributes.name(element)
                self._colors[name] = self._own_color(document.defaults.complete(element))

    def color(self, geom: Element, *, fallback: str = "") -> Color | None:
        """Return the colour of a geom; None for the viewer's default.

        Args:
            geom: The geom, with its defaults.
            fallback: The material of its mesh.
        """
        own = self._own_color(geom)
        if own is not None and own != _UNPAINTED:
            return own
        name = geom.attributes.get("material", fallback)
        if name and name not in self._colors:
            self._diagnostics.repair(
                Code.UNKNOWN_NAME, f"<{geom.tag}>", f"no material {name!r}: no colour used",
                line=geom.line,
            )  # fmt: skip
            self._colors[name] = None
        return self._colors.get(name, own)

    def _own_color(self, element: Element) -> Color | None:
        if "rgba" not in element.attributes:
            return None
        return self._document.reading.attributes.color(element)


LEAST_SIZE = 1e-9
"""Half lengths below this count as zero [m]."""


class GeomType(StrEnum):
    """The shapes of geoms."""

    PLANE = "plane"
    HFIELD = "hfield"
    SPHERE = "sphere"
    CAPSULE = "capsule"
    ELLIPSOID = "ellipsoid"
    CYLINDER = "cylinder"
    BOX = "box"
    MESH = "mesh"
    SDF = "sdf"


PRIMITIVES = {
    GeomType.SPHERE: 1,
    GeomType.CAPSULE: 2,
    GeomType.CYLINDER: 2,
    GeomType.ELLIPSOID: 3,
    GeomType.BOX: 3,
}
"""The primitive shapes, and their number of sizes."""


def read_sizes(element: Element, kind: GeomType, *, document: MjcfDocument) -> tuple[Array, Array]:
    """Return the half lengths [m] of a primitive and its pose, shape (4, 4).

    Args:
        element: The geom, with its defaults.
    """
    needed = PRIMITIVES[kind]
    given = np.array(document.reading.attributes.numbers(element, "size", default=()))
    if "fromto" in element.attributes:
        if kind is GeomType.SPHERE or "pos" in element.attributes:
            raise document.diagnostics.refusal(
                Code.BAD_VALUE, f"{element}: fromto is for shapes with two ends, without pos"
            )
        X_FG, half = two_point_pose(document.reading.attributes.vector(element, "fromto", 6))
        # With fromto, the first size applies to all directions across the line.
        sizes = np.array([*np.repeat(given[:1], needed - 1), half])
    else:
        sizes, X_FG = given[:needed], document.pose(element)
    if len(sizes) < needed or np.any(sizes < LEAST_SIZE):
        raise document.diagnostics.refusal(
            Code.SIZE,
            f"{element}: a {kind} needs {needed} positive sizes",
            remedy="write them in size, as half lengths",
        )
    return sizes, X_FG


def two_point_pose(points: Array) -> tuple[Array, float]:
    """Return the pose, shape (4, 4), of a shape between two points, and half its length [m].

    Its z axis points from the second point to the first, as in MuJoCo.
    """
    line = points[:3] - points[3:]
    length = float(np.linalg.norm(line))
    R = shortest_turn(line / length) if length > LEAST_SIZE else np.eye(3)
    return pose((points[:3] + points[3:]) / 2, R), length / 2


def primitive(kind: GeomType, half: Array) -> Shape:
    """Return the shape of a primitive with half lengths [m]; an ellipsoid as a mesh."""
    sizes = [float(size) for size in half]
    match kind:
        case GeomType.SPHERE:
            return Sphere(sizes[0])
        case GeomType.CAPSULE:
            return Capsule(sizes[0], 2 * sizes[1])
        case GeomType.CYLINDER:
            return Cylinder(sizes[0], 2 * sizes[1])
        case GeomType.BOX:
            return Box((2 * sizes[0], 2 * sizes[1], 2 * sizes[2]))
    sphere = _unit_sphere()
    return MeshData("ellipsoid", read_only_mesh(sphere.vertices * half, sphere.faces))


@cache
def _unit_sphere() -> TriangleMesh:
    return triangulate(Sphere(1.0))


def primitive_inertia(kind: GeomType, half: Array) -> Inertia:
    """Return the inertia of a primitive with half lengths [m] and density one."""
    if kind is not GeomType.ELLIPSOID:
        return solid_properties(primitive(kind, half), density=1.0)
    volume = 4 / 3 * pi * float(np.prod(half))
    moment = volume / 5 * np.diag((half**2).sum() - half**2)
    return Inertia(volume, frozen(np.zeros(3)), frozen(moment))


WATER_DENSITY = 1000.0
"""MuJoCo's default density of geoms [kg/m^3]."""
_HIDDEN_GROUP = 3
"""Geoms of this group and above are hidden by default."""


@dataclass(frozen=True, slots=True, eq=False)
class Geom:
    """A geom as read.

    Attributes:
        geometry: Its shape and pose in the frame of its body.
        collides: Whether it takes part in collisions.
        seen: Whether it is displayed.
        inertia: Its inertia in the frame of its body; None if it does not count.
    """

    geometry: Geometry
    collides: bool
    seen: bool
    inertia: Inertia | None


@dataclass(frozen=True, slots=True, eq=False)
class _Solid:
    """A shape, its pose in the frame around it, its inertia at density one and its material."""

    shape: Shape
    X_FG: Array
    unit: Inertia | None
    material: str = ""


class GeomReader:
    """Reads the geoms of one file."""

    def __init__(
        self,
        *,
        document: MjcfDocument,
        meshes: Meshes,
        materials: Materials,
        paired: Collection[str],
    ) -> None:
        """Keep the assets.

        Args:
            paired: Names of the geoms in contact pairs, which collide in any case.
        """
        self._document = document
        self._diagnostics = document.diagnostics
        self._attributes = document.reading.attributes
        self._meshes = meshes
        self._materials = materials
        self._paired = paired

    def read(self, placed: PlacedElement, *, fixed: bool, weigh: bool) -> Geom | None:
        """Read one geom.

        Args:
            fixed: Whether its body is fixed to the world, as a ground plane must be.
            weigh: Whether the mass of the body comes from its geoms.

        Returns:
            The geom; None for a ground plane, for a missing mesh that the user allows
            and for a mesh that was refused already.
        """
        element = self._document.defaults.complete(placed.element, placed.child_class)
        kind = self._attributes.choice(element, "type", GeomType, default=GeomType.SPHERE)
        if kind in (GeomType.PLANE, GeomType.HFIELD):
            self._leave_out_ground(element, kind, fixed)
            return None
        mass, density = self._mass_and_density(element)
        group = self._attributes.number(element, "group", default=0.0)
        first, last = self._document.compiler.inertia_groups
        weigh = weigh and first <= group <= last
        solid = self._solid(element, kind, weigh)
        if solid is None:
            return None
        X_BG = placed.X_BF @ solid.X_FG
        inertia = None
        if solid.unit is not None:
            factor = density if mass is None else mass / solid.unit.mass
            inertia = moved_inertia(scaled_inertia(solid.unit, factor), X_BG)
        name = self._attributes.name(element) if element.attributes.get("name") else ""
        collides = name in self._paired or any(
            self._attributes.number(element, mask, default=1.0) != 0
            for mask in ("contype", "conaffinity")
        )
        if inertia is not None and inertia.mass > 0 and not collides:
            self._refuse_discarded_mass(element)
        color = self._materials.color(element, fallback=solid.material)
        return Geom(
            geometry=Geometry(solid.shape, frozen(X_BG), name, color),
            collides=collides,
            seen=not collides or group < _HIDDEN_GROUP,
            inertia=inertia,
        )

    def _refuse_discarded_mass(self, element: Element) -> None:
        compiler = self._document.compiler
        if compiler.discard_visual and compiler.inertia_source is InertiaSource.ALWAYS:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element} is visual only and discarded by discardvisual, but has mass",
                remedy='write inertiafromgeom="auto", or remove discardvisual',
            )

    def check(self, placed: PlacedElement) -> None:
        """Check a geom that is not part of the robot."""
        element = self._document.defaults.complete(placed.element, placed.child_class)
        kind = self._attributes.choice(element, "type", GeomType, default=GeomType.SPHERE)
        if kind is GeomType.MESH:
            self._meshes.get(element)
        elif kind in PRIMITIVES and "mesh" not in element.attributes:
            read_sizes(element, kind, document=self._document)

    def _leave_out_ground(self, element: Element, kind: GeomType, fixed: bool) -> None:
        if not fixed:
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: a {kind} cannot move",
                remedy="put it into the world, or make it a thin box",
            )
        self._document.left_out.add("ground", element)

    def _mass_and_density(self, element: Element) -> tuple[float | None, float]:
        """Return the mass, None if only the density counts, and the density [kg, kg/m^3]."""
        mass, density = None, WATER_DENSITY
        if "mass" in element.attributes:
            mass = self._attributes.not_negative(element, "mass", code=Code.MASS)
        if "density" in element.attributes:
            density = self._attributes.not_negative(element, "density", code=Code.MASS)
        return mass, density

    def _solid(self, element: Element, kind: GeomType, weigh: bool) -> _Solid | None:
        if kind is GeomType.MESH:
            return self._mesh(element, weigh)
        if kind is GeomType.SDF or "mesh" in element.attributes:
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: distance fields and shapes fitted to meshes are not supported",
                remedy='write its sizes, or type="mesh"',
            )
        sizes, X_FG = read_sizes(element, kind, document=self._document)
        if weigh and self._attributes.flag(element, "shellinertia", default=False):
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: hollow geoms are not supported",
                remedy="add an <inertial> to the body",
            )
        unit = primitive_inertia(kind, sizes) if weigh else None
        return _Solid(primitive(kind, sizes), X_FG, unit)

    def _mesh(self, element: Element, weigh: bool) -> _Solid | None:
        asset = self._meshes.get(element)
        if asset is None:
            return None
        if "fromto" in element.attributes:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE, f"{element}: fromto is for shapes with two ends"
            )
        if self._attributes.flag(element, "shellinertia", default=False):
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: shellinertia is for primitive shapes",
                remedy='write inertia="shell" in the <mesh>',
            )
        X_FG = self._document.pose(element) @ asset.X_GM
        fault = "its mesh is missing"
        if asset.shape is not None:
            try:
                unit = None
                if weigh:
                    unit = self._meshes.unit_inertia(asset, geom=element)
                return _Solid(asset.shape, X_FG, unit, asset.material)
            except BrokenMeshError as error:
                fault = f"its mesh has none: {error}"
        if not weigh:
            return None
        raise self._diagnostics.refusal(
            Code.MESH_BROKEN,
            f"{element} is needed for the mass of its body, but {fault}",
            remedy="add an <inertial> to the body",
        )
