"""pybullet, loaded with the first scene and kept from writing to the terminal."""

from collections.abc import Sequence
from functools import cache, partial
from math import inf
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from kinetarium.engines.base.engine import quiet
from kinetarium.engines.protocol import NotComparableError, RobotAsRead
from kinetarium.errors import KinetariumError, one_line
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    RobotModel,
    Source,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, quaternion_from_rotation, rotation_from_quaternion


@cache
def load() -> Any:
    """Import pybullet, which greets on the error stream."""
    with quiet():
        import pybullet
    return pybullet


class BulletClient:
    """One world of pybullet: its functions, with the world's number already given."""

    def __init__(self) -> None:
        """Open a world.

        Raises:
            KinetariumError: If too many are open.
        """
        p = load()
        self.number = int(p.connect(p.DIRECT))
        if self.number < 0:
            raise KinetariumError("pybullet takes no more simulations at once; close some first")

    def __getattr__(self, name: str) -> Any:
        """Return a function or constant of pybullet, and keep it for the next time."""
        attribute = getattr(load(), name)
        if callable(attribute):
            attribute = partial(attribute, physicsClientId=self.number)
        setattr(self, name, attribute)
        return attribute

    def bare(self, name: str) -> Any:
        """Return a function as pybullet has it, for loops that feel the difference.

        It takes the world's number as its last argument.
        """
        return getattr(load(), name)


def position(X: Array) -> list[float]:
    """Return the position of a pose [m]."""
    return [float(x) for x in X[:3, 3]]


def quaternion_xyzw(X: Array) -> list[float]:
    """Return the rotation of a pose as a quaternion in Bullet's order."""
    w, x, y, z = quaternion_from_rotation(X[:3, :3])
    return [float(x), float(y), float(z), float(w)]


def rotation(quaternion: Sequence[float]) -> Array:
    """Return the rotation matrix, shape (3, 3), of a quaternion in Bullet's order."""
    x, y, z, w = quaternion
    return rotation_from_quaternion((w, x, y, z))


def principal(inertia: Inertia | None) -> tuple[Array, Array]:
    """Return the principal moments, shape (3,), and the pose X_LI of their frame, shape (4, 4).

    The frame lies at the centre of mass. It keeps the link's axes where those
    are principal already, so that nothing is lost in turning, and is the link's
    own where there is no mass.
    """
    if inertia is None:
        return np.zeros(3), pose()
    moments = np.diagonal(inertia.moment)
    if np.array_equal(inertia.moment, np.diag(moments)):
        return moments, pose(inertia.center)
    moments, R = np.linalg.eigh(inertia.moment)
    R[:, 0] *= np.linalg.det(R)
    return moments, pose(inertia.center, R)


_BASE = -1
_READ_BY_DEFAULT = (
    "loadURDF computes moments of inertia from collision shapes, unless it is called with"
    " URDF_USE_INERTIA_FROM_FILE, and lets the base float, unless with useFixedBase"
)


def read_robot(file: Path) -> RobotAsRead:
    """Read the robot that loadURDF or loadMJCF makes of a file, with their defaults.

    Raises:
        KinetariumError: If Bullet refuses the file, with the last of its messages.
    """
    bullet = BulletClient()
    try:
        with NamedTemporaryFile("r", errors="replace") as heard:
            try:
                with quiet(heard.name):
                    bodies = _load(bullet, file)
            except load().error as error:
                said = [line.split("]: ")[-1] for line in heard.read().splitlines() if line.strip()]
                raise KinetariumError(one_line(said[-1] if said else str(error))) from None
        body = max(bodies, key=bullet.getNumJoints)
        return RobotAsRead(
            _robot(bullet, body, file), remarks=(_READ_BY_DEFAULT,) if _is_urdf(file) else ()
        )
    finally:
        bullet.disconnect()


def _is_urdf(file: Path) -> bool:
    return file.suffix.lower() == ".urdf"


def _load(bullet: BulletClient, file: Path) -> Sequence[int]:
    """Load a file and return the numbers of its bodies."""
    if _is_urdf(file):
        return (bullet.loadURDF(str(file)),)
    numbers: Sequence[int] = bullet.loadMJCF(str(file))
    return numbers


def _robot(bullet: BulletClient, body: int, file: Path) -> RobotModel:
    root, name = (text.decode(errors="replace") for text in bullet.getBodyInfo(body))
    frames = {}
    links, joints = list[Link](), list[Joint]()
    names = {_BASE: root}
    for link in range(_BASE, bullet.getNumJoints(body)):
        mass, _, moments, center, quaternion, *_ = bullet.getDynamicsInfo(body, link)
        R_LI = rotation(quaternion)
        frames[link] = pose(center, R_LI)
        if link != _BASE:
            info = bullet.getJointInfo(body, link)
            names[link] = info[12].decode(errors="replace")
            joints.append(_joint(bullet, info, frames, names))
        moment = frozen(R_LI * moments @ R_LI.T)
        inertia = Inertia(mass, frozen(center), moment) if mass else None
        links.append(Link(names[link], inertia))
    return RobotModel(
        name,
        tuple(links),
        tuple(joints),
        source=Source(str(file), "urdf" if _is_urdf(file) else "mjcf", ""),
        free_base=links[0].inertia is not None,
    )


def _joint(
    bullet: BulletClient, info: Sequence[Any], frames: dict[int, Array], names: dict[int, str]
) -> Joint:
    """Read a joint; Bullet has its frame between the inertial frames of its links."""
    link, own, kind, *_ = info
    damping, friction, lower, upper, effort, velocity, _, axis, point, quaternion, above = info[6:]
    limited = lower <= upper
    types = {
        bullet.JOINT_REVOLUTE: JointType.REVOLUTE if limited else JointType.CONTINUOUS,
        bullet.JOINT_PRISMATIC: JointType.PRISMATIC,
        bullet.JOINT_FIXED: JointType.FIXED,
    }
    name = own.decode(errors="replace")
    if kind not in types:
        raise NotComparableError(f"joint {name} is spherical or planar, which no model has")
    X_PI = frames[above] @ pose(point, rotation(quaternion).T)
    R_LI = frames[link][:3, :3]
    return Joint(
        name,
        types[kind],
        names[above],
        names[link],
        X_PJ=frozen(X_PI @ pose(rotation=R_LI.T)),
        axis=frozen(R_LI @ axis),
        limits=JointLimits(lower if limited else -inf, upper if limited else inf, velocity, effort),
        damping=damping,
        friction=friction,
    )
