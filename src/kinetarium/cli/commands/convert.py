"""`kinetarium convert`: convert a robot to URDF or MJCF."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from kinetarium.cli.core.arguments import UsageError
from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.robot_flags import RobotFlags
from kinetarium.errors import OutputError
from kinetarium.ranges import Range

if TYPE_CHECKING:
    from kinetarium.model.robot import RobotModel


class Format(StrEnum):
    """The output formats."""

    URDF = "urdf"
    MJCF = "mjcf"
    MACHINE = "machine"
    """A walking machine as a commented TOML file to edit."""


class BaseChoice(StrEnum):
    """How the root of the written robot moves."""

    FILE = "file"
    FIXED = "fixed"
    FREE = "free"


class Actuators(StrEnum):
    """The actuators of the written robot."""

    NONE = "none"
    POSITION = "position"
    VELOCITY = "velocity"
    TORQUE = "torque"


@dataclass(frozen=True, kw_only=True)
class Config(RobotFlags):
    """The robot and the output file.

    Besides robots this takes walking machines: ttt1, ttt2, ttr, or a machine file (.json, .toml).

    Attributes:
        to: Output format.
        out: Output file; meshes are written to a folder beside it.
        base: Whether the root is fixed to the world or floats; by default as in the robot file.
        actuators: Actuators of the joints (MJCF).
        stiffness: Gain kp of position actuators [N m/rad or N/m].
        damping: Gain kv of position and velocity actuators [N m s/rad or N s/m].
    """

    to: Format
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    base: BaseChoice = BaseChoice.FILE
    actuators: Actuators = Actuators.NONE
    stiffness: Annotated[float, Range(0, 1e9, unit="N m/rad or N/m")] = 0.0
    damping: Annotated[float, Range(0, 1e9, unit="N m s/rad or N s/m")] = 0.0


def run(config: Config, invocation: Invocation) -> None:
    """Load the robot and write it: the meshes first, the file that names them last."""
    from kinetarium.storage.atomic import check_writable, write_atomic, write_folder_atomic
    from kinetarium.storage.serialization import to_builtins

    check_writable(config.out, through_links=True)
    _refuse_existing(config.out, force=invocation.force)
    folder = config.out.with_name(f"{config.out.stem}.meshes")
    console = invocation.console
    meshes: dict[str, bytes] = {}
    remarks: list[str] = []
    if machine := _machine(config):
        name, text, repairs = config.robot, machine, []
    else:
        _check_gains(config)
        model = config.load()
        if config.base is not BaseChoice.FILE:
            model = replace(model, free_base=config.base is BaseChoice.FREE)
        name, repairs = model.name, to_builtins(model.repairs)
        text, meshes, remarks = _write(model, config, mesh_folder=folder.name)
        for repair in model.repairs:
            console.line(f"repaired {repair.where}: {repair.message}")
    if meshes:
        _refuse_existing(folder, force=invocation.force)
        write_folder_atomic(folder, meshes)
    write_atomic(config.out, text.encode(), through_links=True)

    beside = f" and {len(meshes)} meshes in {folder}" if meshes else ""
    console.line(f"{name} written to {config.out}{beside}")
    for remark in remarks:
        console.line(f"note: {remark}")
    console.result(
        {
            "ok": True,
            "robot": name,
            "format": config.to,
            "out": str(config.out),
            "meshes": [str(folder / name) for name in meshes],
            "repairs": repairs,
            "remarks": remarks,
        }
    )


def _machine(config: Config) -> str:
    """Return a walking machine as MJCF or as a machine file; empty if the robot is not one.

    Raises:
        KinetariumError: If its file is not a machine, or it is to be URDF.
    """
    from kinetarium.legs import Machine, load_machine
    from kinetarium.legs.mechanism.machine import machine_toml
    from kinetarium.legs.mechanism.pantograph import LegKind
    from kinetarium.legs.quadruped import quadruped_mjcf

    path = Path(config.robot)
    if config.robot in [kind.value for kind in LegKind] and not path.exists():
        machine = Machine(kind=LegKind(config.robot))
    elif path.suffix in (".json", ".toml"):
        machine = load_machine(path)
    else:
        return ""
    if config.to is Format.MACHINE:
        return machine_toml(machine)
    if config.to is not Format.MJCF:
        raise UsageError("a walking machine has closed loops, which URDF cannot hold: --to mjcf")
    return quadruped_mjcf(machine)


def _check_gains(config: Config) -> None:
    """Refuse actuators without the gains they need, or that the format cannot hold."""
    if config.actuators is Actuators.NONE:
        return
    if config.to is not Format.MJCF:
        raise UsageError("URDF cannot hold actuators: --to mjcf")
    if config.actuators is Actuators.POSITION and not (config.stiffness and config.damping):
        raise UsageError("--actuators position needs --stiffness and --damping")
    if config.actuators is Actuators.VELOCITY and not config.damping:
        raise UsageError("--actuators velocity needs --damping")


def _refuse_existing(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise OutputError(f"{str(path)!r} already exists; --overwrite replaces it")


def _write(
    model: "RobotModel", config: Config, *, mesh_folder: str
) -> tuple[str, dict[str, bytes], list[str]]:
    """Return the file, its meshes by name, and what to say about it."""
    match config.to:
        case Format.URDF:
            from kinetarium.model.urdf import write_urdf

            return *write_urdf(model, mesh_folder=mesh_folder), _lost_in_urdf(model)
        case Format.MACHINE:
            raise UsageError(f"{model.name} is not a walking machine: --to urdf or mjcf")
        case Format.MJCF:
            return _write_mjcf(model, config, mesh_folder=mesh_folder)


def _write_mjcf(
    model: "RobotModel", config: Config, *, mesh_folder: str
) -> tuple[str, dict[str, bytes], list[str]]:
    from kinetarium.model.mjcf import write_mjcf
    from kinetarium.model.mjcf.writer import ActuatorKind, MjcfExtras, driven_joints
    from kinetarium.roles.find import find_roles
    from kinetarium.roles.roles import BaseKind, RoleSource
    from kinetarium.scene.standing import lowest_point

    roles = find_roles(model)
    asked = config.base is not BaseChoice.FILE or config.actuators is not Actuators.NONE
    home = roles.home if asked and roles.home_source is not RoleSource.GEOMETRY else None
    extras = MjcfExtras(
        actuators=None if config.actuators is Actuators.NONE else ActuatorKind(config.actuators),
        stiffness=config.stiffness,
        damping=config.damping,
        home=home,
        height=-min(lowest_point(model, home), 0.0)
        if home is not None and model.free_base
        else 0.0,
    )
    text, meshes = write_mjcf(model, mesh_folder=mesh_folder, extras=extras)
    remarks = []
    if model.free_base:
        remarks.append("written with a free joint at the root")
    elif roles.base.kind is BaseKind.FREE and config.base is BaseChoice.FILE:
        remarks.append(f"written without a free joint, though roles say {roles.base}: --base free")
    if extras.actuators:
        gains = f"kp {config.stiffness:g}, " if config.actuators is Actuators.POSITION else ""
        gains += f"kv {config.damping:g}" if config.actuators is not Actuators.TORQUE else ""
        count = len(driven_joints(model))
        remarks.append(f"{count} {config.actuators} actuators{f' ({gains})' if gains else ''}")
    else:
        remarks.append("written without actuators: --actuators position, velocity or torque")
    if home is not None:
        remarks.append(f"the keyframe 'home' is that of: {roles.home_source}")
    fast = [joint.name for joint in model.moving_joints if isfinite(joint.limits.velocity)]
    if fast:
        remarks.append(f"MJCF has no speed limits: those of {_some(fast)} are left out")
    return text, meshes, remarks


def _lost_in_urdf(model: "RobotModel") -> list[str]:
    """Return what URDF cannot hold, or what other readers of it ignore."""
    armed = [joint.name for joint in model.moving_joints if joint.armature]
    sprung = [joint.name for joint in model.moving_joints if joint.stiffness]
    lost = []
    if armed:
        lost.append(
            f"the armature of {len(armed)} joints ({armed[0]} ...) is an attribute of <dynamics> "
            "that Kinetarium reads and other URDF readers, Pinocchio's and MuJoCo's among them, "
            "ignore; --to mjcf keeps it"
        )
    if sprung:
        lost.append(f"URDF has no springs: those of {_some(sprung)} are left out; --to mjcf")
    if model.free_base:
        lost.append("the free base is a floating joint, which some readers of URDF ignore")
    if model.declared.driven or model.declared.poses or model.declared.sites:
        lost.append("actuators, keyframes and sites of the robot file are left out")
    return lost


def _some(names: list[str]) -> str:
    return f"{len(names)} joints ({names[0]}{' ...' if len(names) > 1 else ''})"
