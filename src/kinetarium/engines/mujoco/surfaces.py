"""What touches what: collision geometry, materials and filters of a MuJoCo model."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import mujoco

from kinetarium.engines.mujoco.options import MujocoOptions
from kinetarium.model.mesh import mesh_of
from kinetarium.model.shapes import Box, Capsule, Cylinder, MeshData, MeshFile, Shape, Sphere
from kinetarium.scene import Base, Material, Motion, Plane, Scene, rigid_groups
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation

_RIGID = (0.9999, 0.9999, 0.001, 0.5, 2.0)
"""As much of a constraint as MuJoCo enforces, at any depth."""
_RECOVERY = 1e-3
"""Share of its depth that a bouncing contact gives back per step; it bounds the error of the
restitution."""
_GENTLE = (0.02, 1.0)
"""Time constant [s] and damping ratio of friction that does not make a rigid contact hop."""


@dataclass(frozen=True, slots=True)
class _Surface:
    """The geoms of one solid."""

    geoms: tuple[str, ...]
    material: Material

    @property
    def bounces(self) -> bool:
        return self.material.restitution > 0


class SurfaceBuilder:
    """Gives the bodies of a spec their geometry, and then rules which of them touch."""

    def __init__(self, spec: Any, scene: Scene, *, options: MujocoOptions) -> None:
        """Begin with a spec whose bodies are named as the solids of the scene.

        Args:
            spec: The MjSpec under construction.
            scene: The scene it is built from.
            options: Softness of contacts.
        """
        self._spec = spec
        self._scene = scene
        self._options = options
        self._touching = {
            name for name, row in zip(scene.solids, scene.may_touch, strict=True) if row.any()
        }
        self._still = _still(scene)
        self._surfaces: dict[str, _Surface] = {}
        self._meshes: dict[MeshFile | MeshData, str] = {}

    def cover(
        self, body: Any, shapes: Iterable[tuple[Shape | Plane, Array]], *, material: Material
    ) -> None:
        """Put shapes of one material at their poses on a body, unless it may touch nothing."""
        if body.name not in self._touching:
            return
        names = []
        for i, (shape, X_BG) in enumerate(shapes):
            names.append(f"{body.name}#{i}")
            geom = body.add_geom(
                name=names[-1],
                pos=X_BG[:3, 3],
                quat=quaternion_from_rotation(X_BG[:3, :3]),
                condim=_condim(material.friction),
                solref=self._options.contact_solref,
                solimp=self._options.contact_solimp,
            )
            geom.friction[0] = material.friction
            self._form(geom, shape)
        if names:
            self._surfaces[body.name] = _Surface(tuple(names), material)

    def filter(self, *, timestep: float) -> None:
        """Exclude the pairs that never touch, and let bounce those that are to.

        Args:
            timestep: The step [s] within which an impact is over.
        """
        may_touch = self._scene.may_touch
        index = {name: i for i, name in enumerate(self._scene.solids)}
        for (a, on_a), (b, on_b) in combinations(self._surfaces.items(), 2):
            if not may_touch[index[a], index[b]]:
                self._spec.add_exclude(bodyname1=a, bodyname2=b)
            elif on_a.bounces or on_b.bounces:
                if not self._still.issuperset((a, b)):
                    self._let_bounce(on_a, on_b, timestep=timestep)

    def _let_bounce(self, a: _Surface, b: _Surface, *, timestep: float) -> None:
        """Let two surfaces part at a share of their speed, the greater of their restitutions.

        A rigid constraint accelerates by -damping v - stiffness depth, so that the damping
        (1 + e) / h turns the approach v into -e v within the step h in which they meet.
        """
        e = max(a.material.restitution, b.material.restitution)
        friction = max(a.material.friction, b.material.friction)
        stiffness, damping = _RECOVERY / timestep**2, (1 + e) / timestep
        # MuJoCo divides the two by the impedance, by one power of it each.
        solref = (-stiffness * _RIGID[0], -damping * _RIGID[0])
        for one, other in product(a.geoms, b.geoms):
            pair = self._spec.add_pair(
                geomname1=one,
                geomname2=other,
                condim=_condim(friction),
                solref=solref,
                solreffriction=_GENTLE,
                solimp=_RIGID,
            )
            pair.friction[:2] = friction

    def _form(self, geom: Any, shape: Shape | Plane) -> None:
        match shape:
            case Plane():
                geom.type = mujoco.mjtGeom.mjGEOM_PLANE
                geom.size = (0.0, 0.0, 1.0)
            case Box():
                geom.type = mujoco.mjtGeom.mjGEOM_BOX
                geom.size = [edge / 2 for edge in shape.size]
            case Sphere():
                geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
                geom.size[0] = shape.radius
            case Cylinder():
                geom.type = mujoco.mjtGeom.mjGEOM_CYLINDER
                geom.size[:2] = shape.radius, shape.length / 2
            case Capsule():
                geom.type = mujoco.mjtGeom.mjGEOM_CAPSULE
                geom.size[:2] = shape.radius, shape.length / 2
            case MeshFile() | MeshData():
                geom.type = mujoco.mjtGeom.mjGEOM_MESH
                geom.meshname = self._mesh(shape, geom.name)

    def _mesh(self, shape: MeshFile | MeshData, name: str) -> str:
        """Give the name of a mesh, whose corners alone are handed over: MuJoCo takes their hull."""
        if shape not in self._meshes:
            self._spec.add_mesh(
                name=name,
                uservert=mesh_of(shape).vertices.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
            )
            self._meshes[shape] = name
        return self._meshes[shape]


def _still(scene: Scene) -> set[str]:
    """Give the solids that never move."""
    still = {body.name for body in scene.bodies if body.motion is Motion.STATIC}
    for robot in scene.robots:
        if robot.base is Base.FIXED:
            top = rigid_groups(robot.model)
            still |= {f"{robot.name}/{link}" for link in top if top[link] == robot.model.root}
    return still


def _condim(friction: float) -> int:
    return 3 if friction > 0 else 1
