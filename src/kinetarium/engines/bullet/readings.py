"""Readings of Bullet: contacts between solids, and force-torque sensors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np

from kinetarium.engines.base.momentum_balance import Load, Momentum
from kinetarium.engines.base.simulation import AppliedWrench
from kinetarium.engines.bullet.library import BulletClient, principal
from kinetarium.engines.bullet.multibody import LANDSCAPE, BodySpec, Multibody
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.protocol import Contacts
from kinetarium.scene import Plane, Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

Place = tuple[int, int]
"""Bullet's numbers of a multibody and of one of its links, -1 for the base."""

_BOUNCE_ERP = 2e-3
"""Share of its penetration that a bouncing contact gives back per step; it bounds the error of
its restitution."""
_RIGID = 1e-9
"""Speed per impulse by which a contact yields that should not [1/kg]."""


class Surfaces:
    """The surfaces of a scene.

    Attributes:
        solids: Index of the solid of every place that has a surface.
        bouncing: The moving places whose surface bounces. Bullet looks at their contacts only
            once they overlap.
    """

    def __init__(self, scene: Scene, multibodies: Iterable[Multibody]) -> None:
        """Find the surfaces of robots and bodies in Bullet."""
        index = {solid: i for i, solid in enumerate(scene.solids)}
        self._specs: dict[Place, BodySpec] = {}
        self._masses: dict[int, float] = {}
        colliding = {robot.name for robot in scene.robots if robot.self_collision}
        moving = set()
        self._whole = set()
        for multibody in multibodies:
            if multibody.name not in colliding:
                self._whole.add(multibody.id)
            base = multibody.specs[0].inertia
            if base or multibody.joints:
                moving.add(multibody.id)
            if base and not multibody.joints:
                self._masses[multibody.id] = base.mass
            for link, spec in enumerate(multibody.specs, -1):
                if spec.surface:
                    self._specs[multibody.id, link] = spec
        self._scene = scene
        self.solids = {place: index[spec.solid] for place, spec in self._specs.items()}
        self.bouncing = frozenset(
            place for place, solid in self.solids.items()
            if place[0] in moving and scene.materials[solid].restitution > 0
        )  # fmt: skip

    def cover(self, bullet: BulletClient, *, timestep: float, options: BulletOptions) -> None:
        """Set the material of every surface.

        Bullet multiplies the friction and restitution of two surfaces; with the
        roots of ours two equal surfaces have exactly theirs.
        """
        for place, solid in self.solids.items():
            material = self._scene.materials[solid]
            bullet.changeDynamics(
                *place,
                lateralFriction=sqrt(material.friction),
                restitution=sqrt(material.restitution),
            )
            if place in self.bouncing:
                # Bullet slows down what comes near, and gives penetration back as speed. Neither
                # may add to a bounce.
                bullet.changeDynamics(*place, contactProcessingThreshold=0.0)
                yielding, erp = _RIGID, _BOUNCE_ERP
            elif place[0] in self._masses and options.contact_softness > 0:
                yielding = options.contact_softness / self._masses[place[0]]
                erp = options.contact_erp
            else:
                continue
            # Of stiffness k and damping d Bullet makes erp = h k / (h k + d), cfm = 1 / (h k + d).
            bullet.changeDynamics(
                *place,
                contactStiffness=erp / (yielding * timestep**2),
                contactDamping=(1 - erp) / (yielding * timestep),
            )

    def exclude_pairs(self, bullet: BulletClient) -> None:
        """Switch off the pairs that never touch, and one of the two shapes of a plane."""
        for (a, i), (b, j) in combinations(self.solids.items(), 2):
            if a[0] == b[0] and a[0] in self._whole:
                continue  # that Bullet knows
            one, other = self._specs[a], self._specs[b]
            other_plane = _is_other_plane(one, other) or _is_other_plane(other, one)
            if other_plane or not self._scene.may_collide[i, j]:
                bullet.setCollisionFilterPair(a[0], b[0], a[1], b[1], 0)


def _is_other_plane(plane: BodySpec, spec: BodySpec) -> bool:
    """Return whether the first is a shape of a plane, but not the one for the second to meet."""
    if isinstance(plane.surface, Plane):
        return spec.is_boxes
    return plane.surface is LANDSCAPE and not spec.is_boxes


def read_contacts(bullet: BulletClient, surfaces: Surfaces) -> Contacts:
    """Return the points that overlap or exert a force, with normal and friction forces.

    The solver may leave a little friction on a point that in the end it has
    relieved of its normal force; it acted, and is listed.
    """
    points, solids = [], []
    for point in bullet.getContactPoints():
        _, body_a, body_b, link_a, link_b, _, _, _, distance, push, slide_1, _, slide_2, _ = point
        a, b = (body_a, link_a), (body_b, link_b)
        if distance > 0 and (a in surfaces.bouncing or b in surfaces.bouncing):
            continue  # not looked at in this step; its forces are old
        if distance <= 0 or push or slide_1 or slide_2:
            points.append(point)
            solids.append((surfaces.solids[a], surfaces.solids[b]))
    on_a, on_b, normals, along_1, along_2 = (
        np.array([point[i] for point in points]).reshape(-1, 3) for i in (5, 6, 7, 11, 13)
    )
    distances, pushes, slides_1, slides_2 = (
        np.array([point[i] for point in points]).reshape(-1, 1) for i in (8, 9, 10, 12)
    )
    return Contacts(
        solids=np.array(solids, dtype=np.int32).reshape(-1, 2),
        points=(on_a + on_b) / 2,
        normals=normals,
        depths=-distances[:, 0],
        forces=pushes * normals + slides_1 * along_1 + slides_2 * along_2,
    )


