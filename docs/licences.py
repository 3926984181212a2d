"""List the licences of all dependencies: `python docs/licences.py --write` rewrites licences.md.

What is installed is read from its own metadata; versions are those of constraints.txt.
"""

import re
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
MARKS = "<!-- begin licences -->\n", "<!-- end licences -->"
SAID_ELSEWHERE = {"cmeel-qhull": "Qhull", "mosek": "proprietary", "xacro": "BSD-3-Clause"}
"""Packages whose metadata names none, or the whole text."""
LEVELS = (
    ("core", [None]),
    ("engines", ["bullet", "ode", "physx", "dart", "drake", "rapier", "newton"]),
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


def table() -> str:
    """Return a Markdown table of all dependencies that are installed, by where they come from."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    installed = {canonical(each.name): each for each in distributions() if each.name}
    lines, seen = ["| package | licence | needed by |", "|---|---|---|"], {"kinetarium"}
    for level, groups in LEVELS:
        listed = [
            one for g in groups for one in (extras.get(g, []) if g else project["dependencies"])
        ]
        ahead, here = sorted(requirements(listed)), []
        while ahead:
            name = ahead.pop()
            if name not in seen and name in installed:
                seen.add(name)
                here.append(name)
                ahead += requirements(installed[name].requires or [])
        lines += [f"| {name} | {licence(installed[name])} | {level} |" for name in sorted(here)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        head, tail = MARKS
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(head)
        PAGE.write_text(before + head + table() + tail + rest.split(tail)[1], encoding="utf-8")
    else:
        print(table(), end="")
