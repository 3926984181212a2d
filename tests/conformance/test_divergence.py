"""Twenty scenes that cannot end well are marked in every engine, and no NaN is recorded."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from conformance.engine_names import ENGINES
from kinetarium import Scene, run
from kinetarium.control.interface import ExternalWrench, Measurement
from kinetarium.engines.conformance.models import fingers, flyer, rotor
from kinetarium.model.robot import Box, JointLimits
from kinetarium.scene import Actuation, Base, DriveMode, PlacedRobot, free_body, ground
from kinetarium.spatial.arrays import frozen

Setup = dict[str, Any]
CUBE = Box((0.1, 0.1, 0.1))

pytestmark = pytest.mark.engine


@dataclass
class Constant:
    """A controller that says one thing."""

    value: float
    count: int
    rate: float = 100.0

    def reset(self) -> None:
        pass

    def update(self, t: float, measurement: Measurement) -> np.ndarray:
        return np.full(self.count, self.value)


@dataclass
class Push:
    """A push on the cube."""

    force: float

    def update(self, t: float, measurement: Measurement) -> list[ExternalWrench]:
        F = np.array([self.force, 0, 0, 0, 0, 0])
        return [ExternalWrench("cube", F, np.zeros(3))]


def _thrown(speed: float, axis: int) -> Setup:
    twist = np.zeros(6)
    twist[axis] = speed
    return {"scene": Scene(bodies=(free_body("cube", CUBE, mass=1.0, twist=twist),))}


def _pushed(force: float) -> Setup:
    body = free_body("cube", CUBE, mass=1.0, position=(0, 0, 1))
    return {"scene": Scene(bodies=(body, ground())), "interactions": [Push(force)]}


def _driven(value: float, drive: Actuation) -> Setup:
    model = rotor()
    robot = PlacedRobot("robot", model, actuation={"spindle": drive})
    return {"scene": Scene((robot,)), "controller": Constant(value, 1)}


def _slid(value: float) -> Setup:
    model = fingers()
    joints = tuple(replace(joint, limits=JointLimits(), mimic=None) for joint in model.joints)
    model = replace(model, joints=joints)
    robot = PlacedRobot("robot", model, actuation={"lead": Actuation(DriveMode.TORQUE)})
    return {"scene": Scene((robot,)), "controller": Constant(value, 1)}


def _flown(value: float) -> Setup:
    robot = PlacedRobot(
        "robot", flyer(), Base.FREE, actuation={"elbow": Actuation(DriveMode.TORQUE)}
    )
    return {"scene": Scene((robot,)), "controller": Constant(value, 1)}


TORQUE = Actuation(DriveMode.TORQUE)
SCENES: dict[str, Callable[[], Setup]] = {
    **{f"thrown at {s:g} along {a}": (lambda s=s, a=a: _thrown(s, a))
       for s in (1e7, 1e9) for a in (0, 1, 2)},
    **{f"pushed by {f:g} N": (lambda f=f: _pushed(f)) for f in (1e12, -1e14, np.nan, np.inf)},
    **{f"torque {v:g}": (lambda v=v: _driven(v, TORQUE)) for v in (1e15, -1e20, np.nan, np.inf)},
    **{f"slide by {v:g}": (lambda v=v: _slid(v)) for v in (1e15, np.nan)},
    **{f"flight by {v:g}": (lambda v=v: _flown(v)) for v in (1e15, np.nan)},
    "gravity 1e9": lambda: {
        "scene": Scene(
            bodies=(free_body("cube", CUBE, mass=1.0),), gravity=frozen([0.0, 0.0, -1e9])
        )
    },
    "servo to nan": lambda: _driven(
        np.nan, Actuation(DriveMode.POSITION, stiffness=10.0, damping=1.0)
    ),
}  # fmt: skip


def test_there_are_twenty() -> None:
    assert len(SCENES) == 20


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SCENES)
def test_marked(name: str, engine: str) -> None:
    recording = run(engine=engine, duration=0.2, **SCENES[name]())
    assert recording.status == "diverged"
    for channel in ("q", "v", "poses", "twists"):
        assert np.all(np.isfinite(recording[channel]))
