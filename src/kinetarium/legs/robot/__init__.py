"""The walking machine as a robot model and as MJCF."""
