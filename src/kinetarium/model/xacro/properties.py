"""<xacro:property>: a name for a value or for a block of elements."""

from keyword import iskeyword

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.xacro.directives import check_attributes
from kinetarium.model.xacro.place import Place
from kinetarium.model.xacro.scopes import Block, Lazy, Scope
from kinetarium.model.xacro.texts import Texts
from kinetarium.model.xacro.values import Value, literal, shown


def define_property(element: Element, scope: Scope, *, texts: Texts, place: Place) -> None:
    """Define, or remove, what an <xacro:property> says.

    A value is worked out when it is first used, unless lazy_eval is false or
    its scope is named.

    Args:
        element: The element.
        scope: The scope it stands in.
        texts: Works out its attributes.
        place: Where it stands.

    Raises:
        RobotFileError: If the element is not well formed.
    """
    optional = ("value", "default", "remove", "scope", "lazy_eval")
    check_attributes(element, required=["name"], optional=optional, place=place)
    attributes = element.attributes
    name = texts.text(attributes["name"], scope)
    if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
        raise place.refusal(
            Code.EXPRESSION,
            f"a property cannot be named {shown(name)}",
            remedy="use letters, digits and underscores, and no word of Python",
        )
    remove = texts.condition(attributes.get("remove", "false"), scope)
    if ("value" in attributes) + ("default" in attributes) + remove > 1:
        raise place.refusal(
            Code.MACRO,
            f"{element} has more than one of value, default and remove",
            remedy="keep one of them",
        )
    if remove:
        scope.remove(name)
        return
    if "default" in attributes and scope.defines(name):
        return
    target = _target(element, scope, place)
    text = attributes.get("value", attributes.get("default"))
    if text is None:
        target.blocks[name, False] = Block(element, place.findings.file, whole=False)
        return
    lazy = texts.condition(attributes.get("lazy_eval", "true"), scope)
    lazy = lazy and "scope" not in attributes
    value: Value = literal(text if lazy else texts.value(text, scope))
    if lazy and isinstance(value, str):
        value = Lazy(value, place.findings.file, element.line)
    target.values[name] = value


def _target(element: Element, scope: Scope, place: Place) -> Scope:
    """Give the scope that the attribute scope names."""
    named = element.attributes.get("scope")
    match named:
        case None:
            return scope
        case "global":
            return scope.outermost()
        case "parent":
            caller = scope.caller()
            if caller is None:
                raise place.refusal(
                    Code.MACRO,
                    f'{element} has scope="parent" outside of any macro',
                    remedy="remove the scope",
                )
            return caller
    raise place.refusal(
        Code.MACRO,
        f"{element} has the unknown scope {shown(named)}",
        remedy="the scope is parent or global",
    )
