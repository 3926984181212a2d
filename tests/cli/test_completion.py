import subprocess

import pytest

from kinetarium.cli.core.registry import COMMANDS
from needs import needs


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_scripts_know_every_command_and_flag(call, shell_name):
    code, out, err = call("completion", shell_name)
    assert (code, err) == (0, "")
    assert all(name in out for name in COMMANDS)
    assert all(flag in out for flag in ("mesh-root", "allow-massless", "json", "force"))


@needs("bash")
@pytest.mark.parametrize(
    ("words", "expected"), [("ins", "inspect"), ("inspect --me", "--mesh-root")]
)
def test_bash_completes(program, words, expected):
    line = f"kinetarium {words}"
    script = f"""
        eval "$({program} completion bash)"
        COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
        COMP_LINE={line!r}; COMP_POINT={len(line)}
        $(complete -p kinetarium | sed 's/.*-F \\([^ ]*\\).*/\\1/') kinetarium
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert expected in [reply.strip() for reply in done.stdout.splitlines()], done.stderr
