"""AdmittanceSE3: admittance control in exponential coordinates of SE(3).

Woo, Choi, Won, "Admittance control for satellite docking ground testing system", 2024,
equations 5 to 15. Frames: {w} the world, {b} the body (its centre of mass), {d} the desired
pose, {r} the reference that the arm is to follow.

    T~ = X_WB^-1 X_WD,   l = log(T~) = [eta; xi],   A = Ad(T~)
    I' = s (F_D - A^T F_B)                                          the impulse, in {d}
    V_ref = A (V_D - D^-1 (I - K l))                                body twist, in {b}

The wrench error is integrated. D is therefore a virtual mass of D/s and K a virtual
damper of K/s: with V = V_ref a body that is pushed by F moves by (D/s) dV/dt = F - (K/s) V.

The paper uses the rates of l, with Kp = dexp(-l)^-1 D^-1 K dexp(-l) and
Kv = dexp(-l)^-1 D^-1 (equations 14 and 15); dexp cancels, and both forms are equal.

In stiff contact a delay makes the loop unstable (`critical_delay`).
"""

from cmath import exp, phase
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from math import hypot, inf, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.errors import KinetariumError
from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array, frozen


class Form(StrEnum):
    """How the law is computed; the results are the same."""

    REDUCED = "reduced"
    """Directly from the impulse to the twist, compiled."""
    PAPER = "paper"
    """With the rates of the exponential coordinates and dexp, as in the paper."""


class AntiWindup(StrEnum):
    """What keeps the impulse from growing without contact."""

    GATED = "gated"
    """The impulse is integrated after contact only, and clipped."""
    CLAMPED = "clamped"
    """The impulse is always integrated, and clipped."""
    NONE = "none"
    """The impulse is always integrated, without limit."""


HALF_TURN_MARGIN = 0.05
"""Margin to pi within which an angle is flagged [rad]: at pi the coordinates jump."""


