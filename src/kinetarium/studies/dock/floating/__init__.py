"""The study dock-float: two satellites float, meet and part."""
