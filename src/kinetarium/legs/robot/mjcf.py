"""A machine as a complete MJCF file for MuJoCo: loops, drives, ground and a standing keyframe."""

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from kinetarium.legs.mechanism.machine import Machine
from kinetarium.legs.robot.quadruped import (
    FOOT_RADIUS,
    MASS,
    drive_names,
    joint_positions,
    quadruped_model,
    rest_joints,
)
from kinetarium.model.mjcf.writer import write_mjcf

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
