"""ReBPE in a real Chromium: run, go back, look, stop, and take the result home."""

import pytest
from browser_steps import PATIENCE, Line, go_to, idle, start, value_of
from effort import one_of
from playwright.sync_api import Page, expect

from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.refine import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark

pytestmark = pytest.mark.browser

# The page itself presses Stop: a look from outside may come too late for so short a run.
PRESS_STOP = """delay => new MutationObserver((_, observer) => {
    const find = () => document.querySelector('[class*="st-key-rebpe-stop"] button');
    if (find()) {
        observer.disconnect();
        setTimeout(() => find()?.click(), delay);
    }
}).observe(document.body, { childList: true, subtree: true })"""


def library_run() -> ReBPERun:
    """A run as the page's should be, not yet begun."""
    tokeniser = load_tokeniser("demo:en")
    rest, kept = Benchmark.build(tokeniser, read_reference(demo_gold_path("en"))).split()
    return ReBPERun(tokeniser, rest, ReBPESettings(), kept)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_timeout(200)
    idle(page)


def chosen_phase(page: Page) -> str:
    """The phase on show on the line."""
    text = page.get_by_label("Phase on show").get_attribute("aria-valuetext") or ""
    return text.split(",")[0]


def test_steps_are_not_taken_back_by_late_answers(page: Page, app_address: str) -> None:
    line = Line(page)
    start(page, app_address)
    go_to(page, "ReBPE")
    for phase in ("anneal", "knock out (iteration 1)", "reify (iteration 1)"):
        press(page, f"Next: {phase}")
    assert chosen_phase(page) == "1 reify"
    line.is_slow = True
    for phase in ("1 knockout", "anneal"):
        page.get_by_role("button", name="Previous phase", exact=True).click()
        page.wait_for_timeout(600)  # Python hears of each, and answers it
        assert chosen_phase(page) == phase
    expect(page.get_by_text("What “1 reify” did to merges")).to_be_visible()
    while line.held:  # more may come meanwhile
        line.send_one()
        page.wait_for_timeout(20)
        assert chosen_phase(page) == "anneal"
    line.is_slow = False
    expect(page.get_by_text("What “anneal” did to merges")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("delay", one_of(60, 0, 200))
def test_a_run_can_be_stopped_and_goes_on(page: Page, app_address: str, delay: int) -> None:
    start(page, app_address)
    go_to(page, "ReBPE")
    run = library_run()
    run.finish()
    scores = [f"{100 * phase.score.f1:.2f}" for phase in run.phases]

    page.evaluate(PRESS_STOP, delay)
    page.get_by_role("button", name="Run to convergence").click()
    # Whether Stop came in time is for the machine to say: the run may be over already.
    points = page.locator("g[data-phase]")
    expect(points.nth(1)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=PATIENCE)
    idle(page)
    # Wherever it stopped, it is at the last phase that was done, and nothing was taken back.
    expect(points.nth(scores.index(value_of(page, "F1 %")))).to_be_visible(timeout=PATIENCE)
    done = points.count()
    assert done > 1
    assert value_of(page, "F1 %") == scores[done - 1]
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()
    if done < len(scores):
        press(page, "Run to convergence")
    expect(page.get_by_text("Converged: F1")).to_be_visible(timeout=PATIENCE)
    idle(page)
    assert value_of(page, "F1 %") == scores[-1]
