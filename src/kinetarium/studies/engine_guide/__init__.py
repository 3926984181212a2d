"""Which engine for what, derived from the results of several studies."""
