import os
import resource
import subprocess

import pytest


@pytest.mark.parametrize("format", ["urdf", "mjcf"])
def test_written_files_read_back(call, arm, tmp_path, format):
    out = tmp_path / "copy.xml"
    outcome = call("convert", arm, "--to", format, "--out", out, "--json", "-")
    assert outcome.code == 0
    assert outcome.json["ok"] is True and outcome.json["meshes"] == []
    assert not (tmp_path / "copy.meshes").exists()
    before, after = (call("inspect", file, "--json", "-").json["robot"] for file in (arm, out))
    for what in ("link_names", "joint_names"):
        assert before[what] == after[what]
    assert before["mass_kg"] == pytest.approx(after["mass_kg"])


@pytest.mark.parametrize("format", ["urdf", "mjcf"])
def test_meshes_go_beside(call, arm_with_mesh, tmp_path, format):
    out = tmp_path / "far" / "copy.xml"
    out.parent.mkdir()
    code, said, _ = call("convert", arm_with_mesh, "--to", format, "--out", out)
    assert code == 0
    assert str(out) in said and "meshes" in said
    assert len(list((out.parent / "copy.meshes").iterdir())) == 1
    assert call("inspect", out).code == 0


def test_overwriting_is_explicit(call, arm, arm_with_mesh, tmp_path):
    out = tmp_path / "copy.urdf"
    out.write_text("precious")
    code, _, err = call("convert", arm, "--to", "urdf", "--out", out)
    assert code == 2 and "--overwrite" in err
    assert out.read_text() == "precious"
    assert call("convert", arm, "--to", "urdf", "--out", out, "--force").code == 0
    assert "<robot" in out.read_text()

    folder = tmp_path / "copy.meshes"
    folder.mkdir()
    (folder / "old").write_text("")
    out.unlink()
    assert call("convert", arm_with_mesh, "--to", "urdf", "--out", out).code == 2
    assert (folder / "old").exists() and not out.exists()
    assert call("convert", arm_with_mesh, "--to", "urdf", "--out", out, "--force").code == 0
    assert not (folder / "old").exists()


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (".", "it is a folder"),
        ("folder", "it is a folder"),
        ("missing/copy.urdf", "is not a folder"),
        ("file/copy.urdf", "is not a folder"),
        ("locked.urdf", "it is read-only"),
        ("pipe", "it is not a regular file"),
        ("x" * 300, "name too long"),
    ],
)
def test_places_that_cannot_be_written(call, arm, tmp_path, monkeypatch, where, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    (tmp_path / "locked.urdf").write_text("old")
    (tmp_path / "locked.urdf").chmod(0o444)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))
    outcome = call("convert", arm, "--to", "urdf", "--out", where, "--force", "--json", "-")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1 and said in outcome.err
    assert outcome.json["errors"][0]["code"] == "output"
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "locked.urdf").read_text() == "old"


