"""The one loop: rates, interactions, divergence, what is recorded."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from conformance.engine_names import ENGINES
from kinetarium import KinetariumError, Scene, run
from kinetarium.control.arm.computed_torque import StablePD
from kinetarium.control.arm.tracking import JacobianTracker
from kinetarium.control.interface import ExternalWrench, Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.base.engine import initial_state
from kinetarium.engines.conformance.models import chain, rotor
from kinetarium.engines.protocol import Capability, State
from kinetarium.engines.registry import open_engine
from kinetarium.model.load import catalogue_entry, load_robot
from kinetarium.model.robot import Box, Sphere
from kinetarium.recording.recording import Recording
from kinetarium.rollout.loop import Rollout, RunError
from kinetarium.scene import (
    Actuation,
    DriveMode,
    PlacedRobot,
    WrenchSensor,
    arm_with_cube,
    driving_ground,
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


def _landing() -> Scene:
    """Return a rover that stands and a ball above the ground."""
    ball = free_body("ball", Sphere(0.1), mass=1.0, position=(1.5, 0.0, 0.2))
    scene = driving_ground("husky4")
    return replace(scene, bodies=(*scene.bodies, ball))


def _equal(a: Recording, b: Recording) -> bool:
    return all(np.array_equal(a[name], b[name]) for name in a.channels)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_starts_from_a_state_with_velocities(engine: str) -> None:
    """A cube that is thrown flies the parabola of the integrator: v' = v + h g, z' = z + h v'."""
    scene = Scene(bodies=(free_body("cube", Box((0.1, 0.1, 0.1)), mass=2.0),))
    twist = np.array([[1.0, -0.5, 3.0, 0.0, 0.0, 0.4]])
    pose_7 = np.array([[0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0]])
    start = State(2.0, np.zeros(0), np.zeros(0), pose_7, twist)
    recording = run(scene, engine=engine, duration=0.2, start=start)
    np.testing.assert_array_equal(recording["time"], 2.0 + np.arange(21) * 10 * 1e-3)
    np.testing.assert_allclose(recording["twists"][0], twist, atol=1e-6)
    n, h = 200, 1e-3
    way = twist[0, :3] * n * h + np.array([0, 0, -9.81]) * h**2 * n * (n + 1) / 2
    np.testing.assert_allclose(recording["poses"][-1, 0, :3], pose_7[0, :3] + way, atol=1e-4)
    assert recording.facts["ended"] == "duration"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_compiled_scene_runs_as_a_new_one(engine: str) -> None:
    """After a run with contacts and other commands, another has the bits of a fresh simulation."""
    scene = _landing()
    start = initial_state(scene)
    spinning = replace(start, v=np.full(4, 3.0), time=1.0)
    if Capability.DETERMINISM not in open_engine(engine).info.capabilities:
        pytest.skip("not declared")

    class Drive(Counting):
        def update(self, t: float, measurement: Measurement) -> np.ndarray:
            return np.array([4.0, 2.0, 4.0, 2.0])

    with Rollout(scene, engine=engine, timestep=2e-3) as rollout:
        first = rollout.run(duration=0.2)
        pushed = rollout.run(duration=0.1, start=spinning, controller=Drive(100.0))
        again = rollout.run(duration=0.2)
    fresh = run(scene, engine=engine, duration=0.2, timestep=2e-3)
    pushed_fresh = run(
        scene, engine=engine, duration=0.1, timestep=2e-3, start=spinning, controller=Drive(100.0)
    )
    assert _equal(first, fresh)
    assert _equal(pushed, pushed_fresh)
    assert _equal(again, fresh)
    assert not np.array_equal(pushed["v"], first["v"][: len(pushed["v"])])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_ends_early(engine: str) -> None:
    """A ball that falls from 0.2 m passes 0.15 m after 0.101 s: h^2 g n (n + 1) / 2 >= 0.05 m."""
    ball = free_body("ball", Sphere(0.01), mass=1.0, position=(0.0, 0.0, 0.2))
    scene = Scene(bodies=(ball,))
    asked: list[float] = []

    def low(state: State) -> bool:
        asked.append(state.time)
        return bool(state.poses[0, 2] < 0.15)

    recording = run(scene, engine=engine, duration=1.0, until=low)
    assert recording.facts["ended"] == "until"
    assert recording.status == "running"
    assert recording["time"][-1] == pytest.approx(0.101)
    assert len(recording["time"]) == 12
    assert len(asked) == 102
    assert recording["poses"][-1, 0, 2] < 0.15 < recording["poses"][-2, 0, 2]
    # Until then it is the run that nothing ends.
    whole = run(scene, engine=engine, duration=1.0)
    assert np.array_equal(whole["poses"][:11], recording["poses"][:11])


def test_a_run_may_end_at_its_start() -> None:
    recording = run(_rotor(), engine="mujoco", duration=1.0, until=lambda state: True)
    assert recording["time"].tolist() == [0.0]
    assert recording.facts["ended"] == "until"


def test_a_run_that_diverges_says_so() -> None:
    class Mad(Counting):
        def update(self, t: float, measurement: Measurement) -> np.ndarray:
            return np.array([np.nan if t > 0.02 else 0.1])

    with Rollout(_rotor(), engine="mujoco") as rollout:
        recording = rollout.run(duration=0.1, controller=Mad(100.0))
        assert (recording.status, recording.facts["ended"]) == ("diverged", "diverged")
        sound = rollout.run(duration=0.1, controller=Counting(100.0))
    assert (sound.status, sound.facts["ended"]) == ("running", "duration")
    alone = run(_rotor(), engine="mujoco", duration=0.1, controller=Counting(100.0))
    assert _equal(sound, alone)


def test_a_wrong_start_is_refused() -> None:
    start = State(0.0, np.zeros(2), np.zeros(1), np.zeros((0, 7)), np.zeros((0, 6)))
    with pytest.raises(KinetariumError, match="joint positions"):
        run(_rotor(), engine="mujoco", duration=0.1, start=start)


def test_a_closed_rollout_is_refused() -> None:
    with Rollout(_rotor(), engine="mujoco") as rollout:
        assert rollout.simulation.layout.commands == ("robot/spindle",)
    with pytest.raises(KinetariumError, match="closed"):
        rollout.run(duration=0.1)
