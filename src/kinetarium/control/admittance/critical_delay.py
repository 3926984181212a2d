"""The delay at which an admittance loop becomes unstable in stiff contact, in closed form.

One axis of the loop, its measured force late by tau: D x'' + K x' + s (c x' + k x)(t - tau) = 0.
Without delay it is stable. The first pair of roots to cross the imaginary axis does so at w with
D^2 w^4 + (K^2 - (s c)^2) w^2 - (s k)^2 = 0, which has one positive root, and at the delay
tau = -arg((D w^2 - j K w)/(s (k + j c w)))/w.
"""

from cmath import phase
from math import hypot, inf, pi, sqrt


def critical_frequency(D: float, K: float, *, s: float, stiffness: float, damping: float) -> float:
    """Return the frequency at which the loop oscillates at its critical delay [rad/s].

    Args:
        D: Virtual mass times s [kg].
        K: Virtual damper times s [N s/m].
        s: Gain of the wrench error [-].
        stiffness: k of the contact [N/m].
        damping: c of the contact [N s/m].
    """
    b = (K * K - (s * damping) ** 2) / (2 * D * D)
    product = s * stiffness / D
    # The root of a quadratic, in the form without cancellation.
    root = hypot(b, product)
    squared = product * product / (b + root) if b > 0 else root - b
    return sqrt(squared)


def critical_delay(D: float, K: float, *, s: float, stiffness: float, damping: float) -> float:
    """Return the delay from which the loop is unstable [s]; infinite without stiffness.

    The arguments are those of `critical_frequency`.
    """
    if stiffness <= 0:
        return inf
    w = critical_frequency(D, K, s=s, stiffness=stiffness, damping=damping)
    angle = -phase(complex(D * w * w, -K * w) / complex(s * stiffness, s * damping * w))
    return (angle % (2 * pi)) / w
