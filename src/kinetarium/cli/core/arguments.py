"""Parse a command line into the command's config; flags are generated from its dataclass."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, is_dataclass, make_dataclass, replace
from enum import EnumMeta
from io import StringIO
from itertools import chain, pairwise
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints
from warnings import catch_warnings, simplefilter

import tyro
from tyro.constructors import (
    ConstructorRegistry,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.ranges import Range, check_ranges, declared_range

_MARKERS = (tyro.conf.FlagCreatePairsOff, tyro.conf.EnumChoicesFromValues)
_PLACEHOLDERS = {
    "engine": "NAME", "robot": "FILE|NAME", "chaser": "FILE|NAME", "target": "FILE|NAME",
    "map": "MAP", "obstacles": "FILE", "poses": "FILE", "trajectory": "FILE", "machine": "FILE",
    "roles": "FILE", "srdf": "FILE", "tool": "LINK", "gripper": "NAME", "mesh_root": "DIR",
    "xacro_arg": "NAME:=VALUE", "root": "BODY",
}  # fmt: skip
"""Placeholders in the help of flags of studies, whose configs do not know the command line."""
_NAMES = {"base_kind": "base"}
"""Flags of fields whose names would hide a result in the rows of a study."""
_NO_NUMBER = re.compile(
    r"error parsing (?P<flag>--[\w-]+): (?:could not convert string to float: |invalid literal for"
    r" int\(\) with base 10: |Could not find valid parse for arguments: )(?P<words>.*)"
)
_FLAG = re.compile(r"--?[A-Za-z]")
_SEEN = object()
"""Marks a dataclass whose flags are being described."""


def _check_defaults_quickly() -> None:
    """Let tyro check defaults without typeguard, which takes 0.06 s to load, if it is the one."""
    try:
        from tyro import _resolver

        check = _resolver.is_instance
    except (ImportError, AttributeError):  # another release, which is slower at most
        return

    def is_instance(typ: Any, value: Any) -> bool:
        if isinstance(typ, EnumMeta):
            return isinstance(value, typ)
        if get_origin(typ) is UnionType:
            return any(is_instance(each, value) for each in get_args(typ))
        if get_origin(typ) is not tuple or not isinstance(value, tuple):
            return check(typ, value)
        kinds = get_args(typ)
        if kinds[1:] == (...,):
            kinds = kinds[:1] * len(value)
        return len(kinds) == len(value) and all(map(is_instance, kinds, value))

    _resolver.is_instance = is_instance


_check_defaults_quickly()


class UsageError(KinetariumError):
    """An invalid command line."""


@dataclass(frozen=True, slots=True)
class OutputFlags:
    """The flags common to all commands.

    Attributes:
        json: Write the result as JSON to FILE, or to standard output with -.
        force: Overwrite files that Kinetarium did not write; also --force, except where that is a
            force in newtons.
        quiet: Print errors only.
        debug: Show the traceback of an error.
    """

    json: Annotated[str, tyro.conf.arg(metavar="FILE|-")] = ""
    force: Annotated[bool, tyro.conf.arg(name="overwrite", aliases=["--force"])] = False
    quiet: bool = False
    debug: bool = False


@dataclass(frozen=True, slots=True)
class _OutputFlagsBesideForce(OutputFlags):
    """The common flags of a command that has a --force of its own."""

    force: Annotated[bool, tyro.conf.arg(name="overwrite")] = False


def parse_arguments(
    words: Sequence[str], *, command: str, config: type, help: str
) -> tuple[Any, OutputFlags]:
    """Parse the words after a command.

    Args:
        help: What the command does, in one line.

    Returns:
        An instance of the config, and the common flags.

    Raises:
        KinetariumError: If they are invalid.
        SystemExit: After printing the help on request.
    """
    joined, program = _with_output_flags(config), f"kinetarium {command}"
    words = _gathered(words, joined)
    complaint = StringIO()
    try:
        with redirect_stderr(complaint):
            arguments: Any = tyro.cli(
                joined,
                prog=program,
                description=f"{help[:1].upper()}{help[1:]}.",
                args=words,
                config=_MARKERS,
                registry=_with_ranges(),
            )
    except BrokenPipeError:  # such as `--help | head`
        raise SystemExit(0) from None
    except SystemExit as end:
        if not end.code:
            raise
        _refuse_unknown_flags(words, known=_flags(joined))
        reason = _one_line(complaint.getvalue())
        reason = _number_wanted(reason, config) or reason
        raise UsageError(f"{reason} (see: {program} --help)") from None
    check_ranges(arguments.config, flags=True)
    return arguments.config, arguments.output


def flag_value(flag: str, words: Sequence[str]) -> str:
    """Return the value of a flag before the words are parsed; empty if it is missing."""
    for word, following in pairwise([*words, ""]):
        name, has_value, value = word.partition("=")
        if name == flag:
            return value if has_value else following
    return ""


def check_flags(config: type) -> None:
    """Check that flags can be generated from a command's config.

    Raises:
        Exception: Whatever the parser raises if they cannot.
    """
    _flags(_with_output_flags(config))


def completion_script(shell: str, *, configs: Mapping[str, type]) -> str:
    """Return the shell completion script for all commands and flags.

    Args:
        shell: "bash", "zsh" or "fish".
        configs: The config of each command by its name.
    """
    script = StringIO()
    with suppress(SystemExit), redirect_stdout(script):
        tyro.extras.subcommand_cli_from_dict(
            {name: _with_output_flags(config) for name, config in configs.items()},
            prog="kinetarium",
            args=["--tyro-print-completion", shell],
            config=_MARKERS,
        )
    return script.getvalue()


def _with_output_flags(config: type) -> type:
    """Combine a config and the common flags, without name prefixes."""
    bare = tyro.conf.arg(name="")
    output = _OutputFlagsBesideForce if _has_force(config) else OutputFlags
    return make_dataclass(
        "Arguments",
        [("config", Annotated[config, bare]), ("output", Annotated[output, bare])],
        frozen=True,
    )


def _has_force(config: Any) -> bool:
    """Return whether a config, or one within it, has a field "force"."""
    kinds = get_type_hints(config) if is_dataclass(config) else {}
    return "force" in kinds or any(_has_force(kind) for kind in kinds.values())


def _with_ranges() -> ConstructorRegistry:
    """Return a registry that adds each number's range to the help of its flag."""
    registry = ConstructorRegistry()

    @registry.struct_rule
    def describe(info: StructTypeInfo) -> StructConstructorSpec | None:
        if _SEEN in info.markers:  # called again by the line below: use the parser's own rules
            return None
        spec = registry.get_struct_spec(replace(info, markers=(*info.markers, _SEEN)))
        if not isinstance(spec, StructConstructorSpec):
            return None
        return replace(spec, fields=tuple(map(_described, spec.fields)))

    return registry


