"""Finding the bracket that closes ${ or $(."""

from kinetarium.model.xacro.values import ExpressionError, shown


def closing_bracket(text: str, opening: int) -> int:
    """Find the bracket that closes another, passing over quoted ones and pairs in between.

    Args:
        text: The text.
        opening: The position of the opening bracket in it.

    Raises:
        ExpressionError: If it is not closed.
    """
    left = text[opening]
    right = {"{": "}", "(": ")"}[left]
    open_pairs, quote = 0, ""
    for position in range(opening, len(text)):
        character = text[position]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == left:
            open_pairs += 1
        elif character == right:
            open_pairs -= 1
            if not open_pairs:
                return position
    raise ExpressionError(
        f"{shown(text[opening - 1 :])} is not closed", remedy=f"close it with {right}"
    )
