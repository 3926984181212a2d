"""Random xacro files, most of them valid, that use the language in all its corners.

A name begins with the letter of its type (n number, s text, b truth, l list, d dictionary), so
that expressions make sense wherever, and however late, a property is worked out.
"""

from dataclasses import dataclass, field
from random import Random
from xml.sax.saxutils import escape, quoteattr

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
WORDS = ("left", "a b", "x_y", "", "it", "é", "1_0", "true story", "Left", "07a", "TRUE", "1e5")
FUNCTIONS = (
    "sin", "cos", "tan", "atan", "floor", "ceil", "fabs", "radians", "degrees", "math.sin",
    "math.floor", "math.trunc", "tanh", "float", "int", "python.int", "python.abs", "round",
)  # fmt: skip


@dataclass
class Names:
    """What is defined at one place.

    Attributes:
        properties: Names of values.
        blocks: Names of blocks.
        macros: Parameters of macros by name.
        inside: How many macros are around.
    """

    properties: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    macros: dict[str, list[str]] = field(default_factory=dict)
    inside: int = 0

    def copy(self, deeper: int = 0) -> "Names":
        """Return the names at a place whose own are lost at its end, such as a macro."""
        return Names([*self.properties], [*self.blocks], {**self.macros}, self.inside + deeper)


