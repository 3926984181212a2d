"""The tables of docs/engine_comparison.md, from a finished folder of `kinetarium compare-engines`.

`python -m benchmarks.engine_comparison DIR [--write]` prints them in Markdown; `--write` puts them
into the page.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import median

from benchmarks.markdown import table, write_part
from kinetarium.figure.page import Page
from kinetarium.figure.text import Table, cell_text
from kinetarium.recording.recording import Row
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.studies.engine_guide.page import engine_guide, judged_rows

_SEED = re.compile(r"(-(matched|defaults|open|closed))?-seed-\d+$")
_LEFT_OUT = ("The studies",)
_REPEATED = ("Repetitions with other seeds", "Without one of the starts")
"""Sections whose rows are mostly alike in all columns."""
_LIMITS = "The limits and what they decide"
"""The section whose quantities and reasons the page has in its table of rules."""


def main(out: Path, *, write: bool = False) -> None:
    """Print the tables."""
    parts: dict[str, list[ResultFolder]] = {}
    for path in sorted(out.iterdir()):
        if (path / "metrics.json").is_file():
            parts.setdefault(_SEED.sub("", path.name), []).append(ResultFolder.open(path))
    rows = {name: judged_rows(folders[:1]) for name, folders in parts.items()}
    lines = [
        *_guide(engine_guide(parts, provenance=())),
        "### Average moving variance of the grip force [N²]",
        "",
        "Medians over the starts; the reference sets off smoothly.",
        "",
        *_variances(rows["grasp"]),
        "",
        "### Cross-track error [m]",
        "",
        "Matched, RMSE, medians over the starts; in brackets the distance of open loop from the"
        " ideal drive.",
        "",
        *_tracks([*rows["drive"], *rows.get("drive-two", ())]),
        "",
        "### CPU time of the runs",
        "",
        *_costs(parts),
    ]
    text = "\n".join(lines)
    print(text)
    if write:
        write_part("engine_comparison.md", name="benchmarks.engine_comparison", text=text)


def _guide(page: Page) -> Iterator[str]:
    """Yield the tables of the report."""
    for sentence in page.conclusion.rstrip(".").split(". "):
        head, _, listed = sentence.rpartition(": ")
        yield from (
            [f"{head}:", "", *(f"- {each}" for each in listed.split("; "))]
            if head
            else [f"{sentence}."]
        )
        yield ""
    for section in page.sections:
        tables = [figure for figure in section.figures if isinstance(figure, Table)]
        if section.title in _LEFT_OUT or not tables:
            continue
        yield f"### {section.title}"
        yield ""
        for each in tables:
            columns = [column.heading for column in each.columns]
            body = [[cell_text(cell) for cell in row] for row in each.rows]
            if section.title in _REPEATED:
                alike = [row[0] for row in body if len({*row[2:]}) == 1]
                body = [row for row in body if row[0] not in alike]
                yield f"Alike in every column: {'; '.join(alike)}."
                yield ""
                if not body:
                    continue
            if section.title == _LIMITS:
                kept = [0, *range(4, len(columns))]
                columns = [columns[i] for i in kept]
                body = [[row[i] for i in kept] for row in body]
            yield from table(columns, body)
            yield ""


def _grouped(rows: Sequence[Row], *names: str) -> dict[tuple[object, ...], list[Row]]:
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def _variances(rows: Sequence[Row]) -> Iterator[str]:
    engines = sorted({row["engine"] for row in rows})
    cells = _grouped(rows, "profile", "path", "engine")

    def cell(runs: Sequence[Row]) -> str:
        held = [row for row in runs if row["status"] == "completed" and row["held"]]
        if not held:
            return "lost"
        lost = len(runs) - len(held)
        value = f"{median(row['moving_variance_n2'] for row in held):.3g}"
        return f"{value} ({lost} of {len(runs)} lost)" if lost else value

    body = []
    for (profile, path), runs in _grouped(rows, "profile", "path").items():
        rigid = [x for row in runs if (x := row["ideal_variance_n2"]) is not None]
        own = (cell(cells[profile, path, engine]) for engine in engines)
        body.append((profile, path, f"{median(rigid):.3g}" if rigid else "", *own))
    yield from table(["profile", "path", "rigid grasp", *engines], body)


def _tracks(rows: Sequence[Row]) -> Iterator[str]:
    matched = [row for row in rows if row["profile"] == "matched"]
    engines = sorted({row["engine"] for row in matched})
    cells = _grouped(matched, "robot", "control", "path", "engine")

    def cell(runs: Sequence[Row]) -> str:
        error = median(inf if (x := row["cross_track_rmse_m"]) is None else x for row in runs)
        off = [x for row in runs if (x := row["off_ideal_m"]) is not None]
        return f"{error:.3f} ({median(off):.3f})" if off else f"{error:.3f}"

    body = [
        (f"{robot}, {control}", path, *(cell(cells[robot, control, path, e]) for e in engines))
        for robot, control, path in _grouped(matched, "robot", "control", "path")
    ]
    yield from table(["robot, control", "path", *engines], body)


def _costs(parts: Mapping[str, Sequence[ResultFolder]]) -> Iterator[str]:
    body, total = [], 0.0
    for name, folders in parts.items():
        times = [own.get("cpu_s", 0.0) for folder in folders for own in folder.timings().values()]
        total += sum(times)
        body.append((name, len(times), f"{sum(times):.0f}"))
    body.append(("all", sum(row[1] for row in body), f"{total:.0f}"))
    yield from table(["folder", "runs", "CPU time [s]"], body)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--write"]
    main(Path(words[0]), write="--write" in sys.argv)
