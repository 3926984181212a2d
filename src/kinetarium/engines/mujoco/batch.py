"""Open-loop runs of one scene in MuJoCo's own threads (mujoco.rollout)."""

from collections.abc import Iterator, Sequence

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array

_PHYSICS = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
_MOST_BYTES = 2**26
"""Memory for the states of runs that are computed together [bytes]."""
_SOUND = 1e4
"""Largest number in a state of a run that is certainly not diverging [m, rad, m/s, rad/s]."""
_LATE = 1e-6
"""Rounding of MuJoCo's clock, which stands still in a run that it has given up [s]."""


def open_loop_states(
    model: mujoco.MjModel, starts: Array, commands: Array, *, hold: int, steps: int, threads: int
) -> Iterator[Array]:
    """Yield the states of each run after 0, 1, ... steps, shape (steps + 1, nq + nv).

    MuJoCo's own step is the same in a thread, to the bit. Runs that may diverge, or that it gave
    up, have no rows; they are for a loop that judges every step.

    Args:
        starts: The states at the start [physics state of MuJoCo], shape (runs, n).
        commands: The commands of each run, shape (runs, ticks, commands).
        hold: Steps that a command lasts.
        steps: Steps of each run.
        threads: Number of threads.
    """
    size = starts.shape[1]
    together = max(1, _MOST_BYTES // max(8 * steps * (size + commands.shape[2]), 1))
    datas = [mujoco.MjData(model) for _ in range(max(threads, 1))]
    with rollout.Rollout(nthread=threads if threads > 1 else 0) as pool:
        for first in range(0, len(starts), together):
            begin = starts[first : first + together]
            control = np.repeat(commands[first : first + together], hold, axis=1)[:, :steps]
            if len(begin) == 1:  # sizes of one would be inferred from the others
                control = control.reshape(1, steps, -1)
            later, _ = pool.rollout(model, datas, begin, np.ascontiguousarray(control), nstep=steps)
            states = np.concatenate([begin[:, np.newaxis], later], axis=1)
            clock = states[:, -1, 0] - states[:, 0, 0] - steps * model.opt.timestep
            numbers = states[:, :, 1 : 1 + model.nq + model.nv]
            sound = (np.abs(numbers) < _SOUND).all(axis=(1, 2)) & (np.abs(clock) < _LATE)
            for run, good in zip(numbers, sound.tolist(), strict=True):
                yield run if good else run[:0]


def physics_state(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return the physics state of some data, shape (n,)."""
    row = np.empty(mujoco.mj_stateSize(model, _PHYSICS))
    mujoco.mj_getState(model, data, row, _PHYSICS)
    return row


def exceeds_effort(
    states: Array,
    commands: Array,
    *,
    hold: int,
    positions: NDArray[np.intp],
    dofs: NDArray[np.intp],
    gains: Sequence[Array],
    effort: Array,
) -> bool:
    """Return whether a servo is at its effort limit in some step of a run.

    Args:
        states: The states of a run, shape (steps + 1, nq + nv).
        commands: Its commands to the servos, shape (ticks, servos).
        hold: Steps that a command lasts.
        positions: Indices into a state of the servos' positions.
        dofs: Indices into a state of the servos' speeds.
        gains: Scale of the command, stiffness and damping of each servo.
        effort: Effort limit of each servo [N m or N].
    """
    before = states[:-1]
    targets = np.repeat(commands, hold, axis=0)[: len(before)]
    scale, stiffness, damping = gains
    force = scale * targets - stiffness * before[:, positions] - damping * before[:, dofs]
    return bool((np.abs(force) > effort * (1 - 1e-9)).any())
