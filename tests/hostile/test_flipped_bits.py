"""One flipped bit anywhere in a result folder or a map is found."""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kinetarium.batch.comparison import compare
from kinetarium.batch.study import open_study
from kinetarium.batch.sweep import findings_of
from kinetarium.cli import main
from kinetarium.errors import KinetariumError
from kinetarium.reach.maps.files import open_map, verify_map
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.verification import verify_folder
from kinetarium.storage.serialization import to_builtins

EVERY = 1_000
"""Bits from one flip to the next."""
SHORT = 12
"""Flips of one file in the short form, its first and last byte among them."""


def call(*words: object) -> int:
    return main([str(word) for word in words])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    words = ("--engine", "mujoco", "--duration", "0.1", "--height", "0.01", "--workers", "0")
    assert call("drop", *words, "--out", folder / "drop") == 0
    map_words = ("--robot", "panda", "--kind", "irm3", "--voxel", "0.2", "--poses", "3")
    assert call("reach", "build", *map_words, "--out", folder / "panda.rmap") == 0
    return folder


def flips(folder: Path, *, whole: bool) -> Iterator[tuple[Path, int]]:
    """Flip bits of every file, one at a time, and put each back."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        bits = range(0, 8 * len(content), EVERY)
        if not whole:
            draw = random.Random(path.name)
            edges = [draw.randrange(8), 8 * len(content) - 1 - draw.randrange(8)]
            bits = sorted({*edges, *draw.sample(bits, min(SHORT, len(bits)))})  # type: ignore[assignment]
        for bit in bits:
            with path.open("r+b") as file:
                file.seek(bit // 8)
                file.write(bytes([content[bit // 8] ^ 1 << bit % 8]))
            yield path, bit
            with path.open("r+b") as file:
                file.seek(bit // 8)
                file.write(content[bit // 8 : bit // 8 + 1])
        assert path.read_bytes() == content


def refused(look: Callable[[], Any]) -> bool:
    try:
        look()
    except KinetariumError:
        return True
    return False


def damaged(folder: Path) -> bool:
    try:
        return bool(verify_folder(folder))
    except KinetariumError:
        return True


def check_results(folder: Path, *, whole: bool) -> None:
    assert not verify_folder(folder)
    count = 0
    for path, bit in flips(folder, whole=whole):
        count += 1
        assert damaged(folder), f"bit {bit} of {path.relative_to(folder)}"
    assert count > 100
    assert not verify_folder(folder)


def check_map(folder: Path, *, whole: bool) -> None:
    for path, bit in flips(folder, whole=whole):
        assert refused(lambda: verify_map(folder)), f"bit {bit} of {path.relative_to(folder)}"
    verify_map(folder)


def test_results(made: Path) -> None:
    check_results(made / "drop", whole=False)


def test_maps(made: Path) -> None:
    check_map(made / "panda.rmap", whole=False)


@pytest.mark.slow
def test_every_thousandth_bit_of_results(made: Path) -> None:
    check_results(made / "drop", whole=True)


@pytest.mark.slow
def test_every_thousandth_bit_of_maps(made: Path) -> None:
    check_map(made / "panda.rmap", whole=True)


def summed_up(folder: Path) -> Any:
    opened = ResultFolder.open(folder)
    findings = findings_of(opened, open_study("drop"))
    return findings.headline, to_builtins(findings.summary), opened.metrics


def test_report_and_compare_notice_what_they_read(made: Path, tmp_path: Path) -> None:
    """A flip is refused, or is in a file that the command does not read."""
    folder = shutil.copytree(made / "drop", tmp_path / "drop")
    other = ResultFolder.open(made / "drop")
    expected = summed_up(folder)
    read_by_report: set[str] = set()
    read_by_compare: set[str] = set()
    for path, bit in flips(folder, whole=False):
        if refused(lambda: summed_up(folder)):
            read_by_report.add(path.name)
        else:
            assert summed_up(folder) == expected, f"bit {bit} of {path.name}"
        if refused(lambda: compare(ResultFolder.open(folder), other)):
            read_by_compare.add(path.name)
        else:
            assert compare(ResultFolder.open(folder), other).equal, f"bit {bit} of {path.name}"
        if path.name in ("manifest.json", "metrics.json", "config.toml", "environment.json"):
            assert path.name in read_by_report & read_by_compare
    assert {"index.sqlite", "timing.json", "00-time.npy"} <= read_by_report
    assert "index.sqlite" in read_by_compare


def test_a_damaged_run_is_run_again(made: Path, tmp_path: Path, capsys: Any) -> None:
    folder = shutil.copytree(made / "drop", tmp_path / "drop")
    (channel,) = folder.glob("runs/*/03-poses.npy")
    data = bytearray(channel.read_bytes())
    data[-3] ^= 1
    channel.write_bytes(data)
    assert call("runs", folder, "--verify") == 2
    assert "03-poses.npy' has changed since it was written" in capsys.readouterr().err
    assert call("resume", folder, "--workers", "0") == 0
    assert call("runs", folder, "--verify") == 0
    assert (folder / "metrics.json").read_bytes() == (made / "drop" / "metrics.json").read_bytes()


def test_metrics_of_other_runs(made: Path, tmp_path: Path, capsys: Any) -> None:
    """Sealed anew by somebody, metrics.json still has to hold the rows of the runs."""
    from kinetarium.storage.serialization import sealed_json

    folder = shutil.copytree(made / "drop", tmp_path / "drop")
    metrics = ResultFolder.open(folder).metrics
    metrics["rows"][0]["drift_m"] = 1e-3
    (folder / "metrics.json").write_bytes(sealed_json(metrics))
    assert call("compare", folder, made / "drop") == 2
    assert "does not match the runs" in capsys.readouterr().err


def test_maps_know_their_own_manifest(made: Path, tmp_path: Path, capsys: Any) -> None:
    folder = shutil.copytree(made / "panda.rmap", tmp_path / "panda.rmap")
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seed": 0', '"seed": 1'))
    for words in (("verify",), ("info",)):
        assert call("reach", *words, "--map", folder) == 2
        assert "manifest.json' has changed since it was written" in capsys.readouterr().err
    assert refused(lambda: open_map(folder))
