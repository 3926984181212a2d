"""Bad MJCF files are refused with the right code, and with nothing else."""

import os
from pathlib import Path

import pytest

from hostile.bad_mjcf import SOUND, Case, bad_mjcfs
from kinetarium import RobotFileError, load_robot
from kinetarium.model.diagnostics import MOST_REFUSALS, Code

CASES = list(bad_mjcfs())
INCLUDING = '<mujoco><include file="{}"/></mujoco>'
PART = '<mujocoinclude><geom size="0.1"/></mujocoinclude>'


def _codes(file: Path) -> list[str]:
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    refusals = caught.value.refusals
    assert len(refusals) <= MOST_REFUSALS
    assert all(isinstance(refusal.code, Code) and refusal.message for refusal in refusals)
    return [refusal.code for refusal in refusals]


def test_the_sound_robot_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "sound.xml"
    file.write_text(SOUND)
    assert load_robot(file).mass > 0


def test_the_cases_are_many_and_different() -> None:
    assert len(CASES) >= 120
    assert len({case.name for case in CASES}) == len({case.data for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "bad.xml"
    file.write_bytes(case.data)
    assert set(_codes(file)) == {case.code}


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    text = SOUND.replace('mass="2"', 'mass="-2"').replace('type="box"', 'type="cube"')
    text = text.replace('mesh="wedge"', 'mesh="wegde"').replace('size="0.02"', 'size="0"')
    file = tmp_path / "bad.xml"
    file.write_text(text)
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    refusals = caught.value.refusals
    assert [refusal.code for refusal in refusals] == ["mass", "bad-value", "unknown-name", "size"]
    assert [refusal.line for refusal in refusals] == [18, 22, 23, 26]
    assert "did you mean 'wedge'?" in str(refusals[2])


def test_too_many_name_the_first_one_too_many(tmp_path: Path) -> None:
    geoms = '<geom size="1"/>\n' * 10_001
    file = tmp_path / "bad.xml"
    file.write_text(f"<mujoco><worldbody><body>\n{geoms}</body></worldbody></mujoco>")
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    (refusal,) = caught.value.refusals
    assert (refusal.code, refusal.line) == ("too-large", 10_002)


def test_many_faults_far_down_are_reported_once(tmp_path: Path) -> None:
    depth = 30
    inside = '<geom type="cube"/>\n' * (MOST_REFUSALS + 5)
    bodies = "<body>" * depth + inside + "</body>" * depth
    file = tmp_path / "bad.xml"
    file.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert _codes(file) == ["bad-value"] * MOST_REFUSALS


class TestIncludes:
    def test_itself(self, tmp_path: Path) -> None:
        file = tmp_path / "a.xml"
        file.write_text(INCLUDING.format("a.xml"))
        assert _codes(file) == ["include"]

    def test_a_circle(self, tmp_path: Path) -> None:
        for name, other in (("a", "b"), ("b", "c"), ("c", "b")):
            (tmp_path / f"{name}.xml").write_text(INCLUDING.format(f"{other}.xml"))
        assert _codes(tmp_path / "a.xml") == ["include"]

    def test_twice(self, tmp_path: Path) -> None:
        (tmp_path / "part.xml").write_text(PART)
        file = tmp_path / "a.xml"
        file.write_text(
            SOUND.replace("<worldbody>", "<worldbody>" + '<include file="part.xml"/>' * 2)
        )
        assert _codes(file) == ["include"]

    @pytest.mark.parametrize(
        "address",
        ["../part.xml", "/etc/hostname", "file:///etc/hostname", "http://x.org/a.xml", "none.xml",
         ".", "", "a\\b.xml"],
    )  # fmt: skip
    def test_outside_or_missing(self, address: str, tmp_path: Path) -> None:
        (tmp_path / "part.xml").write_text(PART)
        folder = tmp_path / "robot"
        folder.mkdir()
        file = folder / "a.xml"
        file.write_text(INCLUDING.format(address))
        assert _codes(file)[0] in ("include", "empty-name")

    def test_with_content_of_its_own(self, tmp_path: Path) -> None:
        (tmp_path / "part.xml").write_text(PART)
        file = tmp_path / "a.xml"
        file.write_text('<mujoco><include file="part.xml"><geom size="1"/></include></mujoco>')
        assert _codes(file) == ["include"]

    def test_outside_from_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "secret.xml").write_text(PART)
        folder = tmp_path / "robot"
        (folder / "parts").mkdir(parents=True)
        (folder / "parts" / "part.xml").write_text('<x><include file="../../secret.xml"/></x>')
        file = folder / "a.xml"
        file.write_text(INCLUDING.format("parts/part.xml"))
        assert _codes(file) == ["include"]

    def test_through_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "part.xml").write_text(PART)
        folder = tmp_path / "robot"
        folder.mkdir()
        (folder / "part.xml").symlink_to(tmp_path / "part.xml")
        file = folder / "a.xml"
        file.write_text(INCLUDING.format("part.xml"))
        assert _codes(file) == ["include"]

    def test_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.xml")
        file = tmp_path / "a.xml"
        file.write_text(INCLUDING.format("pipe.xml"))
        assert _codes(file) == ["include"]

    @pytest.mark.parametrize(
        ("part", "code"),
        [("", "not-xml"), ("<a>", "not-xml"), ("<!DOCTYPE a><a/>", "doctype"), ("<a/>", "include")],
    )
    def test_broken(self, part: str, code: str, tmp_path: Path) -> None:
        (tmp_path / "part.xml").write_text(part)
        file = tmp_path / "a.xml"
        file.write_text(INCLUDING.format("part.xml"))
        assert _codes(file) == [code]

    def test_too_deep_together(self, tmp_path: Path) -> None:
        for i in range(4):
            inner = f'<include file="{i + 1}.xml"/>' if i < 3 else "<geom/>"
            bodies = "<body>" * 40 + inner + "</body>" * 40
            (tmp_path / f"{i}.xml").write_text(f"<mujoco>{bodies}</mujoco>")
        assert _codes(tmp_path / "0.xml") == ["too-large"]

    def test_faults_name_the_included_file(self, tmp_path: Path) -> None:
        (tmp_path / "part.xml").write_text('<mujocoinclude>\n<geom type="cube"/></mujocoinclude>')
        file = tmp_path / "a.xml"
        file.write_text(
            f'<mujoco><worldbody><body><include file="part.xml"/>{PART[15:-16]}'
            '<body><geom type="ball"/></body></body></worldbody></mujoco>'
        )
        with pytest.raises(RobotFileError) as caught:
            load_robot(file)
        places = [(refusal.file, refusal.line) for refusal in caught.value.refusals]
        assert places == [(str(file), 1), (str(tmp_path / "part.xml"), 2)]


