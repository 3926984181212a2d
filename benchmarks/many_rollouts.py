"""Short open-loop runs by `run_many` beside plain loops: CPU time of one physics step.

A million over the figure is steps per second and core.
"""

from collections.abc import Iterator
from dataclasses import replace

import mujoco
import numpy as np

from benchmarks.ratio import Ratio, compare
from kinetarium import run, run_many
from kinetarium.control import CommandSequence
from kinetarium.engines import initial_state
from kinetarium.engines.registry import list_engines
from kinetarium.rollout import Rollout
from kinetarium.scene import driving_ground

RUNS, DURATION, TIMESTEP, RATE = 50, 0.2, 2e-3, 50.0
STEPS = RUNS * round(DURATION / TIMESTEP)


def ratios() -> Iterator[Ratio]:
    scene = driving_ground("husky4")
    random = np.random.default_rng(1)
    ticks = round(DURATION * RATE)
    # Speeds that rise gently, so that no servo reaches its limit.
    speeds = np.cumsum(random.uniform(0.0, 0.05, (RUNS, ticks, 4)), axis=1)
    commands = [CommandSequence(each, RATE) for each in speeds]
    starts = [replace(initial_state(scene)) for _ in commands]
    settings = {"duration": DURATION, "sample_rate": RATE}

    def many(engine: str) -> None:
        results = run_many(
            scene, commands, engine=engine, starts=starts, workers=0, timestep=TIMESTEP, **settings
        )
        assert all(result.recording is not None for result in results)

    def loop(engine: str) -> None:
        for command in commands:
            run(scene, engine=engine, controller=command, timestep=TIMESTEP, **settings)

    def compiled_once(engine: str) -> None:
        with Rollout(scene, engine=engine, timestep=TIMESTEP) as rollout:
            for command in commands:
                rollout.run(controller=command, **settings)

    with Rollout(scene, engine="mujoco", timestep=TIMESTEP) as rollout:
        model = rollout.simulation._model
        data = mujoco.MjData(model)

        def bare() -> None:
            """Only the steps, in Python: nothing is recorded, checked or converted."""
            for rows in np.repeat(speeds, round(1 / RATE / TIMESTEP), axis=1):
                mujoco.mj_resetData(model, data)
                for row in rows:
                    data.ctrl[:] = row
                    mujoco.mj_step(model, data)

        for peer, work in (
            ("a loop over run()", lambda: loop("mujoco")),
            ("a loop over Rollout.run()", lambda: compiled_once("mujoco")),
            ("a bare loop over mj_step", bare),
        ):
            yield _per_step(
                compare("run_many, 50 runs of 0.2 s in MuJoCo: one step",
                        ours=lambda: many("mujoco"), peer=work, peer_name=peer, repeats=1, rounds=3)
            )  # fmt: skip
    for name in [engine.name for engine in list_engines() if engine.available]:
        if name != "mujoco":
            yield _per_step(
                compare(f"run_many, the same in {name}, one process", ours=lambda n=name: many(n),
                        peer=lambda n=name: loop(n), peer_name="a loop over run()", repeats=1,
                        rounds=1)
            )  # fmt: skip


def _per_step(ratio: Ratio) -> Ratio:
    return replace(ratio, ours_us=ratio.ours_us / STEPS, peer_us=ratio.peer_us / STEPS)
