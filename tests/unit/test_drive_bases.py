"""Any base with wheels: what is found, what is refused, how it is placed and laden."""

from dataclasses import replace
from math import pi
from pathlib import Path

import numpy as np
import pytest

from kinetarium.batch.study import ConfigError, Outcome
from kinetarium.control.interface import ConstantCommand
from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheeled_base import Chassis, DriveType
from kinetarium.engines.protocol import CapabilityError, FrictionRule
from kinetarium.engines.registry import matched_options, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.model.assets import installed_packages
from kinetarium.model.diagnostics import Allowance
from kinetarium.recording.recording import RunStatus
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.roles import BaseKind, RolesError
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.rollout.loop import run
from kinetarium.scene import DriveMode
from kinetarium.scene.robot import PlacedRobot
from kinetarium.storage.serialization import to_builtins
from kinetarium.studies.drive import Calibrate, Drive
from kinetarium.studies.drive.calibrate.config import CalibrateConfig
from kinetarium.studies.drive.cases import drivable_paths
from kinetarium.studies.drive.config import (
    DriveCase,
    DriveConfig,
    PathControl,
    PathName,
    Profile,
    Terrain,
)
from kinetarium.studies.drive.coulomb import coulomb_arc, usual_multiplier
from kinetarium.studies.drive.profiles import settings_of
from kinetarium.studies.drive.run import ground_scene, laden, loaded_facts, relief_of
from kinetarium.studies.drive.vehicle import recorded_vehicle
from needs import needs

BULLET_DATA = installed_packages().get("pybullet_data")
RACECAR = str(BULLET_DATA / "racecar/racecar.urdf") if BULLET_DATA else ""
LENIENT = RoleOptions(lenient=(Allowance.STRAY_TEXT,))
needs_data = needs("pybullet_data")
ORIGIN = PlanarPose(0.0, 0.0, 0.0)


def urdf(folder: Path, wheels: list[tuple[float, float, float]], extra: str = "") -> str:
    """Write a base with wheels of 0.1 m at (x, y), each rolling to a direction [rad]."""
    parts = [
        '<robot name="base"><link name="body"><inertial><mass value="20"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><box size="0.4 0.3 0.1"/></geometry></collision></link>'
    ]
    for k, (x, y, yaw) in enumerate(wheels):
        parts.append(
            f'<link name="w{k}"><inertial><mass value="1"/><inertia ixx="0.003" iyy="0.003"'
            ' izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
            '<cylinder radius="0.1" length="0.04"/></geometry></collision></link>'
            f'<joint name="j{k}" type="continuous"><origin xyz="{x} {y} -0.05"'
            f' rpy="{-pi / 2} 0 {yaw}"/><parent link="body"/><child link="w{k}"/>'
            '<axis xyz="0 0 1"/></joint>'
        )
    path = folder / "base.urdf"
    path.write_text("".join([*parts, extra, "</robot>"]))
    return str(path)


def found(path: str, options: RoleOptions | None = None) -> StudiedRobot:
    return (options or RoleOptions()).open(path)


