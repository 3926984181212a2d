"""`kinetarium reach ...`, one module for each action."""
