"""Findings in robot files, in the formats of continuous integration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from kinetarium.errors import KinetariumError
from kinetarium.model.diagnostics import Implausibility, Repair, RobotFileError
from kinetarium.storage.strict_json import strict_json


class Level(StrEnum):
    """How severe a finding is."""

    ERROR = "error"
    """The file is refused, or must not have it."""
    WARNING = "warning"
    """The robot is possible, but hardly meant."""
    NOTE = "note"
    """The reader changed or left out something."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding in a robot file.

    Attributes:
        level: How severe it is.
        code: The kind of fault.
        text: What is wrong, and what to do about it.
        file: The file it is in.
        line: Its line, or None where there is no line.
    """

    level: Level
    code: str
    text: str
    file: str
    line: int | None


def of_error(error: KinetariumError, robot: str) -> list[Finding]:
    """Return the findings for which a robot was refused."""
    if not isinstance(error, RobotFileError):
        return [Finding(Level.ERROR, "unreadable", str(error), robot, None)]
    return [
        Finding(Level.ERROR, one.code, _joined(one.message, one.remedy), one.file, one.line)
        for one in error.refusals
    ]


def of_repairs(repairs: Iterable[Repair], level: Level) -> list[Finding]:
    """Return the findings that were repaired."""
    return [
        Finding(level, one.code, f"{one.where}: {one.message}", one.file, one.line)
        for one in repairs
    ]


def of_implausibilities(
    found: Iterable[Implausibility], level: Level, *, file: str
) -> list[Finding]:
    """Return the findings that are possible but hardly meant."""
    return [
        Finding(level, one.code, _joined(f"{one.where}: {one.message}", one.remedy), file, one.line)
        for one in found
    ]


def _joined(message: str, remedy: str) -> str:
    return f"{message}; {remedy}" if remedy else message


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[Finding], *, version: str) -> str:
    """Return findings as a SARIF 2.1.0 log, for GitHub code scanning and editors."""
    codes = sorted({finding.code for finding in findings})
    driver = {
        "name": "kinetarium",
        "version": version,
        "rules": [{"id": code, "shortDescription": {"text": code}} for code in codes],
    }
    results = [
        {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": str(finding.level),
            "message": {"text": finding.text},
            "locations": [{"physicalLocation": _location(finding)}],
        }
        for finding in findings
    ]
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return strict_json(log) + "\n"


def _location(finding: Finding) -> dict[str, Any]:
    path = PurePath(finding.file)
    location: dict[str, Any] = {
        "artifactLocation": {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}
    }
    if finding.line:
        location["region"] = {"startLine": finding.line}
    return location


def junit(findings: Sequence[Finding], *, robots: Sequence[str]) -> str:
    """Return findings as JUnit XML: a test case for each error, and one for a robot without any.

    Args:
        robots: The robots that were read, those without findings included.
    """
    errors = [finding for finding in findings if finding.level is Level.ERROR]
    sound = [robot for robot in robots if robot not in {finding.file for finding in errors}]
    cases = [
        f"  <testcase classname={_attribute(one.file)} name={_attribute(_place(one))}>"
        f"<failure type={_attribute(one.code)} message={_attribute(one.text)}/></testcase>"
        for one in errors
    ]
    for robot in sound:
        lines = [f"{one.level} {_place(one)}: {one.text}" for one in findings if one.file == robot]
        said = f"<system-out>{escape(_printable(chr(10).join(lines)))}</system-out>"
        begin = f'  <testcase classname={_attribute(robot)} name="inspect"'
        cases.append(f"{begin}>{said}</testcase>" if lines else f"{begin}/>")
    counts = f'tests="{len(cases)}" failures="{len(errors)}" errors="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites {counts}><testsuite name="kinetarium inspect" {counts} skipped="0">',
            *cases,
            "</testsuite></testsuites>\n",
        ]
    )


def _place(finding: Finding) -> str:
    return f"{finding.code} at line {finding.line}" if finding.line else finding.code


def _attribute(text: str) -> str:
    return quoteattr(_printable(text))


def _printable(text: str) -> str:
    """Replace characters that XML cannot hold."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


_ANNOTATIONS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def github(findings: Iterable[Finding]) -> str:
    """Return findings as workflow commands, which GitHub shows beside the lines."""
    lines = []
    for finding in findings:
        line = f",line={finding.line}" if finding.line else ""
        place = f"file={_property(finding.file)}{line},title={_property(finding.code)}"
        lines.append(f"::{_ANNOTATIONS[finding.level]} {place}::{_data(finding.text)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
