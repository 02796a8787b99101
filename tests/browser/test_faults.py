"""The app is killed in the middle of everything: nothing confirmed is lost, and it says so."""

import re
from pathlib import Path

import pytest
from browser_steps import PATIENCE, bar, choose_demo, go_to, idle, remedy, start, value_of
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.kills]

ROOT = Path(__file__).resolve().parents[2]


def train(page, size):
    page.get_by_role("spinbutton", name="Types").fill(str(size))
    page.get_by_role("spinbutton", name="Types").press("Enter")
    idle(page)
    page.get_by_role("button", name="Train", exact=True).click()


def test_a_kill_in_the_middle_of_everything(browser, serve, port, tmp_path):
    """Two tabs of one browser: one trains, one repairs, and an evaluation runs meanwhile.

    Both pages stay open. The one that trains had the newest record, so a page that did not say
    which tab it is would get the other's.
    """

    def serve_again():
        return serve(ROOT / "web" / "serve.py", port, MORPHGRAPH_STATE=str(tmp_path))

    app, address = serve_again(), f"http://127.0.0.1:{port}"
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    repairs, trains = context.new_page(), context.new_page()
    try:
        start(repairs, address)
        choose_demo(repairs, "German", "de")
        remedy(repairs, "ReBPE")
        unchanged = value_of(repairs, "F1 %")
        for _ in range(2):
            repairs.get_by_role("button", name="Step").click()
            idle(repairs)
        start(trains, address)
        for page in (repairs, trains):
            page.set_default_timeout(PATIENCE)
        choose_demo(trains, "Dutch", "nl")
        go_to(trains, "Build")
        trains.get_by_role("button", name="Start", exact=True).click()
        expect(trains.get_by_test_id("stProgress")).to_contain_text(
            re.compile(r"\d of 18 tasks"), timeout=PATIENCE
        )
        train(trains, 300)
        expect(trains.get_by_text(re.compile("^300 types"))).to_be_visible(timeout=PATIENCE)
        idle(trains)
        repairs.get_by_role("button", name="Run", exact=True).click()
        picky = trains.get_by_role("radio", name="Picky BPE")
        picky.locator("xpath=ancestor::label").click()
        idle(trains)
        train(trains, 8_000)
        expect(trains.get_by_test_id("stProgress")).to_be_visible(timeout=PATIENCE)
        trains.wait_for_timeout(500)
        app.kill()
        app.wait()

        app = serve_again()
        # The pages connect again by themselves.
        expect(
            trains.get_by_text(re.compile("training of Picky BPE.* was interrupted"))
        ).to_be_visible(timeout=PATIENCE)
        expect(bar(trains)).to_contain_text("Dutch 8k")
        expect(trains.get_by_text(re.compile("^300 types"))).to_be_visible(timeout=PATIENCE)
        expect(bar(repairs)).to_contain_text("German 8k", timeout=PATIENCE)
        idle(repairs)
        expect(repairs.get_by_role("heading", name=re.compile("^ReBPE: .* phases"))).to_be_visible()
        assert value_of(repairs, "F1 %") != unchanged, "the phases that were done are there"
        idle(trains)
        go_to(trains, "Build")
        expect(trains.locator(".stMarkdownBadge").first).to_have_text(
            re.compile("Done$"), timeout=2 * PATIENCE
        )
    finally:
        context.close()
        app.kill()
        app.wait()
