"""Controllers of the legs: a plan that is played back, and one that is corrected by feedback."""

from math import cos, sin, sqrt

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.legs import LegKind, PlannedWalk
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY

CONTROL_RATE = 200.0
"""[Hz]."""


class WalkDriver:
    """Interpolates the planned joint values linearly between frames."""

    rate = CONTROL_RATE

    def __init__(self, time: Array, joints: Array) -> None:
        """Set the plan.

        Args:
            time: Times of the frames [s], shape (n,).
            joints: Commands at the frames [m or rad], shape (n, c).
        """
        self._time, self._joints = time, joints

    def reset(self) -> None:
        """Do nothing: it has no state."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the commands at a time [s], shape (c,)."""
        return at_time(self._time, self._joints, t)


def at_time(time: Array, rows: Array, t: float) -> Array:
    """Interpolate rows linearly, constant beyond both ends, shape (c,)."""
    i = min(max(int(time.searchsorted(t, side="right")) - 1, 0), len(time) - 2)
    part = min(max(float((t - time[i]) / (time[i + 1] - time[i])), 0.0), 1.0)
    command: Array = (1 - part) * rows[i] + part * rows[i + 1]
    return command


PLACEMENT = 0.5
"""Share of the capture point's displacement by which a foot lands off its plan [-]."""
COURSE = 0.8
"""Rate at which stance feet bring the body back to its course [1/s]."""
FARTHEST = 0.08
"""Greatest displacement of a foot from its plan [m]."""


class BodyFeedback:
    """Corrects the planned feet by the measured motion of the body.

    A swinging foot lands farther in the direction in which the body moves too fast, by a share
    of the displacement of its capture point, sqrt(h / g) times the error of velocity (M. Raibert,
    "Legged robots that balance", 1986; J. Pratt et al., 2006). Feet on the ground move the body
    back to its planned position and heading.
    """

    rate = CONTROL_RATE

    def __init__(
        self, walk: PlannedWalk, time: Array, joints: Array, *, columns: list[int], unit_m: float
    ) -> None:
        """Set the plan.

        Args:
            walk: The plan, of a machine whose legs slide (TTT1, TTT2).
            time: Times of its frames [s], shape (n,).
            joints: Joint values at the frames [m], legs in order, shape (n, 12).
            columns: Columns of the joints in the order of the commands.
            unit_m: Length of the machine's unit [m].
        """
        machine = walk.plan.machine
        self._time, self._joints, self._columns = time, joints, columns
        body = walk.body[:, :2] * unit_m
        heading = np.unwrap(2 * np.arctan2(walk.body[:, 6], walk.body[:, 3]))
        self._course = np.column_stack([body, heading])
        self._velocity = np.gradient(body, time, axis=0)
        self._support = walk.support
        self._rest = machine.neutral_feet[:, :2] * unit_m
        self._lag = sqrt(machine.height * unit_m / GRAVITY)
        lateral = machine.gain if machine.kind is LegKind.TTT2 else 1.0
        self._gain = np.array([machine.gain, lateral])
        self._shift = np.zeros((4, 2))

    def reset(self) -> None:
        """Forget all displacements."""
        self._shift = np.zeros((4, 2))

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the commands at a time [s], shape (c,)."""
        x, y, _, w, _, _, z = measurement.poses[0]
        heading = 2 * np.arctan2(z, w)
        planned = at_time(self._time, self._course, t)
        turned = float(np.angle(np.exp(1j * (heading - planned[2]))))
        into = np.array([[cos(heading), sin(heading)], [-sin(heading), cos(heading)]])
        late = into @ (np.array([x, y]) - planned[:2])
        fast = into @ (measurement.twists[0, :2] - at_time(self._time, self._velocity, t))
        i = int(np.clip(np.searchsorted(self._time, t, side="right") - 1, 0, len(self._time) - 1))
        begun = self._time[0] < t < self._time[-1]
        for leg in range(4):
            if self._support[i, leg]:
                # A foot that moves forward under the body brings the body back.
                aside = np.array([-self._rest[leg, 1], self._rest[leg, 0]])
                self._shift[leg] += COURSE / self.rate * (late + turned * aside) * begun
            else:
                goal = PLACEMENT * self._lag * fast
                self._shift[leg] += (goal - self._shift[leg]) * SETTLING / self.rate
            length = np.linalg.norm(self._shift[leg])
            self._shift[leg] *= min(1.0, FARTHEST / max(float(length), 1e-12))
        values = at_time(self._time, self._joints, t).reshape(4, 3)
        values[:, :2] += self._shift / self._gain
        return np.asarray(values.ravel()[self._columns])


SETTLING = 25.0
"""Rate at which a swinging foot approaches its displacement [1/s]."""
