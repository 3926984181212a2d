"""The letter of the engine protocol: contacts, sensors, pushes, states and runs."""

from dataclasses import replace

import numpy as np
import pytest

from engines.staging import (
    CUBE,
    ENGINES,
    NOTHING,
    SOURCE,
    rack_with_a_ghost,
    rounding,
)
from kinetarium.engines.conformance.models import (
    pendulum,
    solid_link,
)
from kinetarium.engines.protocol import CapabilityError
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointType,
    Link,
    MeshData,
    RobotModel,
    TriangleMesh,
)
from kinetarium.scene import (
    Base,
    Body,
    Motion,
    PlacedRobot,
    WrenchSensor,
    free_body,
    ground,
)
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose

pytestmark = [
    pytest.mark.engine,
    pytest.mark.parametrize("start", ENGINES, indirect=True),
]


def test_only_what_may_touch_touches(start) -> None:
    cube = free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.6))
    excluded = frozenset({frozenset({"cube", "rack/ghost"})})
    simulation = start(rack_with_a_ghost(), cube, no_contact=excluded)
    simulation.step(NOTHING, 1000)
    assert simulation.state().poses[0, 2] == pytest.approx(0.26, abs=1e-3)
    touching = {simulation.layout.solids[i] for i in simulation.contacts().solids.ravel()}
    assert touching == {"cube", "rack/shelf"}


def test_a_mesh_touches_as_its_hull(start) -> None:
    corners = np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.2) for z in (0.1, 0.3)])
    inside = np.array([[0.1, 0.1, 0.2]])
    mesh = TriangleMesh(frozen(np.vstack([corners, inside])), np.array([[0, 1, 8]], dtype=np.int32))
    inertia = Inertia(1.0, frozen([0.1, 0.1, 0.2]), frozen(0.01 * np.eye(3)))
    body = Body("mesh", MeshData("m", mesh), Motion.FREE, inertia)
    if start.args[0].name == "dart":
        with pytest.raises(CapabilityError, match="'dart' has no meshes, which the collision"):
            start(body, ground())
        return
    simulation = start(body, ground())
    simulation.step(NOTHING, 1000)
    np.testing.assert_allclose(simulation.state().poses[0, :3], [0, 0, -0.1], atol=1e-3)
    assert any("hull" in remark for remark in simulation.audit().remarks)


def test_sensor_under_a_fixed_base(start) -> None:
    plate = solid_link("plate", CUBE, mass=4.0)
    model = pendulum()
    joints = (
        Joint("floor", JointType.FIXED, "world", "plate", frozen(pose((0, 0, 1)))),
        replace(model.joints[0], parent="plate"),
    )
    stand = RobotModel("stand", (Link("world"), plate, model.links[1]), joints, SOURCE)
    simulation = start(PlacedRobot("robot", stand), sensors=(WrenchSensor("ft", "robot", "floor"),))
    simulation.step(NOTHING)
    # ODE's joints give way by their compliance.
    tolerance = 1e-4 if start.args[0].name == "ode" else rounding(start, 1e-9)
    np.testing.assert_allclose(simulation.wrench("ft"), [0, 0, -5 * 9.81, 0, 0, 0], atol=tolerance)
    simulation.apply_wrench("robot/plate", np.array([0, 0, 0, 0, 0, 2.0]), np.zeros(3))
    simulation.step(NOTHING)
    assert simulation.wrench("ft")[5] == pytest.approx(2.0)


def test_sensor_feels_contacts_and_pushes(start) -> None:
    # A foot on a sensor presses the ground with all the weight but its own.
    links = (
        solid_link("body", CUBE, mass=3.0),
        solid_link("foot", CUBE, mass=1.0, touches=True),
    )
    joint = Joint("ankle", JointType.FIXED, "body", "foot", frozen(pose((0, 0, -0.2))))
    model = RobotModel("stool", links, (joint,), SOURCE, free_base=True)
    robot = PlacedRobot("stool", model, Base.FREE, frozen(pose((0, 0, 0.25))))
    simulation = start(robot, ground(), sensors=(WrenchSensor("ft", "stool", "ankle"),))
    simulation.step(NOTHING, 1000)
    # The contacts of a box in PhysX shift its load to and fro.
    tolerance = 0.1 if start.args[0].name == "physx" else 3e-3
    np.testing.assert_allclose(simulation.wrench("ft")[:3], [0, 0, 3 * 9.81], atol=tolerance)
    simulation.apply_wrench("stool/foot", np.array([0, 0, -5.0, 0, 0, 0]), np.zeros(3))
    simulation.step(NOTHING)
    pressed = abs(float(simulation.contacts().forces[:, 2].sum()))
    assert simulation.wrench("ft")[2] == pytest.approx(0.75 * (pressed - 5.0), rel=1e-3)
