"""Files that exist whole or not at all, strict JSON, serialization: the bottom layer."""
