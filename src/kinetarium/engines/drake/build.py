"""A scene as a Drake plant, made by code."""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.drake.drives import Drives, add_actuators
from kinetarium.engines.drake.library import (
    drake_inertia,
    drake_pose,
    framework,
    geometry,
    plants,
    trees,
)
from kinetarium.engines.drake.options import (
    FRICTION_RULE,
    Approximation,
    ContactModel,
    DrakeOptions,
)
from kinetarium.engines.protocol import Layout, LoadedCoupling
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    JointType,
    Loop,
    LoopKind,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.scene import Actuation, Base, Motion, PlacedRobot, Plane, Scene, SceneError
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array

_RESOLUTION = 0.1
"""Of shapes that Drake cuts into pieces [m]; it cuts boxes and hulls along their own edges."""


class SurfaceBuilder:
    """Adds geometry to the bodies of a plant, and then rules which of it touches.

    Of every shape there is one copy for each friction it meets with, and only
    copies of the same friction touch, so that the friction of two surfaces is
    what the rule says.

    Attributes:
        solids: The solid, as an index, that each of Drake's geometries belongs to.
    """

    def __init__(self, plant: Any, scene: Scene, *, options: DrakeOptions) -> None:
        """Begin with a plant that has a scene graph."""
        self._plant = plant
        self._options = options
        self._index = {name: i for i, name in enumerate(scene.solids)}
        self._scene, self._may_touch = scene, scene.may_collide
        self._copies: dict[tuple[int, float], list[Any]] = {}
        self.solids: dict[Any, int] = {}

    def cover(self, solid: str, body: Any, *, X_BL: Array) -> None:
        """Put the shapes of a solid at a pose on a body, unless it may touch nothing."""
        i = self._index[solid]
        met = {self._between(i, int(j)) for j in np.flatnonzero(self._may_touch[i])}
        for k, (shape, X_LG) in enumerate(self._scene.geometry[i]):
            for friction in sorted(met):
                try:
                    added = self._plant.RegisterCollisionGeometry(
                        body,
                        drake_pose(X_BL @ X_LG),
                        _form(shape),
                        f"{solid}#{k}#{friction}",
                        self._properties(shape, friction),
                    )
                except (RuntimeError, SystemExit) as error:  # the latter from failed assertions
                    raise refusal(f"the shape of '{solid}'", error) from None
                self._copies.setdefault((i, friction), []).append(added)
                self.solids[added] = i

    def filter(self, graph: Any) -> None:
        """Exclude all pairs but those that are to touch."""
        filters = graph.collision_filter_manager()
        sets = {key: geometry.GeometrySet(ids) for key, ids in self._copies.items()}
        declaration = geometry.CollisionFilterDeclaration()
        for one, other in combinations_with_replacement(sets, 2):
            (i, mu_i), (j, mu_j) = one, other
            if not (self._may_touch[i, j] and mu_i == mu_j == self._between(i, j)):
                declaration.ExcludeBetween(sets[one], sets[other])
        filters.Apply(declaration)

    def _between(self, i: int, j: int) -> float:
        materials = self._scene.materials
        return FRICTION_RULE.combine(materials[i].friction, materials[j].friction)

    def _properties(self, shape: Shape | Plane, friction: float) -> Any:
        options = self._options
        properties = geometry.ProximityProperties()
        geometry.AddContactMaterial(
            dissipation=options.dissipation,
            point_stiffness=options.stiffness,
            friction=plants.CoulombFriction(friction, friction),
            properties=properties,
        )
        properties.AddProperty("material", "relaxation_time", options.relaxation_time)
        if options.contact_model is ContactModel.SURFACE:
            match shape:
                case Plane():
                    geometry.AddRigidHydroelasticProperties(properties=properties)
                case Box() | MeshFile() | MeshData():
                    geometry.AddCompliantHydroelasticProperties(
                        resolution_hint=_RESOLUTION,
                        hydroelastic_modulus=options.modulus,
                        properties=properties,
                    )
        return properties


def refusal(what: str, error: BaseException) -> SceneError:
    """Return in one line what Drake does not take, and why."""
    return SceneError(f"Drake refuses {what}: {' '.join(str(error).split())}")


def _form(shape: Shape | Plane) -> Any:
    match shape:
        case Plane():
            return geometry.HalfSpace()
        case Box():
            return geometry.Box(*shape.size)
        case Sphere():
            return geometry.Sphere(shape.radius)
        case Cylinder():
            return geometry.Cylinder(shape.radius, shape.length)
        case Capsule():
            return geometry.Capsule(shape.radius, shape.length)
        case MeshFile() | MeshData():
            return geometry.Convex(points=mesh_of(shape).vertices.T, label="mesh")


