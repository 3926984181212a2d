"""A robot as data for JSON."""

from typing import Any

from kinetarium.figure.robot_tables import joint_units
from kinetarium.model.robot import Joint, Link, RobotModel


def robot_payload(model: RobotModel) -> dict[str, Any]:
    """Give what a program may ask of a robot; infinite limits become null in JSON."""
    return {
        "name": model.name,
        "links": len(model.links),
        "joints": len(model.joints),
        "moving_joints": len(model.moving_joints),
        "loops": len(model.loops),
        "mass_kg": model.mass,
        "free_base": model.free_base,
        "root": model.root,
        "link_names": [link.name for link in model.links],
        "joint_names": [joint.name for joint in model.joints],
        "link_details": [_link(link) for link in model.links],
        "joint_details": [_joint(joint) for joint in model.joints],
        "source": {
            "file": model.source.file,
            "format": model.source.format,
            "sha256": model.source.sha256,
        },
    }


def repairs_payload(model: RobotModel) -> list[dict[str, Any]]:
    """Give what the gate changed."""
    return [
        {
            "code": str(repair.code),
            "where": repair.where,
            "message": repair.message,
            "line": repair.line,
        }
        for repair in model.repairs
    ]


def _link(link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "mass_kg": link.inertia.mass if link.inertia else 0.0,
        "collisions": len(link.collisions),
        "visuals": len(link.visuals),
    }


def _joint(joint: Joint) -> dict[str, Any]:
    mimic = joint.mimic
    return {
        "name": joint.name,
        "type": str(joint.type),
        "parent": joint.parent,
        "child": joint.child,
        "axis": joint.axis.tolist(),
        "lower": joint.limits.lower,
        "upper": joint.limits.upper,
        "velocity": joint.limits.velocity,
        "effort": joint.limits.effort,
        "unit": joint_units(joint)[0],
        "damping": joint.damping,
        "friction": joint.friction,
        "armature": joint.armature,
        "mimic": mimic
        and {"joint": mimic.joint, "multiplier": mimic.multiplier, "offset": mimic.offset},
    }
