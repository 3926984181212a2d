"""The driving studies without an engine: cases, settings, surfaces, and drives that are known."""

from dataclasses import replace
from math import degrees, pi

import numpy as np
import pytest

from kinetarium.batch.outcomes import Outcomes
from kinetarium.batch.study import Outcome
from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.engines.protocol import FrictionRule
from kinetarium.engines.registry import matched_options, open_engine
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.figure.charts import Lines
from kinetarium.figure.page import Section
from kinetarium.metrics import cross_track
from kinetarium.recording.recording import Channel, Recording, RunStatus
from kinetarium.roles.options import RoleOptions
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import to_builtins
from kinetarium.studies.drive import Calibrate, Drive
from kinetarium.studies.drive._statements import statement_table
from kinetarium.studies.drive.calibrate.config import CalibrateConfig
from kinetarium.studies.drive.calibrate.score import identify
from kinetarium.studies.drive.config import (
    DriveCase,
    DriveConfig,
    PathControl,
    PathName,
    Profile,
)
from kinetarium.studies.drive.coulomb import coulomb_multiplier
from kinetarium.studies.drive.ideal import ideal_drive, ideal_of
from kinetarium.studies.drive.profiles import settings
from kinetarium.studies.drive.run import (
    HOLD,
    REFERENCES,
    SAMPLE_RATE,
    SETTLE,
    ground_scene,
    start_placement,
)
from kinetarium.studies.drive.score import path_points, score
from kinetarium.studies.drive.tables import against_ideal
from kinetarium.studies.drive.vehicle import Track, yaw_ratio

CASE = DriveCase(
    engine="mujoco",
    robot="husky4",
    reading=RoleOptions(),
    sha256="",
    control=PathControl.OPEN,
    path=PathName.CIRCLE,
    profile=Profile.MATCHED,
    start=0,
    timestep=2e-3,
    iterations=0,
    friction=1.0,
    multiplier=0.0,
    slope=0.0,
    payload=0.0,
    seed=0,
)
HUSKY = vehicle(RoleOptions().open("husky4"))
TWO_WHEELS = RoleOptions().open("husky2")
ORIGIN = PlanarPose(0.0, 0.0, 0.0)


def record(
    placements: Array, *, commands: Array | None = None, yaw_rate: Array | None = None
) -> Recording:
    """Return the recording of a motion on the ground, sampled as the study samples."""
    n = len(placements)
    time = np.arange(n) / SAMPLE_RATE
    x, y, heading = placements.T
    zero = np.zeros(n)
    pose = np.stack([x, y, zero, np.cos(heading / 2), zero, zero, np.sin(heading / 2)], axis=-1)
    rates = np.gradient(placements, 1 / SAMPLE_RATE, axis=0)
    turn = rates[:, 2] if yaw_rate is None else yaw_rate
    twist = np.stack([rates[:, 0], rates[:, 1], zero, zero, zero, turn], axis=-1)
    speeds = np.ones((n, 4)) if commands is None else commands
    rolled = np.vstack([np.zeros(4), np.cumsum(speeds[1:], axis=0) / SAMPLE_RATE])
    channels = {
        "time": Channel(time, "s"),
        "q": Channel(rolled, "rad"),
        "v": Channel(speeds, "rad/s"),
        "poses": Channel(pose[:, np.newaxis], "m"),
        "twists": Channel(twist[:, np.newaxis], "m/s"),
        "command": Channel(speeds, "rad/s"),
    }
    facts = {
        "vehicle": to_builtins(HUSKY), "drive_type": "skid-steer", "multiplier": 1.875,
        "friction": 1.0, "wheel_damping": 200.0, "options": {"cone": "elliptic"},
        "one_step_rad_s2": 1e-5,
    }  # fmt: skip
    return Recording(channels, "running", facts)


def perfect(path: PathName, *, start: PlanarPose = ORIGIN) -> Recording:
    """Return the recording of a robot that is always where it should be, seen from its start."""
    reference = REFERENCES[path]
    count = round((SETTLE + reference.duration + HOLD) * SAMPLE_RATE) + 1
    times = np.arange(count) / SAMPLE_RATE - SETTLE
    placements, speeds = reference.sample(times)
    left, right = HUSKY.drive(1.875).wheel_speeds(speeds[:, 0], speeds[:, 1])
    commands = np.stack([left, right, left, right], axis=-1)
    c, s = np.cos(start.heading), np.sin(start.heading)
    xy = placements[:, :2] @ np.array([[c, s], [-s, c]]) + (start.x, start.y)
    moved = np.column_stack([xy, placements[:, 2] + start.heading])
    return record(moved, commands=commands, yaw_rate=speeds[:, 1])


