"""Short labels of cases: only the fields in which they differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kinetarium.storage.serialization import to_builtins

Field = tuple[str, ...]
"""The path to a value: a field of the case, a field of that, and so on."""

_ENGINE: Field = ("engine",)
_PLAIN: tuple[Field, ...] = (_ENGINE, ("robot",), ("path",))
"""Fields whose values need no name."""
_NO_ENGINE = "none"
_MOST_ITEMS = 3
"""Maximum length of a list that is written out; longer ones are numbered."""


def case_labels(cases: Sequence[Any]) -> list[str]:
    """Label cases by as few of the fields in which they differ as possible.

    Nested fields, such as the dimensions of a machine, come last, and are named only if labels
    would be equal without them.

    Args:
        cases: The cases of one study.

    Returns:
        A label for each, such as "mujoco" or "mujoco, timestep 0.002, machine gain 5".
    """
    flat = [dict(_parts((), to_builtins(case))) for case in cases]
    fields = dict.fromkeys(field for entry in flat for field in entry)
    columns = {field: [entry.get(field) for entry in flat] for field in fields}
    differing = [f for f, values in columns.items() if any(v != values[0] for v in values)]
    inner = {f for f in differing if len(f) > 1 or any(isinstance(v, list) for v in columns[f])}
    plain = [f for f in _PLAIN if f in columns and columns[f][0] != _NO_ENGINE]
    named = [f for f in plain if f == _ENGINE]
    labels = _labels(named, columns) or [""] * len(flat)
    for field in sorted(differing, key=inner.__contains__):
        finer = _labels([*named, field], columns)
        if len(set(finer)) > len(set(labels)):
            named, labels = [*named, field], finer
    return labels if named else _labels(plain, columns) or labels


def _parts(field: Field, value: Any) -> Iterator[tuple[Field, Any]]:
    """Yield the innermost fields of a value; a list is a single field."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _parts((*field, name), part)
    else:
        yield field, value


def _labels(fields: Sequence[Field], columns: Mapping[Field, Sequence[Any]]) -> list[str]:
    words = [_words(field, columns[field]) for field in fields]
    return [", ".join(filter(None, row)) for row in zip(*words, strict=True)]


def _words(field: Field, values: Sequence[Any]) -> list[str]:
    """Return the text of a field for each case; empty for a case without it."""
    numbers = {kind: i for i, kind in enumerate(dict.fromkeys(map(repr, values)), 1)}
    texts = [_text(value) for value in values]
    if len(set(texts)) < len(numbers):  # some are equal after rounding, or too long
        texts = [str(v) if isinstance(v, float) else t for v, t in zip(values, texts, strict=True)]
    texts = [t or f"no. {numbers[repr(v)]}" for v, t in zip(values, texts, strict=True)]
    if field in _PLAIN:
        return ["no engine" if text == _NO_ENGINE else text for text in texts]
    # An object with a name is labelled by it.
    name = " ".join(part for part in field if part != "name").replace("_", " ")
    pairs = zip(values, texts, strict=True)
    return ["" if value is None else f"{name} {text}" for value, text in pairs]


def _text(value: Any) -> str:
    """Format a value; empty if it is too long for a label."""
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value) or "none"
    short = len(value) <= _MOST_ITEMS and not any(isinstance(v, list | Mapping) for v in value)
    return f"({', '.join(map(_text, value))})" if short else ""
