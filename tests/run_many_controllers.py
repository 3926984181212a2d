"""Controllers that a process of its own can import."""

import os
import time

import numpy as np


class Wave:
    """Closed loop: depends on what it measures."""

    rate = 100.0

    def __init__(self, gain: float) -> None:
        self.gain = gain

    def reset(self) -> None:
        pass

    def update(self, t, measurement):
        return np.full(4, self.gain - measurement.twists[0, 0])


class Faulty(Wave):
    """Fails in one way or the other, unless told not to."""

    def __init__(self, way: str) -> None:
        super().__init__(1.0)
        self.way = way

    def update(self, t, measurement):
        match self.way:
            case "raises":
                raise ValueError("no\nwheels")
            case "crashes":
                os._exit(7)
            case "hangs":
                time.sleep(60)
            case "shape":
                return np.zeros(3)
            case "diverges":
                return np.full(4, np.nan)
        return super().update(t, measurement)
