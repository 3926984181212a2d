"""Plug-ins of other packages that are broken in every way cost a row, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hostile.fake_package import install
from kinetarium import plugins
from kinetarium.batch import plan
from kinetarium.batch.plan import versions
from kinetarium.batch.study import StudyUnavailableError, list_studies, open_study
from kinetarium.cli.core.registry import COMMANDS, studies
from kinetarium.engines import registry
from kinetarium.engines.registry import EngineUnavailableError, open_engine
from kinetarium.plugins import discover, refused
from unit.test_studio_server import drop_folder, drop_run

MARK = "import pathlib; pathlib.Path(__file__).with_suffix('.imported').touch()\n"

GOOD_ENGINE = """
from kinetarium.engines.mujoco import EngineMujoco as Mujoco
from dataclasses import replace
class Engine(Mujoco):
    @property
    def info(self):
        return replace(super().info, name={name!r})
"""

GOOD_STUDY = """
from dataclasses import dataclass
from kinetarium.batch.study import Study
@dataclass(frozen=True, kw_only=True)
class Config:
    '''Values.

    Attributes:
        wingspan: A flag [m].
    '''
    wingspan: float = 1.0
class Mine(Study):
    name = {name!r}
    help = "a study of mine"
    title = "Mine"
    config = Config
    case = Config
    def cases(self, config): return [config]
    def run(self, case): raise NotImplementedError
    def score(self, case, recording): return []
    def report(self, outcomes): raise NotImplementedError
"""

FAILING = {
    "missing": "import a_module_that_is_not_there",
    "syntax": "def broken(:\n",
    "leaving": "import sys; sys.exit(3)",
    "leaving-well": "raise SystemExit",
    "runtime": "raise RuntimeError('first line\\nsecond \\x1b[31mline')",
    "panic": "class Panic(BaseException): pass\nraise Panic('rust')",
    "mute": "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute",
    "memory": "raise MemoryError",
    "nul": "x = '\0'",
    "latin": b"x = '\xff'",
    "empty": "",
}
"""Modules whose import fails, or that have nothing in them."""


def _info(**changes: str) -> str:
    """Write an engine that says something odd of itself."""
    fields = {"name": "'NAME'", "version": "'1'", "capabilities": "frozenset()", **changes}
    values = ", ".join(f"{name}={value}" for name, value in fields.items())
    return f"""
from kinetarium.engines.mujoco import EngineMujoco as Mujoco
from kinetarium.engines.protocol import EngineInfo
class Engine(Mujoco):
    @property
    def info(self):
        return EngineInfo(title='', friction_rule=None, {values})
"""


NO_ENGINES = {
    "no-info": "class Engine: pass",
    "none-info": "class Engine:\n    info = None",
    "not-a-class": "Engine = 3",
    "with-arguments": "class Engine:\n    def __init__(self, needed): pass",
    "other-name": _info(name="'mujoco'"),
    "odd-version": _info(version="None"),
    "odd-abilities": _info(capabilities="frozenset({'flying'})"),
    "list-abilities": _info(capabilities="[1]"),
    "no-options": _info() + "    options = None\n",
    "bare-options": "from dataclasses import dataclass\n"
    + _info()
    + "    @dataclass(frozen=True)\n    class options: pass\n",
    "no-compile": _info() + "    compile = None\n",
    "info-raises": "class Engine:\n    @property\n    def info(self): raise SystemExit(1)",
}

NO_STUDIES = {
    "no-study": "class Mine: pass",
    "function": "def Mine(): return 3",
    "unfinished": "from kinetarium.batch.study import Study\nclass Mine(Study): name = 'x'",
    "misnamed": GOOD_STUDY.format(name="drop"),
    "no-config": GOOD_STUDY.format(name="no-config").replace("config = Config", "config = dict"),
    "no-help": GOOD_STUDY.format(name="no-help").replace('help = "a study of mine"', "help = 3"),
    "no-default": GOOD_STUDY.format(name="no-default").replace("float = 1.0", "float"),
    "no-functions": GOOD_STUDY.format(name="no-functions").partition("    def cases")[0],
}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that this process finds, before those that are installed."""
    folder = tmp_path / "packages"
    folder.mkdir()
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(folder))
    forget()
    yield folder
    monkeypatch.undo()
    for name in set(sys.modules) - known:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    forget()


def forget() -> None:
    for kept in (plugins._survey, registry._available, versions, plan._run_versions):
        kept.cache_clear()