class TestKinds:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("husky4", DriveType.SKID_STEER),
            ("husky2", DriveType.DIFFERENTIAL),
            ("scout-panda", DriveType.SKID_STEER),
        ],
    )
    def test_of_the_catalogue(self, name: str, kind: DriveType) -> None:
        base = vehicle(found(name))
        assert base.kind is kind
        assert recorded_vehicle({"vehicle": to_builtins(base)}) == base

    @needs_data
    def test_a_car_of_another_author(self) -> None:
        base = vehicle(found(RACECAR, LENIENT))
        assert base.kind is DriveType.STEERED
        assert base.length == pytest.approx(0.325)
        assert base.track == pytest.approx(0.245)
        assert base.frame == (0.0, 0.0, 0.0)  # in the middle of the rear axle
        steered = [wheel.steering for wheel in base.wheels if wheel.steering]
        assert [one.y for one in steered] == pytest.approx([0.1, -0.1])
        assert [wheel.y for wheel in base.wheels if wheel.steering] == pytest.approx(
            [0.1225, -0.1225]
        )

    def test_forwards_is_where_the_wheels_roll(self, tmp_path: Path) -> None:
        """A base whose wheels roll along y of its root, and stand off the root's origin."""
        sides = [(0.2, 0.1, pi / 2), (-0.2, 0.1, pi / 2)]
        robot = found(urdf(tmp_path, sides))
        base = vehicle(robot)
        assert base.kind is DriveType.DIFFERENTIAL
        assert base.frame == pytest.approx((0.0, 0.1, pi / 2))
        assert base.track == pytest.approx(0.4)
        scene = ground_scene(
            robot, start=PlanarPose(1.0, 2.0, 0.3), friction=1.0, rule=FrictionRule.MAXIMUM,
            wheel_damping=1.0,
        )  # fmt: skip
        X_WB = scene.robots[0].X_WB
        assert (X_WB @ [0.0, 0.1, 0.0, 1.0])[:2] == pytest.approx([1.0, 2.0])
        assert np.arctan2(X_WB[1, 0], X_WB[0, 0]) == pytest.approx(0.3 - pi / 2)
        # A positive command rolls both wheels along y.
        commands = Chassis(base).commands((0.5, 0.0))
        assert commands == pytest.approx([5.0, 5.0])

    @pytest.mark.parametrize(("limit", "speed"), [("2.5", 2.5), ("0", None)])
    def test_speed_limits_of_wheels_are_read(
        self, limit: str, speed: float | None, tmp_path: Path
    ) -> None:
        """Zero is what exporters write where they know none."""
        path = Path(urdf(tmp_path, [(0.0, 0.2, 0.0), (0.0, -0.2, 0.0)]))
        limited = f'</axis><limit velocity="{limit}" effort="9"/></joint>'
        path.write_text(path.read_text().replace("/></joint>", limited.replace("</axis>", "/>")))
        assert [wheel.speed for wheel in vehicle(found(str(path))).wheels] == [speed, speed]

    def test_backward_axes_get_backward_speeds(self, tmp_path: Path) -> None:
        robot = found(urdf(tmp_path, [(0.0, 0.2, 0.0), (0.0, -0.2, pi)]))
        assert Chassis(vehicle(robot)).commands((0.5, 0.0)) == pytest.approx([5.0, -5.0])


class TestRefusals:
    def test_wheels_that_roll_apart(self, tmp_path: Path) -> None:
        three = [
            (0.2 * np.cos(a), 0.2 * np.sin(a), a + pi / 2) for a in (0, 2 * pi / 3, -2 * pi / 3)
        ]
        with pytest.raises(RolesError, match="omnidirectional"):
            vehicle(found(urdf(tmp_path, three)))

    def test_rollers(self, tmp_path: Path) -> None:
        rollers = "".join(
            f'<link name="r{k}"><inertial><mass value="0.01"/><inertia ixx="1e-6" iyy="1e-6"'
            ' izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="roller{k}" type="continuous"><parent link="w0"/><child link="r{k}"/>'
            '<axis xyz="1 0 0"/></joint>'
            for k in range(4)
        )
        path = urdf(tmp_path, [(0.0, 0.2, 0.0), (0.0, -0.2, 0.0)], rollers)
        with pytest.raises(RolesError, match="rollers"):
            vehicle(found(path))

    def test_one_behind_the_other(self, tmp_path: Path) -> None:
        with pytest.raises(RolesError, match="one side"):
            vehicle(found(urdf(tmp_path, [(0.2, 0.0, 0.0), (-0.2, 0.0, 0.0)])))

    def test_a_base_that_is_held(self) -> None:
        with pytest.raises(RolesError, match="--base free"):
            Drive().cases(DriveConfig(engine=("mujoco",), base=BaseKind.FIXED))

    def test_no_wheels(self) -> None:
        with pytest.raises(RolesError, match="wheels"):
            Drive().cases(DriveConfig(engine=("mujoco",), robot=("panda",)))

    @needs_data
    def test_a_car_has_no_track_multiplier_and_turns_no_corners(self) -> None:
        car = vehicle(found(RACECAR, LENIENT))
        with pytest.raises(ConfigError, match="--path circle eight"):
            drivable_paths(car, [PathName.SQUARE])
        assert drivable_paths(car, list(PathName)) == (PathName.CIRCLE, PathName.EIGHT)
        with pytest.raises(ConfigError, match="tightest"):
            drivable_paths(_stiff(car), [PathName.CIRCLE])
        config = CalibrateConfig(
            engine=("mujoco",), robot=(RACECAR,), lenient=(Allowance.STRAY_TEXT,)
        )  # fmt: skip
        with pytest.raises(ConfigError, match="steered"):
            Calibrate().cases(config)

    def test_a_model_that_was_loaded_otherwise(self) -> None:
        scene = ground_scene(
            found("husky2"), start=ORIGIN, friction=1.0, rule=FrictionRule.MAXIMUM,
            wheel_damping=200.0,
        )  # fmt: skip
        simulation = open_engine("mujoco").compile(scene, timestep=2e-3)
        audit = simulation.audit()
        simulation.close()
        loaded = loaded_facts(audit, scene, engine="mujoco", rule=FrictionRule.MAXIMUM)
        assert loaded["mass_error"] == pytest.approx(0.0, abs=1e-9)
        heavier = replace(audit.solids[0], inertia=replace(audit.solids[0].inertia, mass=34.0))
        wrong = replace(audit, solids=(heavier, *audit.solids[1:]))
        with pytest.raises(KinetariumError, match="engine 'mujoco' has loaded another model"):
            loaded_facts(wrong, scene, engine="mujoco", rule=FrictionRule.MAXIMUM)


