"""A Bullet world read back into the terms of the scene."""

from collections.abc import Iterator, Mapping
from math import inf

from kinetarium.engines.base.audit import limit_of, lumped_solids
from kinetarium.engines.base.joint_law import JointLaw
from kinetarium.engines.bullet.build import World
from kinetarium.engines.bullet.joint_space import gravity
from kinetarium.engines.bullet.library import BulletClient, rotation
from kinetarium.engines.bullet.multibody import MARGIN, NO_LIMIT, Multibody
from kinetarium.engines.bullet.options import BulletOptions, Servo
from kinetarium.engines.protocol import Audit, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Inertia, MeshData, MeshFile
from kinetarium.scene import Actuation, DriveMode, Motion, PlacedRobot, Plane, Scene
from kinetarium.spatial.arrays import frozen

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
    """Read back masses, joints and gravity.

    Args:
        laws: What applies damping and armature, by robot.
    """
    bullet.syncBodyInfo()  # or joint limits are read as they were made, not as they are
    solids: list[LoadedSolid] = []
    joints: list[LoadedJoint] = []
    for robot, placed in zip(world.robots, scene.robots, strict=True):
        inertias = {
            spec.solid.partition("/")[2]: _inertia(bullet, robot, link)
            for link, spec in enumerate(robot.specs, -1)
            if spec.inertia
        }
        solids += lumped_solids(placed, inertias)
        joints += _joints(bullet, robot, placed, law=laws.get(robot.name), options=options)
    for body in world.bodies:
        if body.free:
            solids.append(LoadedSolid(body.name, _inertia(bullet, body, -1), (body.name,)))
    return Audit(
        tuple(solids), tuple(joints), frozen(gravity(bullet)), tuple(_remarks(scene, options))
    )


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
) -> Iterator[LoadedJoint]:
    for i, (link, joint) in enumerate(zip(robot.joints, placed.model.moving_joints, strict=True)):
        info = bullet.getJointInfo(robot.id, link)
        lower, upper = info[8:10]
        limited = lower <= upper
        yield LoadedJoint(
            name=f"{robot.name}/{joint.name}",
            axis=frozen(robot.X_LI[link + 1, :3, :3] @ info[13]),
            damping=float(law.damping[i]) if law else 0.0,
            friction=0.0 if _is_motor(placed, joint.name, options) else joint.friction,
            armature=float(law.armature[i]) if law else 0.0,
            lower=limit_of(lower, NO_LIMIT) if limited else -inf,
            upper=limit_of(upper, NO_LIMIT) if limited else inf,
        )


def _is_motor(robot: PlacedRobot, joint: str, options: BulletOptions) -> bool:
    """Whether Bullet's motor in a joint is its drive, and so cannot be its friction."""
    drive = robot.actuation.get(joint, Actuation(DriveMode.PASSIVE)).drive
    return options.servo is Servo.MOTOR and drive in _SERVOS


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
