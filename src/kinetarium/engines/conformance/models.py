"""Small mechanisms with closed-form motion, made for the checks."""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.mesh.solids import solid_properties
from kinetarium.model.robot import (
    Box,
    Geometry,
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    Loop,
    LoopKind,
    Mimic,
    RobotModel,
    Shape,
    Source,
    Sphere,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about

X_AXIS, Y_AXIS, Z_AXIS = frozen([1, 0, 0]), frozen([0, 1, 0]), frozen([0, 0, 1])
SOURCE = Source("conformance kit", "python", "")


def solid_link(
    name: str, shape: Shape, *, mass: float, at: ArrayLike = (0.0, 0.0, 0.0), touches: bool = False
) -> Link:
    """Make a link of one uniform shape of a mass [kg] centred at a point [m]."""
    unit = solid_properties(shape, density=1.0)
    inertia = Inertia(mass, frozen(at), frozen(unit.moment * (mass / unit.mass)))
    collisions = (Geometry(shape, frozen(pose(at))),) if touches else ()
    return Link(name, inertia, collisions)


def pendulum(*, length: float = 0.5, limits: JointLimits = JointLimits()) -> RobotModel:  # noqa: B008
    """Make a bob of 1 kg that swings about y at a distance [m] below the pivot."""
    bob = solid_link("bob", Box((0.05, 0.04, 0.06)), mass=1.0, at=(0.0, 0.0, -length))
    pivot = Joint("pivot", JointType.REVOLUTE, "base", "bob", axis=Y_AXIS, limits=limits)
    return RobotModel("pendulum", (Link("base"), bob), (pivot,), SOURCE)


def rotor(
    *, effort: float = np.inf, lower: float = -np.inf, upper: float = np.inf,
    damping: float = 0.0, friction: float = 0.0, armature: float = 0.0,
    stiffness: float = 0.0, springref: float = 0.0,
) -> RobotModel:  # fmt: skip
    """Make a bar of 2 kg that turns about z."""
    bar = solid_link("bar", Box((0.3, 0.1, 0.05)), mass=2.0)
    joint = Joint(
        "spindle", JointType.CONTINUOUS, "base", "bar", axis=Z_AXIS,
        limits=JointLimits(lower, upper, effort=effort),
        damping=damping, friction=friction, armature=armature,
        stiffness=stiffness, springref=springref,
    )  # fmt: skip
    return RobotModel("rotor", (Link("base"), bar), (joint,), SOURCE)


def sensed_load() -> RobotModel:
    """Make an arm that turns about y and carries 2 kg out along x behind a force-torque sensor."""
    arm = solid_link("arm", Box((0.4, 0.05, 0.05)), mass=1.0, at=(0.2, 0.0, 0.0))
    load = solid_link("load", Box((0.1, 0.1, 0.1)), mass=2.0, at=(0.1, 0.02, 0.03))
    joints = (
        Joint("shoulder", JointType.REVOLUTE, "base", "arm", axis=Y_AXIS),
        Joint("sensor", JointType.FIXED, "arm", "load", frozen(
            pose((0.4, 0.0, 0.0), rotation_about(Z_AXIS, 0.5)))),
    )  # fmt: skip
    return RobotModel("sensed load", (Link("base"), arm, load), joints, SOURCE)


def sensed_slide() -> RobotModel:
    """Make a slide of 1 kg along x that carries 2 kg behind a force-torque sensor."""
    links = (
        Link("base"),
        solid_link("slide", Box((0.1, 0.1, 0.1)), mass=1.0),
        solid_link("load", Box((0.1, 0.1, 0.1)), mass=2.0, at=(0.0, 0.0, 0.05)),
    )
    joints = (
        Joint("rail", JointType.PRISMATIC, "base", "slide", axis=X_AXIS),
        Joint("sensor", JointType.FIXED, "slide", "load", frozen(pose((0.0, 0.0, 0.1)))),
    )
    return RobotModel("sensed slide", links, joints, SOURCE)


def stool() -> RobotModel:
    """Make a body of 3 kg, free, on a foot of 1 kg behind a sensor."""
    links = (
        solid_link("body", Box((0.1, 0.1, 0.1)), mass=3.0),
        solid_link("foot", Box((0.1, 0.1, 0.1)), mass=1.0, touches=True),
    )
    joint = Joint("ankle", JointType.FIXED, "body", "foot", frozen(pose((0.0, 0.0, -0.2))))
    return RobotModel("stool", links, (joint,), SOURCE, free_base=True)


def rank(multipliers: tuple[float, ...]) -> RobotModel:
    """Make slides of 0.5 kg side by side along x that follow the first, each by its multiplier."""
    links, joints = [Link("base")], []
    for i, multiplier in enumerate((1.0, *multipliers)):
        links.append(solid_link(f"slide{i}", Box((0.05, 0.05, 0.05)), mass=0.5))
        joints.append(
            Joint(f"rail{i}", JointType.PRISMATIC, "base", f"slide{i}",
                  frozen(pose((0.0, 0.2 * i, 0.0))), X_AXIS,
                  mimic=Mimic("rail0", multiplier) if i else None)
        )  # fmt: skip
    return RobotModel("rank", tuple(links), tuple(joints), SOURCE)


def double_pendulum() -> RobotModel:
    """Make two bars of 1 kg and 0.5 m that swing about y, one below the other."""
    bar, at = Box((0.03, 0.03, 0.5)), (0.0, 0.0, -0.25)
    links = (
        Link("base"),
        solid_link("upper", bar, mass=1.0, at=at),
        solid_link("lower", bar, mass=1.0, at=at),
    )
    joints = (
        Joint("shoulder", JointType.CONTINUOUS, "base", "upper", axis=Y_AXIS),
        Joint("elbow", JointType.CONTINUOUS, "upper", "lower", frozen(pose((0.0, 0.0, -0.5))),
              Y_AXIS),
    )  # fmt: skip
    return RobotModel("double pendulum", links, joints, SOURCE)


def fingers(*, multiplier: float = -2.0, offset: float = 0.01) -> RobotModel:
    """Make two slides along x, of which the second follows the first."""
    links = (
        Link("base"),
        solid_link("leader", Box((0.05, 0.05, 0.05)), mass=0.5),
        solid_link("follower", Box((0.05, 0.05, 0.05)), mass=0.3),
    )
    joints = (
        Joint("lead", JointType.PRISMATIC, "base", "leader", axis=X_AXIS,
              limits=JointLimits(-0.2, 0.2)),
        Joint("follow", JointType.PRISMATIC, "base", "follower",
              frozen(pose((0.0, 0.3, 0.0))), X_AXIS, JointLimits(-0.5, 0.5),
              mimic=Mimic("lead", multiplier, offset)),
    )  # fmt: skip
    return RobotModel("fingers", links, joints, SOURCE)


def chain() -> RobotModel:
    """Make three links of unlike size that turn about x, y and z."""
    links = [Link("base")]
    joints = []
    for i, axis in enumerate((X_AXIS, Y_AXIS, Z_AXIS)):
        name = f"link{i}"
        links.append(
            solid_link(name, Box((0.1, 0.08, 0.3)), mass=2.0 - 0.5 * i, at=(0.01, 0.02, 0.15))
        )
        above = links[i].name
        X = frozen(pose((0.0, 0.0, 0.3 if i else 0.0)))
        joints.append(Joint(f"joint{i}", JointType.REVOLUTE, above, name, X, axis))
    return RobotModel("chain", tuple(links), tuple(joints), SOURCE)


def flyer() -> RobotModel:
    """Make a body with an arm, to float freely."""
    links = (
        solid_link("hull", Box((0.4, 0.3, 0.2)), mass=5.0, at=(0.02, 0.0, 0.01)),
        solid_link("arm", Box((0.3, 0.05, 0.05)), mass=1.0, at=(0.15, 0.0, 0.0)),
    )
    joint = Joint("elbow", JointType.REVOLUTE, "hull", "arm", frozen(pose((0.2, 0.0, 0.0))), Y_AXIS)
    return RobotModel("flyer", links, (joint,), SOURCE, free_base=True)


def cart(wheel: Shape, *, radius: float, turn: ArrayLike | None = None) -> RobotModel:
    """Make a cart of 12 kg on four driven wheels that turn about y.

    Args:
        wheel: The shape of a wheel.
        radius: Its rolling radius [m].
        turn: Rotation, shape (3, 3), that lays the shape's axis along y; not turned if None.
    """
    links = [solid_link("chassis", Box((0.5, 0.3, 0.1)), mass=10.0)]
    joints = []
    unit = solid_properties(wheel, density=1.0)
    R = np.eye(3) if turn is None else np.asarray(turn)
    moment = frozen(R @ unit.moment @ R.T * (0.5 / unit.mass))
    for i, (x, y) in enumerate(((0.2, 0.2), (0.2, -0.2), (-0.2, 0.2), (-0.2, -0.2))):
        name = f"wheel{i}"
        geometry = Geometry(wheel, frozen(pose((0, 0, 0), R)))
        links.append(Link(name, Inertia(0.5, frozen(np.zeros(3)), moment), (geometry,)))
        joints.append(
            Joint(
                f"axle{i}", JointType.CONTINUOUS, "chassis", name, frozen(pose((x, y, 0))), Y_AXIS
            )
        )
    return RobotModel("cart", tuple(links), tuple(joints), SOURCE, free_base=True)


def four_bar() -> RobotModel:
    """Make a parallelogram of two upright cranks and a coupler, closed by a loop constraint."""
    bar = Box((0.05, 0.05, 0.4))
    links = (
        Link("base"),
        solid_link("crank", bar, mass=1.0, at=(0.0, 0.0, 0.2)),
        solid_link("coupler", Box((0.5, 0.05, 0.05)), mass=1.0, at=(0.25, 0.0, 0.0)),
        solid_link("rocker", bar, mass=1.0, at=(0.0, 0.0, 0.2)),
    )
    joints = (
        Joint("drive", JointType.CONTINUOUS, "base", "crank", axis=Y_AXIS),
        Joint(
            "pin", JointType.CONTINUOUS, "crank", "coupler", frozen(pose((0.0, 0.0, 0.4))), Y_AXIS
        ),
        Joint(
            "rock", JointType.CONTINUOUS, "base", "rocker", frozen(pose((0.5, 0.0, 0.0))), Y_AXIS
        ),
    )
    loop = Loop(
        "closure", LoopKind.POINT, "coupler", "rocker",
        frozen(pose((0.5, 0.0, 0.0))), frozen(pose((0.0, 0.0, 0.4))),
    )  # fmt: skip
    return RobotModel("four-bar", links, joints, SOURCE, (loop,))


def laden_arm(*, touches: bool) -> RobotModel:
    """Make an arm with a flange, a tool and a slide, no two numbers of which are alike."""
    bar = Box((0.1, 0.08, 0.3))
    links = (
        Link("base"),
        solid_link("arm", bar, mass=2.0, at=(0.01, 0.02, 0.15), touches=touches),
        solid_link("flange", Sphere(0.05), mass=0.3, at=(0.0, 0.01, 0.02), touches=touches),
        solid_link("tool", bar, mass=0.7, at=(0.03, 0.0, 0.1), touches=touches),
        solid_link("slide", Box((0.05, 0.06, 0.07)), mass=0.2, at=(0.0, 0.0, 0.02)),
    )

    def frame(x: float, y: float, z: float, angle: float) -> Array:
        return frozen(pose((x, y, z), rotation_about((0.6, 0.0, 0.8), angle)))

    joints = (
        Joint("shoulder", JointType.REVOLUTE, "base", "arm", frame(0.1, -0.2, 0.6, 0.4), Y_AXIS,
              JointLimits(-1.5, 2.0, effort=30.0), damping=0.2, friction=0.4, armature=0.03),
        Joint("mount", JointType.FIXED, "arm", "flange", frame(0.0, 0.05, 0.3, -0.7)),
        Joint("wrist", JointType.CONTINUOUS, "flange", "tool", frame(0.02, 0.0, 0.05, 1.1),
              frozen((0.8, 0.0, 0.6)), JointLimits(effort=12.0), damping=0.1, armature=0.01),
        Joint("extend", JointType.PRISMATIC, "tool", "slide", frame(0.0, 0.03, 0.2, -0.2), Z_AXIS,
              JointLimits(-0.1, 0.15, effort=50.0), damping=3.0, friction=0.6),
    )  # fmt: skip
    return RobotModel("laden arm", links, joints, SOURCE)


FOOT_RADIUS = 0.02
"""Radius of the feet of `quadruped` [m]."""


def quadruped() -> RobotModel:
    """Make a robot of 15 kg on four legs, each with a hip about x and a hip and knee about y.

    The feet are balls at the ends of the shanks "shank0" to "shank3".
    """
    links = [solid_link("trunk", Box((0.4, 0.2, 0.1)), mass=8.0)]
    joints = []
    shin = Inertia(0.2, frozen([0, 0, -0.1]), frozen(np.diag([7e-4, 7e-4, 2e-5])))
    foot = Geometry(Sphere(FOOT_RADIUS), frozen(pose((0.0, 0.0, -0.2))))
    for i, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
        links += [
            solid_link(f"hip{i}", Box((0.06, 0.06, 0.06)), mass=0.6),
            solid_link(f"thigh{i}", Box((0.03, 0.03, 0.2)), mass=1.0, at=(0.0, 0.0, -0.1)),
            Link(f"shank{i}", shin, (foot,)),
        ]
        out = frozen(pose((0.0, 0.8 * y, 0.0)))
        joints += [
            Joint(f"spread{i}", JointType.REVOLUTE, "trunk", f"hip{i}",
                  frozen(pose((x, y, 0.0))), X_AXIS),
            Joint(f"swing{i}", JointType.REVOLUTE, f"hip{i}", f"thigh{i}", out, Y_AXIS),
            Joint(f"knee{i}", JointType.REVOLUTE, f"thigh{i}", f"shank{i}",
                  frozen(pose((0.0, 0.0, -0.2))), Y_AXIS),
        ]  # fmt: skip
    return RobotModel("quadruped", tuple(links), tuple(joints), SOURCE, free_base=True)