class TestCases:
    def test_every_combination_once(self) -> None:
        config = DriveConfig(engine=("mujoco", "mujoco"), robot=("husky4", "husky2"), starts=3)
        cases = Drive().cases(config)
        assert len(cases) == len(set(cases)) == 2 * 2 * 3 * 3

    def test_step_iterations_and_friction_may_be_set(self) -> None:
        config = DriveConfig(
            engine=("mujoco",), control=(PathControl.OPEN,), path=(PathName.CIRCLE,), starts=1,
            timestep=(1e-3, 5e-3), iterations=(0, 7), friction=(0.3, 0.6, 0.3),
        )  # fmt: skip
        cases = Drive().cases(config)
        assert {(c.timestep, c.iterations, c.friction) for c in cases} == {
            (h, n, mu) for h in (1e-3, 5e-3) for n in (0, 7) for mu in (0.3, 0.6)
        }
        assert len(cases) == 8

    def test_otherwise_they_are_the_profiles_own(self) -> None:
        case = Drive().cases(DriveConfig(engine=("mujoco",), starts=1))[0]
        assert (case.timestep, case.iterations, case.friction) == (2e-3, 0, 1.0)

    def test_a_grid_once(self) -> None:
        cases = Calibrate().cases(CalibrateConfig(engine=("mujoco",), v=(0.0, 0.5, 0.0), w=(0.5,)))
        assert [(case.v, case.w) for case in cases] == [(0.0, 0.5), (0.5, 0.5)]

    @pytest.mark.parametrize(
        "config",
        [
            DriveConfig(starts=0),
            DriveConfig(path=()),
            DriveConfig(profile=()),
            DriveConfig(timestep=(0.0,)),
            DriveConfig(timestep=(0.003,)),
            DriveConfig(iterations=(-1,)),
            DriveConfig(friction=(float("nan"),)),
        ],
    )
    def test_what_cannot_be_driven_is_refused(self, config: DriveConfig) -> None:
        with pytest.raises(KinetariumError):
            Drive().cases(config)

    @pytest.mark.parametrize(
        "config",
        [
            CalibrateConfig(w=(0.0,)),
            CalibrateConfig(w=(float("nan"),)),
            CalibrateConfig(v=(-1.0,)),
            CalibrateConfig(v=(float("inf"),)),
            CalibrateConfig(v=()),
        ],
    )
    def test_impossible_speeds_are_refused(self, config: CalibrateConfig) -> None:
        with pytest.raises(KinetariumError):
            Calibrate().cases(config)

    def test_an_unknown_engine_is_refused(self) -> None:
        with pytest.raises(UnknownNameError):
            Drive().cases(DriveConfig(engine=("pogo",)))

    def test_starts(self) -> None:
        assert start_placement(0, seed=3) == (0, 0, 0)
        places = {start_placement(k, seed=3) for k in range(1, 20)}
        assert len(places) == 19
        assert all(
            abs(p.x) <= 2e-3 and abs(p.y) <= 2e-3 and abs(degrees(p.heading)) <= 2 for p in places
        )
        assert start_placement(1, seed=3) != start_placement(1, seed=4)


class TestSettings:
    @pytest.mark.parametrize("profile", list(Profile))
    def test_an_engine_has_its_own_options_in_every_profile(self, profile: Profile) -> None:
        engine = open_engine("mujoco")
        chosen = settings(engine, profile)
        assert isinstance(chosen.options, engine.options)
        assert chosen.words

    def test_profiles_differ_as_they_say(self) -> None:
        engine = open_engine("mujoco")
        stock, matched = (settings(engine, p) for p in (Profile.DEFAULTS, Profile.MATCHED))
        assert stock.options == engine.options.stock()
        assert matched.options == matched_options(engine).options
        assert (matched.friction, matched.multiplier) == (1.0, 1.875)

    def test_an_engine_nobody_knows_takes_part(self) -> None:
        class Stranger:
            options = open_engine("mujoco").options
            info = replace(open_engine("mujoco").info, name="stranger")

        chosen = settings(Stranger(), Profile.TUNED)  # type: ignore[arg-type]
        assert chosen.options == Stranger.options()

    @pytest.mark.parametrize("rule", list(FrictionRule))
    def test_tyres_grip_and_casters_do_not_whatever_the_rule(self, rule: FrictionRule) -> None:
        scene = ground_scene(
            TWO_WHEELS, start=PlanarPose(1.0, 2.0, 0.5), friction=0.7, rule=rule,
            wheel_damping=20.0,
        )  # fmt: skip
        placed, floor = scene.robots[0], scene.bodies[0].material.friction
        grip = {name: rule.combine(material.friction, floor)
                for name, material in placed.link_materials.items()}  # fmt: skip
        assert grip["left_wheel_link"] == grip["right_wheel_link"] == pytest.approx(0.7)
        assert grip["caster_front"] == grip["caster_rear"] == grip["base_link"] == 0.0
        assert placed.X_WB[:2, 3] == pytest.approx([1.0, 2.0])


