"""Plan: which cases of a study to run, from a config or from lists of values."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from platform import machine, platform, python_version
from types import MappingProxyType
from typing import Any

from kinetarium.batch.study import GROUP as STUDIES
from kinetarium.batch.study import Study, open_study, run_modules
from kinetarium.batch.worker import Task
from kinetarium.engines.registry import GROUP as ENGINES
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.import_closure import module_closure
from kinetarium.plugins import OWN_PACKAGE, discover
from kinetarium.storage.serialization import from_builtins, read_toml, to_builtins
from kinetarium.storage.strict_json import strict_json

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_FOR_DEVELOPMENT = re.compile(r"extra\s*==\s*['\"](dev|test|tests|docs)['\"]")
_DISTRIBUTIONS = {"pinocchio": "pin", "pydrake": "drake"}
"""Distributions whose name differs from their import name."""
_ROBOT_READER = "kinetarium/model/load.py"
"""The module through which runs read robots of the catalogue."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of all packages that Kinetarium uses, by name.

    These are Python, the platform, our package and those of plug-ins, and their requirements.
    """
    plugins = [*discover(ENGINES).values(), *discover(STUDIES).values()]
    packages = {OWN_PACKAGE, *(plugin.package for plugin in plugins)}
    names = packages.union(*map(_required, packages))
    found = {name: number for name in sorted(names) if (number := _version(name))}
    return {**found, "python": python_version(), "machine": machine()}


def run_versions(study: Study[Any, Any], case: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the versions of everything that the run of a case depends on, by name.

    These are Python, the platform, the libraries of the engines that the case names, a digest of
    the code of the study and of each engine (`import_closure.py`), one of the robots of the
    catalogue if that code reads them, and the other packages that it imports.

    Args:
        case: The case as JSON data.
    """
    engines = discover(ENGINES).keys() & set(_texts(case))
    return _run_versions(study.name, run_modules(study), frozenset(engines))


@cache
def _run_versions(
    study: str, modules: tuple[str, ...], engines: frozenset[str]
) -> Mapping[str, str]:
    plugins = {name: discover(ENGINES)[name] for name in sorted(engines)}
    closures = {f"source of study {study}": module_closure(modules)}
    for name, plugin in plugins.items():
        closures[f"source of engine {name}"] = module_closure([plugin.module])
    found = {name: closure.digest[:16] for name, closure in closures.items()}
    packages = frozenset[str]().union(*(closure.packages for closure in closures.values()))
    for package in sorted(_DISTRIBUTIONS.get(name, name) for name in packages):
        if number := _version(package):
            found[package] = number
    if any(_ROBOT_READER in closure.files for closure in closures.values()):
        found["robots"] = _robots_digest()
    found |= {name: _library_version(name) for name in plugins}
    return MappingProxyType({**found, "python": python_version(), "machine": machine()})


