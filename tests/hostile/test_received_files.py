"""Machine, pose, obstacle, path and plan files from strangers: what is wrong costs one line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinetarium.cli import main
from kinetarium.errors import KinetariumError
from kinetarium.figure.page import Page
from kinetarium.legs import Machine
from kinetarium.legs.mechanism.machine import load_machine
from kinetarium.reach.collision.obstacles import MOST_MESHES, MOST_SHAPES, read_obstacles
from kinetarium.reach.placement.files import read_pose, read_poses, read_trajectory, write_result
from kinetarium.reach.placement.plane import base_plane
from kinetarium.report.html.files import write_page
from kinetarium.storage.serialization import read_toml, to_builtins, versioned_json
from kinetarium.studies.walk.config import read_waypoints

LONGEST_LINE = 1500

Reader = Callable[[Path], Any]


def obstacles(path: Path) -> Any:
    return read_obstacles(path, plane=base_plane((0.0, 0.0, 1.0), height=0.0))


READERS: dict[str, Reader] = {
    "machine": load_machine,
    "path": read_waypoints,
    "pose": read_pose,
    "poses": read_poses,
    "trajectory": read_trajectory,
    "obstacles": obstacles,
}

BAD_JSON: dict[str, bytes] = {
    "nothing": b"",
    "a mark": b"\xef\xbb\xbf{}",
    "zeros": b"\0\0\0\0",
    "a zero": b"[\0]",
    "Latin-1": b'["\xe4"]',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "half a character": b'["\\ud800"]',
    "half": b'{"a": [1, 2',
    "two": b"{} {}",
    "a comma": b"[1,]",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and closed": b"[" * 900 + b"]" * 900,
    "NaN": b"[NaN]",
    "infinity": b"[-Infinity]",
    "beyond doubles": b"[1e999]",
    "a long whole number": b"[" + b"9" * 500_000 + b"]",
    "a whole number of 4000 digits": b"[" + b"9" * 4000 + b"]",
    "a long fraction": b"[0." + b"9" * 500_000 + b"]",
    "a long exponent": b"[1e" + b"9" * 500_000 + b"]",
    "a name twice": b'{"a": 1, "a": 2}',
    "a long name": b'{"' + b"k" * 900_000 + b'": 0}',
    "a control character": b'{"\x1b[31m": 0}',
    "an escaped control character": b'{"\\u001b[31m": 0}',
    "null": b"null",
    "true": b"true",
    "a number": b"3",
    "a text": b'"text"',
    "markup": b"<robot/>",
    "numbers as texts": b'["12", "34"]',
    "numbers as names": b'[{"1": 0, "2": 0}, {"3": 0, "4": 0}]',
    "booleans": b"[[true, false], [false, true]]",
}


def check_refused(reader: Reader, path: Path) -> str:
    """Read a file that is refused; give what is said."""
    with pytest.raises(KinetariumError) as refused:
        reader(path)
    said = str(refused.value)
    assert said and len(said) < LONGEST_LINE and "\n" not in said
    return said


@pytest.mark.parametrize("content", BAD_JSON)
@pytest.mark.parametrize("kind", READERS)
def test_bad_json_is_refused(tmp_path: Path, kind: str, content: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(BAD_JSON[content])
    check_refused(READERS[kind], file)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    for content, words in {
        "a mark": "byte-order mark",
        "a name twice": "duplicate key 'a'",
        "a long whole number": "a number has 500000 characters",
        "beyond doubles": "1e999 is not a finite number",
        "Latin-1": "not UTF-8",
    }.items():
        (tmp_path / "file.json").write_bytes(BAD_JSON[content])
        assert words in check_refused(read_poses, tmp_path / "file.json")


@pytest.mark.parametrize("kind", [*READERS, "plan"])
def test_only_regular_files_are_read(tmp_path: Path, kind: str) -> None:
    reader = {**READERS, "plan": read_toml}[kind]
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "closed").symlink_to("/proc/self/mem")
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", 10**12)  # takes no room on the disk
    for name in ("fifo", "loop", "closed", "large", ".", "missing", "a" * 300, "a" * 5000, "a\0b"):
        with pytest.raises(KinetariumError):
            reader(tmp_path / name)
    with pytest.raises(KinetariumError, match="not a regular file"):
        reader(Path("/dev/zero"))


def machine_file(path: Path, **changes: str) -> Path:
    """Write a machine of which some values are replaced by other JSON."""
    data = {"schema_version": 1, **to_builtins(Machine())}
    marks = {name: f"@{name}@" for name in changes}
    text = json.dumps({**data, **marks})
    for name, value in changes.items():
        text = text.replace(f'"@{name}@"', value)
    path.write_text(text)
    return path


def shapes(**changes: Any) -> str:
    shape = {"name": "x", "section": [[0, 0], [1, 0], [1, 1]], "top": 1.0, "bottom": 0.0}
    return json.dumps([{**shape, **changes}] * 9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"l1": "1e999"}, "finite"),
        ({"l1": "1e300"}, "l1 of the machine"),
        ({"l1": "1" + "0" * 399}, "out of range"),
        ({"l1": '"1"'}, "expected float, got str"),
        ({"l1": "true"}, "expected float, got bool"),
        ({"l1": "null"}, "expected float, got null"),
        ({"gain": "-1"}, "gain"),
        ({"kind": f'"{"z" * 100_000}"'}, "unknown kind 'zzz"),
        ({"com": json.dumps([0] * 10_000)}, "length 2"),
        ({"schema_version": "9" * 5000}, "characters"),
        ({"schema_version": "2"}, "later release"),
        ({"schema_version": "true"}, "schema_version"),
        ({"wings": "2"}, "unknown field 'wings'"),
        ({"shapes": shapes(section=[])}, "0 corners"),
        ({"shapes": shapes(section=[[0, 0], [1, 1]])}, "2 corners"),
        ({"shapes": shapes(section=[[i, 0] for i in range(1000)])}, "1000 corners"),
        ({"shapes": shapes(top=1e300)}, "a dimension of link 'x'"),
        ({"shapes": shapes(section=[[0, 0], [1, 0], [1e300, 1]])}, "a dimension of link 'x'"),
        ({"shapes": shapes(name="\x1b[31m")}, "letters"),
        ({"shapes": shapes(name="n" * 10_000)}, "letters"),
        ({"shapes": "[]", "l1": "0.5, \"l2\": 0.5, \"l2\": 0.25"}, "duplicate key 'l2'"),
    ],
)  # fmt: skip
def test_a_machine_is_checked(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    assert words in check_refused(load_machine, machine_file(tmp_path / "m.json", **changes))


def test_a_large_machine_file_is_not_read(tmp_path: Path) -> None:
    file = machine_file(tmp_path / "m.json")
    file.write_text(file.read_text() + " " * 1_000_000)
    assert "larger than 1 MB" in check_refused(load_machine, file)


@pytest.mark.parametrize(
    "text",
    [
        "0,0\nnan,1", "0,0\ninf,0", "0,0\n1e300,0", "0,0\n1e7,0", "0,0\n1e999,0", "0,0\n1_0,0",
        "\uff10,0\n\uff11,0", "0,0\0\n1,1", "\ufeff0,0\n1,1", "0,0,0\n1,1,1",
        '0,0\n"' + "x" * 500_000,
        "0,0\n" + "1" * 200_000 + "x,0", "0\n1", "x,y\n", "\n" * 1000, "0,0\n0x10,0",
        "\n".join(f"{i % 97},{i % 89}" for i in range(10_001)),
        "[[0, 0], [1e7, 0]]", "[[0, 0], [\"1\", 0]]", "[[0, 0], [true, 0]]", "[[0, 0], [1, 2, 3]]",
        '{"waypoints": "12"}', '{"points": [[0, 0], [1, 1]]}', '{"waypoints": {"0": 1}}',
        f"[[0, 0], [{'9' * 390}, 0]]",
    ],
)  # fmt: skip
def test_a_path_is_checked(tmp_path: Path, text: str) -> None:
    file = tmp_path / "path"
    file.write_text(text, "utf-8")
    check_refused(read_waypoints, file)


def test_good_paths_are_read(tmp_path: Path) -> None:
    for text in (
        "x,y\n0,0\n 1.5 ,-2e1\n",
        "[[0, 0], [1.5, -20]]",
        '{"waypoints": [[0,0],[1.5,-20]]}',
    ):
        (tmp_path / "path").write_text(text)
        assert read_waypoints(tmp_path / "path") == ((0.0, 0.0), (1.5, -20.0))


X = [[1, 0, 0, 0.4], [0, -1, 0, 0], [0, 0, -1, 0.4], [0, 0, 0, 1]]


@pytest.mark.parametrize(
    "data",
    [
        [[[True, 0, 0, 0.4], *X[1:]]],
        [[["1", 0, 0, 0.4], *X[1:]]],
        [[[1, 0, 0, 10**300], *X[1:]]],
        [[[1, 0, 0, 1e10], *X[1:]]],
        [[X]],
        [X[0]],
        [{"position": ["x" * 100_000, *["a"] * 10_000], "quaternion_wxyz": [1, 0, 0, 0]}],
        [{"position": [0, 0, 0], "quaternion_wxyz": [0, 0, 0, 0]}],
        [{"position": [0, 0, 0], "quaternion_wxyz": [1, 0, 0, 0], "more": 1}],
        [{"position": [0, 0, 0]}],
        [None],
        [[]],
        [{}],
        [],
        [0] * 100_001,
    ],
)
def test_poses_are_checked(tmp_path: Path, data: Any) -> None:
    (tmp_path / "poses.json").write_text(json.dumps(data))
    check_refused(read_poses, tmp_path / "poses.json")
    (tmp_path / "way.json").write_text(json.dumps({"times": list(range(len(data))), "poses": data}))
    check_refused(read_trajectory, tmp_path / "way.json")


@pytest.mark.parametrize(
    "times", [[0], [0, 0], [1, 0], [0, 1e10], [0, "1"], [False, True], "01", {}, None, [[0], [1]]]
)
def test_times_are_checked(tmp_path: Path, times: Any) -> None:
    (tmp_path / "way.json").write_text(json.dumps({"times": times, "poses": [X, X]}))
    check_refused(read_trajectory, tmp_path / "way.json")


def sphere(**changes: Any) -> dict[str, Any]:
    return {"spheres": [{"center": [0, 0, 9], "radius": 1, **changes}]}


def box(**changes: Any) -> dict[str, Any]:
    return {"boxes": [{"position": [0, 0, 9], "size": [1, 1, 1], **changes}]}


@pytest.mark.parametrize(
    "data",
    [
        sphere(radius=0), sphere(radius=-1), sphere(radius=1e300), sphere(radius=10**300),
        sphere(radius="1"), sphere(radius=True), sphere(center=[0, 0, 1e300]),
        sphere(center=[0, 0]), box(size=[1, 1, 0]), box(size=[1, 1, 1e300]), box(size=[1, 1]),
        box(position=[0, 0, 1e300]),
        box(quaternion_wxyz=[0, 0, 0, 0]), box(quaternion_wxyz=[1e-300, 0, 0, 0]),
        box(quaternion_wxyz=[1e300, 1e300, 0, 0]), {"ground": 1}, {"walls": []},
        {"spheres": sphere()["spheres"] * (MOST_SHAPES + 1)},
        {"meshes": [{"file": "good.stl"}] * (MOST_MESHES + 1)},
        *(
            {"meshes": [{"file": name}]}
            for name in (
                "", ".", "..", "../outside.stl", "/etc/passwd", "a\0b", "a" * 300, "a" * 100_000,
                "loop.stl", "fifo.stl", "link.stl", "linked/outside.stl", "missing.stl", "\ud800",
                "folder.stl", "good.stl/x",
            )
        ),
    ],
)  # fmt: skip
def test_obstacles_are_checked(tmp_path: Path, data: Any) -> None:
    folder = tmp_path / "received"
    (folder / "folder.stl").mkdir(parents=True)
    (tmp_path / "outside.stl").write_bytes(b"solid")
    (folder / "good.stl").write_bytes(b"solid")
    (folder / "loop.stl").symlink_to("loop.stl")
    (folder / "link.stl").symlink_to(tmp_path / "outside.stl")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "fifo.stl")
    (folder / "obstacles.json").write_text(json.dumps(data))
    check_refused(obstacles, folder / "obstacles.json")


def test_good_obstacles_are_read(tmp_path: Path) -> None:
    (tmp_path / "good.stl").write_bytes(b"solid")
    data = {**sphere(), **box(quaternion_wxyz=[2, 0, 0, 0]), "meshes": [{"file": "good.stl"}]}
    (tmp_path / "o.json").write_text(json.dumps({**data, "ground": True}))
    around = obstacles(tmp_path / "o.json")
    assert len(around.shapes) == 3 and around.ground


DROP = 'study = "drop"\n'

BAD_PLANS = {
    "nothing": (b"", "has no study"),
    "a mark": (b"\xef\xbb\xbf" + DROP.encode(), "byte-order mark"),
    "a zero": (b'study = "dr\0op"', "Illegal character"),
    "Latin-1": (b'study = "\xe4"', "not UTF-8"),
    "deep lists": (f"{DROP}a = {'[' * 100_000}".encode(), "nested too deeply"),
    "deep tables": (f"{DROP}a = {'{a=' * 100_000}".encode(), "nested too deeply"),
    "dots": (f"{DROP}{'.'.join('a' * 300)} = 1".encode(), "dots in names"),
    "infinity": (f"{DROP}[config]\nheight = inf".encode(), "not a finite number"),
    "NaN": (f"{DROP}[config]\nheight = nan".encode(), "not a finite number"),
    "beyond doubles": (f"{DROP}[config]\nheight = 1e999".encode(), "not a finite number"),
    "a long number": (f"{DROP}[config]\nseed = {'9' * 900_000}".encode(), "limit"),
    "4000 digits": (f"{DROP}[config]\nseed = {'9' * 4000}".encode(), "64 bits"),
    "a long hexadecimal": (f"{DROP}[config]\nseed = 0x{'f' * 900_000}".encode(), "64 bits"),
    "twice": (f"{DROP}{DROP}".encode(), "overwrite"),
    "a date": (f"{DROP}[config]\nengine = [2020-01-01]".encode(), "expected str, got date"),
    "a long study": (f'study = "{"d" * 900_000}"'.encode(), "unknown study 'ddd"),
    "a long field": (f"{DROP}[config]\n{'k' * 900_000} = 1".encode(), "unknown field 'kkk"),
    "a long entry": (f"{DROP}{'k' * 900_000} = 1".encode(), "unknown entry"),
    "a long engine": (
        f'{DROP}[config]\nengine = ["{"m" * 900_000}"]'.encode(),
        "unknown engine 'mmm",
    ),
    "a path": (b'study = "../../etc/passwd"', "unknown study"),
    "many": (DROP.encode() + b"[[case]]\n" * 110_000, "more than 100000 configs"),
    "large": (b"#" * 1_000_001, "larger than 1 MB"),
}


@pytest.mark.parametrize("command", ["batch", "--config"])
@pytest.mark.parametrize("plan", BAD_PLANS)
def test_a_bad_plan_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, plan: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    content, words = BAD_PLANS[plan]
    (tmp_path / "plan.toml").write_bytes(content)
    flags = ["batch", "plan.toml"] if command == "batch" else ["drop", "--config", "plan.toml"]
    code = main([*flags, "--workers", "0"])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("kinetarium: ") and err.count("\n") == 1 and len(err) < LONGEST_LINE
    assert words in err and "internal" not in err
    assert os.listdir(tmp_path) == ["plan.toml"]


@pytest.mark.parametrize("flags", [["batch"], ["drop", "--config"], ["runs"], ["report"]])
def test_a_name_that_no_file_has_is_one_line(
    capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    assert main([*flags, "a" * 5000]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_walk_refuses_received_files_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    machine_file(tmp_path / "m.json", shapes=shapes(section=[]))
    (tmp_path / "way.csv").write_text('0,0\n"' + "x" * 500_000)
    for flag, file in (("--machine", "m.json"), ("--path", "way.csv"), ("--path", "/dev/zero")):
        assert main(["walk", flag, file, "--workers", "0"]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and len(err) < LONGEST_LINE
    assert sorted(os.listdir(tmp_path)) == ["m.json", "way.csv"]


BOMBS: dict[str, Callable[[], bytes]] = {
    "lists": lambda: b"[" + b"[]," * 20_000_000 + b"0]",
    "objects": lambda: b"[" + b"{}," * 20_000_000 + b"0]",
    "fractions": lambda: b"[" + b"1.5," * 15_000_000 + b"0]",
    "texts": lambda: b'[{"position": ["' + b"x" * 10_000_000 + b'"' + b',"a"' * 1_000_000
    + b'], "quaternion_wxyz": [1, 0, 0, 0]}]',
    "names": lambda: b"{" + b",".join(b'"k%d":0' % i for i in range(1_000_000)) + b"}",
    "a fraction": lambda: b"[0." + b"9" * 60_000_000 + b"]",
}  # fmt: skip
"""Files that take far more memory or time than room on a disk."""

ALONE = """
import resource, sys
from pathlib import Path
from hostile.test_received_files import READERS
from kinetarium.errors import KinetariumError
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
resource.setrlimit(resource.RLIMIT_DATA, (1_000_000_000, 1_000_000_000))
for kind in sys.argv[2:]:
    try:
        READERS[kind](Path(sys.argv[1]))
    except KinetariumError as error:
        print(kind, error)
