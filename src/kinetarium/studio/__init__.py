"""The studio: a local web server and its page, on which runs are viewed."""
