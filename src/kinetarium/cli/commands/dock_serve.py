"""`kinetarium dock-serve`: the admittance controller as a node that a robot calls by UDP.

Telegrams have the form of KUKA's Robot Sensor Interface: in every cycle the robot sends its pose
[mm, deg], the wrench on the tool and a counter of milliseconds, and gets a correction of its pose
for this cycle with the same counter::

    <Rob Type="KUKA"><RIst X=".." Y=".." Z=".." A=".." B=".." C=".."/>
    <FT Fx=".." Fy=".." Fz=".." Mx=".." My=".." Mz=".."/><IPOC>123456</IPOC></Rob>

    <Sen Type="Kinetarium"><RKorr X=".." Y=".." Z=".." A=".." B=".." C=".."/><Stop>0</Stop>
    <IPOC>123456</IPOC></Sen>

What is malformed is ignored and counted, without an answer. After some lost telegrams in a row
the node stops for good: corrections are zero, and Stop is 1.
"""

import socket
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite, radians
from time import monotonic, perf_counter, sleep
from typing import Annotated, Any, NamedTuple

import numpy as np

from kinetarium.cli.core.invocation import Invocation
from kinetarium.ranges import Range, quantity
from kinetarium.spatial.arrays import Array

LOOPBACK = "127.0.0.1"
MOST_BYTES = 4096
"""Longest telegram; those of the interface have a few hundred bytes."""
CYCLE = Range(1e-3, 0.1, unit="s")
_FARTHEST, _HARDEST = 1e5, 1e6
"""Greatest position [mm] and wrench [N, N m] that count as readings."""
_POSE = ("X", "Y", "Z", "A", "B", "C")
_WRENCH = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


Six = Annotated[tuple[float, float, float, float, float, float], Range(-1e5, 1e5, unit="N or N m")]


