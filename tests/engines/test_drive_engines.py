"""The driving studies in engines: what is promised of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinetarium.batch.check_study import check_study
from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.engines.registry import list_engines, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.metrics import bootstrap, bootstrap_interval
from kinetarium.model.diagnostics import Allowance
from kinetarium.roles.options import RoleOptions
from kinetarium.studies.drive import Calibrate, Drive
from kinetarium.studies.drive.calibrate.config import CalibrateCase, CalibrateConfig
from kinetarium.studies.drive.config import (
    DriveConfig,
    PathControl,
    PathName,
    Profile,
)
from kinetarium.studies.drive.coulomb import coulomb_multiplier
from kinetarium.studies.drive.profiles import settings
from kinetarium.studies.drive.run import ground_scene, loaded_facts
from kinetarium.studies.drive.vehicle import opened
from kinetarium.studies.engine_guide.verdict import worst_median
from needs import need, public

ENGINES = ("bullet", "mujoco", "ode", "physx", "rapier")
NEAR = 0.12
"""Limit of the cross-track error in closed loop [m], as in the verdicts on engines."""
AVAILABLE = {listing.name for listing in list_engines() if listing.available}


def drive(engine: str, robot: str = "husky4", **changes: Any) -> dict[str, float]:
    config = DriveConfig(
        engine=(engine,), robot=(robot,), control=(PathControl.OPEN,), path=(PathName.CIRCLE,),
        starts=1, lenient=(Allowance.STRAY_TEXT,),
    )  # fmt: skip
    case = replace(Drive().cases(config)[0], **changes)
    return dict(Drive().score(case, Drive().run(case))[0])


def in_place(engine: str, profile: Profile, v: float = 0.0) -> CalibrateCase:
    config = CalibrateConfig(engine=(engine,), profile=(profile,), v=(v,), w=(0.5,))
    return Calibrate().cases(config)[0]


@pytest.mark.parametrize(
    "engine",
    [
        "mujoco",
        "physx",
        "rapier",
        *(pytest.param(e, marks=pytest.mark.slow) for e in ("bullet", "ode")),
    ],
)
def test_two_wheels_follow_a_circle_in_open_loop(engine: str) -> None:
    need(engine)
    row = drive(engine, "husky2")
    assert row["cross_track_rmse_m"] <= 0.03
    assert row["yaw_ratio"] == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("name", sorted(AVAILABLE))
def test_every_engine_loads_the_model_with_every_profile(name: str, profile: Profile) -> None:
    """Bullet's own motors, which it has by default, know no gain; that is no other model."""
    engine, robot = open_engine(name), opened(RoleOptions(), "husky4")
    chosen, rule = settings(engine, profile), engine.info.friction_rule
    scene = ground_scene(
        robot, start=PlanarPose(0.0, 0.0, 0.0), friction=chosen.friction, rule=rule,
        wheel_damping=chosen.wheel_damping,
    )  # fmt: skip
    simulation = engine.compile(scene, timestep=chosen.timestep, options=chosen.options)
    audit = simulation.audit()
    simulation.close()
    loaded_facts(audit, scene, engine=name, rule=rule, own_motors=chosen.own_motors)
    if (name, profile) == ("bullet", Profile.DEFAULTS):
        with pytest.raises(KinetariumError, match="another model: drive"):
            loaded_facts(audit, scene, engine=name, rule=rule)


def test_mujoco_skids_as_coulomb_says() -> None:
    need("mujoco")
    for v in (0.0, 0.5):
        case = in_place("mujoco", Profile.MATCHED, v)
        row = Calibrate().score(case, Calibrate().run(case))[0]
        ideal = coulomb_multiplier(
            vehicle(opened(RoleOptions(), "husky4")), v=v, w=0.5, friction=1.0
        )
        assert row["track_multiplier"] == pytest.approx(ideal, rel=0.03)
        assert row["highest"] - row["lowest"] < 0.01


@pytest.mark.parametrize("friction", [0.55, 0.7, 0.78])
def test_wheels_of_mujoco_keep_their_speed_whatever_the_friction(friction: float) -> None:
    """Servos that are cut off by the speed before a step skid at 16 % error instead of 2 %."""
    need("mujoco")
    row = drive("mujoco", friction=friction)
    assert row["wheel_speed_error"] < 0.03


