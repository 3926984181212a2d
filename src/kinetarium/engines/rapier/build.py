"""A scene as Rapier holds it: rigid bodies, joints, colliders, and the laws of the joints."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import rapier3d as rapier

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.protocol import Capability, CapabilityError
from kinetarium.engines.rapier.options import FreeBodies, RapierOptions
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    Inertia,
    Joint,
    JointType,
    LoopKind,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.scene import (
    Actuation,
    Base,
    DriveMode,
    Material,
    Motion,
    PlacedRobot,
    Plane,
    SceneError,
)
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.scene.scene import collision_filter
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, quaternion_from_rotation, rotation_onto

LARGEST = float(np.finfo(np.float32).max)
"""The value that stands for no limit in Rapier."""
NEGLIGIBLE = Inertia(1e-6, frozen(np.zeros(3)), frozen(1e-9 * np.eye(3)))
"""Inertia of a massless link, which Rapier does not support."""
_X_TO_Z = frozen(pose(rotation=[[0, 0, -1], [0, 1, 0], [1, 0, 0]]))
"""Turns x, which is the axis of every joint in Rapier here, onto z."""
_Y_TO_Z = frozen(pose(rotation=[[1, 0, 0], [0, 0, -1], [0, 1, 0]]))
"""Turns y, along which Rapier has the axis of a cylinder, onto z, where it is in the model."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A rigid body in Rapier; its origin is its centre of mass, its axes are those of a solid.

    Attributes:
        handle: Its handle in Rapier.
        name: The solid whose axes it has, the topmost of those it consists of.
        inertia: Mass properties in that solid's frame; None if it is fixed to the world.
        members: All the solids it consists of, and the pose of each in that solid's frame.
    """

    handle: Any
    name: str
    inertia: Inertia | None
    members: tuple[tuple[str, Array], ...]

    @property
    def center(self) -> Array:
        """The body's origin in the solid's frame [m], shape (3,)."""
        return self.inertia.center if self.inertia else IDENTITY[:3, 3]

    def seen(self, X_BF: Array) -> Array:
        """Return a frame given in the solid's frame as the body sees it, shape (4, 4)."""
        return pose(-self.center) @ X_BF


