"""The one simulation loop."""
