"""Sections with one scene each, so that its heading names it and its charts stand beside it."""

from itertools import pairwise
from typing import TYPE_CHECKING

from kinetarium.figure.page import Section
from kinetarium.figure.scene3d import Scene3D

if TYPE_CHECKING:
    from kinetarium.figure.heatmap import Heatmap


def scene_sections(figures: "tuple[Heatmap | Scene3D, ...]") -> tuple[Section, ...]:
    """Part figures into sections: every scene begins one, named after it."""
    starts = [n for n, figure in enumerate(figures) if n == 0 or isinstance(figure, Scene3D)]
    return tuple(
        Section(figures[a].title[:1].upper() + figures[a].title[1:], figures[a:b])
        for a, b in pairwise([*starts, len(figures)])
    )
