"""The commands and the code of docs pages run as they stand, one after the other."""

import re
import shlex
from pathlib import Path

import pytest

from kinetarium.cli import main

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("page", ["concepts", "export", "gym", "notebook", "planning"])
def test_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": "page"}
    blocks = BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert blocks
    for language, text in blocks:
        if language:
            exec(compile(text, page, "exec"), space)
            continue
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["kinetarium"]:
                assert main(words[1:]) == 0, line
