"""reach-compare: ways to choose a base, beside the published numbers."""
