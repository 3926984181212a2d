"""What a scene becomes in PhysX: joints with their losses, solids and sensors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinetarium.engines.base.audit import LoadedFrames
from kinetarium.engines.physx.library import physx, physx_pose
from kinetarium.engines.protocol import LoadedCoupling
from kinetarium.model.robot import Inertia, Joint, JointType
from kinetarium.scene import Actuation, DriveMode
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion

_ENDLESS = float(np.finfo(np.float32).max)
_X = (1.0, 0.0, 0.0)
_CREEP = 1e-6
"""Speed [rad/s or m/s] at which a joint that sticks gives way under its full friction."""

Reader = Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Resistance:
    """What a joint does against its motion.

    Attributes:
        read_damping: Reads back its viscous damping [N m s/rad or N s/m].
        read_friction: Reads back its Coulomb friction [N m or N].
        beside: Whether part of it acts beside the joint, so that a sensor in it does not feel it.
    """

    read_damping: Reader
    read_friction: Reader
    beside: bool


def resist(
    link: Any, joint: Joint, *, actuation: Actuation, timestep: float, sign: float
) -> Resistance:
    """Set up the servo, the friction, the damping and the spring of a joint.

    PhysX gives a joint one drive: a spring and a damper with a limit. The first
    of the three that the joint has takes it. The others are drives of further
    constraints between the two links, whose force the joint's own reading
    lacks. Coulomb friction is a damper so hard that its limit is what counts.

    Args:
        link: The child link.
        joint: The joint of the model.
        actuation: Its drive.
        timestep: Time step [s].
        sign: Whether PhysX counts its position in the same direction, 1 or -1.
    """
    slots = _Slots(link, slides=joint.type is JointType.PRISMATIC, timestep=timestep)
    if actuation.drive in (DriveMode.POSITION, DriveMode.VELOCITY):
        stiffness = actuation.stiffness if actuation.drive is DriveMode.POSITION else 0.0
        slots.add(actuation.damping, stiffness=stiffness, limit=actuation.effort)
    read_damping, read_friction = _nothing, _nothing
    if joint.friction > 0:
        _, read_friction = slots.add(joint.friction / _CREEP, limit=joint.friction)
    if joint.damping > 0 or joint.stiffness > 0:
        relaxed = sign * joint.springref
        read_damping, _ = slots.add(joint.damping, stiffness=joint.stiffness, relaxed=relaxed)
    return Resistance(read_damping, read_friction, slots.count > 1)


class _Slots:
    """The drives of a joint: its own, then those of added constraints."""

    def __init__(self, link: Any, *, slides: bool, timestep: float) -> None:
        self._link = link
        self._slides = slides
        self._timestep = timestep
        self.count = 0

    def add(
        self,
        damping: float,
        *,
        stiffness: float = 0.0,
        limit: float = _ENDLESS,
        relaxed: float = 0.0,
    ) -> tuple[Reader, Reader]:
        """Set up a drive to a position [rad or m]; return readers of its damping and its limit."""
        limit = min(limit, _ENDLESS)
        joint = self._link.joint
        self.count += 1
        if self.count == 1:
            joint.set_drive_properties(stiffness, damping, limit, "force")
            joint.set_drive_target(relaxed)
            return (lambda: joint.damping), (lambda: joint.force_limit)
        added = physx.PhysxDriveComponent(self._link)
        added.parent = self._link.parent
        # Its zero is where the spring is relaxed.
        zero = pose((relaxed, 0, 0)) if self._slides else pose(rotation=rotation_about(_X, relaxed))
        added.pose_in_parent = joint.pose_in_parent * physx_pose(zero)
        added.pose_in_child = joint.pose_in_child
        axis = "x" if self._slides else "twist"
        # Here the limit is one of the impulse within a step.
        impulse = min(limit * self._timestep, _ENDLESS)
        getattr(added, f"set_drive_property_{axis}")(stiffness, damping, impulse, "force")
        self._link.entity.add_component(added)
        read = getattr(added, f"get_drive_property_{axis}")
        return (lambda: read()[1]), (lambda: read()[2] / self._timestep)


def _nothing() -> float:
    return 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PhysxJoint:
    """A moving joint.

    Attributes:
        name: "robot/joint".
        joint: The joint in PhysX.
        sign: Whether PhysX counts its position in the same direction, 1 or -1.
        resistance: Its damping and friction.
    """

    name: str
    joint: Any
    sign: float
    resistance: Resistance


@dataclass(frozen=True, slots=True, eq=False)
class PhysxSolid:
    """A rigid body that moves.

    Attributes:
        name: The topmost of the solids it consists of.
        component: The body in PhysX.
        members: All the solids it consists of.
    """

    name: str
    component: Any
    members: tuple[str, ...]


class PhysxSensor(NamedTuple):
    """A force-torque sensor: the child link of its joint, and PhysX's joint frame R_LJ in that."""

    link: Any
    R_LJ: Array


class PhysxTie(NamedTuple):
    """What holds a loop: the constraint in one of its points, and the links of its two bodies."""

    hold: Any
    links: tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class PhysxModel:
    """A scene in PhysX.

    Attributes:
        entities: Everything, in the order it is added to a PhysX scene.
        joints: The moving joints in the order of the layout.
        solids: The rigid bodies that move.
        floating: Those that fly freely, in the order of the layout.
        shapes: Number and solid of every collision shape, by shape.
        sensors: The sensors by name.
        remarks: Where PhysX's model differs from the scene on purpose, in words.
        frames: The frames of every robot, as loaded.
        couplings: The mimic joints as set; SAPIEN cannot read them back.
        loops: What holds each loop, by "robot/loop".
    """

    entities: tuple[Any, ...]
    joints: tuple[PhysxJoint, ...]
    solids: tuple[PhysxSolid, ...]
    floating: tuple[Any, ...]
    shapes: dict[Any, tuple[int, int]]
    sensors: dict[str, PhysxSensor]
    remarks: tuple[str, ...]
    frames: tuple[LoadedFrames, ...]
    couplings: tuple[LoadedCoupling, ...]
    loops: dict[str, PhysxTie]


FASTEST = 1e15
"""Speed [m/s or rad/s] that PhysX holds nothing under."""
NEGLIGIBLE = Inertia(1e-6, frozen(np.zeros(3)), frozen(1e-9 * np.eye(3)))
"""Of a link without mass, which PhysX does not know."""


def free_of_extras(component: Any) -> None:
    """Take away the damping and the limits of speed that PhysX gives to every body."""
    component.linear_damping = 0.0
    component.angular_damping = 0.0
    component.max_linear_velocity = FASTEST
    component.max_angular_velocity = FASTEST


def set_inertia(component: Any, inertia: Inertia) -> None:
    """Set the mass, centre and moment of a body."""
    moments, axes = np.linalg.eigh(inertia.moment)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    component.mass = inertia.mass
    component.inertia = moments.tolist()
    component.cmass_local_pose = physx_pose(pose(inertia.center, axes))


def read_inertia(component: Any) -> Inertia:
    """Read back the mass, centre and moment of a body."""
    center = component.cmass_local_pose
    R: Array = rotation_from_quaternion(center.q)
    moments = np.asarray(component.inertia, dtype=np.float64)
    return Inertia(float(component.mass), frozen(center.p), frozen(R * moments @ R.T))
