"""export_run: write a recorded run in the format of another tool; MCAP and bags without ROS."""

import io
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kinetarium.batch.study import open_study
from kinetarium.errors import KinetariumError, MissingPackageError, OutputError, one_line
from kinetarium.export.tables import ExportError, csv_bytes, npz_bytes, parquet_bytes
from kinetarium.figure.replay import Replay
from kinetarium.plugins import running_plugin
from kinetarium.recording.recording import Recording, Run
from kinetarium.recording.result_folder import result_folder_above
from kinetarium.storage.atomic import check_folder, write_atomic, write_folder_atomic
from kinetarium.storage.serialization import from_builtins
from kinetarium.storage.strict_json import strict_json

if TYPE_CHECKING:
    from rosbags.interfaces import Qos

    from kinetarium.export._messages import RosRun, Topic


_BAG_FILES = r"[\w.-]+\.db3|metadata\.yaml"
"""Names of the files of a bag, a regular expression."""

_BAG = "bag"
"""Name of the storage of a bag, whatever the folder is called."""


class ExportFormat(StrEnum):
    """The formats of exports."""

    MCAP = "mcap"
    """ROS 2 messages in one file, for Foxglove."""
    ROSBAG2 = "rosbag2"
    """A ROS 2 bag, a folder."""
    CSV = "csv"
    PARQUET = "parquet"
    NPZ = "npz"
    """NumPy arrays."""

    @property
    def suffix(self) -> str:
        """End of the file names; empty for bags, which are folders."""
        return "" if self is ExportFormat.ROSBAG2 else f".{self.value}"


def export_run(
    run: Run | Recording,
    path: Path | str,
    *,
    format: ExportFormat | str,
    replay: Replay | None = None,
    overwrite: bool = False,
) -> tuple[str, ...]:
    """Write a recorded run; the file is complete or not there at all.

    Example:
        >>> from kinetarium import run_study
        >>> from kinetarium.export import export_run, read_channels
        >>> result = run_study("drop", engine="mujoco", height=0.01, duration=0.1, workers=0)
        >>> for each in result.folder.runs():
        ...     remarks = export_run(each, "drop.csv", format="csv", overwrite=True)
        >>> read_channels("drop.csv")["time"].unit
        's'

    Args:
        run: The run, or a recording alone.
        path: The file, or the folder of a bag.
        format: One of "mcap", "rosbag2", "csv", "parquet", "npz".
        replay: The recording as moving bodies, for MCAP and bags; that of the run's study by
            default.
        overwrite: Whether to replace an existing file, or an existing bag.

    Returns:
        What could not be exported, in words; usually nothing.

    Raises:
        ExportError: If there is no recording, or it is not one of a run.
        OutputError: If it cannot be written; an existing file is then unchanged.
        MissingPackageError: If a package for the format is not installed.
    """
    try:
        format = ExportFormat(format)
    except ValueError:
        known = ", ".join(ExportFormat)
        raise ExportError(f"unknown format '{format}' (known: {known})") from None
    path = Path(path)
    _check_place(path, bag=format is ExportFormat.ROSBAG2, overwrite=overwrite)
    recording = run.recording if isinstance(run, Run) else run
    if recording is None or not len(recording["time"]):
        raise ExportError("nothing was recorded")
    about = _about(run, recording)
    remarks: tuple[str, ...] = ()
    match format:
        case ExportFormat.CSV:
            data = csv_bytes(recording)
        case ExportFormat.PARQUET:
            data = parquet_bytes(recording, about)
        case ExportFormat.NPZ:
            data = npz_bytes(recording, about)
        case ExportFormat.MCAP | ExportFormat.ROSBAG2:
            from kinetarium.export._messages import RosRun

            if replay is None and isinstance(run, Run):
                replay, remarks = _replay(run, recording)
            messages = RosRun(recording, replay)
            texts = {
                key: value if isinstance(value, str) else strict_json(value, indent=None)
                for key, value in about.items()
            }
            if format is ExportFormat.ROSBAG2:
                write_folder_atomic(path, _bag_files(messages, texts))
                return remarks
            data = _mcap_bytes(messages, texts)
    write_atomic(path, data, through_links=True)
    return remarks


