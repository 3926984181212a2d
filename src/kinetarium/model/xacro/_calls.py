"""Macro calls: binding the parameters."""

from collections.abc import Mapping, Sequence

from kinetarium.model.diagnostics import Code
from kinetarium.model.markup import Element
from kinetarium.model.xacro.macros import Macro, Parameter
from kinetarium.model.xacro.scopes import Block, Scope
from kinetarium.model.xacro.texts import Texts
from kinetarium.model.xacro.values import Value, did_you_mean, literal, shown


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
