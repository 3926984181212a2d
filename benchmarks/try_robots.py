"""`try` on the public robots of the data packages, as the tables of docs/try-results.md.

`python -m benchmarks.try_robots OUT [NAME ...] [--write]` runs the robots of
tests/golden/roles_truth.toml whose path contains one of the names, all by default, and prints the
tables in Markdown; `--write` puts them into docs/try-results.md. A folder of an interrupted run is
resumed.
"""

import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.markdown import table, write_part
from kinetarium.batch.outcomes import verdict_of
from kinetarium.batch.plan import Plan
from kinetarium.batch.study import Outcome
from kinetarium.batch.sweep import Progress, run_plan
from kinetarium.batch.worker_pool import executor
from kinetarium.model.assets import installed_packages
from kinetarium.recording.recording import Run
from kinetarium.study import open_study

_TRUTH = Path(__file__).parents[1] / "tests/golden/roles_truth.toml"
_WORKERS = 2
_MEMORY = 4e9
_TIMEOUT = 900.0
"""Time for one case [s]; ODE takes a minute for a robot of eighty joints."""

_PARTS = ("hold", "drop", "dynamics")
_REMEDIES = {
    "no meshes": "give the links boxes, spheres, cylinders or capsules as collision shapes",
    "pybullet handles": "fix fewer meshes to the links; one shape for each link is enough",
    "no springs": "leave out the joint springs, or the servos beside them",
    "timed out": "give more time (`--timeout`)",
}
"""What to do about a refusal whose cause contains some words."""
_MOST_NAMED = 3


def public_robots() -> dict[str, Path]:
    """Return the robots of the data packages by the name of their file."""
    packages = installed_packages()
    found = {}
    for name in tomllib.loads(_TRUTH.read_text("utf-8")):
        package, _, rest = name.partition("/")
        if package == "pybullet_data":
            found[name] = packages[package] / rest
        elif rest:
            found[name] = packages["example-robot-data"] / "robots" / name
    return found


def main(out: Path, names: Sequence[str], *, write: bool = False) -> None:
    """Try the robots and print the tables."""
    robots = {
        str(path): name
        for name, path in public_robots().items()
        if not names or any(part in name for part in names)
    }
    study = open_study("try")
    content = {"study": "try", "grid": {"robot": list(robots)}}
    work = executor(_WORKERS, timeout=_TIMEOUT, memory=_MEMORY)
    folder, _ = run_plan(Plan(study, content), out=out, executor=work, watch=_watch)
    timings = folder.timings()
    runs = [run for run in folder.rows() if run.case["part"] in _PARTS]
    cpu = [timings.get(run.key, {}).get("cpu_s", 0.0) for run in runs]
    text = "\n".join(page(robots, runs, cpu=cpu))
    print(text)
    if write:
        write_part("try-results.md", name="benchmarks.try_robots", text=text)


def page(robots: Mapping[str, str], runs: Sequence[Run], *, cpu: Sequence[float]) -> Iterator[str]:
    """Yield the lines of the tables.

    Args:
        robots: The name of each robot by its path.
        runs: All runs of parts in engines.
        cpu: CPU time of each run [s].
    """
    order = {path: i for i, path in enumerate(robots)}
    ordered = sorted(runs, key=lambda run: (order[run.case["robot"]], run.case["engine"]))
    verdicts = [(run, *_verdict(run)) for run in ordered]
    engines = sorted({str(run.case["engine"]) for run in runs})
    median = sorted(cpu)[len(cpu) // 2] if cpu else 0.0
    yield (
        f"{len(robots)} robots in {len(engines)} engines, {len(runs)} cases, of which"
        f" {sum(verdict == 'refused' for _, verdict, _ in verdicts)} are refused. CPU time of a"
        f" case: median {median:.1f} s, mean {sum(cpu) / max(len(cpu), 1):.1f} s, largest"
        f" {max(cpu, default=0.0):.0f} s."
    )
    yield ""
    yield from table(["part", "verdict", *engines], _counts(verdicts, engines))
    yield ""
    yield from table(["refused", "cases", "robots", "what to do"], _refusals(verdicts, robots))
    yield ""
    yield "Results that nothing about the robot explains, so that they are the engine's:"
    yield ""
    yield from table(["robot", "engine", "result"], _surprises(verdicts, robots))
    yield ""
    yield "Verdicts of hold and drop:"
    yield ""
    cells = {(run.case["robot"], run.case["part"], run.case["engine"]): word
             for run, word, _ in verdicts}  # fmt: skip
    rows = (
        [name, *(
            "; ".join(dict.fromkeys(cells.get((path, part, engine), "-") for part in _PARTS[:2]))
            for engine in engines
        )]
        for path, name in robots.items()
    )  # fmt: skip
    yield from table(["robot", *engines], rows)


def _verdict(run: Run) -> tuple[str, str]:
    return verdict_of(Outcome(run.case, run.status, run.message, run.rows, run.recording, {}))


Judged = Sequence[tuple[Run, str, str]]


def _counts(verdicts: Judged, engines: Sequence[str]) -> Iterator[list[object]]:
    counts = Counter(
        (run.case["part"], verdict, run.case["engine"]) for run, verdict, _ in verdicts
    )
    for part in _PARTS:
        kinds = Counter(verdict for run, verdict, _ in verdicts if run.case["part"] == part)
        for verdict, _ in kinds.most_common():
            yield [part, verdict, *(counts[part, verdict, engine] or "" for engine in engines)]


def _refusals(verdicts: Judged, robots: Mapping[str, str]) -> Iterator[list[object]]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for run, verdict, cause in verdicts:
        if verdict == "refused" or not run.rows:
            found = [words for words in _REMEDIES if words in cause]
            remedy = _REMEDIES[found[0]] if found else ""
            what = cause.partition(", which")[0] if "engine '" in cause else cause
            groups.setdefault((str(run.case["engine"]), what, remedy), []).append(
                robots[run.case["robot"]]
            )
    for (engine, what, remedy), who in groups.items():
        said = what if engine in what else f"{engine}: {what}"
        names = list(dict.fromkeys(Path(name).stem for name in who))
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield [said, len(who), f"{', '.join(names[:_MOST_NAMED])}{more}", remedy]


_GOOD = ("stands", "holds", "rests", "moves", "same", "refused")
_EXPLAINED = (
    "inside its support", "outside its support", "no collision shapes", "effort limit of",
)  # fmt: skip


def _surprises(verdicts: Judged, robots: Mapping[str, str]) -> Iterator[list[object]]:
    for run, verdict, cause in verdicts:
        if run.rows and verdict not in _GOOD and not any(words in cause for words in _EXPLAINED):
            name = Path(robots[run.case["robot"]]).stem
            yield [name, run.case["engine"], f"{run.case['part']} {verdict}: {cause}"]


def _watch(progress: Progress) -> None:
    if progress.latest and progress.latest.message:
        case: Mapping[str, Any] = progress.latest.task.case
        print(progress.done, case["robot"], case["engine"], case["part"],
              progress.latest.message, file=sys.stderr)  # fmt: skip


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--write"]
    main(Path(words[0]), words[1:], write="--write" in sys.argv)