@dataclass(frozen=True, slots=True, eq=False)
class Multibody:
    """A robot that moves, or a free body as a multibody of one link.

    Attributes:
        handles: Rapier's handles of its joints, to the second link and those after it.
        links: Its links; a free body is the second, after one that is fixed to the world.
        parents: Index of the link above each, -1 above the first.
        joints: The joints of the model; a free body has none.
        floats: Whether its first six coordinates are those of something that floats.
    """

    handles: tuple[Any, ...]
    links: tuple[Part, ...]
    parents: tuple[int, ...]
    joints: tuple[Joint, ...]
    floats: bool


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A scene in Rapier.

    Attributes:
        stored: The world as built.
        parts: All rigid bodies.
        multibodies: The multibodies in the order of the layout, robots first.
        floating: What floats, in the order of the layout.
        colliders: Index of the solid of every collider.
    """

    stored: bytes
    parts: tuple[Part, ...]
    multibodies: tuple[Multibody, ...]
    floating: tuple[Part, ...]
    colliders: dict[Any, int]


def build(setup: Setup[RapierOptions]) -> Model:
    """Build everything in a scene.

    Raises:
        SceneError: If Rapier refuses a mesh or the collision filter.
    """
    scene, assembly = setup.scene, _Assembly(setup)
    for robot in scene.robots:
        assembly.add_robot(robot)
    for body in scene.bodies:
        inertia = body.inertia if body.motion is Motion.FREE else None
        part = assembly.add_part(body.name, inertia, X_WB=body.X_WB)
        if inertia:
            assembly.let_float(part)
    colliders = assembly.cover()
    return Model(
        stored=_with_joint_laws(assembly.world, assembly.multibodies).snapshot(),
        parts=tuple(assembly.parts),
        multibodies=tuple(assembly.multibodies),
        floating=tuple(assembly.floating),
        colliders=colliders,
    )


class _Assembly:
    """A world under construction."""

    def __init__(self, setup: Setup[RapierOptions]) -> None:
        self._scene, self._options, self._engine = setup.scene, setup.options, setup.engine
        self._drives = dict(zip(setup.layout.commands, setup.layout.actuations, strict=True))
        self.world = rapier.PhysicsWorld(gravity=setup.scene.gravity.tolist())
        _configure(self.world.integration_parameters, setup)
        self.parts: list[Part] = []
        self.multibodies: list[Multibody] = []
        self.floating: list[Part] = []

    def add_part(
        self,
        name: str,
        inertia: Inertia | None,
        *,
        X_WB: Array,
        members: Sequence[tuple[str, Array]] = (),
    ) -> Part:
        """Add a rigid body: at its pose without inertia, otherwise with its centre at the origin.

        What moves is put where it starts by the first reset.
        """
        made = _dynamic(inertia) if inertia else rapier.RigidBody.fixed().position(isometry(X_WB))
        handle = self.world.add_body(made)
        self.parts.append(Part(handle, name, inertia, tuple(members) or ((name, IDENTITY),)))
        return self.parts[-1]

    def add_robot(self, robot: PlacedRobot) -> None:
        """Add a robot, its rigid bodies as the links of a multibody."""
        free = robot.base is Base.FREE
        links: list[Part] = []
        handles: list[Any] = []
        tree = rigid_tree(robot.model)
        for body in tree:
            moves = free or body.joint is not None
            link = self.add_part(
                f"{robot.name}/{body.name}",
                (body.inertia or NEGLIGIBLE) if moves else None,
                X_WB=robot.X_WB,
                members=[(f"{robot.name}/{name}", X_BL) for name, X_BL in body.members],
            )
            links.append(link)
            if body.joint:
                parent = links[body.parent]
                made = self._joint(robot.name, body, parent=parent, child=link)
                handles.append(self._insert(parent, link, made))
        if handles:
            parents = tuple(body.parent for body in tree)
            joints = robot.model.moving_joints
            self._add_multibody(Multibody(tuple(handles), tuple(links), parents, joints, free))
            self.floating += links[:1] if free else []
        elif free:
            self.let_float(links[0])
        self._close_loops(robot, links)

    def let_float(self, part: Part) -> None:
        """Let a body that belongs to no multibody move freely."""
        self.floating.append(part)
        if self._options.free_bodies is FreeBodies.MULTIBODY:
            world = Part(self.world.add_body(rapier.RigidBody.fixed()), "", None, ())
            handle = self._insert(world, part, rapier.GenericJoint(rapier.JointAxesMask.empty()))
            self._add_multibody(Multibody((handle,), (world, part), (-1, 0), (), True))

    def cover(self) -> dict[Any, int]:
        """Put collision shapes on all bodies, and return the solid that each belongs to."""
        scene, index = self._scene, {name: i for i, name in enumerate(self._scene.solids)}
        either = rapier.InteractionTestMode.OR
        groups = [
            rapier.InteractionGroups(rapier.Group(own), rapier.Group(others), either)
            for own, others in collision_filter(scene.may_meet)
        ]
        solids: dict[Any, int] = {}
        for part in self.parts:
            for name, X_BL in part.members:
                i = index[name]
                for shape, X_LG in scene.geometry[i] if scene.may_meet[i].any() else ():
                    X_CG = part.seen(X_BL @ X_LG)
                    made = collider(shape, X_CG, material=scene.materials[i], solid=name)
                    handle = self.world.add_collider(made.collision_groups(groups[i]), part.handle)
                    solids[handle] = i
            if part.inertia:  # it would be done with the first step otherwise
                body = self.world.rigid_bodies[part.handle]
                body.recompute_mass_properties_from_colliders(self.world.colliders)
        return solids

    def _insert(self, parent: Part, child: Part, joint: Any) -> Any:
        return self.world.multibody_joints.insert(parent.handle, child.handle, joint)

    def _add_multibody(self, multibody: Multibody) -> None:
        """Set the damping and armature of a multibody; Rapier's own damping goes."""
        self.multibodies.append(multibody)
        made: Any = self.world.multibody_joints.multibody(multibody.handles[0])
        made.forward_kinematics(self.world.rigid_bodies, True)  # counts its coordinates
        base = [0.0] * (6 * multibody.floats)
        made.set_damping([*base, *(joint.damping for joint in multibody.joints)])
        made.set_armature([*base, *(joint.armature for joint in multibody.joints)])

    def _joint(self, robot: str, body: RigidBody, *, parent: Part, child: Part) -> Any:
        """Return the joint above a body, with its limits and its motor."""
        joint = body.joint
        assert joint
        axis, axes = joint_axis(joint), rapier.JointAxesMask
        X_LJ = pose(rotation=rotation_onto(joint.axis)) @ _X_TO_Z
        locked = axes.LOCKED_PRISMATIC_AXES if slides(joint) else axes.LOCKED_REVOLUTE_AXES
        made = (
            rapier.GenericJoint.builder(locked)
            .local_frame1(isometry(parent.seen(body.X_PJ @ X_LJ)))
            .local_frame2(isometry(child.seen(X_LJ)))
        )
        lower, upper = joint.limits.lower, joint.limits.upper
        if np.isfinite([lower, upper]).any():
            made = made.limits(axis, max(lower, -LARGEST), min(upper, LARGEST))
        drive = self._drives.get(f"{robot}/{joint.name}")
        if drive and is_servo(drive):
            stiffness = drive.stiffness if drive.drive is DriveMode.POSITION else 0.0
            made = made.motor(axis, 0.0, 0.0, stiffness, drive.damping)
            made = made.motor_model(axis, rapier.MotorModel.FORCE_BASED)
            made = made.motor_max_force(axis, min(drive.effort, LARGEST))
        if joint.stiffness > 0:
            if drive and is_servo(drive):
                raise CapabilityError(
                    self._engine,
                    Capability.SPRINGS,
                    reason=f"the spring beside the servo of joint '{robot}/{joint.name}'",
                )
            made = made.motor(axis, joint.springref, 0.0, joint.stiffness, 0.0)
            made = made.motor_model(axis, rapier.MotorModel.FORCE_BASED)
        return made.build()

    def _close_loops(self, robot: PlacedRobot, links: Sequence[Part]) -> None:
        homes = {solid: (part, X_BL) for part in links for solid, X_BL in part.members}
        for loop in robot.model.loops:
            a, X_A = homes[f"{robot.name}/{loop.link_a}"]
            b, X_B = homes[f"{robot.name}/{loop.link_b}"]
            kind = rapier.SphericalJoint if loop.kind is LoopKind.POINT else rapier.FixedJoint
            made = kind.builder().local_frame1(isometry(a.seen(X_A @ loop.X_AC)))
            made = made.local_frame2(isometry(b.seen(X_B @ loop.X_BC)))
            self.world.impulse_joints.insert(a.handle, b.handle, made.build())


