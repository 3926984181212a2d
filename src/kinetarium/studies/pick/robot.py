"""The robot that picks: its wheels, arm and fingers in a scene with tables, and their drives."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import inf, isfinite, pi, sqrt
from typing import Any

import numpy as np

from kinetarium.control.vehicle.robot_base import (
    SLICK,
    check_turns_in_place,
    ground_surfaces,
    passive_joints,
    tyre_links,
    vehicle,
    wheel_drives,
)
from kinetarium.control.vehicle.wheeled_base import WheeledBase
from kinetarium.dynamics import link_poses
from kinetarium.dynamics.chain import serial_chain
from kinetarium.engines.protocol import FrictionRule
from kinetarium.errors import KinetariumError
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, JointType, RobotModel
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.roles import Arm, Gripper
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene import Actuation, DriveMode, Material, Scene, ground
from kinetarium.scene.grasped_cube import padded
from kinetarium.scene.held_object import GripError, Holder, hold
from kinetarium.scene.scene import rigid_groups
from kinetarium.scene.standing import holding_servos, lowest_point, placed_robot
from kinetarium.scene.tables import TableObject, TableScene, object_name
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

ROBOT = "robot"
"""Name of the robot in the scene."""
_WHEEL_GAIN = 500.0 / 1.39
"""Gain of a wheel's servo over weight and squared radius, as in the drive study [1/s]."""
FINGER_STIFFNESS = 1e4
"""Stiffness of a finger's servo [N/m], as in the grasp study."""
_FINGER_MASS = 0.25
"""Mass that a finger's servo damps critically [kg]: half of an object."""
ARM_MARGIN = 0.01
"""Distance of the arm and its fingers from everything that they do not grip [m]."""
_ROOM = ARM_MARGIN + 0.002
"""Least distance of the palm from an object, and of the fingers' tips from the table [m]: a little
more than that margin, for neighbours of the same height that lean, and tables that give way."""
_LEAST_HEIGHT = _ROOM + 0.005
"""Least height of an object [m]: so much of it must be between the pads."""


