"""Rotation matrices to and from roll-pitch-yaw, quaternions and axes."""

from itertools import product
from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from kinetarium.spatial import (
    inverse_pose,
    pose,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_onto,
    rpy_from_rotation,
    so3,
)
from kinetarium.spatial.rotation import wrapped

EXACT = 1e-14
ANGLES = (-3.1, -pi / 2, -0.3, 0.0, 1e-9, 1.2, 1.5707963, pi / 2, 3.0, pi)
STEEP = (pi / 2, -pi / 2, 1.5707963, -1.5707963, 1.57, pi / 2 - 1e-15, pi / 2 - 9e-15)
AXES = [
    np.array(axis) / np.linalg.norm(axis)
    for axis in product((-1.0, 0.0, 0.3, 1.0), repeat=3)
    if any(axis)
]


def assert_exact(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=EXACT)


def test_a_wrapped_angle_has_the_same_direction_and_is_at_most_half_a_turn():
    angles = np.linspace(-20.0, 20.0, 401)
    near = wrapped(angles)
    assert np.all((-pi <= near) & (near < pi))
    np.testing.assert_allclose(np.exp(1j * near), np.exp(1j * angles), atol=1e-14)
    assert near.tolist() == [wrapped(angle) for angle in angles.tolist()]
    assert [wrapped(3 * pi), wrapped(-pi), wrapped(0.5)] == [-pi, -pi, 0.5]


def test_rpy_turns_about_fixed_axes_in_turn():
    roll, pitch, yaw = 0.3, -0.8, 2.1
    in_turn = (
        rotation_about([0, 0, 1], yaw)
        @ rotation_about([0, 1, 0], pitch)
        @ rotation_about([1, 0, 0], roll)
    )
    assert_exact(rotation_from_rpy([roll, pitch, yaw]), in_turn)


@pytest.mark.parametrize("pitch", (-1.5, -0.4, 0.0, 1e-8, 1.1, 1.5707963))
def test_angles_come_back(pitch):
    for roll, yaw in product((-3.1, -0.3, 0.0, 1.2, 3.0), repeat=2):
        rpy = [roll, pitch, yaw]
        # Near pi/2 roll and yaw are known only to rounding over cos(pitch).
        tolerance = 1e-15 / cos(pitch) + EXACT
        back = rpy_from_rotation(rotation_from_rpy(rpy))
        np.testing.assert_allclose(back, rpy, rtol=0, atol=tolerance)


@pytest.mark.parametrize("pitch", STEEP)
def test_steep_rotations_come_back(pitch):
    for roll, yaw in product(ANGLES, repeat=2):
        R = rotation_from_rpy([roll, pitch, yaw])
        assert_exact(rotation_from_rpy(rpy_from_rotation(R)), R)


def test_steep_rotations_with_rounding_errors_come_back():
    generator = np.random.default_rng(5)
    for pitch, roll, yaw in product(STEEP, (-2.0, 0.7), (-0.4, 2.9)):
        R = rotation_from_rpy([roll, pitch, yaw]) + generator.uniform(-1e-16, 1e-16, (3, 3))
        assert_exact(rotation_from_rpy(rpy_from_rotation(R)), R)


def test_straight_up_has_no_yaw():
    for pitch in (pi / 2, -pi / 2):
        assert rpy_from_rotation(rotation_from_rpy([0.4, pitch, 0.9]))[2] == 0.0


@pytest.mark.parametrize("angle", (0.0, 1e-12, 1e-6, 0.5, 2.0, pi - 1e-6, pi))
def test_quaternions_come_back(angle):
    for axis in AXES:
        q = np.concatenate([[cos(angle / 2)], sin(angle / 2) * axis])
        back = quaternion_from_rotation(rotation_from_quaternion(q))
        assert back[0] >= 0
        if angle == pi:
            back *= np.sign(back @ q)
        assert_exact(back, q)


@pytest.mark.parametrize("angle", (0.0, 1e-12, 0.5, 2.0, pi - 1e-6, pi))
def test_rotations_come_back_through_quaternions(angle):
    for axis in AXES:
        R = rotation_about(axis, angle)
        assert_exact(rotation_from_quaternion(quaternion_from_rotation(R)), R)


def test_quaternions_of_a_batch():
    R = np.array([[rotation_about(axis, angle) for axis in AXES] for angle in (0.2, 2.0, pi)])
    one_by_one = [[quaternion_from_rotation(one) for one in row] for row in R]
    np.testing.assert_array_equal(quaternion_from_rotation(R), one_by_one)


@pytest.mark.parametrize("length", (1e-310, 1e-200, 1.0, 1e12, 1e300))
def test_quaternions_and_directions_of_any_length(length):
    assert_exact(
        rotation_from_quaternion([length, 0, length, 0]), rotation_about([0, 1, 0], pi / 2)
    )
    assert_exact(rotation_onto([0, length, 0])[:, 2], [0, 1, 0])


@pytest.mark.parametrize("angle", (1e-12, 1e-8, 1.0, -2.0, pi))
def test_rotation_about_an_axis_is_the_exponential(angle):
    for axis in AXES:
        R = rotation_about(axis, angle)
        np.testing.assert_allclose(R, so3.exp(angle * axis), rtol=0, atol=1e-15)
        off_diagonal = (R - so3.exp(angle * axis))[~np.eye(3, dtype=bool)]
        assert np.abs(off_diagonal).max() <= 1e-15 * abs(angle)


@pytest.mark.parametrize("tilt", (0.0, 1e-9, 0.4, pi / 2, 3.0, pi - 1e-7))
def test_rotation_onto_a_direction_is_the_shortest(tilt):
    for azimuth in (0.0, 1.0, 2.5, -1.5):
        direction = [sin(tilt) * cos(azimuth), sin(tilt) * sin(azimuth), cos(tilt)]
        shortest = rotation_about([-sin(azimuth), cos(azimuth), 0], tilt)
        assert_exact(rotation_onto(direction), shortest)


def test_rotation_onto_the_opposite_direction_is_the_half_turn_about_x():
    np.testing.assert_array_equal(rotation_onto([0, 0, -2]), np.diag([1, -1, -1]))
    np.testing.assert_array_equal(rotation_onto([0, 0, 3]), np.eye(3))


def test_inverse_pose():
    X = pose([1.0, -2.0, 0.5], rotation_from_rpy([0.3, 1.2, -2.0]))
    assert_exact(X @ inverse_pose(X), np.eye(4))
    batch = np.stack([X, pose([sqrt(2), 0, 0]), np.eye(4)])
    assert_exact(inverse_pose(batch) @ batch, np.broadcast_to(np.eye(4), (3, 4, 4)))
