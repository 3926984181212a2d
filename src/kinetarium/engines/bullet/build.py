"""A scene as Bullet holds it, and a Bullet world read back into the terms of the scene."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from kinetarium.engines.base.audit import LoadedFrames, limit_of, lumped_solids, merged
from kinetarium.engines.base.joint_law import JointLaw
from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.bullet.joint_space import gravity
from kinetarium.engines.bullet.library import BulletClient, position, quaternion_xyzw, rotation
from kinetarium.engines.bullet.multibody import (
    MARGIN,
    NO_LIMIT,
    Multibody,
    body_specs,
    make_multibody,
    robot_specs,
)
from kinetarium.engines.bullet.options import BulletOptions, Servo
from kinetarium.engines.bullet.readings import Place, Surfaces
from kinetarium.engines.protocol import (
    Audit,
    LoadedCoupling,
    LoadedJoint,
    LoadedLoop,
    LoadedSurface,
)
from kinetarium.model.robot import Inertia, Joint, LoopKind, MeshData, MeshFile, RobotModel
from kinetarium.scene import (
    Actuation,
    Base,
    DriveMode,
    Motion,
    PlacedRobot,
    Plane,
    Scene,
    SceneError,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_UNBREAKABLE = 1e9
"""Force up to which a constraint holds [N or N m]."""


def couple_joints(
    bullet: BulletClient, robot: Multibody, *, model: RobotModel, joint_erp: float
) -> None:
    """Make followers follow: q = multiplier q_leader + offset.

    Bullet's gear holds v_A + ratio v_B = 0 and takes back a share of the
    deviation of q_A + ratio q_B from a target: its own ERP times that of all
    joints. Together they give all of it back.
    """
    links = dict(zip((j.name for j in model.moving_joints), robot.joints, strict=True))
    for joint in model.moving_joints:
        if joint.mimic is None:
            continue
        gear = bullet.createConstraint(
            robot.id,
            links[joint.name],
            robot.id,
            links[joint.mimic.joint],
            jointType=bullet.JOINT_GEAR,
            jointAxis=[0, 0, 1],
            parentFramePosition=[0, 0, 0],
            childFramePosition=[0, 0, 0],
        )
        bullet.changeConstraint(
            gear,
            gearRatio=-joint.mimic.multiplier,
            relativePositionTarget=joint.mimic.offset,
            erp=1.0 / joint_erp if joint_erp else 0.0,
            maxForce=_UNBREAKABLE,
        )


def close_loops(bullet: BulletClient, robot: Multibody, *, model: RobotModel) -> None:
    """Hold the two points or frames of every loop together."""
    for loop in model.loops:
        link_a, X_IA = robot.inertial_pose(loop.link_a)
        link_b, X_IB = robot.inertial_pose(loop.link_b)
        X_AC, X_BC = X_IA @ loop.X_AC, X_IB @ loop.X_BC
        point = loop.kind is LoopKind.POINT
        kind = bullet.JOINT_POINT2POINT if point else bullet.JOINT_FIXED
        closure = bullet.createConstraint(
            robot.id,
            link_a,
            robot.id,
            link_b,
            jointType=kind,
            jointAxis=[0, 0, 1],
            parentFramePosition=position(X_AC),
            childFramePosition=position(X_BC),
            parentFrameOrientation=quaternion_xyzw(X_AC),
            childFrameOrientation=quaternion_xyzw(X_BC),
        )
        bullet.changeConstraint(closure, maxForce=_UNBREAKABLE)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A scene in one of pybullet's worlds.

    Attributes:
        robots: The robots, in the scene's order.
        bodies: The bodies beside them, in the scene's order.
        surfaces: What touches.
    """

    robots: tuple[Multibody, ...]
    bodies: tuple[Multibody, ...]
    surfaces: Surfaces

    def places(self) -> dict[str, Place]:
        """Return the place that each solid moves with."""
        return {
            solid: (multibody.id, link)
            for multibody in (*self.robots, *self.bodies)
            for link, spec in enumerate(multibody.specs, -1)
            for solid, _ in spec.members
        }


def build_world(bullet: BulletClient, setup: Setup[BulletOptions]) -> World:
    """Build a scene in an empty world.

    Raises:
        SceneError: If a free robot has no mass at its root.
        KinetariumError: If the scene is larger than pybullet takes.
    """
    scene, options = setup.scene, setup.options
    bullet.setGravity(*scene.gravity)
    bullet.setPhysicsEngineParameter(
        fixedTimeStep=setup.timestep,
        numSolverIterations=options.iterations,
        solverResidualThreshold=options.residual,
        enableConeFriction=int(options.cone_friction),
        contactERP=options.contact_erp,
        erp=options.joint_erp,
        restitutionVelocityThreshold=options.restitution_threshold,
        # Contacts in an order of their own, not in that of their history.
        deterministicOverlappingPairs=1,
    )
    touching = {solid for i, solid in enumerate(scene.solids) if scene.may_collide[i].any()}
    robots = tuple(_robot(bullet, robot, setup, touching=touching) for robot in scene.robots)
    bodies = tuple(
        make_multibody(bullet, body.name, specs=body_specs(body), damping=options.damping)
        for body in scene.bodies
    )
    poses = [placed.X_WB for placed in scene.robots] + [body.X_WB for body in scene.bodies]
    for multibody, X_WL in zip((*robots, *bodies), poses, strict=True):
        X_WI = X_WL @ multibody.X_LI[0]
        bullet.resetBasePositionAndOrientation(multibody.id, position(X_WI), quaternion_xyzw(X_WI))
    surfaces = Surfaces(scene, (*robots, *bodies))
    surfaces.cover(bullet, timestep=setup.timestep, options=options)
    surfaces.exclude_pairs(bullet)
    return World(robots, bodies, surfaces)


def _robot(
    bullet: BulletClient, robot: PlacedRobot, setup: Setup[BulletOptions], *, touching: set[str]
) -> Multibody:
    options, keep = setup.options, setup.scene.sensed_joints(robot.name)
    specs = robot_specs(robot, keep=keep, touching=touching)
    if robot.base is Base.FREE and specs[0].inertia is None:
        raise SceneError(f"the root of robot '{robot.name}' is free, and has no mass to fly with")
    multibody = make_multibody(
        bullet,
        robot.name,
        specs=specs,
        self_collision=robot.self_collision,
        damping=options.damping,
    )
    couple_joints(bullet, multibody, model=robot.model, joint_erp=options.joint_erp)
    close_loops(bullet, multibody, model=robot.model)
    return multibody


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
