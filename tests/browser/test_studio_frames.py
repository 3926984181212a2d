"""The studio in a frame of a notebook's page: only where its origin was allowed."""

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from browser.studio_page import SOFTWARE_WEBGL, write_runs
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


class Pages(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def notebook(folder):
    """Serve pages on a port of their own, as a notebook does, and yield the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Pages, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(10)


@pytest.mark.parametrize(
    "place",
    [
        "of the same site",
        "of another site",
        pytest.param("not allowed", marks=pytest.mark.console_errors("frame-ancestors")),
    ],
)
def test_a_frame(browser, tmp_path, place):
    write_runs(tmp_path / "out" / "drop", [drop_run("a"), drop_run("b", engine="ode")])
    with notebook(tmp_path) as port:
        allowed = () if place == "not allowed" else (f"http://localhost:{port}",)
        with running_studio(tmp_path / "out", frames=allowed) as studio:
            host = "127.0.0.1" if place == "of another site" else "localhost"
            address = f"http://{host}:{studio.port}/?token={studio.token}#mode=runs"
            head = '<!doctype html><link rel="icon" href="data:,">'  # else it is asked for
            frame = f'<iframe src="{address}" width="900" height="600"></iframe>'
            (tmp_path / "notebook.html").write_text(head + frame)
            context = browser.new_context()
            try:
                page = context.new_page()
                page.set_default_timeout(60_000)
                refused = []
                page.on("console", lambda message: refused.append(message.text))
                page.goto(f"http://localhost:{port}/notebook.html")
                inside = page.locator("iframe").element_handle().content_frame()
                if place == "not allowed":
                    for _ in range(200):
                        if any("frame-ancestors" in text for text in refused):
                            break
                        page.wait_for_timeout(50)
                    assert any("frame-ancestors 'none'" in text for text in refused)
                    assert inside.locator("canvas").count() == 0
                    return
                inside.locator(".run").first.wait_for()
                inside.evaluate("window.kinetarium.ready")
                assert inside.evaluate("kinetarium.state().replays") == ["drop mujoco"]
                # It is told of what is new.
                write_runs(tmp_path / "out" / "more", [drop_run("c", engine="bullet")])
                inside.locator(".run", has_text="bullet").wait_for()
            finally:
                context.close()