@dataclass(frozen=True, kw_only=True)
class Config:
    """The controller and its address.

    Attributes:
        port: UDP port; 0 for any free one.
        host: Address to listen on; that of this machine alone by default.
        cycle: Cycle of the robot, such as 4ms or 12ms [s].
        stop_after: Lost telegrams in a row after which the node stops.
        wrench: Desired wrench on the tool, in its frame [N, N m].
        gains_d: D of forces and moments [kg, kg m^2].
        gains_k: K of forces and moments [N s/m, N m s].
        gate: Force above which the desired wrench is applied [N].
        stiffness: Of the contact, for the critical delay that is reported [N/m].
        seconds: Time to serve [s]; 0 until Ctrl-C.
        spin: Wait for telegrams without sleeping: answers come sooner, and a core is always busy.
    """

    port: Annotated[int, Range(0, 65535, unit="-")] = 49152
    host: str = LOOPBACK
    cycle: str = "4ms"
    stop_after: Annotated[int, Range(1, 10_000, unit="-")] = 10
    wrench: Six = (-200.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    gains_d: Annotated[tuple[float, float], Range(1e-3, 1e6, unit="SI")] = (100.0, 4.5)
    gains_k: Annotated[tuple[float, float], Range(0.0, 1e7, unit="SI")] = (4000.0, 180.0)
    gate: Annotated[float, Range(0.0, 1e5, unit="N")] = 20.0
    stiffness: Annotated[float, Range(1e2, 1e8, unit="N/m")] = 1e5
    seconds: Annotated[float, Range(0.0, 1e6, unit="s")] = 0.0
    spin: bool = False


class Telegram(NamedTuple):
    """What the robot sends.

    Attributes:
        X_WB: Pose of the tool [m], shape (4, 4).
        F_B: Wrench on it, in its frame [N, N m], shape (6,).
        ipoc: Counter of the interface [ms].
    """

    X_WB: Array
    F_B: Array
    ipoc: int


def read_telegram(data: bytes) -> Telegram | None:
    """Read a telegram; return None if it is malformed."""
    from kinetarium.errors import KinetariumError
    from kinetarium.model.diagnostics import Diagnostics
    from kinetarium.model.markup import parse_xml
    from kinetarium.spatial.rotation import pose, rotation_from_rpy

    if len(data) > MOST_BYTES:
        return None
    try:
        root = parse_xml(data, diagnostics=Diagnostics("telegram"))
    except KinetariumError:
        return None
    parts = {child.tag: child for child in root.children}
    if root.tag != "Rob" or not {"RIst", "FT", "IPOC"} <= parts.keys():
        return None
    place = _numbers(parts["RIst"].attributes, _POSE, _FARTHEST)
    wrench = _numbers(parts["FT"].attributes, _WRENCH, _HARDEST)
    ipoc = parts["IPOC"].text.strip()
    if place is None or wrench is None or not (ipoc.isascii() and ipoc.isdigit()):
        return None
    if len(ipoc) > 18:
        return None
    x, y, z, a, b, c = place
    R = rotation_from_rpy((radians(c), radians(b), radians(a)))
    return Telegram(pose((x / 1e3, y / 1e3, z / 1e3), R), np.array(wrench), int(ipoc))


def _numbers(attributes: dict[str, str], names: tuple[str, ...], most: float) -> list[float] | None:
    try:
        values = [float(attributes[name]) for name in names]
    except (KeyError, ValueError):
        return None
    return values if all(isfinite(value) and abs(value) <= most for value in values) else None


class RsiNode:
    """The controller behind the interface; it needs no network.

    Attributes:
        counts: Number of telegrams: answered, malformed, late, lost, unsent.
        is_stopped: Whether it has stopped for good.
    """

    def __init__(self, config: Config) -> None:
        """Create the controller.

        Raises:
            KinetariumError: If the cycle is invalid.
        """
        from kinetarium.control.admittance.law import AdmittanceGains, AdmittanceSE3
        from kinetarium.control.admittance.sensing import ContactGate

        self.cycle = quantity(config.cycle, units=("ms", "s"), limits=CYCLE, name="--cycle")
        D, K = (
            [forces] * 3 + [moments] * 3 for forces, moments in (config.gains_d, config.gains_k)
        )
        self._law = AdmittanceSE3(AdmittanceGains(D, K), timestep=self.cycle)
        self._gate = ContactGate(threshold=config.gate, armed_after=0.0)
        self._wanted, self._stop_after = np.array(config.wrench), config.stop_after
        self._X_WD: Array | None = None
        self._warm_up()
        self._ipoc: int | None = None
        self._missing = 0
        self.counts: Counter[str] = Counter(answered=0, malformed=0, late=0, lost=0, unsent=0)
        self.is_stopped = False

    def _warm_up(self) -> None:
        """Correct once without effect: what is loaded on first use takes tens of cycles."""
        telegram = read_telegram(_telegram(0.0, 0.0, 0))
        assert telegram is not None
        self._correct(telegram)
        self._law.reset()
        self._gate.reset()
        self._X_WD = None

    def miss(self) -> None:
        """Note that a cycle has passed without a telegram."""
        if self._ipoc is None:  # before the first telegram
            return
        self._missing += 1
        if self._missing >= self._stop_after:
            self.is_stopped = True

    def answer(self, data: bytes) -> bytes | None:
        """Return the answer to a telegram; None if it is malformed or late."""
        telegram = read_telegram(data)
        if telegram is None:
            self.counts["malformed"] += 1
            return None
        if self._ipoc is not None:
            passed = round((telegram.ipoc - self._ipoc) / (1e3 * self.cycle))
            if passed <= 0:
                self.counts["late"] += 1
                return None
            self.counts["lost"] += passed - 1
            self.is_stopped = self.is_stopped or passed - 1 >= self._stop_after
        self._ipoc, self._missing = telegram.ipoc, 0
        self.counts["answered"] += 1
        correction = np.zeros(6) if self.is_stopped else self._correct(telegram)
        words = " ".join(
            f'{name}="{value:.6f}"' for name, value in zip(_POSE, correction, strict=True)
        )
        return (
            f'<Sen Type="Kinetarium"><RKorr {words}/><Stop>{int(self.is_stopped)}</Stop>'
            f"<IPOC>{telegram.ipoc}</IPOC></Sen>"
        ).encode()

    def _correct(self, telegram: Telegram) -> Array:
        """Return the correction of this cycle in the robot's frame [mm, deg], shape (6,)."""
        X, F = telegram.X_WB, telegram.F_B
        opened = self._gate.update(telegram.ipoc / 1e3, F)
        if self._X_WD is None or opened:
            self._X_WD = X.copy()
        wanted = self._wanted if self._gate.is_open else np.zeros(6)
        V = self._law.step(
            X, X_WD=self._X_WD, V_D=np.zeros(6), F_B=F, F_D=wanted, contact=self._gate.is_open
        )
        v, w = X[:3, :3] @ V[:3], X[:3, :3] @ V[3:]
        # Turns of a cycle are small: about z, y, x in turn they are the components.
        return np.concatenate([1e3 * v, np.degrees(w[::-1])]) * self.cycle


def _receive(link: socket.socket, until: float, *, spin: bool) -> tuple[bytes, Any]:
    """Return the next telegram and its sender.

    Args:
        until: Time of `perf_counter` at which waiting ends [s].
        spin: Whether to wait without sleeping.

    Raises:
        TimeoutError: If there is none until then.
    """
    link.settimeout(0.0 if spin else max(until - perf_counter(), 1e-4))
    while True:
        try:
            return link.recvfrom(MOST_BYTES + 1)
        except BlockingIOError:
            if perf_counter() >= until:
                raise TimeoutError from None


def serve(
    node: RsiNode, link: socket.socket, *, until: float = np.inf, spin: bool = False
) -> list[float]:
    """Answer telegrams until a time of `monotonic` [s] or Ctrl-C.

    Returns:
        The times of all answers [s].
    """
    times: list[float] = []
    due = perf_counter() + node.cycle
    with suppress(KeyboardInterrupt):
        while monotonic() < until:
            answer, start = None, 0.0
            # A ConnectionError says that the port which an earlier answer went to is closed.
            with suppress(TimeoutError, ConnectionError):
                data, sender = _receive(link, due, spin=spin)
                start = perf_counter()
                answer = node.answer(data)
            if answer is None:
                if perf_counter() >= due:  # malformed and late ones do not count as a partner
                    node.miss()
                    due = perf_counter() + node.cycle
                continue
            due = perf_counter() + node.cycle
            try:
                link.sendto(answer, sender)
            except OSError:  # a sender that cannot be reached, such as port 0
                node.counts["unsent"] += 1
                continue
            times.append(perf_counter() - start)
    return times


class Exchange(NamedTuple):
    """What the robot side saw.

    Attributes:
        sent: Telegrams sent.
        lost: Telegrams that were not sent on purpose.
        delayed: Telegrams that were sent late on purpose.
        overslept: Telegrams that this side sent over half a cycle late, held up by its machine.
        round_trips: Times from a telegram to its answer [s], shape (n,).
        missed: Telegrams without an answer within a cycle of their sending, delayed ones excepted.
        stopped: Whether the node said that it has stopped.
    """

    sent: int
    lost: int
    delayed: int
    overslept: int
    round_trips: Array
    missed: int
    stopped: bool


def play_robot(
    address: tuple[str, int],
    *,
    cycles: int,
    cycle: float = 4e-3,
    lose: float = 0.0,
    delay: float = 0.0,
    seed: int = 0,
    silence: range = range(0),
    spin: bool = False,
) -> Exchange:
    """Play the robot's side: a tool that the corrections move against a spring.

    Args:
        address: Host and port of the node.
        cycles: Number of cycles.
        cycle: The cycle [s].
        lose: Share of telegrams that are lost [-].
        delay: Share of telegrams that are sent one cycle late [-].
        seed: Seed of both.
        silence: Cycles in which nothing is sent.
        spin: Wait without sleeping, as a robot's own controller would.
    """
    rng = np.random.default_rng(seed)
    x, trips, sent, lost, delayed, overslept, missed, stopped = 0.0, [], 0, 0, 0, 0, 0, False
    held: bytes | None = None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect(address)
        start = perf_counter()
        for number in range(cycles):
            due = start + number * cycle
            while (left := due - perf_counter()) > 0:
                if not spin:
                    sleep(left)
            telegram = _telegram(x, -1e5 * max(x - 1e-3, 0.0), round(1e3 * cycle * number))
            if held is not None:
                with suppress(ConnectionError):  # of an earlier telegram, if there is no node
                    link.send(held)
                held = None
            if number in silence or rng.random() < lose:
                lost += 1
                continue
            if rng.random() < delay:
                held, delayed = telegram, delayed + 1
                continue
            at = perf_counter()
            sent += 1
            overslept += at - due > 0.5 * cycle
            try:
                link.send(telegram)
                while True:
                    # One cycle after the telegram an answer is too late.
                    answer, _ = _receive(link, at + cycle, spin=spin)
                    if f"<IPOC>{round(1e3 * cycle * number)}<".encode() in answer:
                        break
            except (TimeoutError, ConnectionError):
                missed += 1
                continue
            trips.append(perf_counter() - at)
            stopped = b"<Stop>1" in answer
            x += float(answer.split(b'X="')[1].split(b'"')[0]) / 1e3 + 1e-4 * (x < 2e-3)
    return Exchange(sent, lost, delayed, overslept, np.array(trips), missed, stopped)


def _telegram(x: float, force: float, ipoc: int) -> bytes:
    return (
        f'<Rob Type="KUKA"><RIst X="{1e3 * x:.4f}" Y="0.0" Z="0.0" A="0.0" B="0.0" C="0.0"/>'
        f'<FT Fx="{force:.3f}" Fy="0.0" Fz="0.0" Mx="0.0" My="0.0" Mz="0.0"/>'
        f"<IPOC>{ipoc}</IPOC></Rob>"
    ).encode()


def run(config: Config, invocation: Invocation) -> None:
    """Serve until Ctrl-C, or for a time."""
    from kinetarium.control.admittance.law import critical_delay
    from kinetarium.errors import KinetariumError

    node, console = RsiNode(config), invocation.console
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        try:
            link.bind((config.host, config.port))
        except OSError as error:
            raise KinetariumError(
                f"cannot listen on {config.host}:{config.port}: {error.strerror or error}"
            ) from None
        host, port = link.getsockname()
        console.line(f"dock-serve answers at {host}:{port}, cycle {1e3 * node.cycle:g} ms")
        console.flush()
        end = monotonic() + (config.seconds or np.inf)
        times = serve(node, link, until=end, spin=config.spin)
    late = float(np.percentile(times, 99.9)) if times else None
    most = critical_delay(
        config.gains_d[0], config.gains_k[0], s=0.5, stiffness=config.stiffness, damping=0.0
    )
    if late is None:
        console.line("no telegram was answered")
    else:
        console.line(
            f"{len(times)} answers, 99.9 % within {1e3 * late:.3g} ms; with a cycle of"
            f" {1e3 * node.cycle:g} ms the loop is {1e3 * (late + node.cycle):.3g} ms late, and"
            f" bears {1e3 * most:.3g} ms at {config.stiffness:g} N/m. On the map: kinetarium"
            f" dock-stability --preset recommended --measured-ms {1e3 * (late + node.cycle):.3g}"
            f" --measured-stiffness {config.stiffness:g}"
        )
    result = {"stopped": node.is_stopped, "answer_p999_s": late}
    if late is not None:
        result["loop_delay_s"] = late + node.cycle
    console.result({"ok": True, **node.counts, **result})
