"""`inspect --strict` and its formats for continuous integration."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kinetarium.model.load import read_robot_file

SPRINGS = 6


@pytest.fixture
def faulty(arm: Path) -> Path:
    """The arm with two faults in one joint and one in a link, at lines 8, 20 and 21."""
    text = arm.read_text().replace('upper="0.25"', 'upper="nan"')
    text = text.replace('<axis xyz="0 0 1"/>\n    <limit', '<axis xyz="0 0 0"/>\n    <limit')
    arm.write_text(text.replace('<box size="0.1 0.1 1"/>', '<box size="0.1 -0.1 1"/>'))
    return arm


@pytest.fixture
def repaired(arm: Path) -> Path:
    """The arm with an element of another program at line 23."""
    arm.write_text(arm.read_text().replace("</robot>", "<gazebo/></robot>"))
    return arm


def check_sarif(log: dict) -> list[dict]:
    """Check what the schema of SARIF 2.1.0 requires, and return the results."""
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert set(run) == {"tool", "results"}
    driver = run["tool"]["driver"]
    assert isinstance(driver["name"], str) and isinstance(driver["version"], str)
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for result in run["results"]:
        assert isinstance(result["message"]["text"], str) and result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert ids[result["ruleIndex"]] == result["ruleId"]
        for location in result["locations"]:
            place = location["physicalLocation"]
            assert " " not in place["artifactLocation"]["uri"]
            assert place.get("region", {"startLine": 1})["startLine"] >= 1
    return run["results"]


def test_strict_fails_on_a_repair(call, repaired):
    assert call("inspect", repaired).code == 0
    code, out, err = call("inspect", repaired, "--strict")
    assert code == 1
    assert "1 repaired" in out and err.count("\n") == 1 and "--strict" in err


def test_strict_accepts_a_sound_file(call, arm):
    assert call("inspect", arm, "--strict").code == 0


def test_sarif_names_every_fault_with_its_line(call, faulty):
    code, out, err = call("inspect", faulty, "--format", "sarif")
    assert (code, err) == (2, "")
    results = check_sarif(json.loads(out))
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert [place["region"]["startLine"] for place in places] == [8, 20, 21]
    assert [result["ruleId"] for result in results] == ["size", "zero-axis", "bad-number"]
    assert all(result["level"] == "error" for result in results)
    assert places[0]["artifactLocation"]["uri"] == faulty.as_uri()


def test_sarif_of_relative_paths_is_relative(call, faulty, monkeypatch):
    monkeypatch.chdir(faulty.parent)
    faulty.rename("my arm.urdf")
    (result, *_) = check_sarif(json.loads(call("inspect", "my arm.urdf", "--format", "sarif").out))
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20arm.urdf"


@pytest.mark.parametrize(("strict", "level"), [([], "note"), (["--strict"], "error")])
def test_repairs_are_notes_unless_strict(call, repaired, strict, level):
    outcome = call("inspect", repaired, "--format", "sarif", *strict)
    (result,) = check_sarif(outcome.json)
    assert result["level"] == level and outcome.code == len(strict)


def test_sarif_without_findings(call, arm):
    assert check_sarif(call("inspect", arm, "--format", "sarif").json) == []


def test_junit_has_a_case_for_each_fault_and_each_sound_file(call, faulty, tmp_path):
    code, out, _ = call("inspect", faulty, "panda", "--format", "junit")
    assert code == 2
    suites = ElementTree.fromstring(out)
    suite = suites.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "3", "0")
    cases = suite.findall("testcase")
    assert [case.find("failure") is not None for case in cases] == [True, True, True, False]
    assert cases[-1].get("classname") == "panda"
    assert "line 8" in cases[0].get("name")


def test_github_annotations_are_at_the_lines(call, faulty):
    code, out, err = call("inspect", faulty, "--format", "github")
    assert (code, err) == (2, "")
    lines = out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"::error file={faulty},line=8,title=size::")


def test_github_escapes(call, tmp_path):
    file = tmp_path / "50%, a:b.urdf"
    file.write_text("<robot>")
    (line,) = call("inspect", file, "--format", "github").out.splitlines()
    assert "50%25%2C a%3Ab.urdf,line=1" in line


def test_json_is_that_of_the_common_flag(call, faulty, arm):
    assert call("inspect", faulty, "--format", "json").json == json.loads(
        call("inspect", faulty, "--json", "-").out
    )


def test_several_robots(call, faulty):
    outcome = call("inspect", faulty, "panda", "--json", "-")
    assert outcome.code == 2 and outcome.json["ok"] is False
    assert [robot["ok"] for robot in outcome.json["robots"]] == [False, True]


def test_formats_need_standard_output(call, arm):
    code, _, err = call("inspect", arm, "--format", "sarif", "--json", "-")
    assert code == 2 and err.count("\n") == 1


def test_unknown_robots_are_findings(call):
    code, out, _ = call("inspect", "pandda", "--format", "github")
    assert code == 2 and out.startswith("::error file=pandda,title=")


def test_faults_below_faulty_joints_are_found(call, tmp_path):
    """Six joints in two chains, each below the other, all with a fault."""
    leg = ""
    for _ in range(SPRINGS // 2):
        leg = f'<body>\n<joint damping="0 1"/><geom size="0.1"/>{leg}</body>'
    file = tmp_path / "legs.xml"
    file.write_text(f"<mujoco><worldbody><body>{leg}{leg}</body></worldbody></mujoco>")
    lines = call("inspect", file).err.splitlines()
    assert [line.split(":")[1] for line in lines] == ["2", "3", "4", "5", "6", "7"]


def test_attributes_and_mechanics_are_checked_in_one_run(call, tmp_path):
    file = tmp_path / "both.xml"
    file.write_text(
        '<mujoco><worldbody><body>\n<joint axes="1 0 0"/>\n<geom size="0.1" pos="0 0"/>\n'
        '<body>\n<joint damping="0 1"/>\n<geom size="0.1"/></body></body></worldbody></mujoco>'
    )
    lines = call("inspect", file).err.splitlines()
    assert [line.split(":")[1] for line in lines] == ["2", "3", "5"]


def test_names_are_checked_beside_numbers(call, faulty):
    faulty.write_text(faulty.read_text().replace('<parent link="base"/>', '<parent link="bass"/>'))
    err = call("inspect", faulty).err
    assert "[size]" in err and "[zero-axis]" in err and "[unknown-name]" in err


def test_repairs_in_an_include_name_it(tmp_path):
    (tmp_path / "part.xml").write_text(
        '<mujocoinclude>\n\n<geom size="0.1" margin="1"/></mujocoinclude>'
    )
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><worldbody><body><include file="part.xml"/></body></worldbody></mujoco>'
    )
    (repair,) = read_robot_file(file).repairs
    assert (Path(repair.file).name, repair.line) == ("part.xml", 3)


def test_a_faulty_element_of_an_unknown_class_is_refused_once(call, tmp_path):
    file = tmp_path / "class.xml"
    file.write_text(
        '<mujoco><worldbody><body>\n<geom class="thin" sise="0.1"/></body></worldbody></mujoco>'
    )
    code, _, err = call("inspect", file)
    assert code == 2 and err.count("\n") == 1 and "'sise'" in err