def test_disk_that_is_full(program, arm_with_mesh, tmp_path):
    """A limit on the size of files fails the write half-way, as a full disk does."""
    out = tmp_path / "copy.urdf"
    out.write_text("old")
    before = sorted(os.listdir(tmp_path))
    done = subprocess.run(
        [program, "convert", arm_with_mesh, "--to", "urdf", "--out", out, "--force"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "cannot write" in done.stderr
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == before


def test_a_refused_robot_writes_nothing(call, arm, tmp_path):
    arm.write_text("<robot/>")
    assert call("convert", arm, "--to", "mjcf", "--out", tmp_path / "copy.xml").code == 2
    assert not (tmp_path / "copy.xml").exists()


def test_work_goes_on_when_the_reader_leaves(shell, arm, tmp_path):
    assert shell(f"$K convert {arm} --to urdf --out copy.urdf | true") == (0, "", "")
    assert (tmp_path / "copy.urdf").exists()


def test_armature_that_others_ignore_is_said(call, arm, tmp_path):
    text = arm.read_text().replace("</joint>", '<dynamics armature="0.2"/></joint>', 1)
    assert 'armature="0.2"' in text
    armed = tmp_path / "armed.urdf"
    armed.write_text(text)
    code, said, _ = call("convert", armed, "--to", "urdf", "--out", tmp_path / "copy.urdf")
    assert code == 0
    assert "armature" in said and "--to mjcf" in said
    assert 'armature="0.2"' in (tmp_path / "copy.urdf").read_text()
    for source, format in ((arm, "urdf"), (armed, "mjcf")):
        out = tmp_path / f"other.{format}"
        outcome = call("convert", source, "--to", format, "--out", out, "--json", "-")
        assert not any("armature" in remark for remark in outcome.json["remarks"])
    assert 'armature="0.2"' in out.read_text()


GAINS = ("--stiffness", "200", "--damping", "10")


def test_mjcf_with_free_joint_actuators_and_keyframe(call, tmp_path):
    import mujoco

    out = tmp_path / "robot.xml"
    flags = ("--base", "free", "--actuators", "position", *GAINS)
    outcome = call("convert", "panda", "--to", "mjcf", "--out", out, *flags, "--json", "-")
    assert outcome.code == 0
    model = mujoco.MjModel.from_xml_path(str(out))
    assert (model.nq, model.nv, model.nu, model.nkey) == (16, 15, 8, 1)  # a finger follows
    assert (model.actuator_gainprm[:, 0] == 200).all()
    assert (model.actuator_biasprm[:, 2] == -10).all()
    home = {
        joint: model.key("home").qpos[model.joint(joint).qposadr[0]] for joint in ("panda_joint4",)
    }
    assert home["panda_joint4"] == pytest.approx(-2.356, abs=1e-3)
    assert model.key("home").ctrl[3] == home["panda_joint4"]
    assert model.actuator_forcerange[0].tolist() == [-87, 87]
    said = " ".join(outcome.json["remarks"])
    assert "free joint" in said and "kp 200, kv 10" in said and "no speed limits" in said
    assert call("inspect", out, "--json", "-").json["robot"]["free_base"] is True


def test_the_home_pose_of_a_free_base_stands_on_the_ground(call, tmp_path):
    import mujoco

    out = tmp_path / "scout.xml"
    call("convert", "scout", "--to", "mjcf", "--out", out, "--base", "free")
    model = mujoco.MjModel.from_xml_path(str(out))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_forward(model, data)
        touching = [i for i in range(model.ngeom) if model.geom_contype[i]]
        lowest = min(data.geom_xpos[i][2] - model.geom_rbound[i] for i in touching)
        assert lowest <= 0.0 <= data.qpos[2]


@pytest.mark.parametrize(
    ("kind", "gains", "tag"),
    [("velocity", ("--damping", "10"), "<velocity "), ("torque", (), "<motor ")],
)
def test_other_actuators(call, arm, tmp_path, kind, gains, tag):
    out = tmp_path / "arm.xml"
    assert call("convert", arm, "--to", "mjcf", "--out", out, "--actuators", kind, *gains).code == 0
    assert out.read_text().count(tag) == 2
    again = call("inspect", out, "--json", "-").json["robot"]
    assert [joint["effort"] for joint in again["joint_details"]] == [None, 30]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--actuators", "position"), "--stiffness and --damping"),
        (("--actuators", "velocity"), "needs --damping"),
        (("--to", "urdf", "--actuators", "torque"), "URDF cannot hold actuators"),
        (("--actuators", "position", "--stiffness", "-1", "--damping", "1"), "stiffness"),
    ],
)
def test_actuators_need_their_gains(call, arm, tmp_path, words, said):
    words = words if "--to" in words else ("--to", "mjcf", *words)
    code, _, err = call("convert", arm, "--out", tmp_path / "arm.xml", *words)
    assert code == 2 and said in err
    assert not (tmp_path / "arm.xml").exists()


def test_what_is_left_out_is_said(call, tmp_path):
    spring = tmp_path / "spring.xml"
    spring.write_text(
        '<mujoco><worldbody><body><freejoint/><geom size="1"/><body><joint name="a" stiffness="3"/>'
        '<geom size="1"/></body></body></worldbody></mujoco>'
    )
    out = call("convert", spring, "--to", "urdf", "--out", tmp_path / "spring.urdf").out
    assert "URDF has no springs: those of 1 joints (a)" in out and "floating joint" in out
    out = call(
        "convert", spring, "--to", "mjcf", "--out", tmp_path / "fixed.xml", "--base", "fixed"
    )
    assert "freejoint" not in (tmp_path / "fixed.xml").read_text()
    assert "without actuators" in out.out
