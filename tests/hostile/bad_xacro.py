"""Broken and hostile xacro files, each with the code it must be refused with."""

from typing import NamedTuple

from kinetarium.model.diagnostics import Code


class Case(NamedTuple):
    """What stands inside the <robot>, on lines from 2 on, and the code."""

    name: str
    body: str
    code: Code


def prop(name: str, value: str, more: str = "") -> str:
    return f'<xacro:property name="{name}" value="{value}" {more}/>\n'


def macro(name: str, body: str, params: str = "") -> str:
    return f'<xacro:macro name="{name}" params="{params}">{body}</xacro:macro>\n'


def doubling(levels: int, leaf: str) -> str:
    """Macros of which each calls the one before twice."""
    macros = [macro("m0", leaf)]
    macros += [macro(f"m{i}", f"<xacro:m{i - 1}/><xacro:m{i - 1}/>") for i in range(1, levels)]
    return "".join(macros) + f"<xacro:m{levels - 1}/>"


def z(text: str) -> str:
    return f'<z a="{text}"/>'


INCLUDE = '<xacro:include filename="{}"/>'

CASES = [
    # expressions
    Case("unknown property", prop("length", "1") + z("${lenght}"), Code.EXPRESSION),
    Case("used before its definition", z("${a}") + prop("a", "1"), Code.EXPRESSION),
    Case(
        "two properties in a circle",
        prop("a", "${b}") + prop("b", "${a}") + z("${a}"),
        Code.EXPRESSION,
    ),
    Case("property of itself", prop("a", "1") + prop("a", "${a + 1}") + z("${a}"), Code.EXPRESSION),
    Case("a circle in text", prop("a", "x${a}y") + z("${a}"), Code.EXPRESSION),
    Case("division by zero", z("${1/0}"), Code.EXPRESSION),
    Case("a text and a number", z("${'a' + 1}"), Code.EXPRESSION),
    Case("empty expression", z("${}"), Code.EXPRESSION),
    Case("broken expression", z("${1 +* 2}"), Code.EXPRESSION),
    Case("expression not closed", z("${1 + 2"), Code.EXPRESSION),
    Case("substitution not closed", z("$(arg a"), Code.EXPRESSION),
    Case("overflow", z("${1e300 * 1e300}"), Code.EXPRESSION),
    Case("not a number", z("${float('nan')}"), Code.EXPRESSION),
    Case("infinite mass", '<link name="a"><mass value="${1e999}"/></link>', Code.EXPRESSION),
    Case("import", z("${__import__('os').system('true')}"), Code.EXPRESSION),
    Case("way to the builtins", z("${().__class__.__base__.__subclasses__()}"), Code.EXPRESSION),
    Case("opens a file", z("${open('/etc/passwd').read()}"), Code.EXPRESSION),
    Case("code in an argument", z("$(eval __import__('os').getcwd())"), Code.EXPRESSION),
    Case("format string", z("${'{0.__class__}'.format(pi)}"), Code.EXPRESSION),
    Case("reads the environment", z("$(env HOME)"), Code.EXPRESSION),
    Case("unknown substitution", z("$(anon x)"), Code.EXPRESSION),
    Case("substitution of the folder", z("$(cwd)"), Code.EXPRESSION),
    Case("unknown argument", z("$(arg nothing)"), Code.EXPRESSION),
    Case("argument without a value", '<xacro:arg name="a"/>' + z("$(arg a)"), Code.EXPRESSION),
    Case("yaml", prop("y", "${xacro.load_yaml('a.yaml')}") + z("${y}"), Code.UNSUPPORTED),
    Case("property with a bad name", prop("2x", "1"), Code.EXPRESSION),
    Case("property with a hidden name", prop("__builtins__", "1"), Code.EXPRESSION),
    Case("property named as a keyword", prop("lambda", "1"), Code.EXPRESSION),
    Case("condition that is a text", '<xacro:if value="maybe"/>', Code.EXPRESSION),
    Case("condition that is empty", '<xacro:unless value=""/>', Code.EXPRESSION),
    Case("text amid text", '<z>a<xacro:if value="1">b</xacro:if>c</z>', Code.UNSUPPORTED),
    # macros and xacro's own elements
    Case("unknown macro", macro("wheel", "") + "<xacro:weel/>", Code.MACRO),
    Case("unknown element of xacro", '<xacro:propetry name="a" value="1"/>', Code.MACRO),
    Case("macro called before its definition", "<xacro:m/>" + macro("m", ""), Code.MACRO),
    Case(
        "inner macro called outside",
        macro("o", macro("i", "")) + "<xacro:o/><xacro:i/>",
        Code.MACRO,
    ),
    Case("macro in no such namespace", "<xacro:a.b/>", Code.MACRO),
    Case("dynamic call of nothing", '<xacro:call macro="m"/>', Code.MACRO),
    Case("dynamic call without a name", "<xacro:call/>", Code.MISSING_ATTRIBUTE),
    Case("missing parameter", macro("m", "", "a b") + '<xacro:m a="1"/>', Code.MACRO),
    Case("unknown parameter", macro("m", "", "length") + '<xacro:m lenght="1"/>', Code.MACRO),
    Case("nothing to forward", macro("m", "", "a:=^") + "<xacro:m/>", Code.MACRO),
    Case("missing block", macro("m", "", "*b") + "<xacro:m/>", Code.MACRO),
    Case("block too many", macro("m", "") + "<xacro:m><z/></xacro:m>", Code.MACRO),
    Case("unknown block", '<xacro:insert_block name="b"/>', Code.MACRO),
    Case("parameter twice", macro("m", "", "a a"), Code.MACRO),
    Case("parameter without a name", macro("m", "", ":=1"), Code.MACRO),
    Case("default not closed", macro("m", "", "a:='x"), Code.MACRO),
    Case("macro without a name", "<xacro:macro/>", Code.MISSING_ATTRIBUTE),
    Case("macro with an empty name", macro("", ""), Code.MACRO),
    Case("macro with a dot", macro("a.b", ""), Code.MACRO),
    Case("macro named as an element of xacro", macro("if", ""), Code.MACRO),
    Case("property without a name", '<xacro:property value="1"/>', Code.MISSING_ATTRIBUTE),
    Case("property with value and default", prop("a", "1", 'default="2"'), Code.MACRO),
    Case("property with an unknown scope", prop("a", "1", 'scope="golbal"'), Code.MACRO),
    Case("property with an unknown attribute", prop("a", "1", 'lazy="false"'), Code.MACRO),
    Case("fault of a very long name", prop("x" * 900_000, "1", 'scope="x"'), Code.MACRO),
    Case("parent scope at the top", prop("a", "1", 'scope="parent"'), Code.MACRO),
    Case("condition without a value", "<xacro:if/>", Code.MISSING_ATTRIBUTE),
    Case("element with a bad name", '<xacro:element xacro:name="a b"/>', Code.MACRO),
    Case("element that becomes a macro", '<xacro:element xacro:name="xacro:m"/>', Code.MACRO),
    Case("element without a name", "<xacro:element/>", Code.MISSING_ATTRIBUTE),
    Case(
        "attribute with a bad name", '<z><xacro:attribute name="&lt;" value="1"/></z>', Code.MACRO
    ),
    Case(
        "attribute that a condition drops",
        '<z><xacro:if value="1"><xacro:attribute name="a" value="b"/></xacro:if></z>',
        Code.MACRO,
    ),
    Case(
        "attribute that a macro drops",
        '<xacro:macro name="m"><xacro:attribute name="a" value="b"/></xacro:macro>'
        "<z><xacro:m/></z>",
        Code.MACRO,
    ),
    Case(
        "attribute that a call drops",
        '<xacro:macro name="m"><z/></xacro:macro>'
        '<xacro:m><xacro:attribute name="a" value="b"/></xacro:m>',
        Code.MACRO,
    ),
    # includes
    Case("include that is missing", INCLUDE.format("no.xacro"), Code.INCLUDE),
    Case("include without a name", "<xacro:include/>", Code.MISSING_ATTRIBUTE),
    Case("include with an empty name", INCLUDE.format(""), Code.INCLUDE),
    Case("include of itself", INCLUDE.format("robot.xacro"), Code.INCLUDE),
    Case("include loop", INCLUDE.format("loop.xacro"), Code.INCLUDE),
    Case("include too deep", INCLUDE.format("deep0.xacro"), Code.INCLUDE),
    Case("include outside", INCLUDE.format("../secret.xacro"), Code.INCLUDE),
    Case(
        "include outside, computed",
        prop("up", "..") + INCLUDE.format("${up}/secret.xacro"),
        Code.INCLUDE,
    ),
    Case("include of an absolute path", INCLUDE.format("/etc/passwd"), Code.INCLUDE),
    Case("include by link", INCLUDE.format("link.xacro"), Code.INCLUDE),
    Case("include from afar", INCLUDE.format("https://example.org/a.xacro"), Code.INCLUDE),
    Case("include of a folder", INCLUDE.format("."), Code.INCLUDE),
    Case("include of a pipe", INCLUDE.format("pipe.xacro"), Code.INCLUDE),
    Case("include of an unknown package", INCLUDE.format("$(find nothing)/a.xacro"), Code.INCLUDE),
    Case(
        "include that leaves its package", INCLUDE.format("$(find ..)/secret.xacro"), Code.INCLUDE
    ),
    Case("include by a pattern", INCLUDE.format("*.xacro"), Code.INCLUDE),
    Case("include that is no XML", INCLUDE.format("broken.xacro"), Code.NOT_XML),
    Case("include with entities", INCLUDE.format("entities.xacro"), Code.DOCTYPE),
    Case(
        "namespace with a bad name",
        '<xacro:include filename="sound.xacro" ns="a b"/>',
        Code.INCLUDE,
    ),
    # bombs that are put out at once
    Case("macro that calls itself", macro("m", "<xacro:m/>") + "<xacro:m/>", Code.MACRO),
    Case(
        "macro that calls itself twice",
        macro("m", "<xacro:m/><xacro:m/>") + "<xacro:m/>",
        Code.MACRO,
    ),
    Case(
        "macros that call each other",
        macro("a", "<xacro:b/>") + macro("b", "<xacro:a/>") + "<xacro:a/>",
        Code.MACRO,
    ),
    Case("macro that nests itself", macro("m", "<z><xacro:m/></z>") + "<xacro:m/>", Code.TOO_LARGE),
    Case("tower of powers", z("${9**9**9**9}"), Code.EXPRESSION),
    Case("product of large numbers", z("${10**300 * 10**300}"), Code.EXPRESSION),
    Case("repeated text", z("${'x' * 10**12}"), Code.EXPRESSION),
    Case("repeated list", z("${[0] * 10**12}"), Code.EXPRESSION),
    Case("endless range", z("${len(range(10**18))}"), Code.EXPRESSION),
    Case("rounded to a billion digits", z("${round(7, -10**9)}"), Code.EXPRESSION),
    Case("formatted to a billion digits", z("${'%1000000000d' % 1}"), Code.EXPRESSION),
    Case("replaced text", z("${('a' * 99999).replace('a', 'b' * 99999)}"), Code.EXPRESSION),
    Case("deep signs", z("${" + "-" * 4000 + "1}"), Code.EXPRESSION),
    Case("deep brackets", z("${" + "(" * 2000 + ")" * 2000 + "}"), Code.EXPRESSION),
    Case("long sum", z("${1" + "+1" * 2000 + "}"), Code.EXPRESSION),
    Case("long expression", z("${" + "1" * 900_000 + "}"), Code.EXPRESSION),
    Case("expressions in expressions", z("${$(" * 9000 + ")}" * 9000), Code.EXPRESSION),
    Case("openings without end", z("${" * 300_000), Code.EXPRESSION),
    Case(
        "long chain of properties",
        "".join(prop(f"a{i}", f"${{a{i + 1}}}") for i in range(5000)) + z("${a0}"),
        Code.EXPRESSION,
    ),
    Case(
        "doubling texts",
        prop("a0", "x" * 999)
        + "".join(prop(f"a{i}", f"${{a{i - 1}}}" * 2) for i in range(1, 40))
        + z("${a39}"),
        Code.EXPRESSION,
    ),
    Case(
        "doubling lists",
        prop("a0", "${[1]}")
        + "".join(prop(f"a{i}", f"${{[a{i - 1}, a{i - 1}]}}") for i in range(1, 40))
        + z("${a39}"),
        Code.EXPRESSION,
    ),
    Case("one long text", prop("a", "x" * 100_000) + z("${a}" * 20), Code.TOO_LARGE),
    Case("catastrophic default", macro("m", "", "a:=" + "x" * 5000 + "'"), Code.MACRO),
]

