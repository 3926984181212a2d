"""A machine as a robot model with closed loops, in SI units, and as a complete MJCF file.

Each leg is a tree with two loops: the crank is pinned to the thigh at d, the parallel bar to
the shank at g, and both to the horizontal slider at b.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, pi
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.legs.mechanism.machine import Machine
from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.model.mesh.solids import solid_properties
from kinetarium.model.mjcf.writer import write_mjcf
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
    RobotModel,
    Shape,
    Source,
    Sphere,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

X_AXIS, Y_AXIS, Z_AXIS = frozen([1, 0, 0]), frozen([0, 1, 0]), frozen([0, 0, 1])

MASS = 6.08
"""Mass of the whole robot unless another is given [kg]."""
FOOT_RADIUS = 0.3
"""Radius of the ball at the end of a shank [unit]; small, since a rolling foot creeps."""
ARMATURE = 5.0
"""Inertia of a slide's drive, seen at the slide [kg]; less makes stiff drives unstable."""
_DAMPING = 0.002
"""Of the passive hinges [N m s/rad]."""
MASS_SHARES = {
    "carriage": 0.006,
    "vertical": 0.006,
    "hinge": 0.002,
    "thigh": 0.0145,
    "shank": 0.0135,
    "crank": 0.003,
    "bar": 0.0065,
    "slider": 0.008,
}
"""Fraction of the whole mass of each link of a leg; the body has the rest."""
_COLOR = (0.55, 0.6, 0.68, 1.0)


def quadruped_model(
    machine: Machine, *, unit_m: float = 0.01, mass: float = MASS, armature: float = ARMATURE
) -> RobotModel:
    """Return the whole robot with a free base; its feet are small balls.

    Joint values are those of a leg in SI: "leg1_x", "leg1_y" or "leg1_turn", and "leg1_z" are
    driven; "leg1_alpha3" (only a TTT2 leg has it), "leg1_alpha1", "leg1_knee", "leg1_pin_d" and
    "leg1_pin_g" are passive, and at zero all bars hang down.

    Args:
        unit_m: Its unit of length [m].
        mass: Its whole mass [kg].
        armature: Inertia of a slide's drive, seen at the slide [kg].
    """
    links: list[Link] = []
    joints: list[Joint] = []
    loops: list[Loop] = []
    leg_mass = 0.0
    for number, hip in enumerate(machine.hips * unit_m, 1):
        leg = _Leg(machine, f"leg{number}_", hip, unit_m, mass, armature)
        parts = list(leg.parts())
        joints += [joint for joint, _ in parts]
        links += [link for _, link in parts]
        loops += leg.loops()
        leg_mass += sum(link.inertia.mass for _, link in parts if link.inertia)
    a, b = machine.body_length * unit_m, machine.body_width * unit_m
    body = _solid("body", Box((a, 0.8 * b, 4 * unit_m)), mass=mass - leg_mass, collides=True)
    source = Source(f"quadruped {machine.kind}", "python", "")
    return RobotModel(
        f"quadruped-{machine.kind}", (body, *links), tuple(joints), source, tuple(loops), True
    )


def joint_positions(machine: Machine, joints: Array, *, unit_m: float = 0.01) -> dict[str, float]:
    """Return the positions of all joints of the model for the joint values of the four legs.

    Args:
        joints: Joint values [unit, rad], shape (4, 3).
        unit_m: Its unit of length [m].
    """
    alpha1, alpha2, alpha3 = machine.leg.passive_angles(joints).T
    positions: dict[str, float] = {}
    for i in range(4):
        x, c, v = joints[i].tolist()
        own = {
            "x": x * unit_m,
            "z": v * unit_m,
            "alpha1": alpha1[i],
            "knee": alpha2[i] - alpha1[i],
            "pin_d": alpha2[i] - alpha1[i],
            "pin_g": alpha1[i] - alpha2[i],
        }
        own |= {"turn": c} if machine.kind is LegKind.TTR else {"y": c * unit_m}
        if machine.kind is LegKind.TTT2:
            own["alpha3"] = alpha3[i]
        positions |= {f"leg{i + 1}_{name}": float(value) for name, value in own.items()}
    return positions


def drive_names(machine: Machine) -> tuple[str, ...]:
    """Return the driven joints, in the order of joint values along the legs."""
    lateral = "turn" if machine.kind is LegKind.TTR else "y"
    return tuple(f"leg{leg}_{name}" for leg in (1, 2, 3, 4) for name in ("x", lateral, "z"))


def rest_joints(machine: Machine) -> Array:
    """Return the joint values of a machine at rest [unit, rad], shape (4, 3)."""
    feet = machine.neutral_feet - machine.hips
    return np.concatenate(
        [
            machine.leg.follow(foot[np.newaxis], azimuth=azimuth)
            for foot, azimuth in zip(feet, machine.azimuths, strict=True)
        ]
    )