def _configure(parameters: Any, setup: Setup[RapierOptions]) -> None:
    """Set what holds for the whole world; what would distort physics is switched off."""
    options, h = setup.options, setup.timestep
    softness = rapier.SpringCoefficients
    parameters.dt = h
    parameters.num_solver_iterations = options.substeps
    parameters.num_internal_pgs_iterations = options.iterations
    parameters.num_internal_stabilization_iterations = options.relaxations
    parameters.contact_softness = softness(
        min(options.contact_frequency, 1 / h), options.contact_damping
    )
    parameters.static_contact_softness = softness(
        min(options.static_contact_frequency, 1 / h), options.contact_damping
    )
    parameters.normalized_max_corrective_velocity = options.corrective_speed
    parameters.normalized_prediction_distance = options.prediction_distance
    parameters.contact_recycling = options.contact_recycling
    # Merged contacts keep their forces where the Python package does not show them.
    parameters.contact_clustering = False
    parameters.normalized_max_linear_velocity = LARGEST
    parameters.max_ccd_substeps = 0
    parameters.warmstart_joints = True


def _dynamic(inertia: Inertia) -> Any:
    """Return a body that moves, its centre of mass at the origin."""
    moments, axes = np.diagonal(inertia.moment), np.eye(3)
    if np.any(inertia.moment != np.diag(moments)):
        moments, axes = np.linalg.eigh(inertia.moment)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
    frame = isometry(pose(rotation=axes)).rotation
    mass = rapier.MassProperties((0.0, 0.0, 0.0), inertia.mass, moments.tolist(), frame)
    made = rapier.RigidBody.dynamic().additional_mass_properties(mass)
    return made.can_sleep(False).allow_fast_rotation(True).gyroscopic_forces(True)


