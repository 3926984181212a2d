"""The study dock-float: contact of two free-floating satellites."""
