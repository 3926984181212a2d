"""List the dependencies, their licences and sizes: `python docs/licences.py --write`.

What is installed is read from its own metadata; versions are those of constraints.txt.
"""

import re
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
SAID_ELSEWHERE = {"cmeel-qhull": "Qhull", "mosek": "proprietary", "xacro": "BSD-3-Clause"}
"""Packages whose metadata names none, or the whole text."""
LEVELS = (
    ("core", [None]),
    (
        "engines",
        ["dynamics", "mujoco", "bullet", "ode", "physx", "dart", "drake", "rapier", "newton"],
    ),
    ("other extras", ["data", "tables", "cluster", "export", "gym", "bench"]),
    ("development", ["dev", "docs"]),
)


def canonical(name: str) -> str:
    """Return the name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(lines: list[str]) -> set[str]:
    """Return the names that are required, markers of extras aside."""
    plain = (line for line in lines if "extra ==" not in line and "extra==" not in line)
    return {canonical(re.split(r"[\s\[<>=!~;(]", line, maxsplit=1)[0]) for line in plain}


def licence(found: Distribution) -> str:
    """Return the licence of a package in a few words."""
    name, data = canonical(found.name), found.metadata
    classes = [c.rsplit(" :: ", 1)[-1] for c in data.get_all("Classifier") or [] if "License" in c]
    text = data.get("License-Expression") or ", ".join(c for c in classes if c != "OSI Approved")
    text = text or SAID_ELSEWHERE.get(name) or (data.get("License") or "").strip()
    return re.sub(r"\s+", " ", text)[:60] or "see the package"


def project() -> dict[str, Any]:
    """Return what pyproject.toml says of the project."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)["project"]
    return found


def closure(lines: list[str]) -> dict[str, Distribution]:
    """Return the packages that are required directly or by others, as far as they are installed."""
    installed = {canonical(each.name): each for each in distributions() if each.name}
    ahead, found = sorted(requirements(lines)), {}
    while ahead:
        name = ahead.pop()
        if name not in found and name in installed and name != "kinetarium":
            found[name] = installed[name]
            ahead += requirements(installed[name].requires or [])
    return found


def megabytes(found: Distribution) -> float:
    """Return the size of a package's files, as its own list names them [MB]."""
    paths = [Path(str(each.locate())) for each in found.files or []]
    return sum(p.lstat().st_size for p in paths if p.is_file() and not p.is_symlink()) / 1e6


def licences() -> str:
    """Return a Markdown table of all dependencies that are installed, by where they come from."""
    about = project()
    lines, seen = ["| package | licence | needed by |", "|---|---|---|"], set()
    for level, groups in LEVELS:
        listed = [
            one
            for group in groups
            for one in (about["optional-dependencies"][group] if group else about["dependencies"])
        ]
        here = {name: each for name, each in closure(listed).items() if name not in seen}
        seen |= set(here)
        lines += [f"| {name} | {licence(here[name])} | {level} |" for name in sorted(here)]
    return "\n".join(lines) + "\n"


def core_size() -> float:
    """Return what the core takes on disk with all that it needs [MB]."""
    return sum(map(megabytes, closure(project()["dependencies"]).values()))


def sizes() -> str:
    """Return a Markdown table of what the core and its extras take, heaviest first."""
    about = project()
    core = closure(about["dependencies"])
    lines = ["| package, with what only it needs | MB | part of |", "|---|---|---|"]
    heavy = {}
    for line in about["dependencies"]:
        others = closure([one for one in about["dependencies"] if one != line])
        alone = sum(megabytes(core[name]) for name in core.keys() - others.keys())
        heavy[requirements([line]).pop()] = alone
    for name, size in sorted(heavy.items(), key=lambda item: -item[1])[:5]:
        lines.append(f"| {name} | {size:.0f} | core |")
    lines.append(f"| **the core** | **{sum(map(megabytes, core.values())):.0f}** | |")
    for extra in ("dynamics", "mujoco"):
        more = closure(about["optional-dependencies"][extra])
        size = sum(megabytes(more[name]) for name in more.keys() - core.keys())
        (name,) = requirements(about["optional-dependencies"][extra]) - {"kinetarium"}
        lines.append(f"| {name} | {size:.0f} | `[{extra}]` |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page with its tables made anew, or write it."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in (("sizes", sizes()), ("licences", licences())):
        head, tail = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
        before, rest = text.split(head)
        text = before + head + table + tail + rest.split(tail)[1]
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
