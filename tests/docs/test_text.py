"""What README and docs print is true: commands parse, code compiles, links lead somewhere."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from kinetarium.cli.core.arguments import parse_arguments
from kinetarium.cli.core.registry import COMMANDS, studies
from kinetarium.errors import KinetariumError

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for folder in (ROOT, ROOT / "docs", ROOT / "src", ROOT / "web")
    for path in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
    if "node_modules" not in path.parts
)
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^    kinetarium [^\n]*\n)(?:^     [^\n]*\n)*", re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
OF_THE_PAGE = {"swing"}
"""Commands that pages show how to make."""
SHELL = {"", "sh", "bash", "console", "yaml", "text"}


def known_commands() -> dict[str, object]:
    return {**COMMANDS, **studies()}


def command_lines(text: str) -> list[tuple[str, bool]]:
    """Return the commands of a page, and whether they are complete, as in blocks.

    Within sentences a command may be a mention that leaves out what it does not speak of.
    """
    found: list[tuple[str, bool]] = []
    for language, block in FENCE.findall(text):
        if language in SHELL:
            for line in block.replace("\\\n", " ").splitlines():
                # A prompt, a step of a workflow, a variable before the command.
                start = re.match(r"\s*(?:\$ |- ?run: |run: )?(?:\w+=\S* )*(kinetarium .*)", line)
                found += [(start[1], True)] if start else []
    prose = FENCE.sub("", text)
    found += [(block.replace("\\\n", " ").strip(), True) for block in INDENTED.findall(prose)]
    for code in INLINE.findall(prose):
        words = code.split()
        if words[0] == "kinetarium" and len(words) > 1:
            found.append((code, False))
        elif words[0] in known_commands() and len(words) > 1 and re.match(r"\[?--?\w", words[1]):
            found.append((f"kinetarium {code}", False))
    return found


def words_of(line: str) -> list[str]:
    """Return the words after `kinetarium`, as a shell would pass them."""
    line = re.split(r"\s(?:\||>|&&|;)\s?", line)[0]
    line = re.sub(r"\{(\d+)\.\.\d+\}", r"\1", line)  # a range of the shell
    line = re.sub(r"\[(--[^\]]+)\]", r"\1", line)  # an optional flag
    words = shlex.split(line.replace("\\|", "|"), comments=True)[1:]
    return [re.sub(r"^([a-z]\w*)\|[\w|]+$", r"\1", word) for word in words if word != "..."]


@cache
def complaint(line: str, complete: bool) -> str:
    """Return why the command line refuses a line; empty if it does not."""
    words = words_of(line)
    if not words or words[0].startswith("-") or words[0].isupper() or words[0] in OF_THE_PAGE:
        return ""
    if "--config" in words:  # names a folder that is read at once
        at = words.index("--config")
        del words[at : at + 2]
    if words[0] not in known_commands():
        return f"no command '{words[0]}'"
    command = known_commands()[words[0]]
    try:
        config, _ = command.load(words[1:])  # type: ignore[attr-defined]
        parse_arguments(words[1:], command=words[0], config=config, help="")
    except SystemExit:  # help
        return ""
    except KinetariumError as error:
        left_out = re.match(r"missing (value )?f|expected one of", str(error))
        return "" if left_out and not complete else str(error)
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_parse(page: Path) -> None:
    lines = command_lines(page.read_text(encoding="utf-8"))
    assert [(line, why) for line, whole in lines if (why := complaint(line, whole))] == []


def test_every_command_is_on_the_page_of_commands() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    shown = {words_of(line)[0] for line, _ in command_lines(text)}
    assert sorted(name for name in known_commands() if name not in shown) == [
        "reach-compare", "reach-follow", "reach-place",  # `kinetarium reach place`
    ]  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_compiles(page: Path) -> None:
    for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            compile(block, str(page), "exec")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of headings as GitHub and the site name them, and explicit ones."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    included = re.search(r"^```\{include\} (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    if included:
        return anchors((page.parent / included[1]).resolve())
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading) for heading in headings]
    named = re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)
    slugs = [
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain
    ]
    return frozenset([*slugs, *named])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_is_dead(page: Path) -> None:
    text = INLINE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
    dead = []
    for target, anchor in LINK.findall(text):
        file = (page.parent / target).resolve() if target else page
        if not file.exists():
            dead.append(target)
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            dead.append(f"{target}#{anchor}")
    assert dead == []
