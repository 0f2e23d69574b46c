"""A browser to look at reports with."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

NEEDLESS = ["gpu", "quic", "sync", "background-networking", "component-update", "dev-shm-usage"]
"""What the browser can do without."""


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium, driven by selenium; for tests marked `interop`, skipped where one is
    missing."""
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = shutil.which("chromium")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no Chromium")
    from selenium.common import WebDriverException

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--no-first-run"):
        options.add_argument(argument)
    for feature in NEEDLESS:
        options.add_argument(f"--disable-{feature}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for tries_left in (2, 1, 0):
        # On a busy machine the driver gives up before the browser has started, or its port is
        # taken.
        try:
            opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
            break
        except WebDriverException:
            if tries_left == 0:
                raise
    yield opened
    opened.quit()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """The browser, with nothing in its log of what another test has shown in it. It shows nothing
    afterwards: a page that moves would be drawn until the next one comes."""
    chromium.get_log("browser")
    yield chromium
    chromium.get("about:blank")


def show(browser: Any, folder: Path, text: str, width: int, features: Mapping[str, str]) -> None:
    """Show a page, written into this folder, in a window so wide and with these media features."""
    (folder / "page.html").write_text(text, encoding="utf-8")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    told = [{"name": name, "value": value} for name, value in features.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": told})
    browser.get((folder / "page.html").as_uri())


def wait(browser: Any, condition: Callable[[], Any]) -> None:
    """Return once this holds."""
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 30).until(lambda _: condition())


SMALL = """
const shown = [...document.querySelectorAll(arguments[0])].filter(one => one.checkVisibility());
return shown.map(one => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width < 44 || box.height < 44)
  .map(([one, box]) => `${one.outerHTML.slice(0, 80)}: ${box.width} by ${box.height}`);"""


def too_small(browser: Any, selector: str) -> list[str]:
    """Which of these parts of a page are harder to hit with a thumb than 44 pixels."""
    found: list[str] = browser.execute_script(SMALL, selector)
    return found