def environment(
    command: str, *, seed: int, needed: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the provenance of a result, for environment.json.

    Args:
        command: The command, without flags that do not change the result.
        seed: The seed of all random numbers.
        needed: Versions of what the runs depend on, added to those of all installed packages.
    """
    return {
        "command": command,
        "seed": seed,
        "versions": {**versions(), **needed},
        "platform": platform(terse=True),
        "git_hash": _git_hash(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except (PackageNotFoundError, ValueError, KeyError):  # unreadable metadata
        return ""


def _required(package: str) -> set[str]:
    """Return the requirements of a package, without those for development."""
    try:
        lines = requires(package) or ()
    except (PackageNotFoundError, ValueError, KeyError):
        return set()
    found = (_NAME.match(line) for line in lines if not _FOR_DEVELOPMENT.search(line))
    return {name[0] for name in found if name}


def _library_version(engine: str) -> str:
    try:
        return open_engine(engine).info.version
    except KinetariumError:
        return "not available"


def _robots_digest() -> str:
    digest = sha256()
    for file in sorted((files("kinetarium") / "robots").iterdir(), key=lambda file: file.name):
        if file.name.endswith((".urdf", ".toml")):
            content = file.read_bytes()
            digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def _git_hash() -> str:
    """Return the commit of our source tree; empty if it is not a git checkout."""
    source = Path(__file__).parents[2]
    if not (source.parent / ".git").exists():
        return ""
    try:
        words = ["git", "-C", str(source), "rev-parse", "HEAD"]
        return subprocess.run(words, capture_output=True, text=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


_ENTRIES = ("study", "config", "grid", "case")

_MOST_CASES = 100_000
"""More is a typo; file systems handle up to about a hundred thousand run folders well."""


class PlanError(KinetariumError):
    """An invalid plan."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases to run.

    Attributes:
        study: The study.
        content: The plan as JSON data, as in config.toml: "study"; "config", the values that
            all cases share; "case", a list of values of single cases; "grid", lists of
            values that are combined with each other and with every "case".
    """

    study: Study[Any, Any]
    content: Mapping[str, Any]

    @classmethod
    def of(cls, study: Study[Any, Any], config: Any) -> "Plan":
        """Return the plan of one config."""
        return cls(study, {"study": study.name, "config": to_builtins(config)})

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read a plan from a TOML file, or from a result folder.

        Raises:
            KinetariumError: If it is missing or invalid.
        """
        file = path / "config.toml" if path.is_dir() else path
        content = read_toml(file)
        for entry in content:
            if entry not in _ENTRIES:
                raise UnknownNameError(f"entry of '{file}'", entry, known=_ENTRIES)
        if not isinstance(content.get("study"), str):
            raise PlanError(f"'{file}' has no study; its first line should be: study = \"NAME\"")
        plan = cls(open_study(content["study"]), content)
        plan.configs()
        return plan

    @property
    def single(self) -> Any:
        """The one config of a plan that is not a batch.

        Raises:
            PlanError: If there are several.
        """
        configs = self.configs()
        if len(configs) != 1:
            raise PlanError(
                f"this is a batch of {len(configs)} configs; run it with: kinetarium batch"
            )
        return configs[0]

    def configs(self) -> tuple[Any, ...]:
        """Return every config of the plan.

        Raises:
            KinetariumError: If a value is invalid for the study's config.
        """
        shared = _table(self.content, "config")
        cases = self.content.get("case", [{}])
        if not isinstance(cases, list) or not all(isinstance(case, Mapping) for case in cases):
            raise PlanError("'case' must be a list of tables: [[case]]")
        grid = _table(self.content, "grid")
        for name, values in grid.items():
            if not isinstance(values, list) or not values:
                raise PlanError(f"'grid.{name}' must be a list of values")
        count = len(cases) * prod(map(len, grid.values()))
        if count > _MOST_CASES:
            raise PlanError(f"more than {_MOST_CASES} configs")
        points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return tuple(
            self._config({**shared, **case, **point}) for case in cases for point in points
        )

    def tasks(self) -> tuple[Task, ...]:
        """Return a task for every case, without duplicates.

        Raises:
            KinetariumError: If a config is invalid, or an engine or robot is not available.
        """
        study = self.study
        kind = f"{type(study).__module__}:{type(study).__qualname__}"
        tasks: dict[str, Task] = {}
        for config in self.configs():
            _refuse_many(config)
            for case in study.cases(config):
                plain = to_builtins(case)
                key = case_key(study, plain)
                tasks.setdefault(key, Task(key, study.name, kind, plain))
            if len(tasks) > _MOST_CASES:
                raise PlanError(f"more than {_MOST_CASES} cases")
        if not tasks:
            raise PlanError(f"the study '{study.name}' has no cases for this config")
        return tuple(tasks.values())

    def _config(self, values: Mapping[str, Any]) -> Any:
        kind = self.study.config
        several = {field.name for field in fields(kind) if isinstance(field.default, tuple)}
        lists = {
            name: [value] if name in several and not isinstance(value, list) else value
            for name, value in values.items()
        }
        return from_builtins(kind, lists, where=f"the config of '{self.study.name}'")


def _refuse_many(config: Any) -> None:
    """Refuse a config with too many combinations, before its cases are created."""
    lists = (getattr(config, field.name) for field in fields(config))
    lengths = (len(set(values)) for values in lists if isinstance(values, tuple) and values)
    if prod(lengths) > _MOST_CASES:
        raise PlanError(f"more than {_MOST_CASES} cases")


def case_key(study: Study[Any, Any], case: Mapping[str, Any]) -> str:
    """Return a digest of 20 characters of a case and everything its result depends on.

    Args:
        case: The case as JSON data.
    """
    content = {
        "study": study.name,
        "case": dict(sorted(case.items())),
        "versions": dict(run_versions(study, case)),
    }
    return sha256(strict_json(content, indent=None).encode()).hexdigest()[:20]


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise PlanError(f"'{name}' must be a table: [{name}]")
    return table
