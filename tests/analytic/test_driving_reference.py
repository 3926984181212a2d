"""References against their own derivatives, and against the sizes they are said to have."""

from math import pi

import numpy as np
import pytest

from kinetarium.control.vehicle.reference import (
    CircleReference,
    DrivingReference,
    EightReference,
    SquareReference,
    SteadyReference,
)

ALL = [CircleReference(), SquareReference(), EightReference(), SteadyReference(0.3, 0.7, 5.0)]


@pytest.mark.parametrize("reference", ALL, ids=lambda one: type(one).__name__)
def test_placements_are_the_integral_of_speeds(reference: DrivingReference) -> None:
    h = 1e-5
    t = np.linspace(0.1, reference.duration - 0.1, 997)
    if isinstance(reference, SquareReference):  # its speeds jump there
        t = t[np.abs(t[:, np.newaxis] - reference.corners.ravel()).min(axis=1) > 1e-3]
    before, after = reference.sample(t - h)[0], reference.sample(t + h)[0]
    placements, speeds = reference.sample(t)
    rates = (after - before) / (2 * h)
    heading, v = placements[:, 2], speeds[:, 0]
    assert rates[:, 0] == pytest.approx(v * np.cos(heading), abs=1e-7)
    assert rates[:, 1] == pytest.approx(v * np.sin(heading), abs=1e-7)
    assert rates[:, 2] == pytest.approx(speeds[:, 1], abs=1e-7)


@pytest.mark.parametrize("reference", ALL, ids=lambda one: type(one).__name__)
def test_it_starts_along_x_and_rests_after_its_end(reference: DrivingReference) -> None:
    placements, speeds = reference.sample([-1.0, 0.0, reference.duration, reference.duration + 9])
    assert placements[:2] == pytest.approx(0.0, abs=1e-12)
    assert not speeds[[0, 2, 3]].any()
    assert placements[2] == pytest.approx(placements[3])


def test_the_circle() -> None:
    reference = CircleReference()
    assert reference.duration == pytest.approx(2 * pi * 2 / 0.5)
    assert reference.sample([reference.duration / 2])[0][0] == pytest.approx([0, 4, pi])


def test_the_square() -> None:
    reference = SquareReference()
    assert reference.duration == pytest.approx(4 * 8 + 3 * pi)
    assert reference.corners[1] == pytest.approx([16 + pi, 16 + 2 * pi])
    placements, speeds = reference.sample(reference.corners.mean(axis=1))
    assert placements[:, :2] == pytest.approx(np.array([[4, 0], [4, 4], [0, 4]]), abs=1e-12)
    assert placements[:, 2] == pytest.approx(np.array([1, 3, 5]) * pi / 4)
    assert speeds == pytest.approx(np.array([[0, 0.5]] * 3))


def test_the_eight() -> None:
    reference = EightReference()
    t = np.linspace(0, 40, 40001)[:-1]
    placements, speeds = reference.sample(t)
    curvature = speeds[:, 1] / speeds[:, 0]
    assert np.abs(np.diff(curvature)).sum() == pytest.approx(11.44, abs=0.01)
    assert placements[-1, 2] == pytest.approx(0.0, abs=1e-3)
    c = np.sqrt(0.5)
    back = placements[:, :2] @ np.array([[c, c], [-c, c]])  # the turn by 45 degrees taken back
    assert back[:, 0] == pytest.approx(3 * np.sin(2 * pi * t / 40), abs=1e-12)
    assert back[:, 1] == pytest.approx(1.5 * np.sin(4 * pi * t / 40), abs=1e-12)
