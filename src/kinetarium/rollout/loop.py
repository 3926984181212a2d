"""run and Rollout: the one simulation loop, for every scene, engine and controller."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from kinetarium.control.interface import Controller, Interaction, Measurement
from kinetarium.engines.base.engine import checked_timestep, initial_state
from kinetarium.engines.protocol import (
    Engine,
    Layout,
    NotFiniteError,
    Options,
    Simulation,
    State,
    Status,
)
from kinetarium.engines.registry import EngineVariant, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Channel, Recording
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array


class Probe(Protocol):
    """Reads one quantity of a simulation after each step.

    Example:
        >>> import numpy as np
        >>> from kinetarium import run
        >>> from kinetarium.scene import driving_ground
        >>> class ContactCount:
        ...     name, unit, columns = "contacts", "-", ("number",)
        ...
        ...     def read(self, simulation):
        ...         return np.array([len(simulation.contacts().depths)])
        >>> scene = driving_ground("husky4")
        >>> recording = run(scene, engine="mujoco", duration=0.1, probes=[ContactCount()])
        >>> bool(recording["contacts"][-1, 0] >= 4)
        True
    """

    @property
    def name(self) -> str:
        """Name of its channel."""

    @property
    def unit(self) -> str:
        """Unit of its values."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of its values, in order."""

    def read(self, simulation: Simulation) -> Array:
        """Return the values, shape (len(columns),)."""


class RunError(KinetariumError):
    """A run with invalid settings."""


class End(StrEnum):
    """Why a run ended; recorded as the fact "ended"."""

    DURATION = "duration"
    """The duration was reached."""
    UNTIL = "until"
    """The condition `until` became true."""
    DIVERGED = "diverged"
    """Its state diverged."""


