"""run_many: thousands of short runs, in processes or in an engine's own threads."""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Protocol, runtime_checkable

import numpy as np

from kinetarium.control.interface import CommandSequence, ConstantCommand, Controller, Measurement
from kinetarium.engines.base.engine import initial_state
from kinetarium.engines.protocol import CapabilityError, Engine, Options, State, Status
from kinetarium.engines.registry import open_engine
from kinetarium.errors import one_line
from kinetarium.interruption import stop_if_requested
from kinetarium.recording.recording import Recording, RunStatus
from kinetarium.rollout.loop import End, Probe, Rollout, RunError, state_channels, whole_steps
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array

_INTERVAL = 0.1
"""Polling interval of the workers' time limit [s]."""
_NOTHING = Measurement(np.zeros(0), np.zeros(0), np.zeros((0, 7)), np.zeros((0, 6)), {})


@runtime_checkable
class OpenLoopSimulation(Protocol):
    """A simulation whose library steps many runs at once, if their commands are known before."""

    def open_loop_batch(
        self,
        starts: Sequence[State],
        commands: Array,
        *,
        hold: int,
        steps: int,
        samples: Sequence[int],
        threads: int,
    ) -> Iterator[tuple[State, ...]]:
        """Yield the states of each run after some steps; none for a run that must be stepped.

        Args:
            starts: The state at the start of each run.
            commands: The commands of each run, shape (runs, ticks, commands).
            hold: Steps that a command lasts.
            steps: Steps of each run.
            samples: The steps after which a state is asked for.
            threads: Number of threads.
        """


@dataclass(frozen=True, slots=True, eq=False)
class RolloutResult:
    """One of many runs.

    Attributes:
        status: How it ended.
        message: Why it failed, in one line; empty if it completed.
        recording: Its recording; None if it failed.
    """

    status: RunStatus
    message: str = ""
    recording: Recording | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Settings:
    """What all runs have in common; the fields are arguments of `run_many`."""

    engine: str | Engine
    duration: float
    timestep: float
    sample_rate: float
    options: Options | None
    seed: int
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """One run.

    Attributes:
        index: Its place among the results.
        scene: Its scene's place among the distinct ones.
        controller: Its controller, or None.
        start: The state it starts from, or None.
    """

    index: int
    scene: int
    controller: Controller | None
    start: State | None


def run_many(
    scenes: Scene | Sequence[Scene],
    controllers: Sequence[Controller | None] | None = None,
    *,
    engine: str | Engine,
    duration: float,
    workers: int | None = None,
    starts: Sequence[State | None] | None = None,
    probes: Sequence[Probe] = (),
    timestep: float = 1e-3,
    sample_rate: float = 100.0,
    options: Options | None = None,
    seed: int = 0,
    timeout: float = 60.0,
) -> list[RolloutResult]:
    """Simulate many scenes, or one with many controllers or from many states.

    The results are those of `run`, to the bit if the engine declares determinism. A run that
    fails, or whose process crashes or hangs, is a result too, and affects no other.

    Runs whose commands are known before (no controller, `ConstantCommand`, `CommandSequence`)
    and that need no sensors and no probes are computed in the engine's own threads if it has
    some: MuJoCo does. All others run in processes, each of which compiles a scene once for all
    its runs in a row. Processes are started afresh, so that a script must begin its work under
    `if __name__ == "__main__":`.

    Example:
        >>> import numpy as np
        >>> from kinetarium import run_many
        >>> from kinetarium.control import ConstantCommand
        >>> from kinetarium.scene import driving_ground
        >>> commands = [ConstantCommand(np.full(4, speed)) for speed in (0.0, 1.0, 2.0)]
        >>> results = run_many(driving_ground("husky4"), commands, engine="mujoco", duration=0.5)
        >>> ways = [result.recording["poses"][-1, 0, 0] for result in results]
        >>> bool(ways[0] < ways[1] < ways[2])
        True

    Args:
        scenes: A scene for each run, or one for all.
        controllers: The controller of each run; the commands are zero without one.
        engine: An engine or its name.
        duration: How long each run is [s].
        workers: Number of processes or threads; one for each core if None. With 0 everything runs
            in this process, without protection against crashes.
        starts: The state from which each run starts; that of the scene if None.
        probes: Quantities recorded in each sample besides the state.
        timestep: Physics step [s].
        sample_rate: How often a sample is recorded [Hz]; the state at the end is always recorded.
        options: The engine's own options; its defaults if None.
        seed: Seed of everything random in the engine.
        timeout: Time limit for one run in a process [s].

    Returns:
        The results in the order of the runs.

    Raises:
        RunError: If the numbers of scenes, controllers and starts differ, the physics rate is not
            a multiple of the others, or a run cannot be sent to a process.
    """
    size = os.cpu_count() or 1 if workers is None else workers
    if size < 0:
        raise RunError(f"workers must not be negative, not {size}")
    distinct, jobs = _jobs(scenes, controllers, starts)
    whole_steps(sample_rate, timestep, "sample rate")
    for rate in {job.controller.rate for job in jobs if job.controller}:
        whole_steps(rate, timestep, "controller's rate")
    settings = _Settings(engine, duration, timestep, sample_rate, options, seed, tuple(probes))
    results: dict[int, RolloutResult] = {}
    if _has_threads(engine):
        results.update(_in_threads(distinct, jobs, settings, threads=size))
    left = [job for job in jobs if job.index not in results]
    if size and left:
        results.update(_in_processes(distinct, left, settings, size=size, timeout=timeout))
    else:
        runner = _Runner(distinct, settings)
        for job in left:
            stop_if_requested()
            results[job.index] = runner.run(job)
        runner.close()
    return [results[job.index] for job in jobs]


