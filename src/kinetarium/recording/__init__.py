"""Results on disk: files that exist whole or not at all."""