def mass_center(
    machine: Machine, *, unit_m: float = 0.01, mass: float = MASS
) -> tuple[float, float]:
    """Return the true centre of mass of a machine at rest, forward and to the left [unit].

    Args:
        unit_m: Its unit of length [m].
        mass: Its whole mass [kg].
    """
    model = quadruped_model(machine, unit_m=unit_m, mass=mass)
    positions = joint_positions(machine, rest_joints(machine), unit_m=unit_m)
    poses = link_poses(model, [positions[joint.name] for joint in model.moving_joints])
    center = np.zeros(3)
    for link, X in zip(model.links, poses, strict=True):
        if link.inertia:
            center += link.inertia.mass * (X[:3, :3] @ link.inertia.center + X[:3, 3])
    x, y, _ = (center / (model.mass * unit_m)).round(12).tolist()
    return x, y


@dataclass(frozen=True, slots=True, eq=False)
class _Leg:
    machine: Machine
    prefix: str
    hip: Array
    unit: float
    mass: float
    armature: float

    def parts(self) -> Iterator[tuple[Joint, Link]]:
        """Yield each joint with the link it moves, depth first."""
        m, u = self.machine, self.unit
        K, l1, l2 = m.gain, m.l1 * u, m.l2 * u
        rail = (0.0, 0.0, m.rail_height * u)
        base, at = "body", self.hip
        if m.kind is LegKind.TTT1:
            yield self._slide("y", base, "carriage", at=at, axis=Y_AXIS)
            base, at = self.prefix + "carriage", np.zeros(3)
        elif m.kind is LegKind.TTR:
            yield self._hinge(
                "turn",
                base,
                "carriage",
                at=at,
                axis=Z_AXIS,
                armature=self.armature * (l1 + l2) ** 2,
            )
            base, at = self.prefix + "carriage", np.zeros(3)
        yield self._slide("z", base, "vertical", at=at, axis=Z_AXIS)
        top = self.prefix + "vertical"
        if m.kind is LegKind.TTT2:
            yield self._hinge("alpha3", top, "hinge", axis=X_AXIS)
            top = self.prefix + "hinge"
        yield self._hinge("alpha1", top, "thigh", bar=-K * l1)
        thigh, shank = self.prefix + "thigh", self.prefix + "shank"
        yield self._hinge("knee", thigh, "shank", at=(0, 0, -K * l1), bar=K * l2, foot=True)
        yield self._hinge("pin_g", shank, "bar", at=(0, 0, l2), bar=(K - 1) * l1)
        yield self._hinge("pin_d", thigh, "crank", at=(0, 0, -l1), bar=l2)
        if m.kind is LegKind.TTT2:
            yield self._slide("x", base, "carriage", at=np.add(at, rail), axis=X_AXIS)
            yield self._slide("y", self.prefix + "carriage", "slider", axis=Y_AXIS)
        else:
            yield self._slide("x", base, "slider", at=np.add(at, rail), axis=X_AXIS)

    def loops(self) -> tuple[Loop, Loop]:
        """Return the two loops, which close at the horizontal slider."""
        m, u = self.machine, self.unit
        crank, bar = (
            Loop(
                f"{self.prefix}{name}_loop",
                LoopKind.POINT,
                self.prefix + name,
                self.prefix + "slider",
                frozen(pose((0.0, 0.0, length * u))),
            )
            for name, length in (("crank", m.l2), ("bar", (m.gain - 1) * m.l1))
        )
        return crank, bar

    def _slide(
        self, name: str, parent: str, child: str, *, at: ArrayLike = (0, 0, 0), axis: Array
    ) -> tuple[Joint, Link]:
        side = 1.6 * self.unit
        link = _solid(self.prefix + child, Box((side, side, side)), mass=self._mass(child))
        joint = Joint(
            self.prefix + name,
            JointType.PRISMATIC,
            parent,
            link.name,
            frozen(pose(at)),
            axis,
            armature=self.armature,
        )
        return joint, link

    def _hinge(
        self,
        name: str,
        parent: str,
        child: str,
        *,
        at: ArrayLike = (0, 0, 0),
        axis: Array = Y_AXIS,
        bar: float = 0.0,
        foot: bool = False,
        armature: float = 0.0,
    ) -> tuple[Joint, Link]:
        """Make a hinge with a bar of a signed length along z, or a cube, on it."""
        width = 1.2 * self.unit
        shape = Box((width, width, abs(bar) or width))
        link = _solid(self.prefix + child, shape, mass=self._mass(child), at=(0.0, 0.0, bar / 2))
        if foot:
            ball = Geometry(Sphere(FOOT_RADIUS * self.unit), frozen(pose((0.0, 0.0, bar))))
            link = Link(link.name, link.inertia, (ball,), (*link.visuals, ball))
        joint = Joint(
            self.prefix + name,
            JointType.REVOLUTE,
            parent,
            link.name,
            frozen(pose(at)),
            axis,
            JointLimits(-inf, inf),
            damping=_DAMPING,
            armature=armature,
        )
        return joint, link

    def _mass(self, part: str) -> float:
        return MASS_SHARES[part] * self.mass


