"""ClusterSettings: how the workers of a Dask cluster are reached, encrypted unless on this machine.

Whoever can connect to a scheduler can run any code on its workers, since Dask sends functions.
Connections are therefore encrypted with certificates on both sides; only a scheduler on the
loopback address, or one that the user allows, is reached without.
"""

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from kinetarium.errors import KinetariumError, MissingPackageError, one_line
from kinetarium.ranges import Range
from kinetarium.storage.serialization import from_builtins, read_toml

LOOPBACK = "127.0.0.1"
_DASHBOARD = f"{LOOPBACK}:0"
"""The dashboard can run code, too: Dask's own default is every address of the machine."""
_CONNECT_TIMEOUT = 20.0
"""Time to connect to a scheduler [s]."""


class QueueSystem(StrEnum):
    """Who starts the workers."""

    LOCAL = "local"
    """This machine."""
    SLURM = "slurm"
    PBS = "pbs"


class ClusterError(KinetariumError):
    """A cluster that cannot be used, or only without encryption."""


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """A cluster, as described in a cluster file.

    Attributes:
        address: Scheduler to connect to, tls://HOST:PORT; empty to start one.
        system: Who starts the workers of a scheduler that is started.
        jobs: Jobs to submit to a queue [-].
        cores: Worker processes in each job [-].
        memory: Memory of each job [GB].
        queue: Queue or partition; the system's own if empty.
        account: Account or project; the system's own if empty.
        walltime: Time limit of a job, HH:MM:SS.
        interface: Network interface of the scheduler, such as ib0; that of the default route if
            empty.
        directives: Further directives of the job script, such as "--constraint=avx512".
        prologue: Lines of the job script before the worker, such as "module load python".
        folder: Folder that the jobs share, for the certificates of this run; the home folder if
            empty.
        tls_ca: Certificate of the authority that signed all others (PEM).
        tls_cert: Certificate of this side (PEM).
        tls_key: Its key (PEM).
        allow_plain_tcp: Whether another machine may be reached without encryption.
        lease: Time after which a worker that lost its connection has stopped [s]: longer than
            the 30 s after which Dask gives up a connection. On this machine it is at most 1 s.
    """

    address: str = ""
    system: QueueSystem = QueueSystem.LOCAL
    jobs: Annotated[int, Range(1, 10_000, unit="-")] = 1
    cores: Annotated[int, Range(1, 1024, unit="-")] = 1
    memory: Annotated[float, Range(0.1, 1e5, unit="GB")] = 4.0
    queue: str = ""
    account: str = ""
    walltime: str = "01:00:00"
    interface: str = ""
    directives: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()
    folder: str = ""
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    allow_plain_tcp: bool = False
    lease: Annotated[float, Range(0.0, 3600.0, unit="s")] = 35.0

    @classmethod
    def read(cls, path: Path) -> "ClusterSettings":
        """Read a cluster file.

        Raises:
            KinetariumError: If it is missing or invalid.
        """
        return from_builtins(cls, read_toml(path), where=f"'{path}'")

    @property
    def is_local(self) -> bool:
        """Whether the workers are started on this machine."""
        return not self.address and self.system is QueueSystem.LOCAL


def check_settings(settings: ClusterSettings) -> None:
    """Check before anything is run that a cluster may be reached as described.

    Raises:
        KinetariumError: If Dask is not installed, an address is invalid or unencrypted, or a file
            is missing.
    """
    if settings.address:
        _check_address(settings)
    named = [settings.tls_ca, settings.tls_cert, settings.tls_key]
    if any(named) and not all(named):
        raise ClusterError("TLS needs all three files: tls_ca, tls_cert and tls_key")
    for name in filter(None, named):
        if not os.path.isfile(name):
            raise ClusterError(f"'{name}' is not a file")
    _library("distributed")
    if not settings.address and settings.system is not QueueSystem.LOCAL:
        _library("dask_jobqueue")