def _stiff(car):  # type: ignore[no-untyped-def]
    """A car that can hardly be steered."""
    wheels = tuple(
        replace(w, steering=replace(w.steering, left=0.05, right=0.05)) if w.steering else w
        for w in car.wheels
    )
    return replace(car, wheels=wheels)


class TestScene:
    def placed(self, robot: StudiedRobot) -> PlacedRobot:
        scene = ground_scene(
            robot, start=ORIGIN, friction=1.0, rule=FrictionRule.MAXIMUM, wheel_damping=2.0
        )
        return scene.robots[0]

    def test_an_arm_on_top_is_held(self) -> None:
        robot = found("husky4-panda")
        drives = self.placed(robot).actuation
        assert drives["panda_joint2"].drive is DriveMode.POSITION
        assert drives["front_left_wheel"].drive is DriveMode.VELOCITY
        base = vehicle(robot)
        commands = Chassis(base, 1.5).commands((0.5, 0.0))
        assert len(commands) == len(drives)
        assert commands[4:] == pytest.approx(base.home[4:])  # the arm stays at home

    @needs_data
    def test_steering_is_stiff_and_only_wheels_have_friction(self) -> None:
        placed = self.placed(found(RACECAR, LENIENT))
        assert placed.actuation["left_steering_hinge_joint"].stiffness > 100.0
        rough = {name for name, material in placed.link_materials.items() if material.friction}
        assert rough == {
            "left_front_wheel", "left_rear_wheel", "right_front_wheel", "right_rear_wheel",
        }  # fmt: skip

    def test_a_slope_is_gravity_that_leans(self) -> None:
        scene = ground_scene(
            found("husky2"), start=ORIGIN, friction=1.0, rule=FrictionRule.MAXIMUM,
            wheel_damping=2.0, slope=10.0,
        )  # fmt: skip
        assert scene.gravity[0] == pytest.approx(-9.81 * np.sin(np.radians(10.0)))
        assert np.linalg.norm(scene.gravity) == pytest.approx(9.81)

    @staticmethod
    def drive_ahead(*, damping: float = 20.0, duration: float = 4.0, **ground):
        """Let a Husky drive along x with 0.5 m/s at the wheels in MuJoCo."""
        robot = found("husky4")
        base = vehicle(robot)
        engine = open_engine("mujoco")
        scene = ground_scene(
            robot, start=ORIGIN, friction=1.0, rule=engine.info.friction_rule,
            wheel_damping=damping, **ground,
        )  # fmt: skip
        speeds = np.array(Chassis(base, 1.0).commands((0.5, 0.0)))
        recording = run(
            scene, engine=engine, duration=duration, controller=ConstantCommand(speeds),
            options=matched_options(engine).options,
        )  # fmt: skip
        return robot, speeds, recording

    def test_rolling_resistance_takes_its_torque_from_the_wheels(self) -> None:
        # All wheels together: sum of c N = c m g = sum of damping (command - speed).
        rolling, damping = 0.005, 20.0
        robot, speeds, recording = self.drive_ahead(rolling=rolling, damping=damping)
        short = speeds - recording["v"][-100:].mean(axis=0)
        assert damping * short.sum() == pytest.approx(rolling * robot.model.mass * 9.81, rel=0.03)

    def test_engines_without_rolling_resistance_are_refused(self) -> None:
        with pytest.raises(CapabilityError, match="rolling-friction"):
            Drive().run(replace(self.case(), engine="ode", rolling=0.005))

    def test_steps_lift_the_robot_by_their_height(self) -> None:
        slabs = relief_of(replace(self.case(), terrain=Terrain.STEPS, rise=0.04))
        first = min((slab for slab in slabs if slab.x > 0), key=lambda slab: slab.x)
        _, _, recording = self.drive_ahead(relief=slabs, duration=5.0)
        x, z = recording["poses"][:, 0, 0], recording["poses"][:, 0, 2]
        on_top = np.abs(x - first.x) < 0.1  # the wheelbase is 0.51 m, a terrace 1 m
        assert on_top.any()
        assert z[on_top].mean() - z[20] == pytest.approx(0.04, abs=2e-3)

    def test_rough_ground_is_the_same_for_every_engine_and_level_at_the_start(self) -> None:
        case = replace(self.case(), terrain=Terrain.ROUGH, rise=0.03)
        slabs = relief_of(case)
        assert slabs == relief_of(replace(case, engine="bullet"))
        assert slabs != relief_of(replace(case, seed=1))
        assert len(slabs) > 50
        assert max(slab.height for slab in slabs) <= 0.03
        assert min(np.hypot(slab.x, slab.y) for slab in slabs) > 1.0

    @staticmethod
    def case() -> DriveCase:
        config = DriveConfig(engine=("mujoco",), path=(PathName.CIRCLE,), starts=1)
        return Drive().cases(config)[0]

    def test_a_payload_is_above_the_wheels(self) -> None:
        robot = found("husky4")
        base, more = vehicle(robot), vehicle(laden(robot, 50.0))
        assert more.mass == pytest.approx(base.mass + 50.0)
        share = base.mass / more.mass
        assert more.center == pytest.approx((share * base.center[0], share * base.center[1]))
        assert laden(robot, 0.0) is robot

    def test_gains_go_with_weight_and_radius(self) -> None:
        engine = open_engine("mujoco")
        for name, gain, multiplier in (("husky4", 200.0, 1.875), ("husky2", 200.0, 1.0)):
            chosen = settings_of(engine, Profile.MATCHED, vehicle(found(name)))
            assert chosen.wheel_damping == gain
            assert vehicle(found(name)).drive(chosen.multiplier).multiplier == multiplier


