"""The commands, one module each: its `Config` and its `run`."""
