"""VariableImpedance: gains that change during contact without adding energy that is not there.

With h = D^-1 (I - K l), the twist by which the body departs from its path, the law is
D h' = F~ - K h: its energy is h^T D h/(2 s), and K dissipates h^T K h/s. A change of D that
keeps h, and so the motion, adds h^T dD h/(2 s). A tank is filled by what K dissipates and pays
for changes; what it cannot pay waits (Ferraguti, Secchi, Fantuzzi, "A tank-based approach to
impedance control with variable stiffness", ICRA 2013). Without it, D that grows in motion and
shrinks at rest drives the contact unstable.
"""

import numpy as np

from kinetarium.control.admittance.law import AdmittanceGains, AdmittanceSE3
from kinetarium.errors import KinetariumError
from kinetarium.spatial.arrays import Array

_DONE = 1e-12
"""Share of a change that is rounding [-]."""


class EnergyTank:
    """Energy that changes of the impedance may use.

    Attributes:
        level: Present energy [J].
        capacity: Greatest energy [J].
        filled: All energy that was put in so far, without the initial one [J].
        spent: All energy that was taken so far [J].
    """

    def __init__(self, level: float, *, capacity: float) -> None:
        """Fill the tank to a level [J].

        Raises:
            KinetariumError: If the level is not within the capacity.
        """
        if not 0 <= level <= capacity:
            raise KinetariumError(f"a tank of {capacity:g} J cannot start with {level:g} J")
        self.level, self.capacity = level, capacity
        self.filled = self.spent = 0.0

    def fill(self, energy: float) -> None:
        """Add energy [J], as far as there is room."""
        level = min(self.level + energy, self.capacity)  # never above it, by rounding neither
        self.filled += level - self.level
        self.level = level

    def share(self, wanted: float) -> float:
        """Return the share of some energy [J] that is there [-]."""
        return 1.0 if wanted <= self.level else self.level / wanted

    def spend(self, energy: float) -> None:
        """Take energy [J] that is there."""
        energy = min(energy, self.level)
        self.level -= energy
        self.spent += energy


class VariableImpedance:
    """Changes the gains of a law; with a tank, as far as that pays for it.

    Attributes:
        tank: The tank; None for changes at once, whatever they add.
        added: Energy that changes of the gains have added so far, minus what they removed [J].
    """

    def __init__(self, law: AdmittanceSE3, *, tank: EnergyTank | None) -> None:
        """Start with the gains that the law has."""
        self._law, self.tank = law, tank
        self._target: AdmittanceGains | None = None
        self.added = 0.0

    @property
    def is_done(self) -> bool:
        """Whether the gains are those that were asked for last."""
        return self._target is None

    @property
    def energy(self) -> float:
        """Virtual kinetic energy of the departure from the path [J]."""
        gains, h = self._law.gains, self._law.departure
        return float(h @ matrix(gains.D) @ h) / (2 * gains.wrench_gain)

    def request(self, gains: AdmittanceGains) -> None:
        """Ask for other gains; the next ticks change to them.

        Raises:
            KinetariumError: If the gain of the wrench error differs, which is no impedance.
        """
        if gains.wrench_gain != self._law.gains.wrench_gain:
            raise KinetariumError("a variable impedance keeps the gain of the wrench error")
        self._target = gains

    def advance(self) -> None:
        """Fill the tank and change the gains as far as possible: once per tick, after the law."""
        law, gains = self._law, self._law.gains
        h = law.departure
        if self.tank:
            dissipated = float(h @ matrix(gains.K) @ h) / gains.wrench_gain * law.timestep
            self.tank.fill(dissipated)
        if self._target is None:
            return
        D, K = (matrix(self._target.D) - matrix(gains.D), matrix(self._target.K) - matrix(gains.K))
        adds = float(h @ D @ h) / (2 * gains.wrench_gain)
        share = self.tank.share(adds) if self.tank else 1.0
        if share > 1 - _DONE:
            law.change_gains(self._target)
            self._target = None
        else:
            law.change_gains(
                AdmittanceGains(
                    matrix(gains.D) + share * D,
                    matrix(gains.K) + share * K,
                    wrench_gain=gains.wrench_gain,
                    impulse_limit=gains.impulse_limit,
                )
            )
        self.added += share * adds
        if self.tank and adds > 0:
            self.tank.spend(share * adds)
        elif self.tank:
            self.tank.fill(-adds)


def matrix(gain: object) -> Array:
    """Return a gain of one number, six or a matrix as a matrix, shape (6, 6)."""
    values = np.asarray(gain, dtype=np.float64)
    return values if values.ndim == 2 else np.diag(np.broadcast_to(values, 6))
