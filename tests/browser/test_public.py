"""Two browsers on a public app: nothing of one appears in the other, however it is tried."""

import hashlib
import json
import re
from threading import Event, Thread
from zipfile import ZipFile

import pytest
import requests
from browser_steps import PATIENCE, bar, go_to, idle, remedy, start, train_from_counts, upload
from hostile.files import FILES
from playwright.sync_api import expect

from morphgraph.core.files import demo_tokeniser_path

pytestmark = pytest.mark.browser

MARK = "zebrasecret"
"""Stands in every name and text of the first browser."""
GOLD = "".join(f"un{stem}able\tun {stem} able\n" for stem in ("break", "read", "think", MARK))


def leave_something_everywhere(page, address):
    """Open, edit, train, write and run; returns what was fetched meanwhile."""
    fetched = set()
    page.on("request", lambda request: fetched.add(request.url))
    start(page, address)
    page.set_default_timeout(PATIENCE)
    upload(page, "", (f"{MARK}.json", demo_tokeniser_path("en").read_bytes()))
    expect(bar(page)).to_contain_text(f"{MARK}.json", timeout=PATIENCE)
    idle(page)
    upload(page, "", (f"{MARK}.tsv", GOLD.encode()))
    expect(bar(page)).to_contain_text(f"{MARK}.tsv, 4 words", timeout=PATIENCE)
    idle(page)
    remedy(page, "ReBPE")
    for _ in range(2):
        page.get_by_role("button", name="Step").click()
        idle(page)
    idle(page)
    go_to(page, "Compare")
    page.get_by_role("radio", name="Where errors are").click()
    idle(page)
    go_to(page, "History and export")
    page.keyboard.press("Escape")
    go_to(page, "Build")
    train_from_counts(page, f"{MARK}-counts.tsv", f"{MARK}\t9\nundo\t7\n".encode(), 270)
    editor = page.get_by_role("textbox", name="Evaluation")
    editor.fill(
        f"name: {MARK}-run\ntitle: {MARK}\nlanguages: [en]\ntokenisers: [{{file: 'demo:en'}}]\n"
        "methods: [standard]\nreferences: ['demo:en']\nintervals: false\n"
    )
    editor.press("Control+Enter")
    expect(page.get_by_text(re.compile("^1 cell, about"))).to_be_visible(timeout=PATIENCE)
    idle(page)
    page.get_by_role("button", name="Start", exact=True).click()
    badge = page.locator(".stMarkdownBadge").first
    expect(badge).to_have_text(re.compile("Done$"), timeout=PATIENCE)
    idle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="All files", exact=True).click()
    with ZipFile(download.value.path()) as files:
        assert "run.log" not in files.namelist(), "a traceback tells of the server"
        run = json.loads(files.read("results.json"))["run"]
        assert run["command"] == ["morphgraph", "evaluate", "configuration.yaml"]
    return fetched


def sees_nothing(page):
    """Look at all of a page: its texts, its markup, what fields hold, and its address."""
    expect(page.get_by_test_id("stApp")).to_be_visible(timeout=PATIENCE)
    page.wait_for_selector(".st-key-bar", timeout=PATIENCE)
    idle(page)
    held = page.evaluate(
        """() => [document.documentElement.outerHTML, document.body.innerText, document.cookie,
            ...[...document.querySelectorAll("input, textarea")].map((one) => one.value),
            ...[...document.querySelectorAll("*")].flatMap((one) =>
                one.shadowRoot ? [one.shadowRoot.innerHTML] : []),
            JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage})].join("\\n")"""
    )
    assert MARK not in held


def cookies_of(context):
    return {one["name"]: one["value"] for one in context.cookies()}


def test_nothing_of_one_appears_in_the_other(new_page, public_app):
    address, state = public_app.address, public_app.state
    first = new_page()
    fetched = leave_something_everywhere(first, address)
    theirs = cookies_of(first.context)

    # On every page, and at every address that one could think of.
    second = new_page()
    start(second, address)
    sees_nothing(second)
    assert cookies_of(second.context)["morphgraph"] != theirs["morphgraph"]
    token = theirs["morphgraph"]
    folder = state / "browsers" / hashlib.sha256(token.encode()).hexdigest()[:32]
    for asked in (
        f"Build?run={MARK}-run&batch_run={MARK}-run&session={token[:20]}",
        f"Repair?tokeniser={folder}/files&reference=/etc/passwd&file=../../etc/passwd",
        f"Compare?methods=model%20{MARK}&demo={MARK}&show=all&words=un",
    ):
        second.goto(f"{address}/{asked}")
        sees_nothing(second)

    # With cookies that are nearly right.
    for forged in (("B" if token[0] == "A" else "A") + token[1:], folder.name):
        third = new_page()
        sent = {"morphgraph": forged, "morphgraph-tab": next((folder / "tabs").iterdir()).stem}
        cookies = [{"name": name, "value": value, "url": address} for name, value in sent.items()]
        third.context.add_cookies(cookies)
        start(third, address)
        sees_nothing(third)
        third.context.close()

    # Straight from the server, by paths to what is kept.
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert kept
    for path in kept[:5]:
        inside = path.relative_to(state)
        for place in (f"/{inside}", f"/app/static/{inside}", f"/media/{path.name}", f"//{path}"):
            assert MARK not in fetched_text(address, place)
    # What was downloaded is no file that stays at a guessable place: it needs its long name.
    names = [url for url in fetched if url.startswith(f"{address}/media/")]
    assert all(re.search(r"/media/[0-9a-f]{32,}", url) for url in names), names

    # The token is in no address and nowhere on disk, and the first browser still has it all.
    assert not any(token in url for url in fetched)
    assert not any(token.encode() in path.read_bytes() for path in kept)
    first.goto(address)
    expect(bar(first)).to_contain_text(f"{MARK}.json", timeout=PATIENCE)
    idle(first)
    go_to(first, "History and export")
    first.get_by_role("button", name="Delete my data").click()
    first.get_by_role("button", name="Delete all").click()
    expect(bar(first)).to_contain_text("English 8k", timeout=PATIENCE)
    idle(first)
    assert not folder.exists()
    sees_nothing(first)


@pytest.mark.soak
def test_a_file_that_would_stop_all_is_refused(page, public_app):
    """Words on which it would take seconds each are open; others are answered all the while."""
    start(page, public_app.address)
    words = "".join(f"{'a' * n}\ta {'a' * (n - 1)}\n" for n in range(180, 192))
    upload(page, "", ("gold.tsv", words.encode()))
    expect(bar(page)).to_contain_text("gold.tsv, 12 words", timeout=PATIENCE)
    idle(page)
    took, over = [], Event()

    def ask():
        while not over.wait(0.05):
            before = public_app.process.cpu_times().user
            fetched_text(public_app.address, "/_stcore/health")
            took.append(public_app.process.cpu_times().user - before)

    asking = Thread(target=ask)
    asking.start()
    try:
        for name in ("a pattern that tries all ways", "Metaspaces that grow"):
            start(page, public_app.address)
            upload(page, "", ("tokenizer.json", FILES[name].make()))
            told = page.get_by_text("Open the file on your own machine")
            expect(told.first).to_be_visible(timeout=PATIENCE)
            idle(page)
    finally:
        over.set()
        asking.join()
    assert max(took) < 2, "a pattern holds the interpreter for three seconds a word"


def fetched_text(address, path):
    return requests.get(address + path, timeout=60).text
