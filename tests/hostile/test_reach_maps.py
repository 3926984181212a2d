"""Maps that are broken or foreign, builds that are killed, places that cannot be written."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from itertools import count
from pathlib import Path

import pytest

from kinetarium import KinetariumError, load_robot
from kinetarium.errors import OutputError
from kinetarium.reach.maps.build import SUFFIX, build_map, build_part
from kinetarium.reach.maps.files import MapFileError, open_map, verify_map
from kinetarium.reach.placement.query import Placer
from needs import needs

PANDA = load_robot("panda")
WORDS = {"kind": "irm3", "voxel": 0.125, "poses": 12}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "panda.rmap"
    build_map(PANDA, path, **WORDS)
    return path


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy.rmap"))


def manifest(folder: Path, change: object) -> None:
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    for name in ("schema_version", "sha256_of_all_above"):
        data.pop(name)
    change(data)
    # A file of release 0.1 carries no digest: whoever alters one need not forge any.
    path.write_text(json.dumps({"schema_version": 1} | data))


def test_one_and_two_workers_make_the_same_bytes(sound: Path, tmp_path: Path) -> None:
    build_map(PANDA, tmp_path / "two.rmap", **WORDS, workers=2)
    assert contents(tmp_path / "two.rmap") == contents(sound)
    assert [path.name for path in tmp_path.iterdir()] == ["two.rmap"]


@pytest.mark.parametrize("kind", ["irm4", "capability"])
def test_so_they_do_for_other_kinds(kind: str, tmp_path: Path) -> None:
    for workers in (1, 2):
        build_map(PANDA, tmp_path / str(workers), kind=kind, voxel=0.25, poses=2, workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def survive(kills: int, *, sound: Path, folder: Path, seed: int) -> None:
    """Kill a build again and again until it gets through."""
    moments = random.Random(seed)
    fork = multiprocessing.get_context("fork")
    done = 0
    for number in count():
        if done >= kills:
            break
        out = folder / f"{number}.rmap"
        while not out.exists():
            process = fork.Process(
                target=build_map, args=(PANDA, out), kwargs={**WORDS, "workers": 2}
            )
            process.start()
            process.join(moments.uniform(0.0, 0.4) if done < kills else None)
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
                done += 1
            process.join()
            assert process.exitcode in (0, -signal.SIGKILL)
            if out.exists():
                verify_map(out)
        # One killed after the map was whole may have left its parts; the next run clears them.
        build_map(PANDA, out, **WORDS)
        assert contents(out) == contents(sound)
    assert all(path.suffix == ".rmap" for path in folder.iterdir())


needs_fork = needs("linux")


@needs_fork
def test_20_kills(sound: Path, tmp_path: Path) -> None:
    survive(20, sound=sound, folder=tmp_path, seed=1)


@needs_fork
@pytest.mark.slow
def test_200_kills(sound: Path, tmp_path: Path) -> None:
    survive(200, sound=sound, folder=tmp_path, seed=2)


def start_part(out: Path, part: tuple[int, int]) -> multiprocessing.process.BaseProcess:
    """Start a part as another machine would: a process that knows the folder alone."""
    process = multiprocessing.get_context("fork").Process(
        target=build_part, args=(PANDA, out), kwargs={**WORDS, "part": part}
    )
    process.start()
    return process


@needs_fork
@pytest.mark.parametrize("count", [2, 3])
def test_parts_side_by_side_make_the_same_bytes(count: int, sound: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.rmap"
    parts = [start_part(out, (number, count)) for number in range(1, count + 1)]
    for process in parts:
        process.join()
    assert [process.exitcode for process in parts] == [0] * count
    assert build_part(PANDA, out, part=(1, count), **WORDS) == (17, 17)
    assert not out.exists()
    build_map(PANDA, out, **WORDS, progress=lambda done, total: (done == total) or pytest.fail())
    assert contents(out) == contents(sound)
    assert [path.name for path in tmp_path.iterdir()] == ["m.rmap"]


@needs_fork
def test_a_part_that_was_killed_is_run_again_beside_its_neighbour(
    sound: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m.rmap"
    moments = random.Random(3)
    for _ in range(5):
        parts = [start_part(out, (number, 2)) for number in (1, 2)]
        time.sleep(moments.uniform(0.0, 0.1))
        os.kill(parts[0].pid, signal.SIGKILL)
        for process in parts:
            process.join()
        assert parts[1].exitcode == 0
    assert build_part(PANDA, out, part=(1, 2), **WORDS) == (17, 17)
    build_map(PANDA, out, **WORDS)
    assert contents(out) == contents(sound)
    assert [path.name for path in tmp_path.iterdir()] == ["m.rmap"]


def test_a_part_says_how_many_shards_are_there(sound: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.rmap"
    assert build_part(PANDA, out, part=(2, 4), **WORDS) == (4, 17)
    assert build_part(PANDA, out, part=(1, 4), **WORDS) == (9, 17)
    assert build_part(PANDA, out, part=(50, 60), **WORDS) == (9, 17)
    next((tmp_path / f"m.rmap{SUFFIX}").glob("shard-*")).write_bytes(b"damaged")
    assert build_part(PANDA, out, part=(50, 60), **WORDS) == (8, 17)
    build_map(PANDA, out, **WORDS)
    assert contents(out) == contents(sound)


def test_parts_of_another_map_are_neither_mixed_nor_thrown_away(tmp_path: Path) -> None:
    out = tmp_path / "m.rmap"
    build_part(PANDA, out, part=(1, 8), **WORDS)
    before = contents(tmp_path / f"m.rmap{SUFFIX}")
    other = {**WORDS, "poses": 11}
    with pytest.raises(OutputError, match="parts of another map"):
        build_part(PANDA, out, part=(2, 8), **other)
    with pytest.raises(OutputError, match="parts of another map"):
        build_map(PANDA, out, **other)
    assert contents(tmp_path / f"m.rmap{SUFFIX}") == before
    assert not out.exists()


def test_the_shards_of_a_build_that_was_killed_are_not_mixed_with_another(
    sound: Path, tmp_path: Path
) -> None:
    def stop(done: int, total: int) -> None:
        if done == 9:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        build_map(PANDA, tmp_path / "m.rmap", **{**WORDS, "seed": 1}, progress=stop)
    assert build_part(PANDA, tmp_path / "m.rmap", part=(1, 17), **WORDS) == (1, 17)
    build_map(PANDA, tmp_path / "m.rmap", **WORDS)
    assert contents(tmp_path / "m.rmap") == contents(sound)


def test_what_lies_among_the_shards_is_not_used(sound: Path, tmp_path: Path) -> None:
    parts = tmp_path / "m.rmap.building"
    parts.mkdir()
    (parts / "shard-00000").write_bytes(b"not of this map")
    (parts / ".kinetarium-0123456789abcdef").write_bytes(b"half-written")
    build_map(PANDA, tmp_path / "m.rmap", **WORDS)
    assert contents(tmp_path / "m.rmap") == contents(sound)


def test_a_part_that_was_damaged_is_made_anew(sound: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.rmap"

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        build_map(PANDA, out, **WORDS, progress=stop)
    assert not out.exists()
    shards = sorted((tmp_path / "m.rmap.building").glob("shard-*"))
    assert len(shards) >= 3
    shards[0].write_bytes(shards[0].read_bytes()[:-7])
    shards[1].write_bytes(b"")
    build_map(PANDA, out, **WORDS)
    assert contents(out) == contents(sound)


def test_a_resumed_build_goes_on_where_it_was(tmp_path: Path) -> None:
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        seen.append(done)
        if done == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        build_map(PANDA, tmp_path / "m.rmap", **WORDS, progress=stop)
    seen.clear()
    build_map(PANDA, tmp_path / "m.rmap", **WORDS, progress=lambda done, total: seen.append(done))
    assert seen[0] >= 5


def test_damaged_values_open_but_do_not_verify(copy: Path) -> None:
    data = bytearray((copy / "manipulability.npy").read_bytes())
    data[-3] ^= 1
    (copy / "manipulability.npy").write_bytes(data)
    open_map(copy)
    with pytest.raises(MapFileError, match="changed"):
        verify_map(copy)


@pytest.mark.parametrize(
    "damage",
    [
        lambda m: (m / "manifest.json").unlink(),
        lambda m: (m / "manifest.json").write_text(""),
        lambda m: (m / "manifest.json").write_text("[" * 100_000),
        lambda m: (m / "manifest.json").write_bytes(b"\xff\xfe"),
        lambda m: (m / "manifest.json").write_text('{"schema_version": 1}'),
        lambda m: (m / "reachable.npy").unlink(),
        lambda m: (m / "reachable.npy").write_bytes(b""),
        lambda m: (m / "reachable.npy").write_bytes((m / "manipulability.npy").read_bytes()),
        lambda m: (m / "reachable.npy").write_bytes((m / "reachable.npy").read_bytes()[:-1]),
        lambda m: (m / "reachable.npy").write_bytes((m / "reachable.npy").read_bytes() + b"x"),
        lambda m: ((m / "reachable.npy").unlink(), os.mkfifo(m / "reachable.npy")),
        lambda m: ((m / "reachable.npy").unlink(), (m / "reachable.npy").symlink_to("/etc/passwd")),
        lambda m: ((m / "reachable.npy").unlink(), (m / "reachable.npy").mkdir()),
        lambda m: manifest(m, lambda d: d.update(schema_version=99)),
        lambda m: manifest(m, lambda d: d.update(format="something else")),
        lambda m: manifest(m, lambda d: d["recipe"].update(kind="irm9")),
        lambda m: manifest(m, lambda d: d["recipe"].update(voxel=1e-9)),
        lambda m: manifest(m, lambda d: d["recipe"].update(voxel="fine")),
        lambda m: manifest(m, lambda d: d["grid"].update(count=3)),
        lambda m: manifest(m, lambda d: d["fields"]["reachable"].update(dtype="|O")),
        lambda m: manifest(m, lambda d: d["fields"]["reachable"].update(shape=[-1, 2])),
        lambda m: manifest(m, lambda d: d["fields"]["reachable"].update(shape=[10**30])),
        lambda m: manifest(m, lambda d: d["fields"]["reachable"].update(shape=[17, 17])),
        lambda m: manifest(m, lambda d: d["fields"].update({"../x": d["fields"]["reachable"]})),
        lambda m: manifest(m, lambda d: d["fields"].pop("reachable")),
        lambda m: manifest(m, lambda d: d.update(fields=[])),
    ],
)
def test_broken_maps_are_refused(damage: object, copy: Path) -> None:
    damage(copy)
    with pytest.raises(MapFileError):
        open_map(copy)
    with pytest.raises(MapFileError):
        verify_map(copy)


@pytest.mark.parametrize("path", ["nowhere.rmap", "", "a\0b"])
def test_maps_that_are_not_there(path: str, tmp_path: Path) -> None:
    with pytest.raises(MapFileError):
        open_map(str(tmp_path / path))


def test_a_map_for_an_earlier_robot_file_is_refused(copy: Path) -> None:
    manifest(copy, lambda d: d["recipe"].update(robot_sha256="0" * 64))
    with pytest.raises(MapFileError, match="another file"):
        Placer(open_map(copy))


def test_a_capability_map_places_nothing(tmp_path: Path) -> None:
    found = build_map(PANDA, tmp_path / "c.rmap", kind="capability", voxel=0.5, poses=1)
    with pytest.raises(MapFileError, match="capability"):
        Placer(found)


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("dear")
    (tmp_path / "thesis" / "manifest.json").write_text('{"schema_version": 1, "format": "mine"}')
    (tmp_path / "file").write_text("dear")
    for out in (tmp_path / "thesis", tmp_path / "file", tmp_path / "no" / "x.rmap", "a\0b"):
        with pytest.raises(OutputError):
            build_map(PANDA, out, **WORDS)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "dear"
    assert (tmp_path / "file").read_text() == "dear"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "thesis"]


def test_two_builds_of_one_map_do_not_meet(tmp_path: Path) -> None:
    from kinetarium.storage.atomic import FolderLock

    parts = tmp_path / "m.rmap.building"
    parts.mkdir()
    lock = FolderLock(parts)
    with pytest.raises(KinetariumError, match="another kinetarium"):
        build_map(PANDA, tmp_path / "m.rmap", **WORDS)
    lock.release()


def test_opening_reads_no_values(sound: Path) -> None:
    """So that a map of any size opens in milliseconds; the time itself is benchmarked."""
    before = time.thread_time()
    for _ in range(20):
        found = open_map(sound)
    assert time.thread_time() - before < 5.0
    assert all(values.base is not None for values in found.fields.values())
