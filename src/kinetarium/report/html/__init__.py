"""Pages as self-contained HTML files."""
