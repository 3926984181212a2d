"""Two heavy arms that hold satellites face to face, each on a force-torque sensor."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import pi

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.model.load import attach, catalogue_entry, load_robot
from kinetarium.model.robot import Link, RobotModel, Source
from kinetarium.scene.body import Material
from kinetarium.scene.robot import Actuation, DriveMode, PlacedRobot, WrenchSensor
from kinetarium.scene.scene import Scene, SceneError
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about

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
class DockingScene:
    """A scene, and the quantities that its controllers need.

    Attributes:
        scene: The robots "chaser" and "target", with a sensor named after each.
        model: Either arm with its satellite.
        q_start: Initial joint positions of both arms [rad], shape (6,).
        X_WT: Pose of the target's base, shape (4, 4); that of the chaser is the world's frame.
        stiffness: Of the drives [N m/rad], shape (6,).
        damping: Of the drives [N m s/rad], shape (6,).
    """

    scene: Scene
    model: RobotModel
    q_start: Array
    X_WT: Array
    stiffness: Array
    damping: Array


def satellite_arm(payload: float) -> RobotModel:
    """Return the KR 250 with a satellite of some mass and a link at its centre of mass.

    Args:
        payload: Mass of the satellite [kg]; its inertia scales with it.
    """
    arm = load_robot("kr250")
    links = tuple(
        _weighing(link, payload) if link.name == SATELLITE else link for link in arm.links
    )
    digest = sha256(f"{arm.source.sha256} {payload!r}".encode()).hexdigest()
    arm = replace(arm, links=links, source=replace(arm.source, sha256=digest))
    center = RobotModel(CENTER, (Link(CENTER, None),), (), Source(CENTER, "built", CENTER))
    return attach(arm, center, link=SATELLITE, X_LP=X_SB, name=arm.name)


def docking_scene(
    *,
    payload: float,
    gap: float,
    positions: Mapping[str, float] | None = None,
    contact: bool = False,
    friction: float = 0.0,
) -> DockingScene:
    """Put two arms face to face, their satellites a gap apart.

    The drives are springs and dampers of one bandwidth: K = M w^2 and D = 2 M w with the
    diagonal M of the mass matrix at the start.

    Args:
        payload: Mass of either satellite [kg].
        gap: Distance of the two docking faces [m].
        positions: Joint positions of both arms by name [rad]; the catalogue's home if None.
        contact: Whether the engine's own contact acts between the satellites.
        friction: Of the satellites' surfaces [-], if it does.

    Raises:
        SceneError: If the docking faces do not face each other at these positions.
    """
    model = satellite_arm(payload)
    placed = dict(catalogue_entry("kr250").home if positions is None else positions)
    dynamics = RobotDynamics(model)
    q_start = np.array([placed[joint.name] for joint in model.moving_joints])
    X_WB = dynamics.link_pose(q_start, CENTER)
    # Half a turn of the second base makes the faces opposite only if both face along x.
    if np.abs(X_WB[:3, 0] - (1.0, 0.0, 0.0)).max() > 1e-6 or abs(X_WB[1, 3]) > 1e-6:
        raise SceneError(
            "at the start the docking face must face along x in the plane of the arm:"
            " A2 + A3 + A5 = 0 and A1 = A4 = A6 = 0"
        )
    distance = 2 * (X_WB[0, 3] + SATELLITE_LENGTH / 2) + gap
    inertia = np.diag(dynamics.mass_matrix(q_start))
    stiffness, damping = inertia * SERVO_BANDWIDTH**2, 2 * inertia * SERVO_BANDWIDTH
    actuation = {
        joint.name: Actuation(DriveMode.POSITION, float(k), float(d))
        for joint, k, d in zip(model.moving_joints, stiffness, damping, strict=True)
    }
    X_WT = frozen(pose((distance, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), pi)))
    arms = tuple(
        PlacedRobot(
            name, model, X_WB=X, positions=placed, actuation=actuation, material=Material(friction)
        )
        for name, X in ((CHASER, frozen(np.eye(4))), (TARGET, X_WT))
    )
    joint = model.parent_joint[SATELLITE].name
    sensors = tuple(WrenchSensor(name, name, joint) for name in (CHASER, TARGET))
    apart = frozenset({frozenset((f"{CHASER}/{SATELLITE}", f"{TARGET}/{SATELLITE}"))})
    scene = Scene(arms, (), sensors, no_contact=frozenset() if contact else apart)
    return DockingScene(scene, model, q_start, X_WT, stiffness, damping)


def _weighing(link: Link, mass: float) -> Link:
    assert link.inertia is not None
    share = mass / link.inertia.mass
    moment = frozen(link.inertia.moment * share)
    return replace(link, inertia=replace(link.inertia, mass=mass, moment=moment))
