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


def joint_tables(model: RobotModel) -> tuple[Table, ...]:
    """List the moving joints with their limits: those that turn, and those that slide."""
    turning = [joint for joint in model.moving_joints if joint.type is not JointType.PRISMATIC]
    sliding = [joint for joint in model.moving_joints if joint.type is JointType.PRISMATIC]
    return tuple(
        _joint_table(title, joints)
        for title, joints in (("Turning joints", turning), ("Sliding joints", sliding))
        if joints
    )


def _joint_table(title: str, joints: list[Joint]) -> Table:
    position, speed, effort = joint_units(joints[0])
    columns: tuple[Column, ...] = (
        Column("joint"),
        Column("lower", position),
        Column("upper", position),
        Column("speed", speed),
        Column("effort", effort),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            joint.name,
            joint.limits.lower,
            joint.limits.upper,
            joint.limits.velocity,
            joint.limits.effort,
        )
        for joint in joints
    ]
    if any(joint.mimic for joint in joints):
        columns = (*columns, Column("follows"))
        rows = [(*row, _coupling(joint)) for row, joint in zip(rows, joints, strict=True)]
    return Table(title, columns, tuple(rows))


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
    ratio = f"{cell_text(joint.mimic.multiplier)} * " if joint.mimic.multiplier != 1.0 else ""
    return f"{ratio}{joint.mimic.joint}{offset}"
