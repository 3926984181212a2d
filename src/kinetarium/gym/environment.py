"""RobotEnv: a task in an engine as a Gymnasium environment; make and make_vec."""

from functools import partial
from typing import Any

import numpy as np

from kinetarium.engines.protocol import Engine, NotFiniteError, Simulation, State, Status
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError, MissingPackageError, UnknownNameError
from kinetarium.gym.tasks import DrivePath, ReachPose, RobotTask, matched
from kinetarium.roles.options import RoleOptions
from kinetarium.spatial.arrays import Array

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AsyncVectorEnv
except ImportError:
    raise MissingPackageError("gymnasium", extra="gym") from None

TASKS = ("reach-pose", "drive-path")
"""The tasks that robots are given by name."""


class RobotEnv(gymnasium.Env[Array, Array]):
    """A task in an engine.

    Actions are within -1 .. 1. An episode is truncated at the task's duration; it is terminated
    by the task, or if the simulation diverges: the reward of that step is -1, and `info` has
    "diverged".

    Attributes:
        task: The task.
        engine: Name of the engine.
    """

    def __init__(self, task: RobotTask, *, engine: str | Engine = "mujoco", seed: int = 0) -> None:
        """Compile the scene of a task.

        Args:
            engine: An engine or its name.
            seed: Seed of everything random in the engine.

        Raises:
            KinetariumError: If the engine cannot simulate the scene, or the period of the actions
                is not a multiple of the time step.
        """
        chosen = open_engine(engine) if isinstance(engine, str) else engine
        self.task, self.engine = task, chosen.info.name
        self.metadata = {"render_modes": []}
        self._steps = round(task.period / task.timestep)
        if self._steps < 1 or abs(self._steps * task.timestep - task.period) > 1e-9:
            raise KinetariumError(
                f"the period of actions, {task.period:g} s, is not a multiple of the time step,"
                f" {task.timestep:g} s"
            )
        self._most = round(task.duration / task.period)
        self._simulation: Simulation = chosen.compile(
            task.scene, timestep=task.timestep, options=matched(task, chosen), seed=seed
        )
        self._count = 0
        state = task.begin(np.random.default_rng(0))
        self._seen = task.observe(state)
        self.action_space = Box(-1.0, 1.0, (task.actions,), np.float64)
        self.observation_space = Box(-np.inf, np.inf, self._seen.shape, np.float64)

    @property
    def simulation(self) -> Simulation:
        """The scene inside the engine."""
        return self._simulation

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seed of the environment's random numbers; they continue if None.
            options: Not used.
        """
        super().reset(seed=seed)
        state = self.task.begin(self.np_random)
        self._simulation.reset(state)
        self._count = 0
        self._seen = self.task.observe(self._simulation.state())
        return self._seen.copy(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Act for one period.

        Raises:
            KinetariumError: If the action has another shape, or is not finite.
        """
        action = np.asarray(action, dtype=np.float64)
        if action.shape != (self.task.actions,) or not np.all(np.isfinite(action)):
            raise KinetariumError(f"an action is {self.task.actions} finite numbers, not {action}")
        state = self._advance(self.task.command(np.clip(action, -1.0, 1.0)))
        self._count += 1
        if state is None:
            return self._seen.copy(), -1.0, True, False, {"diverged": True}
        self._seen = self.task.observe(state)
        score = self.task.score(state)
        over = self._count >= self._most and not score.ended
        return self._seen.copy(), float(score.reward), score.ended, over, dict(score.facts)

    def _advance(self, command: Array) -> State | None:
        """Return the state after a period, or None if the simulation has diverged."""
        try:
            self._simulation.step(command, self._steps)
        except NotFiniteError:
            return None
        return None if self._simulation.status is Status.DIVERGED else self._simulation.state()

    def close(self) -> None:
        """Release what the engine holds; further calls do nothing."""
        self._simulation.close()


def make(
    robot: str = "",
    *,
    task: str | RobotTask = "reach-pose",
    engine: str | Engine = "mujoco",
    reading: RoleOptions | None = None,
    seed: int = 0,
    **settings: Any,
) -> RobotEnv:
    """Make an environment.

    Example:
        >>> from kinetarium.gym import make
        >>> env = make(robot="panda", engine="mujoco", task="reach-pose")
        >>> observation, info = env.reset(seed=1)
        >>> observation.shape, env.action_space.shape
        ((27,), (7,))
        >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        >>> env.close()

    Args:
        robot: A robot of the catalogue, or a URDF, xacro or MJCF file; not used if `task` has a
            scene of its own.
        task: "reach-pose" for a robot with an arm, "drive-path" for one with wheels, or a
            `RobotTask`.
        engine: An engine or its name.
        reading: How the robot is read and its roles are found.
        seed: Seed of everything random in the engine.
        **settings: Arguments of `ReachPose` or `DrivePath`.

    Raises:
        KinetariumError: If there is no such task, robot or engine, or the robot has not the parts
            that the task needs.
    """
    chosen = open_engine(engine) if isinstance(engine, str) else engine
    if isinstance(task, str):
        if task not in TASKS:
            raise UnknownNameError("task", task, known=TASKS)
        if not robot:
            raise KinetariumError(f"the task '{task}' needs a robot")
        found = (reading or RoleOptions()).open(robot)
        if task == "reach-pose":
            task = ReachPose(found, **settings)
        else:
            task = DrivePath(found, engine=chosen, **settings)
    elif settings:
        raise KinetariumError(f"a task that is given takes no {', '.join(settings)}")
    return RobotEnv(task, engine=chosen, seed=seed)


def make_vec(count: int, robot: str = "", **arguments: Any) -> AsyncVectorEnv:
    """Make environments in processes of their own, stepped at the same time.

    The processes are started afresh, since engines and their threads do not survive a fork; a
    script must therefore begin its work under `if __name__ == "__main__":`. With
    `reset(seed=s)` environment i has the seed s + i.

    Args:
        count: Number of environments, each in a process.
        robot: As in `make`.
        **arguments: As in `make`; the engine by its name.

    Raises:
        KinetariumError: As `make`, before a process is started.
    """
    if count < 1:
        raise KinetariumError(f"at least one environment is needed, not {count}")
    make(robot, **arguments).close()
    one = partial(make, robot, **arguments)
    return AsyncVectorEnv([one] * count, context="spawn")