class TestCoulomb:
    @needs_data
    def test_a_car_on_thin_wheels_does_not_slip(self) -> None:
        """At low speed, where the centripetal force is negligible."""
        car = vehicle(found(RACECAR, LENIENT))
        thin = replace(car, wheels=tuple(replace(w, width=0.0) for w in car.wheels))
        for curvature in (0.5, -1.0):
            moved = coulomb_arc(thin, v=0.05, curvature=curvature, friction=1.0)
            assert moved.yaw_rate == pytest.approx(0.05 * curvature, rel=2e-3)
            assert moved.forward == pytest.approx(0.05, rel=2e-3)
            wide = coulomb_arc(car, v=0.05, curvature=curvature, friction=1.0)
            assert 0.9 < wide.yaw_rate / (0.05 * curvature) < 0.99

    def test_a_centred_base_needs_more(self) -> None:
        assert usual_multiplier(vehicle(found("scout"))) == pytest.approx(1.774, abs=2e-3)


class TestConclusions:
    def test_failed_runs_are_counted_and_named(self) -> None:
        config = DriveConfig(
            engine=("mujoco",), control=(PathControl.OPEN,), path=(PathName.CIRCLE,), starts=2
        )
        cases = Drive().cases(config)
        failed = Outcome(cases[0], RunStatus.CRASHED, "gone", (), None, {})
        fallen = Outcome(cases[1], RunStatus.COMPLETED, "", ({"toppled": True},), None, {})
        findings = Drive().report([failed, fallen])
        assert "2 of 2 runs failed (mujoco 2: gone)" in findings.conclusion
        assert findings.summary["groups"][0]["failed"] == 2
        turns = Calibrate().cases(CalibrateConfig(engine=("mujoco",), v=(0.0,), w=(0.5,)))
        lost = Outcome(turns[0], RunStatus.CRASHED, "gone", (), None, {})
        assert "1 of 1 runs failed (mujoco 1: gone)" in Calibrate().report([lost]).conclusion