def test_ode_skids_by_a_pyramid() -> None:
    need("ode")
    case = in_place("ode", Profile.MATCHED)
    row = Calibrate().score(case, Calibrate().run(case))[0]
    assert row["track_multiplier"] == pytest.approx(1.59, abs=0.02)
    assert row["over_first_4s"] == pytest.approx(1.65, abs=0.03)
    assert row["lowest"] < 1.35
    assert row["highest"] > 1.85


def test_rapier_skids_by_its_heading() -> None:
    """Its friction yields to the axes of the world and to how easily wheels turn."""
    need("rapier")
    case = in_place("rapier", Profile.MATCHED)
    row = Calibrate().score(case, Calibrate().run(case))[0]
    assert row["lowest"] < 1.6
    assert row["highest"] > 4.0


@pytest.mark.parametrize("engine", ["mujoco", "physx"])
def test_a_car_of_another_author_turns_as_coulomb_says(engine: str) -> None:
    """Its wheels are wide: 1.9 % less than without slip on their edges, nothing less on points."""
    need(engine)
    row = drive(engine, str(public("pybullet_data", "racecar/racecar.urdf")))
    assert row["ideal_yaw_ratio"] == pytest.approx(0.981, abs=1e-3)
    assert 0.965 < row["yaw_ratio"] < 1.0
    assert row["off_ideal_m"] < 0.12
    assert not row["toppled"]


def test_stiff_wheels_of_mujoco_do_not_chatter_when_tuned() -> None:
    need("mujoco")
    case = in_place("mujoco", Profile.TUNED)
    row = Calibrate().score(case, Calibrate().run(case))[0]
    assert row["track_multiplier"] == pytest.approx(1.578, abs=5e-3)
    assert row["highest"] - row["lowest"] < 1e-4


@pytest.mark.slow
def test_drake_skids_as_coulomb_says() -> None:
    """1.530: the prototype's 1.56 is not the reference, which is Coulomb's 1.541."""
    need("drake")
    case = in_place("drake", Profile.MATCHED)
    row = Calibrate().score(case, Calibrate().run(case))[0]
    assert row["track_multiplier"] == pytest.approx(row["ideal_multiplier"], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["mujoco", "ode", "drake", "physx"])
@pytest.mark.parametrize(
    ("robot", "most"),
    [
        ("pybullet_data:husky/husky.urdf", 0.15),
        ("pybullet_data:racecar/racecar.urdf", 0.05),
        ("scout", 0.20),
        ("example-robot-data:robots/tiago_description/robots/tiago_no_hand.urdf", 0.15),
    ],
)
def test_public_bases_turn_as_their_reference(engine: str, robot: str, most: float) -> None:
    """The largest are those of PhysX, which skids otherwise; see docs/driving.md."""
    need(engine)
    path = str(public(*robot.split(":"))) if ":" in robot else robot
    row = drive(engine, path)
    assert abs(row["yaw_ratio"] / row["ideal_yaw_ratio"] - 1) <= most
    assert not row["toppled"]


@pytest.mark.slow
def test_ode_skids_likewise_with_the_quick_solver() -> None:
    need("ode")
    case = in_place("ode", Profile.DEFAULTS)
    row = Calibrate().score(case, Calibrate().run(case))[0]
    assert row["track_multiplier"] == pytest.approx(1.56, abs=0.03)


def test_both_studies_hold_together() -> None:
    need("mujoco")
    config = DriveConfig(engine=("mujoco",), path=(PathName.CIRCLE,), starts=1)
    turns = CalibrateConfig(engine=("mujoco",), v=(0.0,), w=(0.5, 1.0))
    for check in (*check_study(Drive(), config), *check_study(Calibrate(), turns)):
        assert check.passed, check


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("path", list(PathName))
def test_closed_loop_stays_near_the_path(engine: str, path: PathName) -> None:
    need(engine)
    closed: Any = {"control": PathControl.CLOSED, "path": path}
    errors = [drive(engine, **closed)["cross_track_rmse_m"]]
    if errors[0] > NEAR:
        # One start is no verdict. PhysX needs a multiplier of 1.32 on this circle, not the 1.875 of
        # the law: 0.1225 m from the first start, 0.1194 m in the median of five.
        errors += [drive(engine, **closed, start=k)["cross_track_rmse_m"] for k in range(1, 5)]
        draws = bootstrap(np.array([errors]), worst_median)
        assert bootstrap_interval(draws, len(errors)).low <= NEAR
