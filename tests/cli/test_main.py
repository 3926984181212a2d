import os
import pty
import subprocess
import sys
from dataclasses import dataclass

import pytest
import tyro

from kinetarium.cli.core.arguments import parse_arguments
from kinetarium.cli.core.registry import COMMANDS, Command
from kinetarium.errors import KinetariumError
from needs import needs

HEAVY = (
    "pinocchio", "mujoco", "pybullet", "dartpy", "sapien", "plotly", "matplotlib", "jinja2",
    "numba", "scipy", "numpy", "rich", "tyro", "distributed", "uvicorn", "websockets",
)  # fmt: skip


def test_help_lists_every_command(call):
    outcome = call("--help")
    assert outcome.code == 0 and outcome.err == ""
    assert all(f"  {name} " in outcome.out for name in COMMANDS)
    assert "completion" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert call() == outcome


def test_version(call):
    code, out, _ = call("--version")
    assert code == 0
    assert out.split()[0] == "kinetarium" and out.split()[1][0].isdigit()


def test_every_command_has_help_with_the_common_flags(call):
    for name in COMMANDS:
        code, out, err = call(name, "--help")
        assert (code, err) == (0, "")
        assert all(flag in out for flag in ("--json FILE|-", "--quiet", "--debug"))
        assert "default: )" not in out and "default: False" not in out
        assert "--engine [" not in out


def test_the_help_of_a_study_names_placeholders_choices_and_defaults(call):
    out = call("drive", "--help").out
    assert "--engine NAME ..." in out and "--control [{open,closed}" in out
    assert "(default: 0)" in out and "(default: husky4)" in out
    assert "--robot FILE|NAME" in call("dynamics", "--help").out


@pytest.mark.parametrize("line", ["--help", "--version"])
def test_what_help_loads(line):
    code = (
        "import sys\n"
        "from kinetarium.cli import main\n"
        f"main([{line!r}])\n"
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_what_the_package_loads():
    code = f"import sys, kinetarium; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_help_of_a_command_loads(name):
    banned = set(HEAVY) - {"tyro", "numpy", "rich"}
    code = (
        "import sys\n"
        "from kinetarium.cli import main\n"
        f"main([{name!r}, '--help'])\n"
        f"print(*sorted({banned!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["inspekt"], "unknown command 'inspekt'; did you mean 'inspect'?"),
        (["--vershion"], "unknown flag '--vershion'; did you mean '--version'?"),
        (["inspect", "panda", "--jsno", "-"], "unknown flag '--jsno'; did you mean '--json'?"),
        (["convert", "panda", "--tu", "urdf"], "unknown flag '--tu'; did you mean '--to'?"),
        (["inspect", "-x"], "unknown flag '-x'"),
        (["inspect"], "FILE|NAME"),
        (["inspect", "panda", "--json"], "--json"),
        (["convert", "panda", "ur5", "--to", "urdf", "--out", "x"], "ur5"),
        (["convert", "panda", "--to", "urdf"], "--out"),
        (["convert", "panda", "--to", "sdf", "--out", "x"], "'sdf'"),
        (["completion", "command.com"], "'shell'"),
        (["inspect", "panda", "--xacro-arg", "size"], "NAME:=VALUE"),
        ([""], "unknown command ''"),
        (["drop", "--height", "5cm"], "--height: '5cm' is not a number in m (see"),
        (["grasp", "--speed", "fast"], "--speed: 'fast' is not a number in m/s (see"),
        (["walk", "--push", "1", "x"], "--push: 'x' is not a number in N s (see"),
        (["drop", "--seed", "1.5"], "--seed: '1.5' is not a whole number (see"),
        (["inspect", "https://a.org/x.urdf"], "'https://a.org/x.urdf' is an address; download"),
        (["studio", "--port", "a"], "--port: 'a' is not a number (see"),
    ],
)
def test_wrong_arguments(call, words, said):
    code, out, err = call(*words)
    assert code == 2
    assert out == ""
    assert said in err
    assert err.startswith("kinetarium: ") and err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "words", ["a --arg b --plain x --arg c d", "a --arg=b --plain=x --arg=c --arg d"]
)
def test_flags_of_several_values_may_be_repeated(words):
    @dataclass(frozen=True)
    class Config:
        """A command.

        Attributes:
            given: Without a flag.
            arg: Several.
            plain: One.
        """

        given: tyro.conf.Positional[str]
        arg: tuple[str, ...] = ()
        plain: str = ""

    config, _ = parse_arguments(words.split(), command="x", config=Config, help="")
    assert config == Config("a", ("b", "c", "d"), "x")
    with pytest.raises(KinetariumError, match="--plain takes one value, not x and y"):
        parse_arguments(["a", "--plain", "x", "--plain", "y"], command="x", config=Config, help="")