LinkStates = tuple[tuple[Any, ...], ...]
"""What pybullet returns of links: position, quaternion xyzw, ..., linear and angular velocity."""
Memory = tuple[dict[str, LinkStates], dict[str, LinkStates]]
"""How the load of every sensor moved before the last step and moves now, where that is known."""


@dataclass(frozen=True, slots=True, eq=False)
class _LoadLinks:
    """The links of the load of a sensor.

    Attributes:
        load: What they are to the scene.
        robot: Bullet's number of the robot.
        numbers: Bullet's numbers of them, the one behind the sensor first.
        masses: Of each [kg], shape (k,).
        moments: Principal moments of each [kg m^2], shape (k, 3).
        X_IC: The sensor's frame in the inertial frame of the first, shape (4, 4).
    """

    load: Load
    robot: int
    numbers: tuple[int, ...]
    masses: Array
    moments: Array
    X_IC: Array


class WrenchSensors:
    """The force-torque sensors of a scene, by the balance of momentum of their loads.

    Bullet's own joint feedback counts Coriolis forces twice, leaves out motors
    along their axis and misplaces the forces of couplings.
    """

    def __init__(
        self, bullet: BulletClient, scene: Scene, *, robots: Iterable[Multibody], timestep: float
    ) -> None:
        """Find the load of each sensor.

        Raises:
            CapabilityError: If a loop leads around a sensor.
        """
        self._bullet = bullet
        by_name = {robot.name: robot for robot in robots}
        self._links = {
            sensor.name: _load_links(
                by_name[sensor.robot],
                scene.robot(sensor.robot).model.joint(sensor.joint).child,
                load=Load.of(sensor, scene, timestep=timestep, engine="bullet"),
            )
            for sensor in scene.sensors
        }
        self.forget()

    def forget(self) -> None:
        """Reset: no step has been made."""
        self.memory: Memory = ({}, {})

    def note(self) -> None:
        """Keep how the loads move, right before a step."""
        self.memory = (self._present(), {})

    def read(self, sensor: str, *, contacts: Contacts, wrenches: Sequence[AppliedWrench]) -> Array:
        """Return the wrench of the load on a sensor in the sensor's frame [N, N m], shape (6,).

        Args:
            contacts: The contacts of the last step.
            wrenches: What was applied from outside during it.
        """
        before, _ = self.memory
        self.memory = (before, self._present())
        links = self._links[sensor]
        return links.load.wrench(
            self._momentum(links, before[sensor]),
            self._momentum(links, self.memory[1][sensor]),
            masses=links.masses,
            contacts=contacts,
            wrenches=wrenches,
        )

    def _momentum(self, links: _LoadLinks, states: LinkStates) -> Momentum:
        x, v, w = (np.array([state[i] for state in states]) for i in (0, 6, 7))
        R = np.array([self._bullet.getMatrixFromQuaternion(state[1]) for state in states])
        R = R.reshape(-1, 3, 3)
        return Momentum(
            X_WS=pose(x[0], R[0]) @ links.X_IC,
            centers=x,
            linear=links.masses[:, np.newaxis] * v,
            angular=np.einsum("kij,kj,klj,kl->ki", R, links.moments, R, w),
        )

    def _present(self) -> dict[str, LinkStates]:
        """Read how the loads move, unless that is known."""
        return self.memory[1] or {
            name: self._bullet.getLinkStates(
                links.robot, links.numbers, computeLinkVelocity=1, computeForwardKinematics=1
            )
            for name, links in self._links.items()
        }


def _load_links(robot: Multibody, child: str, *, load: Load) -> _LoadLinks:
    """Find Bullet's links below a sensor, given the link right below it."""
    top, X_IC = robot.inertial_pose(child)
    below = {top + 1}
    for i, spec in enumerate(robot.specs):
        if spec.parent in below:
            below.add(i)
    heavy = [top + 1, *(i for i in sorted(below) if i > top + 1 and robot.specs[i].inertia)]
    inertias = [robot.specs[i].inertia for i in heavy]
    return _LoadLinks(
        load=load,
        robot=robot.id,
        numbers=tuple(i - 1 for i in heavy),
        masses=np.array([inertia.mass if inertia else 0.0 for inertia in inertias]),
        moments=np.array([principal(inertia)[0] for inertia in inertias]),
        X_IC=X_IC,
    )
