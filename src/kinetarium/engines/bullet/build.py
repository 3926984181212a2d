"""World: a scene as Bullet holds it."""

from dataclasses import dataclass

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.bullet.library import BulletClient, position, quaternion_xyzw
from kinetarium.engines.bullet.multibody import (
    Multibody,
    body_specs,
    make_multibody,
    robot_specs,
)
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.bullet.readings import Place, Surfaces
from kinetarium.model.robot import LoopKind, RobotModel
from kinetarium.scene import Base, PlacedRobot, SceneError

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
