"""The one loop: rates, interactions, divergence, what is recorded."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from kinetarium import KinetariumError, Scene, run
from kinetarium.control.arm.computed_torque import StablePD
from kinetarium.control.arm.tracking import JacobianTracker
from kinetarium.control.interface import ExternalWrench, Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.conformance.models import chain, rotor
from kinetarium.model.load import catalogue_entry, load_robot
from kinetarium.model.robot import Box
from kinetarium.rollout.loop import RunError
from kinetarium.scene import (
    Actuation,
    DriveMode,
    PlacedRobot,
    WrenchSensor,
    arm_with_cube,
    free_body,
)
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose

pytestmark = pytest.mark.engine
WEIGHTLESS = frozen(np.zeros(3))


@dataclass
class Counting:
    """Holds a torque and notes when it was asked."""

    rate: float
    value: float = 0.1
    times: list[float] = field(default_factory=list)

    def reset(self) -> None:
        self.times.clear()

    def update(self, t: float, measurement: Measurement) -> np.ndarray:
        self.times.append(t)
        return np.array([self.value])


def _rotor() -> Scene:
    robot = PlacedRobot("robot", rotor(), actuation={"spindle": Actuation(DriveMode.TORQUE)})
    return Scene((robot,), gravity=WEIGHTLESS)


def test_controllers_keep_their_rate() -> None:
    controller = Counting(rate=250.0)
    recording = run(_rotor(), engine="mujoco", duration=0.1, controller=controller)
    np.testing.assert_allclose(controller.times, np.arange(25) * 0.004)
    np.testing.assert_allclose(recording["time"], np.arange(11) * 0.01)
    assert recording.status == "running"


def test_the_stride_changes_nothing() -> None:
    plain = run(_rotor(), engine="mujoco", duration=0.1, controller=Counting(100.0))

    class Nothing:
        def update(self, t: float, measurement: Measurement) -> list[ExternalWrench]:
            return []

    single = run(
        _rotor(), engine="mujoco", duration=0.1, controller=Counting(100.0),
        interactions=[Nothing()],
    )  # fmt: skip
    assert np.array_equal(plain["q"], single["q"])


def test_interactions_act_at_every_step() -> None:
    class Push:
        def update(self, t: float, measurement: Measurement) -> list[ExternalWrench]:
            return [ExternalWrench("cube", np.array([2.0, 0, 0, 0, 0, 0]), np.zeros(3))]

    cube = free_body("cube", Box((0.1, 0.1, 0.1)), mass=2.0)
    scene = Scene(bodies=(cube,), gravity=WEIGHTLESS)
    recording = run(scene, engine="mujoco", duration=0.5, interactions=[Push()])
    assert recording["twists"][-1, 0, 0] == pytest.approx(0.5, rel=1e-9)


def test_recordings_name_their_columns_and_units() -> None:
    model = chain()
    drives = {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints}
    robot = PlacedRobot("robot", model, actuation=drives)
    scene = Scene((robot,), sensors=(WrenchSensor("ft", "robot", "joint1"),))
    recording = run(scene, engine="mujoco", duration=0.05)
    assert recording.channels["q"].columns == ("robot/joint0", "robot/joint1", "robot/joint2")
    assert recording["wrench/ft"].shape == (6, 6)
    assert recording.facts["engine"] == "mujoco"
    assert recording.facts["options"]["impratio"] > 0


@pytest.mark.parametrize("setting", [{"sample_rate": 300.0}, {"timestep": -1.0}])
def test_impossible_rates_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(KinetariumError, match=r"rate|time step"):
        run(_rotor(), engine="mujoco", duration=0.1, **setting)


def test_a_wrong_command_is_refused() -> None:
    class Wrong(Counting):
        def update(self, t: float, measurement: Measurement) -> np.ndarray:
            return np.zeros(3)

    with pytest.raises(RunError, match="takes 1"):
        run(_rotor(), engine="mujoco", duration=0.1, controller=Wrong(100.0))


def test_stable_pd_holds_the_panda_with_stiff_gains() -> None:
    """Gains that an explicit law could not hold at this rate keep the arm where it is."""
    scene = arm_with_cube()
    model = scene.robots[0].model
    dynamics = RobotDynamics(model)
    home = np.array([scene.robots[0].positions[j.name] for j in model.moving_joints])
    pd = StablePD(dynamics, stiffness=4500.0, damping=450.0, timestep=1e-3)

    class Hold:
        rate = 1000.0

        def reset(self) -> None:
            pass

        def update(self, t: float, measurement: Measurement) -> np.ndarray:
            tau = pd.torques(measurement.q, measurement.v, q_ref=home, v_ref=np.zeros(9))
            return tau[:8]

    recording = run(scene, engine="mujoco", duration=0.5, controller=Hold())
    assert recording.status == "running"
    assert np.abs(recording["q"][-1, :7] - home[:7]).max() < 0.01


def test_the_jacobian_tracker_follows_a_circle() -> None:
    model = load_robot("panda")
    dynamics = RobotDynamics(model)
    home = catalogue_entry("panda").home
    q = np.array([home[joint.name] for joint in model.moving_joints])
    X = dynamics.link_pose(q, "panda_hand_tcp")
    angles = np.linspace(0, 2 * np.pi, 1000)
    poses = np.array([X @ pose((0.05 * np.cos(a) - 0.05, 0.05 * np.sin(a), 0.0)) for a in angles])
    path = JacobianTracker(dynamics, link="panda_hand_tcp").follow(q, poses, timestep=4e-3)
    reached = np.array([dynamics.link_pose(row, "panda_hand_tcp") for row in path])
    assert np.linalg.norm(reached[:, :3, 3] - poses[:, :3, 3], axis=1).max() < 1e-4
    assert np.abs(reached[:, :3, :3] - poses[:, :3, :3]).max() < 1e-4
