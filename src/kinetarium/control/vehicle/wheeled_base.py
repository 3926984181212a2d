"""WheeledBase: the wheels of any robot, how they turn it, and the commands of its joints."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import atan, atan2, cos, hypot, sin, tan
from typing import TypeVar

import numpy as np

from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.spatial.arrays import Array

ONE_AXLE = 0.1
"""Distance of wheels along the vehicle up to which they are on one axle, over their radius [-]."""
STEERING_RATE = 2.0
"""Fastest that a vehicle is steered, as the angle of a wheel in its middle [rad/s]."""
_CREEP = 0.02
"""Commanded speed below which the steering stays as it is [m/s]."""
_OUTSIDE = 0.9
"""Largest curvature, over that at which the outermost wheel would stand still [-]."""


Number = TypeVar("Number", float, Array)


@dataclass(frozen=True, slots=True)
class DifferentialDrive:
    """Kinematics of a vehicle whose wheels do not slip.

    left, right = (v -+ w track multiplier / 2) / wheel_radius (Lee et al. 2023, eq. 1).
    A skid-steered vehicle turns as if its track were wider, by the multiplier.

    Attributes:
        wheel_radius: Radius of the wheels [m].
        track: Distance between the wheels of the two sides [m].
        multiplier: Effective track over the geometric one [-].
    """

    wheel_radius: float
    track: float
    multiplier: float = 1.0

    def wheel_speeds(self, v: Number, w: Number) -> tuple[Number, Number]:
        """Return the speeds of the left and right wheels [rad/s].

        Args:
            v: Forward speed [m/s].
            w: Yaw rate [rad/s].
        """
        aside = w * (self.track * self.multiplier / 2)
        return (v - aside) / self.wheel_radius, (v + aside) / self.wheel_radius

    def vehicle_speeds(self, left: Number, right: Number) -> tuple[Number, Number]:
        """Return forward speed [m/s] and yaw rate [rad/s] for speeds of the wheels [rad/s]."""
        wide = self.track * self.multiplier
        return (left + right) * (self.wheel_radius / 2), (right - left) * (self.wheel_radius / wide)


@dataclass(frozen=True, slots=True)
class SpeedRamp:
    """Acceleration limits of commanded speeds.

    Attributes:
        linear: Of the forward speed [m/s^2].
        angular: Of the yaw rate [rad/s^2].
    """

    linear: float = 3.0
    angular: float = 6.0

    def toward(
        self, speeds: tuple[float, float], *, now: tuple[float, float], period: float
    ) -> tuple[float, float]:
        """Return the speeds nearest to the desired ones that can be reached within a period.

        Args:
            speeds: Desired forward speed [m/s] and yaw rate [rad/s].
            now: The current ones.
            period: Time between two commands [s].
        """
        return (
            _nearest(speeds[0], now=now[0], most=self.linear * period),
            _nearest(speeds[1], now=now[1], most=self.angular * period),
        )

    def straight(
        self, speeds: tuple[float, float], *, now: tuple[float, float], period: float
    ) -> tuple[float, float]:
        """Return the speeds on the straight way to the desired ones; see `toward`."""
        dv, dw = speeds[0] - now[0], speeds[1] - now[1]
        share = max(1.0, abs(dv) / (self.linear * period), abs(dw) / (self.angular * period))
        return now[0] + dv / share, now[1] + dw / share


def _nearest(wanted: float, *, now: float, most: float) -> float:
    return min(max(wanted, now - most), now + most)


class DriveType(StrEnum):
    """How a base turns."""

    DIFFERENTIAL = "differential"
    """Driven wheels on one axle; everything else slides, rolls or swivels freely."""
    SKID_STEER = "skid-steer"
    """Wheels on several axles that cannot be steered: every turn is a skid."""
    STEERED = "steered"
    """Steered wheels, and at most one axle that is not (Ackermann)."""


@dataclass(frozen=True, slots=True)
class Steering:
    """The steering of a wheel.

    Attributes:
        joint: The joint.
        x: Position of its axis in the vehicle's frame, to the front [m].
        y: The same to the left [m].
        sign: 1 if a positive motion turns the wheel to the left, -1 otherwise.
        ahead: Position at which the wheel rolls straight ahead [rad].
        left: Largest angle to the left [rad].
        right: Largest angle to the right [rad].
        place: Its place among the robot's joints.
        command: Its place among the commands.
    """

    joint: str
    x: float
    y: float
    sign: int
    ahead: float
    left: float
    right: float
    place: int
    command: int


@dataclass(frozen=True, slots=True)
class GroundWheel:
    """A wheel on the ground.

    Attributes:
        joint: The joint it rolls by.
        link: Its link.
        x: Position of its middle in the vehicle's frame, to the front, steered ahead [m].
        y: The same to the left [m].
        radius: Rolling radius [m].
        width: Width of its tread [m]; 0 for a sphere.
        forward: 1 if a positive speed rolls it forwards, -1 otherwise.
        caster: Whether it rolls and swivels freely.
        effort: Largest torque of its drive [N m]; None if it is not limited.
        damping: Viscous damping of its joint [N m s/rad].
        friction: Coulomb friction of its joint [N m].
        place: Its place among the robot's joints.
        command: Its place among the commands; None if it is not driven.
        steering: Its steering, or None.
        speed: Highest speed of its drive [rad/s]; None if it is not limited.
    """

    joint: str
    link: str
    x: float
    y: float
    radius: float
    width: float
    forward: int
    caster: bool
    effort: float | None
    damping: float
    friction: float
    place: int
    command: int | None
    steering: Steering | None
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class WheeledBase:
    """A robot as a vehicle: numbers alone, so that it can be recorded with a run.

    Its frame is on the ground, x to the front: in the middle of the axle that is not steered,
    otherwise in the middle of all wheels.

    Attributes:
        name: Name of the robot.
        frame: Pose of the vehicle's frame in that of the robot's root.
        wheels: Its wheels.
        mass: Mass of the robot [kg].
        center: Its centre of mass in the vehicle's frame [m].
        supports: Where anything else than wheels touches the ground [m].
        home: The commands at rest, of all joints that have one: speeds [rad/s] of wheels,
            positions of others [rad or m].
    """

    name: str
    frame: tuple[float, float, float]
    wheels: tuple[GroundWheel, ...]
    mass: float
    center: tuple[float, float]
    supports: tuple[tuple[float, float], ...]
    home: tuple[float, ...]

    @property
    def kind(self) -> DriveType:
        """How it turns."""
        if any(wheel.steering for wheel in self.wheels):
            return DriveType.STEERED
        return DriveType.SKID_STEER if axles(self.rigid) > 1 else DriveType.DIFFERENTIAL

    @property
    def skids(self) -> bool:
        """Whether it cannot turn without skidding."""
        return self.kind is DriveType.SKID_STEER

    @property
    def slips(self) -> bool:
        """Whether something slides in every turn: wheels on several axles, or wide ones."""
        return self.skids or any(wheel.width > 0 for wheel in self.rolling)

    @property
    def rolling(self) -> tuple[GroundWheel, ...]:
        """The wheels that are not casters."""
        return tuple(wheel for wheel in self.wheels if not wheel.caster)

    @property
    def rigid(self) -> tuple[GroundWheel, ...]:
        """The wheels that are neither steered nor casters."""
        return tuple(w for w in self.wheels if not w.caster and w.steering is None)

    @property
    def driven(self) -> tuple[GroundWheel, ...]:
        """The wheels that have a drive."""
        return tuple(wheel for wheel in self.wheels if wheel.command is not None)

    @property
    def left(self) -> tuple[bool, ...]:
        """Whether each driven wheel is on the left."""
        return tuple(wheel.y > 0 for wheel in self.driven)

    @property
    def wheel_radius(self) -> float:
        """Radius of the driven wheels, their mean if they differ [m]."""
        return _mean([wheel.radius for wheel in self.driven])

    @property
    def track(self) -> float:
        """Distance between the driven wheels of the two sides [m]."""
        left = [wheel.y for wheel in self.driven if wheel.y > 0]
        right = [wheel.y for wheel in self.driven if wheel.y <= 0]
        return _mean(left) - _mean(right) if left and right else 0.0

    @property
    def length(self) -> float:
        """Distance between its foremost and its rearmost wheel that is not a caster [m]."""
        along = [wheel.x for wheel in self.wheels if not wheel.caster]
        return max(along) - min(along)

    @property
    def tightest(self) -> float:
        """Largest curvature of its path that its steering allows to both sides [1/m]."""
        steered = [wheel.steering for wheel in self.wheels if wheel.steering]
        ends = [
            abs(tan(angle) / (each.x + each.y * tan(angle)))
            for each in steered
            for angle in (each.left, -each.right)
        ]
        beside = max(abs(wheel.y) for wheel in self.wheels)
        return min([*ends, _OUTSIDE / beside if beside else np.inf])

    def drive(self, multiplier: float = 1.0) -> DifferentialDrive:
        """Return the kinematics of its two sides.

        Args:
            multiplier: Track-width multiplier if the wheels skid [-].
        """
        wider = multiplier if self.skids else 1.0
        return DifferentialDrive(self.wheel_radius, self.track, wider)


def axles(wheels: Sequence[GroundWheel]) -> int:
    """Return on how many axles wheels are; those within a tenth of a radius share one."""
    count, last = 0, -np.inf
    for wheel in sorted(wheels, key=lambda one: one.x):
        if wheel.x - last > ONE_AXLE * wheel.radius:
            count, last = count + 1, wheel.x
    return count


def _mean(values: Sequence[float]) -> float:
    # Equal values have exactly that mean.
    return values[0] if len(set(values)) == 1 else sum(values) / len(values)


@dataclass(frozen=True, slots=True)
class Chassis:
    """The motions of a vehicle that a controller may command, and the commands of its joints.

    A commanded motion is forward speed [m/s] and yaw rate [rad/s], or forward speed and
    curvature [1/m] of a vehicle that is steered: it does not turn at rest.

    Attributes:
        base: The vehicle.
        multiplier: Track-width multiplier if its wheels skid [-].
        ramp: Acceleration limits.
    """

    base: WheeledBase
    multiplier: float = 1.0
    ramp: SpeedRamp = field(default_factory=SpeedRamp)

    def toward(
        self, speeds: tuple[float, float], *, now: tuple[float, float], period: float
    ) -> tuple[float, float]:
        """Return the motion nearest to desired speeds that can be reached within a period.

        Where a wheel is too slow for them, the vehicle drives their curve more slowly.

        Args:
            speeds: Desired forward speed [m/s] and yaw rate [rad/s].
            now: The current motion, within the limits of the wheels.
            period: Time between two commands [s].
        """
        if self.base.kind is not DriveType.STEERED:
            aim = self.within_wheels(speeds)
            motion = self.ramp.toward(aim, now=now, period=period)
            if self.wheel_use(motion) <= 1.0:
                return motion
            # What wheels can do is convex: the straight way between two such motions is within it.
            return self.ramp.straight(aim, now=now, period=period)
        v, w = speeds
        forward, _ = self.ramp.toward((v, 0.0), now=(now[0], 0.0), period=period)
        most = self.base.tightest
        wanted = min(max(w / v, -most), most) if abs(v) > _CREEP else now[1]
        reach = max(abs(wheel.steering.x) for wheel in self.base.wheels if wheel.steering)
        before, after = atan(now[1] * reach), atan(wanted * reach)
        step = STEERING_RATE * period
        angle = min(max(after, before - step), before + step)
        return self.within_wheels((forward, wanted if angle == after else tan(angle) / reach))

    def within_wheels(self, motion: tuple[float, float]) -> tuple[float, float]:
        """Return the fastest motion up to this one, of the same curvature, that wheels can do."""
        use = self.wheel_use(motion)
        if use <= 1.0:
            return motion
        v, turn = motion
        return v / use, turn if self.base.kind is DriveType.STEERED else turn / use

    def wheel_use(self, motion: tuple[float, float]) -> float:
        """Return the greatest share of its speed limit at which a wheel turns in a motion [-]."""
        limited = [(w.command, w.speed) for w in self.base.driven if w.speed is not None]
        if not limited:
            return 0.0
        commands = self.commands(motion)
        return max(abs(float(commands[place])) / speed for place, speed in limited)

    def speeds(self, motion: tuple[float, float]) -> tuple[float, float]:
        """Return forward speed [m/s] and yaw rate [rad/s] of a commanded motion."""
        v, turn = motion
        return (v, v * turn) if self.base.kind is DriveType.STEERED else (v, turn)

    def commands(self, motion: tuple[float, float]) -> Array:
        """Return the commands of all joints for a motion, shape (c,)."""
        base = self.base
        command = np.array(base.home)
        if base.kind is DriveType.STEERED:
            v, curvature = motion
            for wheel in base.wheels:
                angle, ratio = rolling_of(wheel, curvature)
                if wheel.steering:
                    turned = wheel.steering.ahead + wheel.steering.sign * angle
                    command[wheel.steering.command] = turned
                if wheel.command is not None:
                    command[wheel.command] = wheel.forward * v * ratio / wheel.radius
            return command
        drive = base.drive(self.multiplier)
        left, right = drive.wheel_speeds(*motion)
        for wheel in base.driven:
            speed = left if wheel.y > 0 else right
            command[wheel.command] = speed * (wheel.forward * drive.wheel_radius / wheel.radius)
        return command

    def commanded_speeds(self, commands: Array) -> tuple[Array, Array]:
        """Return forward speeds [m/s] and yaw rates [rad/s] of commands, shape (n,) each.

        Args:
            commands: The commands of all joints, shape (n, c).
        """
        base = self.base
        rolling = np.stack(
            [commands[:, wheel.command] * (wheel.forward * wheel.radius) for wheel in base.driven],
            axis=-1,
        )
        if base.kind is not DriveType.STEERED:
            drive, left = base.drive(self.multiplier), np.array(base.left)
            sides = rolling[:, left].mean(axis=1), rolling[:, ~left].mean(axis=1)
            radius = base.wheel_radius
            return drive.vehicle_speeds(sides[0] / radius, sides[1] / radius)
        steered = [wheel.steering for wheel in base.wheels if wheel.steering]
        curvatures = []
        for each in steered:
            slope = np.tan((commands[:, each.command] - each.ahead) * each.sign)
            curvatures.append(slope / (each.x + each.y * slope))
        curvature = np.mean(curvatures, axis=0)
        ratios = [[rolling_of(wheel, k)[1] for wheel in base.driven] for k in curvature.tolist()]
        v = (rolling / np.array(ratios)).mean(axis=1)
        return v, v * curvature


def rolling_of(wheel: GroundWheel, curvature: float) -> tuple[float, float]:
    """Return the steering angle [rad] of a wheel, and its rolling speed over the vehicle's [-].

    All axes meet in the centre of the turn (Ackermann's condition): a wheel steered about (x, y)
    is turned by atan2(k x, 1 - k y) and rolls by its distance from the centre times k.
    """
    steering = wheel.steering
    if steering is None:
        return 0.0, 1.0 - curvature * wheel.y
    along, aside = 1.0 - curvature * steering.y, curvature * steering.x
    return atan2(aside, along), hypot(along, aside) - curvature * (wheel.y - steering.y)


def placed(frame: PlanarPose, root: PlanarPose) -> PlanarPose:
    """Return the pose of a vehicle's frame on the ground.

    Args:
        frame: The vehicle's frame in that of the robot's root.
        root: Pose of the root.
    """
    c, s = cos(root.heading), sin(root.heading)
    return PlanarPose(
        root.x + c * frame.x - s * frame.y,
        root.y + s * frame.x + c * frame.y,
        root.heading + frame.heading,
    )
