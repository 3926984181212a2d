"""Tables in Markdown, and the parts of the documentation that commands write."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_DOCS = Path(__file__).parents[1] / "docs"


def table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"| {' | '.join(heading)} |"
    yield f"|{'---|' * len(heading)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"


def write_part(page: str, *, name: str, text: str) -> None:
    """Replace what is between the marks "begin NAME" and "end NAME" of a page in docs/."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    path = _DOCS / page
    before, _, rest = path.read_text("utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"docs/{page} has no part between '{begin}' and '{end}'")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", "utf-8")