@dataclass
class RandomXacro:
    """A file being written.

    Attributes:
        seed: Where it starts from.
        text: The robot file.
        included: Files that it includes, by name.
        arguments: Arguments that it is expanded with.
    """

    seed: int
    text: str = ""
    included: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._arguments: list[str] = []
        self._count = 0
        names = Names()
        body = "".join(self._statement(names, 3) for _ in range(self._random.randint(4, 14)))
        self.text = f"{HEAD}{body}</robot>"

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _known(self, names: Names, letter: str) -> list[str]:
        return [name for name in names.properties if name.rsplit(".", 1)[-1][0] == letter]

    # Expressions

    def _expression(self, names: Names, letter: str, depth: int = 3) -> str:
        r, known = self._random, self._known(names, letter)
        if known and self._chance(0.45):
            return r.choice(known)
        if depth == 0:
            return self._literal(letter)
        if self._chance(0.1):
            chosen = [self._expression(names, kind, depth - 1) for kind in (letter, "b", letter)]
            return "({} if {} else {})".format(*chosen)
        inner = {
            "n": self._numeric, "s": self._textual, "b": self._logical, "l": self._listing,
            "d": self._dictionary,
        }[letter]  # fmt: skip
        return inner(names, depth - 1)

    def _literal(self, letter: str) -> str:
        r = self._random
        match letter:
            case "n":
                numbers = ("0", "1", "2", "-3", "0.5", "1e-2", "2.50", "10", ".25", "3.", "pi", "e")
                return r.choice(numbers)
            case "s":
                return repr(r.choice(WORDS))
            case "b":
                return r.choice(("True", "False"))
            case "l":
                return r.choice(("[]", "[1, 2.5]", "['a', 'b', 'c']", "(1, 2)", "[[1], 'x']"))
        return r.choice(("dict()", "dict(a=1, b=2.5)", "dict(c='x')"))

    def _numeric(self, names: Names, depth: int) -> str:
        r = self._random

        def number() -> str:
            return self._expression(names, "n", depth)

        match r.randint(0, 9):
            case 0 | 1 | 2:
                return f"{number()} {r.choice('+-*')} {number()}"
            case 3:
                return f"({number()}) {r.choice(('/', '//', '%'))} {r.choice(('2', '0.3', '-7'))}"
            case 4:
                return f"({number()}){r.choice(('**2', ' ** 3', '**0'))}"
            case 5:
                return f"{r.choice(FUNCTIONS)}({number()})"
            case 6:
                return f"{r.choice(('min', 'max', 'atan2', 'hypot'))}({number()}, {number()})"
            case 7:
                return f"len({self._expression(names, r.choice('sld'), depth)})"
            case 8:
                listed = f"(list({self._expression(names, 'l', depth)}) + [7])[-1]"
                entry = f"dict({self._expression(names, 'd', depth)}, a={number()})['a']"
                return r.choice((f"-({number()})", listed, entry))
        return f"round({number()}, {r.randint(0, 4)})"

    def _textual(self, names: Names, depth: int) -> str:
        r = self._random

        def text() -> str:
            return self._expression(names, "s", depth)

        match r.randint(0, 6):
            case 0 | 1:
                return f"{text()} + {text()}"
            case 2:
                return f"str({self._expression(names, r.choice('nsbl'), depth)})"
            case 3:
                return f"({text()}).{r.choice(('upper', 'lower', 'strip', 'title'))}()"
            case 4:
                return f"({text()}).replace({r.choice('aelt ')!r}, {text()})"
            case 5:
                return f"({text()})[{r.choice((':1', '1:', '::-1', '-2:'))}]"
        return f"{text()} * {r.randint(0, 3)}"

    def _logical(self, names: Names, depth: int) -> str:
        r = self._random

        def some(letter: str) -> str:
            return self._expression(names, letter, depth)

        match r.randint(0, 6):
            case 0 | 1:
                relation = r.choice(("==", "!=", "<", ">=", ">"))
                return f"({some('n')}) {relation} ({some('n')})"
            case 2:
                return f"({some('s')}) {r.choice(('==', '!=', 'in', 'not in'))} ({some('s')})"
            case 3:
                return f"({some('b')} {r.choice(('and', 'or'))} {some('b')})"
            case 4:
                return f"not ({some(r.choice('nbsl'))})"
            case 5:
                return f"({some('n')}) in ({some('l')})"
        return f"0 < ({some('n')}) <= 2"

    def _listing(self, names: Names, depth: int) -> str:
        r = self._random
        match r.randint(0, 5):
            case 0 | 1:
                letters = r.choices("nsbl", k=r.randint(0, 3))
                return f"[{', '.join(self._expression(names, c, depth) for c in letters)}]"
            case 2:
                return f"list({self._expression(names, 'l', depth)})"
            case 3:
                return f"list({self._expression(names, 's', depth)})"
            case 4:
                return f"({self._expression(names, 'l', depth)})[{r.choice((':1', '1:', '::2'))}]"
        return f"[{r.randint(0, 4)}] * 2"

    def _dictionary(self, names: Names, depth: int) -> str:
        return f"dict(a={self._expression(names, 'n', depth)}, b={self._literal('s')})"

    # Texts

    def _value(self, names: Names, letter: str) -> str:
        """Return a text that stands for a value of a type."""
        r = self._random
        if letter == "n" and self._chance(0.3):
            return r.choice(("1", "-2.5", "007", "1e3", " 4 ", "'5'", "+3", "0.10"))
        if letter == "s" and self._chance(0.3):
            return r.choice((*WORDS, "'quoted'", "''", "a'b", "$${n1}", "$$(x)"))
        if letter == "b" and self._chance(0.3):
            return r.choice(("true", "false", "True", "False"))
        if letter == "s" and self._chance(0.3):
            return self._mixed(names)
        if self._arguments and self._chance(0.1):
            name = r.choice(self._arguments)
            if name[0] == letter:
                return r.choice((f"$(arg {name})", f"${{xacro.arg('{name}')}}", f"$(eval {name})"))
        return f"${{{self._expression(names, letter)}}}"

    def _mixed(self, names: Names) -> str:
        parts = []
        for _ in range(self._random.randint(1, 4)):
            letter = self._random.choice("nnssbl")
            parts.append(
                f"${{{self._expression(names, letter, 2)}}}"
                if self._chance(0.6)
                else self._random.choice((" ", "_", "x", "link", "$", "$${", "1 ", "}", ")"))
            )
        text = "".join(parts)
        # A dollar before another one or a bracket is an escape, and alone at the end a fault.
        return text.replace("$$$", "").rstrip("$") or "x"

    # Statements

    def _statement(self, names: Names, depth: int) -> str:
        kinds = [
            (self._property, 8), (self._plain, 8), (self._condition, 3), (self._argument, 1),
            (self._insertion, 2), (self._attribute, 0.2),
        ]  # fmt: skip
        if depth:
            kinds += [(self._macro, 3), (self._call, 6), (self._countdown, 1), (self._block, 1)]
        if depth >= 2:
            kinds.append((self._include, 1))
        makers, weights = zip(*kinds, strict=True)
        return self._random.choices(makers, weights=weights)[0](names, max(depth - 1, 0))

    def _statements(self, names: Names, depth: int, most: int = 3) -> str:
        count = self._random.randint(1, most)
        return "".join(self._statement(names, depth) for _ in range(count))

    def _property(self, names: Names, _: int) -> str:
        r = self._random
        letter = r.choices("nsbld", weights=(6, 3, 2, 2, 1))[0]
        again = [name for name in self._known(names, letter) if "." not in name]
        name = r.choice(again) if again and self._chance(0.25) else self._fresh(letter)
        others = Names([other for other in names.properties if other != name])
        if name in names.properties and not self._chance(0.1):
            others = Names()  # what is worked out late must not go round in a circle
        text = quoteattr(self._value(others, letter))
        names.properties.append(name)
        if self._chance(0.05) and len(names.properties) > 1:
            gone = r.choice(names.properties)
            if "." not in gone:
                return f'<xacro:property name="{gone}" remove="true"/>'
        extra = ""
        if self._chance(0.2):
            extra = f' lazy_eval="{r.choice(("false", "true", "0", "${1 == 1}"))}"'
        if names.inside and self._chance(0.3):
            extra += f' scope="{r.choice(("parent", "global"))}"'
        key = "default" if self._chance(0.15) else "value"
        shown = f"${{'{name}'}}" if self._chance(0.05) else name
        return f'<xacro:property name="{shown}" {key}={text}{extra}/>'

    def _block(self, names: Names, depth: int) -> str:
        name = self._fresh("k")
        inside = self._statements(names.copy(), depth, 2)
        names.blocks.append(name)
        return f'<xacro:property name="{name}">{inside}</xacro:property>'

    def _plain(self, names: Names, depth: int) -> str:
        r = self._random
        attributes = "".join(
            f" {name}={quoteattr(self._value(names, r.choice('nnsbl')))}"
            for name in r.sample(("xyz", "rpy", "value", "name", "size"), r.randint(0, 3))
        )
        tag = r.choice(("link", "origin", "mass", "box"))
        inside = self._statements(names, depth, 2) if depth and self._chance(0.4) else ""
        if not inside and self._chance(0.15):
            inside = escape(self._mixed(names))
        if self._chance(0.08):
            value = quoteattr(f"${{{self._expression(names, 's', 2)}}}")
            inside = f"<xacro:attribute name=\"${{'k' + '{tag}'}}\" value={value}/>" + inside
        if self._chance(0.08):
            head = f"xacro:element xacro:name=\"${{'{tag}' + '_x'}}\""
            return f"<{head}{attributes}>{inside}</xacro:element>"
        return f"<{tag}{attributes}>{inside}</{tag}>"

    def _condition(self, names: Names, depth: int) -> str:
        tag = self._random.choice(("xacro:if", "xacro:unless"))
        value = self._value(names, "b")
        if self._chance(0.15):
            value = self._random.choice(("1", "0", " 1 ", "2", "${0.0}", "${[]}", "${5}"))
        # What is defined in a branch is seldom counted on behind it.
        inside = names if self._chance(0.1) else names.copy()
        return f"<{tag} value={quoteattr(value)}>{self._statements(inside, depth)}</{tag}>"

    def _argument(self, names: Names, depth: int) -> str:
        r = self._random
        letter = r.choice("nsb")
        again = [name for name in self._arguments if name[0] == letter]
        name = r.choice(again) if again and self._chance(0.2) else self._fresh(letter)
        self._arguments.append(name)
        if depth == 2 and self._chance(0.3):  # where it is certain to be reached
            self.arguments[name] = {"n": "4.5", "s": "given", "b": "true"}[letter]
        default = quoteattr(self._value(names, letter))
        return f'<xacro:arg name="{name}" default={default}/>'

    def _attribute(self, names: Names, _: int) -> str:
        """Return an attribute of what is around, which only a plain element keeps."""
        return f'<xacro:attribute name="{self._fresh("k")}" value="{self._random.randint(0, 9)}"/>'

    def _insertion(self, names: Names, _: int) -> str:
        if not names.blocks:
            return "<!-- ${nothing} -->"
        return f'<xacro:insert_block name="{self._random.choice(names.blocks)}"/>'

    def _parameters(self, names: Names) -> tuple[list[str], list[str]]:
        """Return parameters as they are declared, and their names."""
        r = self._random
        declared, known = [], []
        for letter in r.choices("nnsblk", k=r.randint(0, 4)):
            again = [name for name in self._known(names, letter) if "." not in name]
            name = r.choice(again) if again and self._chance(0.3) else self._fresh(letter)
            if name in known or "*" + name in known or "**" + name in known:
                continue
            if letter == "k":
                known.append(r.choice(("*", "**")) + name)
                declared.append(known[-1])
                continue
            known.append(name)
            equals = r.choice((":=", "=", " := "))
            match r.randint(0, 4):
                case 0:
                    value = self._value(names, letter)
                    plain = "'" not in value and '"' not in value and " " not in value
                    value = value if value and plain else "${" + self._literal(letter) + "}"
                    declared.append(f"{name}{equals}{value}")
                    known[-1] += "?"
                case 1 if name in names.properties:
                    declared.append(f"{name}{equals}^")
                    known[-1] += "?"
                case 2:
                    declared.append(f"{name}{equals}^|{self._literal(letter).replace(' ', '')}")
                    known[-1] += "?"
                case _:
                    declared.append(name)
        return declared, known

    def _macro(self, names: Names, depth: int) -> str:
        name = self._fresh("m")
        if names.macros and self._chance(0.1):
            name = self._random.choice([m for m in names.macros if "." not in m] or [name])
        declared, known = self._parameters(names)
        inner = names.copy(deeper=1)
        inner.properties += [parameter.rstrip("?") for parameter in known if "*" not in parameter]
        inner.blocks += [parameter.strip("*") for parameter in known if "*" in parameter]
        body = self._statements(inner, depth, 4)
        names.macros[name] = known
        params = f" params={quoteattr(' '.join(declared))}" if declared or self._chance(0.3) else ""
        return f'<xacro:macro name="{name}"{params}>{body}</xacro:macro>'

    def _call(self, names: Names, depth: int) -> str:
        if not names.macros:
            return self._macro(names, depth)
        r = self._random
        name = r.choice([*names.macros])
        attributes, blocks = "", ""
        for parameter in names.macros[name]:
            if "*" in parameter:
                inside = self._statements(names.copy(), min(depth, 1), 2)
                blocks += f"<block>{inside}</block>"
            elif not parameter.endswith("?") or self._chance(0.5):
                key = parameter.rstrip("?")
                attributes += f" {key}={quoteattr(self._value(names, key[0]))}"
        tag = f"xacro:{name}"
        if self._chance(0.1):
            attributes, tag = f" macro=\"${{'{name}'}}\"{attributes}", "xacro:call"
        return f"<{tag}{attributes}>{blocks}</{tag}>"

    def _countdown(self, names: Names, _: int) -> str:
        """Return a macro that calls itself, as loops are written."""
        name, n = self._fresh("m"), self._fresh("n")
        inner = names.copy(deeper=1)
        inner.properties.append(n)
        body = self._plain(inner, 0)
        return (
            f'<xacro:macro name="{name}" params="{n}"><xacro:if value="${{{n} > 0}}">{body}'
            f'<xacro:{name} {n}="${{{n} - 1}}"/></xacro:if></xacro:macro>'
            f'<xacro:{name} {n}="{self._random.randint(0, 4)}"/>'
        )

    def _include(self, names: Names, _: int) -> str:
        done = [file for file, text in self.included.items() if text]
        if done and self._chance(0.2):
            return f'<xacro:include filename="{self._random.choice(done)}"/>'
        file = f"part{len(self.included)}.xacro"
        self.included[file] = ""  # no file is included by itself
        if self._chance(0.5):
            space = self._fresh("z")
            inner = Names([*names.properties], inside=names.inside)
            body = self._statements(inner, 1, 5)
            fresh = [name for name in inner.properties if name not in names.properties]
            names.properties += [f"{space}.{name}" for name in fresh]
            names.macros |= {f"{space}.{name}": known for name, known in inner.macros.items()}
            extra = f' ns="{space}"'
        else:
            body, extra = self._statements(names, 1, 5), ""
        self.included[file] = f"{HEAD}{body}</robot>"
        optional = ' optional="true"' if self._chance(0.2) else ""
        return f'<xacro:include filename="{file}"{extra}{optional}/>'
