"""<xacro:property>, <xacro:include>, and the parameters of macro calls."""

import os
from collections.abc import Collection, Mapping, Sequence
from keyword import iskeyword
from pathlib import Path

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.markup import MOST_ELEMENTS, Element
from kinetarium.model.reading import Reading
from kinetarium.model.xacro.scopes import Block, Lazy, Macro, Parameter, Scope
from kinetarium.model.xacro.texts import Texts
from kinetarium.model.xacro.values import Value, did_you_mean, literal, shown


def check_attributes(
    element: Element,
    diagnostics: Diagnostics,
    *,
    required: Collection[str],
    optional: Collection[str] = (),
) -> None:
    """Check that one of xacro's elements has its required attributes and no unknown ones."""
    known = [*required, *optional]
    for name in required:
        if name not in element.attributes:
            raise diagnostics.refusal(
                Code.MISSING_ATTRIBUTE,
                f"{element} has no attribute {name!r}",
                remedy=f'write {name}="..."',
            )
    for name in element.attributes:
        if name not in known and not name.startswith("xmlns"):
            raise diagnostics.refusal(
                Code.MACRO,
                f"{element} has the unknown attribute {shown(name)}{did_you_mean(name, known)}",
                remedy=f"it takes {', '.join(known)}",
            )


def define_property(element: Element, scope: Scope, *, texts: Texts) -> None:
    """Define or remove the property of an <xacro:property>.

    A value is evaluated when it is first used, unless lazy_eval is false or
    its scope is named.
    """
    diagnostics = texts.diagnostics
    optional = ("value", "default", "remove", "scope", "lazy_eval")
    check_attributes(element, diagnostics, required=["name"], optional=optional)
    attributes = element.attributes
    name = texts.text(attributes["name"], scope)
    if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
        raise diagnostics.refusal(
            Code.EXPRESSION,
            f"a property cannot be named {shown(name)}",
            remedy="use letters, digits and underscores, and no Python keyword",
        )
    remove = texts.condition(attributes.get("remove", "false"), scope)
    if ("value" in attributes) + ("default" in attributes) + remove > 1:
        raise diagnostics.refusal(
            Code.MACRO,
            f"{element} has more than one of value, default and remove",
            remedy="keep one of them",
        )
    if remove:
        scope.remove(name)
        return
    if "default" in attributes and scope.defines(name):
        return
    target = _target(element, scope, diagnostics)
    text = attributes.get("value", attributes.get("default"))
    if text is None:
        target.blocks[name, False] = Block(element, diagnostics.file, whole=False)
        return
    lazy = texts.condition(attributes.get("lazy_eval", "true"), scope)
    lazy = lazy and "scope" not in attributes
    value: Value = literal(text if lazy else texts.value(text, scope))
    if lazy and isinstance(value, str):
        value = Lazy(value, diagnostics.file, element.line)
    target.values[name] = value


def _target(element: Element, scope: Scope, diagnostics: Diagnostics) -> Scope:
    """Return the scope named by the attribute `scope`."""
    named = element.attributes.get("scope")
    match named:
        case None:
            return scope
        case "global":
            return scope.outermost()
        case "parent":
            caller = scope.caller()
            if caller is None:
                raise diagnostics.refusal(
                    Code.MACRO,
                    f'{element} has scope="parent" outside of any macro',
                    remedy="remove the scope",
                )
            return caller
    raise diagnostics.refusal(
        Code.MACRO,
        f"{element} has the unknown scope {shown(named)}",
        remedy="the scope is parent or global",
    )


MOST_DEPTH = 50
"""Greatest depth of includes."""

MOST_INCLUDES = 1000
"""Greatest number of includes."""


