"""The controller behind KUKA's sensor interface: telegrams, losses, and its loopback partner."""

import socket
import subprocess
import sys
import threading
from signal import SIGINT
from time import monotonic, sleep
from typing import Any, cast

import numpy as np
import pytest

from kinetarium.cli.commands.dock_serve import (
    LOOPBACK,
    Config,
    RsiNode,
    _telegram,
    play_robot,
    read_telegram,
    serve,
)
from kinetarium.control.admittance.law import AdmittanceGains, AdmittanceSE3
from kinetarium.errors import KinetariumError

GOOD = _telegram(0.0, -50.0, 4)


def test_a_telegram_has_pose_wrench_and_counter() -> None:
    data = (
        b'<Rob Type="KUKA"><RIst X="1000" Y="-200" Z="30" A="90" B="0" C="0"/>'
        b'<FT Fx="1" Fy="2" Fz="3" Mx="4" My="5" Mz="6"/><Delay D="0"/><IPOC>123</IPOC></Rob>'
    )
    telegram = read_telegram(data)
    assert telegram is not None and telegram.ipoc == 123
    np.testing.assert_allclose(telegram.X_WB[:3, 3], (1.0, -0.2, 0.03))
    np.testing.assert_allclose(telegram.X_WB[:3, 0], (0.0, 1.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(telegram.F_B, (1, 2, 3, 4, 5, 6))


def test_answers_are_those_of_the_law() -> None:
    node = RsiNode(Config(gate=20.0))
    law = AdmittanceSE3(
        AdmittanceGains([100.0] * 3 + [4.5] * 3, [4000.0] * 3 + [180.0] * 3), timestep=4e-3
    )
    F, wanted = np.array([-50.0, 0, 0, 0, 0, 0]), np.array([-200.0, 0, 0, 0, 0, 0])
    for number in range(1, 6):
        V = law.step(np.eye(4), X_WD=np.eye(4), V_D=np.zeros(6), F_B=F, F_D=wanted)
        answer = node.answer(_telegram(0.0, -50.0, 4 * number))
        assert answer is not None and f"<IPOC>{4 * number}</IPOC>".encode() in answer
        moved = float(answer.split(b'X="')[1].split(b'"')[0])
        assert moved == pytest.approx(1e3 * V[0] * 4e-3, abs=1e-6)
    assert moved > 0  # it presses on


def test_the_first_answer_is_as_fast_as_others() -> None:
    """In a new process, where nothing is loaded yet: without a warm-up it takes 0.2 s of CPU."""
    script = """
from time import thread_time
from kinetarium.cli.commands.dock_serve import Config, RsiNode, _telegram
node = RsiNode(Config())
start = thread_time()
assert node.answer(_telegram(0.0, -50.0, 4))
print(thread_time() - start)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert float(done.stdout) < 0.02


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"hello",
        b"\x00\xff" * 20,
        GOOD[:-5],
        GOOD.replace(b"Rob", b"Bot"),
        GOOD.replace(b"-50.000", b"nan"),
        GOOD.replace(b"-50.000", b"1e99"),
        GOOD.replace(b"<IPOC>4", b"<IPOC>-4"),
        GOOD.replace(b"<IPOC>4", b"<IPOC>" + b"9" * 40),
        b'<!DOCTYPE r [<!ENTITY a "b">]>' + GOOD.replace(b"4</IPOC>", b"&a;</IPOC>"),
        GOOD + b" " * 5000,
    ],
)
def test_malformed_telegrams_are_ignored_and_counted(bad: bytes) -> None:
    node = RsiNode(Config())
    assert node.answer(bad) is None
    assert node.counts["malformed"] == 1 and node.counts["answered"] == 0
    assert node.answer(GOOD) is not None


def fuzzed(count: int) -> None:
    """Change bytes of good telegrams at random; nothing may raise, and all are counted."""
    rng = np.random.default_rng(5)
    node = RsiNode(Config(stop_after=10_000))
    for _ in range(count):
        data = bytearray(GOOD)
        for place in rng.integers(0, len(data), rng.integers(1, 12)):
            data[place] = rng.integers(0, 256)
        if rng.random() < 0.3:
            data = data[: rng.integers(0, len(data))]
        answer = node.answer(bytes(data))
        assert answer is None or (b"nan" not in answer and b"inf" not in answer)
    told = node.counts
    assert told["malformed"] + told["answered"] + told["late"] == count
    assert told["malformed"] > 0.8 * count


def test_fuzzed_telegrams_do_no_harm() -> None:
    fuzzed(1000)


@pytest.mark.slow
def test_10_000_fuzzed_telegrams_do_no_harm() -> None:
    fuzzed(10_000)


def test_lost_telegrams_stop_the_node_for_good() -> None:
    node = RsiNode(Config(stop_after=5))
    node.answer(_telegram(0.0, 0.0, 4))
    node.answer(_telegram(0.0, 0.0, 4 * 5))  # three are missing
    assert node.counts["lost"] == 3 and not node.is_stopped
    assert node.answer(_telegram(0.0, 0.0, 4)) is None and node.counts["late"] == 1
    for _ in range(5):
        assert not node.is_stopped
        node.miss()
    assert node.is_stopped
    answer = node.answer(_telegram(0.0, -500.0, 4 * 40))
    assert answer is not None and b"<Stop>1" in answer and b'X="0.000000"' in answer


@pytest.mark.parametrize("spin", [False, True])
def test_a_partner_that_loses_and_delays_is_answered_on_loopback(spin: bool) -> None:
    node = RsiNode(Config(stop_after=30, cycle="12ms"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind((LOOPBACK, 0))
        wait = {"until": monotonic() + 3.0, "spin": spin}
        server = threading.Thread(target=serve, args=(node, link), kwargs=wait)
        server.start()
        seen = play_robot(link.getsockname(), cycles=100, cycle=12e-3, lose=0.05, delay=0.1, seed=2)
        server.join()
    assert seen.lost > 0 and seen.delayed > 0
    assert len(seen.round_trips) + seen.missed == seen.sent
    # Delayed ones come together with their successors, before or after: none is lost twice.
    assert node.counts["answered"] + node.counts["late"] >= seen.sent
    assert node.counts["malformed"] == 0


class _Link:
    """A link whose datagrams are given, each as late as asked; it ends by Ctrl-C."""

    def __init__(self, *arrivals: bytes, every: float, reachable: bool = True) -> None:
        self._arrivals, self._every, self._reachable = list(arrivals), every, reachable

    def settimeout(self, timeout: float) -> None: ...

    def recvfrom(self, _: int) -> tuple[bytes, tuple[str, int]]:
        if not self._arrivals:
            raise KeyboardInterrupt
        sleep(self._every)
        return self._arrivals.pop(0), (LOOPBACK, 0)

    def sendto(self, *_: Any) -> None:
        if not self._reachable:
            raise OSError("Invalid argument")


def test_a_sender_that_cannot_be_reached_does_no_harm() -> None:
    node = RsiNode(Config())
    telegrams = (_telegram(0.0, 0.0, 4 * k) for k in range(5))
    link = _Link(*telegrams, every=0.0, reachable=False)
    assert serve(node, cast("socket.socket", link)) == []
    assert node.counts["unsent"] == node.counts["answered"] == 5


@pytest.mark.parametrize("noise", [b"<Rob", _telegram(0.0, 0.0, 4)])
def test_malformed_and_late_telegrams_do_not_count_as_a_partner(noise: bytes) -> None:
    node = RsiNode(Config(stop_after=5))
    link = _Link(_telegram(0.0, 0.0, 4), *[noise] * 60, every=1e-3)
    times = serve(node, cast("socket.socket", link))
    assert len(times) == 1 and node.is_stopped


def test_ctrl_c_ends_it_with_its_summary() -> None:
    words = [sys.executable, "-m", "kinetarium", "dock-serve", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout
        port = int(served.stdout.readline().split(f"{LOOPBACK}:")[1].split(",")[0])
        assert len(play_robot((LOOPBACK, port), cycles=5, cycle=0.2).round_trips) > 0
        served.send_signal(SIGINT)
        said, _ = served.communicate(timeout=60)
    assert served.returncode == 0 and " answers, 99.9 % within" in said


def test_a_cycle_needs_a_valid_time() -> None:
    with pytest.raises(KinetariumError, match="--cycle: '4h' is not a number"):
        RsiNode(Config(cycle="4h"))
    with pytest.raises(KinetariumError, match="outside"):
        RsiNode(Config(cycle="1s"))
