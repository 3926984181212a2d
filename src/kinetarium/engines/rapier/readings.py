"""Readings of Rapier: contacts, the motion of the loads of sensors, and the model as loaded."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from kinetarium.engines.base.audit import LoadedFrames, limit_of, merged
from kinetarium.engines.base.momentum_balance import Momentum
from kinetarium.engines.protocol import (
    Audit,
    Contacts,
    Layout,
    LoadedCoupling,
    LoadedDrive,
    LoadedJoint,
    LoadedLoop,
    LoadedSolid,
    LoadedSurface,
)
from kinetarium.engines.rapier.build import (
    LARGEST,
    NEGLIGIBLE,
    Model,
    Multibody,
    Part,
    joint_axis,
    stored_laws,
)
from kinetarium.engines.rapier.options import FreeBodies, RapierOptions
from kinetarium.model.robot import Inertia, MeshData, MeshFile
from kinetarium.scene import (
    Actuation,
    DriveMode,
    Motion,
    PlacedRobot,
    RigidBody,
    Scene,
    WrenchSensor,
    rigid_tree,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion


def read_contacts(world: Any, solids: Mapping[Any, int], *, timestep: float) -> Contacts:
    """Return the contacts of the last step, with normal and friction forces.

    Args:
        world: Rapier's world.
        solids: Index of the solid of every collider.
        timestep: Time step [s].
    """
    bodies = world.rigid_bodies
    rows = []
    for pair in world.narrow_phase.contact_pairs():
        for manifold in pair.manifolds:
            data = manifold.data
            if not data.num_active_contacts:
                continue
            owners = solids[pair.collider1], solids[pair.collider2]
            # Negative, if the first of the two moves and the second does not.
            dominance = data.relative_dominance
            normal, points = data.normal.to_tuple(), manifold.points
            for contact in data.solver_contacts:
                point = points[contact.contact_id]
                p, q = data.solver_contact_world_points(contact, bodies)
                place = (p if dominance > 0 else q).to_tuple()
                rows.append(
                    (*owners, *place, *normal, contact.dist, point.impulse, *point.tangent_impulse)
                )
    table = np.array(rows).reshape(-1, 12)
    n = -table[:, 5:8]
    t = _tangents(n)
    f = table[:, 9:10] * n + table[:, 10:11] * t + table[:, 11:12] * np.cross(n, t)
    touches = (table[:, 8] <= 0) | (table[:, 9] > 0)
    return Contacts(
        solids=table[touches, :2].astype(np.int32),
        points=table[touches, 2:5],
        normals=n[touches],
        depths=-table[touches, 8],
        forces=f[touches] / timestep,
    )


def _tangents(n: Array) -> Array:
    """Return the direction that Rapier gives to the first part of friction, shape (n, 3).

    Source: Duff et al., "Building an Orthonormal Basis, Revisited", JCGT 6 (2017).

    Args:
        n: Unit normals, shape (n, 3).
    """
    x, y, z = n.T
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    return np.column_stack([x * y * a, sign + y * y * a, -y])


@dataclass(frozen=True, slots=True, eq=False)
class LoadBodies:
    """The rigid bodies of the load of a sensor, each a part of a body in Rapier.

    Attributes:
        bodies: Rapier's names of each one's body, that of the sensor first, and of a joint of its
            multibody, and its number among the links; no joint if it does not move.
        masses: [kg], shape (k,).
        centers: Centre of mass of each in the frame of its body [m], shape (k, 3).
        moments: Moments about these centres in the same axes [kg m^2], shape (k, 3, 3).
        X_CS: The sensor's frame in that of the first body, shape (4, 4).
    """

    bodies: tuple[tuple[Any, Any, int], ...]
    masses: Array
    centers: Array
    moments: Array
    X_CS: Array

    @classmethod
    def of(cls, sensor: WrenchSensor, scene: Scene, *, model: Model) -> "LoadBodies":
        """Find everything below a sensor."""
        robot = scene.robot(sensor.robot)
        below: list[RigidBody] = []
        tree = rigid_tree(robot.model, keep={sensor.joint})
        for body in tree:
            if body.joint and (body.joint.name == sensor.joint or tree[body.parent] in below):
                below.append(body)
        homes = {solid: (part, X_BL) for part in model.parts for solid, X_BL in part.members}
        links = {
            part.handle: (multibody.handles[0], link)
            for multibody in model.multibodies
            for link, part in enumerate(multibody.links)
        }
        bodies, masses, centers, moments, frames = [], [], [], [], []
        for body in below:
            part, X_BL = homes[f"{robot.name}/{body.name}"]
            X, inertia = part.seen(X_BL), body.inertia or NEGLIGIBLE
            bodies.append((part.handle, *links.get(part.handle, (None, 0))))
            masses.append(inertia.mass)
            centers.append(X[:3, :3] @ inertia.center + X[:3, 3])
            moments.append(X[:3, :3] @ inertia.moment @ X[:3, :3].T)
            frames.append(X)
        return cls(
            bodies=tuple(bodies),
            masses=np.array(masses),
            centers=np.array(centers),
            moments=np.array(moments),
            X_CS=frames[0],
        )

    def momentum(self, world: Any) -> Momentum:
        """Read the momentum in Rapier's world."""
        motions = zip(*(_motion(world, *body) for body in self.bodies), strict=True)
        x, R, V = (np.array(rows) for rows in motions)
        levers = np.einsum("kij,kj->ki", R, self.centers)
        v, w = V[:, :3] + np.cross(V[:, 3:], levers), V[:, 3:]
        return Momentum(
            X_WS=pose(x[0], R[0]) @ self.X_CS,
            centers=x + levers,
            linear=self.masses[:, np.newaxis] * v,
            angular=np.einsum("kij,kjl,kml,km->ki", R, self.moments, R, w),
        )