@dataclass(frozen=True, eq=False)
class Picker:
    """A robot with wheels, an arm and a gripper whose fingers move one by one.

    Attributes:
        robot: The robot; the joints that close its gripper are not coupled.
        arm: The joints from the root to the tool: a torso is part of it.
        gripper: Its gripper.
        base: Its wheels.
        travel: Positions of the arm while it drives; at home if None.
    """

    robot: StudiedRobot
    arm: Arm
    gripper: Gripper
    base: WheeledBase
    travel: tuple[float, ...] | None = None

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self.robot.model

    @cached_property
    def height(self) -> float:
        """Height of the root over the ground [m]."""
        return -lowest_point(self.model, self.robot.home)

    @cached_property
    def home(self) -> Array:
        """Positions of the arm at home, shape (arm,)."""
        return np.array([self.robot.home[name] for name in self.arm.joints])

    @property
    def posture(self) -> Array:
        """Positions of the arm while it drives, shape (arm,)."""
        return self.home if self.travel is None else np.array(self.travel)

    @cached_property
    def open_fingers(self) -> dict[str, float]:
        """Positions of the gripper's joints where it is open, by joint."""
        return dict(self.gripper.open)

    @cached_property
    def positions(self) -> dict[str, float]:
        """Positions of all joints while it drives, the gripper open, by joint."""
        arm = dict(zip(self.arm.joints, self.posture.tolist(), strict=True))
        return {**self.robot.home, **arm, **self.open_fingers}

    @cached_property
    def outline(self) -> float:
        """Distance of its farthest part from the root while it drives, to 0.1 m, on the ground [m].

        At 3 degrees the rest is 3 mm.
        """
        q = [self.positions[joint.name] for joint in self.model.moving_joints]
        spots = [
            triangulate(geometry.shape).vertices @ (X_WL @ geometry.X_LG)[:2, :3].T
            + (X_WL @ geometry.X_LG)[:2, 3]
            for link, X_WL in zip(self.model.links, link_poses(self.model, q), strict=True)
            for geometry in link.collisions
        ]
        return round(float(np.linalg.norm(np.concatenate(spots), axis=1).max()), 1)

    @cached_property
    def shoulder(self) -> tuple[float, float]:
        """Position of the arm's first turning joint, or of its first, in the root's frame [m]."""
        q = [self.positions[joint.name] for joint in self.model.moving_joints]
        poses = dict(zip((link.name for link in self.model.links), link_poses(self.model, q),
                         strict=True))  # fmt: skip
        joints = [self.model.joint(name) for name in self.arm.joints]
        turning = [joint for joint in joints if joint.type is not JointType.PRISMATIC]
        x, y = poses[(turning or joints)[0].child][:2, 3].tolist()
        return x, y

    @cached_property
    def servos(self) -> dict[str, Actuation]:
        """Position servos of the joints that are neither wheels nor fingers, by joint."""
        return holding_servos(self.robot)

    @lru_cache(maxsize=8)  # noqa: B019 - a robot lives as long as its process
    def holder(self, size: tuple[float, float, float], mass: float) -> Holder:
        """Return the gripper closed on a box, gripped along its y axis.

        Raises:
            GripError: If the box is too wide or too thin.
        """
        return hold(self.robot, self.arm, gripper=self.gripper, shape=Box(size), mass=mass)

    def widths(self, held: TableObject) -> dict[int, Holder]:
        """Return the gripper closed on an object, by quarter turns about the vertical.

        Raises:
            GripError: If it is too low, or too wide or too thin in every direction.
        """
        x, y, z = held.size
        if z < _LEAST_HEIGHT:
            raise GripError(
                f"an object of {1e3 * z:g} mm is too low: fingers that keep {1e3 * ARM_MARGIN:g} mm"
                f" from the table grip what is at least {1e3 * _LEAST_HEIGHT:.0f} mm high"
            )
        found: dict[int, Holder] = {}
        fault: GripError | None = None
        for quarter in range(4):
            try:
                size = (y, x, z) if quarter % 2 else (x, y, z)
                found[quarter] = self.holder(size, held.mass)
            except GripError as error:
                fault = error
        if fault and not found:
            raise fault
        return found

    def grasp(self, held: TableObject, X_WO: Array, quarter: int) -> Array:
        """Return the pose of the grip frame that grasps an object from above, shape (4, 4).

        It is in the middle of the object; higher where the palm or the tips of the fingers would
        come too near to the object or to the table.

        Args:
            X_WO: Pose of the object's centre; upright.
            quarter: Quarter turns about the vertical.
        """
        height = held.size[2]
        depth = min(self.reach_below_palm, height / 2, height - self.reach_of_tips - _ROOM)
        turned = rotation_about((0.0, 0.0, 1.0), quarter * pi / 2)
        over = rotation_about((0.0, 1.0, 0.0), pi)
        return np.asarray(X_WO @ pose((0.0, 0.0, held.size[2] / 2 - depth), turned @ over))

    @cached_property
    def grip_in_tool(self) -> Array:
        """Pose of the grip frame in the tool's link, shape (4, 4): z away from the palm."""
        some = self.usual_holder
        q = [self.robot.home[joint.name] for joint in self.model.moving_joints]
        X = dict(zip((link.name for link in self.model.links), link_poses(self.model, q),
                     strict=True))  # fmt: skip
        return np.asarray(inverse_pose(X[self.arm.tool]) @ X[some.palm] @ some.X_PT)

    @cached_property
    def usual_holder(self) -> Holder:
        """The gripper closed on a box of half its stroke."""
        width = self.gripper.stroke / 2
        return self.holder((width, width, 2 * width), 0.1)

    @cached_property
    def reach_below_palm(self) -> float:
        """How far an object may extend from the grip frame towards the palm [m]."""
        moving = {link for finger in self.gripper.fingers for link in finger.links}
        heights = self._heights(self._rigid_with(self.gripper.palm) - moving)
        return -float(heights.max()) - _ROOM if len(heights) else 0.03

    @cached_property
    def reach_of_tips(self) -> float:
        """How far the open fingers extend from the grip frame away from the palm [m]."""
        palm = self._rigid_with(self.gripper.palm)
        own = {link for finger in self.gripper.fingers for link in self._rigid_with(finger.pad)}
        heights = self._heights(own - palm)
        return max(float(heights.max()), 0.0) if len(heights) else 0.0

    def _heights(self, links: set[str]) -> Array:
        """Return coordinates z of the shapes of links in the grip frame, the gripper open."""
        q = [self.positions[joint.name] for joint in self.model.moving_joints]
        X_WL = link_poses(self.model, q)
        names = [link.name for link in self.model.links]
        X_GW = inverse_pose(X_WL[names.index(self.arm.tool)] @ self.grip_in_tool)
        found = [np.empty(0)]
        for i, link in enumerate(self.model.links):
            for geometry in link.collisions if link.name in links else ():
                X = X_GW @ X_WL[i] @ geometry.X_LG
                found.append(triangulate(geometry.shape).vertices @ X[2, :3] + X[2, 3])
        return np.concatenate(found)

    def _rigid_with(self, link: str) -> set[str]:
        group = rigid_groups(self.model)
        return {name for name, top in group.items() if top == group[link]}

    def scene(
        self,
        tables: TableScene,
        *,
        friction: float,
        tyres: float,
        rule: FrictionRule,
        force: float,
    ) -> Scene:
        """Return the robot at its start, with tables, objects and obstacles.

        Args:
            friction: Friction coefficient of everything but wheels [-].
            tyres: Friction coefficient between wheels and ground [-].
            rule: How the engine combines the friction of unequal surfaces.
            force: Grip force at each finger [N].
        """
        stand = tables.start.frame @ pose((0.0, 0.0, self.height))
        dry = Material(friction)
        floor, tyre = dry, Material(tyres)
        slick = any(wheel.caster for wheel in self.base.wheels) or self.base.supports
        if slick or tyres != friction:
            floor, tyre = ground_surfaces(tyres, rule)
        links = dict.fromkeys(tyre_links(self.robot), tyre)
        if slick:
            # What slides on the ground is part of the chassis.
            links |= dict.fromkeys(self._rigid_with(self.model.root), SLICK)
            links |= {wheel.link: SLICK for wheel in self.base.wheels if wheel.caster}
        placed = placed_robot(
            replace(self.robot, model=self._without_grip_limits()),
            name=ROBOT,
            positions=self.positions,
            actuation=self.actuation(force=force),
            X_WB=stand,
            material=dry,
            link_materials=links,
        )
        # An object that sinks into soft pads must not come to rest on the links behind them.
        pads = {link for finger in self.gripper.fingers for link in finger.links}
        behind = {link for finger in self.gripper.fingers for link in self._rigid_with(finger.pad)}
        bare = behind - pads - self._rigid_with(self.gripper.palm)
        no_contact = frozenset(
            frozenset((f"{ROBOT}/{link}", object_name(i)))
            for link in bare
            for i in range(len(tables.objects))
        )
        return Scene((placed,), (*tables.bodies(dry), ground(floor)), no_contact=no_contact)

    def _without_grip_limits(self) -> RobotModel:
        """Return the robot; what its fingers press with is up to their drives, as in grasp."""
        fingers = {side.joint for side in self.usual_holder.moving}
        return replace(
            self.model,
            joints=tuple(
                replace(joint, limits=replace(joint.limits, effort=inf))
                if joint.name in fingers
                else joint
                for joint in self.model.joints
            ),
        )

    def closing(self, *, force: float) -> list[dict[str, Any]]:
        """Return what each finger's joint presses with, and its limit in the robot file.

        Returns:
            "joint", "effort" and "limit" [N m or N], None if the file states none.
        """
        return [
            {
                "joint": side.joint,
                "effort": abs(side.opening) * force,
                "limit": side.limit if isfinite(side.limit) else None,
            }
            for side in self.usual_holder.moving
        ]

    def actuation(self, *, force: float) -> dict[str, Actuation]:
        """Return the drive of every joint.

        One finger holds its position; the other presses with the grip force, its limit.
        """
        gain = _WHEEL_GAIN * self.base.mass * self.base.wheel_radius**2
        drives = wheel_drives(self.robot, self.base, friction=0.8, wheel_damping=gain)
        sides = self.usual_holder.moving
        for i, side in enumerate(sides):
            lever = side.opening**2
            limit = abs(side.opening) * force
            presses = i == len(sides) - 1
            drives[side.joint] = Actuation(
                DriveMode.POSITION,
                FINGER_STIFFNESS * lever,
                2 * sqrt(FINGER_STIFFNESS * _FINGER_MASS) * lever,
                effort=limit if presses else 4 * limit,
            )
        return drives

    @cached_property
    def commands(self) -> dict[str, int]:
        """The place of each joint among the commands, by joint."""
        loose = {joint.name for joint in self.model.moving_joints if joint.mimic}
        loose |= passive_joints(self.robot)
        names = [joint.name for joint in self.model.moving_joints if joint.name not in loose]
        return {name: i for i, name in enumerate(names)}