class TestScore:
    @pytest.mark.parametrize("path", list(PathName))
    @pytest.mark.parametrize("control", list(PathControl))
    def test_a_perfect_drive(self, path: PathName, control: PathControl) -> None:
        case = replace(CASE, path=path, control=control)
        row = score(case, perfect(path))
        assert row["cross_track_max_m"] < 1e-3
        assert row["final_error_m"] < 1e-9
        assert row["yaw_ratio"] == pytest.approx(1.0)
        assert row["wheel_speed_error"] == 0.0
        if path is PathName.SQUARE:
            assert row["corners_deg"] == pytest.approx([90, 90, 90], abs=0.5)
            assert row["recovery_s"] == 0.0
        else:
            assert row["corners_deg"] is row["recovery_s"] is None
        if path is PathName.EIGHT:
            assert row["curvature_tv"] == pytest.approx(11.2, abs=0.3)
        if path is PathName.CIRCLE:
            assert row["out_of_round_m"] < 1e-3

    def test_open_loop_is_judged_from_its_start(self) -> None:
        case = replace(CASE, start=1)
        moved = perfect(PathName.CIRCLE, start=start_placement(1, seed=0))
        assert score(case, moved)["cross_track_max_m"] < 1e-3
        assert score(replace(case, control=PathControl.CLOSED), moved)["cross_track_max_m"] > 2e-3

    def test_half_the_yaw_rate(self) -> None:
        whole = perfect(PathName.CIRCLE)
        half = {**whole.channels, "twists": Channel(whole["twists"] / 2, "m/s")}
        assert score(CASE, replace(whole, channels=half))["yaw_ratio"] == pytest.approx(0.5)

    def test_recovery_after_a_corner(self) -> None:
        case = replace(CASE, path=PathName.SQUARE)
        recording = perfect(PathName.SQUARE)
        corners = REFERENCES[PathName.SQUARE].corners  # type: ignore[attr-defined]
        poses = recording["poses"].copy()
        late = recording["time"] - SETTLE - corners[1, 1]
        poses[(late > 0) & (late < 2.0), 0, 1] += 0.3  # above the third edge for two seconds
        moved = replace(recording, channels={**recording.channels, "poses": Channel(poses, "m")})
        assert score(case, moved)["recovery_s"] == pytest.approx(2.0, abs=0.03)
        poses[late > 0, 0, 1] += 0.3
        moved = replace(recording, channels={**recording.channels, "poses": Channel(poses, "m")})
        assert score(case, moved)["recovery_s"] is None

    @pytest.mark.parametrize("samples", [1, 26, 60, 900])
    @pytest.mark.parametrize("path", list(PathName))
    def test_a_drive_that_ends_early_is_judged_as_far_as_it_went(
        self, path: PathName, samples: int
    ) -> None:
        whole = perfect(path)
        cut = {name: replace(c, values=c.values[:samples]) for name, c in whole.channels.items()}
        row = score(replace(CASE, path=path), replace(whole, channels=cut, status="diverged"))
        assert set(row) == set(score(replace(CASE, path=path), whole))
        assert row["final_error_m"] is None


def turning(multiplier: Array, headings: Array) -> Track:
    """Return a turn in place whose multiplier depends on the heading."""
    time = np.arange(len(headings)) / SAMPLE_RATE
    rate = np.gradient(headings, time)
    aside = multiplier * rate * HUSKY.track / 2 / HUSKY.wheel_radius
    wheels = np.stack([-aside, aside, -aside, aside], axis=-1)
    rolled = np.vstack(
        [np.zeros(4), np.cumsum((wheels[1:] + wheels[:-1]) / 2, axis=0) / SAMPLE_RATE]
    )
    still = np.zeros((len(time), 2))
    return Track(time, still, headings, still, rate, rolled, wheels, wheels, rate, HUSKY.left)


