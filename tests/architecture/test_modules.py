"""The shape of the source tree: rooms of a readable size, no cycles, plain words."""

import ast
import re
from statistics import median

from source_tree import FILES, ROOT, SOURCE, import_graph, tree

MODULES = [path for path in FILES if path.name != "__init__.py"]
LENGTHS = {module: len(module.read_text(encoding="utf-8").splitlines()) for module in FILES}
TEXTS = [*FILES, *SOURCE.rglob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]

BANNED = (
    "polite kill", "mended", "gone on with", "held against", "is none of the valid",
    "machine code is loaded by the first", "slip of the pen", "goes on with", "sums up",
    "summed up",
    "enjoys", "those who watch", "last words", "lets pass", "said once", "for want of",
    "nobody knows", "worked out", "told apart", "tell apart", "compiled anew", "put right",
    "back-end", "cannot be had", "unhindered", "the crew", "led astray", "way-point", "way-points",
    "what became of", "comes of it", "what it makes of", "and the like", "gets ready", "re-shelved",
    "goes on", "go on", "hangs on a", "hang on a", "hangs on each", "may touch whom",
    "who meets whom", "as it comes", "anew", "taken for", "takes for", "nobody", "so many",
    "at any cost", "once more", "makes no sense", "say what", "say where", "what stands around",
    "stands best", "a base may stand", "ways to choose", "is as it was written",
)  # fmt: skip
"""Phrases that only we used; the field says SIGTERM, repaired, resumed, compared with."""


def test_modules_stay_small() -> None:
    assert {str(m) for m, length in LENGTHS.items() if length > 600} == set()
    assert 120 <= median(LENGTHS[module] for module in MODULES) <= 240


def test_the_tree_stays_surveyable() -> None:
    assert len(MODULES) <= 460  # 380, 60 for picking, sweeps and exports, 20 for the live room
    folders = {path.parent for path in MODULES}
    crowded = {str(f) for f in folders if sum(path.parent == f for path in MODULES) > 15}
    assert crowded == set()


def test_names_explain_themselves() -> None:
    empty = {"utils.py", "util.py", "helpers.py", "helper.py", "common.py", "misc.py", "manager.py"}
    assert empty.isdisjoint(module.name for module in FILES)


def test_docstrings_begin_with_verbs_of_the_field() -> None:
    found = []
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if (ast.get_docstring(node) or "").startswith(
                    ("Give", "Tell whether", "Say whether", "Return back")
                ):
                    found.append(f"{path}:{node.lineno}")
    assert found == []


def test_plain_words() -> None:
    phrases = "|".join(BANNED).replace(" ", r"\s+")  # a phrase may continue on the next line
    pattern = re.compile(rf"\b({phrases})\b", re.IGNORECASE)
    found = []
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {match[0]!r}")
    assert found == []


def test_no_import_cycles() -> None:
    """No cycle, also not through imports within functions."""
    graph = import_graph()
    state: dict[str, int] = {}

    def visit(module: str, way: tuple[str, ...]) -> None:
        state[module] = 1
        for other in sorted(graph[module]):
            assert state.get(other) != 1, " -> ".join((*way, module, other))
            if other not in state:
                visit(other, (*way, module))
        state[module] = 2

    for module in graph:
        if module not in state:
            visit(module, ())


READING = {
    "a contact force in ODE": 6, "a docking tick": 8, "a base placement": 9, "one chart": 9,
    "a walk": 9,
}  # fmt: skip
"""Maximum number of files to open in order to understand a feature."""


def test_a_feature_is_read_in_few_files() -> None:
    """The reading lists of DEVELOPMENT.md: few existing files, linked by imports."""
    text = (ROOT / "DEVELOPMENT.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|`]+) \| (`[^|]+) \|$", text.split("## Where to read")[1], re.M)
    lists = {feature: re.findall(r"`([^`]+)`", files) for feature, files in rows}
    assert lists.keys() >= READING.keys()
    graph = import_graph()
    for feature, most in READING.items():
        paths = [SOURCE / file for file in lists[feature]]
        assert [path for path in paths if not path.is_file()] == [], feature
        assert len(set(paths)) == len(paths) <= most, feature
        names = {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in paths}
        linked = {name for name in names if graph[name] & names}
        linked |= {other for name in names for other in graph[name] & names}
        assert names - linked == set(), feature


def test_gravity_is_defined_once() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and node.value == 9.81
    }
    assert found == {"spatial/gravity.py"}
