"""The documentation site builds without a warning, offline, and shows everything there is."""

import os
import re
import subprocess
import sys
from pathlib import Path

from source_tree import ROOT, SOURCE, public_modules

DOCS = ROOT / "docs"


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """All but the writing of HTML, which warns of nothing."""
    words = [sys.executable, "-m", "sphinx", "-b", "dummy", "-q", "-W", "--keep-going"]
    done = subprocess.run(
        [*words, "-d", str(tmp_path / "doctrees"), str(DOCS), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent), "http_proxy": "http://127.0.0.1:9"},
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_lists_every_public_package() -> None:
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   (kinetarium[\w.]*)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(public_modules())


def test_every_study_has_a_page() -> None:
    studies = {path.parent.name for path in SOURCE.glob("studies/*/README.md")}
    pages = {path.stem for path in (DOCS / "studies").glob("*.md")} - {"index"}
    assert pages == studies


def test_the_statements_of_the_engine_paper_are_judged_as_measured() -> None:
    """The page on the papers repeats the verdicts of the comparison."""
    row = re.compile(r"^\| ([^|]+) \| (holds|does not hold here|not testable) \|", re.MULTILINE)
    measured = (DOCS / "engine_comparison.md").read_text(encoding="utf-8")
    shown = (DOCS / "papers.md").read_text(encoding="utf-8")
    verdicts = dict(row.findall(measured))
    assert len(verdicts) > 10
    assert dict(row.findall(shown)) == verdicts
