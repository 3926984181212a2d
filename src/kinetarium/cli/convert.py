"""`kinetarium convert`: write a robot as URDF or MJCF."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from kinetarium.cli.commands import Invocation
from kinetarium.cli.robot_flags import RobotFlags
from kinetarium.errors import OutputError

if TYPE_CHECKING:
    from kinetarium.model.robot import RobotModel


class Format(StrEnum):
    """The formats that can be written."""

    URDF = "urdf"
    MJCF = "mjcf"


@dataclass(frozen=True, kw_only=True)
class Config(RobotFlags):
    """Which robot to write, and where.

    Attributes:
        to: The format to write.
        out: The file to write; meshes go into a folder beside it.
        force: Replace what is there.
    """

    to: Format
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    force: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False


def run(config: Config, invocation: Invocation) -> None:
    """Load the robot and write it: the meshes first, the file that names them last."""
    from kinetarium.cli.robot_payload import repairs_payload
    from kinetarium.recording.atomic import check_writable, write_atomic, write_folder_atomic

    check_writable(config.out)
    _refuse_existing(config.out, force=config.force)
    folder = config.out.with_name(f"{config.out.stem}.meshes")
    model = config.load()
    text, meshes = _write(model, config.to, mesh_folder=folder.name)
    if meshes:
        _refuse_existing(folder, force=config.force)
        write_folder_atomic(folder, meshes)
    write_atomic(config.out, text.encode())

    console = invocation.console
    for repair in model.repairs:
        console.line(f"repaired {repair.where}: {repair.message}")
    beside = f" and {len(meshes)} meshes in {folder}" if meshes else ""
    console.line(f"{model.name} written to {config.out}{beside}")
    console.result(
        {
            "ok": True,
            "robot": model.name,
            "format": config.to,
            "out": str(config.out),
            "meshes": [str(folder / name) for name in meshes],
            "repairs": repairs_payload(model),
        }
    )


def _refuse_existing(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise OutputError(f"{str(path)!r} exists already; --force replaces it")


def _write(model: "RobotModel", to: Format, *, mesh_folder: str) -> tuple[str, dict[str, bytes]]:
    match to:
        case Format.URDF:
            from kinetarium.model.urdf import write_urdf

            return write_urdf(model, mesh_folder=mesh_folder)
        case Format.MJCF:
            from kinetarium.model.mjcf import write_mjcf

            return write_mjcf(model, mesh_folder=mesh_folder)