class Includes:
    """Resolves and reads the files that a robot file includes, each once."""

    def __init__(self, reading: Reading) -> None:
        """Start without includes."""
        self._reading = reading
        self._diagnostics = reading.diagnostics
        self._read: dict[Path, Element] = {}
        self._elements = 0
        self._includes = 0
        self.robot_file = Path(os.path.realpath(reading.path))

    def find(self, uri: str, *, including: tuple[Path, ...], optional: bool) -> Path | None:
        """Find an included file.

        Args:
            uri: The file as it is named: relative to the including file, or package://...
            including: The files being included, outermost first.
            optional: Whether a missing file is skipped, and listed as a repair.
        """
        self._includes += 1
        if self._includes > MOST_INCLUDES:
            raise self._diagnostics.refusal(
                Code.TOO_LARGE,
                f"more than {MOST_INCLUDES:,} includes",
                remedy="define a macro once and call it",
            )
        if any(character in uri for character in "*?["):
            raise self._diagnostics.refusal(
                Code.INCLUDE,
                f"include {shown(uri)} is a pattern",
                remedy="include each file by its name",
            )
        line = self._diagnostics.line
        try:
            path = self._reading.assets.include(uri, line=line, folder=including[-1].parent)
        except RobotFileError as error:
            if not optional:
                raise
            message = f"omitted: {error.refusals[0].message}"
            self._diagnostics.repair(Code.INCLUDE, f"include {shown(uri)}", message, line=line)
            return None
        if path in including:
            loop = [file.name for file in including[including.index(path) :]]
            raise self._diagnostics.refusal(
                Code.INCLUDE,
                f"files include one another: {' -> '.join([*loop, path.name])}",
                remedy="remove one of the includes",
            )
        if len(including) > MOST_DEPTH:
            raise self._diagnostics.refusal(
                Code.INCLUDE,
                f"includes are more than {MOST_DEPTH} deep",
                remedy="include the files from the robot file itself",
            )
        return path

    def read(self, path: Path) -> Element:
        """Read an included file, once even if it is included several times."""
        if path not in self._read:
            root = self._reading.open_markup(path, code=Code.INCLUDE)
            self._elements += sum(1 for _ in root.walk())
            if self._elements > MOST_ELEMENTS:
                raise self._diagnostics.refusal(
                    Code.TOO_LARGE,
                    f"the included files have more than {MOST_ELEMENTS:,} elements",
                    remedy="include fewer files",
                    line=1,
                )
            self._read[path] = root
        return self._read[path]


def given_values(call: Element, macro: Macro, *, caller: Scope, texts: Texts) -> dict[str, Value]:
    """Evaluate the parameters that a call passes as attributes, in the caller's scope."""
    known = [parameter.name for parameter in macro.parameters if not parameter.stars]
    values = {}
    for name, text in call.attributes.items():
        if name.startswith("xmlns:"):
            continue
        if name not in known:
            raise texts.diagnostics.refusal(
                Code.MACRO,
                f"the macro '{macro.name}' has no parameter {shown(name)}"
                f"{did_you_mean(name, known)}",
                remedy=f"its parameters are: {', '.join(known) or 'none'}"[:200],
            )
        values[name] = literal(texts.value(text, caller))
    return values


def bind_parameters(
    scope: Scope,
    macro: Macro,
    *,
    given: Mapping[str, Value],
    blocks: Sequence[Element],
    caller: Scope,
    texts: Texts,
) -> None:
    """Fill the scope of a call with the macro's parameters.

    Args:
        blocks: The elements that the call passes, expanded.
        caller: The scope in which defaults are evaluated.
    """
    waiting = iter(blocks)
    for parameter in macro.parameters:
        if parameter.stars:
            element = next(waiting, None)
            if element is None:
                raise texts.diagnostics.refusal(
                    Code.MACRO,
                    f"the call of '{macro.name}' has no element for its block '{parameter.name}'",
                    remedy="put one element for each block parameter inside the call",
                )
            block = Block(element, texts.diagnostics.file, whole=parameter.stars == 1)
            scope.blocks[parameter.name, block.whole] = block
        elif parameter.name in given:
            scope.values[parameter.name] = given[parameter.name]
        else:
            scope.values[parameter.name] = _default(parameter, macro, caller, texts)
    surplus = next(waiting, None)
    if surplus is not None:
        raise texts.diagnostics.refusal(
            Code.MACRO,
            f"the macro '{macro.name}' has no block parameter for {surplus}",
            remedy="remove the element, or declare a parameter *name for it",
        )


def _default(parameter: Parameter, macro: Macro, caller: Scope, texts: Texts) -> Value:
    if parameter.forwarded and caller.defines(parameter.name):
        return literal(caller.lookup(parameter.name))
    if parameter.default is None:
        raise texts.diagnostics.refusal(
            Code.MACRO,
            f"the call of '{macro.name}' lacks its parameter '{parameter.name}'",
            remedy=f'write {parameter.name}="..."',
        )
    return literal(texts.value(parameter.default, caller))
