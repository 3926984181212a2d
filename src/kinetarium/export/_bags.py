"""MCAP files and ROS 2 bags of recorded runs, without ROS."""

import io
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from kinetarium.errors import MissingPackageError
from kinetarium.export._messages import RosRun, Topic
from kinetarium.storage.strict_json import strict_json

if TYPE_CHECKING:
    from rosbags.interfaces import Qos

BAG_FILES = r"[\w.-]+\.db3|metadata\.yaml"
"""Names of the files of a bag, a regular expression."""

_BAG = "bag"
"""Name of the storage of a bag, whatever the folder is called."""


def mcap_bytes(run: RosRun, about: Mapping[str, str]) -> bytes:
    """Return a run as an MCAP file of ROS 2 messages (profile "ros2", encoding "cdr").

    Args:
        about: Facts about the run, stored as the metadata record "kinetarium".

    Raises:
        MissingPackageError: If mcap is not installed.
    """
    try:
        from mcap.writer import Writer
    except ImportError:
        raise MissingPackageError("mcap", extra="export") from None
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
            channels[topic] = writer.register_channel(topic.name, "cdr", schemas[topic.type])
        writer.add_message(channels[topic], time, data, time, sequence)
    writer.add_metadata("kinetarium", {**about, "names": strict_json(run.names, indent=None)})
    writer.finish()  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def bag_files(run: RosRun, about: Mapping[str, str]) -> dict[str, bytes]:
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


def _qos(topic: Topic) -> "list[Qos]":
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