@dataclass(frozen=True, slots=True, eq=False)
class AdmittanceGains:
    """The gains of the law: one number for all axes, one for each, or matrices.

    Attributes:
        D: Acts as a virtual mass D/s [kg, kg m^2], shape (), (6,) or (6, 6).
        K: Acts as a virtual damper K/s [N s/m, N m s], shape (), (6,) or (6, 6).
        wrench_gain: The factor s of the wrench error [-].
        impulse_limit: Bound of each entry of the impulse [N s, N m s].
        diagonal_D: The diagonal of D, shape (6,).
        diagonal_K: The diagonal of K, shape (6,).
        matrices: D and K as matrices, shape (6, 6) each; None if both are diagonal.
    """

    D: ArrayLike
    K: ArrayLike
    wrench_gain: float = 0.5
    impulse_limit: float = 1000.0
    diagonal_D: Array = field(init=False)
    diagonal_K: Array = field(init=False)
    matrices: tuple[Array, Array] | None = field(init=False)

    def __post_init__(self) -> None:
        """Broadcast scalars and check signs.

        Raises:
            KinetariumError: If D, s or the limit is not positive, K is negative, or a matrix is
                not symmetric.
        """
        matrices = []
        for name in ("D", "K"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            if values.shape not in ((), (6,), (6, 6)):
                raise KinetariumError(
                    f"{name} must be one number, six, or 6 by 6, not {values.shape}"
                )
            full = values if values.ndim == 2 else np.diag(np.broadcast_to(values, 6))
            matrices.append(frozen(full))
            object.__setattr__(self, f"diagonal_{name}", frozen(np.diag(full)))
        both = matrices[0], matrices[1]
        coupled = any((each != np.diag(np.diag(each))).any() for each in both)
        object.__setattr__(self, "matrices", both if coupled else None)
        if coupled:
            least = [np.linalg.eigvalsh(each)[0] for each in both]
            alike = all(np.allclose(each, each.T, rtol=1e-12) for each in both)
            if not alike or least[0] <= 0 or least[1] < -1e-9 * float(np.abs(both[1]).max()):
                raise KinetariumError(
                    "the matrices D and K must be symmetric, D positive definite, K not negative"
                )
        positive = (*self.diagonal_D, self.wrench_gain, self.impulse_limit)
        if not (all(value > 0 for value in positive) and (self.diagonal_K >= 0).all()):
            raise KinetariumError("D, s and the impulse limit must be positive, K not negative")


class AdmittanceSE3:
    """The law and its state: the impulse.

    It needs no engine and no robot. Call `step` once per tick with the measured and the
    desired values, and move the body by the twist it returns::

        law = AdmittanceSE3(AdmittanceGains(D=300.0, K=200.0), timestep=1e-3)
        V_ref = law.step(X_WB, X_WD=X_WD, V_D=V_D, F_B=F_B, F_D=F_D)

    Attributes:
        gains: The gains. They may be replaced between two ticks; `change_gains` does so
            without a jump of V_ref.
        timestep: Time between two ticks [s].
        impulse: The integral I of the wrench error in {d} [N s, N m s], shape (6,).
        X_BD: The desired pose in the body's frame at the last tick, shape (4, 4).
    """

    def __init__(
        self,
        gains: AdmittanceGains,
        *,
        timestep: float,
        form: Form = Form.REDUCED,
        anti_windup: AntiWindup = AntiWindup.GATED,
    ) -> None:
        """Start with no impulse.

        Args:
            timestep: Time between two ticks [s].
            form: How the law is computed.
            anti_windup: When the impulse is integrated and whether it is bounded.
        """
        # Imported here, since Numba takes a second to load.
        from kinetarium.control.admittance import _kernel as admittance_kernel
        from kinetarium.spatial import kernels as se3_kernel

        self._kernel, self._se3 = admittance_kernel, se3_kernel
        self.gains = gains
        self.timestep = timestep
        self._form = form
        self._anti_windup = anti_windup
        self.reset()

    def reset(self) -> None:
        """Set the impulse to zero."""
        self.impulse = np.zeros(6)
        self.X_BD = np.eye(4)

    @property
    def error(self) -> Array:
        """Exponential coordinates l = [eta; xi] of the last tick [m, rad], shape (6,)."""
        error: Array = self._se3.log(self.X_BD)
        return error

    @property
    def departure(self) -> Array:
        """D^-1 (I - K l): the twist by which the body departs from its path, in {d}, shape (6,)."""
        _, K = self._products()
        pushed = self.impulse - K(self.error)
        if self.gains.matrices is None:
            return np.asarray(pushed / self.gains.diagonal_D)
        return np.asarray(np.linalg.solve(self.gains.matrices[0], pushed), dtype=np.float64)

    @property
    def near_half_turn(self) -> bool:
        """Whether the rotation error is so near to pi that the coordinates may jump."""
        return float(np.linalg.norm(self.error[3:])) > pi - HALF_TURN_MARGIN

    @property
    def bounded(self) -> bool:
        """Whether an entry of the impulse is at its limit."""
        return bool((np.abs(self.impulse) >= self.gains.impulse_limit).any())

    def step(
        self,
        X_WB: Array,
        *,
        X_WD: Array,
        V_D: Array,
        F_B: Array,
        F_D: Array,
        contact: bool = True,
    ) -> Array:
        """Return the body twist V_ref [v; w] in {b} [m/s, rad/s], shape (6,).

        Args:
            X_WB: Pose of the body, or of the reference if the law shall ignore the errors of
                the servo, shape (4, 4).
            X_WD: The desired pose, shape (4, 4).
            V_D: Its body twist in {d} [m/s, rad/s], shape (6,).
            F_B: Wrench of the environment on the body, in {b} [N, N m], shape (6,).
            F_D: The desired wrench, in {d} [N, N m], shape (6,).
            contact: Whether there is contact; without it a gated impulse is not integrated.

        Raises:
            KinetariumError: If an array has the wrong shape.
        """
        if not (X_WB.shape == X_WD.shape == (4, 4) and V_D.shape == F_B.shape == F_D.shape == (6,)):
            raise KinetariumError("poses must have shape (4, 4), twists and wrenches (6,)")
        gains = self.gains
        D, K = gains.diagonal_D, gains.diagonal_K
        rests = not contact and self._anti_windup is AntiWindup.GATED
        limit = inf if self._anti_windup is AntiWindup.NONE else gains.impulse_limit
        V_ref = np.empty(6)
        self._kernel.tick(
            X_WB, X_WD, V_D, F_B, F_D, self.impulse, D, K, gains.wrench_gain,
            0.0 if rests else self.timestep, limit, self.X_BD, V_ref,
        )  # fmt: skip
        if gains.matrices is not None:
            D, K = gains.matrices
            V = V_D - np.linalg.solve(D, self.impulse - K @ self.error)
            return np.asarray(self._se3.adjoint(self.X_BD) @ V)
        if self._form is Form.PAPER:
            return paper_law(self.X_BD, V_D, impulse=self.impulse, D=D, K=K)
        return V_ref

    def take_over(self, V: Array) -> None:
        """Take over a moving body without a jump: with X_WD = X_WB and V_D = 0, V_ref = V.

        Args:
            V: Body twist at that moment [m/s, rad/s], shape (6,).
        """
        D, _ = self._products()
        self.impulse = -D(V)

    def change_gains(self, gains: AdmittanceGains) -> None:
        """Replace the gains so that V_ref stays the same as at the last tick."""
        error, held = self.error, self.departure
        self.gains = gains
        D, K = self._products()
        self.impulse = D(held) + K(error)

    def _products(self) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        """Return the products with D and with K."""
        if self.gains.matrices is None:
            D, K = self.gains.diagonal_D, self.gains.diagonal_K
            return D.__mul__, K.__mul__
        return self.gains.matrices[0].__matmul__, self.gains.matrices[1].__matmul__


def paper_law(X_BD: Array, V_D: Array, *, impulse: Array, D: Array, K: Array) -> Array:
    """Return V_ref as the paper computes it, equations 14 and 15, shape (6,).

    Args:
        X_BD: The desired pose in the body's frame, shape (4, 4).
        V_D: Its body twist in {d} [m/s, rad/s], shape (6,).
        impulse: The integral of the wrench error [N s, N m s], shape (6,).
        D: Diagonal of the virtual mass, shape (6,).
        K: Diagonal of the virtual damper, shape (6,).
    """
    error = se3.log(X_BD)
    proportional, integral = gain_terms(error, impulse, D=D, K=K)
    rates = integral - proportional
    return np.asarray(se3.adjoint(X_BD) @ (V_D - se3.dexp(-error) @ rates))


def gain_terms(error: ArrayLike, impulse: ArrayLike, *, D: Array, K: Array) -> tuple[Array, Array]:
    """Return the two terms of equation 14, Kp l and Kv I [m/s, rad/s], shape (..., 6) each.

    Args:
        error: Exponential coordinates [m, rad], shape (..., 6).
        impulse: The integral of the wrench error [N s, N m s], shape (..., 6).
        D: Diagonal of the virtual mass, shape (6,).
        K: Diagonal of the virtual damper, shape (6,).
    """
    error = np.asarray(error, dtype=np.float64)
    pull = (se3.dexp(-error) @ error[..., np.newaxis]) * (K / D)[:, np.newaxis]
    push = (np.asarray(impulse) / D)[..., np.newaxis]
    back = se3.dexp_inv(-error)
    return (back @ pull)[..., 0], (back @ push)[..., 0]


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
    """Return the delay from which the loop is unstable in contact [s]; infinite without stiffness.

    One axis of the loop, its measured force late by tau:
    D x'' + K x' + s (c x' + k x)(t - tau) = 0. Without delay it is stable. The first pair of roots
    to cross the imaginary axis does so at w with D^2 w^4 + (K^2 - (s c)^2) w^2 - (s k)^2 = 0, which
    has one positive root, and at the delay tau = -arg((D w^2 - j K w)/(s (k + j c w)))/w.
    The arguments are those of `critical_frequency`.
    """
    if stiffness <= 0:
        return inf
    w = critical_frequency(D, K, s=s, stiffness=stiffness, damping=damping)
    angle = -phase(complex(D * w * w, -K * w) / complex(s * stiffness, s * damping * w))
    return (angle % (2 * pi)) / w


def contact_roots(
    D: float,
    K: float,
    *,
    s: float,
    stiffness: float,
    damping: float,
    delay: float,
    compliance: float = 0.0,
    from_reference: bool = False,
) -> tuple[complex, complex]:
    """Return the two slow roots p of the loop in contact [1/s].

    D p^2 (1 + C k_p) + K p + s k_p exp(-tau p) = 0 with k_p = k + c p: the arm is a spring of
    compliance C in series with the contact, and D moves its reference. With the pose error of the
    reference K p has the factor 1 + C k_p too. Newton's method from the roots without delay.

    Args:
        D: Virtual mass times s [kg or kg m^2].
        K: Virtual damper times s [N s/m or N m s].
        s: Gain of the wrench error [-].
        stiffness: k of the contact [N/m or N m/rad].
        damping: c of the contact [N s/m or N m s/rad].
        delay: tau of the loop [s].
        compliance: C of the arms [m/N or rad/(N m)].
        from_reference: Whether the pose error is that of the reference.
    """

    def loop(p: complex) -> complex:
        k_p = stiffness + damping * p
        more = 1 + compliance * k_p
        moved = D * p * p * more + K * p * (more if from_reference else 1)
        return moved + s * k_p * exp(-delay * p)

    quadratic = np.roots([D * (1 + compliance * stiffness), K + s * damping, s * stiffness])
    w = critical_frequency(D, K, s=s, stiffness=stiffness, damping=damping)
    found: list[complex] = []
    # Real roots become complex with delay: starts beside the real axis find both kinds.
    for start in (*(complex(p) * (1 + 0.05j) for p in quadratic), complex(-0.1 * w, w)):
        p = start
        for _ in range(100):
            h = 1e-6 * (abs(p) + 1)
            step = 2 * h * loop(p) / (loop(p + h) - loop(p - h))
            # Far from a root exp(-tau p) is huge: short steps keep the neighbourhood.
            p -= step * min(1.0, 0.3 * (abs(p) + 1) / max(abs(step), 1e-300))
            if abs(step) < 1e-9 * (abs(p) + 1):
                break
        else:
            continue
        found += [p] if abs(p.imag) < 1e-6 * abs(p) else [p, p.conjugate()]
    apart = [p for i, p in enumerate(found) if all(abs(p - q) > 1e-6 * abs(p) for q in found[:i])]
    if not apart:
        return 0j, 0j
    # All starts may find the slow root; as a double one it settles later.
    slow, fast = (sorted(apart, key=lambda p: (-p.real, p.imag)) * 2)[:2]
    return slow, fast


def settling_time(roots: tuple[complex, complex], *, error: float, rate: float) -> float:
    """Return when the deviation of a second-order loop stays below 1 [s]; infinite if never.

    The deviation e(t) = a exp(p1 t) + b exp(p2 t) is bounded by the sum of the two magnitudes.

    Args:
        roots: p1 and p2 [1/s].
        error: Deviation at the start, over the band within which it is settled [-].
        rate: Its rate [1/s].
    """
    slow, fast = roots
    if slow.real >= 0:
        return inf
    apart = slow - fast
    if abs(apart) < 1e-3 * abs(slow):  # nearly equal: the limit has a factor of t
        apart = complex(1e-3 * abs(slow))
    a = (rate - fast * error) / apart
    b = error - a
    low, high = 0.0, 1.0

    def bound(t: float) -> float:
        return float(abs(a) * np.exp(slow.real * t) + abs(b) * np.exp(fast.real * t))

    if bound(0.0) <= 1:
        return 0.0
    while bound(high) > 1:
        high *= 2
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if bound(middle) > 1 else (low, middle)
    return high


def noise_bandwidth(
    D: float,
    K: float,
    *,
    s: float,
    stiffness: float,
    damping: float,
    delay: float,
    compliance: float = 0.0,
    from_reference: bool = False,
) -> float:
    """Return the bandwidth in which the contact force follows the noise of its sensor [1/s].

    White noise of density S [N^2 s] at the sensor leaves a variance S B of the contact force, where
    B is the integral of |T(jw)|^2 dw/(2 pi) over all frequencies and T = s k_p exp(-tau p)/loop(p)
    with the loop of `contact_roots`, whose arguments these are. Without D, damping and delay
    B = s k/(2 K).
    """
    scale = s * stiffness / max(K, 1e-9) + sqrt(s * stiffness / D)
    w = scale * np.geomspace(1e-4, 1e4, 8001)
    p = 1j * w
    k_p = stiffness + damping * p
    more = 1 + compliance * k_p
    back = s * k_p * np.exp(-delay * p)
    followed = back / (D * p * p * more + K * p * (more if from_reference else 1) + back)
    return float(np.trapezoid(np.abs(followed) ** 2, w) + w[0]) / pi
