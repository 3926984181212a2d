"""The browser that all pages are opened in."""

import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser(request):
    """Chromium, with the FLAGS of the test's module."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs Chromium; `make test` installs it where it may")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=request.module.FLAGS)
        yield browser
        browser.close()
