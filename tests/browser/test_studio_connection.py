"""A page whose server goes away and comes back."""

import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened, write_runs
from kinetarium.storage.atomic import STUDIO_SESSION
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.mark.console_errors("ERR_CONNECTION", "WebSocket", "403")
def test_a_page_outlives_its_server(browser, tmp_path):
    write_runs(tmp_path / "first", [drop_run("a")])
    context = browser.new_context(viewport=SIZE)
    try:
        with running_studio(tmp_path) as studio:
            view = Opened(context, studio.address)
            banner = view.page.locator(".banner")
            assert not banner.is_visible() and view.complaints == []
        banner.wait_for(state="visible")
        assert "does not answer" in banner.text_content()
        assert view.state()["replays"] == ["drop mujoco"]  # what was loaded stays
        write_runs(tmp_path / "second", [drop_run("b", engine="ode")])
        with running_studio(tmp_path) as studio:
            banner.wait_for(state="hidden")
            view.until(lambda s: s["runs"] == 2)
            view.page.locator(".run", has_text="ode").locator(".name").click()
            view.until(lambda s: s["replays"] == ["drop ode"])
            view.page.reload()
            view.page.evaluate("window.kinetarium.ready")
            assert view.state()["runs"] == 2
        banner.wait_for(state="visible")
        text = (tmp_path / STUDIO_SESSION).read_text().split()
        (tmp_path / STUDIO_SESSION).unlink()
        # With another token, on the same port, the page is told so.
        with running_studio(tmp_path, port=int(text[1])) as studio:
            view.page.get_by_text("with another token").wait_for()
            view.page.goto(f"http://{studio.host}/")
            assert "kinetarium studio" in view.page.locator("body").inner_text()
            assert view.page.locator("h1").count() == 1
            view.page.goto(studio.address)
            view.page.evaluate("window.kinetarium.ready")
            assert view.state()["runs"] == 2
        unexpected = [
            text
            for text in view.complaints
            if "ERR_CONNECTION" not in text and "WebSocket" not in text and "403" not in text
        ]
        assert unexpected == []
    finally:
        context.close()