class TestMeshFiles:
    @pytest.mark.parametrize(
        ("address", "code"),
        [
            ("none.stl", "mesh-missing"),
            ("../wedge.stl", "mesh-outside"),
            ("/etc/hostname", "mesh-outside"),
            ("http://x.org/a.stl", "mesh-remote"),
            ("empty.stl", "mesh-broken"),
            ("pipe.stl", "mesh-broken"),
            ("folder.stl", "mesh-broken"),
            ("legacy.msh", "mesh-broken"),
            ("scene.blend", "unsupported"),
        ],
    )
    def test_refused(self, address: str, code: str, tmp_path: Path) -> None:
        folder = tmp_path / "robot"
        (folder / "folder.stl").mkdir(parents=True)
        (folder / "empty.stl").write_bytes(b"")
        (folder / "legacy.msh").write_bytes(b"\1\0\0\0")
        (folder / "scene.blend").write_bytes(b"BLENDER")
        (tmp_path / "wedge.stl").write_bytes(b"")
        os.mkfifo(folder / "pipe.stl")
        file = folder / "a.xml"
        file.write_text(
            f'<mujoco><asset><mesh name="m" file="{address}"/></asset>'
            '<worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
        )
        assert _codes(file) == [code]

    def test_a_mesh_folder_outside(self, tmp_path: Path) -> None:
        file = tmp_path / "a.xml"
        file.write_text(
            '<mujoco><compiler meshdir="/usr/share"/><asset><mesh file="m.stl"/></asset>'
            '<worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
        )
        assert _codes(file) == ["mesh-outside"]
