"""Plan: which cases of a study to run, from a config or from lists of values."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution, requires
from importlib.resources import files
from math import prod
from pathlib import Path
from platform import machine, platform, python_version
from types import MappingProxyType
from typing import Any

from kinetarium.batch.axes import BLOCKS, MOST_POINTS, PlanError, Point, points, table, with_point
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
_VERSION = re.compile(r"^Version:(.*)$", re.MULTILINE | re.IGNORECASE)
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
    # An engine may have options: "mujoco:iterations=20".
    engines = discover(ENGINES).keys() & {text.partition(":")[0] for text in _texts(case)}
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
    # `importlib.metadata.version` parses the whole description, a millisecond for each package.
    try:
        found = distribution(package)
        text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    except (PackageNotFoundError, ValueError, KeyError):  # unreadable metadata
        return ""
    line = _VERSION.search(text.partition("\n\n")[0])
    return line[1].strip() if line else ""


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


SWEEP = "sweep"
_ENTRIES = ("study", "config", "case", *BLOCKS, SWEEP)


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases to run.

    Attributes:
        study: The study.
        content: The plan as JSON data, as in config.toml: "study"; "config", the values that
            all cases share; "case", a list of values of single cases; "grid", lists of
            values that are combined with each other and with every "case"; "zip", lists that
            are paired; "random" and "latin", distributions that are sampled (`axes.py`); "sweep",
            if the report is that of a sweep, what it shows.
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
        return cls.of_content(read_toml(file), where=f"'{file}'")

    @classmethod
    def of_content(cls, content: Mapping[str, Any], *, where: str = "the plan") -> "Plan":
        """Return a plan from the content of its file.

        Raises:
            KinetariumError: If it is invalid.
        """
        for entry in content:
            if entry not in _ENTRIES:
                raise UnknownNameError(f"entry of {where}", entry, known=_ENTRIES)
        if not isinstance(content.get("study"), str):
            raise PlanError(f'{where} has no study; its first line should be: study = "NAME"')
        plan = cls(open_study(content["study"]), content)
        plan.configs()
        return plan

    def as_sweep(self) -> "Plan":
        """Return the plan with the report of a sweep."""
        return Plan(self.study, {**self.content, SWEEP: table(self.content, SWEEP)})

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
        return tuple(config for _, config in self._pairs())

    @property
    def is_sweep(self) -> bool:
        """Whether its report is that of a sweep."""
        return SWEEP in self.content

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of everything that is varied."""
        return tuple(dict.fromkeys(name for point, _ in self._pairs() for name in point))

    def tasks(self) -> tuple[Task, ...]:
        """Return a task for every case, without duplicates.

        Raises:
            KinetariumError: If a config is invalid, or an engine or robot is not available.
        """
        return tuple(task for task, _ in self.varied_tasks())

    def varied_tasks(self) -> tuple[tuple[Task, Point], ...]:
        """Return a task for every case, without duplicates, and the values that were varied.

        An axis on which a case does not depend, such as an option of another engine, has None.

        Raises:
            KinetariumError: If a config is invalid, or an engine or robot is not available.
        """
        study = self.study
        kind = f"{type(study).__module__}:{type(study).__qualname__}"
        found: dict[str, tuple[Task, dict[str, Any]]] = {}
        for point, config in self._pairs():
            _refuse_many(config)
            for case in study.cases(config):
                plain = to_builtins(case)
                key = case_key(study, plain)
                _, varied = found.setdefault(key, (Task(key, study.name, kind, plain), {**point}))
                varied |= {name: None for name in varied if varied[name] != point.get(name)}
            if len(found) > MOST_POINTS:
                raise PlanError(f"more than {MOST_POINTS} cases")
        if not found:
            raise PlanError(f"the study '{study.name}' has no cases for this config")
        _refuse_idle([point for _, point in found.values()])
        return tuple(found.values())

    def _pairs(self) -> list[tuple[Point, Any]]:
        """Return every point and its config; a case of its own is a part of the point."""
        shared = table(self.content, "config")
        cases = self.content.get("case", [{}])
        if not isinstance(cases, list) or not all(isinstance(case, Mapping) for case in cases):
            raise PlanError("'case' must be a list of tables: [[case]]")
        sampled = points(self.content, self.study.config)
        for name in sampled[0]:
            if any(name in case for case in cases):
                raise PlanError(f"'{name}' is varied twice: by an axis and in [[case]]")
        if len(cases) * len(sampled) > MOST_POINTS:
            raise PlanError(f"more than {MOST_POINTS} configs")
        return [
            ({**case, **point}, self._config({**shared, **case}, point))
            for case in cases
            for point in sampled
        ]

    def _config(self, given: Mapping[str, Any], point: Point) -> Any:
        kind = self.study.config
        values = with_point(kind, given, point)
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
    if prod(lengths) > MOST_POINTS:
        raise PlanError(f"more than {MOST_POINTS} cases")


def _refuse_idle(points: Sequence[Point]) -> None:
    """Refuse options of engines that no case uses."""
    for name in points[0]:
        if "." in name and all(point.get(name) is None for point in points):
            raise PlanError(f"'{name}' is varied, but no case depends on it")


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
