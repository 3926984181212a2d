"""Strict XML: no document types, no entities, bounded size, and a line for every element."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pyexpat import ExpatError, ParserCreate
from pyexpat.errors import messages

from kinetarium.model.diagnostics import Code, Diagnostics

MOST_DEPTH = 100
MOST_ELEMENTS = 200_000
MOST_ATTRIBUTES = 100
MOST_ATTRIBUTE_CHARACTERS = 2**20
MOST_NAME_CHARACTERS = 200
MOST_ATTRIBUTES_IN_ALL = 500_000

_UTF_8 = ("utf-8", "utf8", "us-ascii", "ascii")
_SUPERSETS_OF_ASCII = ("iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252")


@dataclass(slots=True)
class Element:
    """An XML element.

    Attributes:
        tag: Its name, with the prefix as written.
        attributes: Its attributes as written.
        line: The line it starts on.
        children: The elements inside it.
        text: The characters directly inside it.
        file: The included file it is in; empty for the robot file itself.
        text_line: The line on which its text begins; 0 without text.
        text_file: The file of its text, if that is not its own.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""
    file: str = ""
    text_line: int = 0
    text_file: str = ""

    def all(self, tag: str) -> list["Element"]:
        """Return the children of one name."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator["Element"]:
        """Yield this element and all below it, in document order."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(element.children))

    def __str__(self) -> str:
        """Return the element in short: <tag name="...">."""
        name = self.attributes.get("name")
        if not name:
            return f"<{self.tag}>"
        return f'<{self.tag} name="{name if len(name) <= 80 else name[:77] + "..."}">'


class _TreeBuilder:
    """Builds the tree from expat's events and enforces the limits while it grows."""

    def __init__(self, diagnostics: Diagnostics, *, size: int, ascii_only: bool) -> None:
        self.diagnostics = diagnostics
        self._ascii = ascii_only
        self._has_room = size > MOST_ATTRIBUTE_CHARACTERS  # for an attribute that is too long
        self.root: Element | None = None
        self._open: list[tuple[Element, int]] = []
        self._texts: list[str] = []  # of the open elements, the innermost last
        self._names: set[str] = set()
        self._elements = 0
        self._attributes = 0
        # The bytes are known to be UTF-8, whatever the XML declaration calls it.
        self.parser = ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._doctype
        self.parser.XmlDeclHandler = self._declaration

    def _too_large(self, what: str, most: int) -> None:
        raise self.diagnostics.refusal(
            Code.TOO_LARGE,
            f"more than {most:,} {what}",
            remedy="split or simplify the file",
            line=self.parser.CurrentLineNumber,
        )

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        name = (encoding or "utf-8").lower().replace("_", "-")
        if name not in _UTF_8 and not (self._ascii and name in _SUPERSETS_OF_ASCII):
            raise self.diagnostics.refusal(
                Code.ENCODING,
                f"the file declares the encoding {encoding!r}",
                remedy="save it as UTF-8",
                line=1,
            )

    def _doctype(self, *_: object) -> None:
        raise self.diagnostics.refusal(
            Code.DOCTYPE,
            "document types and entities are not accepted",
            remedy="remove the <!DOCTYPE ...> declaration",
            line=self.parser.CurrentLineNumber,
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        self._attributes += len(attributes)
        if self._elements > MOST_ELEMENTS:
            self._too_large("elements", MOST_ELEMENTS)
        if len(self._open) >= MOST_DEPTH:
            self._too_large("levels of nesting", MOST_DEPTH)
        if len(attributes) > MOST_ATTRIBUTES:
            self._too_large("attributes in one element", MOST_ATTRIBUTES)
        if self._attributes > MOST_ATTRIBUTES_IN_ALL:
            self._too_large("attributes", MOST_ATTRIBUTES_IN_ALL)
        if self._has_room:
            if max(map(len, attributes.values()), default=0) > MOST_ATTRIBUTE_CHARACTERS:
                self._too_large("characters in one attribute", MOST_ATTRIBUTE_CHARACTERS)
        if tag not in self._names or not self._names.issuperset(attributes):
            if max(map(len, (tag, *attributes))) > MOST_NAME_CHARACTERS:
                self._too_large("characters in one name", MOST_NAME_CHARACTERS)
            self._names.update((tag, *attributes))
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self._open:
            self._open[-1][0].children.append(element)
        else:
            self.root = element
        self._open.append((element, len(self._texts)))

    def _text(self, text: str) -> None:
        self._texts.append(text)
        if not text.isspace():
            element = self._open[-1][0]
            if not element.text_line:  # the parser is at the end of the text
                element.text_line = self.parser.CurrentLineNumber - text.lstrip().count("\n")

    def _end(self, _: str) -> None:
        element, first = self._open.pop()
        element.text = "".join(self._texts[first:])
        del self._texts[first:]


def parse_xml(data: bytes, *, diagnostics: Diagnostics) -> Element:
    """Parse one XML document strictly, and return its root."""
    _refuse_foreign_bytes(data, diagnostics)
    builder = _TreeBuilder(diagnostics, size=len(data), ascii_only=data.isascii())
    try:
        builder.parser.Parse(data.removeprefix(b"\xef\xbb\xbf"), True)
    except ExpatError as error:
        reason = messages.get(error.code, "not well formed")
        raise diagnostics.refusal(
            Code.NOT_XML,
            f"not well-formed XML: {reason}",
            remedy="repair the XML at this line",
            line=error.lineno,
        ) from None
    finally:
        del builder.parser  # its handlers are the builder's: the cycle would keep the whole tree
    assert builder.root is not None  # expat accepts no document without an element
    return builder.root


def _refuse_foreign_bytes(data: bytes, diagnostics: Diagnostics) -> None:
    """Refuse bytes that are invalid in UTF-8 XML, with a clearer message than the parser's."""
    if not data.strip():
        raise diagnostics.refusal(Code.NOT_XML, "the file is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data:
        line = data[: data.find(b"\x00")].count(b"\n") + 1
        raise diagnostics.refusal(
            Code.ENCODING,
            "the file contains NUL bytes or is not in UTF-8",
            remedy="save it as UTF-8 text",
            line=line,
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise diagnostics.refusal(
            Code.ENCODING, "the file is not valid UTF-8", remedy="save it as UTF-8", line=line
        ) from None
