"""A headless Chromium for the tests of report pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def absent(reason: str) -> None:
    """Skip, or fail where the tests must run."""
    if os.environ.get("TANAGER_REQUIRE_BROWSER"):
        pytest.fail(f"TANAGER_REQUIRE_BROWSER is set, but {reason}")
    pytest.skip(reason)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser with a window as of a desktop, and end it."""
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    server = shutil.which("chromedriver")
    if binary is None or server is None:
        absent("no Chromium with chromedriver is installed: apt-get install chromium chromium-driver")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        absent("selenium cannot be imported: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    # The pages are our own, and containers rarely allow a sandbox inside them.
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(server))
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """A report that is open in a browser."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver = driver
        driver.get(path.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def errors(self) -> list[Any]:
        """What the console said since the last call."""
        return list(self.driver.get_log("browser"))

    def set_evidence(self, codes: list[int]) -> None:
        """Choose a value of every feature in its own field, as a user does; -1 is unknown."""
        self.run(
            """
            arguments[0].forEach((code, f) => {
              const select = document.getElementById(`feature-${f}`);
              if (!select || select.value === String(code)) return;
              select.value = String(code);
              select.dispatchEvent(new Event("change", { bubbles: true }));
            });
            """,
            codes,
        )

    def posterior(self, n_classes: int) -> list[float]:
        """The probabilities that are shown, to the last digit, in the order of the classes."""
        shown = self.run(
            "return [...document.querySelectorAll('#posterior li')].map((e) => [Number(e.dataset.class), e.dataset.value])"
        )
        found = {c: float(p) for c, p in shown}
        return [found[c] for c in range(n_classes)]

    def contributions(self) -> dict[int, float]:
        """What is shown of every known feature; -1 is the class before anything is known, and -2 the sum."""
        shown = self.run(
            "return [...document.querySelectorAll('#contributions li:not([hidden])')]"
            ".map((e) => [Number(e.dataset.feature), e.dataset.value])"
        )
        return {f: float(x) for f, x in shown}
