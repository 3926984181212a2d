"""Plan: which cases of a study to run; a config, or lists of values that make many."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from itertools import product
from math import prod
from pathlib import Path
from platform import machine, platform, python_version
from typing import Any

from kinetarium.batch.study import Study, open_study
from kinetarium.batch.worker import Task
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.plugins import discover
from kinetarium.storage.serialization import from_builtins, read_toml, to_builtins
from kinetarium.storage.strict_json import strict_json

_PACKAGES = (
    "kinetarium", "numpy", "numba", "pin", "mujoco", "pybullet", "dartpy", "sapien", "drake",
    "example-robot-data",
)  # fmt: skip

_NOT_IN_RESULTS = frozenset({"cli", "figure", "report", "studio", "export"})
"""Packages that show results and cannot change them."""


@cache
def versions() -> dict[str, str]:
    """Return the version of everything that can change a result, by name.

    Besides the packages there are Python and the machine's kind, the packages
    of plug-ins, and "source", a digest of our own code.
    """
    plugins = [*discover("kinetarium.engines").values(), *discover("kinetarium.studies").values()]
    names = {*_PACKAGES, *(plugin.package for plugin in plugins)}
    found = {name: number for name in sorted(names) if (number := _version(name))}
    sources = {
        f"source of {plugin.module}": _plugin_digest(plugin.module)
        for plugin in plugins
        if not plugin.module.startswith("kinetarium.")
    }
    own = {"python": python_version(), "machine": machine(), "source": _source_digest()}
    return {**found, **own, **sources}


def environment(command: str, *, seed: int) -> dict[str, Any]:
    """Return how a result is made, for environment.json.

    Args:
        command: The command, without what does not change the result.
        seed: The seed of everything random.
    """
    return {
        "command": command,
        "seed": seed,
        "versions": versions(),
        "platform": platform(terse=True),
        "git_hash": _git_hash(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except (PackageNotFoundError, ValueError, KeyError):  # metadata that cannot be read
        return ""


def _source_digest() -> str:
    digest = sha256()
    for name, content in _sources(files("kinetarium"), ""):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _plugin_digest(module: str) -> str:
    """Digest the package that a plug-in is in, for its code may change under one version."""
    try:
        spec = find_spec(module.partition(".")[0])
    except (ImportError, ValueError):  # a module that says nothing of itself
        spec = None
    places = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    paths = [path for place in places for path in sorted(place.rglob("*.py"))]
    if spec and spec.origin and not paths:
        paths = [Path(spec.origin)]
    sources = (path.read_bytes() for path in paths if path.is_file())
    return sha256(b"\0".join(sources)).hexdigest()[:16]


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        name = f"{prefix}{item.name}"
        if item.is_dir():
            if name not in _NOT_IN_RESULTS and item.name != "__pycache__":
                found.extend(_sources(item, f"{name}/"))
        elif name.endswith((".py", ".urdf", ".toml")):
            found.append((name, item.read_bytes()))
    return found


def _git_hash() -> str:
    """Return the commit of our own source tree; empty where it is not a checkout of ours."""
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
"""More is a slip of the pen; a hundred thousand run folders are the most a file system enjoys."""


class PlanError(KinetariumError):
    """A plan that cannot be followed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which cases to run.

    Attributes:
        study: The study.
        content: The plan as plain data, as config.toml holds it: "study"; "config", the
            values that all cases share; "case", a list of values that differ, one
            after the other; "grid", lists of values that are combined with each other
            and with every "case".
    """

    study: Study[Any, Any]
    content: Mapping[str, Any]

    @classmethod
    def of(cls, study: Study[Any, Any], config: Any) -> "Plan":
        """Plan the cases of one config."""
        return cls(study, {"study": study.name, "config": to_builtins(config)})

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read a plan from a TOML file, or from the folder of a batch.

        Raises:
            KinetariumError: If there is none, or it does not fit the study.
        """
        file = path / "config.toml" if path.is_dir() else path
        content = read_toml(file)
        for entry in content:
            if entry not in _ENTRIES:
                raise UnknownNameError(f"entry of '{file}'", entry, known=_ENTRIES)
        if not isinstance(content.get("study"), str):
            raise PlanError(f"'{file}' names no study; its first line should be: study = \"NAME\"")
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
            KinetariumError: If a value does not fit the study's config.
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
        """Return a task for every case, each once.

        Raises:
            KinetariumError: If a config asks for something that is not there.
        """
        study = self.study
        kind = f"{type(study).__module__}:{type(study).__qualname__}"
        tasks: dict[str, Task] = {}
        for config in self.configs():
            _refuse_many(config)
            for case in study.cases(config):
                plain = to_builtins(case)
                key = case_key(study.name, plain)
                tasks.setdefault(key, Task(key, study.name, kind, plain))
            if len(tasks) > _MOST_CASES:
                raise PlanError(f"more than {_MOST_CASES} cases")
        if not tasks:
            raise PlanError(f"the study '{study.name}' has no case for this config")
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
    """Refuse a config whose lists make more cases than a folder holds, before they are made."""
    lists = (getattr(config, field.name) for field in fields(config))
    lengths = (len(set(values)) for values in lists if isinstance(values, tuple) and values)
    if prod(lengths) > _MOST_CASES:
        raise PlanError(f"more than {_MOST_CASES} cases")


def case_key(study: str, case: Mapping[str, Any]) -> str:
    """Name a case and everything its result depends on by a digest of 20 characters.

    Args:
        study: The study's name.
        case: The case as plain data.
    """
    content = {"study": study, "case": dict(sorted(case.items())), "versions": versions()}
    return sha256(strict_json(content, indent=None).encode()).hexdigest()[:20]


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise PlanError(f"'{name}' must be a table: [{name}]")
    return table
