"""The crawl and its static stability."""
