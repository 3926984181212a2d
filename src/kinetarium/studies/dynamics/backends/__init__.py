"""The libraries that compute a robot's dynamics, behind one protocol."""
