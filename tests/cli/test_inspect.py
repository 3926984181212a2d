import json
from typing import get_args

import pytest

from kinetarium.cli.commands.inspect import Config
from kinetarium.model.diagnostics import Allowance, Leniency


def test_good_file_for_programs(call, arm):
    outcome = call("inspect", arm, "--json", "-")
    assert outcome.code == 0 and outcome.err == ""
    assert outcome.json["ok"] is True
    assert outcome.json["repairs"] == []
    robot = outcome.json["robot"]
    assert (robot["name"], robot["links"], robot["joints"], robot["mass_kg"]) == ("arm", 3, 2, 2.5)
    assert robot["link_names"] == ["base", "upper", "slide"]
    assert robot["joint_names"] == ["turn", "push"]
    assert robot["free_base"] is False
    turn, push = robot["joint_details"]
    assert (turn["lower"], turn["upper"], turn["unit"]) == (None, None, "rad")
    assert (push["lower"], push["upper"], push["unit"]) == (-0.1, 0.25, "m")
    assert push["axis"] == [0, 0, 1] and push["mimic"] is None


def test_good_file_for_people(call, arm):
    code, out, err = call("inspect", arm)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        "arm: 3 links, 2 joints (2 moving), 2.5 kg, fixed base, nothing repaired"
    )
    assert "└─ upper  (2 kg)  by turn, continuous" in out
    assert "   └─ slide  (0.5 kg)  by push, prismatic" in out
    assert "lower [rad]" in out and "lower [m]" in out
    assert "∞" in out and "0.25" in out


def test_repairs_are_shown(call, arm):
    arm.write_text(arm.read_text().replace("</robot>", "<gazebo/></robot>"))
    outcome = call("inspect", arm, "--json", "-")
    (repair,) = outcome.json["repairs"]
    assert set(repair) == {"code", "where", "message", "line", "file"}
    assert repair["line"] == 23
    out = call("inspect", arm).out
    assert "1 repaired" in out
    assert all(word in out for word in repair["message"].split())  # wrapped at 80 columns


def test_every_error_has_a_line(call, arm):
    text = arm.read_text().replace('upper="0.25"', 'upper="nan"')
    arm.write_text(text.replace('<box size="0.1 0.1 1"/>', '<box size="0.1 -0.1 1"/>'))
    code, out, err = call("inspect", arm)
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"{arm}:") for line in lines)
    assert {line.split(":")[1] for line in lines} == {"8", "21"}
    assert "[bad-number]" in err and "[size]" in err


def test_a_number_that_is_too_large_is_not_called_invalid(call, arm):
    arm.write_text(arm.read_text().replace('<mass value="2"/>', '<mass value="1e15"/>'))
    code, _, err = call("inspect", arm)
    assert code == 2 and "'1e15', which is beyond 1e+12" in err and "valid" not in err


def test_refusals_for_programs(call, arm):
    arm.write_text(arm.read_text().replace('upper="0.25"', 'upper="nan"'))
    outcome = call("inspect", arm, "--json", "-")
    assert outcome.code == 2
    assert outcome.json["ok"] is False
    (error,) = outcome.json["errors"]
    assert set(error) == {"code", "message", "line", "remedy", "file"}
    assert (error["code"], error["line"], error["file"]) == ("bad-number", 21, str(arm))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("pandda", "unknown-name"),
        ("missing.urdf", "unreadable"),
        (".", "unreadable"),
        ("a\x1b[31mb.urdf", "unreadable"),
        ("line\nbreak.urdf", "unreadable"),
        ("é" * 300 + ".urdf", "unreadable"),
    ],
)
def test_what_is_not_there(call, name, code):
    outcome = call("inspect", name, "--json", "-")
    assert outcome.code == 2
    (error,) = outcome.json["errors"]
    assert (error["code"], error["line"]) == (code, None)
    assert outcome.err.count("\n") == 1
    assert "\x1b" not in outcome.err


def test_unknown_names_get_a_suggestion(call):
    assert "did you mean 'panda'?" in call("inspect", "pandda").err


def test_json_into_a_file(call, arm, tmp_path):
    file = tmp_path / "arm.json"
    code, out, _ = call("inspect", arm, "--json", file)
    assert code == 0 and "3 links" in out
    assert json.loads(file.read_bytes())["robot"]["links"] == 3
    assert call("inspect", arm, "--json", file, "--quiet") == (0, "", "")


def test_json_that_cannot_be_written(call, arm, tmp_path):
    code, _, err = call("inspect", arm, "--json", tmp_path / "no" / "where.json")
    assert code == 2
    assert err.count("\n") == 1 and "cannot write" in err


