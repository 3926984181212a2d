"""The documentation site: `make docs` writes it to out/docs, offline."""

import os
import re
import sys
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

project = "Kinetarium"
author = copyright = "The Kinetarium authors"
version = release = import_module("kinetarium").__version__  # of this tree

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"Kinetarium {version}"
html_copy_source = False
html_show_sphinx = False
exclude_patterns = ["schemas"]
templates_path = ["_templates"]
autosummary_ignore_module_all = False
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_block", "attrs_inline"]
# Text blocks without a language are commands, outputs and formulas: no colours for them.
highlight_language = "text"

add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # fields as a list, not as entries of the index

BESIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "DEVELOPMENT.md": "development.md",
    "SECURITY.md": "security.md",
    "web/README.md": "web.md",
}
"""Pages of the repository's root, and their names in the site."""
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)#\s]+)(#[^)\s]*)?(?=\))")


def in_site(text: str, *, origin: Path, page: Path) -> str:
    """Return text whose links, written for files of the repository, lead to pages of the site.

    Args:
        text: Markdown.
        origin: The file it was read from.
        page: The page of the site that shows it.
    """

    def lead(match: re.Match[str]) -> str:
        target, anchor = Path(os.path.normpath(origin.parent / match[1])), match[2] or ""
        inside = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
        docs = ROOT / "docs"
        if inside in BESIDE:
            target = docs / BESIDE[inside]
        elif study := re.fullmatch(r"src/kinetarium/studies/(\w+)(/README.md)?", inside):
            target = docs / "studies" / f"{study[1]}.md"
        elif example := re.fullmatch(r"examples/(\d+)_\w+\.(?:py|ipynb)", inside):
            target, anchor = docs / "gallery.md", f"#example-{example[1]}"
        return Path(os.path.relpath(target, page.parent)).as_posix() + anchor

    return LINK.sub(lead, text)


def setup(app: Sphinx) -> None:
    """Let links between files of the repository lead to pages of the site."""

    def read(app: Sphinx, name: str, source: list[str]) -> None:
        page = Path(app.env.doc2path(name))
        source[0] = in_site(source[0], origin=page, page=page)

    def include(app: Sphinx, path: Path, name: str, source: list[str]) -> None:
        page = Path(app.env.doc2path(app.env.docname))  # of `name` MyST keeps the last part only
        source[0] = in_site(source[0], origin=(ROOT / "docs" / path).resolve(), page=page)

    def plain_bars(app: Sphinx, what: str, name: str, *rest: object) -> None:
        lines = rest[-1]
        assert isinstance(lines, list)
        for i, line in enumerate(lines):
            if ">>>" not in line:  # an absolute value, not a substitution
                lines[i] = re.sub(r"(`[^`]*`)|\|", lambda m: m[1] or r"\|", line)

    app.connect("autodoc-process-docstring", plain_bars)
    app.connect("source-read", read)
    app.connect("include-read", include)
