"""A Bullet world read back into the terms of the scene."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from kinetarium.engines.base.audit import LoadedFrames, limit_of, lumped_solids, merged
from kinetarium.engines.base.joint_law import JointLaw
from kinetarium.engines.bullet.build import World
from kinetarium.engines.bullet.joint_space import gravity
from kinetarium.engines.bullet.library import BulletClient, rotation
from kinetarium.engines.bullet.multibody import MARGIN, NO_LIMIT, Multibody
from kinetarium.engines.bullet.options import BulletOptions, Servo
from kinetarium.engines.bullet.readings import Place
from kinetarium.engines.protocol import (
    Audit,
    LoadedCoupling,
    LoadedJoint,
    LoadedLoop,
    LoadedSurface,
)
from kinetarium.model.robot import Inertia, Joint, MeshData, MeshFile
from kinetarium.scene import Actuation, DriveMode, Motion, PlacedRobot, Plane, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_MOST_FRICTION = 10.0
"""What Bullet cuts the friction of two surfaces off at [-]."""
_SERVOS = (DriveMode.POSITION, DriveMode.VELOCITY)


def audit(
    bullet: BulletClient,
    scene: Scene,
    *,
    world: World,
    laws: Mapping[str, JointLaw],
    options: BulletOptions,
) -> Audit:
    """Read back all but the drives.

    Args:
        laws: What applies damping, friction and armature, by robot.
    """
    bullet.syncBodyInfo()  # or joint limits are read as they were made, not as they are
    joints: list[LoadedJoint] = []
    couplings: list[LoadedCoupling] = []
    loops: list[LoadedLoop] = []
    for robot, placed in zip(world.robots, scene.robots, strict=True):
        frames = _frames(bullet, robot, placed, keep=scene.sensed_joints(robot.name))
        law = laws.get(robot.name)
        joints += _joints(bullet, robot, placed, law=law, options=options, frames=frames)
        ties = [tie for tie in _ties(bullet) if tie[0] == robot.id]
        couplings += _couplings(bullet, robot, placed, ties)
        loops += _loops(bullet, robot, placed, ties, frames=frames)
    inertias = {
        spec.solid: _inertia(bullet, multibody, link)
        for multibody in (*world.robots, *world.bodies)
        for link, spec in enumerate(multibody.specs, -1)
        if spec.inertia
    }
    return Audit(
        tuple(lumped_solids(scene, inertias)),
        tuple(joints),
        frozen(gravity(bullet)),
        tuple(_remarks(scene, options)),
        couplings=tuple(couplings),
        loops=tuple(loops),
        surfaces=merged(
            _surface(bullet, place, scene.solids[solid])
            for place, solid in world.surfaces.solids.items()
        ),
    )


def _frames(
    bullet: BulletClient, robot: Multibody, placed: PlacedRobot, *, keep: frozenset[str]
) -> LoadedFrames:
    """Read the frames of joints, which Bullet has between the inertial frames of links."""
    links = [link for link, spec in enumerate(robot.specs, -1) if spec.members]
    loaded = {}
    for body, link in zip(rigid_tree(placed.model, keep=keep), links, strict=True):
        if body.joint:
            point, quaternion, above = bullet.getJointInfo(robot.id, link)[14:17]
            X_PI = _inertial_frame(bullet, robot, above) @ pose(point, rotation(quaternion).T)
            R_IL = _inertial_frame(bullet, robot, link)[:3, :3].T
            loaded[body.joint.name] = X_PI @ pose(rotation=R_IL)
    return LoadedFrames.of(placed, loaded, keep=keep)


def _inertial_frame(bullet: BulletClient, multibody: Multibody, link: int) -> Array:
    """Read the pose X_LI of the inertial frame of a link, -1 for the base, in its own frame."""
    center, quaternion = bullet.getDynamicsInfo(multibody.id, link)[3:5]
    return pose(center, rotation(quaternion))


def _ties(bullet: BulletClient) -> list[Sequence[Any]]:
    """Read all gears and loops."""
    numbers = map(bullet.getConstraintUniqueId, range(bullet.getNumConstraints()))
    return [bullet.getConstraintInfo(number) for number in numbers]


def _couplings(
    bullet: BulletClient, robot: Multibody, placed: PlacedRobot, ties: Sequence[Sequence[Any]]
) -> Iterator[LoadedCoupling]:
    joints = zip(robot.joints, placed.model.moving_joints, strict=True)
    names = {link: f"{robot.name}/{joint.name}" for link, joint in joints}
    for _, follower, _, leader, kind, *_, ratio, _, target, _ in ties:
        if kind == bullet.JOINT_GEAR:
            yield LoadedCoupling(names[follower], names[leader], -ratio, target)


def _loops(
    bullet: BulletClient,
    robot: Multibody,
    placed: PlacedRobot,
    ties: Sequence[Sequence[Any]],
    *,
    frames: LoadedFrames,
) -> Iterator[LoadedLoop]:
    closures = [tie for tie in ties if tie[4] != bullet.JOINT_GEAR]
    for loop, (_, a, _, b, _, _, p_A, p_B, q_A, q_B, *_) in zip(
        placed.model.loops, closures, strict=True
    ):
        ends = []
        for link, point, quaternion in ((a, p_A, q_A), (b, p_B, q_B)):
            X_LI = _inertial_frame(bullet, robot, link)
            name = robot.specs[link + 1].solid.partition("/")[2]
            ends.append((name, X_LI @ pose(point, rotation(quaternion))))
        yield frames.loop(loop, ends)


def _surface(bullet: BulletClient, place: Place, solid: str) -> LoadedSurface:
    """Read a surface; Bullet has the roots of its numbers, see `Surfaces.cover`."""
    info = bullet.getDynamicsInfo(*place)
    return LoadedSurface(solid, info[1] ** 2, info[5] ** 2)


def _inertia(bullet: BulletClient, multibody: Multibody, link: int) -> Inertia:
    """Read the inertia of a link, -1 for the base, in its own frame."""
    mass, _, moments, center, quaternion, *_ = bullet.getDynamicsInfo(multibody.id, link)
    R_LI = rotation(quaternion)
    return Inertia(mass, frozen(center), frozen(R_LI * moments @ R_LI.T))


def _joints(
    bullet: BulletClient,
    robot: Multibody,
    placed: PlacedRobot,
    *,
    law: JointLaw | None,
    options: BulletOptions,
    frames: LoadedFrames,
) -> Iterator[LoadedJoint]:
    for i, (link, joint) in enumerate(zip(robot.joints, placed.model.moving_joints, strict=True)):
        info = bullet.getJointInfo(robot.id, link)
        lower, upper = info[8:10]
        limited = lower <= upper
        yield LoadedJoint(
            name=f"{robot.name}/{joint.name}",
            axis=frozen(robot.X_LI[link + 1, :3, :3] @ info[13]),
            damping=float(law.damping[i]) if law else 0.0,
            friction=float(law.friction[i]) if law else _friction(placed, joint, options),
            armature=float(law.armature[i]) if law else 0.0,
            lower=limit_of(lower, NO_LIMIT) if limited else -inf,
            upper=limit_of(upper, NO_LIMIT) if limited else inf,
            X_PJ=frames.joints[joint.name],
            read_back=law is None and not joint.friction,
        )


def _friction(robot: PlacedRobot, joint: Joint, options: BulletOptions) -> float:
    """Return what Bullet's motor in a joint resists with, unless it is its drive."""
    drive = robot.actuation.get(joint.name, Actuation(DriveMode.PASSIVE)).drive
    return 0.0 if options.servo is Servo.MOTOR and drive in _SERVOS else joint.friction


def _remarks(scene: Scene, options: BulletOptions) -> Iterator[str]:
    shapes = [shape for geometry in scene.geometry for shape, _ in geometry]
    drives = [drive.drive for robot in scene.robots for drive in robot.actuation.values()]
    if any(isinstance(shape, MeshData | MeshFile) for shape in shapes):
        yield f"meshes touch as their convex hulls, thicker by {MARGIN * 1e3:g} mm"
    if any(isinstance(shape, Plane) for shape in shapes):
        yield "planes are boxes of 200 km to boxes"
    if options.contact_softness and any(body.motion is Motion.FREE for body in scene.bodies):
        yield f"contacts of free bodies are soft by {options.contact_softness:g} of the bodies"
    if any(material.friction > _MOST_FRICTION for material in scene.materials):
        yield f"friction between two surfaces is cut off at {_MOST_FRICTION:g}"
    if options.servo is Servo.MOTOR and any(drive in _SERVOS for drive in drives):
        yield "position and velocity drives are motors without the given stiffness and damping"
    if options.damping:
        yield f"bodies lose {options.damping:g} of their momentum per second"
