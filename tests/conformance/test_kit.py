"""The kit itself: an engine broken in one way fails the checks that name it, and no other."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinetarium import check_engine
from kinetarium.engines.conformance import CHECKS, runs
from kinetarium.engines.mujoco import EngineMujoco, MujocoOptions
from kinetarium.engines.protocol import Contacts, EngineInfo, FrictionRule, State
from kinetarium.model.robot import Inertia
from kinetarium.scene import Actuation, Scene
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import rotation_about

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


class _ForcesScaled(_Simulation):
    def contacts(self) -> Contacts:
        contacts = self._inner.contacts()
        return replace(contacts, forces=1.02 * contacts.forces)


class _WarmStartKept(_Simulation):
    """What the solver found in the last step is where it begins after a reset."""

    def reset(self, state: State) -> None:
        found = self._inner._data.qacc_warmstart.copy()
        self._inner.reset(state)
        self._inner._data.qacc_warmstart[:] = found


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


class _NoSpinning(_Broken):
    def _scene(self, scene: Scene) -> Scene:
        bodies = tuple(
            replace(body, material=replace(body.material, spinning_friction=0.0))
            for body in scene.bodies
        )
        return replace(scene, bodies=bodies)


class _InertiaRotated(_Broken):
    """The links "link1" and "tool" have their principal axes turned by 0.3 rad."""

    def _scene(self, scene: Scene) -> Scene:
        robots = []
        for robot in scene.robots:
            links = tuple(
                replace(link, inertia=_turned(link.inertia))
                if link.name in ("link1", "tool")
                else link
                for link in robot.model.links
            )
            robots.append(replace(robot, model=replace(robot.model, links=links)))
        return replace(scene, robots=tuple(robots))


def _turned(inertia: Inertia) -> Inertia:
    R = rotation_about((1.0, 0.0, 0.0), 0.3)
    return replace(inertia, moment=frozen(R @ inertia.moment @ R.T))


class _WrongRule(_Broken):
    @property
    def info(self) -> EngineInfo:
        return replace(super().info, friction_rule=FrictionRule.MINIMUM)


def _breaking(kind: type[_Simulation]) -> type[_Broken]:
    return type("Broken", (_Broken,), {"simulation": kind})


WEIGHTS = {"contact-force", "friction-force", "rest-steps", "stack-forces", "mass-ratio",
           "force-balance"}  # fmt: skip
SENSORS = {"joint-wrench", "wrench-swing", "wrench-acceleration", "wrench-contact"}
FOREST = {"force-balance", "forest-energy"}


@pytest.mark.parametrize(
    ("engine", "failing"),
    [
        (_Broken, set()),
        (_Gravity, WEIGHTS | {"free-fall", "fall-steps", "far-away", "pendulum", "one-step",
                    "double-pendulum-energy", "integrator-order", "inverse-dynamics",
                    "slide-to-stop", "spinning-friction", "rolling-friction", "loop-load",
                    "audit"}
         | SENSORS),
        (_Unlimited, {"effort-limit", "effort-edge", "servo-effort-limit", "audit"}),
        (_WrongRule, {"friction-rule", "audit"}),
        (_breaking(_XyzwQuaternions), {"quaternion-order", "spin-momentum", "tumble-energy",
                                       "twist-origin", "free-base"} | FOREST),
        (_breaking(_Drag), {"no-damping", "free-fall", "fall-steps", "far-away", "spin-momentum",
                            "rolling-friction",
                            "collision-momentum"}),
        (_breaking(_ForgetsToRestore), {"save-restore", "foreign-state"}),
        (_breaking(_ForcesReversed), WEIGHTS),
        (_breaking(_JointsReversed), {"joint-order", "reset", "one-step", "mimic", "mimic-inertia",
                                      "double-pendulum-energy", "integrator-order",
                                      "touch-down"} | FOREST),
        (_breaking(_WrenchFromTheOtherSide), SENSORS),
        (_breaking(_ForcesScaled), WEIGHTS),
        (_NoSpinning, {"spinning-friction"}),
        (_InertiaRotated, {"audit", "one-step", "mass-matrix", "inverse-dynamics",
                           "force-balance"}),
        (_breaking(_WarmStartKept), {"reset-forgets"}),
    ],
    ids=["sound", "gravity", "effort", "friction-rule", "quaternion", "damping", "restore",
         "contact-sign", "joint-order", "wrench-sign", "contact-scale", "spinning", "inertia",
         "warm-start"],
)  # fmt: skip
def test_one_broken_property_fails_its_own_checks(engine: type[_Broken], failing: set[str]) -> None:
    outcomes = check_engine(engine(), checks=KIT)
    assert {outcome.check for outcome in outcomes if not outcome.passed} == failing


def test_options_are_judged_as_the_engines_defaults_are(monkeypatch: pytest.MonkeyPatch) -> None:
    printed, run = [], runs.subprocess.run

    def repeat(words: list[str], **settings: Any) -> Any:
        printed.append((done := run(words, **settings)).stdout)
        return done

    monkeypatch.setattr(runs.subprocess, "run", repeat)
    checks = [check for check in CHECKS if check.name in ("servo-step", "determinism")]
    by_default, stock = (
        {row.check: row.passed for row in check_engine("mujoco", checks=checks, options=options)}
        for options in (None, MujocoOptions.stock())
    )
    assert by_default == {"servo-step": True, "determinism": True}
    assert stock == {"servo-step": False, "determinism": True}  # explicit Euler, but repeatable
    assert printed[0] == printed[1] != printed[2] == printed[3]  # options reach fresh processes
