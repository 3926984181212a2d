"""Scene: the complete, immutable input of a physics engine."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import IDENTITY, JointType, RobotModel, Shape
from kinetarium.scene.body import Body, Material, Motion, Plane
from kinetarium.scene.robot import Base, PlacedRobot, WrenchSensor
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY_VECTOR


class SceneError(KinetariumError):
    """A scene that is physically invalid."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Robots and bodies under gravity.

    A solid is a link, named "robot/link", or a body, by its own name.

    Example:
        >>> from kinetarium import Scene
        >>> from kinetarium.model import Box
        >>> from kinetarium.scene import free_body, ground
        >>> scene = Scene(bodies=(ground(), free_body("box", Box((0.1, 0.1, 0.1)), mass=1.0)))
        >>> scene.solids
        ('ground', 'box')

    Attributes:
        robots: The robots.
        bodies: The other bodies.
        sensors: Force-torque sensors.
        gravity: Gravity [m/s^2], shape (3,).
        no_contact: Pairs of solids between which no contact is computed.
    """

    robots: tuple[PlacedRobot, ...] = ()
    bodies: tuple[Body, ...] = ()
    sensors: tuple[WrenchSensor, ...] = ()
    gravity: Array = field(default_factory=lambda: GRAVITY_VECTOR)
    no_contact: frozenset[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        """Check names and numbers.

        Raises:
            SceneError: If a name is duplicate, or a value invalid or not finite.
            UnknownNameError: If a name is unknown.
        """
        _refuse_duplicates(
            "robot or body", [r.name for r in self.robots] + [b.name for b in self.bodies]
        )
        _refuse_duplicates("sensor", [sensor.name for sensor in self.sensors])
        for robot in self.robots:
            _check_robot(robot)
        for body in self.bodies:
            _check_body(body)
        for sensor in self.sensors:
            self.robot(sensor.robot).model.joint(sensor.joint)
        for solid in sorted(name for pair in self.no_contact for name in pair):
            if solid not in self.solids:
                raise UnknownNameError("solid", solid, known=self.solids)
        if not np.all(np.isfinite(self.gravity)):
            raise SceneError("gravity is not finite")

    @cached_property
    def solids(self) -> tuple[str, ...]:
        """The names of all solids: the links of each robot in turn, then the bodies."""
        links = [f"{r.name}/{link.name}" for r in self.robots for link in r.model.links]
        return (*links, *(body.name for body in self.bodies))

    @cached_property
    def materials(self) -> tuple[Material, ...]:
        """The surface of each of `solids`."""
        links = [
            robot.link_materials.get(link.name, robot.material)
            for robot in self.robots
            for link in robot.model.links
        ]
        return (*links, *(body.material for body in self.bodies))

    @cached_property
    def geometry(self) -> tuple[tuple[tuple[Shape | Plane, Array], ...], ...]:
        """The collision shapes of each of `solids`, each with its pose in the solid's frame."""
        links = [
            tuple((geometry.shape, geometry.X_LG) for geometry in link.collisions)
            for robot in self.robots
            for link in robot.model.links
        ]
        return (*links, *(((body.shape, IDENTITY),) for body in self.bodies))

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Whether each of `solids` is fixed to the world, shape (n,)."""
        fixed = []
        for robot in self.robots:
            top = rigid_groups(robot.model)
            held = robot.base is Base.FIXED
            fixed += [held and top[link.name] == robot.model.root for link in robot.model.links]
        return np.array([*fixed, *(body.motion is Motion.STATIC for body in self.bodies)], np.bool_)

    @property
    def bounces(self) -> bool:
        """Whether some surface returns part of an impact."""
        return any(material.restitution > 0 for material in self.materials)

    def sensed_joints(self, robot: str) -> frozenset[str]:
        """Return the names of the joints of a robot that carry sensors."""
        return frozenset(sensor.joint for sensor in self.sensors if sensor.robot == robot)

    def robot(self, name: str) -> PlacedRobot:
        """Return the placed robot of a name.

        Raises:
            UnknownNameError: If there is no such robot.
        """
        for robot in self.robots:
            if robot.name == name:
                return robot
        raise UnknownNameError("robot", name, known=(robot.name for robot in self.robots))

    @cached_property
    def may_collide(self) -> NDArray[np.bool_]:
        """Whether two solids may be in contact, shape (n, n), symmetric, in order of `solids`.

        Solids that are rigidly connected, or connected by one joint, never are.
        """
        count = len(self.solids)
        allowed = ~np.eye(count, dtype=np.bool_)
        start = 0
        for robot in self.robots:
            n = len(robot.model.links)
            allowed[start : start + n, start : start + n] = _own_pairs(robot)
            start += n
        for i, body in enumerate(self.bodies, start):
            for j, other in enumerate(self.bodies, start):
                if Motion.FREE not in (body.motion, other.motion):
                    allowed[i, j] = False
        for pair in self.no_contact:
            a, b = (self.solids.index(name) for name in (*pair, *pair)[:2])
            allowed[a, b] = allowed[b, a] = False
        return allowed

    @cached_property
    def may_meet(self) -> NDArray[np.bool_]:
        """Whether contact of two solids is to be computed, shape (n, n), symmetric.

        They may collide, both have shapes, and one of them moves.
        """
        shaped = np.array([len(shapes) > 0 for shapes in self.geometry], np.bool_)
        return self.may_collide & np.outer(shaped, shaped) & ~np.outer(self.fixed, self.fixed)


def rigid_groups(model: RobotModel) -> dict[str, str]:
    """Return for each link the topmost link that it is rigidly fixed to, itself if it moves."""
    group = {model.root: model.root}
    for joint in model.joints:
        fixed = joint.type is JointType.FIXED
        group[joint.child] = group[joint.parent] if fixed else joint.child
    return group


def collision_filter(may_collide: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return bit masks by which an engine lets exactly the right pairs of solids collide.

    Two solids collide if the membership mask of one and the filter mask of
    the other have a bit in common. Each bit thus lets a set of solids collide
    with another set; such pairs of sets are grown greedily, to open as many
    pairs as possible, until all are open.

    Args:
        may_collide: Whether two solids may collide, symmetric, shape (n, n).

    Returns:
        Membership and filter of each solid.

    Raises:
        SceneError: If 32 bits do not suffice.
    """
    count = len(may_collide)
    # Shapes of one solid never meet.
    open_to = may_collide | np.eye(count, dtype=np.bool_)
    missing = may_collide.copy()
    memberships, filters = [0] * count, [0] * count
    for bit in range(32):
        if not missing.any():
            break
        ones, others = _grow(open_to, missing)
        missing[np.ix_(ones, others)] = False
        missing[np.ix_(others, ones)] = False
        for i in np.flatnonzero(ones):
            memberships[i] |= 1 << bit
        for i in np.flatnonzero(others):
            filters[i] |= 1 << bit
    if missing.any():
        raise SceneError("too many kinds of pairs that must not collide for 32 collision groups")
    return list(zip(memberships, filters, strict=True))


