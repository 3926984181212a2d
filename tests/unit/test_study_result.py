"""run_study: a study from Python is the study of the command line."""

import re
import sys
from base64 import b64decode
from pathlib import Path

import pytest

import kinetarium
from kinetarium import KinetariumError, run_study
from kinetarium.cli import main
from kinetarium.errors import UnknownNameError
from needs import need
from unit.replay_reader import ReplayReader

pytestmark = pytest.mark.engine
QUICK = {"engine": ["mujoco", "ode"], "height": 0.01, "duration": 0.1}


@pytest.fixture(scope="module")
def result() -> kinetarium.StudyResult:
    return run_study("drop", workers=0, **QUICK)


def test_what_it_holds(result: kinetarium.StudyResult) -> None:
    assert [row["engine"] for row in result.rows] == ["mujoco", "ode"]
    assert all(row["status"] == "completed" for row in result.rows)
    assert set(result.summary) >= {"mujoco", "ode"}
    times = [recording["time"] for recording in result.recordings if recording]
    assert len(times) == 2 and times[0][-1] == pytest.approx(0.1)
    assert len(result.figures) > 2


def test_the_same_as_the_command(result: kinetarium.StudyResult, tmp_path: Path) -> None:
    words = ["drop", "--engine", "mujoco", "ode", "--height", "0.01", "--duration", "0.1"]
    assert main([*words, "--workers", "0", "--quiet", "--out", str(tmp_path / "drop")]) == 0
    metrics = (tmp_path / "drop" / "metrics.json").read_bytes()
    assert (result.folder.path / "metrics.json").read_bytes() == metrics


def test_the_report_is_one_file(result: kinetarium.StudyResult, tmp_path: Path) -> None:
    path = result.report(tmp_path / "drop.html")
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    result.report(path)
    path.write_text("mine")
    with pytest.raises(KinetariumError, match="not written by Kinetarium"):
        result.report(path)
    assert path.read_text() == "mine"


def test_what_a_notebook_shows(result: kinetarium.StudyResult) -> None:
    assert repr(result) == f"<StudyResult of drop: 2 completed; {result.folder.path}>"
    shown = result._repr_html_()
    assert shown.count("<table>") == 1 and shown.count("<img ") > 3
    assert shown.count("<iframe ") == 1 and 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown, "scripts run in the frame alone"


def test_runs_of_a_folder_become_a_page(result: kinetarium.StudyResult) -> None:
    first, second = (run.key for run in result.folder.runs())
    page = kinetarium.show_runs(result.folder.path, [second])
    assert page.html.startswith("<!doctype html>") and "Content-Security-Policy" in page.html
    assert re.findall(r"(?:src|href)=[\"']?https?:", page.html.partition("<script")[0]) == []
    (held,) = re.findall(r'x-kinetarium-replay">([^<]+)<', page.html)
    assert ReplayReader(b64decode(held)).head["title"] == "drop ode"
    shown = page._repr_html_()
    assert shown.startswith("<iframe ") and 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown, "scripts run in the frame alone"
    assert repr(page).startswith("<RunPage ")
    both = kinetarium.show_runs(result.folder.path)
    assert both.html.count("x-kinetarium-replay") == 2
    assert both.html == kinetarium.show_runs(result.folder.path, [first, second]).html
    with pytest.raises(KinetariumError, match=f"no replay of 'none' \\(it has: {first}, {second}"):
        kinetarium.show_runs(result.folder.path, ["none"])


def test_a_folder_is_kept_and_resumed(tmp_path: Path) -> None:
    first = run_study("drop", out=tmp_path / "out", workers=1, **QUICK)
    assert (tmp_path / "out" / "report.html").is_file()
    before = {path: path.stat().st_ino for path in (tmp_path / "out" / "runs").iterdir()}
    again = run_study("drop", out=tmp_path / "out", workers=0, **QUICK)
    assert again.rows == first.rows
    assert {path: path.stat().st_ino for path in (tmp_path / "out" / "runs").iterdir()} == before


def test_a_temporary_folder_goes_with_its_result() -> None:
    result = run_study("drop", workers=0, engine="mujoco", height=0.01, duration=0.1)
    path = result.folder.path
    assert path.is_dir()
    del result
    assert not path.exists()


def test_refusals(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UnknownNameError, match="did you mean 'drop'"):
        run_study("dorp", out=out)
    with pytest.raises(UnknownNameError, match="did you mean 'height'"):
        run_study("drop", out=out, hight=1.0)
    with pytest.raises(KinetariumError, match=r"mass: 1e\+300 is outside"):
        run_study("drop", out=out, mass=1e300)
    with pytest.raises(KinetariumError, match="workers"):
        run_study("drop", out=out, workers=-1)
    assert not out.exists()


def test_tables_of_other_libraries(
    result: kinetarium.StudyResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(KinetariumError, match=f"pip install {library}"):
            getattr(result, f"to_{library}")()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_as_tables(result: kinetarium.StudyResult, library: str) -> None:
    need(library)
    table = getattr(result, f"to_{library}")()
    assert list(table.columns) == list(result.rows[0]) and len(table) == 2
    assert list(table["engine"]) == ["mujoco", "ode"]
