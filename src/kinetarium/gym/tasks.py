"""Tasks of environments: what a robot is to do in a scene, what it observes, what it earns.

The return of an episode of `ReachPose` and `DrivePath` is at most 1: rewards are shares of the
episode, so that returns of other durations and rates can be compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import cos, inf, isfinite, sin
from typing import Any

import numpy as np

from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheel_driver import planar_pose
from kinetarium.control.vehicle.wheeled_base import Chassis, DriveType, placed
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.base.engine import initial_state
from kinetarium.engines.protocol import Engine, Layout, Options, State
from kinetarium.engines.registry import matched_options
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene import DriveMode, Scene, ground
from kinetarium.scene.standing import holding_servos, home_command, placed_robot
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose_from_rpy
from kinetarium.studies.drive.config import Profile
from kinetarium.studies.drive.profiles import settings_of
from kinetarium.studies.drive.run import ground_scene

_FREE_RANGE = 1.0
"""Range of commands to a joint without a limit [rad, m, rad/s, m/s, N m or N]."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a state is worth.

    Attributes:
        reward: The reward of the last step [-].
        ended: Whether the episode ends here.
        facts: What else is known, for the `info` of a step.
    """

    reward: float = 0.0
    ended: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


class RobotTask:
    """A scene as it is: actions are its commands, observations its state, rewards zero.

    Tasks of one's own derive from it and override what they need. Actions are within -1 .. 1 and
    are scaled to the range of each drive: the limits of position, speed or effort of its joint.

    Example:
        >>> import numpy as np
        >>> from kinetarium.gym import Score, RobotTask, make
        >>> from kinetarium.scene import driving_ground
        >>> class Forwards(RobotTask):
        ...     def score(self, state):
        ...         return Score(float(state.twists[0, 0]) * self.period)
        >>> env = make(task=Forwards(driving_ground("husky4"), duration=1.0), engine="mujoco")
        >>> observation, info = env.reset(seed=1)
        >>> observation, reward, terminated, truncated, info = env.step(np.ones(4))
        >>> bool(reward > 0)
        True
        >>> env.close()

    Attributes:
        scene: The scene.
        duration: Length of an episode [s].
        period: Time between two actions [s].
        timestep: Physics step [s].
        options: The engine's options; its matched ones if None.
        actions: The number of actions.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        duration: float = 5.0,
        period: float = 0.02,
        timestep: float = 2e-3,
        options: Options | None = None,
    ) -> None:
        """Take a scene; the period is a multiple of the time step."""
        self.scene, self.duration, self.period = scene, duration, period
        self.timestep, self.options = timestep, options
        self._layout = Layout.of(scene)
        self._start = initial_state(scene)
        self.actions = len(self._layout.commands)
        ranges = [_range(self._layout, scene, i) for i in range(self.actions)]
        self._low, self._high = np.array(ranges).reshape(-1, 2).T

    def begin(self, random: np.random.Generator) -> State:
        """Draw what is random in an episode and return the state that it begins in."""
        return self._start

    def command(self, action: Array) -> Array:
        """Return the command of an action, in the order of the layout's commands, shape (c,)."""
        scaled: Array = self._low + (action + 1) / 2 * (self._high - self._low)
        return scaled

    def observe(self, state: State) -> Array:
        """Return the observation in a state, shape (n,)."""
        parts = (state.q, state.v, state.poses.ravel(), state.twists.ravel())
        return np.concatenate(parts)

    def score(self, state: State) -> Score:
        """Return what the state after a step is worth."""
        return Score()


def _range(layout: Layout, scene: Scene, command: int) -> tuple[float, float]:
    """Return the range of a command."""
    robot, _, name = layout.commands[command].partition("/")
    limits, drive = scene.robot(robot).model.joint(name).limits, layout.actuations[command]
    match drive.drive:
        case DriveMode.POSITION:
            low, high = limits.lower, limits.upper
        case DriveMode.VELOCITY:
            low, high = -limits.velocity, limits.velocity
        case _:
            low, high = -drive.effort, drive.effort
    finite = isfinite(low) and isfinite(high)
    return (low, high) if finite else (-_FREE_RANGE, _FREE_RANGE)


