"""The elements of URDF: which attributes and children each may have, and what others add.

The standard is that of urdfdom, versions 1.0 to 1.2 (https://github.com/ros/urdfdom).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of an element.

    Attributes:
        required: Attributes that the readers refuse to do without.
        optional: Attributes that may be missing.
        children: Elements that are read inside it.
        foreign: Elements that other programs put inside it; they are left out and listed.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes it may have."""
        return self.required + self.optional


SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
MOTION_LIMITS = ("acceleration", "deceleration", "jerk")
"""Limits of URDF 1.2 that no study makes use of."""

_GEOMETRY_OWNER = Kind(
    optional=("name",),
    children=("origin", "geometry", "material"),
    foreign=("surface", "contact_coefficients", "max_contacts", "color", "texture"),
)

KINDS = {
    "robot": Kind(
        required=("name",),
        optional=("version",),
        children=("link", "joint", "material"),
        foreign=("group",),
    ),
    "link": Kind(
        required=("name",),
        children=("inertial", "visual", "collision"),
        foreign=(
            "contact", "collision_checking", "self_collision_checking", "self_collision",
            "self_filter", "material", "surface", "mask",
        ),
    ),
    "inertial": Kind(children=("origin", "mass", "inertia")),
    "origin": Kind(optional=("xyz", "rpy", "quat_xyzw")),
    "mass": Kind(required=("value",)),
    "inertia": Kind(required=MOMENTS),
    "visual": _GEOMETRY_OWNER,
    "collision": _GEOMETRY_OWNER,
    "geometry": Kind(children=SHAPES, foreign=("material", "plane", "cdf")),
    "box": Kind(required=("size",)),
    "cylinder": Kind(required=("radius", "length")),
    "sphere": Kind(required=("radius",)),
    "capsule": Kind(required=("radius", "length")),
    "mesh": Kind(required=("filename",), optional=("scale",)),
    "joint": Kind(
        required=("name", "type"),
        children=("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
        foreign=("calibration", "safety_controller", "hardwareInterface", "joint_properties"),
    ),
    "parent": Kind(required=("link",)),
    "child": Kind(required=("link",)),
    "axis": Kind(required=("xyz",)),
    "limit": Kind(optional=("lower", "upper", "effort", "velocity", *MOTION_LIMITS)),
    "dynamics": Kind(optional=("damping", "friction", "armature")),
    "mimic": Kind(required=("joint",), optional=("multiplier", "offset")),
}  # fmt: skip
"""By their names; what is not here (materials, colours) only concerns the looks."""

FOREIGN_ANYWHERE = frozenset(
    ("gazebo", "transmission", "sensor", "ros2_control", "mujoco", "drake", "plugin", "verbose")
)
"""Elements of other programs that may stand anywhere, with anything inside."""

_INCLUDE = ("an include, which URDF does not have", "write <xacro:include filename=.../>")
NOT_READ = {
    "loop_joint": ("a joint that closes a loop, which URDF does not have", "write it as MJCF"),
    "deformable": ("a deformable body, which is not read", "remove it"),
    "include": _INCLUDE,
    "xi:include": _INCLUDE,
}
"""What elements are that add to the robot's mechanics elsewhere, and what to do about them."""

_PLAIN_ATTRIBUTES = frozenset(("name", "version", "type", "link", "joint", "value", "filename"))
_OTHER_FORMATS = frozenset(
    (
        "pos", "position", "pose", "translation", "quat", "quaternion", "orientation", "rotation",
        "euler", "axisangle", "roll", "pitch", "yaw", "angle", "x", "y", "z", "mass", "inertia",
        "com", "center_of_mass", "axis", "limit", "range", "min", "max", "low", "high", "unit",
        "units", "degrees", "deg", "radians",
    )
)  # fmt: skip

MECHANICAL_NAMES = _OTHER_FORMATS | frozenset(
    name for kind in KINDS.values() for name in kind.attributes if name not in _PLAIN_ATTRIBUTES
)
"""Words that say where something is, how it moves or what it weighs, here or in other formats."""