def test_narrow_terminals_change_nothing(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert "'sdf'" in call("convert", "panda", "--to", "sdf", "--out", "x").err


def test_debug_shows_where(call):
    code, _, err = call("inspect", "no-such-robot", "--debug")
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("kinetarium: unknown robot 'no-such-robot'")


def broken_command(error):
    def load(words):
        from kinetarium.cli.commands.robots import Config

        def run(config, invocation):
            raise error

        return Config, run

    return Command("fails", load)


def test_stopping(call, monkeypatch):
    monkeypatch.setitem(COMMANDS, "robots", broken_command(KeyboardInterrupt()))
    assert call("robots") == (130, "", "kinetarium: interrupted\n")


def test_a_defect_is_called_one(call, monkeypatch):
    monkeypatch.setitem(COMMANDS, "robots", broken_command(ZeroDivisionError("oh")))
    code, out, err = call("robots")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1 and "ZeroDivisionError: oh" in err
    outcome = call("robots", "--json", "-")
    assert outcome.code == 1
    assert outcome.json["errors"][0]["code"] == "internal"


def test_a_new_command_is_one_line(call, monkeypatch):
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Config:
        """A study.

        Attributes:
            mass: Mass of the cube [kg].
        """

        mass: float = 1.0

    def run(config, invocation):
        invocation.console.result({"mass": config.mass, "command": invocation.command_line})

    monkeypatch.setitem(COMMANDS, "grasp", Command("grasp a cube", lambda words: (Config, run)))
    outcome = call("grasp", "--mass", "2.5", "--json", "-")
    assert outcome.json == {"mass": 2.5, "command": "kinetarium grasp --mass 2.5 --json -"}
    assert "Mass of the cube [kg]" in call("grasp", "--help").out
    assert "  grasp " in call("--help").out
    assert "'heavy'" in call("grasp", "--mass", "heavy").err


def test_reader_that_leaves(shell):
    assert shell("$K --help | true") == (0, "", "")
    assert shell("$K inspect --help | true") == (0, "", "")
    assert shell("$K completion bash | head -n 1 > /dev/null") == (0, "", "")


@needs("linux")
def test_no_room_on_standard_output(shell):
    code, _, err = shell("$K --help > /dev/full")
    assert code == 2
    assert err == "kinetarium: cannot write to standard output: no space left on device\n"


def test_closed_standard_streams(shell):
    assert shell("$K --help >&-") == (0, "", "")
    assert shell("$K inspect --help >&-") == (0, "", "")
    assert shell("$K inspekt 2>&-") == (2, "", "")


def test_pipes_get_no_escape_codes(shell, arm):
    for line in ("--help", "inspect --help", f"inspect {arm}", "inspekt", "inspect"):
        outcome = shell(f"FORCE_COLOR=1 $K {line}")
        assert "\x1b" not in outcome.out + outcome.err


def test_terminals_get_tables(program, arm):
    main_end, program_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [program, "inspect", arm], stdout=program_end, stderr=program_end, env=environment
    )
    os.close(program_end)
    text = b""
    try:
        while part := os.read(main_end, 4096):
            text += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(main_end)
    assert process.wait() == 0
    assert b"\x1b[" in text and "──".encode() in text
    assert b"push" in text


def test_locale_that_cannot_spell(shell, tmp_path, arm):
    arm.write_text(arm.read_text().replace('name="turn"', 'name="Drehung-Ω"'), "utf-8")
    outcome = shell(f"PYTHONIOENCODING=ascii $K inspect {arm}")
    assert outcome.code == 0
    assert "Drehung-\\u03a9" in outcome.out