@lru_cache(maxsize=4)
def open_picker(robot: str, reading: RoleOptions, sha256: str = "") -> Picker:
    """Return a robot prepared to pick.

    Raises:
        KinetariumError: If it has no driven wheels, no arm or no gripper, or is steered.
    """
    found = reading.open(robot, sha256=sha256)
    gripper = padded(found.roles.gripper(), found.model)
    carriers = [arm for arm in found.roles.arms if arm.gripper == gripper.name]
    arm = carriers[0] if carriers else found.roles.arm()
    chain = serial_chain(found.model, base_link=found.model.root, tool=arm.tool)
    coupled = {
        joint.name: joint.mimic
        for joint in found.model.joints
        if joint.mimic and joint.name in gripper.joints
    }
    ends = [
        {**end, **{name: gear.multiplier * end[gear.joint] + gear.offset
                   for name, gear in coupled.items()}}
        for end in (gripper.open, gripper.closed)
    ]  # fmt: skip
    gripper = replace(gripper, open=ends[0], closed=ends[1])
    joints = tuple(
        replace(joint, mimic=None) if joint.name in coupled else joint
        for joint in found.model.joints
    )
    free = replace(found, model=replace(found.model, joints=joints))
    if any(finger.joints and len(finger.joints) > 1 for finger in gripper.fingers[:2]):
        raise KinetariumError(
            f"the fingers of '{gripper.name}' of {robot} have several joints; pick closes fingers"
            " of one joint each"
        )
    base = vehicle(free)
    check_turns_in_place(base)
    return Picker(free, replace(arm, joints=chain.joints), gripper, base)
