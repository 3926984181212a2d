"""`kinetarium roles`: show what the joints and links of a robot are for, and write it to edit."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.robot_flags import RobotFlags
from kinetarium.errors import OutputError
from kinetarium.roles.roles import BaseKind

if TYPE_CHECKING:
    from kinetarium.roles.roles import Roles


@dataclass(frozen=True, kw_only=True)
class Config(RobotFlags):
    """The robot, files that describe it, and what to write.

    Attributes:
        roles: Roles file; by default NAME.roles.toml beside the robot file.
        srdf: SRDF file; by default NAME.srdf beside the robot file or in ../srdf.
        tool: Link of the tool.
        base: How the root moves, instead of what is found.
        write: Write the roles as a commented TOML file to edit.
        out: Write DIR/report.html, a page with a picture.
    """

    roles: Annotated[str, tyro.conf.arg(metavar="FILE")] = ""
    srdf: Annotated[str, tyro.conf.arg(metavar="FILE")] = ""
    tool: Annotated[str, tyro.conf.arg(metavar="LINK")] = ""
    base: BaseKind | None = None
    write: Annotated[str, tyro.conf.arg(metavar="FILE")] = ""
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""


def run(config: Config, invocation: Invocation) -> None:
    """Find the roles and show them; write them where requested."""
    from kinetarium.figure.robot_page import roles_page, roles_table
    from kinetarium.report.html.files import check_page, write_page
    from kinetarium.roles.find import find_roles
    from kinetarium.storage.serialization import to_builtins

    if config.write:
        _check_file(Path(config.write), force=invocation.force)
    if config.out:
        check_page(Path(config.out), force=invocation.force)
    model = config.load()
    roles = find_roles(
        model,
        roles=config.roles or None,
        srdf=config.srdf or None,
        tool=config.tool or None,
        base=config.base,
    )
    console = invocation.console
    console.line(f"{roles.robot}: {_counts(roles)}")
    console.line()
    console.table(roles_table(roles))
    for note in roles.notes:
        console.line(f"note: {note}")
    written = {}
    if config.write:
        _write(Path(config.write), roles)
        console.line(f"roles: {config.write}")
        written["written"] = config.write
    if config.out:
        from kinetarium.cli.core.invocation import provenance

        page = roles_page(model, roles, provenance=provenance(invocation.command_line))
        report = write_page(Path(config.out), page, force=invocation.force)
        console.line(f"report: {report}")
        written["report"] = str(report)
    console.result({"ok": True, "roles": to_builtins(roles), **written})


def _counts(roles: "Roles") -> str:
    parts = [f"{roles.base.kind} base"]
    for kind in ("arm", "gripper", "wheel", "leg"):
        count = len(getattr(roles, f"{kind}s"))
        if count:
            parts.append(f"{count} {kind}{'s' if count > 1 else ''}")
    return ", ".join(parts)


def _check_file(path: Path, *, force: bool) -> None:
    from kinetarium.storage.atomic import check_writable

    check_writable(path, through_links=True)
    if path.exists() and not force:
        raise OutputError(f"{str(path)!r} already exists; --overwrite replaces it")


def _write(path: Path, roles: "Roles") -> None:
    from kinetarium.roles.file import roles_toml
    from kinetarium.storage.atomic import write_atomic

    write_atomic(path, roles_toml(roles).encode(), through_links=True)
