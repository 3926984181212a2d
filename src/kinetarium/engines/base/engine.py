"""EngineBase: what an engine is, and scenes checked before they are built."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from typing import Any, ClassVar, Generic

import numpy as np

from kinetarium.engines.base.simulation import OptionsT, Setup, SimulationBase
from kinetarium.engines.protocol import (
    Capability,
    CapabilityError,
    EngineInfo,
    FrictionRule,
    Layout,
    Options,
    Precision,
    Simulation,
    State,
)
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import MeshData, MeshFile
from kinetarium.scene import Base, Motion, PlacedRobot, Scene, SceneError, rigid_tree
from kinetarium.spatial.rotation import quaternion_from_rotation

ALLOW_FAULTY = "KINETARIUM_ALLOW_FAULTY_VERSIONS"
"""Environment variable; if it is set, versions with known faults can be used, to measure them."""


@contextmanager
def quiet(into: str = os.devnull) -> Iterator[None]:
    """Send to nowhere, or into a file, what a library prints, which Python does not see."""
    nowhere = os.open(into, os.O_WRONLY)
    kept = []
    try:
        for stream in (1, 2):
            with suppress(OSError):  # a closed stream needs no silencing
                kept.append((stream, os.dup(stream)))
                os.dup2(nowhere, stream)
        yield
    finally:
        for stream, copy in kept:
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)


def checked_timestep(timestep: float) -> float:
    """Return the time step [s].

    Raises:
        SceneError: If it is not positive and finite.
    """
    if not (isfinite(timestep) and timestep > 0):
        raise SceneError(f"the time step must be positive and finite, not {timestep:g} s")
    return timestep


def initial_state(scene: Scene) -> State:
    """Return the state a scene starts in, at time zero."""
    q = [value for robot in scene.robots for value in _positions(robot)]
    floating = [(robot.X_WB, np.zeros(6)) for robot in scene.robots if robot.base is Base.FREE]
    floating += [(body.X_WB, body.V_WB) for body in scene.bodies if body.motion is Motion.FREE]
    poses = [[*X[:3, 3], *quaternion_from_rotation(X[:3, :3])] for X, _ in floating]
    return State(
        time=0.0,
        q=np.array(q, dtype=np.float64),
        v=np.zeros(len(q)),
        poses=np.array(poses, dtype=np.float64).reshape(-1, 7),
        twists=np.array([V for _, V in floating], dtype=np.float64).reshape(-1, 6),
    )


def _positions(robot: PlacedRobot) -> Iterator[float]:
    """Yield the joint positions; a follower without one stands where its leader puts it."""
    for joint in robot.model.moving_joints:
        value = robot.positions.get(joint.name)
        if value is None and joint.mimic:
            leader = robot.positions.get(joint.mimic.joint, 0.0)
            value = joint.mimic.multiplier * leader + joint.mimic.offset
        yield 0.0 if value is None else value


def scene_needs(scene: Scene) -> Iterator[tuple[Capability, str]]:
    """Yield the capabilities that a scene needs of an engine, and what of it needs them."""
    for robot in scene.robots:
        if robot.base is Base.FREE:
            yield Capability.FREE_BASE, f"the free base of robot '{robot.name}'"
        for joint in robot.model.moving_joints:
            yield Capability.JOINTS, f"joint '{robot.name}/{joint.name}'"
            if joint.stiffness:
                yield Capability.SPRINGS, f"the spring in joint '{robot.name}/{joint.name}'"
            if joint.mimic:
                yield Capability.MIMIC, f"mimic joint '{robot.name}/{joint.name}'"
        for loop in robot.model.loops:
            yield Capability.CLOSED_LOOPS, f"loop '{loop.name}' of robot '{robot.name}'"
    for sensor in scene.sensors:
        yield Capability.JOINT_WRENCH, f"sensor '{sensor.name}'"
    for solid, material in zip(scene.solids, scene.materials, strict=True):
        if material.restitution > 0:
            yield Capability.RESTITUTION, f"the material of '{solid}'"
        if material.spinning_friction > 0:
            yield Capability.SPINNING_FRICTION, f"the material of '{solid}'"
        if material.rolling_friction > 0:
            yield Capability.ROLLING_FRICTION, f"the material of '{solid}'"
    for i, j in np.argwhere(scene.may_meet)[:1]:
        yield Capability.CONTACT, f"contact of '{scene.solids[i]}' with '{scene.solids[j]}'"
    for i in np.flatnonzero(scene.may_meet.any(axis=1)):
        if any(isinstance(shape, MeshFile | MeshData) for shape, _ in scene.geometry[i]):
            yield Capability.MESHES, f"the collision mesh of '{scene.solids[i]}'"


class EngineBase(ABC, Generic[OptionsT]):
    """A physics engine; a subclass states what it is and builds scenes.

    Attributes:
        name: The name it is chosen by.
        title: The engine's own name.
        package: The distribution that brings its library, such as "mujoco", so that other
            versions of it can be tested; empty if there is none.
        capabilities: What it can do, one by one: a capability added later is not claimed unseen.
        friction_rule: How it combines the friction of unequal surfaces.
        precision: What it computes with.
        implicit_coriolis: Whether it takes Coriolis forces at the end of a step.
        unexplained: Share of generalised forces that its contacts may leave unexplained [-].
        unexplained_reason: Why that is more than rounding.
        options: The class of its options.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[str] = ""
    capabilities: ClassVar[frozenset[Capability]]
    friction_rule: ClassVar[FrictionRule]
    precision: ClassVar[Precision] = Precision.DOUBLE
    implicit_coriolis: ClassVar[bool] = False
    unexplained: ClassVar[float] = 1e-5
    unexplained_reason: ClassVar[str] = ""
    options: type[OptionsT]

    @property
    def info(self) -> EngineInfo:
        """What it is and can do."""
        return EngineInfo(
            self.name,
            self.title,
            self._version(),
            self.capabilities,
            self.friction_rule,
            self.precision,
            self.implicit_coriolis,
            self.unexplained,
            self.unexplained_reason,
        )

    def compile(
        self, scene: Scene, *, timestep: float, options: Options | None = None, seed: int = 0
    ) -> Simulation:
        """Build a scene.

        Args:
            timestep: Time step [s].
            options: Settings of the engine's own class; None for its defaults.
            seed: Seed of everything random in the engine.

        Raises:
            SceneError: If the time step is not positive or the engine refuses the scene.
            CapabilityError: If the scene needs what the engine cannot do.
            KinetariumError: If the options are those of another engine.
        """
        timestep = checked_timestep(timestep)
        chosen = self.options() if options is None else options
        if not isinstance(chosen, self.options):
            raise KinetariumError(
                f"engine '{self.name}' takes options of the class {self.options.__name__},"
                f" not {type(chosen).__name__}"
            )
        for robot in scene.robots:
            if robot.base is Base.FREE and rigid_tree(robot.model)[0].inertia is None:
                raise SceneError(
                    f"the root '{robot.model.root}' of robot '{robot.name}' is free without a mass"
                )
        for capability, cause in scene_needs(scene):
            if capability not in self.capabilities:
                raise CapabilityError(self.name, capability, reason=cause)
        layout, start = Layout.of(scene), initial_state(scene)
        setup = Setup(self.name, self.capabilities, scene, layout, start, timestep, chosen, seed)
        simulation = self._build(setup)
        try:
            simulation.reset(start)
        except BaseException:
            simulation.close()
            raise
        return simulation

    @abstractmethod
    def _version(self) -> str:
        """Return the version of the library.

        Raises:
            ImportError: If it is not installed.
        """

    @abstractmethod
    def _build(self, setup: Setup[OptionsT]) -> SimulationBase[Any]:
        """Build a scene; the library is imported here, for it may be large or missing.

        The simulation is reset to `setup.start` afterwards.

        Raises:
            SceneError: If the engine cannot have something of it.
            CapabilityError: If it needs a combination of things that the engine cannot do.
        """
