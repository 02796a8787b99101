"""Repair in a real Chromium: drag along the curve; run ReBPE, go back, look, stop; the tape."""

import re

import pytest
from browser_steps import PATIENCE, Line, go_to, idle, remedy, start, to_click, value_of
from playwright.sync_api import expect

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


def library_run():
    """A run as the page's should be, not yet begun."""
    tokeniser = load_tokeniser("demo:en")
    rest, kept = Benchmark.build(tokeniser, read_reference(demo_gold_path("en"))).split()
    return ReBPERun(tokeniser, rest, ReBPESettings(), kept)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_timeout(200)
    idle(page)


def chosen_phase(page):
    text = page.get_by_label("Phase on show").get_attribute("aria-valuetext") or ""
    return text.split(",")[0]


def test_steps_are_not_taken_back_by_late_answers(page, app_address):
    line = Line(page)
    start(page, app_address)
    remedy(page, "ReBPE")
    for _ in range(3):
        press(page, "Step")
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


@pytest.mark.soak
@pytest.mark.parametrize("delay", [60, 0, 200])
def test_a_run_can_be_stopped_and_goes_on(page, app_address, delay):
    start(page, app_address)
    remedy(page, "ReBPE")
    run = library_run()
    run.finish()
    scores = [f"{100 * phase.score.f1:.2f}" for phase in run.phases]

    page.evaluate(PRESS_STOP, delay)
    page.get_by_role("button", name="Run", exact=True).click()
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
        press(page, "Run")
    expect(page.get_by_role("heading", name="converged")).to_be_visible(timeout=PATIENCE)
    idle(page)
    assert value_of(page, "F1 %") == scores[-1]


# How many types go: by the line above the curve, and by the button; what the picture below says.
TOLD_OF_BLAME = """() => {
  const texts = [...document.querySelectorAll("*")].map((one) => one.shadowRoot)
    .map((root) => root?.querySelector(".said b")?.textContent);
  const [types] = texts.find(Boolean).match(/^[\\d,]+/);
  const button = [...document.querySelectorAll("button")]
    .map((one) => one.innerText.match(/Knock out ([\\d,]+) type/)).find(Boolean);
  const pictures = [...document.querySelectorAll("*")]
    .map((one) => one.shadowRoot?.querySelector(".spread svg"));
  const spread = pictures.find(Boolean)?.getAttribute("aria-label");
  return { types, button: button?.[1], spread };
}"""


def test_all_that_is_told_of_a_threshold_agrees_and_the_tape_leads_back(page, app_address):
    page.set_viewport_size({"width": 1440, "height": 900})
    start(page, app_address)
    go_to(page, "Repair")
    slider = page.get_by_role("slider", name="Knock out merges")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^50 %"), timeout=PATIENCE)
    assert len(to_click(page)) <= 14, to_click(page)
    box = slider.bounding_box()
    left, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(left, y)
    page.mouse.down()
    told = []
    for step in range(200):  # without ever resting for as long as it takes to stop
        page.mouse.move(left - box["width"] * 0.004 * (step % 100), y)
        page.wait_for_timeout(25)
        told.append(page.evaluate(TOLD_OF_BLAME))
        if len({one["types"] for one in told}) > 4:
            break
    assert len({one["types"] for one in told}) > 4, "it follows while it is dragged"
    # The line above the curve moves at once, the button a moment later.
    assert any(one["types"] == one["button"] for one in told), told
    page.mouse.up()
    idle(page)
    page.wait_for_timeout(300)
    end = page.evaluate(TOLD_OF_BLAME)
    assert end["types"] == end["button"]
    percent = (slider.get_attribute("aria-valuetext") or "").split()[0]
    assert f"at least {percent} %" in end["spread"]
    page.get_by_role("button", name="Take the best").click()
    idle(page)
    page.wait_for_timeout(300)
    end = page.evaluate(TOLD_OF_BLAME)
    assert end["types"] == end["button"]

    # One travels along the tape.
    tape = page.get_by_role("slider", name="Travel along your edits")
    expect(tape).to_be_disabled()
    before = value_of(page, "F1 %")
    page.get_by_role("button", name=re.compile("^Knock out [0-9,]+ types")).click()
    expect(tape).to_have_attribute("aria-valuetext", re.compile("^knocked out .* F1 .* [(][+]"))
    idle(page)
    after = value_of(page, "F1 %")
    assert after != before
    tape.press("ArrowLeft")
    expect(tape).to_have_attribute("aria-valuetext", re.compile("^start · F1"))
    expect(page.get_by_role("button", name="Redo")).to_be_enabled()
    assert value_of(page, "F1 %") == before
    tape.hover(position={"x": 85, "y": 20})
    expect(page.get_by_text(re.compile(f"^knocked out .* F1 {after}"))).to_be_visible()
    tape.press("ArrowRight")
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()
    assert value_of(page, "F1 %") == after
