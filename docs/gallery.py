"""Make the gallery: `python docs/gallery.py --write` lists the examples in gallery.md.

`python docs/gallery.py --draw [NUMBER ...]` runs examples, each in a process of its own, and keeps
the pictures they draw: an example writes one to the path that is its first argument.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("[0-9]*.ipynb"))
HEAD = """# Gallery

Short programs on public names. `python examples/NAME.py` runs one, and
`python examples/NAME.py picture.png` draws its picture too. The tests run all of them.
`python docs/gallery.py --draw` makes the pictures of this page.
"""


def picture(example: Path) -> Path:
    """Return where the picture of an example is kept."""
    return ROOT / "docs" / "pictures" / "gallery" / f"{example.stem}.png"


def page() -> str:
    """Return the page: title, text, picture and program of every example."""
    parts = [HEAD]
    for example in EXAMPLES:
        text = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
        number, _, name = example.stem.partition("_")
        parts.append(f"(example-{number})=\n## {number} {name.replace('_', ' ').capitalize()}\n")
        parts.append(f"{text}\n")
        if picture(example).exists():
            where = picture(example).relative_to(PAGE.parent).as_posix()
            parts.append(f"![{text.splitlines()[0]}]({where})\n")
        source = f"../examples/{example.name}"
        parts.append(f"```{{literalinclude}} {source}\n:language: python\n```\n")
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        title, _, text = "".join(cells[0]["source"]).removeprefix("# ").partition("\n\n")
        number = notebook.stem.partition("_")[0]
        parts.append(f"(example-{number})=\n## {number} {title}\n")
        parts.append(f"{text} A notebook: `examples/{notebook.name}`.\n")
    return "\n".join(parts)


def draw(example: Path) -> None:
    """Run an example and keep its picture."""
    picture(example).parent.mkdir(exist_ok=True)
    subprocess.run([sys.executable, str(example), str(picture(example))], check=True)


if __name__ == "__main__":
    if "--draw" in sys.argv:
        chosen = [word for word in sys.argv[1:] if word.isdigit()]
        for each in EXAMPLES:
            if not chosen or each.stem.partition("_")[0] in chosen:
                draw(each)
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
