"""Diagrams: what may be drawn, and that every text of them is escaped."""

from xml.etree import ElementTree

import pytest

from kinetarium.figure.page import Diagram, DiagramBlock, Page, Section, Signal
from kinetarium.report.html.page import diagram_svg, page_html

HOSTILE = '<script>alert("x")</script>\x07'
BLOCKS = (
    DiagramBlock("a", "first\nsecond", 0, 0),
    DiagramBlock("b", HOSTILE, 1, 0),
    DiagramBlock("c", "", 1, 1),
)


def test_blocks_and_signals_are_drawn_and_texts_escaped() -> None:
    diagram = Diagram(HOSTILE, BLOCKS, (Signal("a", "b", HOSTILE), Signal("c", "b", "up")), "seen")
    tree = ElementTree.fromstring(diagram_svg(diagram))
    assert [len(tree.findall(kind)) for kind in ("rect", "path", "script")] == [3, 2, 0]
    page = page_html(Page("page", "lead", (Section("loop", (diagram,)),), ()))
    assert "<script>alert" not in page and "\x07" not in page
    assert "<rect" in page and "<figcaption>seen" in page


def test_signals_point_their_way() -> None:
    there, back, up = (
        ElementTree.fromstring(diagram_svg(Diagram("", BLOCKS, (Signal(a, b),)))).find("path")
        for a, b in (("a", "b"), ("b", "a"), ("c", "b"))
    )
    assert [path.get("d") for path in (there, back, up) if path is not None] == [
        "M178 41H270", "M270 41H178", "M355 118V74",
    ]  # fmt: skip


@pytest.mark.parametrize("signal", [Signal("a", "x"), Signal("a", "c"), Signal("a", "a")])
def test_signals_that_lead_nowhere_are_refused(signal: Signal) -> None:
    with pytest.raises(ValueError, match="diagram 'loop'"):
        Diagram("loop", BLOCKS, (signal,))
