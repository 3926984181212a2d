"""The study calibrate: the track-width multiplier, identified from steady turns."""
