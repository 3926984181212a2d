import json
import math
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetarium.errors import UnknownNameError
from kinetarium.recording.recording import Channel, Recording, Run, RunStatus
from kinetarium.recording.run_folder import (
    RunFileError,
    read_run,
    read_timing,
    verify_run,
    write_run,
)
from kinetarium.storage.serialization import sealed_json

CHANNELS = {
    "time": Channel(np.linspace(0.0, 1.0, 5), "s"),
    "q": Channel(np.arange(10.0).reshape(5, 2).T.copy().T, "rad", ("a", "b/../c")),
    "wrench/../../x": Channel(np.array([[math.nan, math.inf], [-0.0, 5e-324]]), "N"),
    "Ω": Channel(np.zeros((0, 3)), "Ω"),
    "steps": Channel(np.array([1, 2], dtype=np.int64), "-"),  # type: ignore[arg-type]
    "on": Channel(np.array([True, False]), "-"),  # type: ignore[arg-type]
    "": Channel(np.array(1.5), "m"),
}
FACTS = {"engine": "mujoco", "options": {"cone": "elliptic", "limit": None}, "timestep_s": 0.001}


def run_with(**changes: Any) -> Run:
    values: dict[str, Any] = {
        "key": "drop-1",
        "study": "drop",
        "case": {"mass": 0.1, "shape": [1, 2]},
        "status": RunStatus.COMPLETED,
        "rows": ({"error": 1 / 3, "name": "\udc80"}, {"error": math.nan, "name": None}),
        "recording": Recording(CHANNELS, "running", FACTS),
    }
    return Run(**values | changes)


