"""try: cases of other studies with any robot, verdicts per engine, and what to fix."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kinetarium.batch.study import Outcome
from kinetarium.cli import main
from kinetarium.recording.recording import RunStatus
from kinetarium.roles import BaseKind
from kinetarium.scene import SceneError
from kinetarium.studies.try_robot import Try
from kinetarium.studies.try_robot.config import Config, Part
from kinetarium.studies.try_robot.figures import report
from kinetarium.studies.try_robot.run import run, score
from kinetarium.study import check_study

HOPPER = """<robot name="hopper"><link name="base"><inertial><origin xyz="0.3 0 0"/>
<mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="foot"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.2 0.05"/></geometry></collision></link>
<joint name="knee" type="revolute"><parent link="base"/><child link="foot"/><axis xyz="0 1 0"/>
<origin xyz="0 0 -0.5"/><limit lower="-1" upper="1" velocity="9" effort="500"/></joint></robot>"""


def tried(robot: str, *engines: str, parts: tuple[Part, ...] = tuple(Part), **options):
    """Outcomes of a robot in some engines."""
    found = []
    for case in Config(robot=robot, engine=engines, **options).cases():
        if case.part in parts:
            recording = run(case)
            rows = (score(case, recording),)
            found.append(Outcome(case, RunStatus.COMPLETED, "", rows, recording, {}))
    return found


def test_a_robot_is_tried_in_every_part_and_engine() -> None:
    cases = Config(robot="panda", engine=("mujoco", "ode")).cases()
    assert [(str(case.part), case.engine) for case in cases] == [
        ("robot", "none"),
        *((part, engine) for part in ("hold", "drop") for engine in ("mujoco", "ode")),
        ("dynamics", "mujoco"),
    ]


def test_engines_that_agree_and_differ_are_named() -> None:
    outcomes = tried("husky4", "mujoco", "ode")
    findings = report(outcomes)
    assert findings.headline.rows == (
        ("mujoco", "same", "rests", "stands", ""),
        ("ode", "-", "rests", "stands", ""),
    )
    assert (
        "husky4: both engines agree (dynamics same in 1, drop rests and hold stands)."
        in findings.conclusion
    )
    lost = outcomes[2]
    assert (lost.case.engine, lost.case.part) == ("ode", Part.HOLD)
    crashed = Outcome(lost.case, RunStatus.CRASHED, "crashed (signal 11)", (), None, {})
    said = report([*outcomes[:2], crashed, *outcomes[3:]]).conclusion
    assert "in mujoco alone" in said
    assert "ode differs: hold crashed (crashed (signal 11))" in said
    shaken = Outcome(
        lost.case, RunStatus.COMPLETED, "", ({"verdict": "shakes", "cause": "a joint swings"},),
        None, {},
    )  # fmt: skip
    for others in ([*outcomes[:2], shaken, *outcomes[3:]], [shaken, *outcomes[:2], *outcomes[3:]]):
        said = report(others).conclusion
        assert "2 engines do not agree on hold" in said
        assert "mujoco: hold stands" in said and "ode: hold shakes (a joint swings)" in said
    message = "engine 'ode' has no contact, which this needs"
    refused = Outcome(lost.case, RunStatus.UNSUPPORTED, message, (), None, {})
    said = report([*outcomes[:2], refused, *outcomes[3:]]).conclusion
    assert f"ode refused: {message}" in said


def test_what_to_fix_in_the_file_is_said(tmp_path: Path) -> None:
    file = tmp_path / "hopper.urdf"
    file.write_text(HOPPER)
    robot = (Part.ROBOT, Part.HOLD)
    findings = report(tried(str(file), "mujoco", parts=robot, base=BaseKind.FREE))
    [found] = findings.extra["fixes"].values()
    fault = "the home pose does not stand, its centre of mass is 100 mm outside its support"
    assert f"{fault}; give another in NAME.roles.toml (kinetarium roles --write)" in found
    assert f"To fix in the file: {fault}" in findings.conclusion
    assert "give another" not in findings.conclusion
    (held,) = [
        o
        for o in tried(str(file), "mujoco", parts=robot, base=BaseKind.FREE)
        if o.case.part == Part.HOLD
    ]
    stands = replace(held, rows=({**held.rows[0], "verdict": "stands"},))
    assert "does not stand" not in report([stands]).conclusion
    file.write_text(HOPPER.replace("500", "2"))
    fixes = report(tried(str(file), "mujoco", parts=robot, base=BaseKind.FIXED)).extra["fixes"]
    [found] = fixes.values()
    assert not any("effort" in fix for fix in found)  # the foot hangs straight down
    file.write_text(HOPPER.split("<collision>")[0] + "</link>" + HOPPER.split("</link>")[-1])
    fixes = report(tried(str(file), "mujoco", parts=(Part.ROBOT,))).extra["fixes"]
    [found] = fixes.values()
    assert found[0].startswith("no link has a collision shape")


def test_it_is_a_valid_study() -> None:
    config = Config(robot="husky4", engine=("mujoco",))
    checks = [check for check in check_study(Try(), config) if not check.passed]
    assert checks == []


def test_the_command_ends_with_a_table_and_a_conclusion(tmp_path: Path, capsys) -> None:
    words = ["try", "husky4", "--engine", "mujoco", "--workers", "0", "--out", str(tmp_path / "o")]
    assert main([*words, "--json", str(tmp_path / "r.json")]) == 0
    out = capsys.readouterr().out
    assert "engine  dynamics  drop   hold" in out
    assert "husky4: in mujoco (dynamics same, drop rests and hold stands)." in out
    assert (tmp_path / "o" / "report.html").is_file()
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["ok"] and result["summary"]["husky4"]["mujoco"]["hold"] == "stands"


@pytest.mark.parametrize("content", ["<robot name='r'/>", "<robot>", ""])
def test_a_bad_file_has_the_line_of_inspect_and_exit_code_2(
    tmp_path: Path, capsys, content: str
) -> None:
    file = tmp_path / "bad.urdf"
    file.write_text(content)
    assert main(["inspect", str(file)]) == 2
    expected = capsys.readouterr().err
    assert main(["try", str(file), "--out", str(tmp_path / "o")]) == 2
    assert capsys.readouterr().err == expected != ""
    assert not (tmp_path / "o").exists()


def test_an_object_without_mass_is_held_and_not_dropped(tmp_path: Path) -> None:
    table = tmp_path / "table.urdf"
    table.write_text(
        '<robot name="table"><link name="top"><collision><geometry><box size="1 1 0.1"/>'
        "</geometry></collision></link></robot>"
    )
    outcomes = tried(str(table), "mujoco", "ode", "physx")
    assert {outcome.case.part for outcome in outcomes} == {Part.ROBOT, Part.HOLD}
    said = report(outcomes).conclusion
    assert "all 3 engines agree (hold holds); it is not dropped, since its root has no mass" in said
    [*_, held] = Config(robot=str(table), engine=("physx",), base=BaseKind.FREE).cases()
    with pytest.raises(SceneError, match="'top' of robot 'robot' is free without a mass"):
        run(held)


def test_a_robot_in_a_plane_is_dropped_without_its_plane() -> None:
    parts = {case.part for case in Config(robot="husky4", base=BaseKind.PLANAR).cases()}
    assert Part.DROP in parts


def test_lights_and_links_between_joints_are_no_faults_of_a_file(tmp_path: Path) -> None:
    lit = tmp_path / "lit.xml"
    lit.write_text(
        "<mujoco><worldbody><light pos='0 0 3'/><body name='arm'><joint name='x' axis='1 0 0'/>"
        "<joint name='y' axis='0 1 0'/><geom type='sphere' size='0.1' mass='1'/></body></worldbody>"
        "</mujoco>"
    )
    [case] = [case for case in Config(robot=str(lit)).cases() if case.part is Part.ROBOT]
    recording = run(case)
    assert recording.facts["repairs"] == []
    assert case.reading.open(str(lit)).model.repairs  # which inspect lists


def test_light_links_with_several_joints_are_taken_by_mujoco(tmp_path: Path) -> None:
    finger = tmp_path / "finger.xml"
    finger.write_text(
        "<mujoco><worldbody><body name='tip'><joint name='x' axis='1 0 0'/>"
        "<joint name='y' axis='0 1 0'/><geom type='sphere' size='0.005' mass='1e-4'/></body>"
        "</worldbody></mujoco>"
    )
    [outcome] = tried(str(finger), "mujoco", parts=(Part.DYNAMICS,))
    assert outcome.rows[0]["verdict"] == "same"


def test_an_engine_that_refuses_a_robot_in_dynamics_is_said_to_refuse(tmp_path: Path) -> None:
    light = tmp_path / "light.urdf"
    inertia = '<inertia ixx="1e-16" iyy="1e-16" izz="1e-16" ixy="0" ixz="0" iyz="0"/>'
    light.write_text(
        f'<robot name="light"><link name="a"/><link name="b"><inertial><mass value="1e-9"/>'
        f'{inertia}</inertial></link><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/></joint></robot>'
    )
    [outcome] = tried(str(light), "mujoco", parts=(Part.DYNAMICS,))
    row = outcome.rows[0]
    assert row["verdict"] == "refused"
    assert "mujoco: it does not take the robot: MuJoCo refuses the scene" in row["cause"]


def test_digits_that_an_engine_loses_are_rounding() -> None:
    [outcome] = tried("two-link", "mujoco", parts=(Part.DYNAMICS,))
    row = {"quantity": "M", "max_rel": 2e-9, "tolerance": 1e-12, "passed": False}
    finding = {"severity": "fault", "cause": "inertia", "message": "no name"}
    grown = {"quantity": "free_motion", "max_rel": 0.01, "tolerance": 1e-5, "passed": False}
    facts = {**outcome.recording.facts, "rows": [row, grown], "findings": [finding]}

    def verdict() -> str:
        return score(outcome.case, replace(outcome.recording, facts=facts))["verdict"]

    assert verdict() == "same"
    row["max_rel"] = 2e-6
    assert verdict() == "differs"
    row["max_rel"], finding["cause"] = 2e-9, "armature"
    assert verdict() == "differs"
    finding["cause"], grown["tolerance"] = "inertia", 1e-9
    assert verdict() == "differs"
