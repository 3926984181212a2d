"""SAPIEN, which brings PhysX 5, loaded without its messages about graphics."""

import copy
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.physx.options import PhysxOptions, Solver
from kinetarium.engines.protocol import RobotAsRead
from kinetarium.errors import KinetariumError, one_line
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    RobotModel,
    Source,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    quaternion_from_rotation,
    rotation_from_quaternion,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    sapien: Any = import_module("sapien")

sapien.set_log_level("off")  # what it refuses raises an error as well

physx: Any = sapien.physx
Entity: Any = sapien.pysapien.Entity
Pose: Any = sapien.pysapien.Pose
Scene: Any = sapien.pysapien.Scene


def physx_pose(X: Array) -> Any:
    """Return a homogeneous transform, shape (4, 4), as the library's pose."""
    return Pose(X[:3, 3], quaternion_from_rotation(X[:3, :3]))


class World:
    """Entities in a PhysX scene.

    PhysX remembers contacts and friction from step to step, and hands out no
    part of that memory. Entities that move to a new scene are without it, so
    that two runs from there on are equal bit by bit.
    """

    def __init__(self, entities: Sequence[Any], *, setup: Setup[PhysxOptions]) -> None:
        """Put entities into their first scene, in the order they are given."""
        self._entities, self._gravity, self._options = entities, setup.scene.gravity, setup.options
        self.timestep = setup.timestep
        self.renew()

    def renew(self) -> None:
        """Move to a new scene and leave all memory of the old one behind."""
        self.close()
        with _scene_settings(self._gravity, self._options):
            self.system = physx.PhysxCpuSystem()
        self.system.timestep = self.timestep
        self._scene = Scene([self.system])
        for entity in self._entities:
            self._scene.add_entity(entity)

    def close(self) -> None:
        """Take the entities out of the scene."""
        for entity in self._entities:
            if entity.scene is not None:
                entity.remove_from_scene()


@contextmanager
def _scene_settings(gravity: Array, options: PhysxOptions) -> Iterator[None]:
    """Let new scenes have these settings, which SAPIEN keeps for the whole process, for a while."""
    before = copy.copy(physx.get_scene_config())
    physx.set_scene_config(
        gravity=gravity.tolist(),
        bounce_threshold=options.bounce_threshold,
        enable_pcm=options.persistent_contacts,
        enable_tgs=options.solver is Solver.TGS,
        enable_friction_every_iteration=options.friction_every_iteration,
    )
    try:
        yield
    finally:
        physx.set_scene_config(before)


def matrix(X: Any) -> Array:
    """Return a pose as SAPIEN has it as a homogeneous transform, shape (4, 4)."""
    return pose(X.p, rotation_from_quaternion(X.q))


_TYPES = {
    "fixed": JointType.FIXED,
    "revolute": JointType.CONTINUOUS,
    "revolute_unwrapped": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
}
_FRICTION = "joint friction of the file is not set: PhysX's coefficient of 0.05 [-] stays"


def read_robot(file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
    """Read the robot that SAPIEN's loader makes of a URDF file.

    What is only seen is left out, since SAPIEN needs a graphics card for it; couplings are counted.

    Raises:
        KinetariumError: If SAPIEN refuses the file.
    """
    if file.suffix.lower() != ".urdf":
        raise KinetariumError("SAPIEN's loader reads URDF alone")
    loaders = import_module("sapien.wrapper.urdf_loader")

    class Loader(loaders.URDFLoader):  # type: ignore[misc, name-defined]
        def _build_link(self, link: Any, builder: Any) -> None:
            link.visuals = []
            super()._build_link(link, builder)

    loader = Loader()
    loader.set_scene(sapien.Scene([physx.PhysxCpuSystem()]))
    try:
        builder = loader.load_file_as_articulation_builder(
            str(file), package_dir=str(packages[0]) if packages else None
        )
        couplings = len(builder.mimic_joint_records)
        articulation = builder.build()
    except Exception as error:  # whatever its parser, written in Python, stumbles over
        reason = str(error) or type(error).__name__
        raise KinetariumError(one_line(reason)) from None
    links = articulation.links
    model = RobotModel(
        file.stem,
        tuple(Link(link.name, _inertia(link)) for link in links),
        tuple(_joint(link) for link in links if link.joint.parent_link is not None),
        source=Source(str(file), "urdf", ""),
    )
    return RobotAsRead(model, couplings=couplings, remarks=(_FRICTION,))


def _inertia(link: Any) -> Inertia | None:
    if not link.mass:
        return None
    X_LI = matrix(link.cmass_local_pose)
    R = X_LI[:3, :3]
    return Inertia(float(link.mass), frozen(X_LI[:3, 3]), frozen(R * link.inertia @ R.T))


def _joint(link: Any) -> Joint:
    """Read the joint above a link; its axis is x in the joint's own frame."""
    joint = link.joint
    X_CJ = matrix(joint.pose_in_child)
    X_PJ = frozen(matrix(joint.pose_in_parent) @ inverse_pose(X_CJ))
    kind = _TYPES[str(joint.type)]
    ends = (joint.parent_link.name, link.name)
    if kind is JointType.FIXED:
        return Joint(joint.name, kind, *ends, X_PJ=X_PJ)
    lower, upper = (float(limit) for limit in joint.limits[0])
    return Joint(
        joint.name,
        kind,
        *ends,
        X_PJ=X_PJ,
        axis=frozen(X_CJ[:3, 0]),
        limits=JointLimits(lower, upper, effort=inf),
        damping=float(joint.damping),
        armature=float(joint.armature[0]),
    )
