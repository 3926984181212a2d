"""ArmPair: the last metres of a mission on two arms of the ground test, by kinematic equivalence.

Two KR 250 stand face to face, as in `dock`, and hold a satellite each. Only the pose of one
satellite relative to the other matters to a contact; it is shared between the arms as
S = H^2: the chaser's satellite is at G H and the frame that faces it, half a turn before the
target's, at G H^-1, with G fixed half way between the arms. The contact acts between the
satellites as the arms hold them, and its wrench moves those in orbit.
"""

from math import atan2

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.recording.recording import Recording, Row
from kinetarium.scene.docking import (
    CENTER,
    CHASER,
    TARGET,
    DockingArm,
    DockingScene,
    docking_scene,
    satellite_arm,
)
from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about
from kinetarium.studies.dock.press.arms import KR250_START, joint_path
from kinetarium.studies.dock.press.probe import SHAPE

PAYLOAD = 20.0
"""Mass of the satellites on the arms [kg]; those in orbit have their own."""
_BACK = 0.43
"""How far behind the start of `dock` an arm waits [m]: a metre ahead it is far from its limits."""
_ITERATIONS = 8
_CLOSE = 1e-9
"""Error at which the inverse kinematics ends [m, rad]."""
_LOST = 1e-4
"""Error above which an arm does not follow any more [m, rad]."""
_FACING = frozen(pose((0.0, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), np.pi)))
"""Half a turn: the frame of the target that a chaser faces."""


def waiting_arms(gap: float) -> DockingScene:
    """Return both arms before the last metres.

    Args:
        gap: Distance from the probe's tip to the target's face [m].
    """
    model = satellite_arm(PAYLOAD)
    *_, (q, _) = joint_path(RobotDynamics(model), np.radians(KR250_START), length=-_BACK)
    names = [joint.name for joint in model.moving_joints]
    return docking_scene(
        payload=PAYLOAD,
        gap=gap + SHAPE.length,
        positions=dict(zip(names, q.tolist(), strict=True)),
    )


class ArmPair:
    """Two arms that repeat the relative motion of two satellites.

    Attributes:
        columns: Names of the joints, those of the chaser's arm first.
        follows: Whether both arms have reached all their poses.
    """

    def __init__(self, gap: float) -> None:
        """Let the arms wait, the probe's tip a gap from the target's face [m]."""
        docking = waiting_arms(gap)
        self._arms = [_Follower(arm) for arm in (docking.chaser, docking.target)]
        joints = [joint.name for joint in docking.chaser.model.moving_joints]
        self.columns = tuple(f"{robot}/{name}" for robot in (CHASER, TARGET) for name in joints)
        X_C, X_T = (arm.held() for arm in self._arms)
        self._G = pose((X_C[:3, 3] + X_T[:3, 3]) / 2)
        self._X_CM: Array | None = None
        self.follows = True

    @property
    def q(self) -> Array:
        """Joint positions of the chaser's and the target's arm [rad], shape (12,)."""
        return np.concatenate([arm.q for arm in self._arms])

    def follow(self, X_TC: Array) -> Array:
        """Move both arms, and return the relative pose that they hold, shape (4, 4).

        The first call decides how the chaser's satellite is mounted: turned about its axis so that
        the arms begin without roll.

        Args:
            X_TC: Pose of the chaser's satellite in the target's frame, shape (4, 4).
        """
        S = inverse_pose(_FACING) @ X_TC
        if self._X_CM is None:
            roll = atan2(S[2, 1], S[1, 1])
            self._X_CM = pose((0.0, 0.0, 0.0), rotation_about((1.0, 0.0, 0.0), -roll))
        H = se3.exp(0.5 * se3.log(S @ self._X_CM))
        wanted = (self._G @ H, self._G @ inverse_pose(H) @ inverse_pose(_FACING))
        for arm, X_WB in zip(self._arms, wanted, strict=True):
            self.follows = arm.reach(X_WB) and self.follows
        X_TM = inverse_pose(self._arms[1].held()) @ self._arms[0].held()
        return np.asarray(X_TM @ inverse_pose(self._X_CM))


class _Follower:
    """An arm that is moved to poses by Newton's method."""

    def __init__(self, arm: DockingArm) -> None:
        self._dynamics, self._X_WA = RobotDynamics(arm.model), arm.X_WA
        self.q = arm.q_start.copy()

    def held(self) -> Array:
        """Return the pose of its satellite, shape (4, 4)."""
        return np.asarray(self._X_WA @ self._dynamics.link_pose(self.q, CENTER))

    def reach(self, X_WB: Array) -> bool:
        """Move the satellite to a pose; return False, and stay, where the arm does not reach it."""
        X_AB, q = inverse_pose(self._X_WA) @ X_WB, self.q
        for _ in range(_ITERATIONS):
            X = self._dynamics.link_pose(q, CENTER)
            off = se3.log(inverse_pose(X) @ X_AB)
            if np.abs(off).max() < _CLOSE:
                break
            in_base = np.concatenate([X[:3, :3] @ off[:3], X[:3, :3] @ off[3:]])
            q = q + np.linalg.pinv(self._dynamics.jacobian(q, CENTER)) @ in_base
        if np.abs(off).max() > _LOST:
            return False
        self.q = q
        return True


def score_arms(recording: Recording, *, since: float) -> Row:
    """Measure how the arms did it.

    Args:
        recording: The recording of a mission, with the channel "q".
        since: When they began [s].

    Returns:
        arm_speed_share: Greatest joint speed over its limit.
        arm_room_rad: Least distance of a joint to its limit; negative beyond.
        flags: Warnings, as sentences.
    """
    on = recording["time"] >= since
    joints = satellite_arm(PAYLOAD).moving_joints * 2
    columns = recording.channels["q"].columns
    flags, speed, room = [], 0.0, np.inf
    for name, joint, q in zip(columns, joints, recording["q"][on].T, strict=True):
        limits, rates = joint.limits, np.diff(q) / np.diff(recording["time"][on])
        share = float(np.abs(rates).max(initial=0.0)) / (limits.velocity or np.inf)
        spare = min(float(q.min()) - limits.lower, limits.upper - float(q.max()))
        speed, room = max(speed, share), min(room, spare)
        if spare < 0 or share > 1:
            what = "leaves its range" if spare < 0 else "would have to be faster than it can"
            flags.append(f"on the arms {name} {what}")
    return {"arm_speed_share": speed, "arm_room_rad": room, "flags": flags}
