"""Many cases of a study: run in isolated processes, saved as they finish, resumed."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.batch.axes import PlanError as PlanError
    from kinetarium.batch.cluster.connection import ClusterSettings as ClusterSettings
    from kinetarium.batch.cluster.executor import ClusterExecutor as ClusterExecutor
    from kinetarium.batch.comparison import ColumnDifference as ColumnDifference
    from kinetarium.batch.comparison import Comparison as Comparison
    from kinetarium.batch.comparison import ComparisonError as ComparisonError
    from kinetarium.batch.comparison import compare as compare
    from kinetarium.batch.plan import Plan as Plan
    from kinetarium.batch.sweep import Progress as Progress
    from kinetarium.batch.sweep import run_plan as run_plan
    from kinetarium.batch.worker import Executor as Executor
    from kinetarium.batch.worker import Finished as Finished
    from kinetarium.batch.worker import SerialExecutor as SerialExecutor
    from kinetarium.batch.worker import Task as Task
    from kinetarium.batch.worker_pool import IsolatedExecutor as IsolatedExecutor
    from kinetarium.batch.worker_pool import WorkerError as WorkerError
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