_APPROXIMATIONS = {
    Approximation.LAGGED: plants.DiscreteContactApproximation.kLagged,
    Approximation.SIMILAR: plants.DiscreteContactApproximation.kSimilar,
    Approximation.SAP: plants.DiscreteContactApproximation.kSap,
}
_CONTACT = {
    ContactModel.SURFACE: plants.ContactModel.kHydroelasticWithFallback,
    ContactModel.POINT: plants.ContactModel.kPoint,
}


@dataclass(frozen=True, slots=True, eq=False)
class DrakeWorld:
    """A scene in Drake, and where its things are.

    Attributes:
        diagram: The plant and its scene graph.
        plant: The plant.
        graph: Its scene graph.
        layout: The layout of the scene.
        bodies: The body each solid is part of, by name; the world for static bodies.
        joints: The moving joints in the order of the layout.
        floating: The joints of what floats in the order of the layout.
        sensed: The joint each sensor sits in, by the sensor's name.
        solids: The solid, as an index, that each geometry belongs to.
        drives: Where commands go.
        options: The settings it was built with.
        couplings: The mimic joints as set; pydrake cannot read them back.
        ties: The ends of each loop as set, by "robot/loop": links of two bodies, frames there.
    """

    diagram: Any
    plant: Any
    graph: Any
    layout: Layout
    bodies: dict[str, Any]
    joints: tuple[Any, ...]
    floating: tuple[Any, ...]
    sensed: dict[str, Any]
    solids: dict[Any, int]
    drives: Drives
    options: DrakeOptions
    couplings: tuple[LoadedCoupling, ...]
    ties: dict[str, list[tuple[str, Array]]]


def build_world(setup: Setup[DrakeOptions]) -> DrakeWorld:
    """Build a scene.

    Raises:
        SceneError: If Drake refuses the scene.
    """
    try:
        return _Builder(setup).finish()
    except (RuntimeError, ValueError) as error:
        raise refusal("the scene", error) from None


