"""Environments: Gymnasium's own checks in every engine, tasks that can be solved, no leaks."""

import gc
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.registry import list_engines
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.gym import RobotEnv, RobotTask, make, make_vec
from kinetarium.roles import RolesError
from kinetarium.scene import driving_ground
from needs import needs

pytestmark = pytest.mark.engine
ENGINES = [engine.name for engine in list_engines() if engine.available]
TASKS = {"reach-pose": "panda", "drive-path": "husky4"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("task", TASKS)
def test_gymnasium_accepts_it(engine: str, task: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # infinite bounds; no spec to make others from
        check_env(make(TASKS[task], engine=engine, task=task))


@pytest.mark.parametrize(
    ("robot", "task"),
    [("ur5", "reach-pose"), ("husky4-panda", "reach-pose"), ("husky4-panda", "drive-path"),
     ("scout", "drive-path"), ("husky2", "drive-path")],
)  # fmt: skip
def test_any_robot_with_the_roles(robot: str, task: str) -> None:
    env = make(robot, task=task, duration=0.2)
    observation, _ = env.reset(seed=5)
    over = False
    while not over:
        assert np.all(np.isfinite(observation))
        observation, _, ended, cut, _ = env.step(np.zeros(env.task.actions))
        over = ended or cut
    assert cut and not ended
    env.close()


def episode(env: RobotEnv, policy, seed: int) -> tuple[float, bool]:
    observation, _ = env.reset(seed=seed)
    total = 0.0
    while True:
        observation, reward, ended, cut, _ = env.step(policy(observation))
        total += reward
        if ended or cut:
            return total, ended


def test_a_pose_is_reached_by_resolved_rates() -> None:
    """Joint speeds J^+ V of Whitney (1969) lead to the goal and end the episode."""
    env = make("panda", task="reach-pose", duration=5.0)
    dynamics = RobotDynamics(env.task.scene.robots[0].model, free_base=False)

    def policy(observation: np.ndarray) -> np.ndarray:
        q, way = observation[:7], observation[21:]
        J = dynamics.jacobian([*q, 0.04, 0.04], "panda_hand_tcp")[:, :7]
        return np.linalg.pinv(J, rcond=0.05) @ way * 3.0

    totals, ends = zip(*(episode(env, policy, seed) for seed in range(4)), strict=True)
    assert all(ends) and min(totals) > 0.7
    idle = [episode(env, lambda _: np.zeros(7), seed)[0] for seed in range(4)]
    assert max(idle) < 0.1
    env.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_path_is_followed(engine: str) -> None:
    env = make("husky4", engine=engine, task="drive-path", duration=4.0)

    def policy(observation: np.ndarray) -> np.ndarray:
        x, y, off = observation[:3]
        ahead = np.arctan2(observation[5], max(observation[4], 0.1))
        v = 0.5 + 1.0 * x
        return np.clip([v / 1.0, (2.0 * ahead + 2.0 * y + off) / env.task._most[1]], -1, 1)

    total, ended = episode(env, policy, 3)
    assert total > 0.9 and not ended
    env.close()


def test_a_seed_is_an_episode() -> None:
    env = make("husky4", task="drive-path", duration=0.3)
    first, again, other = (env.reset(seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert not np.array_equal(env.reset()[0], env.reset()[0])
    runs = [episode(env, lambda seen: seen[:2], 1)[0] for _ in range(2)]
    assert runs[0] == runs[1]
    env.close()


def test_vectorised_over_processes() -> None:
    settings = {"engine": "mujoco", "task": "drive-path", "duration": 0.5}
    many = make_vec(2, "husky4", **settings)
    observations, _ = many.reset(seed=7)
    actions = np.array([[0.3, 0.1], [0.5, -0.2]])
    for _ in range(3):
        observations, rewards, *_ = many.step(actions)
    many.close()
    for i in range(2):
        env = make("husky4", **settings)
        env.reset(seed=7 + i)
        for _ in range(3):
            observation, reward, *_ = env.step(actions[i])
        assert np.array_equal(observation, observations[i]) and reward == rewards[i]
        env.close()


class Hard(RobotTask):
    """Torque on wheels that no engine survives."""

    def command(self, action):
        return np.full(4, 1e200)


def test_divergence_ends_an_episode_and_not_the_next() -> None:
    env = make(task=Hard(driving_ground("husky4", wheel_damping=1e9), duration=1.0))
    for _ in range(2):
        observation, _ = env.reset(seed=1)
        over, info = False, {}
        while not over:
            observation, reward, ended, cut, info = env.step(np.zeros(4))
            over = ended or cut
        assert info == {"diverged": True} and ended and reward == -1.0
        assert np.all(np.isfinite(observation))
    env.close()


def test_a_scene_as_it_is() -> None:
    task = RobotTask(driving_ground("husky4"), duration=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(make(task=task), skip_close_check=True)
    assert np.array_equal(task.command(np.zeros(4)), np.zeros(4))
    panda = RobotTask(make("panda", duration=0.1).task.scene)
    limits = panda.scene.robots[0].model.joint("panda_joint1").limits
    assert panda.command(np.ones(panda.actions))[0] == limits.upper


def test_refusals() -> None:
    with pytest.raises(UnknownNameError, match="reach-pose"):
        make("panda", task="reach")
    with pytest.raises(RolesError, match="wheels"):
        make("panda", task="drive-path")
    with pytest.raises(KinetariumError, match="needs a robot"):
        make(task="reach-pose")
    with pytest.raises(KinetariumError, match="not a multiple"):
        make("panda", period=0.0031)
    with pytest.raises(KinetariumError, match="at least one"):
        make_vec(0, "panda")
    env = make("panda")
    env.reset(seed=0)
    with pytest.raises(KinetariumError, match="7 finite numbers"):
        env.step(np.full(7, np.nan))
    env.close()


def test_importing_kinetarium_does_not_import_gymnasium() -> None:
    code = "import sys, kinetarium, kinetarium.gym; print('gymnasium' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def resident() -> int:
    """Memory of this process [bytes], proc(5)."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@needs("linux")  # reads /proc
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "episodes", [40, pytest.param(1000, marks=pytest.mark.slow)], ids=["short", "full"]
)
def test_episodes_do_not_leak(engine: str, episodes: int) -> None:
    env = make("husky4", engine=engine, task="drive-path", duration=0.2)
    random = np.random.default_rng(1)

    def play(count: int) -> None:
        for seed in range(count):
            episode(env, lambda _: random.uniform(-1, 1, 2), seed)

    play(max(episodes // 10, 20))
    before, files = resident(), len(os.listdir("/proc/self/fd"))
    play(episodes)
    grown = resident() - before
    env.close()
    assert len(os.listdir("/proc/self/fd")) == files
    assert grown < 8e6, f"{grown / 1e6:.1f} MB in {episodes} episodes"
