"""`kinetarium inspect`: check a robot file and show its contents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.robot_flags import RobotFlags

if TYPE_CHECKING:
    from kinetarium.model.robot import RobotModel


@dataclass(frozen=True, kw_only=True)
class Config(RobotFlags):
    """The robot to inspect."""


def run(config: Config, invocation: Invocation) -> None:
    """Load the robot and show its kinematic tree, its moving joints and its repairs."""
    from kinetarium.cli.core.robot_flags import robot_payload
    from kinetarium.figure.robot_page import joint_tables, repair_table
    from kinetarium.storage.serialization import to_builtins

    model = config.load()
    console = invocation.console
    console.line(_headline(model))
    console.line()
    console.tree(_tree(model))
    for table in (*joint_tables(model), repair_table(model)):
        if table.rows:
            console.line()
            console.table(table)
    console.result(
        {"ok": True, "robot": robot_payload(model), "repairs": to_builtins(model.repairs)}
    )


def _headline(model: "RobotModel") -> str:
    from kinetarium.figure.text import cell_text

    counts = [
        f"{len(model.links)} links",
        f"{len(model.joints)} joints ({len(model.moving_joints)} moving)",
        *([f"{len(model.loops)} loops"] if model.loops else []),
        f"{cell_text(model.mass)} kg",
        "free base" if model.free_base else "fixed base",
        f"{len(model.repairs)} repaired" if model.repairs else "nothing repaired",
    ]
    return f"{model.name}: {', '.join(counts)}"


def _tree(model: "RobotModel") -> list[tuple[int, str]]:
    """Return depth and text of every link; the model's order is depth first already."""
    from kinetarium.figure.text import cell_text

    depth = {model.root: 0}
    nodes: list[tuple[int, str]] = []
    for link in model.links:
        joint = model.parent_joint.get(link.name)
        if joint:
            depth[link.name] = depth[joint.parent] + 1
        mass = f"{cell_text(link.inertia.mass)} kg" if link.inertia else "massless"
        by = f"  by {joint.name}, {joint.type}" if joint else ""
        nodes.append((depth[link.name], f"{link.name}  ({mass}){by}"))
    return nodes