class _Builder:
    """A plant under construction."""

    def __init__(self, setup: Setup[DrakeOptions]) -> None:
        scene, options = setup.scene, setup.options
        self._scene, self._layout, self._options = scene, setup.layout, options
        self._builder = framework.DiagramBuilder()
        plant = self._builder.AddSystem(plants.MultibodyPlant(setup.timestep))
        self._graph = self._builder.AddSystem(geometry.SceneGraph())
        plant.RegisterAsSourceForSceneGraph(self._graph)
        # Readings are taken from where the step began, see `StepContext`.
        plant.SetUseSampledOutputPorts(False)
        plant.set_adjacent_bodies_collision_filters(False)
        plant.set_contact_model(_CONTACT[options.contact_model])
        plant.set_discrete_contact_approximation(_APPROXIMATIONS[options.approximation])
        plant.set_sap_near_rigid_threshold(options.near_rigid)
        plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
        self._plant = plant
        self._surfaces = SurfaceBuilder(plant, scene, options=options)
        self._bodies: dict[str, Any] = {}
        self._springrefs: dict[Any, float] = {}
        self._joints: dict[str, Any] = {}
        self._free: dict[str, Any] = {}
        self._couplings: list[LoadedCoupling] = []
        self._ties: dict[str, list[tuple[str, Array]]] = {}

    def finish(self) -> DrakeWorld:
        """Add everything and close the plant."""
        plant, graph = self._plant, self._graph
        for robot in self._scene.robots:
            self._add_robot(robot)
        self._add_bodies()
        plant.Finalize()
        plant.set_stiction_tolerance(self._options.stiction_speed)
        self._builder.Connect(
            plant.get_geometry_pose_output_port(),
            graph.get_source_pose_port(plant.get_source_id()),
        )
        self._builder.Connect(graph.get_query_output_port(), plant.get_geometry_query_input_port())
        self._surfaces.filter(graph)
        layout = self._layout
        joints = tuple(self._joints[name] for name in layout.joints)
        return DrakeWorld(
            diagram=self._builder.Build(),
            plant=plant,
            graph=graph,
            layout=layout,
            bodies=self._bodies,
            joints=joints,
            floating=tuple(self._free[name] for name in layout.floating),
            sensed={s.name: self._joints[f"{s.robot}/{s.joint}"] for s in self._scene.sensors},
            solids=self._surfaces.solids,
            drives=Drives.of(plant, layout, joints=joints, springrefs=self._springrefs),
            options=self._options,
            couplings=tuple(self._couplings),
            ties=self._ties,
        )

    def _add_robot(self, robot: PlacedRobot) -> None:
        model, plant = robot.model, self._plant
        # No other instance can be called that, Drake's own included.
        instance = plant.AddModelInstance(f"{robot.name}/")
        tree = rigid_tree(model, keep=self._scene.sensed_joints(robot.name))
        bodies: list[Any] = []
        places: dict[str, Array] = {}
        for part in tree:
            body = plant.AddRigidBody(part.name, instance, drake_inertia(part.inertia))
            bodies.append(body)
            if part.joint is None:
                self._hold_root(robot, body)
            else:
                self._add_joint(robot, part, parent=bodies[part.parent], child=body)
            for name, X_BL in part.members:
                solid = f"{robot.name}/{name}"
                self._bodies[solid], places[name] = body, X_BL
                self._surfaces.cover(solid, body, X_BL=X_BL)
        for joint in model.moving_joints:
            if joint.mimic:
                names = (f"{robot.name}/{joint.name}", f"{robot.name}/{joint.mimic.joint}")
                law = (joint.mimic.multiplier, joint.mimic.offset)
                plant.AddCouplerConstraint(*(self._joints[name] for name in names), *law)
                self._couplings.append(LoadedCoupling(*names, *law, read_back=False))
        for loop in model.loops:
            self._close(robot, loop, places)

    def _hold_root(self, robot: PlacedRobot, body: Any) -> None:
        plant = self._plant
        if robot.base is Base.FREE:
            name = f"{robot.name}/{robot.model.root}"
            self._free[name] = self._float(body)
        else:
            plant.WeldFrames(plant.world_frame(), body.body_frame(), drake_pose(robot.X_WB))

    def _float(self, body: Any) -> Any:
        frame = self._plant.world_frame()
        return self._plant.AddJoint(
            trees.QuaternionFloatingJoint(f"{body.name()}#free", frame, body.body_frame())
        )

    def _add_joint(self, robot: PlacedRobot, part: RigidBody, *, parent: Any, child: Any) -> None:
        plant, joint = self._plant, part.joint
        assert joint is not None
        name = f"{robot.name}/{joint.name}"
        above = plant.AddFrame(
            trees.FixedOffsetFrame(f"{part.name}#joint", parent.body_frame(), drake_pose(part.X_PJ))
        )
        if joint.type is JointType.FIXED:
            weld = trees.WeldJoint(joint.name, above, child.body_frame(), drake_pose(IDENTITY))
            self._joints[name] = plant.AddJoint(weld)
            return
        slides = joint.type is JointType.PRISMATIC
        kind = trees.PrismaticJoint if slides else trees.RevoluteJoint
        self._joints[name] = plant.AddJoint(
            kind(
                joint.name,
                above,
                child.body_frame(),
                joint.axis,
                joint.limits.lower,
                joint.limits.upper,
                joint.damping,
            )
        )
        self._springrefs[self._joints[name].index()] = joint.springref
        add_actuators(
            plant,
            self._joints[name],
            model=joint,
            drive=self._drive(name),
            options=self._options,
        )

    def _drive(self, joint: str) -> Actuation | None:
        layout = self._layout
        if joint not in layout.commands:
            return None
        return layout.actuations[layout.commands.index(joint)]

    def _close(self, robot: PlacedRobot, loop: Loop, places: dict[str, Array]) -> None:
        (a, X_A), (b, X_B) = (
            (self._bodies[f"{robot.name}/{link}"], places[link] @ X_LC)
            for link, X_LC in ((loop.link_a, loop.X_AC), (loop.link_b, loop.X_BC))
        )
        self._ties[f"{robot.name}/{loop.name}"] = [(a.name(), X_A), (b.name(), X_B)]
        if loop.kind is LoopKind.POINT:
            self._plant.AddBallConstraint(a, X_A[:3, 3], b, X_B[:3, 3])
        else:
            self._plant.AddWeldConstraint(a, drake_pose(X_A), b, drake_pose(X_B))

    def _add_bodies(self) -> None:
        plant = self._plant
        for body in self._scene.bodies:
            if body.motion is Motion.FREE:
                instance = plant.AddModelInstance(f"{body.name}/")
                added = plant.AddRigidBody(body.name, instance, drake_inertia(body.inertia))
                self._free[body.name] = self._float(added)
                X_BL = IDENTITY
            else:
                added, X_BL = plant.world_body(), body.X_WB
            self._bodies[body.name] = added
            self._surfaces.cover(body.name, added, X_BL=X_BL)