def _check_place(path: Path, *, bag: bool, overwrite: bool) -> None:
    """Refuse to replace what exists, and to write into results, which contain nothing else."""
    if above := result_folder_above(path):
        raise OutputError(f"{str(path)!r} is inside the result folder {str(above)!r}")
    if os.path.lexists(path) and not overwrite:
        raise OutputError(f"{str(path)!r} already exists; --overwrite replaces it")
    if bag:
        check_folder(path, ours=_BAG_FILES)


def _about(run: Run | Recording, recording: Recording) -> dict[str, Any]:
    """Return facts about a run, JSON values."""
    about: dict[str, Any] = {"status": recording.status, "facts": dict(recording.facts)}
    if isinstance(run, Run):
        about = {"study": run.study, "key": run.key, "case": dict(run.case), **about}
    return about


def _replay(run: Run, recording: Recording) -> tuple[Replay | None, tuple[str, ...]]:
    """Return the replay of a run's study, and what is missing without one.

    A robot file that is not on this machine, or a study that is not installed, leaves the
    channels, which need neither.
    """
    try:
        study = open_study(run.study)
        case: Any = from_builtins(study.case, run.case, where=f"the case of {run.key}")
        with running_plugin():
            replay = study.replay(case, recording)
    except KinetariumError as error:
        return None, (f"exported without its robot: {one_line(str(error))}",)
    if replay is None:
        return None, (f"the study '{run.study}' has no bodies to show",)
    return replay, ()


def _mcap_bytes(run: "RosRun", about: Mapping[str, str]) -> bytes:
    """Return a run as an MCAP file of ROS 2 messages (profile "ros2", encoding "cdr").

    The profile requires the quality of service of each channel, by which players latch topics.

    Args:
        about: Facts about the run, stored as the metadata record "kinetarium".

    Raises:
        MissingPackageError: If mcap is not installed.
    """
    try:
        from mcap.writer import Writer
    except ImportError:
        raise MissingPackageError("mcap", extra="export") from None
    from rosbags.rosbag2.metadata import dump_qos_v8

    buffer = io.BytesIO()
    writer = Writer(buffer)
    writer.start(profile="ros2", library="kinetarium")
    schemas: dict[str, int] = {}
    channels: dict[Topic, int] = {}
    for sequence, (topic, time, data) in enumerate(run.messages()):
        if topic.type not in schemas:
            text, _ = run.typestore.generate_msgdef(topic.type, ros_version=2)
            schemas[topic.type] = writer.register_schema(topic.type, "ros2msg", text.encode())
        if topic not in channels:
            profiles = {"offered_qos_profiles": dump_qos_v8(_qos(topic))}
            schema = schemas[topic.type]
            channels[topic] = writer.register_channel(topic.name, "cdr", schema, profiles)
        writer.add_message(channels[topic], time, data, time, sequence)
    writer.add_metadata("kinetarium", {**about, "names": strict_json(run.names, indent=None)})
    writer.finish()  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def _bag_files(run: "RosRun", about: Mapping[str, str]) -> dict[str, bytes]:
    """Return a run as the files of a ROS 2 bag by name: SQLite storage, bag version 8.

    Args:
        about: Facts about the run, stored as custom data.
    """
    from rosbags.rosbag2 import Writer

    with TemporaryDirectory(prefix="kinetarium-") as scratch:
        folder = Path(scratch) / _BAG
        with Writer(folder, version=8) as writer:
            connections = {}
            for key, value in {**about, "names": strict_json(run.names, indent=None)}.items():
                writer.set_custom_data(f"kinetarium.{key}", value)
            for topic, time, data in run.messages():
                if topic not in connections:
                    connections[topic] = writer.add_connection(
                        topic.name,
                        topic.type,
                        typestore=run.typestore,
                        offered_qos_profiles=_qos(topic),
                    )
                writer.write(connections[topic], time, data)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _qos(topic: "Topic") -> "list[Qos]":
    """Return the profile of a latched topic; none for others, which have that of the system."""
    from rosbags.interfaces import Qos as Profile
    from rosbags.interfaces import QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime

    if not topic.latched:
        return []
    never = QosTime(2**31 - 1, 10**9 - 1)
    profile = Profile(
        QosHistory.KEEP_LAST, 1, QosReliability.RELIABLE, QosDurability.TRANSIENT_LOCAL,
        never, never, QosLiveliness.AUTOMATIC, never, False,
    )  # fmt: skip
    return [profile]