def _check_address(settings: ClusterSettings) -> None:
    try:
        parts = urlsplit(settings.address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in ("tls", "tcp") or not host or not port:
        raise ClusterError(
            f"'{one_line(settings.address)}' is not the address of a scheduler: tls://HOST:PORT"
        )
    if parts.scheme == "tcp" and not _is_loopback(host) and not settings.allow_plain_tcp:
        raise ClusterError(
            f"'{settings.address}' is another machine without encryption, so that anyone in between"
            " can run code here: use tls://, or --allow-plain-tcp if the network is trusted"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def connected(settings: ClusterSettings, *, workers: int) -> Iterator[Any]:
    """Yield a distributed.Client of the cluster, started if necessary and then stopped at the end.

    Args:
        workers: Number of workers of a cluster on this machine.

    Raises:
        ClusterError: If the scheduler cannot be reached, or none can be started.
    """
    check_settings(settings)
    distributed = _library("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # lost workers are our subject
    security = _security(settings)
    with ExitStack() as stack:
        try:
            if settings.address:
                target, kind = settings.address, {"timeout": _CONNECT_TIMEOUT}
            else:
                target = stack.enter_context(
                    _started(settings, security, workers=workers, submit=True)
                )
                kind = {}
            client = distributed.Client(target, security=security, set_as_default=False, **kind)
        except _FAILURES as error:
            place = settings.address or f"a {settings.system} cluster"
            raise ClusterError(f"cannot connect to {place}: {one_line(_cause(error))}") from error
        yield stack.enter_context(client)


_FAILURES = (OSError, ValueError, RuntimeError, TypeError)
"""What Dask raises if a cluster cannot be reached or started."""


def job_script(settings: ClusterSettings) -> str:
    """Return the script that would be submitted to the queue.

    Raises:
        KinetariumError: If the settings describe no queue, or the queue's library is missing.
    """
    if settings.address or settings.system is QueueSystem.LOCAL:
        raise ClusterError("a job script needs a cluster file with system = 'slurm' or 'pbs'")
    check_settings(settings)
    try:
        with _started(settings, _security(settings)) as cluster:
            return str(cluster.job_script())
    except _FAILURES as error:
        raise ClusterError(f"no job script: {one_line(_cause(error))}") from error


def _security(settings: ClusterSettings) -> Any:
    """Return the certificates: those of the files, or new ones for a cluster of our own."""
    security = _library("distributed").Security
    if settings.tls_ca:
        files = {"tls_ca_file": settings.tls_ca}
        for role in ("client", "scheduler", "worker"):
            files |= {f"tls_{role}_cert": settings.tls_cert, f"tls_{role}_key": settings.tls_key}
        return security(require_encryption=True, **files)
    if settings.address:  # files may be named in Dask's own configuration
        return security(require_encryption=True) if settings.address.startswith("tls") else None
    return security.temporary()


def _started(
    settings: ClusterSettings, security: Any, *, workers: int = 0, submit: bool = False
) -> Any:
    """Start a scheduler, and workers on this machine or, if jobs are submitted, by a queue."""
    if settings.system is QueueSystem.LOCAL:
        with _library("dask.config").set(_FRUGAL):  # nannies pass it on to their workers
            return _library("distributed").LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host=LOOPBACK,
                protocol="tls://",
                security=security,
                dashboard_address=_DASHBOARD,
                worker_dashboard_address=_DASHBOARD,
                memory_limit=0,  # our own limit is that of the child process
                silence_logs=logging.CRITICAL,
            )
    jobqueue = _library("dask_jobqueue")
    kinds = {QueueSystem.SLURM: jobqueue.SLURMCluster, QueueSystem.PBS: jobqueue.PBSCluster}
    kind = kinds[settings.system]
    command = kind.job_cls.submit_command
    if submit and not shutil.which(command):
        raise ClusterError(f"there is no {settings.system} on this machine: no command '{command}'")
    cluster = kind(
        cores=settings.cores,
        processes=settings.cores,
        memory=f"{settings.memory:g}GB",
        queue=settings.queue or None,
        account=settings.account or None,
        walltime=settings.walltime,
        interface=settings.interface or None,
        job_extra_directives=list(settings.directives),
        job_script_prologue=[*_ENVIRONMENT, *settings.prologue],
        # Without the dashboard a worker still serves HTTP, on every address by default.
        worker_extra_args=["--no-dashboard", "--dashboard-address", _DASHBOARD],
        scheduler_options={"dashboard_address": _DASHBOARD},
        protocol="tls://",
        security=security,
        shared_temp_directory=settings.folder or str(Path.home()),
    )
    if submit:
        try:
            cluster.sync(_submitted, cluster, settings.jobs)
        except BaseException:
            cluster.close()
            raise
    return cluster


async def _submitted(cluster: Any, jobs: int) -> None:
    """Submit jobs, and wait until the queue has them.

    `scale` submits in the background, where an error of the queue is only logged.
    """
    for _ in range(jobs):
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster._correct_state()
    except Exception:
        for job in cluster.workers.values():  # `close` expects no jobs that were not started
            job.status = _library("distributed.core").Status.failed
        raise


_FRUGAL = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "500ms"}
"""Without Dask's sampling of its own threads, 100 times a second, while a child process works."""
_ENVIRONMENT = (
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1",
    "export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False",
)
"""One thread for each worker process."""


def _cause(error: BaseException) -> str:
    """Return the first cause of an error in words: Dask wraps those of connections twice."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingPackageError(
            name.partition(".")[0].replace("_", "-"), extra="cluster"
        ) from None
