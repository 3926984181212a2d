"""The studio: a web page, served from this machine to this machine, on which runs are watched."""
