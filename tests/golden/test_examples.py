"""Every example runs and draws its picture; the code of the page on scenes runs."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PICTURES = ROOT / "docs" / "pictures" / "gallery"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds its own assertions."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", [str(example), str(tmp_path / "picture.png")])
    runpy.run_path(str(example), run_name="__main__")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_examples_are_short_and_have_a_small_picture() -> None:
    assert 15 <= len(EXAMPLES) <= 20
    for example in EXAMPLES:
        assert len(example.read_text(encoding="utf-8").splitlines()) < 60, example
        assert (PICTURES / f"{example.stem}.png").stat().st_size < 60_000, example
    assert sum(each.stat().st_size for each in PICTURES.iterdir()) < 800_000
    assert {each.stem for each in PICTURES.iterdir()} == {each.stem for each in EXAMPLES}


def test_the_gallery_shows_every_example() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "gallery.py"))["page"]()
    assert (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8") == made


def test_the_page_on_scenes_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "scenes-and-controllers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    (tmp_path / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    runpy.run_path(str(tmp_path / "page.py"))