def _described(field: StructFieldSpec) -> StructFieldSpec:
    """Add the range and a placeholder to the help of a field; hide a default that says nothing."""
    limits, text, default = declared_range(field.type), field.helptext, field.default
    placeholder = _PLACEHOLDERS.get(field.name, "")
    if placeholder and isinstance(default, tuple):
        placeholder += " ..."
    if any(getattr(part, "metavar", None) for part in get_args(field.type)[1:]):
        placeholder = ""  # a command has its own
    hint = "" if isinstance(default, bool) or default in ("", (), None) else None
    name = _NAMES.get(field.name)
    if placeholder or name or hint == "":
        look = tyro.conf.arg(name=name, metavar=placeholder or None, help_behavior_hint=hint)
        described: Any = Annotated[field.type, look]
        field = replace(field, type=described)
    if limits is None:
        return field

    def help() -> str:
        return f"{(text() if callable(text) else text) or ''} Range: {limits}."

    return replace(field, helptext=help)


def _flags(arguments: type) -> dict[str, Any]:
    """Return every flag of the parser, with its action."""
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)  # tyro has no other way to its parser
        parser = tyro.extras.get_parser(arguments, config=_MARKERS)
    return {flag: action for action in parser._actions for flag in action.option_strings}


def _gathered(words: Sequence[str], arguments: type) -> list[str]:
    """Write flags of several values as the parser takes them: once, or once for each value.

    Of a flag that is repeated it would keep the last values and drop the others.

    Raises:
        UsageError: If a flag of one value is given two.
    """
    groups: list[list[str]] = [[]]
    for word in words:
        flag, has_value, value = word.partition("=")
        if _FLAG.match(flag):
            groups.append([flag.replace("_", "-"), *([value] if has_value else [])])
        else:
            groups[-1].append(word)
    first, *given = groups
    once = len({flag for flag, *_ in given}) == len(given)
    # Words after a single value may be the robot, unless that came first.
    if once and not (first and any(len(group) > 2 for group in given)):
        return list(words)
    known, earlier = _flags(arguments), dict[str, list[str]]()
    result = [first]
    for group in given:
        flag, *values = group
        action = known.get(flag)
        takes = action.nargs if action else 0
        before = earlier.setdefault(flag, group)
        if "Append" in type(action).__name__:  # one value each time
            result += [[flag, value] for value in values] if first and values else [group]
        elif takes in ("*", "+") and before is not group:
            before += values
        elif takes == 1 and before[1:2] != values[:1]:
            both = " and ".join(before[1:2] + values[:1])
            raise UsageError(f"{flag} takes one value, not {both}")
        else:
            result.append(group)
    return [*chain.from_iterable(result)]


