"""Every example runs, and so does the code of the page on scenes; each holds its own assertions."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs(example: Path) -> None:
    runpy.run_path(str(example))


def test_the_page_on_scenes_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "scenes-and-controllers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    (tmp_path / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    runpy.run_path(str(tmp_path / "page.py"))
