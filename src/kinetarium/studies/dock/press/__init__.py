"""The study dock: two arms press satellites together."""