def _grow(
    open_to: NDArray[np.bool_], missing: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return two sets of which each member of one may collide with each of the other."""
    ones = np.zeros(len(open_to), dtype=np.bool_)
    first = int(np.argmax(missing.sum(axis=1)))
    ones[first] = True
    others = open_to[first]
    covered = int(missing[first].sum())
    while True:
        left = open_to & others  # what remains of the others beside each candidate
        gains = left @ missing[ones].sum(axis=0) + (left & missing).sum(axis=1)
        gains[ones] = 0
        best = int(np.argmax(gains))
        if gains[best] <= covered:
            return ones, others
        covered = int(gains[best])
        ones[best] = True
        others = left[best]


def _own_pairs(robot: PlacedRobot) -> NDArray[np.bool_]:
    model = robot.model
    count = len(model.links)
    if not robot.self_collision:
        return np.zeros((count, count), dtype=np.bool_)
    group = rigid_groups(model)
    joined = {frozenset((group[joint.parent], group[joint.child])) for joint in model.joints} | {
        frozenset((top,)) for top in group.values()
    }
    names = [group[link.name] for link in model.links]
    return np.array([[frozenset((a, b)) not in joined for b in names] for a in names])


def _refuse_duplicates(kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SceneError(
                f"duplicate name '{name}' in the scene; each {kind} needs a unique name"
            )
        if not name or "/" in name:
            raise SceneError(f"invalid {kind} name '{name}': it must not be empty or contain '/'")


def _check_robot(robot: PlacedRobot) -> None:
    model = robot.model
    for name in (*robot.positions, *robot.actuation):
        if model.joint(name).type is JointType.FIXED:
            raise SceneError(
                f"joint '{name}' of '{robot.name}' is fixed: it has no drive and no position"
            )
    for name in robot.link_materials:
        model.link(name)
    numbers = [*robot.X_WB.ravel(), *robot.positions.values()]
    if not np.all(np.isfinite(numbers)):
        raise SceneError(f"the pose or a position of robot '{robot.name}' is not finite")
    for name, actuation in robot.actuation.items():
        gains = (actuation.stiffness, actuation.damping, actuation.effort)
        if not all(gain >= 0 for gain in gains):
            raise SceneError(f"the drive of '{name}' has a negative or undefined gain or limit")
    for material in (robot.material, *robot.link_materials.values()):
        _check_material(material, robot.name)


def _check_body(body: Body) -> None:
    if body.motion is Motion.FREE and (body.inertia is None or isinstance(body.shape, Plane)):
        raise SceneError(f"body '{body.name}' is free and needs mass and a bounded shape")
    if not all(np.all(np.isfinite(part)) for part in (body.X_WB, body.V_WB)):
        raise SceneError(f"the pose or twist of body '{body.name}' is not finite")
    if body.inertia is not None:
        mass, moment = body.inertia.mass, np.asarray(body.inertia.moment)
        if not (np.isfinite(mass) and mass > 0 and np.all(np.isfinite(moment))):
            raise SceneError(f"body '{body.name}' needs a positive finite mass")
        if np.linalg.eigvalsh(moment)[0] <= 0:
            raise SceneError(
                f"the moment of inertia of body '{body.name}' is not positive definite"
            )
    _check_material(body.material, body.name)


def _check_material(material: Material, where: str) -> None:
    frictions = (material.friction, material.spinning_friction, material.rolling_friction)
    if not (all(0 <= value < np.inf for value in frictions) and 0 <= material.restitution <= 1):
        raise SceneError(f"the material of '{where}' needs friction >= 0 and restitution in 0..1")