class TestIdentification:
    def test_one_multiplier_everywhere(self) -> None:
        headings = np.linspace(0, 7, 600)
        found = identify(turning(np.full(600, 1.7), headings), HUSKY.drive(1.0))
        assert found is not None
        assert found.multiplier == pytest.approx(1.7)
        assert found.residual == pytest.approx(0.0, abs=1e-9)
        assert found.by_heading == pytest.approx(1.7)

    def test_one_that_goes_with_the_heading_is_averaged_over_whole_quarter_turns(self) -> None:
        headings = np.linspace(0, 5.5, 2000)  # three quarter turns and a half
        multiplier = 1.6 - 0.3 * np.cos(4 * headings)
        found = identify(turning(multiplier, headings), HUSKY.drive(1.0))
        assert found is not None
        assert found.multiplier == pytest.approx(1.6, abs=5e-3)
        within = 0.3 * np.sin(pi / 3) / (pi / 3)  # what is left of 0.3 in ranges of 15 degrees
        assert found.by_heading.min() == pytest.approx(1.6 - within, abs=0.01)
        assert found.by_heading.max() == pytest.approx(1.6 + within, abs=0.01)
        assert np.abs(np.diff(found.headings)) == pytest.approx(pi / 12, rel=0.05)

    def test_who_does_not_turn_shows_nothing(self) -> None:
        assert identify(turning(np.ones(100), np.zeros(100)), HUSKY.drive(1.0)) is None
        assert identify(turning(np.ones(3), np.array([0, -1e-3, -2e-3])), HUSKY.drive(1.0)) is None


def outcome(case: DriveCase, **row: float) -> Outcome[DriveCase]:
    return Outcome(case, RunStatus.COMPLETED, "", (row,), None, {})


class TestReport:
    def test_statements_turn_on_the_figures(self) -> None:
        def verdict(mujoco: float, ode: float, bullet: float) -> str:
            values = {"mujoco": mujoco, "ode": ode, "bullet": bullet}
            eight = replace(CASE, path=PathName.EIGHT)
            outcomes = [outcome(replace(eight, engine=engine), curvature_tv=value)
                        for engine, value in values.items()]  # fmt: skip
            return str(statement_table(Outcomes(outcomes), Profile.MATCHED).rows[0][1])

        assert verdict(11, 20, 30) == "holds"
        assert verdict(25, 20, 30) == "does not hold here"

    def test_failed_runs_count_in_statements(self) -> None:
        """The median of two runs that failed and one that did not is a failure."""
        square = replace(CASE, path=PathName.SQUARE, control=PathControl.CLOSED)

        def runs(engine: str, *times: float | None) -> list[Outcome[DriveCase]]:
            cases = [replace(square, engine=engine, start=k) for k in range(len(times))]
            return [
                Outcome(case, RunStatus.DIVERGED, "", (), None, {}) if time is None
                else outcome(case, recovery_s=time)
                for case, time in zip(cases, times, strict=True)
            ]  # fmt: skip

        outcomes = [*runs("physx", 1.0, None, None), *runs("ode", 2.0, 2.0, 2.0)]
        rows = statement_table(Outcomes(outcomes), Profile.MATCHED).rows
        (row,) = (row for row in rows if "recovers slowest" in str(row[0]))
        assert row[1:] == ("holds", "within 5 cm again after [s]: physx fails, ode 2")

    def test_what_was_not_run_is_not_testable(self) -> None:
        table = statement_table(Outcomes([]), Profile.MATCHED)
        assert {row[1] for row in table.rows} == {"not testable"}

    def test_profiles_are_never_mixed(self) -> None:
        outcomes = [outcome(replace(CASE, profile=p), cross_track_rmse_m=e)
                    for p, e in ((Profile.MATCHED, 0.1), (Profile.DEFAULTS, 0.9))]  # fmt: skip
        summary = {
            p: Outcomes(outcomes).of(profile=p).median("cross_track_rmse_m") for p in Profile
        }
        assert summary == {"matched": 0.1, "defaults": 0.9, "tuned": None}

    def test_a_failure_alone_makes_a_report(self) -> None:
        failed: Outcome[DriveCase] = Outcome(CASE, RunStatus.CRASHED, "gone", (), None, {})
        findings = Drive().report([failed])
        assert findings.headline.rows[0][5] == "0/1"
        assert all(isinstance(section, Section) for section in findings.sections)


