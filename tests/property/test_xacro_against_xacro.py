"""Random xacro expands to what the public xacro package expands it to."""

from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import xacro

from kinetarium import RobotFileError
from kinetarium.model.assets import AssetResolver
from kinetarium.model.diagnostics import Diagnostics
from kinetarium.model.markup import Element
from kinetarium.model.reading import Reading
from kinetarium.model.xacro import expand_xacro
from property.random_xacro import RandomXacro

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")  # of odd calls such as 2.5(x)

NOT_EXPANDED = (
    "is not a finite number",
    "too large a number",
    "too long a text or list",
    "duplicate parameter",
    "where xacro drops it",
)
"""What the expander refuses on purpose, though the package goes on with it."""

Tree = tuple[Any, ...]


def _ours(file: Path, arguments: dict[str, str]) -> Tree:
    diagnostics = Diagnostics(file.name)
    assets = AssetResolver(file.parent, roots=[], diagnostics=diagnostics)
    reading = Reading(file, diagnostics, assets)
    used = {name: text for name, text in arguments.items() if _names(file, name)}
    return _plain(expand_xacro(reading.open_markup(file), reading=reading, arguments=used))


def _names(file: Path, argument: str) -> bool:
    """Say whether an argument is declared where it is reached; others are refused by name."""
    return f'<xacro:arg name="{argument}"' in file.read_text()


def _plain(element: Element) -> Tree:
    attributes = {k: v for k, v in element.attributes.items() if not k.startswith("xmlns")}
    return element.tag, attributes, _packed(element.text), [*map(_plain, element.children)]


def _packed(text: str) -> str:
    return "".join(text.split())


def _theirs(file: Path, arguments: dict[str, str]) -> Tree:
    with redirect_stderr(StringIO()):
        document = xacro.process_file(str(file), mappings=dict(arguments), verbosity=0)
    return _node(document.documentElement)


def _node(node: Any) -> Tree:
    attributes = {
        name: str(attribute.value)
        for name, attribute in dict(node.attributes).items()
        if not name.startswith("xmlns")
    }
    text = "".join(child.data for child in node.childNodes if child.nodeType == child.TEXT_NODE)
    children = [_node(child) for child in node.childNodes if child.nodeType == child.ELEMENT_NODE]
    return node.tagName, attributes, _packed(text), children


def compare(file: RandomXacro, folder: Path) -> bool:
    """Compare one file in both expanders and say whether both expanded it."""
    for name, text in {"robot.xacro": file.text, **file.included}.items():
        (folder / name).write_text(text)
    try:
        theirs = _theirs(folder / "robot.xacro", file.arguments)
    except Exception:  # of any kind: the package does not sort its faults
        return False
    try:
        ours = _ours(folder / "robot.xacro", file.arguments)
    except RobotFileError as error:
        assert any(reason in str(error) for reason in NOT_EXPANDED), error
        return False
    assert ours == theirs
    return True


def _compare_all(first: int, count: int, folder: Path) -> None:
    comparable = 0
    for seed in range(first, first + count):
        try:
            comparable += compare(RandomXacro(seed), folder)
        except Exception as error:
            raise AssertionError(f"RandomXacro({seed}).text: {error}") from error
    assert 2 * comparable >= count, comparable


def test_sixty_files(tmp_path: Path) -> None:
    _compare_all(0, 60, tmp_path)


@pytest.mark.slow
def test_two_thousand_files(tmp_path: Path) -> None:
    _compare_all(1000, 2000, tmp_path)