"""


def check_bomb(file: Path, kinds: list[str]) -> None:
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(file), *kinds],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line.split()[0] for line in done.stdout.splitlines()] == kinds


@pytest.mark.parametrize("bomb", ["lists", "texts"])
def test_reading_has_bounds(tmp_path: Path, bomb: str) -> None:
    (tmp_path / "bomb").write_bytes(BOMBS[bomb]())
    check_bomb(tmp_path / "bomb", ["poses"])


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_reading_has_bounds_in_every_kind(tmp_path: Path, bomb: str) -> None:
    (tmp_path / "bomb").write_bytes(BOMBS[bomb]())
    check_bomb(tmp_path / "bomb", list(READERS))


def test_a_result_does_not_replace_what_others_keep(tmp_path: Path) -> None:
    write_result(tmp_path / "out", "slice.json", data={"a": 1})
    write_result(tmp_path / "out", "slice.json", data={"a": 2})
    (tmp_path / "out" / "report.html").write_text("ours")
    write_result(tmp_path / "out", "slice.json", data={"a": 3})
    notes = tmp_path / "out" / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(KinetariumError, match=r"'notes\.txt', not written by Kinetarium"):
        write_result(tmp_path / "out", "slice.json", data={"a": 4})
    assert notes.read_text() == "mine"
    assert (tmp_path / "out" / "slice.json").read_bytes() == versioned_json({"a": 3})


def test_a_report_does_not_replace_what_others_keep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Page("A page", "", (), ())
    write_page(tmp_path, page)
    write_page(tmp_path, page)
    figure = tmp_path / "figures" / "my-drawing.svg"
    figure.write_text("mine")
    with pytest.raises(KinetariumError, match=r"'my-drawing\.svg', not written by Kinetarium"):
        write_page(tmp_path, page)
    assert figure.read_text() == "mine"
    figure.unlink()
    report = tmp_path / "report.html"
    report.write_text("<!DOCTYPE html>mine")
    with pytest.raises(KinetariumError, match="not written by Kinetarium"):
        write_page(tmp_path, page)
    assert main(["robots", "--out", str(tmp_path)]) == 2
    assert "not written by Kinetarium" in capsys.readouterr().err
    assert report.read_text() == "<!DOCTYPE html>mine"
