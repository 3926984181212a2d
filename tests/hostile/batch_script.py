"""A user's script that runs a batch; it has no `if __name__ == "__main__"`, as many have not.

Takes the batch as JSON from standard input and prints one JSON line for each finished task.
"""

import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from kinetarium.batch.worker import Task
from kinetarium.batch.worker_pool import IsolatedExecutor

print(json.dumps({"script": os.getpid()}), flush=True)
order = json.load(sys.stdin)
sys.path.insert(0, order["path"])
executor = IsolatedExecutor(order["workers"], timeout=order["timeout"], memory=order["memory"])
tasks = [Task(**task) for task in order["tasks"]]
for finished in executor.execute(tasks, runs=Path(order["runs"])):
    print(json.dumps({**asdict(finished), "time": time.time()}), flush=True)