def _jobs(
    scenes: Scene | Sequence[Scene],
    controllers: Sequence[Controller | None] | None,
    starts: Sequence[State | None] | None,
) -> tuple[list[Scene], list[_Job]]:
    """Return the distinct scenes, and the runs."""
    given = [scenes] if isinstance(scenes, Scene) else list(scenes)
    counts = {len(each) for each in (controllers, starts) if each is not None}
    if not isinstance(scenes, Scene):
        counts.add(len(given))
    if len(counts) > 1:
        numbers = ", ".join(map(str, sorted(counts)))
        raise RunError(f"scenes, controllers and starts must be as many, not {numbers}")
    count = counts.pop() if counts else 1
    whole = given * count if isinstance(scenes, Scene) else given
    places: dict[int, int] = {}
    distinct: list[Scene] = []
    for scene in whole:
        if id(scene) not in places:
            places[id(scene)] = len(distinct)
            distinct.append(scene)
    jobs = [
        _Job(
            i,
            places[id(scene)],
            controllers[i] if controllers is not None else None,
            starts[i] if starts is not None else None,
        )
        for i, scene in enumerate(whole)
    ]
    return distinct, jobs


class _Runner:
    """Runs jobs in this process; the last scene stays compiled."""

    def __init__(self, scenes: Sequence[Scene], settings: _Settings) -> None:
        self._scenes, self._settings = scenes, settings
        self._rollout: Rollout | None = None
        self._scene = -1

    def run(self, job: _Job) -> RolloutResult:
        """Run a job; an error is a result."""
        try:
            recording = self._compiled(job.scene).run(
                duration=self._settings.duration,
                controller=job.controller,
                probes=self._settings.probes,
                sample_rate=self._settings.sample_rate,
                start=job.start,
            )
        except KeyboardInterrupt:
            raise
        except CapabilityError as error:
            return RolloutResult(RunStatus.UNSUPPORTED, one_line(str(error)))
        except BaseException as error:  # SystemExit and panics of Rust are not Exceptions
            stop_if_requested()
            self.close()
            message = one_line(f"{type(error).__name__}: {error}".removesuffix(": "))
            return RolloutResult(RunStatus.FAILED, message)
        return _completed(recording)

    def close(self) -> None:
        """Release what the engine holds."""
        if self._rollout:
            self._rollout.close()
        self._rollout, self._scene = None, -1

    def _compiled(self, scene: int) -> Rollout:
        if self._rollout is None or scene != self._scene:
            self.close()
            self._rollout, self._scene = _compiled(self._scenes[scene], self._settings), scene
        return self._rollout


