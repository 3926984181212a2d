"""A Diagram as inline SVG, in the colours of the page."""

from html import escape

from kinetarium.figure.diagram import Arrow, Box, Diagram
from kinetarium.report.plain_text import readable

_WIDTH, _HEIGHT = 170, 66
"""Size of a box."""
_ACROSS, _DOWN = 92, 44
"""Room between two boxes, for arrows and their labels."""
_MARGIN = 8


def diagram_svg(diagram: Diagram) -> str:
    """Draw a diagram; every text is escaped."""
    boxes = {box.name: box for box in diagram.boxes}
    right = max(_left(box) for box in diagram.boxes) + _WIDTH + _MARGIN
    bottom = max(_top(box) for box in diagram.boxes) + _HEIGHT + _MARGIN
    arrows = (_arrow(arrow, boxes[arrow.start], boxes[arrow.end]) for arrow in diagram.arrows)
    drawn = "\n".join((*arrows, *map(_box, diagram.boxes)))
    return (
        f'<svg viewBox="0 0 {right} {bottom}" role="img" aria-label="{_text(diagram.title)}">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8Z"/></marker></defs>\n'
        f"{drawn}\n</svg>"
    )


def _left(box: Box) -> int:
    return _MARGIN + box.column * (_WIDTH + _ACROSS)


def _top(box: Box) -> int:
    return _MARGIN + box.row * (_HEIGHT + _DOWN)


def _box(box: Box) -> str:
    x, y = _left(box), _top(box)
    middle = x + _WIDTH // 2
    lines = "".join(
        f'<text x="{middle}" y="{y + 39 + 16 * i}">{_text(line)}</text>'
        for i, line in enumerate(box.text.split("\n"))
    )
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>'
        f'<text class="name" x="{middle}" y="{y + 21}">{_text(box.name)}</text>{lines}'
    )


def _arrow(arrow: Arrow, start: Box, end: Box) -> str:
    if start.row == end.row:
        forward = end.column > start.column
        y = _top(start) + _HEIGHT // 2
        x = _left(start) + (_WIDTH if forward else 0)
        to = _left(end) + (0 if forward else _WIDTH)
        path = f"M{x} {y}H{to}"
        label = f'x="{(x + to) // 2}" y="{y - 8}"'
    else:
        down = end.row > start.row
        x = _left(start) + _WIDTH // 2
        y = _top(start) + (_HEIGHT if down else 0)
        to = _top(end) + (0 if down else _HEIGHT)
        path = f"M{x} {y}V{to}"
        label = f'class="beside" x="{x + 8}" y="{(y + to) // 2 + 4}"'
    return (
        f'<path class="arrow" d="{path}" marker-end="url(#tip)"/>'
        f"<text {label}>{_text(arrow.label)}</text>"
    )


def _text(text: str) -> str:
    return escape(readable(text))
