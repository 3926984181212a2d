"""The study dock-mission: from orbit to capture."""
