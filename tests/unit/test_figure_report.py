import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from kinetarium.figure.page import Page, Section
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.text import Column, Prose, Table
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box
from kinetarium.report.html.page import embedded_json, page_html
from kinetarium.spatial.arrays import frozen


def scene(name):
    body = Mesh3D(name, triangulate(Box((1, 2, 3))), (0.5, 0.5, 0.5, 1.0), frozen(np.eye(4)))
    return Scene3D(name, (body,))


class Elements(HTMLParser):
    """Collects the elements of a page and its policy."""

    def __init__(self, html):
        super().__init__()
        self.found, self.policy = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        assert not any(name.startswith("on") for name, _ in attributes)
        if ("http-equiv", "Content-Security-Policy") in attributes:
            self.policy = dict(attributes)["content"]


def page_full_of(text):
    table = Table(text, (Column(text, text),), ((text,),))
    figures = (scene(text), Prose(text), table)
    sections = tuple(Section(text, figures, label=text) for _ in range(3))
    return page_html(Page(text, text, sections, ((text, text),)))


@pytest.mark.parametrize(
    "name",
    ["</script><script>alert(1)</script>", "<!--", "<img src=x onerror=alert(1)>", '"><svg>'],
)
def test_names_are_escaped_everywhere(name):
    html = page_full_of(name)
    assert name not in html
    assert Elements(html).found == Elements(page_full_of("plain")).found


def test_the_same_page_is_the_same_file():
    page = Page("t", "l", (Section("s", (scene("box"),)),), ())
    assert page_html(page) == page_html(page)


def test_the_policy_allows_no_connection():
    policy = Elements(page_html(Page("t", "l", (Section("s", (scene("box"),)),), ()))).policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.count("sha256-") == 2
    assert "unsafe-eval" not in policy and "http" not in policy


def test_scenes_carry_their_triangles():
    html = page_html(Page("t", "l", (Section("s", (scene("box"),)),), ()))
    (text,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html)
    ground, body = json.loads(text)["data"]
    assert (ground["type"], body["type"], body["text"]) == ("scatter3d", "mesh3d", "box")
    assert body["x"]["dtype"] == "f4" and body["i"]["dtype"] == "u2"


def test_embedded_json_says_the_same():
    value = {"name": "</script><!--&amp;\u2028\u2029 Ω", "numbers": [1, 2.5, None]}
    text = embedded_json(value)
    assert not re.search(r"[<>&\u2028\u2029]", text)
    assert json.loads(text) == value
