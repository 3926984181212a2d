"""The commands: each module has the `Config` and the `run` of one, or of several of one theme."""
