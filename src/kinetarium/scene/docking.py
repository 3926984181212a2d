"""Two arms that hold satellites face to face, each on a force-torque sensor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import pi

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.model.load import attach, catalogue_entry, load_robot
from kinetarium.model.robot import Link, RobotModel, Source
from kinetarium.roles.roles import BaseKind
from kinetarium.roles.studied_robot import StudiedRobot, with_base, with_locked_joints
from kinetarium.scene.body import Material
from kinetarium.scene.robot import Actuation, DriveMode, PlacedRobot, WrenchSensor
from kinetarium.scene.scene import Scene, SceneError
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    pose_from_rpy,
    rotation_about,
    rotation_onto,
)

CHASER, TARGET = "chaser", "target"
SATELLITE = "satellite"
"""The link that is the satellite; its frame is that of the sensor."""
CENTER = "center"
"""A link without mass at the satellite's centre of mass."""
SATELLITE_LENGTH = 0.4
"""Of the hexagonal prism [m]."""
CIRCUMRADIUS = 0.3
"""Of the hexagonal prism [m]."""
SERVO_BANDWIDTH = 150.0
"""Of the drives of all joints [rad/s]."""

X_SB = frozen(pose((SATELLITE_LENGTH / 2, 0.0, 0.0)))
"""The centre of mass in the sensor's frame."""


def _face_vertices() -> Array:
    angles = pi / 3 * np.arange(6)
    x = np.full(6, SATELLITE_LENGTH / 2)
    return frozen(
        np.column_stack([x, CIRCUMRADIUS * np.cos(angles), CIRCUMRADIUS * np.sin(angles)])
    )


FACE_VERTICES = _face_vertices()
"""The vertices of the docking face in the frame of the centre of mass [m], shape (6, 3)."""


@dataclass(frozen=True, slots=True, eq=False)
class DockingArm:
    """An arm with its satellite.

    Attributes:
        model: The arm; only its own joints move.
        X_WA: Pose of its base, shape (4, 4).
        q_start: Initial joint positions [rad or m], shape (n,).
        stiffness: Of the drives [N m/rad or N/m], shape (n,).
        damping: Of the drives [N m s/rad or N s/m], shape (n,).
    """

    model: RobotModel
    X_WA: Array
    q_start: Array
    stiffness: Array
    damping: Array


@dataclass(frozen=True, slots=True, eq=False)
class DockingScene:
    """A scene, and the quantities that its controllers need.

    Attributes:
        scene: The robots "chaser" and "target", with a sensor named after each.
        chaser: The arm that approaches, its base at the world's frame.
        target: The arm that it faces.
    """

    scene: Scene
    chaser: DockingArm
    target: DockingArm


def satellite_arm(payload: float, *, robot: StudiedRobot | None = None) -> RobotModel:
    """Return an arm with a satellite of some mass and a link at its centre of mass.

    The joints that are not the arm's are locked in the home pose. A robot without a link
    "satellite" gets one at its tool frame, its axis along that of the last joint, away from it.

    Args:
        payload: Mass of the satellite [kg]; its inertia scales with it.
        robot: The robot, with one arm; by default the KR 250.

    Raises:
        RolesError: If the robot has no arm, or several.
    """
    arm = load_robot("kr250") if robot is None else _arm_alone(robot)
    links = tuple(
        _weighing(link, payload) if link.name == SATELLITE else link for link in arm.links
    )
    digest = sha256(f"{arm.source.sha256} {payload!r}".encode()).hexdigest()
    arm = replace(arm, links=links, source=replace(arm.source, sha256=digest))
    center = RobotModel(CENTER, (Link(CENTER, None),), (), Source(CENTER, "built", CENTER))
    return attach(arm, center, link=SATELLITE, X_LP=X_SB, name=arm.name)


def _arm_alone(robot: StudiedRobot) -> RobotModel:
    """Return a robot with a satellite in which only the joints of its arm move.

    Only satellites touch: the arm has no collision shapes, which not every engine can load.
    """
    fixed = with_base(robot.model, BaseKind.FIXED)
    if any(link.name == SATELLITE for link in fixed.links):
        return fixed
    arm = robot.roles.arm()
    model = with_locked_joints(
        fixed, {name: q for name, q in robot.home.items() if name not in arm.joints}
    )
    model = replace(model, links=tuple(replace(link, collisions=()) for link in model.links))
    last = model.joint(arm.joints[-1])
    home = [robot.home[joint.name] for joint in model.moving_joints]
    dynamics = RobotDynamics(model)
    X_LT = pose_from_rpy(arm.xyz, arm.rpy)
    X_TL = inverse_pose(dynamics.link_pose(home, arm.tool) @ X_LT)
    X_TJ = X_TL @ dynamics.link_pose(home, last.child)
    axis = X_TJ[:3, :3] @ last.axis
    # The tool is ahead of the wrist; where it is not apart from it, frames point ahead by z.
    wrist = (X_TL @ dynamics.link_pose(home, last.parent))[:3, 3]
    ahead = -float(wrist @ axis) or float(axis[2])
    X_TS = pose((0.0, 0.0, 0.0), rotation_onto(axis if ahead > 0 else -axis) @ _Z_TO_X)
    satellite = load_robot("kr250").link(SATELLITE)
    body = RobotModel(SATELLITE, (satellite,), (), Source(SATELLITE, "built", SATELLITE))
    return attach(model, body, link=arm.tool, X_LP=frozen(X_LT @ X_TS), name=model.name)


