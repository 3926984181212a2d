import pytest


def test_roles_are_shown_written_and_read_back(call, tmp_path):
    file = tmp_path / "panda.toml"
    outcome = call("roles", "panda", "--write", file, "--json", "-")
    roles = outcome.json["roles"]
    assert outcome.code == 0 and roles["base"] == {"kind": "fixed", "source": "geometry"}
    assert roles["arms"][0]["tool"] == "panda_hand_tcp"
    assert roles["grippers"][0]["leader"] == "panda_finger_joint1"
    again = call("roles", "panda", "--roles", file, "--json", "-").json["roles"]
    assert {entry["source"] for entry in again["arms"] + again["grippers"]} == {"roles file"}
    assert again["home"] == roles["home"]
    assert call("roles", "panda", "--write", file).code == 2  # it exists


def test_the_table_names_the_sources(call):
    code, out, err = call("roles", "husky4")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "husky4: free base, 4 wheels"
    assert "driven, radius 0.1778 m, width 0.1143 m" in out and "catalogue" in out


def test_flags_win(call, arm):
    outcome = call("roles", arm, "--base", "planar", "--tool", "slide", "--json", "-")
    roles = outcome.json["roles"]
    assert roles["base"] == {"kind": "planar", "source": "flag"}
    assert roles["arms"][0]["joints"] == ["turn", "push"]


def test_a_page_shows_the_robot(call, arm, tmp_path):
    outcome = call("roles", arm, "--out", tmp_path / "page")
    assert outcome.code == 0
    assert "Roles of arm" in (tmp_path / "page" / "report.html").read_text()
    assert list((tmp_path / "page" / "figures").glob("*.png"))


@pytest.mark.parametrize(
    ("flag", "text", "fault"),
    [
        ("--roles", "wheels = 3", "expected array"),
        ("--srdf", "<robot><group/></robot>", "x:1: <group> has no attribute 'name'"),
    ],
)
def test_faults_are_one_line(call, arm, tmp_path, flag, text, fault):
    file = tmp_path / "x"
    file.write_text(text)
    code, out, err = call("roles", arm, flag, file)
    assert (code, out) == (2, "") and fault in err and err.count("\n") == 1
