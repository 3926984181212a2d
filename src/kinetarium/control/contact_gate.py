"""ContactGate: opens once when a force shows that there is contact, and stays open."""

from math import hypot, inf

from kinetarium.spatial.arrays import Array


class ContactGate:
    """Decides when the wanted wrench may act.

    Without it the impulse of the admittance law winds up on the way: at -500 N and the
    paper's gains it asks for 1.9 m after 2.8 s.

    Attributes:
        opened_at: When it opened [s]; infinite while it is shut.
    """

    def __init__(self, *, threshold: float, armed_after: float) -> None:
        """Start shut.

        Args:
            threshold: Force that opens it [N]; one of zero is open from the start.
            armed_after: Time before which nothing opens it, for servos and filters settle [s].
        """
        self._threshold, self._armed_after = threshold, armed_after
        self.reset()

    def reset(self) -> None:
        """Shut it."""
        self.opened_at = 0.0 if self._threshold == 0 else inf

    @property
    def is_open(self) -> bool:
        """Whether it has opened."""
        return self.opened_at < inf

    def update(self, t: float, F_B: Array) -> bool:
        """Look at a filtered wrench [N, N m] at a time [s]; say whether it opens just now."""
        if self.is_open or t < self._armed_after:
            return False
        if hypot(*F_B[:3].tolist()) <= self._threshold:
            return False
        self.opened_at = t
        return True