BOMBS = [
    Case("doubling macros with text", doubling(60, f"<z>{'x' * 10_000}</z>"), Code.TOO_LARGE),
    Case("doubling macros", doubling(60, "<z/>"), Code.TOO_LARGE),
    Case("doubling macros without a trace", doubling(60, ""), Code.TOO_LARGE),
    Case(
        "doubling macros with attributes",
        doubling(60, "<z " + " ".join(f'a{i}="${{1}}"' for i in range(99)) + "/>"),
        Code.TOO_LARGE,
    ),
    Case(
        "doubling blocks",
        macro(
            "m",
            '<xacro:if value="${i}"><xacro:m i="${i - 1}"><c><xacro:insert_block name="b"/>'
            '<xacro:insert_block name="b"/></c></xacro:m></xacro:if>',
            "i **b",
        )
        + '<xacro:m i="60"><c><z/></c></xacro:m>',
        Code.TOO_LARGE,
    ),
    Case("millions of expressions", z("${1}" * 200_000) * 20, Code.TOO_LARGE),
    Case(
        "different expressions",
        "".join(z(f"${{{i}{'+1' * 50}}}") for i in range(100_000)),
        Code.TOO_LARGE,
    ),
    Case(
        "large lists compared",
        prop("a", "${list(range(9000))}")
        + prop("b", "${list(range(9000))}")
        + z("${a == b}") * 50_000,
        Code.TOO_LARGE,
    ),
    Case(
        "large lists printed",
        prop("a", "${[0.123456789] * 4000}") + z("x${a}") * 50_000,
        Code.TOO_LARGE,
    ),
    Case(
        "names sought through deep calls",
        prop("x", "1")
        + macro(
            "m",
            '<xacro:if value="${i}"><xacro:m i="${i - 1}"/></xacro:if>'
            f'<xacro:unless value="${{i}}">{z("${x}") * 50_000}</xacro:unless>',
            "i",
        )
        + '<xacro:m i="490"/>',
        Code.TOO_LARGE,
    ),
    Case(
        "a hundred thousand parameters",
        macro("m", "", " ".join(f"p{i}:=1" for i in range(100_000))) + "<xacro:m/>" * 50_000,
        Code.TOO_LARGE,
    ),
    Case(
        "text gathered piece by piece",
        "<z>" + ('<xacro:if value="1">' + "y" * 300 + "</xacro:if>") * 50_000 + "</z>",
        Code.TOO_LARGE,
    ),
    Case("includes of includes", INCLUDE.format("wide0.xacro"), Code.TOO_LARGE),
]
