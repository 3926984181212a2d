"""Forms of studies: the fields of a config with their units, defaults, choices and ranges."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import EnumMeta
from functools import cache
from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from kinetarium.batch.study import Study, list_studies
from kinetarium.model.load import catalogue_names
from kinetarium.ranges import declared_range
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studio.http import HttpError

_PLAIN = {bool: "flag", int: "integer", float: "number", str: "text"}
_ENTRY = re.compile(r"(\w+): (.*)")
_UNIT = re.compile(r"\[([^\]]+)\]")
_RARE = frozenset(
    {"mesh_root", "xacro_arg", "root", "allow_missing_mesh", "allow_missing_limit",
     "allow_massless", "allow_bad_inertia", "lenient", "roles", "srdf", "tool", "base"}
)  # fmt: skip
"""Fields of `RoleOptions`, which every study of robots has; a page shows them last."""


@cache
def study_forms() -> tuple[dict[str, Any], ...]:
    """Return the forms of all studies, as JSON data."""
    return tuple(
        {
            "name": study.name,
            "title": study.title,
            "help": study.help,
            "fields": form_fields(study.config),
        }
        for study in list_studies()
    )


def form_fields(config: type) -> list[dict[str, Any]]:
    """Return the fields of a config, as JSON data.

    Each has a "name", a "kind" (flag, integer, number, text, choice, or any data), whether it is a
    "list" and of which "length", whether it may be "empty", its "default", "unit", "least" and
    "most", "also", "choices", "help", and whether it is "rare".
    """
    hints, texts = get_type_hints(config, include_extras=True), attribute_texts(config)
    defaults = to_builtins(config())
    return [
        {
            "name": field.name,
            **_kind(hints[field.name]),
            **_limits(hints[field.name]),
            "default": defaults[field.name],
            "help": texts.get(field.name, ""),
            "unit": _unit(hints[field.name], texts.get(field.name, "")),
            "rare": field.name in _RARE,
            "suggestions": list(catalogue_names()) if field.name == "robot" else [],
        }
        for field in fields(config)
    ]


def attribute_texts(kind: type) -> dict[str, str]:
    """Return what the docstrings of a class and its bases say of their attributes."""
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        _, _, listed = cleandoc(base.__doc__ or "").partition("Attributes:\n")
        name = ""
        for line in listed.splitlines():
            entry = _ENTRY.fullmatch(line.strip())
            if entry and len(line) - len(line.lstrip()) == 4:
                name = entry[1]
                texts[name] = entry[2]
            elif line.strip() and name:
                texts[name] += f" {line.strip()}"
            elif not line.strip():
                break
    return texts


def _kind(hint: Any) -> dict[str, Any]:
    """Return kind, choices, and whether a field is a list or may be empty."""
    if get_origin(hint) is Annotated:
        return _kind(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        others = [part for part in get_args(hint) if part is not NoneType]
        return {**(_kind(others[0]) if len(others) == 1 else _plain("data", [])), "empty": True}
    if get_origin(hint) is tuple:
        kinds = get_args(hint)
        length = None if kinds[-1] is ... else len(kinds)
        return {**_kind(kinds[0]), "list": True, "length": length}
    if get_origin(hint) is Literal:
        return _plain("choice", list(get_args(hint)))
    if isinstance(hint, EnumMeta):
        members: Any = hint
        return _plain("choice", [str(member.value) for member in members])
    return _plain(_PLAIN.get(hint, "data"), [])


def _plain(kind: str, choices: list[str]) -> dict[str, Any]:
    return {"kind": kind, "choices": choices, "list": False, "length": None, "empty": False}


def _limits(hint: Any) -> dict[str, Any]:
    limits = declared_range(hint)
    if limits is None:
        return {"least": None, "most": None, "also": []}
    return {"least": limits.least, "most": limits.most, "also": list(limits.also)}


def _unit(hint: Any, text: str) -> str:
    limits = declared_range(hint)
    found = _UNIT.search(text)
    unit = limits.unit if limits else found[1] if found else ""
    return "" if unit == "-" else unit


def checked_config(study: Study[Any, Any], data: Any, *, root: Path) -> Any:
    """Return the config that a page asks for; fields that are missing have their defaults.

    Args:
        data: The fields as JSON data.
        root: The folder of results; a text that is a path must lead to a file in it.

    Raises:
        KinetariumError: If a field is unknown, of a wrong type, out of range, or a path elsewhere.
    """
    if not isinstance(data, Mapping):
        raise HttpError(400, "a study needs an object of fields")
    config: Any = from_builtins(study.config, data, where=f"the fields of {study.name}")
    for text in _texts(to_builtins(config)):
        check_path(text, root=root)
    return config


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def check_path(text: str, *, root: Path) -> None:
    """Refuse a text that leads out of a folder if it is taken as a path.

    Raises:
        HttpError: If it does.
    """
    if "\0" in text or len(text) > 4000:
        raise HttpError(400, "a text of a study is too long, or has a null character")
    try:
        inside = (root / text).resolve().is_relative_to(root.resolve())
        plain = not re.match(r"[~/\\]|[A-Za-z]:[\\/]", text) and "\\" not in text
    except (OSError, ValueError, RuntimeError):
        inside = plain = False
    if not (inside and plain and ".." not in Path(text).parts):
        raise HttpError(400, "files of a study must be in the folder of the results")
