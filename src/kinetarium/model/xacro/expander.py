"""Expansion of xacro to URDF: properties, conditions, macros and includes, in order."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from kinetarium.model.diagnostics import Code
from kinetarium.model.markup import MOST_DEPTH, Element
from kinetarium.model.reading import Reading
from kinetarium.model.xacro._directives import (
    Includes,
    bind_parameters,
    check_attributes,
    define_property,
    given_values,
)
from kinetarium.model.xacro.expressions import CONSTANTS
from kinetarium.model.xacro.scopes import Macro, Scope, parse_parameters
from kinetarium.model.xacro.texts import Texts
from kinetarium.model.xacro.values import Budget, ExpressionError, Value, did_you_mean, shown

MOST_CALLS = 500
"""Greatest depth of macro calls."""

_PREFIX = "xacro:"
_SUBSTITUTION = re.compile(r"\$[{(]")
_NONE: Mapping[str, str] = MappingProxyType({})
_XML_NAME = re.compile(r"[^\W\d][\w.-]*(:[^\W\d][\w.-]*)?")


def uses_xacro(root: Element) -> bool:
    """Return whether a robot file uses xacro."""
    pending, declared = [root], "xmlns:xacro" in root.attributes
    while pending:
        element = pending.pop()
        if element.tag.startswith(_PREFIX):
            return True
        if declared and _SUBSTITUTION.search("\n".join(element.attributes.values())):
            return True
        pending += element.children
    return False


def expand_xacro(
    root: Element, *, reading: Reading, arguments: Mapping[str, str] = _NONE
) -> Element:
    """Expand a xacro file to URDF.

    Expressions are interpreted, never executed; included files must be within the
    allowed roots; the environment is not read; work and size are bounded.

    Args:
        root: The root of the xacro file; it is not changed.
        reading: Names the file, and resolves and reads its includes.
        arguments: Values for the file's <xacro:arg>.

    Returns:
        A new tree; each element has the line it came from.
    """
    with reading.diagnostics.within(reading.diagnostics.file, root.line):
        return _Expander(reading, arguments).expand(root)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Elements yet to be expanded, their scope and their target.

    Attributes:
        sources: The elements to expand.
        target: The element whose children they become.
        scope: The scope in which they are evaluated.
        file: The file they are in.
        including: The files being included, outermost first.
        depth: Depth of the target in the result.
        calls: Depth of macro calls.
        holds_text: Whether there is text beside them, whose order would be lost.
        spliced: The element that they replace, such as a condition; empty for children that
            stay in their own element.
        finish: Called when all are expanded.
    """

    sources: Iterator[Element]
    target: Element
    scope: Scope
    file: str
    including: tuple[Path, ...]
    depth: int = 0
    calls: int = 0
    holds_text: bool = False
    spliced: str = ""
    finish: Callable[[], None] | None = None


