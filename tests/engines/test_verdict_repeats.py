"""The verdicts of compare-engines over repetitions with other seeds: the first choice stays."""

import json
from pathlib import Path

import pytest

from kinetarium.cli import main
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.studies.engine_guide.page import judged_rows, judgements, seed_table

pytestmark = [pytest.mark.engine, pytest.mark.slow]

REPEATS = 5


def test_the_first_choice_stays_or_is_a_tie_over_five_seeds(tmp_path: Path) -> None:
    out, answer = tmp_path / "out", tmp_path / "answer.json"
    words = ("compare-engines", "--quick", "--repeat", REPEATS, "--out", out, "--json", answer)
    assert main([*map(str, words), "--quiet"]) == 0
    parts: dict[str, list[ResultFolder]] = {}
    for name in ("grasp", "slide", "drive"):
        repeated = sorted(out.glob(f"{name}-*-seed-*"))
        assert len(repeated) >= REPEATS - 1
        parts[name] = [ResultFolder.open(each) for each in (out / name, *repeated)]
    rows = {part: judged_rows(folders) for part, folders in parts.items()}
    table = seed_table(rows)
    assert len(table.columns) == 2 + REPEATS and table.rows
    assert [row for row in table.rows if row[1] != "same"] == []
    # The verdict of all seeds together has the first choice of each, or a tie that contains it.
    together = {verdict.rule.name: verdict.first for verdict in judgements(rows)}
    told = {
        entry["for"]: tuple(entry["first"]) for entry in json.loads(answer.read_text())["verdicts"]
    }
    assert together == told
