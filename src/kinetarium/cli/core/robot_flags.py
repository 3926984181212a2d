"""The flags of commands that take a robot."""

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from kinetarium.model.diagnostics import RobotOptions
from kinetarium.model.robot import Joint, Link, RobotModel
from kinetarium.storage.serialization import to_builtins


@dataclass(frozen=True, kw_only=True)
class ReadingFlags(RobotOptions):
    """How strictly robot files are read.

    Attributes:
        mesh_root: Folder from which meshes and includes may be read; repeatable.
        xacro_arg: Value of a xacro argument; repeatable.
        lenient: Faults of form, and parts that no model has, to let through and list.
    """

    mesh_root: Annotated[
        tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="DIR")
    ] = ()
    xacro_arg: Annotated[
        tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME:=VALUE")
    ] = ()

    def load_robot(self, robot: str) -> RobotModel:
        """Load a robot by its name or file, with all checks of robot files.

        Raises:
            KinetariumError: If it is refused or unknown.
        """
        from kinetarium.model.load import load_robot

        return load_robot(
            robot,
            mesh_roots=self.mesh_root,
            allow=self.allow,
            arguments=self.arguments,
            root=self.root,
        )


@dataclass(frozen=True, kw_only=True)
class RobotFlags(ReadingFlags):
    """A robot and how strictly its file is read.

    Attributes:
        robot: Name of a robot in the catalogue, or a URDF, xacro or MJCF file.
    """

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE|NAME")]

    def load(self) -> RobotModel:
        """Load the robot, with all checks of robot files.

        Raises:
            KinetariumError: If it is refused or unknown.
        """
        return self.load_robot(self.robot)


def robot_payload(model: RobotModel) -> dict[str, Any]:
    """Return a robot as JSON data; infinite limits become null."""
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
        "source": to_builtins(model.source),
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "mass_kg": link.inertia.mass if link.inertia else 0.0,
        "collisions": len(link.collisions),
        "visuals": len(link.visuals),
    }


def _joint(joint: Joint) -> dict[str, Any]:
    # Imported here: most commands with these flags draw no robot.
    from kinetarium.figure.robot_page import joint_units

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
        "stiffness": joint.stiffness,
        "springref": joint.springref,
        "mimic": mimic
        and {"joint": mimic.joint, "multiplier": mimic.multiplier, "offset": mimic.offset},
    }