def _refuse_unknown_flags(words: Sequence[str], *, known: Collection[str]) -> None:
    for word in words:
        flag = word.partition("=")[0].replace("_", "-")
        if _FLAG.match(flag) and flag not in known:
            raise UnknownNameError("flag", flag, known=known) from None


def _one_line(box: str) -> str:
    """Extract the reason from the parser's framed message.

    After a title the frame contains the reason, a rule, and hints; every line is
    indented by two characters, and deeply indented lines repeat the help of a flag.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", box)
    lines = [line[2:].rstrip(" │|") for line in plain.splitlines()[1:]]
    reason: list[str] = []
    for line in lines:
        is_rule = not line.strip("─- ")
        if is_rule and reason:
            break
        if not is_rule and not line.startswith(" " * 8):
            reason.append(line.strip())
    text = re.sub(r"'(config|output)\.", "'", " ".join(reason).rstrip("."))
    return text[:1].lower() + text[1:]


def _number_wanted(reason: str, config: type) -> str:
    """Return the refusal of a word where a flag takes numbers; empty for other complaints."""
    found = _NO_NUMBER.match(reason)
    limits = found and _range_of(found["flag"][2:].replace("-", "_"), config)
    if not found or not limits:
        return ""
    words = re.findall(r"'([^']*)'", found["words"])
    word = next((word for word in words if not _is_number(word)), words[0])
    unit = "" if limits.unit == "-" else f" in {limits.unit}"
    number = "whole number" if _is_number(word) else "number"
    return f"{found['flag']}: '{word}' is not a {number}{unit}"


def _is_number(word: str) -> bool:
    with suppress(ValueError):
        float(word)
        return True
    return False


def _range_of(name: str, config: Any) -> Range | None:
    """Return the range of a field of a config, or of one within it."""
    bare = get_args(config)[0] if get_origin(config) is Annotated else config
    kinds = get_type_hints(bare, include_extras=True) if is_dataclass(bare) else {}
    if name in kinds:
        return declared_range(kinds[name])
    return next((found for kind in kinds.values() if (found := _range_of(name, kind))), None)