def kinetarium(*words: str, shelf: Path, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command line in a process that finds the packages, after some code."""
    script = f"import sys\n{code}\nfrom kinetarium.cli import main\nsys.exit(main(sys.argv[1:]))"
    paths = [str(shelf), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, cwd=shelf.parent,
    )  # fmt: skip


def install_engines(shelf: Path, codes: dict[str, str | bytes]) -> None:
    for name, code in codes.items():
        code = code.replace("NAME", name) if isinstance(code, str) else code
        point = f"{name} = of_{name.replace('-', '_')}:Engine"
        install(shelf, f"of-{name}", code=code, engines=point)


def install_studies(shelf: Path, codes: dict[str, str | bytes]) -> None:
    for name, code in codes.items():
        point = f"{name} = of_{name.replace('-', '_')}:Mine"
        install(shelf, f"of-{name}", code=code, studies=point)


@pytest.mark.engine
def test_every_broken_engine_is_one_row(shelf: Path) -> None:
    install_engines(shelf, {**FAILING, **NO_ENGINES})
    done = kinetarium("engines", "--json", "-", shelf=shelf)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["engines"]}
    assert rows["mujoco"]["available"]
    for name in (*FAILING, *NO_ENGINES):
        assert not rows[name]["available"] and rows[name]["reason"], name
        assert rows[name]["reason"].isprintable() and len(rows[name]["reason"]) < 400
    said = {name: rows[name]["reason"] for name in rows}
    assert "a_module_that_is_not_there" in said["missing"]
    assert "of the package of-missing" in said["missing"]
    assert "SystemExit: 3" in said["leaving"]
    assert "RuntimeError: first line second" in said["runtime"]
    assert "calls itself 'mujoco'" in said["other-name"]


@pytest.mark.engine
def test_the_table_says_why(shelf: Path) -> None:
    install_engines(shelf, {"runtime": FAILING["runtime"]})
    lines = kinetarium("engines", shelf=shelf).stdout.splitlines()
    [row] = [line for line in lines if line.startswith("runtime ")]
    assert "  not available: RuntimeError: first line" in row


@pytest.mark.parametrize("name", [*FAILING, *NO_ENGINES])
def test_a_broken_engine_that_is_asked_for_is_refused(shelf: Path, name: str) -> None:
    install_engines(shelf, {name: {**FAILING, **NO_ENGINES}[name]})
    with pytest.raises(EngineUnavailableError):
        open_engine(name)
    assert name not in registry.chosen_engines(())


@pytest.mark.parametrize("name", [*FAILING, *NO_STUDIES])
def test_a_broken_study_is_refused_and_hides_no_other(shelf: Path, name: str) -> None:
    install_studies(shelf, {name: {**FAILING, **NO_STUDIES}[name]})
    with pytest.raises(StudyUnavailableError, match=f"study '{name}' is not available: "):
        open_study(name)
    assert "drop" in {study.name for study in list_studies()}


def test_what_works_is_found_and_loaded(shelf: Path) -> None:
    install_engines(shelf, {"fine": GOOD_ENGINE.format(name="fine")})
    install_studies(shelf, {"mine": GOOD_STUDY.format(name="mine")})
    assert open_study("mine").title == "Mine"
    assert discover("kinetarium.engines")["fine"].package == "of-fine"
    assert not discover("kinetarium.engines")["fine"].own
    assert discover("kinetarium.engines")["mujoco"].own


def test_help_imports_no_other_package(shelf: Path) -> None:
    codes = {name: MARK + code for name, code in FAILING.items() if isinstance(code, str)}
    install_studies(shelf, {**codes, "mine": MARK + GOOD_STUDY.format(name="mine")})
    done = kinetarium("--help", shelf=shelf)
    assert done.returncode == 0 and done.stderr == ""
    assert [path.name for path in shelf.glob("*.imported")] == []
    assert "of-mine: What of-mine does" in done.stdout
    assert "of-syntax: What of-syntax does" in done.stdout
    kinetarium("robots", "--quiet", shelf=shelf)
    kinetarium("drop", "--help", shelf=shelf)
    assert [path.name for path in shelf.glob("*.imported")] == []
    assert "A study of mine." in kinetarium("mine", "--help", shelf=shelf).stdout


def test_help_of_our_own_studies_is_theirs() -> None:
    assert {name: command.help for name, command in studies().items() if command.own} == {
        plugin.name: plugin.load().help
        for plugin in discover("kinetarium.studies").values()
        if plugin.own
    }


def test_completion_goes_on_without_the_flags_of_broken_studies(shelf: Path) -> None:
    odd = GOOD_STUDY.format(name="odd").replace("wingspan: float = 1.0", "wingspan: object = id")
    noisy = "print('rm -rf /')\n" + GOOD_STUDY.format(name="noisy").replace("wingspan", "noise")
    fine = GOOD_STUDY.format(name="fine").replace("wingspan", "fineness")
    install_studies(shelf, {**FAILING, **NO_STUDIES, "odd": odd, "noisy": noisy, "fine": fine})
    done = kinetarium("completion", "bash", shelf=shelf)
    assert done.returncode == 0, done.stderr
    assert "--fineness" in done.stdout and "--noise" in done.stdout
    assert "--mesh-root" in done.stdout and "syntax" in done.stdout
    assert "rm -rf" not in done.stdout


HOSTILE_NAMES = [
    "$(touch x)", "`touch x`", "a b", "--help", "-h", "../up", "a/b", "'; touch x; '", '"', "a;b",
    "\x1b[31mred", "\u202ecba", "ä", "x" * 41, "*", "{study}", "<script>", ".hidden",
]  # fmt: skip


def test_hostile_names_are_refused(shelf: Path) -> None:
    points = "\n".join(f"{name} = many:Mine" for name in HOSTILE_NAMES)
    install(shelf, "many", code=MARK, engines=points, studies=points)
    for group in ("kinetarium.engines", "kinetarium.studies"):
        assert all(plugin.own for plugin in discover(group).values())
        assert len(refused(group)) == len(HOSTILE_NAMES)
        assert all(one.name.isprintable() and one.name.isascii() for one in refused(group))
    done = kinetarium("--help", shelf=shelf)
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    assert "many:--help  " in done.stdout
    done = kinetarium("completion", "bash", shelf=shelf)
    assert done.returncode == 0 and "touch x" not in done.stdout
    assert not (shelf / "many.imported").exists()


@pytest.mark.parametrize(
    "value", ["", ":", "module", "module:", ":Class", "..:Class", ".a:B", "a b:C", "1a:B", "a:b:c"]
)
def test_entry_points_that_name_nothing_are_refused(shelf: Path, value: str) -> None:
    install(shelf, "vague", engines=f"vague = {value}", studies=f"vague = {value}")
    assert "vague" not in discover("kinetarium.engines")
    assert [one.name for one in refused("kinetarium.studies")] == ["vague:vague"]
    assert versions()["kinetarium"]


def test_ours_keep_their_names(shelf: Path) -> None:
    """Whichever package comes first on the path or in the alphabet."""
    for package in ("aaa", "zzz"):
        points = f"mujoco = {package}:Mine", f"drop = {package}:Mine\nrobots = {package}:Mine"
        install(shelf, package, code=MARK, engines=points[0], studies=points[1])
    assert discover("kinetarium.engines")["mujoco"].own
    assert discover("kinetarium.studies")["drop"].own
    rows = {row.name: row for row in registry.list_engines()}
    assert rows["mujoco"].available
    assert "the package kinetarium has it already" in rows["aaa:mujoco"].reason
    assert discover("kinetarium.studies")["robots"].package == "aaa"
    assert "robots" not in studies() and "robots" in COMMANDS
    text = kinetarium("--help", shelf=shelf).stdout
    assert "aaa:robots" in text and "a command of Kinetarium has this name" in text
    assert "zzz:robots" in text and "the package aaa has it already" in text
    assert "panda" in kinetarium("robots", shelf=shelf).stdout
    assert not list(shelf.glob("*.imported"))


@pytest.mark.parametrize(
    "odd",
    [
        {"entry_points": "[kinetarium.engines]\nno equals sign\n"},
        {"entry_points": b"[kinetarium.engines]\n\xff\xfe = x:Y\n"},
        {"entry_points": b"\0\0\0"},
        {"metadata": ""},
        {"metadata": b"Name: \xff\xff\n"},
        {"metadata": "Version: 1\n", "engines": "odd = odd:Odd"},
        {"metadata": "Name: \x1b[31m\nSummary: \x1b[0m a\n  b\n", "studies": "odd = odd:Odd"},
    ],
)
def test_odd_metadata_takes_nothing_away(shelf: Path, odd: dict[str, str]) -> None:
    install(shelf, "odd", **odd)
    install_engines(shelf, {"fine": GOOD_ENGINE.format(name="fine")})
    assert {"mujoco", "fine"} <= set(discover("kinetarium.engines"))
    assert "drop" in discover("kinetarium.studies")
    assert versions()["kinetarium"]
    done = kinetarium("--help", shelf=shelf)
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout


def test_the_parts_of_python_are_no_plug_ins(shelf: Path) -> None:
    install(shelf, "odd", engines="built-in = sys:Engine\nfrozen = zipimport:Engine")
    assert versions()["kinetarium"]
    with pytest.raises(EngineUnavailableError, match="has no attribute 'Engine'"):
        open_engine("built-in")


@pytest.mark.engine
def test_conformance_judges_the_others(shelf: Path) -> None:
    leaving = GOOD_ENGINE.format(name="quitter") + (
        "    def compile(self, scene, **named): raise SystemExit(0)\n"
    )
    install_engines(shelf, {**FAILING, **NO_ENGINES, "quitter": leaving})
    few = "import kinetarium.engines.conformance as kit; kit.CHECKS = kit.CHECKS[:1]"
    done = kinetarium("conformance", "--json", "-", shelf=shelf, code=few)
    rows = json.loads(done.stdout)["rows"]
    assert {row["engine"]: row["passed"] for row in rows if row["engine"] in ("mujoco", "quitter")}
    assert done.returncode == 1 and not any(row["engine"] in FAILING for row in rows)
    assert [row["passed"] for row in rows if row["engine"] == "quitter"] == [False]
    assert [row["passed"] for row in rows if row["engine"] == "mujoco"] == [True]


@pytest.mark.engine
def test_all_installed_engines_are_those_that_work(shelf: Path, tmp_path: Path) -> None:
    install_engines(shelf, {**FAILING, **NO_ENGINES})
    install_studies(shelf, {"quits": FAILING["leaving"]})
    # Two of ours are enough; which is left to the registry, as the broken ones are.
    kept = "mujoco ode"
    code = (
        "from kinetarium import plugins\n"
        "found = plugins._survey('kinetarium.engines')[0]\n"
        f"[found.pop(n) for n in list(found) if found[n].own and n not in {kept.split()!r}]"
    )
    words = ["--timestep", "0.01", "--duration", "1", "--workers", "1", "--json", "-"]
    done = kinetarium("drop", "--out", "drop", *words, shelf=shelf, code=code)
    assert done.returncode == 0, done.stderr
    assert {row["engine"] for row in json.loads(done.stdout)["rows"]} == set(kept.split())
    assert kinetarium("report", "drop", shelf=shelf).returncode == 0
    config = tmp_path / "drop" / "config.toml"
    config.write_text(config.read_text().replace('study = "drop"', 'study = "quits"'))
    (tmp_path / "drop" / "checksums.json").unlink()
    done = kinetarium("report", "drop", shelf=shelf)
    assert done.returncode == 2 and "study 'quits' is not available" in done.stderr


def test_a_folder_of_a_broken_study_is_still_listed(shelf: Path, tmp_path: Path) -> None:
    from kinetarium.studio.results import ResultTree

    install_studies(shelf, {"leaving": FAILING["leaving"]})
    results = tmp_path / "results"
    drop_folder(results / "fine", [drop_run("a")])
    broken = drop_folder(results / "broken", [drop_run("a")])
    config = (broken / "config.toml").read_text().replace("drop", "leaving")
    (broken / "config.toml").write_text(config)
    (broken / "checksums.json").unlink()
    done = kinetarium("resume", str(broken), shelf=shelf)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "study 'leaving' is not available: it ends the program" in done.stderr
    titles = {
        folder["name"]: folder.get("title") for folder in ResultTree(results).listing()["folders"]
    }
    assert titles == {"fine": "Drop test", "broken": "leaving"}


def test_a_study_that_ends_the_program_is_a_failure(shelf: Path) -> None:
    quitter = GOOD_STUDY.format(name="quitter").replace("return [config]", "raise SystemExit(0)")
    install_studies(shelf, {"quitter": quitter})
    done = kinetarium("quitter", shelf=shelf)
    assert done.returncode == 2
    assert done.stderr == "kinetarium: 'quitter' called exit (SystemExit: 0)\n"
