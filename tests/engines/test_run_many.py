"""Many runs give what single runs give, in order, and failures are results."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium import Recording, Scene, run, run_many
from kinetarium.control import CommandSequence, ConstantCommand
from kinetarium.engines import initial_state
from kinetarium.engines.mujoco import batch
from kinetarium.engines.registry import list_engines
from kinetarium.recording import RunStatus
from kinetarium.roles.options import RoleOptions
from kinetarium.rollout import ContactProbe, RunError
from kinetarium.rollout.many import _Runner
from kinetarium.scene import driving_ground
from kinetarium.scene.standing import holding_servos, home_command, placed_robot
from run_many_controllers import Faulty, Wave

pytestmark = pytest.mark.engine
ENGINES = [engine.name for engine in list_engines() if engine.available]


@pytest.fixture(scope="module")
def scene() -> Scene:
    return driving_ground("husky4")


def same(found: Recording | None, expected: Recording) -> bool:
    assert found is not None
    assert found.channels.keys() == expected.channels.keys()
    assert (found.status, found.facts) == (expected.status, expected.facts)
    return all(
        found[name].tobytes() == expected[name].tobytes()
        and (found.channels[name].unit, found.channels[name].columns)
        == (channel.unit, channel.columns)
        for name, channel in expected.channels.items()
    )


def open_loops(count: int, seed: int = 1):
    random = np.random.default_rng(seed)
    return [
        [None, ConstantCommand(random.uniform(-5, 5, 4)),
         CommandSequence(random.uniform(-5, 5, (8, 4)), rate=50.0)][i % 3]
        for i in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("workers", [0, 2])
def test_threads_give_the_bits_of_single_runs(scene, workers, monkeypatch) -> None:
    monkeypatch.setattr(batch, "_MOST_BYTES", 200_000)  # several groups
    controllers = open_loops(9)
    start = initial_state(scene)
    starts = [
        replace(start, time=0.5 * (i % 2), twists=np.array([[0.1 * i, 0, 0, 0, 0.02, 0.3]]))
        for i in range(9)
    ]
    settings = {"engine": "mujoco", "duration": 0.105, "timestep": 2.5e-3, "sample_rate": 40.0}
    results = run_many(scene, controllers, starts=starts, workers=workers, **settings)
    for result, controller, begin in zip(results, controllers, starts, strict=True):
        assert result.status is RunStatus.COMPLETED
        assert same(result.recording, run(scene, controller=controller, start=begin, **settings))


def test_it_was_the_threads_that_did_it(scene, monkeypatch) -> None:
    calls = []
    true = batch.open_loop_states

    def counted(*args, **kwargs):
        calls.append(kwargs["threads"])
        return true(*args, **kwargs)

    monkeypatch.setattr("kinetarium.engines.mujoco.simulation.open_loop_states", counted)
    run_many(scene, [None, None], engine="mujoco", duration=0.01, workers=2)
    assert calls == [2]
    run_many(scene, [Wave(1.0)], engine="mujoco", duration=0.01, workers=0)
    assert calls == [2]


def test_servos_at_their_limit_are_stepped_and_equal(monkeypatch) -> None:
    """The adapter takes steps again in which a servo leaves its limit; MuJoCo's threads do not."""
    robot = RoleOptions().open("panda")
    placed = placed_robot(robot, actuation=holding_servos(robot))
    scene, home = Scene((placed,)), home_command(placed)
    commands = [ConstantCommand(home + offset) for offset in (0.0, 0.001, 0.5)]
    stepped = []
    monkeypatch.setattr(
        _Runner,
        "run",
        lambda self, job, true=_Runner.run: stepped.append(job.index) or true(self, job),
    )
    settings = {"engine": "mujoco", "duration": 0.2}
    found = run_many(scene, commands, workers=0, **settings)
    assert stepped == [2]
    for result, controller in zip(found, commands, strict=True):
        assert same(result.recording, run(scene, controller=controller, **settings))


@pytest.mark.parametrize("engine", ENGINES)
def test_processes_give_the_bits_of_single_runs(scene, engine) -> None:
    controllers = [Wave(gain) for gain in (0.5, 1.0, 2.0)]
    results = run_many(scene, controllers, engine=engine, duration=0.05, workers=1)
    for result, controller in zip(results, controllers, strict=True):
        assert same(
            result.recording, run(scene, controller=controller, engine=engine, duration=0.05)
        )


def test_failures_are_results_and_affect_no_other(scene) -> None:
    ways = ["", "raises", "crashes", "hangs", "shape", "diverges", ""]
    results = run_many(
        scene, [Faulty(way) for way in ways], engine="mujoco", duration=0.02, workers=2, timeout=5
    )
    assert [result.status.value for result in results] == [
        "completed", "failed", "crashed", "timed out", "failed", "diverged", "completed",
    ]  # fmt: skip
    assert results[1].message == "ValueError: no wheels"
    assert "exit code 7" in results[2].message and "5 s" in results[3].message
    assert results[0].recording["q"].tobytes() == results[6].recording["q"].tobytes()


def test_runs_that_diverge_are_judged_as_single_ones(scene) -> None:
    wild = [ConstantCommand(np.full(4, 1e12)), ConstantCommand(np.ones(4))]
    start = initial_state(scene)
    thrown = replace(start, twists=np.array([[0, 0, 9e5, 0, 0, 9e5]]))
    results = run_many(scene, wild, engine="mujoco", duration=0.5, starts=[thrown, None], workers=0)
    assert results[0].status is RunStatus.DIVERGED and "diverged" in results[0].message
    assert results[1].status is RunStatus.COMPLETED


def test_scenes_of_their_own_and_probes(scene) -> None:
    other = driving_ground("husky2")
    results = run_many([scene, other, scene], engine="mujoco", duration=0.02, workers=0)
    sizes = [result.recording["q"].shape[1] for result in results]
    assert sizes == [4, initial_state(other).q.size, 4]
    wheel = next(name for name in scene.solids if "wheel" in name)
    probe = ContactProbe(wheel, "ground")
    (result,) = run_many(scene, engine="mujoco", duration=0.05, probes=[probe], workers=0)
    assert result.recording[probe.name][-1, 0] > 0


def test_refusals(scene) -> None:
    with pytest.raises(RunError, match="as many, not 1, 2"):
        run_many([scene], [None, None], engine="mujoco", duration=0.1)
    with pytest.raises(RunError, match="multiple"):
        run_many(scene, engine="mujoco", duration=0.1, sample_rate=333.0)
    with pytest.raises(RunError, match="negative"):
        run_many(scene, engine="mujoco", duration=0.1, workers=-1)

    class Local(Wave):
        pass

    with pytest.raises(RunError, match="Local cannot be sent to a process"):
        run_many(scene, [Local(1.0)], engine="mujoco", duration=0.1, workers=1)