class Rollout:
    """A scene that is compiled once and simulated many times.

    Every run starts from a given state, without contacts of earlier runs. With an engine that
    declares determinism, its result is identical to the bit to that of a newly compiled scene.

    Example:
        >>> from dataclasses import replace
        >>> import numpy as np
        >>> from kinetarium.engines import initial_state
        >>> from kinetarium.rollout import Rollout
        >>> from kinetarium.scene import driving_ground
        >>> scene = driving_ground("husky4")
        >>> start = initial_state(scene)
        >>> with Rollout(scene, engine="mujoco") as rollout:
        ...     for speed in (0.1, 0.2):  # [m/s]
        ...         moving = replace(start, twists=np.array([[speed, 0, 0, 0, 0, 0]]))
        ...         recording = rollout.run(duration=0.01, start=moving)
        ...         print(recording["twists"][0, 0, 0])
        0.1
        0.2
    """

    def __init__(
        self,
        scene: Scene,
        *,
        engine: str | Engine,
        timestep: float = 1e-3,
        options: Options | None = None,
        seed: int = 0,
    ) -> None:
        """Compile a scene.

        Args:
            engine: An engine or its name.
            timestep: Physics step [s].
            options: The engine's own options; its defaults if None.
            seed: Seed of everything random in the engine.
        """
        chosen = open_engine(engine) if isinstance(engine, str) else engine
        self._scene, self._timestep = scene, checked_timestep(timestep)
        settings = chosen.options() if options is None else options
        if isinstance(chosen, EngineVariant):
            settings = chosen.changed(settings)
        self._facts = {
            "engine": chosen.info.name,
            "engine_version": chosen.info.version,
            "options": asdict(settings),
            "timestep_s": timestep,
            "seed": seed,
        }
        self._simulation = chosen.compile(scene, timestep=timestep, options=settings, seed=seed)

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of its recordings: engine, version, options, time step and seed."""
        return dict(self._facts)

    @property
    def simulation(self) -> Simulation:
        """The compiled scene, after a run in its last state."""
        return self._simulation

    def run(
        self,
        *,
        duration: float,
        controller: Controller | None = None,
        interactions: Sequence[Interaction] = (),
        probes: Sequence[Probe] = (),
        sample_rate: float = 100.0,
        start: State | None = None,
        until: Callable[[State], bool] | None = None,
    ) -> Recording:
        """Simulate and record; the arguments are those of `kinetarium.run`."""
        simulation, h = self._simulation, self._timestep
        steps = round(duration / h)
        sample_steps = whole_steps(sample_rate, h, "sample rate")
        control_steps = (
            whole_steps(controller.rate, h, "controller's rate") if controller else steps + 1
        )
        # Nothing acts on the simulation between two events, so the engine takes several steps.
        stride = int(np.gcd(sample_steps, control_steps if controller else sample_steps))
        if interactions or until:
            stride = 1
        begin = initial_state(self._scene) if start is None else start
        simulation.reset(begin)
        samples = _Samples(simulation, self._scene, probes)
        readings = _SensorReadings(simulation, self._scene)
        if controller:
            controller.reset()
        command, end = np.zeros(len(simulation.layout.commands)), End.DURATION
        k = 0
        while end is End.DURATION:
            t = begin.time + k * h
            if until and until(simulation.state()):
                end = End.UNTIL
            if end is End.UNTIL or k >= steps:
                samples.take(t, command)
                break
            if controller and k % control_steps == 0:
                command = np.asarray(controller.update(t, _measure(simulation, readings)))
                if command.shape != (len(simulation.layout.commands),):
                    raise RunError(
                        f"the controller returned commands of shape {command.shape}; "
                        f"the scene takes {len(simulation.layout.commands)}"
                    )
            try:
                for interaction in interactions:
                    for wrench in interaction.update(t, _measure(simulation, readings)):
                        simulation.apply_wrench(wrench.solid, wrench.F_W, wrench.point)
                if k % sample_steps == 0:
                    samples.take(t, command)
                simulation.step(command, min(stride, steps - k))
                if simulation.status is Status.DIVERGED:
                    end = End.DIVERGED
            except NotFiniteError:  # a controller that diverges takes the run with it
                end = End.DIVERGED
            k = min(k + stride, steps)
        status = Status.DIVERGED if end is End.DIVERGED else Status.RUNNING
        return Recording(samples.channels(), str(status), {**self._facts, "ended": str(end)})

    def close(self) -> None:
        """Release what the engine holds."""
        self._simulation.close()

    def __enter__(self) -> Self:
        """Return itself, to be closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def run(
    scene: Scene,
    *,
    engine: str | Engine,
    duration: float,
    controller: Controller | None = None,
    interactions: Sequence[Interaction] = (),
    probes: Sequence[Probe] = (),
    timestep: float = 1e-3,
    sample_rate: float = 100.0,
    options: Options | None = None,
    seed: int = 0,
    start: State | None = None,
    until: Callable[[State], bool] | None = None,
) -> Recording:
    """Simulate a scene and record it; `kinetarium.rollout.Rollout` repeats runs.

    Example:
        >>> from kinetarium import run
        >>> from kinetarium.scene import arm_with_cube
        >>> recording = run(arm_with_cube(), engine="mujoco", duration=0.1)
        >>> recording.status, recording["q"].shape
        ('running', (11, 9))

        A body that is thrown, until it comes down:

        >>> import numpy as np
        >>> from kinetarium import Scene
        >>> from kinetarium.engines import State
        >>> from kinetarium.model import Sphere
        >>> from kinetarium.scene import free_body
        >>> scene = Scene(bodies=(free_body("ball", Sphere(0.1), mass=1.0),))
        >>> up = np.array([[0, 0, 4.905, 0, 0, 0]])
        >>> start = State(0.0, np.zeros(0), np.zeros(0), np.array([[0, 0, 0, 1, 0, 0, 0.0]]), up)
        >>> flight = run(
        ...     scene, engine="mujoco", duration=9.0, start=start,
        ...     until=lambda state: state.time > 0.5 and state.poses[0, 2] <= 0,
        ... )
        >>> flight.facts["ended"], float(flight["time"][-1].round(2))
        ('until', 1.0)

    Args:
        engine: An engine or its name.
        duration: How long at most [s].
        controller: Computes the commands; they are zero without one.
        interactions: Laws that act at every physics step.
        probes: Quantities recorded in each sample besides the state.
        timestep: Physics step [s].
        sample_rate: How often a sample is recorded [Hz]; the state at the end is always recorded.
        options: The engine's own options; its defaults if None.
        seed: Seed of everything random in the engine.
        start: The state to start from, with its velocities; that of the scene if None. Times of
            the recording and of the controller count from its time on.
        until: Whether the run is to end in a state, asked at the start and after every physics
            step.

    Returns:
        The recording; its status says whether the run diverged, its fact "ended" why it ended: by
        "duration", "until" or "diverged".

    Raises:
        RunError: If the physics rate is not a multiple of the other rates.
    """
    # Rates are checked before the scene is compiled, which may take long.
    whole_steps(sample_rate, checked_timestep(timestep), "sample rate")
    if controller:
        whole_steps(controller.rate, timestep, "controller's rate")
    with Rollout(scene, engine=engine, timestep=timestep, options=options, seed=seed) as rollout:
        return rollout.run(
            duration=duration,
            controller=controller,
            interactions=interactions,
            probes=probes,
            sample_rate=sample_rate,
            start=start,
            until=until,
        )


def whole_steps(rate: float, timestep: float, what: str) -> int:
    """Return the physics steps between two events of a rate [Hz].

    Raises:
        RunError: If they are not a whole number.
    """
    steps = 1 / (rate * timestep)
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6 * steps:
        raise RunError(
            f"the physics rate of {1 / timestep:g} Hz is not a multiple of the {what}, {rate:g} Hz"
        )
    return round(steps)


def _measure(simulation: Simulation, readings: Mapping[str, Array]) -> Measurement:
    state = simulation.state()
    return Measurement(state.q, state.v, state.poses, state.twists, readings)


