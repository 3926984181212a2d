"""The notebooks run in a kernel, without a browser, and show tables, figures and a replay."""

from pathlib import Path

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.engine
EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "20_rows_as_tables": ("text/html", "<table"),
    "21_figures_inline": ("image/png", "iVBOR"),
    "22_replay": ("text/html", "<iframe"),
}
"""What the outputs of each contain, by type."""


def test_all_notebooks_are_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells), "stored with outputs"
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()
    kind, part = SHOWN[name]
    found = [o["data"][kind] for c in cells for o in c.outputs if kind in o.get("data", {})]
    assert any(part in each for each in found)
