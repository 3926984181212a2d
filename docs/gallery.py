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

Short programs that import public names only. `python examples/NAME.py` runs one, and
`python examples/NAME.py picture.png` draws its picture too. The tests run all of them.
`python docs/gallery.py --draw` makes the pictures of this page.

Files beside the programs: `04_poses.json` (poses for `kinetarium reach place`), `08_sweep.toml`
(for `kinetarium sweep`), `08_table.toml` (a scene for `kinetarium pick --scene`) and
`23_tiago_with_jaws.urdf.xacro` with its roles (a robot for `kinetarium pick --robot`).
"""
TITLES = {
    "02": "The same scene in every engine",
    "06": "Grasp with any gripper",
    "07": "Your own robot and controller",
    "10": "Same robot, different outcome",
    "12": "Faults of a robot file",
    "15": "Plan a path around an obstacle",
    "17": "Foot curves of linkages",
    "18": "When contact is stable",
}
"""Titles that differ from the name of the file, by number."""


def picture(example: Path) -> Path:
    """Return where the picture of an example is kept."""
    return ROOT / "docs" / "pictures" / "gallery" / f"{example.stem}.png"


def page() -> str:
    """Return the page: title, text, picture and program of every example."""
    parts = [HEAD]
    for example in EXAMPLES:
        tree = ast.parse(example.read_text(encoding="utf-8"))
        text = ast.get_docstring(tree) or ""
        number, _, name = example.stem.partition("_")
        title = TITLES.get(number, name.replace("_", " ").capitalize())
        parts.append(f"(example-{number})=\n## {number} {title}\n")
        parts.append(f"{text}\n")
        if picture(example).exists():
            where = picture(example).relative_to(PAGE.parent).as_posix()
            parts.append(f"![{text.splitlines()[0]}]({where})\n")
        first = tree.body[1].lineno  # after the docstring, which is the text above
        options = f":language: python\n:caption: examples/{example.name}\n:lines: {first}-\n"
        parts.append(f"```{{literalinclude}} ../examples/{example.name}\n{options}```\n")
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
