"""The studies: each a folder of its own, found through entry points."""
