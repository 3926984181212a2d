"""BulletOptions: what Bullet lets a user choose, with defaults that are fair to compare."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Servo(StrEnum):
    """How position and velocity drives are made."""

    SPRING = "spring"
    """The spring and damper of the drive, solved implicitly with the engine's mass matrix."""
    MOTOR = "motor"
    """Bullet's own motor: a velocity it tries to reach within the effort limit. The stiffness and
    damping of the drive have no counterpart in it and are not in force."""


@dataclass(frozen=True, slots=True)
class BulletOptions:
    """Settings of Bullet.

    Attributes:
        iterations: Most iterations of the constraint solver per step [-].
        residual: Largest squared change of speed at which the solver stops early [m^2/s^2].
        cone_friction: Whether friction is a cone; otherwise a pyramid along two fixed
            directions, which holds up to 1.41 times more between them, and grips more evenly.
        contact_erp: Share of a penetration that is given back per step [-].
        contact_softness: How far the contacts of free bodies yield to an impulse, compared with
            the bodies themselves [-]; none for 0. It decides how the points of a contact share a
            load, which rigid bodies leave open and the solver then leaves to chance.
        joint_erp: Share of the violation of joint limits and loops given back per step [-].
        restitution_threshold: Impacts slower than this do not bounce [m/s].
        damping: Share of their linear and angular momentum that bodies lose per second [1/s].
        servo: How position and velocity drives are made.
        motor_position_gain: Share of the position error that a MOTOR corrects per step [-].
        motor_velocity_gain: Share of the velocity error that a MOTOR corrects per step [-].
    """

    iterations: int = 50
    residual: float = 1e-20
    cone_friction: bool = False
    contact_erp: float = 0.08
    contact_softness: float = 0.3
    joint_erp: float = 0.2
    restitution_threshold: float = 0.05
    damping: float = 0.0
    servo: Servo = Servo.SPRING
    motor_position_gain: float = 0.1
    motor_velocity_gain: float = 1.0

    @classmethod
    def stock(cls) -> "BulletOptions":
        """Return Bullet as pybullet sets it up."""
        return cls(
            residual=1e-7,
            cone_friction=True,
            contact_softness=0.0,
            restitution_threshold=0.2,
            damping=0.04,
            servo=Servo.MOTOR,
        )

    def with_iterations(self, n: int) -> "BulletOptions":
        """Return a copy with other most iterations of the solver; the same for 0."""
        return replace(self, iterations=n) if n else self
