"""Readings of a step: contacts, and the motion of the loads of force-torque sensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetarium.engines.base.momentum_balance import Momentum
from kinetarium.engines.protocol import Contacts
from kinetarium.engines.rapier.build import NEGLIGIBLE, Model
from kinetarium.scene import RigidBody, Scene, WrenchSensor, rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_from_quaternion


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
