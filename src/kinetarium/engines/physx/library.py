"""SAPIEN, which brings PhysX 5, loaded without its messages about graphics."""

import copy
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.physx.options import PhysxOptions, Solver
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, quaternion_from_rotation, rotation_from_quaternion

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