def _motion(world: Any, body: Any, joint: Any, link: int) -> tuple[Array, Array, Array]:
    """Return position, rotation and twist of a body."""
    placed = world.rigid_bodies[body]
    x, y, z, w = placed.rotation.quaternion
    V = np.zeros(6)
    if joint is not None:
        # The body's own velocity is that before the step.
        multibody = world.multibody_joints.multibody(joint)
        V = np.array(multibody.body_jacobian(link)) @ multibody.generalized_velocity()
    return np.array(placed.translation.to_tuple()), rotation_from_quaternion((w, x, y, z)), V


def audit(
    scene: Scene, layout: Layout, *, model: Model, world: Any, options: RapierOptions
) -> Audit:
    """Read back a scene.

    Args:
        model: The scene as it was built.
        world: The scene in Rapier.
        options: Its settings.
    """
    laws = stored_laws(json.loads(world.snapshot_json()))
    joints: list[LoadedJoint] = []
    drives: list[LoadedDrive] = []
    couplings: list[LoadedCoupling] = []
    loops: list[LoadedLoop] = []
    ties = iter(world.impulse_joints)
    multibodies = iter(model.multibodies)
    for robot in scene.robots:
        if not robot.model.moving_joints:
            continue
        multibody = next(multibodies)
        law = laws[multibody.links[1].handle.index]
        frames = _frames(robot, multibody, world)
        joints += _joints(robot.name, multibody, law=law, world=world, frames=frames)
        couplings += _couplings(robot.name, multibody, law)
        for command, place, drive in layout.drives(robot.name):
            name = layout.commands[command]
            drives.append(_drive(name, multibody, place, asked=drive, world=world))
        for loop in robot.model.loops:
            loops.append(frames.loop(loop, _ends(next(ties)[1], model)))
    return Audit(
        tuple(
            LoadedSolid(
                part.name,
                _inertia(world.rigid_bodies[part.handle].mass_properties, part),
                tuple(solid for solid, _ in part.members),
            )
            for part in model.parts
            if part.inertia
        ),
        tuple(joints),
        frozen(world.gravity.to_tuple()),
        tuple(_remarks(scene, model, options)),
        drives=tuple(drives),
        couplings=tuple(couplings),
        loops=tuple(loops),
        surfaces=merged(
            LoadedSurface(
                scene.solids[solid],
                world.colliders[collider].friction,
                world.colliders[collider].restitution,
            )
            for collider, solid in model.colliders.items()
        ),
    )


def _inertia(read: Any, part: Part) -> Inertia:
    R = _rotation(read.principal_inertia_local_frame)
    moments = np.array(read.principal_inertia.to_tuple())
    center = part.center + read.local_com.to_tuple()
    return Inertia(read.mass, frozen(center), frozen(R * moments @ R.T))


