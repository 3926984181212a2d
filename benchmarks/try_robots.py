"""`try` on the public robots of the data packages, as the table of docs/try.md.

`python -m benchmarks.try_robots OUT [NAME ...]` runs the robots of tests/golden/roles_truth.toml
whose path contains one of the names, all by default, and prints the table in Markdown; a folder of
an interrupted run is resumed.
"""

import sys
import tomllib
from pathlib import Path

from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import Progress, sweep
from kinetarium.batch.worker_pool import executor
from kinetarium.model.assets import installed_packages
from kinetarium.study import open_study

_TRUTH = Path(__file__).parents[1] / "tests/golden/roles_truth.toml"
_WORKERS = 2
_MEMORY = 4e9


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


def main(out: Path, names: list[str]) -> None:
    """Try the robots and print the table."""
    robots = {
        name: path
        for name, path in public_robots().items()
        if not names or any(part in name for part in names)
    }
    study = open_study("try")
    content = {"study": "try", "grid": {"robot": [str(path) for path in robots.values()]}}
    work = executor(_WORKERS, timeout=study.timeout, memory=_MEMORY)
    folder, findings = sweep(Plan(study, content), out=out, executor=work, watch=_watch)
    table = findings.headline
    print(f"| {' | '.join(column.heading for column in table.columns)} |")
    print(f"|{'---|' * len(table.columns)}")
    for name, row in zip(robots, table.rows, strict=True):
        print(f"| {name} | {' | '.join(map(str, row[1:]))} |")
    print(f"\n{findings.conclusion}")
    for run in folder.rows():
        if run.message:
            print(f"- {run.case['robot']}, {run.case['engine']}, {run.case['part']}: {run.message}")


def _watch(progress: Progress) -> None:
    if progress.latest and progress.latest.message:
        case = progress.latest.task.case
        print(progress.done, case["robot"], case["engine"], case["part"],
              progress.latest.message, file=sys.stderr)  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
