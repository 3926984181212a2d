"""Release files: versions agree, dependencies have a licence, workflows and templates are valid."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import yaml

import kinetarium

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def names(lines: list[str]) -> set[str]:
    return {re.split(r"[\s\[<>=!~;]", line, maxsplit=1)[0].lower() for line in lines}


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert PROJECT["version"] == kinetarium.__version__ == citation["version"]
    assert f"\n## {kinetarium.__version__}\n" in changes


def test_every_dependency_is_pinned_by_name_and_version_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    form = r"[A-Za-z0-9._-]+==[\w.]+( ; python_version < '3\.\d+')?"
    assert [pin for pin in pins if not re.fullmatch(form, pin)] == []
    wanted = names([one for each in [PROJECT["dependencies"], *EXTRAS.values()] for one in each])
    assert wanted - {"kinetarium"} - {pin.split("==")[0].lower() for pin in pins} == set()


def test_every_dependency_has_its_licence_in_the_docs() -> None:
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\| ([\w.-]+) \| [^|]+ \| [^|]+ \|$", page, re.MULTILINE))
    # Newton and OMPL have environments of their own, Drake brings Mosek.
    apart = {"kinetarium", "newton", "mujoco-warp", "warp-lang", "ompl"}
    listed = [PROJECT["dependencies"], *EXTRAS.values()]
    assert names([one for each in listed for one in each]) - apart - shown == set()
    assert "Mosek" in page


def test_the_core_takes_less_than_700_megabytes() -> None:
    """By the packages' own lists of files; engines and Pinocchio are extras."""
    where = spec_from_file_location("licences", ROOT / "docs" / "licences.py")
    assert where and where.loader
    licences = module_from_spec(where)
    where.loader.exec_module(licences)
    core = licences.closure(PROJECT["dependencies"])
    assert {"numpy", "scipy", "numba", "plotly"} <= core.keys()
    assert core.keys().isdisjoint({"pin", "mujoco"})
    assert 400 < licences.core_size() < 700


def test_the_workflow_tests_every_version_that_is_promised() -> None:
    text = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    promised = [c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if ":: Python :: 3." in c]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == promised
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["runs-on"] and job["timeout-minutes"]
        for step in job["steps"]:
            assert len({"uses", "run"} & step.keys()) == 1
            assert step.keys() <= {"uses", "run", "name", "with", "if"}
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/none@v1"))
    targets = re.findall(r"\bmake (?:\w+=\S+ )*(\w+)", text)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets and all(f"\n{target}:" in makefile for target in targets)


def test_templates_and_hooks_are_valid() -> None:
    for form in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")):
        content = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert content.keys() >= {"name", "description", "body"}
        for part in content["body"]:
            assert part["type"] == "textarea" and part["attributes"]["label"], form
    for file in (".pre-commit-config.yaml", ".pre-commit-hooks.yaml"):
        content = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
        hooks = content["repos"][0]["hooks"] if isinstance(content, dict) else content
        assert all(hook.keys() >= {"id", "name", "entry", "language"} for hook in hooks)


def test_llms_txt_links_to_what_there_is() -> None:
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# Kinetarium\n\n> ")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 10 and all((ROOT / link).is_file() for link in links)
