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
    assert code == 2 and "--force" in err
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
        assert outcome.json["remarks"] == []
    assert 'armature="0.2"' in out.read_text()