class ReachPose(RobotTask):
    """Move the tool of an arm to a pose and stay there.

    The goal is the pose of the tool at joint positions drawn around the home pose, so that it can
    be reached; it is relative to the robot's root. Actions are the speeds of the arm's joints as
    shares of the greatest, `speed` or that of the joint if it is less; position servos follow
    their integral. Observed are positions q [rad or m] and speeds of the arm's joints, what the
    servos lag behind, and the way from tool to goal: translation [m] and rotation vector [rad] in
    the root's frame.

    The distance of a pose is |p| + lever |w|; the reward of a step is 1 - distance over that at
    the start, not less than -1, times the step's share of the episode. Within the tolerances the
    episode ends with the rest of the rewards.
    """

    def __init__(
        self,
        robot: StudiedRobot,
        *,
        arm: str | None = None,
        spread: float = 0.5,
        speed: float = 1.0,
        lever: float = 0.2,
        tolerance: tuple[float, float] = (0.01, 0.1),
        duration: float = 3.0,
        period: float = 0.02,
        timestep: float = 2e-3,
    ) -> None:
        """Place a robot at its home pose; a free one stands on the ground.

        Args:
            robot: The robot and its roles.
            arm: Name of the arm; the only one if None.
            spread: How far from home the joints of a goal are [rad or m].
            speed: Greatest speed of a joint [rad/s or m/s].
            lever: Length by which a rotation counts as a distance [m/rad].
            tolerance: Distance [m] and angle [rad] within which the goal is reached.
            duration: Length of an episode [s].
            period: Time between two actions [s].
            timestep: Physics step [s].

        Raises:
            RolesError: If the robot has no arm, or several and no name.
        """
        chosen = robot.roles.arm(arm)
        model = robot.model
        here = placed_robot(robot, actuation=holding_servos(robot))
        scene = Scene((here,), (ground(),) if model.free_base else ())
        super().__init__(scene, duration=duration, period=period, timestep=timestep)
        self.actions = len(chosen.joints)
        names = [joint.name for joint in model.moving_joints]
        self._joints = np.array([names.index(name) for name in chosen.joints])
        commands = [name.partition("/")[2] for name in self._layout.commands]
        self._commands = np.array([commands.index(name) for name in chosen.joints])
        limits = [model.joint(name).limits for name in chosen.joints]
        self._lower, self._upper = np.array([(each.lower, each.upper) for each in limits]).T
        self._step = period * np.array([min(speed, each.velocity or inf) for each in limits])
        self._home, self._rest = self._start.q[self._joints], home_command(here)
        self._spread, self._lever, self._tolerance = spread, lever, tolerance
        self._dynamics = RobotDynamics(model, free_base=False)
        self._tool, self._X_LT = chosen.tool, pose_from_rpy(chosen.xyz, chosen.rpy)
        self._target = self._rest.copy()
        self._goal, self._first = np.eye(4), 1.0

    def begin(self, random: np.random.Generator) -> State:
        """Draw the goal."""
        offset = random.uniform(-self._spread, self._spread, len(self._joints))
        q = self._start.q.copy()
        q[self._joints] = np.clip(self._home + offset, self._lower, self._upper)
        self._goal = self._pose(q)
        self._target = self._rest.copy()
        self._first = max(self._distance(self._start), 1e-6)
        return self._start

    def command(self, action: Array) -> Array:
        """Move the positions that the servos hold."""
        moved = self._target[self._commands] + action * self._step
        self._target[self._commands] = np.clip(moved, self._lower, self._upper)
        return self._target.copy()

    def observe(self, state: State) -> Array:
        """Return positions, speeds and lags of the joints, and the way to the goal."""
        q = state.q[self._joints]
        lag = self._target[self._commands] - q
        return np.concatenate([q, state.v[self._joints], lag, *self._way(state)])

    def score(self, state: State) -> Score:
        """Return the share of the way that was made."""
        p, w = (float(np.linalg.norm(part)) for part in self._way(state))
        share = self.period / self.duration
        facts = {"distance_m": p, "angle_rad": w}
        if p < self._tolerance[0] and w < self._tolerance[1]:
            rest = max(1.0 - state.time / self.duration, 0.0) + share
            return Score(rest, True, {**facts, "is_success": True})
        reward = max(1 - (p + self._lever * w) / self._first, -1.0) * share
        return Score(reward, False, {**facts, "is_success": False})

    def _pose(self, q: Array) -> Array:
        X: Array = self._dynamics.link_pose(q, self._tool) @ self._X_LT
        return X

    def _way(self, state: State) -> tuple[Array, Array]:
        X = self._pose(state.q)
        return self._goal[:3, 3] - X[:3, 3], so3.log(self._goal[:3, :3] @ X[:3, :3].T)

    def _distance(self, state: State) -> float:
        p, w = self._way(state)
        return float(np.linalg.norm(p) + self._lever * np.linalg.norm(w))


_GRID = 0.01
"""Distance of the samples of a path [m]."""
_AHEAD = (0.5, 1.0, 1.5)
"""How far ahead the path is observed [s]."""
_START = 0.5
"""Time in which the reference gains its speed [s]."""


