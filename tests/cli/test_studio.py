import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

COMMAND = [sys.executable, "-m", "kinetarium", "studio"]


def test_the_studio_serves_until_it_is_interrupted(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, str(tmp_path), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())[0]
        # Read here, for `communicate` does not see what has come together with the first line.
        assert process.stdout.readline() == "Press Ctrl-C to stop.\n"
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert b"Kinetarium" in answer.read()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out, errors) == (0, "", "")


@pytest.mark.parametrize("taken", [False, True])
def test_what_cannot_be_served_is_said_in_one_line(tmp_path, taken):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        folder = tmp_path if taken else tmp_path / "missing"
        done = subprocess.run(
            [*COMMAND, str(folder), "--no-browser", "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert (f"cannot listen on port {port}" if taken else "is not a folder") in done.stderr


def test_help_loads_no_web_library():
    code = (
        "import sys; from kinetarium.cli import main; main(['--help']);"
        "print([m for m in ('uvicorn', 'websockets', 'h11') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"
