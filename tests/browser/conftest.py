"""The browser that all pages are opened in, and what they write on their consoles."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from needs import leave

NAMES = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """A browser that notes the errors of all its pages."""

    def __init__(self, browser):
        self._browser = browser
        self.errors = []

    def new_context(self, **options):
        return self._watched(self._browser.new_context(**options))

    def new_page(self, **options):
        page = self._browser.new_page(**options)
        self._watched(page.context)
        return page

    def _watched(self, context):
        context.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        context.on("weberror", lambda thrown: self.errors.append(str(thrown.error)))
        return context


@pytest.fixture(scope="module")
def browser(request):
    """Chromium, with the FLAGS of the test's module."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        leave("Chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=request.module.FLAGS)
        yield Browser(browser)
        browser.close()


@pytest.fixture(autouse=True)
def quiet_consoles(request):
    """Check that no page of a test wrote an error but those of its mark `console_errors`."""
    yield
    if "browser" not in request.fixturenames:
        return
    marks = request.node.iter_markers("console_errors")
    expected = [part for mark in marks for part in mark.args]
    errors = request.getfixturevalue("browser").errors
    unexpected = [text for text in errors if not any(part in text for part in expected)]
    errors.clear()  # other tests of the module have the same browser
    assert unexpected == []
