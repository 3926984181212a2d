"""Recordings, run folders and result folders on disk, written atomically."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.recording.checksums import ChecksumError as ChecksumError
    from kinetarium.recording.recording import Channel as Channel
    from kinetarium.recording.recording import Recording as Recording
    from kinetarium.recording.recording import Row as Row
    from kinetarium.recording.recording import Run as Run
    from kinetarium.recording.recording import RunStatus as RunStatus
    from kinetarium.recording.result_folder import ResultFolder as ResultFolder
    from kinetarium.recording.result_folder import ResultFolderError as ResultFolderError
    from kinetarium.recording.run_folder import RunFileError as RunFileError
    from kinetarium.recording.verification import verify_folder as verify_folder
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