class _Expander:
    """Expands a file in document order, with an explicit stack instead of recursion."""

    def __init__(self, reading: Reading, arguments: Mapping[str, str]) -> None:
        self._diagnostics = reading.diagnostics
        self._budget = Budget(self._diagnostics)
        self._texts = Texts(dict(arguments), diagnostics=self._diagnostics, budget=self._budget)
        self._includes = Includes(reading)
        self._given = frozenset(arguments)
        self._frames: list[_Frame] = []
        self._directives: dict[str, Callable[[Element, _Frame], None]] = {
            "xacro:property": self._property,
            "xacro:arg": self._argument,
            "xacro:macro": self._macro,
            "xacro:call": self._dynamic_call,
            "xacro:insert_block": self._insert_block,
            "xacro:if": self._condition,
            "xacro:unless": self._condition,
            "xacro:include": self._include,
            "xacro:element": self._element,
            "xacro:attribute": self._attribute,
        }

    def expand(self, root: Element) -> Element:
        """Expand the robot file and return the new root."""
        scope = Scope(budget=self._budget, resolve=self._texts.resolve)
        scope.values.update(CONSTANTS)
        document = Element("", {}, root.line)
        including = (self._includes.robot_file,)
        file = self._diagnostics.file
        # The root keeps its tag even if that is a directive of xacro.
        self._result_element(root, _Frame(iter(()), document, scope, file, including), tag=root.tag)
        while self._frames:
            frame = self._frames[-1]
            source = next(frame.sources, None)
            if source is not None:
                with self._diagnostics.within(frame.file, source.line):
                    self._budget.spend()
                    self._expand(source, frame)
            else:
                self._frames.pop()
                if frame.finish:
                    frame.finish()
        self._refuse_unknown_arguments()
        return document.children[0]

    def _refuse_unknown_arguments(self) -> None:
        known = sorted(self._texts.used)
        for name in sorted(self._given - self._texts.used):
            raise self._diagnostics.refusal(
                Code.UNKNOWN_NAME,
                f"the file has no argument {shown(name)}{did_you_mean(name, known)}",
                remedy=f"its arguments are: {', '.join(known) or 'none'}"[:200],
            )

    def _expand(self, source: Element, frame: _Frame) -> None:
        directive = self._directives.get(source.tag)
        if directive:
            directive(source, frame)
        elif source.tag.startswith(_PREFIX):
            self._call(source, frame, name=source.tag.removeprefix(_PREFIX))
        else:
            self._result_element(source, frame, tag=source.tag)

    def _result_element(self, source: Element, frame: _Frame, *, tag: str) -> None:
        """Expand an element of the result, then its children."""
        if frame.depth >= MOST_DEPTH:
            raise self._diagnostics.refusal(
                Code.TOO_LARGE,
                f"the expanded file has more than {MOST_DEPTH} levels of nesting",
                remedy="look for a macro that calls itself",
            )
        attributes = {
            name: self._texts.text(text, frame.scope)
            for name, text in source.attributes.items()
            if not name.startswith(_PREFIX) and name != "xmlns:xacro"
        }
        text = self._texts.text(source.text, frame.scope)
        element = Element(
            tag,
            attributes,
            source.line,
            text=text,
            file=self._diagnostics.file,
            text_line=source.text_line,
        )
        self._budget.make_element(element)
        frame.target.children.append(element)
        inside = replace(
            frame,
            sources=iter(source.children),
            target=element,
            depth=frame.depth + 1,
            holds_text=bool(text.strip()),
            spliced="",
            finish=None,
        )
        self._frames.append(inside)

    def _splice(self, source: Element, frame: _Frame) -> None:
        """Replace an element by its expanded children and its text."""
        with self._diagnostics.within(frame.file, source.line):
            text = self._texts.text(source.text, frame.scope)
            if text.strip() and frame.holds_text:
                raise self._diagnostics.refusal(
                    Code.UNSUPPORTED,
                    f"{source} is amid text and yields more text",
                    remedy="put the whole text into a property, or into the branches",
                )
        holds_text = frame.holds_text
        if text.strip():
            self._budget.make_text(len(frame.target.text) + len(text))
            if not frame.target.text.strip():
                frame.target.text_line = source.text_line
                frame.target.text_file = frame.file
            frame.target.text += text
            holds_text = True
        inside = replace(
            frame,
            sources=iter(source.children),
            holds_text=holds_text,
            spliced=str(source),
            finish=None,
        )
        self._frames.append(inside)

    def _property(self, source: Element, frame: _Frame) -> None:
        define_property(source, frame.scope, texts=self._texts)

    def _argument(self, source: Element, frame: _Frame) -> None:
        check_attributes(source, self._diagnostics, required=["name"], optional=["default"])
        name, default = source.attributes["name"], source.attributes.get("default")
        self._texts.used.add(name)
        if default is not None and name not in self._texts.arguments:
            self._texts.arguments[name] = self._texts.text(default, frame.scope)

    def _condition(self, source: Element, frame: _Frame) -> None:
        check_attributes(source, self._diagnostics, required=["value"])
        holds = self._texts.condition(source.attributes["value"], frame.scope)
        if holds is (source.tag == "xacro:if"):
            self._splice(source, frame)

    def _macro(self, source: Element, frame: _Frame) -> None:
        check_attributes(source, self._diagnostics, required=["name"], optional=["params"])
        name = source.attributes["name"].removeprefix(_PREFIX)
        if not name or "." in name or _PREFIX + name in self._directives:
            raise self._diagnostics.refusal(
                Code.MACRO,
                f"a macro cannot be named {shown(name)}",
                remedy="use letters, digits and underscores, and no directive of xacro",
            )
        text = source.attributes.get("params", "")
        self._budget.spend(len(text))
        try:
            parameters = parse_parameters(text)
        except ExpressionError as fault:
            raise self._diagnostics.refusal(
                Code.MACRO, f"macro '{name}': {fault.message}", remedy=fault.remedy
            ) from None
        frame.scope.macros[name] = Macro(name, parameters, source, frame.file)

    def _dynamic_call(self, source: Element, frame: _Frame) -> None:
        """Call the macro named by an attribute."""
        if "macro" not in source.attributes:
            check_attributes(source, self._diagnostics, required=["macro"])
        attributes = dict(source.attributes)
        name = self._texts.text(attributes.pop("macro"), frame.scope)
        self._call(replace(source, attributes=attributes), frame, name=name)

    def _call(self, source: Element, frame: _Frame, *, name: str) -> None:
        """Expand the blocks of a call, and then the macro."""
        found = frame.scope.macro(name)
        if found is None:
            known = [other for scope in frame.scope.outward() for other in scope.macros]
            directives = [tag.removeprefix(_PREFIX) for tag in self._directives]
            raise self._diagnostics.refusal(
                Code.MACRO,
                f"unknown macro {shown(name)}{did_you_mean(name, [*known, *directives])}",
                remedy="define the macro, or include the file that does, before it is called",
            )
        if frame.calls >= MOST_CALLS:
            raise self._diagnostics.refusal(
                Code.MACRO,
                f"macros call one another more than {MOST_CALLS} deep, here '{found[0].name}'",
                remedy="end the recursion with an <xacro:if>",
            )
        macro, home = found
        self._budget.spend(len(macro.parameters))
        given = given_values(source, macro, caller=frame.scope, texts=self._texts)
        blocks = Element("", {}, source.line)
        enter = partial(
            self._enter, source, frame, macro=macro, scope=home.inner(), given=given, blocks=blocks
        )
        inside = replace(
            frame,
            sources=iter(source.children),
            target=blocks,
            holds_text=False,
            spliced=str(source),
            finish=enter,
        )
        self._frames.append(inside)

    def _enter(
        self,
        source: Element,
        frame: _Frame,
        *,
        macro: Macro,
        scope: Scope,
        given: dict[str, Value],
        blocks: Element,
    ) -> None:
        """Expand a macro after the blocks of its call are expanded."""
        with self._diagnostics.within(frame.file, source.line):
            bind_parameters(
                scope,
                macro,
                given=given,
                blocks=blocks.children,
                caller=frame.scope,
                texts=self._texts,
            )
        inside = replace(frame, scope=scope, file=macro.file, calls=frame.calls + 1)
        self._splice(macro.body, inside)

    def _insert_block(self, source: Element, frame: _Frame) -> None:
        check_attributes(source, self._diagnostics, required=["name"])
        name = self._texts.text(source.attributes["name"], frame.scope)
        block = frame.scope.block(name)
        if block is None:
            known = [other for scope in frame.scope.outward() for other, _ in scope.blocks]
            raise self._diagnostics.refusal(
                Code.MACRO,
                f"unknown block {shown(name)}{did_you_mean(name, known)}",
                remedy="declare a parameter *NAME, or a property with elements",
            )
        inside = replace(frame, file=block.file, finish=None)
        if block.whole:
            self._frames.append(replace(inside, sources=iter([block.element])))
        else:
            self._splice(block.element, inside)

    def _include(self, source: Element, frame: _Frame) -> None:
        optional = ["ns", "optional"]
        check_attributes(source, self._diagnostics, required=["filename"], optional=optional)
        attributes, scope = source.attributes, frame.scope
        path = self._includes.find(
            self._texts.text(attributes["filename"], scope),
            including=frame.including,
            optional=self._texts.condition(attributes.get("optional", "false"), scope),
        )
        if path is None:
            return
        if "ns" in attributes:
            name = self._texts.text(attributes["ns"], scope)
            if not name.isidentifier():
                raise self._diagnostics.refusal(
                    Code.INCLUDE,
                    f"a namespace cannot be named {shown(name)}",
                    remedy="use letters, digits and underscores",
                )
            namespace = scope.inner(is_namespace=True)
            scope.values[name] = namespace
            scope = namespace
        file = str(path)
        with self._diagnostics.within(file, None):
            root = self._includes.read(path)
        including = (*frame.including, path)
        self._splice(root, replace(frame, scope=scope, file=file, including=including))

    def _element(self, source: Element, frame: _Frame) -> None:
        """Expand an <xacro:element>, whose tag is computed."""
        if "xacro:name" not in source.attributes:
            check_attributes(source, self._diagnostics, required=["xacro:name"])
        tag = self._texts.text(source.attributes["xacro:name"], frame.scope)
        self._refuse_bad_name(tag, source)
        self._result_element(source, frame, tag=tag)

    def _attribute(self, source: Element, frame: _Frame) -> None:
        """Set an attribute of the enclosing element."""
        check_attributes(source, self._diagnostics, required=["name", "value"])
        if frame.spliced:
            raise self._diagnostics.refusal(
                Code.MACRO,
                f"{source} is directly in {frame.spliced}, where xacro drops it",
                remedy="put it directly into the element that it belongs to, "
                "and the condition into its value",
            )
        name = self._texts.text(source.attributes["name"], frame.scope)
        self._refuse_bad_name(name, source)
        text = self._texts.text(source.attributes["value"], frame.scope)
        self._budget.make_text(len(name) + len(text))
        frame.target.attributes[name] = text

    def _refuse_bad_name(self, name: str, source: Element) -> None:
        if not _XML_NAME.fullmatch(name) or name.startswith(_PREFIX):
            raise self._diagnostics.refusal(
                Code.MACRO,
                f"{source} has the invalid name {shown(name)}",
                remedy="a name begins with a letter and has letters, digits, '_', '-' and '.'",
            )
