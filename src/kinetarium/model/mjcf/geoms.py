"""Geoms: shapes on bodies, which may touch, be seen and bring mass."""

from collections.abc import Collection
from dataclasses import dataclass

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import InertiaSource
from kinetarium.model.mjcf.frames import Part
from kinetarium.model.mjcf.masses import moved_inertia, scaled_inertia
from kinetarium.model.mjcf.materials import Materials
from kinetarium.model.mjcf.meshes import Meshes
from kinetarium.model.mjcf.primitives import (
    PRIMITIVES,
    GeomType,
    primitive,
    primitive_inertia,
    read_sizes,
)
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.robot import Geometry, Inertia
from kinetarium.model.shapes import Shape
from kinetarium.model.triangles import BrokenMeshError
from kinetarium.spatial.arrays import Array, frozen

WATER_DENSITY = 1000.0
"""MuJoCo's density of geoms that say nothing [kg/m^3]."""
_HIDDEN_GROUP = 3
"""Geoms of this group and above are not drawn unless they are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Geom:
    """A geom as read.

    Attributes:
        geometry: Its shape and place in the frame of its body.
        touches: Whether it takes part in collisions.
        seen: Whether it is drawn.
        inertia: Its mass in the frame of its body; None if it does not count.
    """

    geometry: Geometry
    touches: bool
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
        self, *, scope: Scope, meshes: Meshes, materials: Materials, paired: Collection[str]
    ) -> None:
        """Keep what the geoms share.

        Args:
            scope: The file being read.
            meshes: The mesh assets.
            materials: The materials.
            paired: Names of the geoms in contact pairs, which touch in any case.
        """
        self._scope = scope
        self._attributes = scope.reading.attributes
        self._meshes = meshes
        self._materials = materials
        self._paired = paired

    def read(self, part: Part, *, fixed: bool, weigh: bool) -> Geom | None:
        """Read one geom.

        Args:
            part: The element and where it stands in its body.
            fixed: Whether its body is fixed to the world, as a ground must be.
            weigh: Whether the mass of the body comes from its geoms.

        Returns:
            The geom; None for a ground, for a missing mesh that the user allows
            and for a mesh that was refused already.

        Raises:
            RobotFileError: If it is not strictly right or not supported.
        """
        element = self._scope.defaults.complete(part.element, part.child_class)
        kind = self._attributes.choice(element, "type", GeomType, default=GeomType.SPHERE)
        if kind in (GeomType.PLANE, GeomType.HFIELD):
            self._leave_out_ground(element, kind, fixed)
            return None
        mass, density = self._mass_and_density(element)
        group = self._attributes.number(element, "group", default=0.0)
        first, last = self._scope.compiler.inertia_groups
        weigh = weigh and first <= group <= last
        solid = self._solid(element, kind, weigh)
        if solid is None:
            return None
        X_BG = part.X_BF @ solid.X_FG
        inertia = None
        if solid.unit is not None:
            factor = density if mass is None else mass / solid.unit.mass
            inertia = moved_inertia(scaled_inertia(solid.unit, factor), X_BG)
        name = self._attributes.name(element) if element.attributes.get("name") else ""
        touches = name in self._paired or any(
            self._attributes.number(element, mask, default=1.0) != 0
            for mask in ("contype", "conaffinity")
        )
        if inertia is not None and inertia.mass > 0 and not touches:
            self._refuse_discarded_mass(element)
        color = self._materials.color(element, fallback=solid.material)
        return Geom(
            geometry=Geometry(solid.shape, frozen(X_BG), name, color),
            touches=touches,
            seen=not touches or group < _HIDDEN_GROUP,
            inertia=inertia,
        )

    def _refuse_discarded_mass(self, element: Element) -> None:
        compiler = self._scope.compiler
        if compiler.discard_visual and compiler.inertia_source is InertiaSource.ALWAYS:
            raise self._scope.refusal(
                Code.BAD_VALUE,
                f"{element} is only seen and thrown away by discardvisual, but brings mass",
                element,
                remedy='write inertiafromgeom="auto", or remove discardvisual',
            )

    def check(self, part: Part) -> None:
        """Refuse a geom of the surroundings that is wrong in itself.

        Raises:
            RobotFileError: If its sizes are wrong or its mesh is not there.
        """
        element = self._scope.defaults.complete(part.element, part.child_class)
        kind = self._attributes.choice(element, "type", GeomType, default=GeomType.SPHERE)
        if kind is GeomType.MESH:
            self._meshes.get(element)
        elif kind in PRIMITIVES and "mesh" not in element.attributes:
            read_sizes(element, kind, scope=self._scope)

    def _leave_out_ground(self, element: Element, kind: GeomType, fixed: bool) -> None:
        if not fixed:
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: a {kind} cannot move",
                element,
                remedy="put it into the world, or make it a thin box",
            )
        self._scope.left_out.add("ground", element.line)

    def _mass_and_density(self, element: Element) -> tuple[float | None, float]:
        """Give the mass, None if only the density counts, and the density [kg, kg/m^3]."""
        mass, density = None, WATER_DENSITY
        if "mass" in element.attributes:
            mass = self._scope.not_negative(element, "mass", code=Code.MASS)
        if "density" in element.attributes:
            density = self._scope.not_negative(element, "density", code=Code.MASS)
        return mass, density

    def _solid(self, element: Element, kind: GeomType, weigh: bool) -> _Solid | None:
        if kind is GeomType.MESH:
            return self._mesh(element, weigh)
        if kind is GeomType.SDF or "mesh" in element.attributes:
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: distance fields and shapes fitted to meshes are not supported",
                element,
                remedy='write its sizes, or type="mesh"',
            )
        sizes, X_FG = read_sizes(element, kind, scope=self._scope)
        if weigh and self._attributes.flag(element, "shellinertia", default=False):
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: hollow geoms are not supported",
                element,
                remedy="give the body an <inertial>",
            )
        unit = primitive_inertia(kind, sizes) if weigh else None
        return _Solid(primitive(kind, sizes), X_FG, unit)

    def _mesh(self, element: Element, weigh: bool) -> _Solid | None:
        asset = self._meshes.get(element)
        if asset is None:
            return None
        if "fromto" in element.attributes:
            raise self._scope.refusal(
                Code.BAD_VALUE, f"{element}: fromto is for shapes with two ends", element
            )
        if self._attributes.flag(element, "shellinertia", default=False):
            raise self._scope.refusal(
                Code.BAD_VALUE,
                f"{element}: shellinertia is for primitive shapes",
                element,
                remedy='write inertia="shell" in the <mesh>',
            )
        X_FG = self._scope.pose(element) @ asset.X_GM
        fault = "its mesh is missing"
        if asset.shape is not None:
            try:
                unit = None
                if weigh:
                    unit = self._meshes.unit_inertia(asset, geom=element)
                return _Solid(asset.shape, X_FG, unit, asset.material)
            except BrokenMeshError as error:
                fault = f"its mesh gives none: {error}"
        if not weigh:
            return None
        raise self._scope.refusal(
            Code.MESH_BROKEN,
            f"{element} is needed for the mass of its body, but {fault}",
            element,
            remedy="give the body an <inertial>",
        )