def _compiled(scene: Scene, settings: _Settings) -> Rollout:
    return Rollout(
        scene,
        engine=settings.engine,
        timestep=settings.timestep,
        options=settings.options,
        seed=settings.seed,
    )


def _completed(recording: Recording) -> RolloutResult:
    if recording.status != Status.DIVERGED:
        return RolloutResult(RunStatus.COMPLETED, "", recording)
    times = recording["time"]
    after = f"after {times[-1]:g} s" if len(times) else "at the start"
    return RolloutResult(RunStatus.DIVERGED, f"diverged {after}", recording)


def _has_threads(engine: str | Engine) -> bool:
    """Return whether an engine steps runs in threads of its own."""
    chosen = open_engine(engine) if isinstance(engine, str) else engine
    return bool(getattr(chosen, "open_loop_threads", False))


def _in_threads(
    scenes: Sequence[Scene], jobs: Sequence[_Job], settings: _Settings, *, threads: int
) -> Iterator[tuple[int, RolloutResult]]:
    """Yield the runs that the engine's own threads can compute; the others are left."""
    groups: dict[tuple[int, float], list[_Job]] = {}
    steps = round(settings.duration / settings.timestep)
    for job in jobs:
        known = isinstance(job.controller, ConstantCommand | CommandSequence | None)
        if known and steps > 0 and not settings.probes and not scenes[job.scene].sensors:
            rate = job.controller.rate if job.controller else 0.0
            groups.setdefault((job.scene, rate), []).append(job)
    for (scene, rate), members in groups.items():
        stop_if_requested()
        try:
            with _compiled(scenes[scene], settings) as rollout:
                yield from _group(rollout, scenes[scene], members, rate, settings, threads)
        except CapabilityError:  # a result of each single run
            continue


