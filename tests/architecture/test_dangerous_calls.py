"""Nothing that could run what a user's file says: found by reading every call and import."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "kinetarium"

MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
CALLS = {"eval", "exec", "compile", "__import__"}
ATTRIBUTES = {
    ("yaml", "load"), ("yaml", "unsafe_load"), ("yaml", "full_load"), ("os", "system"),
    ("os", "popen"), ("subprocess", "getoutput"), ("subprocess", "getstatusoutput"),
}  # fmt: skip


def dangers(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (n.name for n in names if n.name.split(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in MODULES:
                yield module
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield name
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if (owner, name) in ATTRIBUTES:
                yield f"{owner}.{name}"
            case ast.keyword(arg="shell" | "allow_pickle" as name, value=value):
                if not (isinstance(value, ast.Constant) and value.value is False):
                    yield f"{name}="
            case ast.Call(func=ast.Attribute(attr="load", value=ast.Name(id="np" | "numpy"))):
                if not any(keyword.arg == "allow_pickle" for keyword in node.keywords):
                    yield "np.load without allow_pickle=False"


def test_no_module_runs_what_a_file_says() -> None:
    found = {
        f"{path.relative_to(SOURCE)}: {danger}"
        for path in SOURCE.rglob("*.py")
        for danger in dangers(path.read_text("utf-8"))
    }
    assert found == set()


@pytest.mark.parametrize(
    "line",
    [
        "import pickle", "from pickle import loads", "import cloudpickle as c", "eval('1')",
        "exec(text)", "compile(a, b, 'exec')", "yaml.load(file)", "os.system('ls')",
        "subprocess.run('ls', shell=True)", "subprocess.run('ls', shell=flag)",
        "np.load(path, allow_pickle=True)", "np.load(path)", "import joblib",
    ],
)  # fmt: skip
def test_the_scan_sees(line: str) -> None:
    assert list(dangers(line))


@pytest.mark.parametrize(
    "line", ["re.compile('a')", "np.load(p, allow_pickle=False)", "engine.compile(s)"]
)
def test_the_scan_lets_pass(line: str) -> None:
    assert not list(dangers(line))
