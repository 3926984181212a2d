"""Cases and shards on the workers of a Dask cluster (the extra `cluster`)."""