def test_there_and_back(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = run_with()
    write_run(folder, run, timing={"wall_s": 1.5, "cpu_s": 1})
    verify_run(folder)
    again = read_run(folder)
    assert (again.key, again.study, again.case) == (run.key, run.study, run.case)
    assert (again.status, again.message) == (run.status, run.message)
    assert again.rows == (run.rows[0], {"error": None, "name": None})
    assert again.recording
    assert again.recording.status == "running" and again.recording.facts == FACTS
    assert list(again.recording.channels) == list(CHANNELS)
    assert len(again.recording.channels) == len(CHANNELS)
    for name, channel in CHANNELS.items():
        found = again.recording.channels[name]
        assert (found.unit, found.columns) == (channel.unit, channel.columns)
        assert found.values.dtype == channel.values.dtype
        assert found.values.shape == channel.values.shape
        assert found.values.tobytes() == channel.values.tobytes()
        assert not found.values.flags.writeable
    with pytest.raises(UnknownNameError, match="unknown channel 'p'"):
        again.recording["p"]
    assert read_timing(folder) == {"wall_s": 1.5, "cpu_s": 1.0}


@pytest.mark.parametrize("status", RunStatus)
def test_without_a_recording(status: RunStatus, tmp_path: Path) -> None:
    run = run_with(status=status, message="no \u2028 luck", rows=(), recording=None)
    write_run(tmp_path / "run", run, timing={})
    verify_run(tmp_path / "run")
    again = read_run(tmp_path / "run")
    assert (again.status, again.message, again.rows) == (status, run.message, ())
    assert again.recording is None


def test_written_twice_it_is_the_same_but_for_the_timing(tmp_path: Path) -> None:
    for name, seconds in (("a", 1.0), ("b", 2.0)):
        write_run(tmp_path / name, run_with(), timing={"wall_s": seconds})
    files = sorted(os.listdir(tmp_path / "a"))
    assert files == sorted(os.listdir(tmp_path / "b"))
    for file in files:
        same = (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
        assert same == (file != "timing.json")


def test_names_never_become_paths(tmp_path: Path) -> None:
    write_run(tmp_path / "run", run_with(), timing={})
    assert os.listdir(tmp_path) == ["run"]
    assert {path.name for path in (tmp_path / "run").glob("*.npy")} == {
        "00-time.npy",
        "01-q.npy",
        "02-wrench-x.npy",
        "03-channel.npy",
        "04-steps.npy",
        "05-on.npy",
        "06-channel.npy",
    }


def test_open_runs_hold_no_files(tmp_path: Path) -> None:
    write_run(tmp_path / "run", run_with(), timing={})
    before = len(os.listdir("/dev/fd"))
    runs = [read_run(tmp_path / "run") for _ in range(50)]
    for run in runs:
        assert run.recording and run.recording["time"][-1] == 1.0
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("values", [np.array([object()]), np.array(["a"]), np.zeros(2, "f8,i4")])
def test_channels_hold_numbers(values: Any, tmp_path: Path) -> None:
    run = run_with(recording=Recording({"x": Channel(values, "-")}, "running"))
    with pytest.raises(RunFileError, match=r"channel 'x' has dtype .*, not numbers"):
        write_run(tmp_path / "run", run, timing={})
    assert os.listdir(tmp_path) == []


def edited(folder: Path, **changes: Any) -> None:
    """Change the entry of the channel "time" in a manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["recording"]["channels"]["time"].update(changes)
    for name in ("schema_version", "sha256_of_all_above"):
        manifest.pop(name)
    (folder / "manifest.json").write_bytes(sealed_json(manifest))


def header(shape: str, *, descr: str = "'<f8'", end: str = "\n") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}{end}".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


BAD_MANIFESTS = [
    ({"file": "../x.npy"}, "not a valid file name"),
    ({"file": "/etc/passwd"}, "not a valid file name"),
    ({"file": "00-a.npy\n"}, "not a valid file name"),
    ({"file": "00-missing.npy"}, "no such file"),
    ({"file": 3}, r"expected str, got int"),
    ({"dtype": "|O"}, "not a numeric type"),
    ({"dtype": "<f8,<i4"}, "not a numeric type"),
    ({"dtype": "<f7"}, "does not match its manifest"),
    ({"dtype": "<i8"}, "does not match its manifest"),
    ({"shape": [4]}, "does not match its manifest"),
    ({"shape": [-5, -1]}, "expected int >= 0"),
    ({"shape": [5.0]}, "expected int, got float"),
    ({"shape": "5"}, "expected array, got str"),
    ({"color": "red"}, "unknown field 'color'"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_MANIFESTS)
def test_manifests_that_lie(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    write_run(tmp_path, run_with(), timing={})
    edited(tmp_path, **changes)
    with pytest.raises(RunFileError, match=message) as refusal:
        read_run(tmp_path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not match its manifest"),
        (b"\x93NUMPY\x01\x00", "does not match its manifest"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "does not match its manifest"),
        (header("(5,)", end=""), "does not match its manifest"),
        (header("(5,)") + bytes(39), "not have the size"),
        (header("(5,)") + bytes(41), "not have the size"),
        (header("(5,)"), "not have the size"),
        (header("(1000000000000,)") + bytes(40), "does not match its manifest"),
        (header("(5,)", descr="'|O'") + bytes(40), "does not match its manifest"),
        (header("(" * 10_000), "does not match its manifest"),
    ],
)
def test_arrays_that_lie(content: bytes, message: str, tmp_path: Path) -> None:
    write_run(tmp_path, run_with(), timing={})
    (tmp_path / "00-time.npy").write_bytes(content)
    for look in (read_run, verify_run):
        with pytest.raises(RunFileError, match=message):
            look(tmp_path)


def test_a_lie_that_both_tell(tmp_path: Path) -> None:
    write_run(tmp_path, run_with(), timing={})
    for descr, shape, message in [
        ("<f8", (10**12, 10**12), "not have the size"),
        ("<f7", (5,), "not a numeric type"),
    ]:
        edited(tmp_path, dtype=descr, shape=shape)
        (tmp_path / "00-time.npy").write_bytes(header(repr(shape), descr=repr(descr)) + bytes(40))
        with pytest.raises(RunFileError, match=message):
            read_run(tmp_path)
    content = header(repr((0, 10**30)))
    edited(tmp_path, dtype="<f8", shape=(0, 10**30), sha256=sha256(content).hexdigest())
    (tmp_path / "00-time.npy").write_bytes(content)
    recording = read_run(tmp_path).recording
    assert recording
    with pytest.raises(RunFileError, match="cannot map"):
        recording["time"]


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_things_that_are_no_files(kind: str, tmp_path: Path) -> None:
    write_run(tmp_path / "run", run_with(), timing={})
    file = tmp_path / "run" / "00-time.npy"
    file.rename(tmp_path / "elsewhere.npy")
    if kind == "link":
        file.symlink_to(tmp_path / "elsewhere.npy")
    elif kind == "fifo":
        os.mkfifo(file)
    else:
        file.mkdir()
    with pytest.raises(RunFileError, match="cannot read"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 101 + "]" * 101, "nested too deeply"),
        ("[" * 100 + "]" * 100, "has no schema_version"),
        ("[]", "has no schema_version"),
        ("{}", "has no schema_version"),
        ('{"schema_version": true}', "has no schema_version"),
        ('{"schema_version": 1}', "missing required field key"),
        ('{"schema_version": 2}', "has changed since it was written"),
        ('{"schema_version": 3}', "of a later release: it has schema 3"),
        ('{"schema_version": 1, "key": NaN}', "NaN is not valid JSON"),
        ('{"schema_version": 1, "key": ' + "9" * 5000 + "}", "is not JSON"),
    ],
)
def test_bad_manifests(content: str, message: str, tmp_path: Path) -> None:
    write_run(tmp_path, run_with(), timing={})
    for name, look in (("manifest.json", read_run), ("timing.json", read_timing)):
        if name == "timing.json" and "missing" in message:
            continue
        (tmp_path / name).write_text(content)
        with pytest.raises(RunFileError, match=message):
            look(tmp_path)


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    write_run(tmp_path, run_with(), timing={})
    file = tmp_path / "01-q.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    read_run(tmp_path)
    with pytest.raises(RunFileError, match=r"01-q\.npy' has changed since it was written"):
        verify_run(tmp_path)


def test_no_run(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing", Path("nul\0")):
        for look in (read_run, read_timing, verify_run):
            with pytest.raises(RunFileError, match="cannot read"):
                look(folder)