def isometry(X: Array) -> Any:
    """Return a homogeneous transform, shape (4, 4), as the library's pose."""
    w, x, y, z = quaternion_from_rotation(X[:3, :3]).tolist()
    return rapier.Isometry3(X[:3, 3].tolist(), (x, y, z, w))


def collider(shape: Shape | Plane, X_BG: Array, *, material: Material, solid: str) -> Any:
    """Return a massless collider.

    Args:
        X_BG: Pose of the shape in the frame of Rapier's body, shape (4, 4).
        solid: The solid it belongs to.

    Raises:
        SceneError: If a mesh has no convex hull.
    """
    make = rapier.Collider
    match shape:
        case Plane():
            made = make.halfspace((0.0, 0.0, 1.0))
        case Box():
            made = make.cuboid(*(edge / 2 for edge in shape.size))
        case Sphere():
            made = make.ball(shape.radius)
        case Capsule():
            made = make.capsule_z(shape.length / 2, shape.radius)
        case Cylinder():
            made = make.cylinder(shape.length / 2, shape.radius)
            X_BG = X_BG @ _Y_TO_Z
        case MeshFile() | MeshData():
            try:
                made = make.convex_hull(mesh_of(shape).vertices)
            except rapier.RapierError:
                raise SceneError(f"Rapier can make no convex hull of a mesh of '{solid}'") from None
    made = made.friction(material.friction).restitution(material.restitution)
    return made.position(isometry(X_BG)).density(0.0)


def slides(joint: Joint) -> bool:
    """Return whether a joint moves along its axis, not about it."""
    return joint.type is JointType.PRISMATIC


def joint_axis(joint: Joint) -> Any:
    """Return the axis of Rapier's joint frame along or about which a joint moves."""
    return rapier.JointAxis.LIN_X if slides(joint) else rapier.JointAxis.ANG_X


def is_servo(drive: Actuation) -> bool:
    """Return whether a drive is a servo with gains; without them Rapier's motor locks a joint."""
    stiff = drive.drive is DriveMode.POSITION and drive.stiffness > 0
    damped = drive.drive in (DriveMode.POSITION, DriveMode.VELOCITY) and drive.damping > 0
    return stiff or damped


def stored_laws(stored: Any) -> dict[int, dict[str, Any]]:
    """Return the multibodies of a stored world by the number of the body of their second link."""
    items = stored["payload"][3]["multibodies"]["items"]
    values = [item["Occupied"]["value"] for item in items if "Occupied" in item]
    return {value["links"][1]["rigid_body"]["index"]: value for value in values}


def _with_joint_laws(world: Any, multibodies: Sequence[Multibody]) -> Any:
    """Return the world with Coulomb friction and couplings in its joints.

    Rapier solves them together with contacts; its Python package can
    set them only in a stored world.
    """
    lawful = [m for m in multibodies if any(j.friction or j.mimic for j in m.joints)]
    if not lawful:
        return world
    stored = json.loads(world.snapshot_json())
    found = stored_laws(stored)
    for multibody in lawful:
        joints = multibody.joints
        laws = found[multibody.links[1].handle.index]
        laws["frictions"][0][-len(joints) :] = [joint.friction for joint in joints]
        numbers = {joint.name: i for i, joint in enumerate(joints, 1)}
        for joint in joints:
            if joint.mimic:
                coupling = {"coeff": joint.mimic.multiplier, "offset": joint.mimic.offset}
                for side, name in enumerate((joint.mimic.joint, joint.name), 1):
                    link = numbers[name]
                    axis = 0 if slides(joints[link - 1]) else 3
                    coupling |= {f"link{side}": link, f"dof{side}": 0, f"axis{side}": axis}
                laws["couplings"].append(coupling)
    return rapier.PhysicsWorld.restore_json(json.dumps(stored))
