"""PassivityObserver: keeps a late contact from giving energy that it never took.

The force that is measured now acts on arms that are where the simulated bodies were a lag
ago. The true contact does the work F . V_real, the simulated bodies take F . V: what they
take too much is seen by adding up the difference, both at the time of measurement, without
knowing the lag. It is then taken out by a pair of impulses along the contact (time-domain
passivity control: Hannaford, Ryu, 2002), which change neither momentum.
"""

from math import copysign, sqrt

import numpy as np

from kinetarium.control.floating_body import FloatingBody
from kinetarium.spatial.arrays import Array


class PassivityObserver:
    """Watches the energy of two bodies in contact.

    Attributes:
        excess: Energy that the bodies have got beyond what the contact gave [J].
        removed: Energy that has been taken out [J].
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.excess = self.removed = 0.0

    def watch(self, *, taken: float, given: float) -> None:
        """Add what the bodies took [J] beyond what the contact gave [J] in the same time."""
        self.excess += taken - given

    def dissipate(
        self, first: FloatingBody, second: FloatingBody, *, normal: Array, point: Array
    ) -> None:
        """Take the excess out of the bodies' relative motion at the contact, as far as it goes.

        Args:
            first: One body.
            second: The other.
            normal: Direction of the contact, a unit vector, shape (3,).
            point: Where they touch, in the world [m], shape (3,).
        """
        if self.excess <= 0:
            return
        speed = float((first.velocity_at(point) - second.velocity_at(point)) @ normal)
        mass = 1 / (first.mobility(normal, point=point) + second.mobility(normal, point=point))
        left = speed * speed - 2 * self.excess / mass
        after = copysign(sqrt(left), speed) if left > 0 else 0.0
        impulse = mass * (after - speed) * np.asarray(normal)
        first.push(impulse, point=point)
        second.push(-impulse, point=point)
        taken = mass * (speed * speed - after * after) / 2
        self.excess -= taken
        self.removed += taken
