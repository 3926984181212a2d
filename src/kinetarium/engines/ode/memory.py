"""The state of all bodies read from ODE's own memory in one go.

ODE hands out pointers to the numbers of a body that stay valid as long as it
lives. One NumPy array laid over the stretch of memory that holds them all reads
or writes everything in a single indexing, where one call per number and body
would cost more than the step itself.
"""

from collections.abc import Sequence
from ctypes import CDLL

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array

POSITION, QUATERNION, ROTATION = slice(0, 3), slice(3, 7), slice(7, 16)
LINEAR, ANGULAR, VELOCITY = slice(16, 19), slice(19, 22), slice(16, 22)
POSE = slice(0, 7)
NUMBERS = 22
"""What is known of a body: position, quaternion, rotation by rows, velocities."""


class _Stretch:
    """A stretch of memory as NumPy's array interface describes it."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {
            "data": (address, False), "shape": (count,), "typestr": "<f8", "version": 3,
        }  # fmt: skip


class BodyMemory:
    """Positions, rotations, velocities and pending forces of n bodies.

    Attributes:
        now: The state when it was last read, shape (22, n + 1): a row for each number, by the
            slices of this module, a column for each body and the last for the world.
        before: The state at the start of the last step, likewise.
        both: `before` and `now` in one array, shape (2 * 22 * (n + 1),).
    """

    def __init__(self, library: CDLL, handles: Sequence[int]) -> None:
        """Find the bodies' numbers.

        Args:
            library: ODE.
            handles: The bodies.
        """
        state = [
            (library.dBodyGetPosition, [0, 1, 2]),
            (library.dBodyGetQuaternion, [0, 1, 2, 3]),
            (library.dBodyGetRotation, [0, 1, 2, 4, 5, 6, 8, 9, 10]),  # rows padded to four
            (library.dBodyGetLinearVel, [0, 1, 2]),
            (library.dBodyGetAngularVel, [0, 1, 2]),
        ]
        force = [(library.dBodyGetForce, [0, 1, 2]), (library.dBodyGetTorque, [0, 1, 2])]
        addresses = [
            [
                [give(handle) + 8 * offset for give, offsets in numbers for offset in offsets]
                for handle in handles
            ]
            for numbers in (state, force)
        ]
        state_addresses = np.array(addresses[0], dtype=np.int64).reshape(-1, NUMBERS).T
        force_addresses = np.array(addresses[1], dtype=np.int64).reshape(-1, 6)
        both = np.concatenate([state_addresses.ravel(), force_addresses.ravel()])
        first = int(both.min(initial=2**62))
        count = (int(both.max(initial=first)) - first) // 8 + 1
        self._numbers: Array = np.asarray(_Stretch(first, count)) if len(handles) else np.zeros(1)
        self._state: NDArray[np.int64] = (state_addresses - first) // 8
        self._force: NDArray[np.int64] = (force_addresses - first) // 8
        states = np.zeros((2, NUMBERS, len(handles) + 1))
        states[:, QUATERNION, -1] = (1.0, 0.0, 0.0, 0.0)
        states[:, ROTATION, -1] = np.eye(3).ravel()
        self.both = states.reshape(-1)
        self.before, self.now = states
        self._moving = self.now[:, :-1]

    def read(self) -> None:
        """Read the state into `now`."""
        self._moving[...] = self._numbers[self._state]

    def begin_step(self) -> None:
        """Keep the present state as that at the start of a step."""
        self.before[...] = self.now

    def go_back(self) -> None:
        """Put the bodies back to the start of the step, to the last bit."""
        self.now[...] = self.before
        self._numbers[self._state] = self._moving

    def save(self) -> Array:
        """Copy both states."""
        return self.both.copy()

    def restore(self, saved: Array) -> None:
        """Put the bodies back to saved states, to the last bit."""
        self.both[...] = saved
        self._numbers[self._state] = self._moving

    def rotation(self, body: int) -> Array:
        """Give the present rotation of a body, shape (3, 3)."""
        return self.now[ROTATION, body].reshape(3, 3)

    def forces(self) -> Array:
        """Copy the forces and torques that wait for the next step [N, N m], shape (n, 6)."""
        return np.asarray(self._numbers[self._force])

    def set_forces(self, forces: Array) -> None:
        """Replace the forces and torques that wait for the next step [N, N m], shape (n, 6)."""
        self._numbers[self._force] = forces
