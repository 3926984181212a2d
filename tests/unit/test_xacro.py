"""Xacro expands to the URDF that the xacro package gives, without executing anything."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import xacro

from kinetarium.model.assets import AssetResolver
from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.load import load_robot
from kinetarium.model.markup import Element, parse_xml
from kinetarium.model.reading import Reading
from kinetarium.model.xacro import expand_xacro, uses_xacro
from unit.xacro_snippets import OWN_SNIPPETS, SNIPPETS, SUB

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'

Expand = Callable[..., Element]


def reading_of(file: Path, roots: tuple[Path, ...] = ()) -> Reading:
    diagnostics = Diagnostics(file.name)
    return Reading(
        file, diagnostics, AssetResolver(file.parent, roots=roots, diagnostics=diagnostics)
    )


@pytest.fixture
def expand(tmp_path: Path) -> Expand:
    def expanded(
        body: str, arguments: Mapping[str, str] | None = None, roots: tuple[Path, ...] = ()
    ) -> Element:
        file = tmp_path / "robot.xacro"
        file.write_text(f"{HEAD}{body}</robot>")
        reading = reading_of(file, roots)
        return expand_xacro(reading.open_markup(file), reading=reading, arguments=arguments or {})

    return expanded


def plain(element: Element) -> tuple[Any, ...]:
    """Return an element as it is compared: without lines, name spaces and white space."""
    attributes = {k: v for k, v in element.attributes.items() if not k.startswith("xmlns")}
    children = [plain(child) for child in element.children]
    return element.tag, attributes, " ".join(element.text.split()), children


def expected(body: str) -> tuple[Any, ...]:
    data = f'<robot name="r">{body}</robot>'.encode()
    return plain(parse_xml(data, diagnostics=Diagnostics("expected")))


@pytest.mark.parametrize("name", [*SNIPPETS, *OWN_SNIPPETS])
def test_snippets(name: str, expand: Expand, tmp_path: Path) -> None:
    (tmp_path / "sub.xacro").write_text(SUB)
    (tmp_path / "calls.xacro").write_text(
        '<robot><xacro:macro name="inner"><xacro:outer/></xacro:macro></robot>'
    )
    source, result = (SNIPPETS | OWN_SNIPPETS)[name]
    assert plain(expand(source)) == expected(result)


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_xacro_package_agrees(name: str, tmp_path: Path) -> None:
    (tmp_path / "sub.xacro").write_text(SUB)
    file = tmp_path / "robot.xacro"
    source, result = SNIPPETS[name]
    file.write_text(f"{HEAD}{source}</robot>")
    document = xacro.process_file(str(file)).documentElement.toxml()
    assert plain(parse_xml(document.encode(), diagnostics=Diagnostics("judge"))) == expected(result)


def test_the_source_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "robot.xacro"
    file.write_text(f'{HEAD}<xacro:if value="1"><z a="${{1+1}}"/></xacro:if></robot>')
    reading = reading_of(file)
    root = reading.open_markup(file)
    before = deepcopy(root)
    expand_xacro(root, reading=reading)
    assert root == before


def test_nothing_of_xacro_remains(expand: Expand) -> None:
    root = expand('<z xacro:note="x" a="1"/>')
    assert root.attributes == {"name": "r"}
    assert root.children[0].attributes == {"a": "1"}


def test_elements_keep_their_lines(expand: Expand) -> None:
    root = expand(
        '\n<xacro:macro name="m" params="*b">\n<z/>\n<xacro:insert_block name="b"/>\n'
        "</xacro:macro>\n<xacro:m>\n<y/>\n</xacro:m>"
    )
    assert [(child.tag, child.line) for child in root.children] == [("z", 3), ("y", 7)]


def test_arguments_override_defaults(expand: Expand) -> None:
    body = '<xacro:arg name="n" default="1"/><z a="${$(arg n) + 1}"/>'
    assert expand(body, {"n": "5"}).children[0].attributes == {"a": "6"}


def test_an_argument_needs_no_default_when_given(expand: Expand) -> None:
    body = '<xacro:arg name="n"/><z a="$(arg n)"/>'
    assert expand(body, {"n": "5"}).children[0].attributes == {"a": "5"}


def test_an_argument_the_file_does_not_have(expand: Expand) -> None:
    with pytest.raises(
        RobotFileError, match="no argument 'lenght'; did you mean 'length'"
    ) as caught:
        expand('<xacro:arg name="length" default="1"/>', {"lenght": "2"})
    assert caught.value.refusals[0].code is Code.UNKNOWN_NAME


def test_the_environment_is_not_read(expand: Expand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "secret")
    assert expand('<z a="$(optenv SECRET 0 1)"/>').children[0].attributes == {"a": "0 1"}


def test_recursion_is_deeper_than_the_stack_of_python(expand: Expand) -> None:
    root = expand(
        '<xacro:macro name="m" params="i"><z/><xacro:if value="${i}">'
        '<xacro:m i="${i - 1}"/></xacro:if></xacro:macro><xacro:m i="450"/>'
    )
    assert len(root.children) == 451


def test_a_long_chain_of_lazy_properties(expand: Expand) -> None:
    chain = "".join(
        f'<xacro:property name="a{i}" value="${{2*(a{i + 1} + 1)/2}}"/>' for i in range(45)
    )
    root = expand(f'{chain}<xacro:property name="a45" value="0"/><z a="${{a0}}"/>')
    assert root.children[0].attributes == {"a": "45.0"}


def test_files_include_relative_to_themselves(expand: Expand, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xacro").write_text(
        '<robot><xacro:include filename="hand.xacro"/><arm/></robot>'
    )
    (tmp_path / "parts" / "hand.xacro").write_text("<robot>\n<hand/></robot>")
    root = expand('<xacro:include filename="parts/arm.xacro"/>')
    assert [(child.tag, child.line) for child in root.children] == [("hand", 2), ("arm", 1)]


def test_files_are_included_from_packages(expand: Expand, tmp_path: Path) -> None:
    package = tmp_path / "packages" / "arm_description"
    package.mkdir(parents=True)
    (package / "arm.xacro").write_text("<robot><arm/></robot>")
    root = expand(
        '<xacro:include filename="$(find arm_description)/arm.xacro"/>',
        roots=(tmp_path / "packages",),
    )
    assert [child.tag for child in root.children] == ["arm"]


def test_stray_text_is_reported_where_it_is(tmp_path: Path) -> None:
    macro = '<xacro:macro name="m">\n\nb</xacro:macro>'
    (tmp_path / "part.xacro").write_text(f'{HEAD}\n<link name="x"/>\na {macro}</robot>')
    file = tmp_path / "robot.xacro"
    for called, line in (("", 3), ("<link name='y'><xacro:m/></link>", 5)):
        file.write_text(f'{HEAD}\n<xacro:include filename="part.xacro"/>{called}</robot>')
        with pytest.raises(RobotFileError) as caught:
            load_robot(file)
        last = max(caught.value.refusals, key=lambda refusal: refusal.line or 0)
        assert (Path(last.file).name, last.line) == ("part.xacro", line)


def test_a_file_may_be_included_twice(expand: Expand, tmp_path: Path) -> None:
    (tmp_path / "sub.xacro").write_text("<robot><z/></robot>")
    assert len(expand('<xacro:include filename="sub.xacro"/>' * 3).children) == 3


def test_every_included_file_is_in_the_hash(tmp_path: Path) -> None:
    file = tmp_path / "robot.xacro"
    file.write_text(f'{HEAD}<xacro:include filename="sub.xacro"/></robot>')
    hashes = set()
    for text in ("<robot/>", "<robot><z/></robot>"):
        (tmp_path / "sub.xacro").write_text(text)
        reading = reading_of(file)
        expand_xacro(reading.open_markup(file), reading=reading)
        hashes.add(reading.source("xacro").sha256)
    assert len(hashes) == 2


def test_an_optional_include_that_is_missing_is_listed(tmp_path: Path) -> None:
    file = tmp_path / "robot.xacro"
    file.write_text(f'{HEAD}\n<xacro:include filename="no.xacro" optional="true"/></robot>')
    reading = reading_of(file)
    assert not expand_xacro(reading.open_markup(file), reading=reading).children
    (repair,) = reading.diagnostics.repairs
    assert (repair.code, repair.line) == (Code.INCLUDE, 2)


def test_a_fault_in_an_include_names_its_file_and_line(expand: Expand, tmp_path: Path) -> None:
    (tmp_path / "sub.xacro").write_text(
        '<robot>\n<xacro:macro name="m" params="a">\n<z b="${a/0}"/></xacro:macro></robot>'
    )
    with pytest.raises(RobotFileError) as caught:
        expand('<xacro:include filename="sub.xacro"/>\n\n\n\n<xacro:m a="1"/>')
    refusal = caught.value.refusals[0]
    assert (Path(refusal.file).name, refusal.line) == ("sub.xacro", 3)


def test_a_fault_in_a_call_names_the_caller(expand: Expand, tmp_path: Path) -> None:
    (tmp_path / "sub.xacro").write_text(SUB)
    with pytest.raises(RobotFileError) as caught:
        expand('<xacro:include filename="sub.xacro"/>\n<xacro:m/>')
    refusal = caught.value.refusals[0]
    assert (refusal.file, refusal.line, refusal.code) == ("robot.xacro", 2, Code.MACRO)


def test_a_fault_in_a_property_names_its_definition(expand: Expand) -> None:
    with pytest.raises(RobotFileError, match="did you mean 'length'") as caught:
        expand(
            '<xacro:property name="length" value="1"/>\n'
            '<xacro:property name="a" value="${2*lenght}"/>\n\n<z a="${a}"/>'
        )
    assert caught.value.refusals[0].line == 2


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("<robot><link/></robot>", False),
        ('<robot xmlns:xacro="x"><link/></robot>', False),
        ('<robot xmlns:xacro="x"><link name="${a}"/></robot>', True),
        ('<robot xmlns:xacro="x"><link name="$(arg a)"/></robot>', True),
        ('<robot><link name="${a}"/></robot>', False),
        ('<robot><a><xacro:property name="a" value="1"/></a></robot>', True),
    ],
)
def test_uses_xacro(text: str, uses: bool) -> None:
    assert uses_xacro(parse_xml(text.encode(), diagnostics=Diagnostics("f"))) is uses