def _rotation(rotation: Any) -> Array:
    x, y, z, w = rotation.quaternion
    return rotation_from_quaternion((w, x, y, z))


def _in_solid(part: Part, frame: Any) -> Array:
    """Return a frame of Rapier's body in the frame of its solid, shape (4, 4)."""
    return pose(part.center + frame.translation.to_tuple(), _rotation(frame.rotation))


def _frames(robot: PlacedRobot, multibody: Multibody, world: Any) -> LoadedFrames:
    loaded = {}
    for link, (joint, handle) in enumerate(
        zip(multibody.joints, multibody.handles, strict=True), 1
    ):
        data = world.multibody_joints[handle].data
        above = _in_solid(multibody.links[multibody.parents[link]], data.local_frame1)
        below = _in_solid(multibody.links[link], data.local_frame2)
        loaded[joint.name] = above @ inverse_pose(below)
    return LoadedFrames.of(robot, loaded)


def _joints(
    robot: str, multibody: Multibody, *, law: Any, world: Any, frames: LoadedFrames
) -> Iterator[LoadedJoint]:
    made = world.multibody_joints.multibody(multibody.handles[0])
    count = len(multibody.joints)
    for joint, handle, damping, armature, friction in zip(
        multibody.joints,
        multibody.handles,
        made.damping()[-count:],
        made.armature()[-count:],
        law["frictions"][0][-count:],
        strict=True,
    ):
        data = world.multibody_joints[handle].data
        limits = data.limits(joint_axis(joint))
        bounds = (limits.min, limits.max) if limits else (-inf, inf)
        lower, upper = (limit_of(bound, LARGEST) for bound in bounds)
        yield LoadedJoint(
            name=f"{robot}/{joint.name}",
            axis=frozen(_rotation(data.local_frame2.rotation)[:, 0]),
            damping=damping,
            friction=friction,
            armature=armature,
            lower=lower,
            upper=upper,
            X_PJ=frames.joints[joint.name],
        )


def _couplings(robot: str, multibody: Multibody, law: Any) -> Iterator[LoadedCoupling]:
    names = [f"{robot}/{joint.name}" for joint in multibody.joints]
    for read in law["couplings"]:
        leader, follower = names[read["link1"] - 1], names[read["link2"] - 1]
        yield LoadedCoupling(follower, leader, read["coeff"], read["offset"])


def _drive(
    name: str, multibody: Multibody, place: int, *, asked: Actuation, world: Any
) -> LoadedDrive:
    """Read back a drive; torques are limited by us, and servos without gains have no motor."""
    axis = joint_axis(multibody.joints[place])
    motor = world.multibody_joints[multibody.handles[place]].data.motor(axis)
    if motor is None or asked.drive is DriveMode.TORQUE:  # whose motor is the joint's spring
        return LoadedDrive(name, asked.drive, 0.0, 0.0, asked.effort, read_back=False)
    mode = DriveMode.POSITION if motor.stiffness else asked.drive
    effort = limit_of(motor.max_force, LARGEST)
    return LoadedDrive(name, mode, motor.stiffness, motor.damping, effort)


def _ends(tie: Any, model: Model) -> list[tuple[str, Array]]:
    """Return the links of the two bodies that a loop ties, and its frames there."""
    parts = {part.handle: part for part in model.parts}
    ends = ((tie.body1, tie.data.local_frame1), (tie.body2, tie.data.local_frame2))
    return [
        (parts[body].name.partition("/")[2], _in_solid(parts[body], frame)) for body, frame in ends
    ]


def _remarks(scene: Scene, model: Model, options: RapierOptions) -> Iterator[str]:
    massless = [part.name for part in model.parts if part.inertia is NEGLIGIBLE]
    if massless:
        yield f"links without mass have {NEGLIGIBLE.mass:g} kg: {', '.join(massless)}"
    if any(
        isinstance(shape, MeshFile | MeshData) for shapes in scene.geometry for shape, _ in shapes
    ):
        yield "meshes touch as their convex hulls"
    rigid = options.free_bodies is FreeBodies.RIGID_BODY
    if rigid and any(body.motion is Motion.FREE for body in scene.bodies):
        yield "contact forces of free bodies that touch no robot are reported without friction"