class DrivePath(RobotTask):
    """Follow a point that moves along a winding path with a wheeled robot.

    Each episode has another path: its heading is a sine of the way. Actions are forward speed and
    yaw rate (of a steered vehicle: curvature) as shares of the greatest, twice those of the
    reference, within the limits of the chassis. Observed in the vehicle's frame: the point and
    the sine and cosine of the heading towards it, the point 0.5, 1.0 and 1.5 s later [m], and
    the vehicle's speed [m/s] and yaw rate [rad/s].

    The reward of a step is 1 - distance to the point over `lost`, times the step's share of the
    episode. The episode ends if the distance is greater.
    """

    def __init__(
        self,
        robot: StudiedRobot,
        *,
        engine: Engine,
        speed: float = 0.5,
        bend: float = 0.6,
        lost: float = 1.0,
        duration: float = 8.0,
        period: float = 0.05,
    ) -> None:
        """Place a robot on the ground as the study `drive` does, with its matched settings.

        Args:
            robot: The robot and its roles.
            engine: The engine, which the settings of the contact depend on.
            speed: Speed of the reference [m/s], or half of what the wheels can do if it is less.
            bend: Greatest amplitude of the path's heading [rad].
            lost: Distance at which an episode ends [m].
            duration: Length of an episode [s].
            period: Time between two actions [s].

        Raises:
            RolesError: If it has no driven wheels, or its wheels cannot drive it.
        """
        base = vehicle(robot)
        chosen = settings_of(engine, Profile.MATCHED, base)
        scene = ground_scene(
            robot,
            start=PlanarPose(0.0, 0.0, 0.0),
            friction=chosen.friction,
            rule=engine.info.friction_rule,
            wheel_damping=chosen.wheel_damping,
        )
        super().__init__(
            scene,
            duration=duration,
            period=period,
            timestep=chosen.timestep,
            options=chosen.options,
        )
        self.actions = 2
        self._chassis = Chassis(base, chosen.multiplier)
        self._frame = PlanarPose(*base.frame)
        limits = [wheel.speed for wheel in base.driven if wheel.speed is not None]
        fastest = min(limits, default=inf) * base.wheel_radius
        self._speed, self._lost = min(speed, fastest / 2), lost
        self._length = self._speed * (duration + _AHEAD[-1])
        most = base.tightest / 2 if base.kind is DriveType.STEERED else inf
        self._bend = min(bend, most * self._length / (2 * np.pi))
        turn = 4 * np.pi * self._bend / self._length * self._speed
        self._most = np.array([2 * self._speed, max(turn, 0.5)])
        self._motion = (0.0, 0.0)
        self._path = np.zeros((2, 3))

    def begin(self, random: np.random.Generator) -> State:
        """Draw the path."""
        s = np.arange(0.0, self._length + 2 * _GRID, _GRID)
        amplitude = random.uniform(0.5, 1.0) * self._bend * random.choice([-1.0, 1.0])
        phase = random.uniform(0.0, 2 * np.pi)
        heading = amplitude * (np.sin(2 * np.pi * s / self._length + phase) - sin(phase))
        steps = np.stack([np.cos(heading), np.sin(heading)], axis=1) * _GRID
        points = np.cumsum(np.vstack([np.zeros(2), (steps[1:] + steps[:-1]) / 2]), axis=0)
        self._path = np.column_stack([points, heading])
        self._motion = (0.0, 0.0)
        return self._start

    def command(self, action: Array) -> Array:
        """Return the speeds of the wheels."""
        v, w = (action * self._most).tolist()
        self._motion = self._chassis.toward((v, w), now=self._motion, period=self.period)
        return self._chassis.commands(self._motion)

    def observe(self, state: State) -> Array:
        """Return the point and the path ahead, and the speeds."""
        here = self._here(state)
        c, s = cos(here.heading), sin(here.heading)
        into = np.array([[c, s], [-s, c]])
        aims = [self._aim(state.time + ahead) for ahead in (0.0, *_AHEAD)]
        points = [into @ (aim[:2] - (here.x, here.y)) for aim in aims]
        off = aims[0][2] - here.heading
        twist = state.twists[0]
        speeds = (twist[:2] @ (c, s), twist[5])
        return np.concatenate([points[0], (sin(off), cos(off)), *points[1:], speeds])

    def score(self, state: State) -> Score:
        """Return how near the point is."""
        here, aim = self._here(state), self._aim(state.time)
        distance = float(np.hypot(aim[0] - here.x, aim[1] - here.y))
        share = self.period / self.duration
        return Score(
            (1 - distance / self._lost) * share, distance > self._lost, {"distance_m": distance}
        )

    def _here(self, state: State) -> PlanarPose:
        return placed(self._frame, planar_pose(state.poses[0]))

    def _aim(self, time: float) -> Array:
        """Return position and heading of the point at a time [s]."""
        way = self._speed * (time**2 / (2 * _START) if time < _START else time - _START / 2)
        at = min(way / _GRID, len(self._path) - 1.001)
        i = int(at)
        aim: Array = self._path[i] + (at - i) * (self._path[i + 1] - self._path[i])
        return aim


def matched(task: RobotTask, engine: Engine) -> Options:
    """Return the options of a task, or those with which the engine is compared."""
    return matched_options(engine).options if task.options is None else task.options
