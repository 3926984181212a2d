"""Override: a fault injected into one backend, to test the diagnosis."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import Inertia, Joint, JointType, Link, RobotModel
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY_VECTOR


@dataclass(frozen=True, slots=True, eq=False)
class Override:
    """Properties of the robot that are changed in one backend.

    Example:
        >>> from kinetarium import Override, verify_dynamics
        >>> fault = {"mujoco": Override(armature={"shoulder": 0.1})}
        >>> verify_dynamics("two-link", engine=["mujoco"], backend_overrides=fault).faults[0].where
        'shoulder'

    Attributes:
        gravity: Acceleration of gravity [m/s^2], shape (3,).
        armature: Drive inertia by joint [kg m^2 or kg].
        damping: Viscous damping by joint [N m s/rad or N s/m].
        friction: Coulomb friction by joint [N m or N].
        axes: Unit axis by joint, in the joint frame, shape (3,) each.
        origins: Pose X_PJ of the joint frame in the parent link by joint, shape (4, 4) each.
        inertials: Mass properties by link; None for a link that loses them.
        model: A robot to use instead of the one under study, or None.
    """

    gravity: Array = field(default_factory=lambda: GRAVITY_VECTOR)
    armature: Mapping[str, float] = field(default_factory=dict)
    damping: Mapping[str, float] = field(default_factory=dict)
    friction: Mapping[str, float] = field(default_factory=dict)
    axes: Mapping[str, Array] = field(default_factory=dict)
    origins: Mapping[str, Array] = field(default_factory=dict)
    inertials: Mapping[str, Inertia | None] = field(default_factory=dict)
    model: RobotModel | None = None

    def __post_init__(self) -> None:
        """Freeze gravity.

        Raises:
            KinetariumError: If it is not a vector.
        """
        try:
            gravity = frozen(self.gravity)
        except (TypeError, ValueError):
            gravity = frozen([])
        if gravity.shape != (3,):
            raise KinetariumError("gravity must be three numbers [m/s^2]")
        object.__setattr__(self, "gravity", gravity)

    @classmethod
    def of(cls, content: "Override | Mapping[str, Any]") -> "Override":
        """Return an override by its attributes, such as {"armature": {"elbow": 0.1}}.

        Raises:
            UnknownNameError: If it has no such attribute.
        """
        if isinstance(content, Override):
            return content
        known = [attribute.name for attribute in fields(cls)]
        for name in content:
            if name not in known:
                raise UnknownNameError("override", name, known=known)
        for name, value in content.items():
            if name not in ("gravity", "model") and not isinstance(value, Mapping):
                raise KinetariumError(
                    f"override '{name}' must map names of joints or links to values"
                )
        return cls(**content)

    def applied(self, model: RobotModel) -> RobotModel:
        """Return the changed robot.

        Raises:
            UnknownNameError: If it names an unknown link or joint.
            KinetariumError: If it sets a property of moving joints on a fixed joint.
        """
        model = self.model or model
        for by_joint in (self.armature, self.damping, self.friction, self.axes):
            for name in by_joint:
                if model.joint(name).type is JointType.FIXED:
                    raise KinetariumError(
                        f"joint '{name}' is fixed: only moving joints can be overridden"
                    )
        for name in self.origins:
            model.joint(name)
        for name in self.inertials:
            model.link(name)
        return replace(
            model,
            links=tuple(self._link(link) for link in model.links),
            joints=tuple(self._joint(joint) for joint in model.joints),
        )

    def _link(self, link: Link) -> Link:
        return replace(link, inertia=self.inertials.get(link.name, link.inertia))

    def _joint(self, joint: Joint) -> Joint:
        name = joint.name
        return replace(
            joint,
            armature=self.armature.get(name, joint.armature),
            damping=self.damping.get(name, joint.damping),
            friction=self.friction.get(name, joint.friction),
            axis=frozen(self.axes.get(name, joint.axis)),
            X_PJ=frozen(self.origins.get(name, joint.X_PJ)),
        )