_Z_TO_X = frozen([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
"""Turns the frame whose z axis is a direction into one whose x axis is."""


def docking_scene(
    *,
    payload: float,
    gap: float,
    positions: Mapping[str, float] | None = None,
    chaser: StudiedRobot | None = None,
    target: StudiedRobot | None = None,
    target_positions: Mapping[str, float] | None = None,
    contact: bool = False,
    friction: float = 0.0,
    misalign: Sequence[float] = (),
) -> DockingScene:
    """Put two arms face to face, their satellites a gap apart.

    The drives are springs and dampers of one bandwidth: K = M w^2 and D = 2 M w with the
    diagonal M of the mass matrix at the start.

    Args:
        payload: Mass of either satellite [kg].
        gap: Distance of the two docking faces [m].
        positions: Joint positions of the chaser by name [rad or m]; by default those of the
            home of the KR 250.
        chaser: The arm that approaches; by default the KR 250.
        target: The arm that it faces; by default the same.
        target_positions: Its joint positions; by default the same.
        contact: Whether the engine's own contact acts between the satellites.
        friction: Of the satellites' surfaces [-], if it does.
        misalign: Displacement and roll, pitch, yaw of the target's face, about its centre, from
            where it would face the chaser's [m, rad]; its nearest point is `gap` away, and x
            farther.

    Raises:
        SceneError: If the docking faces do not face each other at these positions.
    """
    placed = dict(catalogue_entry("kr250").home if positions is None else positions)
    chasing = _posture(satellite_arm(payload, robot=chaser), placed)
    if target is None and target_positions is None:
        held_at, holding = placed, chasing
    else:
        held_at = dict(placed if target_positions is None else target_positions)
        holding = _posture(satellite_arm(payload, robot=target or chaser), held_at)
    ahead = chasing.face[:3, 3] + holding.face[:3, 3]
    aside, up = ahead[1], chasing.face[2, 3] - holding.face[2, 3]
    # Half a turn of the second base makes the faces opposite only if both face along x.
    for each in (chasing, holding):
        if np.abs(each.face[:3, 0] - (1.0, 0.0, 0.0)).max() > 1e-6 or abs(aside) > 1e-6:
            raise SceneError(
                f"at the start the docking face of {each.model.name} must face along x in the"
                " plane of the arm; of the KR 250: A2 + A3 + A5 = 0 and A1 = A4 = A6 = 0"
            )
    distance = sum(each.face[0, 3] + SATELLITE_LENGTH / 2 for each in (chasing, holding)) + gap
    X_WT = frozen(pose((distance, 0.0, up), rotation_about((0.0, 0.0, 1.0), pi)))
    if any(misalign):
        X_WT = _misaligned(X_WT, chasing.face, X_WT @ holding.face, misalign=misalign)
    arms = (chasing.at(frozen(np.eye(4))), holding.at(X_WT))
    robots = tuple(
        PlacedRobot(
            name,
            arm.model,
            X_WB=arm.X_WA,
            positions=at,
            actuation={
                joint.name: Actuation(DriveMode.POSITION, float(k), float(d))
                for joint, k, d in zip(
                    arm.model.moving_joints, arm.stiffness, arm.damping, strict=True
                )
            },
            material=Material(friction),
        )
        for name, arm, at in zip((CHASER, TARGET), arms, (placed, held_at), strict=True)
    )
    sensors = tuple(
        WrenchSensor(name, name, arm.model.parent_joint[SATELLITE].name)
        for name, arm in zip((CHASER, TARGET), arms, strict=True)
    )
    apart = frozenset({frozenset((f"{CHASER}/{SATELLITE}", f"{TARGET}/{SATELLITE}"))})
    scene = Scene(robots, (), sensors, no_contact=frozenset() if contact else apart)
    return DockingScene(scene, *arms)


def _misaligned(X_WT: Array, X_WC: Array, X_WF: Array, *, misalign: Sequence[float]) -> Array:
    """Return the pose of the target's base with its face out of line, shape (4, 4).

    Args:
        X_WT: The base, with the faces in line, shape (4, 4).
        X_WC: The chaser's centre of mass, shape (4, 4).
        X_WF: The target's, shape (4, 4).
        misalign: Displacement and roll, pitch, yaw [m, rad].
    """
    half = SATELLITE_LENGTH / 2
    center = X_WF[:3, 3] + half * X_WF[:3, 0]
    gap = center[0] - X_WC[0, 3] - half
    turn = pose_from_rpy((0.0, 0.0, 0.0), misalign[3:])
    moved = pose(center + misalign[:3]) @ turn @ pose(-center)
    normal, on_face = turn[:3, :3] @ X_WF[:3, 0], center + misalign[:3]
    vertices = X_WC[:3, 3] + FACE_VERTICES @ X_WC[:3, :3].T
    nearest = float(((on_face - vertices) @ normal / normal[0]).min())
    moved[0, 3] += gap + misalign[0] - nearest
    return frozen(moved @ X_WT)


@dataclass(frozen=True, slots=True, eq=False)
class _Posture:
    """An arm at its start: the pose of its satellite, and the inertia that each joint moves."""

    model: RobotModel
    q: Array
    face: Array
    inertia: Array

    def at(self, X_WA: Array) -> DockingArm:
        """Return the arm on a base, with its drives."""
        stiffness = self.inertia * SERVO_BANDWIDTH**2
        return DockingArm(self.model, X_WA, self.q, stiffness, 2 * self.inertia * SERVO_BANDWIDTH)


def _posture(model: RobotModel, positions: Mapping[str, float]) -> _Posture:
    dynamics = RobotDynamics(model)
    q = np.array([positions[joint.name] for joint in model.moving_joints])
    return _Posture(model, q, dynamics.link_pose(q, CENTER), np.diag(dynamics.mass_matrix(q)))


def _weighing(link: Link, mass: float) -> Link:
    assert link.inertia is not None
    share = mass / link.inertia.mass
    moment = frozen(link.inertia.moment * share)
    return replace(link, inertia=replace(link.inertia, mass=mass, moment=moment))
