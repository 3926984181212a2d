"""`kinetarium convert`: convert a robot to URDF or MJCF."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from kinetarium.cli.core.arguments import UsageError
from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.robot_flags import RobotFlags
from kinetarium.errors import OutputError

if TYPE_CHECKING:
    from kinetarium.model.robot import RobotModel


class Format(StrEnum):
    """The output formats."""

    URDF = "urdf"
    MJCF = "mjcf"


@dataclass(frozen=True, kw_only=True)
class Config(RobotFlags):
    """The robot and the output file.

    Besides robots this takes walking machines: ttt1, ttt2, ttr, or a machine file (.json).

    Attributes:
        to: Output format.
        out: Output file; meshes are written to a folder beside it.
    """

    to: Format
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]


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
        model = config.load()
        name, repairs = model.name, to_builtins(model.repairs)
        text, meshes = _write(model, config.to, mesh_folder=folder.name)
        remarks = _remarks(model, config.to)
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
    """Return a walking machine as MJCF; empty if the robot is not one.

    Raises:
        KinetariumError: If its file is not a machine, or it is to be URDF.
    """
    from kinetarium.legs import Machine, load_machine
    from kinetarium.legs.mechanism.pantograph import LegKind
    from kinetarium.legs.robot.mjcf import quadruped_mjcf

    path = Path(config.robot)
    if config.robot in [kind.value for kind in LegKind] and not path.exists():
        machine = Machine(kind=LegKind(config.robot))
    elif path.suffix == ".json":
        machine = load_machine(path)
    else:
        return ""
    if config.to is not Format.MJCF:
        raise UsageError("a walking machine has closed loops, which URDF cannot hold: --to mjcf")
    return quadruped_mjcf(machine)


def _remarks(model: "RobotModel", to: Format) -> list[str]:
    """Return what other readers of the file ignore."""
    armed = [joint.name for joint in model.moving_joints if joint.armature]
    if to is not Format.URDF or not armed:
        return []
    return [
        f"the armature of {len(armed)} joints ({armed[0]} ...) is an attribute of <dynamics> that"
        " Kinetarium reads and other URDF readers, Pinocchio's and MuJoCo's among them, ignore;"
        " --to mjcf keeps it"
    ]


def _refuse_existing(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise OutputError(f"{str(path)!r} already exists; --force overwrites it")


def _write(model: "RobotModel", to: Format, *, mesh_folder: str) -> tuple[str, dict[str, bytes]]:
    match to:
        case Format.URDF:
            from kinetarium.model.urdf import write_urdf

            return write_urdf(model, mesh_folder=mesh_folder)
        case Format.MJCF:
            from kinetarium.model.mjcf import write_mjcf

            return write_mjcf(model, mesh_folder=mesh_folder)
