"""Tables of a robot: its moving joints, and what the gate repaired."""

from kinetarium.figure.cell import Cell, cell_text
from kinetarium.figure.table import Column, Table
from kinetarium.model.robot import Joint, JointType, RobotModel

_UNITS = {
    JointType.FIXED: ("", "", ""),
    JointType.REVOLUTE: ("rad", "rad/s", "N m"),
    JointType.CONTINUOUS: ("rad", "rad/s", "N m"),
    JointType.PRISMATIC: ("m", "m/s", "N"),
}


def joint_units(joint: Joint) -> tuple[str, str, str]:
    """Give the units of a joint's position, speed and effort; empty for one that is fixed."""
    return _UNITS[joint.type]


def joint_table(model: RobotModel) -> Table:
    """List the moving joints with their limits, each in the units that its row names."""
    columns = ("joint", "type", "lower", "upper", "speed", "effort", "units")
    rows: list[tuple[Cell, ...]] = [
        (
            joint.name,
            str(joint.type),
            joint.limits.lower,
            joint.limits.upper,
            joint.limits.velocity,
            joint.limits.effort,
            ", ".join(joint_units(joint)),
        )
        for joint in model.moving_joints
    ]
    if any(joint.mimic for joint in model.moving_joints):
        columns = (*columns, "follows")
        rows = [
            (*row, _coupling(joint)) for row, joint in zip(rows, model.moving_joints, strict=True)
        ]
    return Table("Moving joints", tuple(Column(name) for name in columns), tuple(rows))


def repair_table(model: RobotModel) -> Table:
    """List what the gate changed or left out."""
    return Table(
        "Repairs",
        (Column("line"), Column("where"), Column("what was changed"), Column("code")),
        tuple(
            (repair.line, repair.where, repair.message, str(repair.code))
            for repair in model.repairs
        ),
    )


def _coupling(joint: Joint) -> str:
    if joint.mimic is None:
        return ""
    offset = f" + {cell_text(joint.mimic.offset)}" if joint.mimic.offset else ""
    return f"{cell_text(joint.mimic.multiplier)} × {joint.mimic.joint}{offset}"
