"""The studies of reach: sound, their files known by digests, from batches and from Python."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinetarium
from kinetarium import KinetariumError, load_robot, run_study
from kinetarium.batch.check_study import check_study
from kinetarium.batch.plan import Plan
from kinetarium.batch.study import open_study
from kinetarium.batch.sweep import run_plan
from kinetarium.batch.worker import SerialExecutor
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheeled_base import Steering
from kinetarium.dynamics import link_poses
from kinetarium.figure.text import Table
from kinetarium.reach import build_map, open_map, place_base
from kinetarium.reach.maps.build import compute_map
from kinetarium.reach.placement.files import read_poses
from kinetarium.roles.options import RoleOptions
from kinetarium.spatial.rotation import pose
from kinetarium.studies.reach.comparison.config import Config, Method
from kinetarium.studies.reach.comparison.run import random_poses
from kinetarium.studies.reach.placement.config import (
    BaseDrive,
    FollowConfig,
    PlaceConfig,
    StopCount,
)

PANDA = load_robot("panda")
DOWN = np.diag([1.0, -1.0, -1.0])
COARSE = {"sets": 2, "samples": 20_000, "coarser": (4, 8), "fewer": (5, 10)}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a map, poses, a trajectory and obstacles."""
    folder = tmp_path_factory.mktemp("files")
    build_map(PANDA, folder / "panda.rmap", voxel=0.125, poses=3, workers=2)
    poses = random_poses(np.random.default_rng(0), count=4)
    times = np.arange(0, 1, 0.1)
    way = [pose((0.3 * t, 0.5, 0.4), DOWN).tolist() for t in times]
    scene = {"boxes": [{"position": [0.4, 2.0, 0.2], "size": [0.2, 0.2, 0.4]}]}
    (folder / "poses.json").write_text(json.dumps(poses.tolist()))
    (folder / "way.json").write_text(json.dumps({"times": times.tolist(), "poses": way}))
    (folder / "scene.json").write_text(json.dumps(scene))
    return folder


@pytest.fixture
def place(files: Path) -> PlaceConfig:
    scene = str(files / "scene.json")
    poses = str(files / "poses.json")
    return PlaceConfig(map=str(files / "panda.rmap"), poses=poses, obstacles=scene)


def faults(study: str, config: object) -> list[str]:
    checks = check_study(study, config)
    return [f"{each.check}: {each.reason}" for each in checks if not each.passed]


def test_place_and_follow_are_sound_studies(files: Path, place: PlaceConfig) -> None:
    assert faults("reach-place", place) == []
    way = FollowConfig(map=place.map, trajectory=str(files / "way.json"))
    assert faults("reach-follow", way) == []


def test_compare_is_a_sound_study() -> None:
    quick = Config(method=(Method.PAPER, Method.STANDARD), **COARSE)
    assert faults("reach-compare", quick) == []


def test_a_grid_of_a_batch(place: PlaceConfig, tmp_path: Path) -> None:
    plan = Plan(
        open_study("reach-place"),
        {
            "study": "reach-place",
            "config": {"map": place.map, "poses": place.poses},
            "grid": {"effort": ["fast", "standard"], "objective": ["count", "manipulability"]},
        },
    )
    folder, findings = run_plan(plan, out=tmp_path / "out", executor=SerialExecutor())
    rows = folder.metrics["rows"]
    assert [row["effort"] for row in rows] == ["fast", "fast", "standard", "standard"]
    assert all(row["status"] == "completed" and row["total"] == 4 for row in rows)
    assert len(findings.headline.rows) == 4 and not findings.answer
    assert {row["sha256"]["map"] for row in rows} == {rows[0]["sha256"]["map"]}


def test_what_python_finds_is_what_the_library_finds(place: PlaceConfig) -> None:
    result = run_study("reach-place", map=place.map, poses=place.poses)
    [row] = result.rows
    expected = place_base(open_map(str(place.map)), read_poses(str(place.poses))).as_json()
    assert {name: row[name] for name in expected} == expected
    assert result.findings.answer["elapsed_ms"] > 0
    with pytest.raises(KinetariumError, match="--poses is missing"):
        run_study("reach-place", map=place.map)


