"""drop: bodies and robots against the closed form, and the verdicts on falls."""

from dataclasses import replace
from math import cos, radians, sin
from pathlib import Path

import numpy as np
import pytest

from kinetarium.scene import SceneError
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.studies.drop import Drop
from kinetarium.studies.drop.config import Config, Falling, cases
from kinetarium.studies.drop.run import run, score
from kinetarium.study import check_study

BALL = """<robot name="ball"><link name="base"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>
</robot>"""
SPHERE = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def fall(**values):
    [case] = cases(Config(engine=("mujoco",), **values))
    recording = run(case)
    return case, recording, score(case, recording)


@pytest.mark.parametrize("shape", Falling)
def test_every_shape_falls_by_the_closed_form_and_rests(shape: Falling) -> None:
    _, _, row = fall(shape=shape, height=0.1, duration=0.5)
    assert row["verdict"] == "rests", row
    assert row["fall_error_m"] == pytest.approx(row["first_order_m"], rel=0.05)
    assert row["rest_depth_m"] < 1e-3 and -1e-9 <= row["energy_gain"] < 1e-6


def test_a_box_slides_down_a_slope_that_is_steeper_than_its_friction() -> None:
    _, _, row = fall(slope=40.0, height=1e-3, duration=0.5)
    assert row["verdict"] == "moves"
    # Coulomb: a = g (sin - mu cos), from the impact on.
    angle = radians(40)
    expected = GRAVITY * (sin(angle) - 0.8 * cos(angle)) * 0.5**2 / 2
    assert row["drift_m"] == pytest.approx(expected, rel=0.3)
    assert fall(slope=20.0, height=1e-3, duration=0.5)[2]["verdict"] == "rests"


def test_the_energy_of_a_body_is_that_of_its_fall() -> None:
    _, recording, _ = fall(height=0.1, duration=0.3, mass=3.0)
    falling = recording["time"] < 0.1
    speed = recording["twists"][falling, 0, 2]
    expected = 3.0 * (GRAVITY * recording["poses"][falling, 0, 2] + speed**2 / 2)
    np.testing.assert_allclose(recording["fall"][falling, 4], expected, rtol=1e-12)


def test_a_robot_falls_as_a_body_does() -> None:
    _, recording, row = fall(robot="panda", height=0.05, duration=0.3)
    assert row["fall_error_m"] < 1.1 * row["first_order_m"]
    assert abs(row["impact_speed_error"]) < 1e-3
    assert row["energy_gain"] < 1e-3
    assert recording["fall"][0, 3] == pytest.approx(0.05)


@pytest.mark.parametrize("engine", ["mujoco", "ode"])
def test_a_vehicle_lands_on_its_wheels(engine: str) -> None:
    [case] = cases(Config(engine=(engine,), robot="husky4", height=0.05, duration=0.6, slope=10.0))
    row = score(case, run(case))
    assert row["verdict"] == "rests", row
    assert row["rest_tilt_deg"] < 0.5


def test_a_robot_without_shapes_sinks_and_one_without_mass_at_its_root_is_refused(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ball.urdf"
    file.write_text(BALL.format(shape=""))
    row = fall(robot=str(file), height=0.05, duration=0.3)[2]
    assert (row["verdict"], row["cause"]) == ("sinks", "it has no collision shapes")
    file.write_text(BALL.format(shape=SPHERE))
    assert fall(robot=str(file), height=0.05, duration=0.3)[2]["verdict"] == "rests"
    with pytest.raises(SceneError, match="'base' has no mass: the robot cannot fall freely"):
        fall(robot="two-link")


def test_verdicts_of_falls_that_no_engine_should_have() -> None:
    case, recording, row = fall(height=0.1, duration=0.4)

    def spoilt(column: int, change):
        values = recording["fall"].copy()
        values[:, column] = change(values[:, column])
        channel = replace(recording.channels["fall"], values=values)
        return replace(recording, channels={**recording.channels, "fall": channel})

    energy = GRAVITY * 0.1

    late = spoilt(4, lambda e: e[0] + 0.1 * energy * np.linspace(0, 1, len(e)))
    assert score(case, late)["verdict"] == "gains energy"
    assert score(case, late)["energy_gain"] == pytest.approx(0.1)
    burst = spoilt(4, lambda e: e[0] + 3 * energy * np.linspace(0, 1, len(e)))
    assert score(case, burst)["verdict"] == "explodes"
    poses = recording["poses"].copy()
    poses[:, 0, 2] -= np.where(recording["time"] > 0.2, 0.05, 0.0)
    channel = replace(recording.channels["poses"], values=poses)
    sunk = replace(recording, channels={**recording.channels, "poses": channel})
    assert score(case, sunk)["verdict"] == "sinks"
    assert row["verdict"] == "rests"


def test_a_robot_that_is_dropped_has_a_free_base(tmp_path: Path) -> None:
    from kinetarium.batch.study import ConfigError
    from kinetarium.roles import BaseKind

    with pytest.raises(ConfigError, match="free base"):
        cases(Config(robot="panda", base=BaseKind.FIXED))


def test_it_is_a_valid_study_with_robots() -> None:
    config = Config(robot="husky4", engine=("mujoco",), height=0.01, duration=0.1)
    assert [check for check in check_study(Drop(), config) if not check.passed] == []