def test_every_allowance_has_a_flag():
    fields = {name for name in Config.__dataclass_fields__ if name.startswith("allow_")}
    strict = set(Allowance) - set(get_args(Leniency))
    assert fields == {f"allow_{allowance.replace('-', '_')}" for allowance in strict}


LENIENT = {
    "stray-text": ('<link name="base"/>', '<link name="base">oops</link>', "oops"),
    "comma": ('xyz="0 0 0.5"', 'xyz="0,0, 0.5"', "0 0  0.5"),
    "zero-visual": ('<box size="0.1 0.1 1"/>', '<sphere radius="0"/>', "size zero"),
}


@pytest.mark.parametrize("name", LENIENT)
def test_lenient_lets_one_class_of_faults_through(call, arm, name):
    old, new, said = LENIENT[name]
    arm.write_text(arm.read_text().replace(old, new))
    others = set(LENIENT) - {name}
    refused = call("inspect", arm, "--lenient", *others)
    assert refused.code == 2 and f"--lenient {name}" in refused.err
    outcome = call("inspect", arm, "--lenient", name, "--json", "-")
    assert outcome.code == 0
    (repair,) = outcome.json["repairs"]
    assert said in repair["message"] and repair["line"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<mass value="2"/>', '<mass value="2,5"/>'),
        ('<axis xyz="0 0 1"/>\n  </joint>', '<axis xyz="0,0,1"/>\n  </joint>'),
    ],
)
def test_commas_are_decimal_or_separate(call, arm, old, new):
    assert arm.read_text().count(old) == 1
    arm.write_text(arm.read_text().replace(old, new))
    robot = call("inspect", arm, "--lenient", "comma", "--json", "-").json["robot"]
    assert robot["mass_kg"] == (3.0 if "mass" in old else 2.5)
    assert robot["joint_details"][0]["axis"] == [0, 0, 1]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('<mass value="2"/>', '<mass value="1,000"/>', "bad-number"),
        ('<mass value="2"/>', '<mass value="nan"/>', "bad-number"),
        ('<mass value="2"/>', '<mass value="-2,5"/>', "mass"),
        ('<sphere radius="0.1"/>', '<sphere radius="0"/>', "size"),
        ('<box size="0.1 0.1 1"/>', '<box size="0.1 -0.1 1"/>', "size"),
    ],
)
def test_lenient_never_lets_impossible_physics_through(call, arm, old, new, code):
    arm.write_text(arm.read_text().replace(old, new))
    outcome = call("inspect", arm, "--lenient", *LENIENT, "--json", "-")
    assert [error["code"] for error in outcome.json["errors"]] == [code]


def test_allowances_reach_the_gate(call, arm):
    arm.write_text(arm.read_text().replace('<sphere radius="0.1"/>', '<mesh filename="x.stl"/>'))
    outcome = call("inspect", arm, "--json", "-")
    assert outcome.json["errors"][0]["code"] == "mesh-missing"
    assert "--allow-missing-mesh" in outcome.json["errors"][0]["remedy"]
    outcome = call("inspect", arm, "--allow-missing-mesh", "--json", "-")
    assert outcome.code == 0
    assert outcome.json["repairs"][0]["code"] == "mesh-missing"


def test_mesh_roots_may_be_repeated(call, arm_with_mesh, tmp_path):
    far, empty = tmp_path / "far", tmp_path / "empty"
    far.mkdir()
    empty.mkdir()
    (tmp_path / "shape.obj").rename(far / "shape.obj")
    assert call("inspect", arm_with_mesh).code == 2
    for roots in (["--mesh-root", empty, "--mesh-root", far], ["--mesh-root", empty, far]):
        assert call("inspect", arm_with_mesh, *roots).code == 0
    assert call("inspect", "--mesh-root", empty, "--mesh-root", far, arm_with_mesh).code == 0


def test_xacro_arguments(call, tmp_path):
    file = tmp_path / "box.xacro"
    file.write_text(
        '<robot name="box" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:arg name="mass" default="1"/>'
        '<link name="box"><inertial><mass value="$(arg mass)"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    outcome = call("inspect", file, "--xacro-arg", "mass:=4", "--json", "-")
    assert outcome.json["robot"]["mass_kg"] == 4.0


def test_long_chains_are_drawn(call, tmp_path):
    count = 1500
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(count - 1)
    )
    file = tmp_path / "chain.urdf"
    file.write_text(f'<robot name="chain">{links}{joints}</robot>')
    outcome = call("inspect", file)
    assert outcome.code == 0
    assert f"└─ l{count - 1}  (massless)" in outcome.out


def test_names_cannot_write_on_the_terminal(call, arm):
    arm.write_text(arm.read_text().replace('name="turn"', 'name="[red]turn[/blue]"'))
    code, out, _ = call("inspect", arm)
    assert code == 0
    assert "[red]turn[/blue]" in out
