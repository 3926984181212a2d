"""The kit itself: an engine broken in one way fails the checks that name it, and no other."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinetarium import check_engine
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.mujoco import EngineMujoco
from kinetarium.engines.protocol import Contacts, EngineInfo, FrictionRule, State
from kinetarium.scene import Actuation, Scene
from kinetarium.spatial.arrays import frozen

pytestmark = pytest.mark.engine

# Two fresh processes cannot make the broken engines of this file.
KIT = [check for check in CHECKS if check.name != "determinism"]


class _Simulation:
    """Passes everything on; subclasses break one thing."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _XyzwQuaternions(_Simulation):
    def state(self) -> State:
        state = self._inner.state()
        return replace(state, poses=state.poses[:, [0, 1, 2, 4, 5, 6, 3]])


class _Drag(_Simulation):
    """Air that slows every floating body, as Bullet's default damping does."""

    def step(self, command: np.ndarray, n: int = 1) -> None:
        for _ in range(n):
            state = self._inner.state()
            for name, pose, twist in zip(
                self._inner.layout.floating, state.poses, state.twists, strict=True
            ):
                self._inner.apply_wrench(name, -1e-4 * twist, pose[:3])
            self._inner.step(command)


class _ForgetsToRestore(_Simulation):
    def restore(self, saved: Any) -> None:
        pass


class _ForcesReversed(_Simulation):
    def contacts(self) -> Contacts:
        contacts = self._inner.contacts()
        return replace(contacts, forces=-contacts.forces)


class _JointsReversed(_Simulation):
    def state(self) -> State:
        state = self._inner.state()
        return replace(state, q=state.q[::-1].copy(), v=state.v[::-1].copy())


class _WrenchFromTheOtherSide(_Simulation):
    def wrench(self, sensor: str) -> np.ndarray:
        return -self._inner.wrench(sensor)


class _Broken(EngineMujoco):
    """MuJoCo with one thing broken."""

    simulation: type[_Simulation] = _Simulation

    def _scene(self, scene: Scene) -> Scene:
        return scene

    def compile(self, scene: Scene, **settings: Any) -> Any:
        return self.simulation(super().compile(self._scene(scene), **settings))


class _Gravity(_Broken):
    def _scene(self, scene: Scene) -> Scene:
        return replace(scene, gravity=frozen(scene.gravity * 1.05))


class _Unlimited(_Broken):
    def _scene(self, scene: Scene) -> Scene:
        robots = []
        for robot in scene.robots:
            joints = tuple(
                replace(joint, limits=replace(joint.limits, effort=np.inf))
                for joint in robot.model.joints
            )
            drives = {
                name: Actuation(drive.drive, drive.stiffness, drive.damping)
                for name, drive in robot.actuation.items()
            }
            model = replace(robot.model, joints=joints)
            robots.append(replace(robot, model=model, actuation=drives))
        return replace(scene, robots=tuple(robots))


class _WrongRule(_Broken):
    @property
    def info(self) -> EngineInfo:
        return replace(super().info, friction_rule=FrictionRule.MINIMUM)


def _breaking(kind: type[_Simulation]) -> type[_Broken]:
    return type("Broken", (_Broken,), {"simulation": kind})


@pytest.mark.parametrize(
    ("engine", "failing"),
    [
        (_Broken, set()),
        (_Gravity, {"free-fall", "contact-force", "pendulum", "joint-wrench", "one-step",
                    "inverse-dynamics", "audit"}),
        (_Unlimited, {"effort-limit", "servo-effort-limit", "audit"}),
        (_WrongRule, {"friction-rule", "audit"}),
        (_breaking(_XyzwQuaternions), {"quaternion-order", "spin-momentum", "tumble-energy",
                                       "free-base"}),
        (_breaking(_Drag), {"no-damping", "free-fall", "spin-momentum",
                            "collision-momentum"}),
        (_breaking(_ForgetsToRestore), {"save-restore"}),
        (_breaking(_ForcesReversed), {"contact-force"}),
        (_breaking(_JointsReversed), {"joint-order", "reset", "one-step", "mimic", "touch-down"}),
        (_breaking(_WrenchFromTheOtherSide), {"joint-wrench"}),
    ],
    ids=["sound", "gravity", "effort", "friction-rule", "quaternion", "damping", "restore",
         "contact-sign", "joint-order", "wrench-sign"],
)  # fmt: skip
def test_one_broken_property_fails_its_own_checks(engine: type[_Broken], failing: set[str]) -> None:
    outcomes = check_engine(engine(), checks=KIT)
    assert {outcome.check for outcome in outcomes if not outcome.passed} == failing
