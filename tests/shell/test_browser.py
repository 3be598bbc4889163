"""A generated page in a real browser, with the network off: usable, accessible, printable."""

import shutil

import numpy as np
import pytest

from sciprec import trace
from sciprec.report.comparison import comparison_page
from sciprec.results.comparison import compare
from tests.diagnosis.faulty_kernels import advected

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.slow
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NARROW, WIDE = {"width": 400, "height": 800}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"needs a browser: none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, little_batch):
    """opened(...): a page in a new window that is offline; complaints of the page are errors."""
    contexts = []

    def made(path=little_batch.page, **options):
        context = browser.new_context(offline=True, **({"viewport": WIDE} | options))
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(path.as_uri())
        return page

    yield made
    for context in contexts:
        context.close()


def of_a_comparison(folder, batch):
    """The page of one."""
    golden, actual = (batch.folder / f"little_climate__{name}.nc" for name in ("fp64", "fp16"))
    text = comparison_page(compare(golden, actual), golden="fp64.nc", actual="fp16.nc")
    (folder / "comparison.html").write_text(text, encoding="utf-8")
    return folder / "comparison.html"


def of_a_trace(folder, batch):
    u = 1.0 + np.round(np.sin(np.linspace(0.0, 6.0, 60)) * 64) / 256
    found = trace(advected, "bf16", (u, np.zeros(60), 40), output="u")
    return found.html(folder / "trace.html")


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)])
@pytest.mark.parametrize("made", [lambda folder, batch: batch.page, of_a_comparison, of_a_trace])
def test_axe_finds_nothing(made, opened, little_batch, tmp_path, scheme, viewport):
    page = opened(made(tmp_path, little_batch), color_scheme=scheme, viewport=viewport)
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def first_column(page, table):
    return page.locator(f"#{table} tbody th").all_text_contents()


def test_a_click_on_a_heading_sorts_and_another_reverses(opened):
    page = opened()
    assert first_column(page, "savings-little_climate") == ["fp32", "fp16"]
    heading = page.locator("#savings-little_climate thead th").filter(has_text="bytes of a number")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert first_column(page, "savings-little_climate") == ["fp16", "fp32"]
    heading.get_by_role("button").press("Enter")  # by keyboard, too
    assert heading.get_attribute("aria-sort") == "descending"
    assert first_column(page, "savings-little_climate") == ["fp32", "fp16"]


def test_sorting_by_numbers_is_by_their_value(opened):
    page = opened()
    column = page.locator("#runs-little_climate thead th").filter(has_text="relative l2")
    column.get_by_role("button").click()
    column.get_by_role("button").click()
    shown = page.locator("#runs-little_climate tbody td:nth-child(6)[data-value]")
    values = [float(v) for v in shown.evaluate_all("cells => cells.map(c => c.dataset.value)")]
    assert values == sorted(values, reverse=True) and values[0] > values[-1]


def test_a_choice_shows_the_map_of_another_arithmetic(opened):
    page = opened()
    group = page.locator("[data-switch]").first
    shown = lambda: [  # noqa: E731
        one.get_attribute("data-choice")
        for one in group.locator("[data-choice]").all()
        if one.is_visible()
    ]
    assert shown() == ["fp16"]  # the worst first
    group.get_by_role("radio", name="fp32").check()
    assert shown() == ["fp32"]


def test_without_scripts_everything_is_there(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("[data-choice]").count() == 2
    assert all(one.is_visible() for one in page.locator("[data-choice]").all())
    assert page.locator("fieldset, button").count() == 0


def test_a_phone_shows_every_verdict_of_two_arithmetics(opened):
    page = opened(viewport=NARROW)
    ends = page.locator(".mark").evaluate_all("a => a.map(c => c.getBoundingClientRect().right)")
    assert len(ends) == 4 and max(ends) <= NARROW["width"]


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("made", [None, of_a_comparison, of_a_trace])
def test_what_scrolls_sideways_says_so_and_nothing_else(
    opened, viewport, made, tmp_path, little_batch
):  # fmt: skip
    """Pages of comparisons and traces have no script."""
    path = little_batch.page if made is None else made(tmp_path, little_batch)
    page = opened(path, viewport=viewport)
    page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    page.wait_for_timeout(100)
    hinted = page.evaluate(
        """[...document.querySelectorAll('.scroll, figure')].map(one => [
            one.scrollWidth > one.clientWidth + 1,
            getComputedStyle(one, '::before').content.includes('scrolls sideways')])"""
    )
    assert hinted and all(scrolls == said for scrolls, said in hinted)
    assert any(said for _, said in hinted) == (viewport == NARROW)


def test_a_phone_shows_every_legend(opened):
    page = opened(viewport=NARROW)
    ends = page.locator("figure svg [id*=legend] text").evaluate_all(
        "texts => texts.map(t => t.getBoundingClientRect().right)"
    )
    assert len(ends) > 8 and max(ends) <= NARROW["width"]


def test_on_paper_controls_are_gone_and_every_map_is_there(opened):
    page = opened()
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator("fieldset").is_visible()
    assert all(one.is_visible() for one in page.locator("[data-choice]").all())


def test_paper_has_the_bars_of_a_trace_and_is_white(opened, little_batch, tmp_path):
    page = opened(of_a_trace(tmp_path, little_batch), color_scheme="dark")
    page.emulate_media(media="print")
    bar = page.locator("td.bar").first.evaluate("one => getComputedStyle(one).printColorAdjust")
    paper = page.locator("body").evaluate("one => getComputedStyle(one).backgroundColor")
    assert (bar, paper) == ("exact", "rgb(255, 255, 255)")
