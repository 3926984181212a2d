"""What the tests of the engines are staged with: small models, driven, in a scene, in a state."""

from dataclasses import replace

import numpy as np

from kinetarium.engines.protocol import Engine, Precision, Simulation, State
from kinetarium.engines.registry import list_engines
from kinetarium.model.robot import Box, Geometry, Joint, JointType, Link, RobotModel, Source
from kinetarium.scene import Actuation, Body, DriveMode, PlacedRobot, Scene
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose

H = 1e-3
"""Time step [s]."""
G = 9.81
NOTHING = np.zeros(0)
"""The command of a scene without drives."""
WEIGHTLESS = frozen(np.zeros(3))
CUBE = Box((0.1, 0.1, 0.1))
TORQUE = Actuation(DriveMode.TORQUE)
SOURCE = Source("tests", "python", "")


LIBRARIES = {
    "bullet": "pybullet",
    "dart": "dartpy",
    "drake": "pydrake",
    "mujoco": "mujoco",
    "ode": "kinetarium.engines.ode.library",
    "physx": "sapien",
    "rapier": "rapier3d",
}
"""The module that an engine loads with its first scene."""
if any(one.name == "newton" and one.available for one in list_engines()):
    LIBRARIES["newton"] = "newton"  # an environment of its own: make test-newton
ENGINES = list(LIBRARIES)


def rounding(start, exact: float) -> float:
    """Return a tolerance for the engine of the fixture `start`: 2e-5 in single precision."""
    return 2e-5 if start.args[0].info.precision is Precision.SINGLE else exact


def compiled(
    engine: Engine, *parts: PlacedRobot | Body, timestep: float = H, options=None, seed=0, **scene
) -> Simulation:
    """Compile a scene of robots and bodies."""
    robots = tuple(part for part in parts if isinstance(part, PlacedRobot))
    bodies = tuple(part for part in parts if isinstance(part, Body))
    whole = Scene(robots, bodies, **scene)
    return engine.compile(whole, timestep=timestep, options=options, seed=seed)


def rack_with_a_ghost() -> PlacedRobot:
    """Place two shelves fixed to one base, the "ghost" above the "shelf"."""
    board = Geometry(Box((0.2, 0.2, 0.02)))
    links = (Link("base"), Link("ghost", None, (board,)), Link("shelf", None, (board,)))
    joints = tuple(
        Joint(f"to {name}", JointType.FIXED, "base", name, frozen(pose((0, 0, z))))
        for name, z in (("ghost", 0.5), ("shelf", 0.2))
    )
    return PlacedRobot("rack", RobotModel("rack", links, joints, SOURCE))


def driven(model: RobotModel, actuation: Actuation = TORQUE, **placement) -> PlacedRobot:
    """Place a robot, called "robot", with the same drive in every joint."""
    drives = {joint.name: actuation for joint in model.moving_joints}
    return PlacedRobot("robot", model, actuation=drives, **placement)


def with_joint(model: RobotModel, **changes) -> RobotModel:
    """Change the first joint of a model."""
    return replace(model, joints=(replace(model.joints[0], **changes), *model.joints[1:]))


def joint_state(q, v, poses=None, twists=None) -> State:
    """Return a state at time zero; nothing floats unless it is given."""
    poses = np.zeros((0, 7)) if poses is None else poses
    twists = np.zeros((0, 6)) if twists is None else twists
    return State(0.0, np.asarray(q, float), np.asarray(v, float), poses, twists)
