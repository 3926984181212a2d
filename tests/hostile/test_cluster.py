"""A Dask cluster under TLS whose workers and coordinator are killed, or are not what they claim."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars
import pytest

from hostile.cluster_script import SLOW, slow_address
from hostile.fake_package import install
from hostile.faulty_study import Fault
from hostile.processes import _children, _stat, wait_until
from kinetarium.batch.cluster._remote import Requirements
from kinetarium.batch.cluster.connection import (
    ClusterError,
    ClusterSettings,
    check_settings,
    connected,
    job_script,
)
from kinetarium.batch.cluster.executor import Dispatcher, _Member, dispatcher_of
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.verification import verify_folder
from kinetarium.storage.serialization import to_builtins, to_toml
from kinetarium.studies.drop import Drop

HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Cluster:
    """A scheduler, two workers with their nannies, and its files."""

    folder: Path
    address: str
    nannies: list[int]

    @property
    def file(self) -> Path:
        return self.folder / "cluster.toml"

    def settings(self) -> ClusterSettings:
        return ClusterSettings.read(self.file)

    def workers(self) -> list[int]:
        """Return the worker processes, the children of the nannies that run Python's spawn."""
        return [pid for nanny in self.nannies for pid in _children(nanny) if _is_worker(pid)]


def _is_worker(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def certificates(folder: Path) -> dict[str, str]:
    """Write an authority of its own and a certificate that it signed."""
    from distributed import Security

    folder.mkdir(parents=True, exist_ok=True)
    made = Security.temporary()
    files = {"tls_ca": made.tls_ca_file, "tls_cert": made.tls_client_cert,
             "tls_key": made.tls_client_key}  # fmt: skip
    for name, text in files.items():
        (folder / f"{name}.pem").write_text(text)
    return {name: str(folder / f"{name}.pem") for name in files}


def dask(command: str, *words: str, tls: dict[str, str], path: str = "") -> subprocess.Popen[bytes]:
    flags = [f"--{name.replace('_', '-')}{'-file' if name == 'tls_ca' else ''}={file}"
             for name, file in tls.items()]  # fmt: skip
    found = os.pathsep.join(filter(None, [path, str(HERE), os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-m", "dask", command, *words, *flags],
        env={**os.environ, "PYTHONPATH": found},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    tls, port = certificates(folder), free_port()
    address = f"tls://127.0.0.1:{port}"
    words = ["--host", "127.0.0.1", "--port", str(port), "--dashboard-address", "127.0.0.1:0"]
    started = [dask("scheduler", *words, "--protocol", "tls", tls=tls)]
    try:
        started += [
            dask("worker", address, "--nthreads", "1", "--no-dashboard", "--dashboard-address",
                 "127.0.0.1:0", "--memory-limit", "0", "--local-directory", str(folder), tls=tls)
            for _ in range(2)
        ]  # fmt: skip
        settings = {"address": address, "lease": 1.0, **tls}
        (folder / "cluster.toml").write_text(to_toml(settings))
        cluster = Cluster(folder, address, [process.pid for process in started[1:]])
        wait_until(lambda: len(cluster.workers()) == 2, seconds=120.0)
        yield cluster
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def coordinate(cluster: Cluster, out: Path, *, count: int, diary: Path) -> subprocess.Popen[str]:
    content = {
        "study": "faulty",
        "config": {"fault": "slow", "diary": str(diary)},
        "grid": {"number": list(range(count))},
        "sweep": {},
    }
    plan = out.with_suffix(".json")
    plan.write_text(json.dumps(content))
    return start_script(plan, str(cluster.file), out, timeout=60.0)


def start_script(plan: Path, cluster: str, out: Path, *, timeout: float) -> subprocess.Popen[str]:
    script = HERE / "hostile" / "cluster_script.py"
    found = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(script), str(plan), cluster, str(out), str(timeout)],
        env={**os.environ, "PYTHONPATH": found},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(coordinator: subprocess.Popen[str], done: int) -> None:
    assert coordinator.stdout and coordinator.stderr
    for line in coordinator.stdout:
        if int(line) >= done:
            return
    raise AssertionError(coordinator.stderr.read())


def runs_of_cases(diary: Path) -> dict[str, list[float]]:
    """Return when each case began, by its number."""
    begun = defaultdict(list)
    for line in diary.read_text().splitlines():
        when, _, what, number, *_ = line.split()
        if what == "begin":
            begun[number].append(float(when))
    return begun


@pytest.mark.parametrize(
    ("count", "kills"),
    [pytest.param(24, 1, id="short"), pytest.param(200, 3, id="full", marks=pytest.mark.slow)],
)
def test_killed_workers_and_coordinator_lose_no_case_and_run_none_twice_at_a_time(
    cluster: Cluster, tmp_path: Path, count: int, kills: int
) -> None:
    out, diary = tmp_path / "out", tmp_path / "diary"
    diary.touch()
    first = coordinate(cluster, out, count=count, diary=diary)
    wait_for(first, count // 8)
    for number in range(kills):
        time.sleep(0.5)
        wait_until(lambda: len(cluster.workers()) == 2, seconds=60.0)
        os.kill(cluster.workers()[number % 2], 9)
        wait_for(first, count // 8 + (number + 1) * count // 8)
    first.kill()
    first.wait()
    second = coordinate(cluster, out, count=count, diary=diary)
    _, said = second.communicate()
    assert second.returncode == 0, said
    folder = ResultFolder.open(out)
    runs = list(folder.runs())
    assert [run.case["number"] for run in runs] == list(range(count))
    assert {str(run.status) for run in runs} == {"completed"}
    assert verify_folder(out) == []
    begun = runs_of_cases(diary)
    assert len(begun) == count
    for times in begun.values():
        for before, after in pairwise(times):
            assert after - before >= SLOW, "a case ran twice at a time"


def test_a_case_of_a_killed_coordinator_has_stopped_before_it_runs_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    out, diary = tmp_path / "out", tmp_path / "diary"
    diary.touch()
    plan = tmp_path / "plan.json"
    config = {"fault": "hang", "diary": str(diary)}
    plan.write_text(json.dumps({"study": "faulty", "config": config, "sweep": {}}))

    def begun() -> list[tuple[float, int]]:
        lines = [line.split() for line in diary.read_text().splitlines()]
        return [(float(when), int(pid)) for when, pid, what, *_ in lines if what == "begin"]

    first = start_script(plan, str(cluster.file), out, timeout=600.0)
    wait_until(begun, seconds=120.0)
    first.kill()
    first.wait()
    again = time.time()
    second = start_script(plan, str(cluster.file), out, timeout=600.0)
    try:
        wait_until(lambda: len(begun()) > 1, seconds=120.0)
        (_, before), (when, _) = begun()
        assert _stat(before)[0] in "ZX", "a case ran twice at a time"
        assert when - again >= cluster.settings().lease
    finally:
        second.send_signal(signal.SIGINT)
        _, said = second.communicate()
    assert "an earlier coordinator was killed" in said
    assert not [path for path in (out / "runs").iterdir() if "staging" in path.name]


def test_a_wrong_certificate_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    wrong = ClusterSettings(address=cluster.address, **certificates(tmp_path))
    with pytest.raises(ClusterError, match="cannot connect to tls://") as refusal:
        with connected(wrong, workers=0):
            pass
    assert "\n" not in str(refusal.value)


def test_a_worker_of_another_release_or_library_is_refused_by_name(
    cluster: Cluster, tmp_path: Path
) -> None:
    for package in ("kinetarium", "numpy"):
        install(tmp_path / package, package)
        (tmp_path / package / f"{package}.py").unlink()
    other = os.pathsep.join([str(tmp_path / "kinetarium"), str(tmp_path / "numpy")])
    tls = {name: str(cluster.folder / f"{name}.pem") for name in ("tls_ca", "tls_cert", "tls_key")}
    stranger = dask("worker", cluster.address, "--nthreads", "1", "--no-dashboard", "--name",
                    "stranger", tls=tls, path=other)  # fmt: skip
    fall = to_builtins(Drop().cases(Drop.config(engine=("mujoco",)))[0])
    required = Requirements(cases=((f"{Drop.__module__}:{Drop.__qualname__}", fall),))
    notes: list[str] = []
    addresses = []
    try:
        with connected(cluster.settings(), workers=0) as client:
            dispatcher = dispatcher_of(client, cluster.settings(), required, note=notes.append)
            work = dispatcher.run(
                range(1000),
                submit=lambda token, items: (slow_address, ()),
                seconds=lambda address: 10.0,
            )
            for _, address in work:
                addresses.append(address)
                if any("refused" in note for note in notes) and len(addresses) > 8:
                    break
            work.close()
            known = client.scheduler_info()["workers"]
    finally:
        stranger.terminate()
        stranger.wait()
    [note] = [note for note in notes if "refused" in note]
    [refused] = [address for address, about in known.items() if about["name"] == "stranger"]
    assert note.startswith(f"worker stranger ({refused}) is refused: kinetarium 1.0 instead of")
    assert "numpy 1.0 instead of" in note
    assert addresses and refused not in addresses


LOOPBACK = "0100007F"


def test_nothing_of_a_cluster_on_this_machine_listens_to_others(cluster: Cluster) -> None:
    before = listening()
    with connected(ClusterSettings(), workers=1) as client:
        services = client.scheduler_info()["services"]
        assert "dashboard" in services
        new = listening() - before
    assert new and all(address == LOOPBACK for address, _ in new)


def test_scheduler_and_workers_listen_to_others_only_where_certificates_are_needed(
    cluster: Cluster,
) -> None:
    """With the flags of docs/cluster.md: the dashboard and HTTP of workers are on the loopback."""
    with connected(cluster.settings(), workers=0) as client:
        known = client.scheduler_info(n_workers=-1)["workers"]
    addresses = [each for address, about in known.items() for each in (address, about["nanny"])]
    assert len(known) == 2 and all(address.startswith("tls://") for address in addresses)
    encrypted = {int(address.rpartition(":")[2]) for address in addresses}
    found = listening()
    assert encrypted <= {port for _, port in found}
    assert len(found) >= 8, "scheduler and dashboard, and of two workers: nanny, worker, HTTP"
    assert {port for address, port in found if address != LOOPBACK} <= encrypted


def listening() -> set[tuple[str, int]]:
    """Return address and port of all sockets at which this process and its children listen."""
    pids = [os.getpid()]
    for pid in pids:  # which grows meanwhile
        pids += _children(pid)
    own = {link for pid in pids for link in _open_files(pid)}
    found = set()
    for table in ("tcp", "tcp6"):  # proc(5)
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in own:
                address, _, port = words[1].partition(":")
                found.add((address, int(port, 16)))
    return found


def _open_files(pid: int) -> list[str]:
    files = []
    with suppress(OSError):
        for file in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                files.append(os.readlink(f"/proc/{pid}/fd/{file}"))
    return files


ENGINES = ("mujoco", "bullet", "ode", "rapier")
FAULTS = (Fault.SEGV, Fault.HANG, Fault.DIVERGED, Fault.ABRT, Fault.EXCEPTION)
STATUSES = {
    Fault.NONE: "completed",
    Fault.SEGV: "crashed",
    Fault.ABRT: "crashed",
    Fault.HANG: "timed out",
    Fault.DIVERGED: "diverged",
    Fault.EXCEPTION: "failed",
}
WHY = {
    Fault.SEGV: "SIGSEGV",
    Fault.ABRT: "SIGABRT",
    Fault.HANG: "timed out after",
    Fault.DIVERGED: "diverged after",
    Fault.EXCEPTION: "ZeroDivisionError: division",
}


@pytest.mark.parametrize(
    ("count", "faulty", "timeout", "kills"),
    [
        pytest.param(40, 3, 10.0, 1, id="short"),
        pytest.param(2000, 20, 20.0, 3, id="full", marks=pytest.mark.slow),
    ],
)
def test_a_sweep_with_faults_and_kills_is_that_without_kills(
    tmp_path: Path, count: int, faulty: int, timeout: float, kills: int
) -> None:
    every = count // faulty
    cases = [
        (ENGINES[i % 4], i, FAULTS[i // every % 5] if i % every == every // 2 else Fault.NONE)
        for i in range(count)
    ]
    columns = zip(("engine", "number", "fault"), zip(*cases, strict=True), strict=True)
    plan = tmp_path / "plan.json"
    content = {"study": "faulty", "zip": {k: list(v) for k, v in columns}, "sweep": {}}
    plan.write_text(json.dumps(content))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for number in range(kills):
        process = start_script(plan, "local", killed, timeout=timeout)
        wait_for(process, (number + 1) * count // (kills + 2))
        process.kill()
        process.wait()
    for out in (whole, killed):
        process = start_script(plan, "local", out, timeout=timeout)
        _, said = process.communicate()
        assert process.returncode == 0, said
    assert files_of(whole) == files_of(killed)
    frame = polars.read_parquet(whole / "sweep.parquet")
    assert frame.select("engine", "number", "fault").rows() == [(e, i, str(f)) for e, i, f in cases]
    for row, (_, _, fault) in zip(frame.iter_rows(named=True), cases, strict=True):
        assert row["status"] == STATUSES[fault], row
        assert (row["message"] == "") == (fault is Fault.NONE)
        assert WHY.get(fault, "") in row["message"]
        assert (row["samples"] is None) == (fault not in (Fault.NONE, Fault.DIVERGED))
    said = ResultFolder.open(whole).metrics["summary"]["cases"]
    assert said["completed"] == count - faulty and sum(said.values()) == count


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file of a result folder but those with times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "timing.json"
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (ClusterSettings(address="tcp://10.1.2.3:8786"), "--allow-plain-tcp"),
        (ClusterSettings(address="tcp://cluster.example:8786"), "without encryption"),
        (ClusterSettings(address="http://127.0.0.1:8786"), "tls://HOST:PORT"),
        (ClusterSettings(address="tls://127.0.0.1"), "tls://HOST:PORT"),
        (ClusterSettings(address="tls://127.0.0.1:99999999"), "tls://HOST:PORT"),
        (ClusterSettings(tls_ca="ca.pem"), "all three files"),
        (ClusterSettings(tls_ca="a", tls_cert="b", tls_key="c"), "'a' is not a file"),
    ],
)
def test_settings_that_are_refused(settings: ClusterSettings, message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        check_settings(settings)


def test_the_last_items_are_not_given_in_advance() -> None:
    members = {"busy": _Member(1, holds=1), "idle": _Member(1), "full": _Member(1, holds=2)}
    dispatcher: Dispatcher[int] = Dispatcher(None, Requirements(), lease=1.0, _members=members)
    assert dispatcher._free(100) == ["idle", "busy"]
    assert dispatcher._free(6) == ["idle"]  # what three workers can hold


def test_workers_that_cannot_be_reached_are_told_from_none() -> None:
    dispatcher: Dispatcher[int] = Dispatcher(None, Requirements(), lease=1.0, patience=60.0)
    assert dispatcher._without_workers() == "the cluster has had no workers for 60 s"
    dispatcher._asked["tls://10.0.0.7:9000"] = None
    assert "such as tls://10.0.0.7:9000: the scheduler must" in dispatcher._without_workers()


def test_plain_connections_that_are_allowed() -> None:
    check_settings(ClusterSettings(address="tcp://127.0.0.1:8786"))
    check_settings(ClusterSettings(address="tcp://localhost:8786"))
    check_settings(ClusterSettings(address="tcp://[::1]:8786"))
    check_settings(ClusterSettings(address="tcp://10.1.2.3:8786", allow_plain_tcp=True))


@pytest.mark.parametrize(("system", "mark"), [("slurm", "#SBATCH"), ("pbs", "#PBS")])
def test_job_scripts(tmp_path: Path, system: str, mark: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(
        f'system = "{system}"\njobs = 4\ncores = 8\nmemory = 16.0\nqueue = "short"\n'
        f'account = "arm"\nwalltime = "02:00:00"\nfolder = "{tmp_path}"\n'
        'prologue = ["module load python"]\n'
    )
    script = job_script(ClusterSettings.read(file))
    lines = script.splitlines()
    directives = " ".join(line for line in lines if line.startswith(mark))
    for word in ("short", "arm", "02:00:00"):
        assert word in directives
    assert "module load python" in lines
    assert "--protocol tls://" in lines[-1] or "tls://" in lines[-1]
    assert "--no-dashboard --dashboard-address 127.0.0.1:0" in lines[-1]
    assert "--tls-key" in lines[-1]