def _solid(
    name: str,
    shape: Shape,
    *,
    mass: float,
    at: ArrayLike = (0.0, 0.0, 0.0),
    collides: bool = False,
) -> Link:
    unit = solid_properties(shape, density=1.0)
    inertia = Inertia(mass, frozen(at), frozen(unit.moment * (mass / unit.mass)))
    geometry = Geometry(shape, frozen(pose(at)), color=_COLOR)
    return Link(name, inertia, (geometry,) if collides else (), (geometry,))


STIFFNESS = 4e5
"""Of a slide's drive [N/m]."""
DAMPING = 3e3
"""Of a slide's drive [N s/m]."""
_STIFF_LOOP = 'solref="0.002 1" solimp="0.9999 0.9999 0.001 0.5 2"'
"""With MuJoCo's defaults the loops yield by centimetres, and the robot sinks to the ground."""


def drive_gains(machine: Machine, *, unit_m: float) -> dict[str, tuple[float, float]]:
    """Return stiffness and damping of each driven joint [N/m, N s/m; N m/rad, N m s/rad].

    A TTR leg's turning is as stiff as a slide at the end of the stretched pantograph.
    """
    arm = ((machine.l1 + machine.l2) * unit_m) ** 2
    gains = {}
    for name in drive_names(machine):
        share = arm if name.endswith("turn") else 1.0
        gains[name] = (STIFFNESS * share, DAMPING * share)
    return gains


@dataclass(frozen=True, slots=True)
class MotorDrive:
    """A slide's drive: a brushless motor on a ball screw.

    The defaults are a maxon EC 45 flat, 70 W, 24 V (data sheet of part 397172)
    on a screw of 10 mm lead; the efficiency is usual for rolled ball screws. The turning drive of
    a TTR leg is one that acts at the end of the stretched pantograph.

    Attributes:
        nominal_torque: Of the motor, for any time [N m].
        overload: Greatest torque relative to the nominal one, for seconds [-].
        torque_constant: [N m/A].
        resistance: Of the winding [ohm].
        rotor_inertia: [kg m^2].
        no_load_speed: [rad/s].
        lead: Travel of the slide in a turn of the motor [m].
        efficiency: Of the screw [-].
    """

    nominal_torque: float = 0.128
    overload: float = 3.0
    torque_constant: float = 0.0369
    resistance: float = 0.608
    rotor_inertia: float = 181e-7
    no_load_speed: float = 6110 * 2 * pi / 60
    lead: float = 0.01
    efficiency: float = 0.9

    @property
    def ratio(self) -> float:
        """Angle of the motor over travel of the slide [rad/m]."""
        return 2 * pi / self.lead

    @property
    def armature(self) -> float:
        """Inertia of the rotor, seen at the slide [kg]."""
        return self.rotor_inertia * self.ratio**2

    @property
    def nominal_force(self) -> float:
        """Force for any time [N]."""
        return self.nominal_torque * self.ratio * self.efficiency

    @property
    def greatest_force(self) -> float:
        """Force for seconds [N]."""
        return self.overload * self.nominal_force

    @property
    def greatest_speed(self) -> float:
        """Speed of the slide without load [m/s]."""
        return self.no_load_speed / self.ratio

    def power(self, force: Array, speed: Array) -> Array:
        """Return the electrical power, that of braking not being recovered [W].

        Args:
            force: Of the slide [N].
            speed: Of the slide [m/s].
        """
        driving = force * speed > 0
        torque = np.where(driving, force / self.efficiency, force * self.efficiency) / self.ratio
        copper = self.resistance * (torque / self.torque_constant) ** 2
        return np.maximum(torque * speed * self.ratio + copper, 0.0)


def quadruped_mjcf(machine: Machine, *, unit_m: float = 0.01, mass: float = MASS) -> str:
    """Write a machine as MJCF.

    Args:
        unit_m: Its unit of length [m].
        mass: Its whole mass [kg].
    """
    model = quadruped_model(machine, unit_m=unit_m, mass=mass)
    text, _ = write_mjcf(model, mesh_folder="meshes")
    positions = joint_positions(machine, rest_joints(machine), unit_m=unit_m)
    height = (machine.height + FOOT_RADIUS) * unit_m
    pose = [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]
    pose += [positions[joint.name] for joint in model.moving_joints]
    drives = [
        f'    <position joint={quoteattr(name)} kp="{kp:g}" kv="{kv:g}"/>'
        for name, (kp, kv) in drive_gains(machine, unit_m=unit_m).items()
    ]
    extra = [
        '  <option timestep="0.001" integrator="implicitfast" cone="elliptic"/>',
        "  <actuator>",
        *drives,
        "  </actuator>",
        "  <keyframe>",
        f'    <key name="stand" qpos="{_numbers(pose)}"'
        f' ctrl="{_numbers(positions[name] for name in drive_names(machine))}"/>',
        "  </keyframe>",
    ]
    ground = '    <geom name="ground" type="plane" size="0 0 1" friction="0.8 0.005 0.0001"/>'
    text = text.replace("<connect ", f"<connect {_STIFF_LOOP} ")
    head, tail = text.split("  <worldbody>\n", 1)
    return f"{head}  <worldbody>\n{ground}\n{tail}".replace(
        "</mujoco>\n", "\n".join(extra) + "\n</mujoco>\n"
    )


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
