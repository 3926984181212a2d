"""Random MJCF files are to us the mechanisms that they are to MuJoCo, or are refused by name."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import mujoco
import pytest

from kinetarium import RobotFileError, RobotModel, load_robot
from kinetarium.model.diagnostics import Code, Refusal
from property.mjcf_comparison import differences
from property.mjcf_draws import MjcfFile
from property.mjcf_generator import random_mjcf
from property.mjcf_mutations import mutated

SHORT, LONG = range(60), range(2000)

NOT_IN_THE_FORMAT = re.compile(
    "Schema violation|bad format|problem reading|enough data|too much data|invalid keyword|"
    "required attribute missing|multiple orientation|unknown default|cannot have attributes"
)
"""How MuJoCo says that a file is not MJCF."""
REPAIRED = {
    "must be larger than mjMINVAL": (Code.MASS, Code.MASSLESS, Code.INERTIA),
    "inertia must satisfy A + B >= C": (Code.INERTIA,),
    "inertia must have positive eigenvalues": (Code.INERTIA,),
}
"""What MuJoCo refuses and we repair, with the codes of the repairs that say so."""
OTHERWISE = (
    "free body's alignment", "massless: its moment", "(boundmass) put at its origin",
    "replaced by a water ball's",
)  # fmt: skip
"""Words of the repairs that say how a mechanism is another one than MuJoCo's."""


class Verdict(StrEnum):
    SAME = "same mechanism"
    LISTED = "difference listed among the repairs"
    NEITHER = "refused by both"
    REPAIRED = "refused by MuJoCo, repaired here"
    UNSUPPORTED = "refused here as unsupported"
    STRICTER = "refused here, sound or not"


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    """Keep MuJoCo from writing a log beside the sources."""
    mujoco.set_mju_user_warning(lambda message: None)
    yield
    mujoco.set_mju_user_warning(None)


@pytest.fixture(autouse=True)
def _almost_massless_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the mass that links between two joints are given out of the comparison."""
    monkeypatch.setattr("kinetarium.model.tree.MASSLESS_SHARE", 1e-11)


def _theirs(file: Path) -> tuple[mujoco.MjModel | None, str]:
    mujoco.mj_clearCache(mujoco.mj_getCache())
    try:
        return mujoco.MjModel.from_xml_path(str(file)), ""
    except ValueError as error:
        return None, str(error).replace("\n", " ")


def _ours(file: Path) -> tuple[RobotModel | None, tuple[Refusal, ...]]:
    try:
        return load_robot(file), ()
    except RobotFileError as error:
        return None, error.refusals


def _verdict(mjcf: MjcfFile, folder: Path, *, seed: int, slip: str = "") -> Verdict:
    """Judge one file, and fail with its seed where the two readings disagree without a word."""
    for name, data in mjcf.others.items():
        (folder / name).write_bytes(data)
    file = folder / "robot.xml"
    file.write_text(mjcf.text)
    theirs, refused = _theirs(file)
    ours, refusals = _ours(file)
    where = f"seed {seed} {slip}"
    if ours is None:
        assert theirs is None or slip or all(each.code is Code.UNSUPPORTED for each in refusals), (
            f"{where}: refused, though MuJoCo reads it: {refusals[0]}"
        )
        if theirs is None:
            return Verdict.NEITHER
        sound = all(each.code is Code.UNSUPPORTED for each in refusals)
        return Verdict.UNSUPPORTED if sound else Verdict.STRICTER
    if theirs is None:
        assert not NOT_IN_THE_FORMAT.search(refused), f"{where}: read, but MuJoCo says {refused}"
        codes = [code for words, codes in REPAIRED.items() if words in refused for code in codes]
        assert slip or any(repair.code in codes for repair in ours.repairs), (
            f"{where}: read without a word, but MuJoCo says {refused}"
        )
        return Verdict.REPAIRED
    found = differences(theirs, ours, seed=seed)
    listed = any(
        words in f"{repair.where} {repair.message}"
        for repair in ours.repairs
        for words in OTHERWISE
    )
    assert listed or not found, f"{where}: {'; '.join(found)}"
    return Verdict.LISTED if found else Verdict.SAME


def _judge_sound_files(seeds: Iterable[int], folder: Path) -> Counter[Verdict]:
    verdicts = Counter(_verdict(random_mjcf(seed), folder, seed=seed) for seed in seeds)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    return verdicts


def _judge_slips(seeds: Iterable[int], folder: Path) -> Counter[Verdict]:
    verdicts: Counter[Verdict] = Counter()
    for seed in seeds:
        mjcf, slip = mutated(random_mjcf(seed), seed)
        verdicts[_verdict(mjcf, folder, seed=seed, slip=f"({slip})")] += 1
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    return verdicts


def _comparable(verdicts: Counter[Verdict]) -> int:
    return verdicts[Verdict.SAME] + verdicts[Verdict.LISTED]


def test_sound_files_are_the_same_mechanisms(tmp_path: Path) -> None:
    verdicts = _judge_sound_files(SHORT, tmp_path)
    assert _comparable(verdicts) >= len(SHORT) / 2


@pytest.mark.slow
def test_many_sound_files_are_the_same_mechanisms(tmp_path: Path) -> None:
    verdicts = _judge_sound_files(LONG, tmp_path)
    assert _comparable(verdicts) >= len(LONG) / 2


def test_what_is_not_mjcf_to_mujoco_is_refused(tmp_path: Path) -> None:
    verdicts = _judge_slips(SHORT, tmp_path)
    assert verdicts[Verdict.NEITHER] >= len(SHORT) / 4


@pytest.mark.slow
def test_much_that_is_not_mjcf_to_mujoco_is_refused(tmp_path: Path) -> None:
    verdicts = _judge_slips(LONG, tmp_path)
    assert verdicts[Verdict.NEITHER] >= len(LONG) / 4