@pytest.mark.parametrize("field", ["map", "poses", "obstacles"])
def test_a_file_that_has_changed_is_not_taken_for_the_case(
    field: str, place: PlaceConfig, tmp_path: Path
) -> None:
    study = open_study("reach-place")
    if field == "map":
        path = tmp_path / "panda.rmap"
        build_map(PANDA, path, voxel=0.25, poses=1)
    else:
        path = tmp_path / "file.json"
        path.write_text(Path(getattr(place, field)).read_text())
    [case] = study.cases(replace(place, **{field: str(path)}))
    if field == "map":
        build_map(PANDA, path, voxel=0.25, poses=2)
    else:
        path.write_text(path.read_text() + " ")
    with pytest.raises(KinetariumError, match="has changed since the case was made"):
        study.run(case)


def test_meshes_of_obstacles_count(place: PlaceConfig, tmp_path: Path) -> None:
    corners = "v 0 0 0\nv 0.3 0 0\nv 0 0.3 0\nv 0 0 0.3\n"
    (tmp_path / "corner.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    scene = tmp_path / "scene.json"
    scene.write_text(json.dumps({"meshes": [{"file": "corner.obj", "position": [2, 2, 0]}]}))
    study = open_study("reach-place")
    [before] = study.cases(replace(place, obstacles=str(scene)))
    with (tmp_path / "corner.obj").open("a") as file:
        file.write("# moved\n")
    [after] = study.cases(replace(place, obstacles=str(scene)))
    assert before.sha256["obstacles"] != after.sha256["obstacles"]
    assert before.sha256["poses"] == after.sha256["poses"]


def test_roles_beside_the_robot_belong_to_the_case(place: PlaceConfig, tmp_path: Path) -> None:
    robot, roles = tmp_path / "arm.urdf", tmp_path / "arm.roles.toml"
    robot.write_text((Path(kinetarium.__file__).parent / "robots/panda.urdf").read_text())
    path = tmp_path / "arm.rmap"
    build_map(load_robot(robot), path, voxel=0.25, poses=1, tool="panda_link8")
    study, config = open_study("reach-place"), PlaceConfig(map=str(path), poses=place.poses)
    [before] = study.cases(config)
    recording = study.run(before)
    roles.write_text('base = "free"\n')
    [after] = study.cases(config)
    assert before != after
    with pytest.raises(KinetariumError, match=r"the roles of .* have changed"):
        study.replay(before, recording)
    earlier = {name: digest for name, digest in before.sha256.items() if name != "found_roles"}
    assert study.replay(replace(before, sha256=earlier), recording) is not None


def test_the_replay_shows_the_tool_at_every_pose(place: PlaceConfig) -> None:
    study = open_study("reach-place")
    [case] = study.cases(place)
    recording = study.run(case)
    replay = study.replay(case, recording)
    assert replay is not None
    solids = {solid.name: solid for solid in replay.solids}
    tool = solids["panda_link8"].poses
    stops = [tool[np.abs(replay.time - n).argmin(), :3] for n in range(4)]
    assert np.allclose(stops, recording["poses"][:, :3, 3], atol=1e-6)
    assert "obstacle 0" in solids and "pose 3, z" in solids


def test_the_replay_of_a_way_stands_on_its_base(files: Path, place: PlaceConfig) -> None:
    study = open_study("reach-follow")
    [case] = study.cases(FollowConfig(map=place.map, trajectory=str(files / "way.json")))
    recording = study.run(case)
    replay = study.replay(case, recording)
    assert replay is not None
    solids = {solid.name: solid for solid in replay.solids}
    assert np.allclose(solids["panda_link0"].poses[:, :2], recording["bases"][:, :2])
    assert np.allclose(solids["panda_link8"].poses[:, :3], recording["poses"][:, :3, 3], atol=1e-6)


def test_a_steered_base_is_refused_unless_its_wheels_are_left_out(
    files: Path, place: PlaceConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = vehicle(RoleOptions().open("husky4"))
    steering = Steering("fork", 0.2, 0.0, 1, 0.0, 1.0, 1.0, 0, 0)
    steered = replace(base, wheels=tuple(replace(w, steering=steering) for w in base.wheels))
    monkeypatch.setattr("kinetarium.control.vehicle.robot_base.vehicle", lambda robot: steered)
    study = open_study("reach-follow")
    way = FollowConfig(map=place.map, trajectory=str(files / "way.json"))
    with pytest.raises(KinetariumError, match=r"steered, .*; use a base that turns in place"):
        study.cases(way)
    assert study.cases(replace(way, drive=BaseDrive.OMNIDIRECTIONAL))


def test_a_map_in_memory_is_the_map_on_disk(tmp_path: Path) -> None:
    words = {"kind": "irm3", "voxel": 0.25, "poses": 4}
    built, computed = build_map(PANDA, tmp_path / "m.rmap", **words), compute_map(PANDA, **words)
    assert built.recipe == computed.recipe and computed.path is None
    for name, values in built.fields.items():
        assert (values == computed.fields[name]).all()


@pytest.fixture(scope="module")
def comparison() -> object:
    return run_study("reach-compare", workers=0, **COARSE)


def test_methods_beside_the_published_numbers(comparison: object) -> None:
    rows = {row["method"]: row for row in reversed(comparison.rows)}
    assert rows.keys() == set(Method)
    assert rows["thorough"]["exact_success"] >= rows["paper"]["exact_success"]
    assert rows["random"]["exact_success"] < rows["standard"]["exact_success"]
    assert rows["paper"]["numerical_success"] < rows["paper"]["exact_success"]
    maps = {(row["voxel_m"], row["poses_per_voxel"]) for row in comparison.rows}
    assert {(0.12, 10), (0.24, 10), (0.12, 5), (0.24, 5)} <= maps
    assert comparison.folder.metrics["published"]["table_3"]["paper"]["success"][0] == 0.6579


def test_every_figure_of_the_source(comparison: object) -> None:
    figures = [comparison.findings.headline, *comparison.findings.tables, *comparison.figures]
    titles = " ".join(figure.title for figure in figures if hasattr(figure, "title"))
    for number in (1, 2, 7, 9, 10, 11):
        assert f"Fig. {number}: " in titles
    for number in ("Figs. 3 to 5: ", "Figs. 6, 8: ", "Table 1", "Table 2", "Table 3"):
        assert number in titles
    tables = [figure for figure in figures if isinstance(figure, Table)]
    assert 0.6579 in [cell for table in tables for row in table.rows for cell in row]


def test_claims_of_a_way_are_true(files: Path, place: PlaceConfig) -> None:
    result = run_study("reach-follow", map=place.map, trajectory=str(files / "way.json"))
    [row], [recording] = result.rows, result.recordings
    assert recording is not None and row["reached"] == row["poses"] == 10
    steps = np.linalg.norm(np.diff(recording["bases"][:, :2], axis=0), axis=1)
    assert row["way_m"] == pytest.approx(steps.sum())
    assert row["duration_s"] == pytest.approx(0.9)
    names = [joint.name for joint in PANDA.moving_joints]
    tool = [link.name for link in PANDA.links].index("panda_link8")
    q = np.zeros(len(names))
    columns = recording.channels["joints"].columns
    for (x, y, yaw), solved, X_WT in zip(
        recording["bases"], recording["joints"], recording["poses"], strict=True
    ):
        q[[names.index(name) for name in columns]] = solved
        turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
        X = link_poses(PANDA, q, X_WB=pose((x, y, 0.0), turn))[tool]
        assert np.abs(X - X_WT).max() < 1e-6


def test_robust_bases_and_stops(files: Path, place: PlaceConfig) -> None:
    near = [pose((x, 0.5, 0.4), DOWN).tolist() for x in (0.0, 0.1)]
    (files / "near.json").write_text(json.dumps(near))
    words = replace(place, poses=str(files / "near.json"), base_error=("0.01", "0.01m", "2deg"))
    [row] = run_study("reach-place", **vars(replace(words, k=2))).rows
    assert row["robust"]
    assert row["kept"] == [1.0, 1.0]
    assert len(row["others"]) == 1
    assert row["root_pose"]["pose"] == row["base"]["pose"]  # the root is the base link
    far = [*near, pose((3.0, 0.5, 0.4), DOWN).tolist()]
    (files / "far.json").write_text(json.dumps(far))
    words = replace(words, poses=str(files / "far.json"), stops=StopCount.AUTO)
    [row] = run_study("reach-place", **vars(words)).rows
    assert [stop["poses"] for stop in row["tour"]] in ([[0, 1], [2]], [[2], [0, 1]])
    assert row["reachable"] == 3
    assert faults("reach-place", words) == []


def test_contradictions_of_robust_queries_are_refused(place: PlaceConfig) -> None:
    for words, fault in (
        ({"base_error": ("0.01", "0.01", "2 degrees")}, "such as 0.03 0.03 3deg"),
        ({"base_error": ("0.01", "0.01", "-2deg")}, "three numbers from 0 to 1"),
        ({"k": 2}, "--k is for one base with --base-error"),
        ({"stops": StopCount.AUTO, "continuous": True}, "--continuous is for one base"),
    ):
        with pytest.raises(KinetariumError, match=fault):
            run_study("reach-place", **vars(replace(place, **words)))