class _SensorReadings(Mapping[str, Array]):
    """The force-torque sensors, read on access, since few controllers use them."""

    def __init__(self, simulation: Simulation, scene: Scene) -> None:
        self._simulation = simulation
        self._sensors = tuple(sensor.name for sensor in scene.sensors)

    def __getitem__(self, sensor: str) -> Array:
        if sensor not in self._sensors:
            raise KeyError(sensor)
        return self._simulation.wrench(sensor)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sensors)

    def __len__(self) -> int:
        return len(self._sensors)


def state_channels(
    layout: Layout, times: Sequence[float], *, states: Sequence[State], commands: Sequence[Array]
) -> dict[str, Channel]:
    """Return the channels that every recording has.

    Args:
        times: The times of the samples [s].
        states: The states then.
        commands: The commands from then on.
    """
    return {
        "time": Channel(np.array(times), "s"),
        "q": Channel(np.array([s.q for s in states]), "rad or m", layout.joints),
        "v": Channel(np.array([s.v for s in states]), "rad/s or m/s", layout.joints),
        "poses": Channel(np.array([s.poses for s in states]), "m, wxyz", layout.floating),
        "twists": Channel(np.array([s.twists for s in states]), "m/s, rad/s", layout.floating),
        "command": Channel(np.array(commands), "by drive", layout.commands),
    }


class _Samples:
    """Collects samples and turns them into channels."""

    def __init__(self, simulation: Simulation, scene: Scene, probes: Sequence[Probe]) -> None:
        self._simulation = simulation
        self._sensors = [sensor.name for sensor in scene.sensors]
        self._probes = probes
        self._rows: list[tuple[State, Array, list[Array]]] = []
        self._times: list[float] = []

    def take(self, t: float, command: Array) -> None:
        simulation = self._simulation
        read = [simulation.wrench(name) for name in self._sensors]
        read += [probe.read(simulation) for probe in self._probes]
        self._times.append(t)
        self._rows.append((simulation.state(), command.copy(), read))

    def channels(self) -> dict[str, Channel]:
        channels = state_channels(
            self._simulation.layout,
            self._times,
            states=[row[0] for row in self._rows],
            commands=[row[1] for row in self._rows],
        )
        wrench: tuple[str, ...] = ("fx", "fy", "fz", "mx", "my", "mz")
        extra = [(f"wrench/{name}", "N, N m", wrench) for name in self._sensors]
        extra += [(probe.name, probe.unit, tuple(probe.columns)) for probe in self._probes]
        for i, (name, unit, columns) in enumerate(extra):
            values = np.array([row[2][i] for row in self._rows])
            channels[name] = Channel(values, unit, columns)
        return channels


@dataclass(frozen=True)
class ContactProbe:
    """Reads normal force, depth and number of the contacts between two solids.

    Attributes:
        solid: One of them; the channel is named after it.
        other: The other.
    """

    solid: str
    other: str

    unit: ClassVar[str] = "N, m, 1"
    columns: ClassVar[tuple[str, ...]] = ("force", "depth", "number")

    @property
    def name(self) -> str:
        """Name of the channel."""
        return f"contact/{self.solid}"

    def read(self, simulation: Simulation) -> Array:
        """Return the sum of the normal forces [N], the greatest depth [m] and the number."""
        solids = simulation.layout.solids
        pair = {solids.index(self.solid), solids.index(self.other)}
        contacts = simulation.contacts()
        ours = [i for i, (a, b) in enumerate(contacts.solids.tolist()) if {a, b} == pair]
        force = np.vecdot(contacts.forces[ours], contacts.normals[ours]).sum()
        depth = contacts.depths[ours].max(initial=0.0)
        return np.array([force, depth, len(ours)])


@dataclass(frozen=True)
class ContactPoints:
    """Reads every contact, up to a number of them; exports draw its channel as arrows.

    Attributes:
        most: The number of contacts that are kept, those of the greatest force first.
    """

    most: int = 16

    name: ClassVar[str] = "contacts"
    unit: ClassVar[str] = "-, -, m, m, m, -, -, -, N, N, N, m"

    @property
    def columns(self) -> tuple[str, ...]:
        """For each contact its two solids, point, normal, force and depth, as in `Contacts`."""
        parts = ("a", "b", "x", "y", "z", "nx", "ny", "nz", "fx", "fy", "fz", "depth")
        return tuple(f"{i}/{part}" for i in range(self.most) for part in parts)

    def read(self, simulation: Simulation) -> Array:
        """Return the contacts, one after the other; NaN where there are fewer than `most`."""
        found = simulation.contacts()
        strongest = np.argsort(-np.linalg.norm(found.forces, axis=1), kind="stable")[: self.most]
        rows = np.full((self.most, 12), np.nan)
        rows[: len(strongest)] = np.column_stack(
            [found.solids, found.points, found.normals, found.forces, found.depths]
        )[strongest]
        return rows.ravel()