class TestIdeal:
    def test_wheels_that_need_not_skid_cost_the_ramps_alone(self) -> None:
        drive = ideal_drive(
            vehicle(TWO_WHEELS), PathName.CIRCLE, friction=1.0, wheel_damping=200.0, multiplier=1.0
        )
        error = cross_track(drive.position, path_points(REFERENCES[PathName.CIRCLE]))
        assert np.sqrt(np.mean(error**2)) == pytest.approx(0.0218, abs=5e-4)
        assert drive.heading[-1] == pytest.approx(2 * pi, abs=0.01)

    def test_skidding_wheels_turn_by_coulombs_multiplier(self) -> None:
        drive = ideal_drive(
            HUSKY, PathName.CIRCLE, friction=1.0, wheel_damping=1e6, multiplier=1.875
        )
        ideal = coulomb_multiplier(HUSKY, v=0.5, w=0.25, friction=1.0)
        assert yaw_ratio(drive.yaw_rate, drive.commanded) == pytest.approx(1.875 / ideal, rel=2e-3)

    def test_a_drive_is_held_against_it_from_where_it_starts(self) -> None:
        for start in (0, 1):
            case = replace(CASE, robot="husky2", start=start)
            base = vehicle(TWO_WHEELS)
            facts = {"vehicle": to_builtins(base), "multiplier": 1.0, "friction": 1.0,
                     "wheel_damping": 200.0}  # fmt: skip
            ideal = ideal_of(case, facts)
            assert ideal is not None
            place = start_placement(start, seed=0)
            c, s = np.cos(place.heading), np.sin(place.heading)
            xy = ideal.position[::2] @ np.array([[c, s], [-s, c]]) + (place.x, place.y)
            moved = np.column_stack([xy, ideal.heading[::2] + place.heading])
            waited = np.vstack([np.repeat(moved[:1], round(SETTLE * SAMPLE_RATE), axis=0), moved])
            recording = replace(record(waited), facts=facts)
            row = {**score(case, recording), "yaw_ratio": 1.0}
            outcomes = [Outcome(case, RunStatus.COMPLETED, "", (row,), recording, {})]
            found = against_ideal(case, Outcomes(outcomes))
            assert found is not None
            assert found.distance < 1e-9
            assert found.yaw_off == pytest.approx(0.0, abs=1e-6)

    def test_closed_loop_has_none(self) -> None:
        case = replace(CASE, control=PathControl.CLOSED)
        assert against_ideal(case, Outcomes([outcome(case, yaw_ratio=1.0)])) is None


class TestSweeps:
    @staticmethod
    def varied(**values: tuple[float, ...]) -> list[Outcome[DriveCase]]:
        row = {**dict.fromkeys(("cross_track_max_m", "final_error_m", "curvature_tv", "recovery_s",
                                "wheel_speed_error", "corners_deg", "out_of_round_m")),
               "cross_track_rmse_m": 0.4, "yaw_ratio": 1.1, "off_ideal_m": 0.3}  # fmt: skip
        recording = perfect(PathName.CIRCLE)
        facts = {
            **recording.facts, "friction": 1.0, "timestep_s": 2e-3, "mass_error": 0.0,
            "joint_damping": 0.0, "armature": 0.0, "settings": "", "remarks": [],
            "engine_version": "1",
        }  # fmt: skip
        recording = replace(recording, facts=facts)
        timing = {"cpu_s": 9.0, "loop_cpu_s": 1.0}
        return [
            Outcome(replace(CASE, **{name: value}), RunStatus.COMPLETED, "", (row,), recording,
                    timing)
            for name, several in values.items() for value in several
        ]  # fmt: skip

    @staticmethod
    def titles(outcomes: list[Outcome[DriveCase]]) -> list[str]:
        sections = Drive().report(outcomes).sections
        return [f.title for section in sections for f in section.figures if hasattr(f, "title")]

    def test_friction(self) -> None:
        outcomes = self.varied(friction=(0.5, 1.0, 2.0))
        findings = Drive().report(outcomes)
        titles = self.titles(outcomes)
        assert "Circle: yaw ratio over friction" in titles
        assert "Circle" not in titles
        assert [row[5] for row in findings.headline.rows] == [0.5, 1.0, 2.0]
        lines = [f for s in findings.sections for f in s.figures if isinstance(f, Lines)]
        (figure,) = (f for f in lines if f.title == "Circle: yaw ratio over friction")
        measured, ideal = figure.series
        assert measured.name == "mujoco" and ideal.name == "Coulomb friction"
        assert list(measured.x) == [0.5, 1.0, 2.0]
        # A rougher ground loads the servos more, and they lag more.
        assert list(ideal.y) == sorted(ideal.y, reverse=True)

    def test_effort(self) -> None:
        outcomes = self.varied(timestep=(1e-3, 2e-3), iterations=(5, 20))
        titles = self.titles(outcomes)
        assert "Circle: error over iterations, steps of 2 ms" in titles
        assert "Circle: error over the time step" in titles
        assert "Speed and accuracy" in titles

    def test_engines_alone_are_drawn_path_by_path(self) -> None:
        assert "Circle" in self.titles(self.varied(friction=(1.0,)))