def _group(
    rollout: Rollout,
    scene: Scene,
    jobs: Sequence[_Job],
    rate: float,
    settings: _Settings,
    threads: int,
) -> Iterator[tuple[int, RolloutResult]]:
    """Yield the runs of one scene whose commands have one rate [Hz]; 0 for no commands."""
    simulation, h = rollout.simulation, settings.timestep
    if not isinstance(simulation, OpenLoopSimulation):
        return
    steps = round(settings.duration / h)
    hold = whole_steps(rate, h, "controller's rate") if rate else steps
    every = whole_steps(settings.sample_rate, h, "sample rate")
    samples = [*range(0, steps, every), steps]
    size = len(simulation.layout.commands)
    home, runs, commands = initial_state(scene), [], []
    for job in jobs:
        start = home if job.start is None else job.start
        played = [_command(job, start.time + k * h, size) for k in range(0, steps, hold)]
        if all(each.shape == (size,) and np.isfinite(each).all() for each in played):
            runs.append((job, start))
            commands.append(played)
    if not runs:
        return
    array = np.array(commands, dtype=np.float64).reshape(len(runs), -1, size)
    found = simulation.open_loop_batch(
        [start for _, start in runs],
        array,
        hold=hold,
        steps=steps,
        samples=samples,
        threads=threads,
    )
    facts = {**rollout.facts, "ended": str(End.DURATION)}
    for (job, start), sequence, states in zip(runs, array, found, strict=True):
        if states:
            times = [start.time + k * h for k in samples]
            sent = [sequence[min(k, steps - 1) // hold] for k in samples]
            channels = state_channels(simulation.layout, times, states=states, commands=sent)
            recording = Recording(channels, str(Status.RUNNING), facts)
            yield job.index, RolloutResult(RunStatus.COMPLETED, "", recording)


def _command(job: _Job, t: float, size: int) -> Array:
    if job.controller is None:
        return np.zeros(size)
    return np.asarray(job.controller.update(t, _NOTHING))


class _Worker:
    """A process that runs one job after the other."""

    def __init__(self, scenes: Sequence[Scene], settings: _Settings) -> None:
        context = get_context("spawn")
        self.connection, other = context.Pipe()
        sent = tuple(map(_with_dictionaries, scenes))
        self._process = context.Process(target=_work, args=(other, sent, settings), daemon=True)
        self._process.start()
        other.close()
        self.ready = False
        self.job: _Job | None = None
        self.since = 0.0

    def greet(self) -> None:
        """Read that the process has started, which may take as long as it likes.

        Raises:
            RunError: If it has died instead.
        """
        try:
            self.ready = bool(self.connection.recv())
        except (EOFError, OSError):
            code = self.stop()
            raise RunError(f"processes do not start: exit code {code}; workers=0") from None

    def assign(self, job: _Job) -> None:
        """Send a job; the worker must have none."""
        self.job, self.since = job, monotonic()
        self.connection.send(job)

    def stop(self) -> int | None:
        """Kill the process and return its exit code, if it had one already."""
        self._process.join(0.2)
        code = self._process.exitcode
        self._process.kill()
        self._process.join()
        self.connection.close()
        return code


def _with_dictionaries(scene: Scene) -> Scene:
    """Return a scene that can be sent to a process; read-only views of dictionaries cannot."""
    robots = (
        replace(
            robot,
            positions=dict(robot.positions),
            actuation=dict(robot.actuation),
            link_materials=dict(robot.link_materials),
        )
        for robot in scene.robots
    )
    return replace(scene, robots=tuple(robots))


def _work(connection: Connection, scenes: Sequence[Scene], settings: _Settings) -> None:
    """Run jobs until the pipe is closed."""
    runner = _Runner(scenes, settings)
    connection.send(True)
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        connection.send(runner.run(job))


def _in_processes(
    scenes: Sequence[Scene], jobs: Iterable[_Job], settings: _Settings, *, size: int, timeout: float
) -> Iterator[tuple[int, RolloutResult]]:
    """Yield the runs of jobs as they end, in processes; one that dies takes its own run only."""
    waiting = deque(jobs)
    workers: list[_Worker] = []
    try:
        while waiting or any(worker.job for worker in workers):
            stop_if_requested()
            busy = sum(worker.job is not None for worker in workers)
            while len(workers) < min(size, busy + len(waiting)):
                workers.append(_started(scenes, settings))
            for worker in workers:
                if worker.ready and worker.job is None and waiting:
                    _assign(worker, waiting.popleft())
            pending = [worker for worker in workers if worker.job or not worker.ready]
            answered = wait([worker.connection for worker in pending], _INTERVAL)
            for worker in pending:
                has_answer = worker.connection in answered
                if worker.job is None:
                    if has_answer:
                        worker.greet()
                elif result := _result(worker, has_answer, timeout):
                    yield worker.job.index, result
                    worker.job = None
                    if result.status in (RunStatus.CRASHED, RunStatus.TIMED_OUT):
                        workers.remove(worker)
    finally:
        for worker in workers:
            worker.stop()


def _started(scenes: Sequence[Scene], settings: _Settings) -> _Worker:
    try:
        return _Worker(scenes, settings)
    except (TypeError, AttributeError, ValueError) as error:  # of pickling
        raise RunError(f"the runs cannot be sent to a process ({error}); workers=0") from error


def _assign(worker: _Worker, job: _Job) -> None:
    try:
        worker.assign(job)
    except OSError:  # it has died; the result says so
        pass
    except (TypeError, AttributeError, ValueError) as error:  # of pickling
        worker.job = None
        name = type(job.controller).__name__
        raise RunError(f"{name} cannot be sent to a process ({error}); workers=0") from error


def _result(worker: _Worker, ready: bool, timeout: float) -> RolloutResult | None:
    """Return the result of a worker's job, if it has ended in whatever way."""
    if ready:
        try:
            result: RolloutResult = worker.connection.recv()
            return result
        except (EOFError, OSError):
            code = worker.stop()
            return RolloutResult(RunStatus.CRASHED, f"the process ended with exit code {code}")
    if monotonic() - worker.since > timeout:
        worker.stop()
        return RolloutResult(RunStatus.TIMED_OUT, f"no result within {timeout:g} s")
    return None
