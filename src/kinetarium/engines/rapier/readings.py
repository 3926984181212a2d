"""What is read of a step: contacts, and force-torque sensors by the balance of momentum.

Rapier tells nothing of the forces in the joints of a multibody. A step changes
the momentum of what hangs on a sensor by everything that acted on it: weight,
contacts, wrenches from outside and the joint. The first three are known, so
that the change of momentum gives the last, as its mean over the step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.base.simulation import AppliedWrench
from kinetarium.engines.protocol import Capability, CapabilityError, Contacts
from kinetarium.engines.rapier.build import NEGLIGIBLE, Model
from kinetarium.scene import RigidBody, Scene, WrenchSensor, rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rotation_from_quaternion


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
class Momentum:
    """The momentum of a load at one time.

    Attributes:
        R_WS: Orientation of the sensor, shape (3, 3).
        p_WS: Its position [m], shape (3,).
        centers: Centres of mass of the bodies [m], shape (k, 3).
        linear: Their momenta [N s], shape (k, 3).
        angular: Their angular momenta about these centres [N m s], shape (k, 3).
    """

    R_WS: Array
    p_WS: Array
    centers: Array
    linear: Array
    angular: Array


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """What hangs on a sensor: rigid bodies, each of them a share of a body in Rapier.

    Attributes:
        bodies: Rapier's names of each one's body, that of the sensor first, and of a joint of its
            multibody, and its number among the links; no joint if it does not move.
        masses: [kg], shape (k,).
        centers: Centre of mass of each in the frame of its body [m], shape (k, 3).
        moments: Moments about these centres in the same axes [kg m^2], shape (k, 3, 3).
        X_CS: The sensor's frame in that of the first body, shape (4, 4).
        members: The solids it consists of.
        carried: Whether each solid of the scene is one of them, shape (n,).
        gravity: Gravity [m/s^2], shape (3,).
    """

    bodies: tuple[tuple[Any, Any, int], ...]
    masses: Array
    centers: Array
    moments: Array
    X_CS: Array
    members: frozenset[str]
    carried: NDArray[np.bool_]
    gravity: Array

    @classmethod
    def of(cls, sensor: WrenchSensor, scene: Scene, *, model: Model) -> "Load":
        """Find everything below a sensor.

        Raises:
            CapabilityError: If a loop leads around the sensor.
        """
        robot = scene.robot(sensor.robot)
        below: list[RigidBody] = []
        tree = rigid_tree(robot.model, keep={sensor.joint})
        for body in tree:
            if body.joint and (body.joint.name == sensor.joint or tree[body.parent] in below):
                below.append(body)
        members = frozenset(f"{robot.name}/{link}" for body in below for link, _ in body.members)
        for loop in robot.model.loops:
            if len({f"{robot.name}/{link}" in members for link in (loop.link_a, loop.link_b)}) == 2:
                cause = f"joint '{sensor.joint}' inside a closed loop"
                raise CapabilityError("rapier", Capability.JOINT_WRENCH, reason=cause)
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
            members=members,
            carried=np.array([solid in members for solid in scene.solids]),
            gravity=scene.gravity,
        )

    def momentum(self, world: Any) -> Momentum:
        """Read the momentum in Rapier's world."""
        motions = zip(*(_motion(world, *body) for body in self.bodies), strict=True)
        x, R, V = (np.array(rows) for rows in motions)
        levers = np.einsum("kij,kj->ki", R, self.centers)
        v, w = V[:, :3] + np.cross(V[:, 3:], levers), V[:, 3:]
        return Momentum(
            R_WS=R[0] @ self.X_CS[:3, :3],
            p_WS=x[0] + R[0] @ self.X_CS[:3, 3],
            centers=x + levers,
            linear=self.masses[:, np.newaxis] * v,
            angular=np.einsum("kij,kjl,kml,km->ki", R, self.moments, R, w),
        )

    def wrench(
        self,
        before: Momentum,
        after: Momentum,
        *,
        timestep: float,
        contacts: Contacts,
        wrenches: Sequence[AppliedWrench],
    ) -> Array:
        """Return what the load exerts on the sensor in a step, in the sensor's frame, shape (6,).

        Args:
            before: Its momentum before the step.
            after: Its momentum after the step.
            timestep: Time step [s].
            contacts: The contacts of the step.
            wrenches: The wrenches from outside that acted during it.
        """
        shares = self.carried[contacts.solids] @ (1.0, -1.0)
        own = [wrench for wrench in wrenches if wrench.solid in self.members]
        forces = np.vstack(
            [
                np.outer(self.masses, self.gravity) - (after.linear - before.linear) / timestep,
                shares[:, np.newaxis] * contacts.forces,
                *(wrench.F_W[:3] for wrench in own),
            ]
        )
        points = np.vstack([before.centers, contacts.points, *(wrench.point for wrench in own)])
        f = forces.sum(axis=0)
        m = np.cross(points - before.p_WS, forces).sum(axis=0)
        m -= (after.angular - before.angular).sum(axis=0) / timestep
        for wrench in own:
            m += wrench.F_W[3:]
        return np.concatenate([f @ before.R_WS, m @ before.R_WS])


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
