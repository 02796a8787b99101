"""What tests in a real browser do again and again: wait, go about, read the scores."""

import re
import time
from weakref import WeakSet

from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 60_000  # ms, for what takes long on a slow machine

_asking = WeakSet()
"""The pages whose app has been asked for a run that it has not begun."""


def bar(page):
    """What is on top of every page, but the numbers."""
    return page.locator(".st-key-bar")


def watch_runs(page):
    """Note when a run is asked for and begins: a page says that one runs only once it has begun."""

    def watch(socket):
        def sent(message):
            if BackMsg.FromString(message).WhichOneof("type") == "rerun_script":
                _asking.add(page)

        def received(message):
            if ForwardMsg.FromString(message).WhichOneof("type") == "new_session":
                _asking.discard(page)

        if "_stcore/stream" in socket.url:
            socket.on("framesent", sent)
            socket.on("framereceived", received)
            socket.on("close", lambda _: _asking.discard(page))

    page.on("websocket", watch)


def idle(page):
    """Wait until the app has nothing more to run, and has not started again a moment later.

    What was asked for has then been done, however late the app hears of it (see `watch_runs`).
    """
    for _ in range(2):
        begun = time.monotonic()
        while page in _asking and time.monotonic() < begun + PATIENCE / 1000:
            page.wait_for_timeout(20)
        page.wait_for_selector(
            '[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=PATIENCE
        )
        page.wait_for_timeout(120)


def pick(option):
    """Click an option as a hand does: the list is drawn again when the mouse enters it."""
    option.hover()
    option.page.wait_for_timeout(300)
    option.click()


def choose_demo(page, name, code):
    bar(page).locator("[class*=st-key-open-tokeniser] button").first.click()
    page.locator(f"[class*=st-key-demo-{code}-as] button").first.click()
    expect(bar(page)).to_contain_text(name, timeout=PATIENCE)
    idle(page)


def start(page, address):
    page.set_default_timeout(30_000)
    page.goto(address)
    expect(tree(page).locator("svg desc")).to_be_attached(timeout=PATIENCE)
    idle(page)


def tree(page):
    """The picture of a word."""
    return page.get_by_role("group", name="Merge tree")


def text_field(page):
    return page.get_by_role("textbox", name="A word, or any text")


def fan(page):
    """The picture of a type."""
    return page.get_by_role("group", name="Merge graph:")


def save_picture(page, label):
    """Choose in the menu of a picture of the Workbench."""
    page.locator('summary[title="Save or copy the picture"]').click()
    page.get_by_role("button", name=label, exact=True).click()


def show(page, picture):
    """Choose a picture of the Workbench."""
    page.get_by_role("radio", name=picture, exact=True).click()
    shown = {"Word": tree(page), "Type": fan(page)}.get(picture, page.get_by_role("application"))
    expect(shown).to_be_visible(timeout=PATIENCE)
    idle(page)


def go_to(page, name):
    if name == "History and export":
        page.locator(".st-key-drawer-button button").first.click()
    else:
        bar(page).get_by_role("link", name=name).click()
    marks = {
        "Workbench": page.get_by_role("radio", name="All types"),
        "Repair": page.get_by_role("radiogroup", name="Make it better by"),
        "History and export": page.get_by_role("button", name="Copy link"),
        "Build": page.get_by_role("button", name="Train", exact=True),
        "Compare": page.get_by_role("region", name="Comparison of segmentations"),
    }
    expect(marks[name]).to_be_visible(timeout=PATIENCE)
    idle(page)


def look_for(page, text):
    """Look for a page, an action, a type or a word, and go there."""
    idle(page)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused(timeout=PATIENCE)
    page.keyboard.type(text)
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")


def remedy(page, name):
    """On the page Repair: choose how to make the tokeniser better."""
    go_to(page, "Repair")
    page.get_by_role("radio", name=name).locator("xpath=ancestor::label").click()
    idle(page)


def to_click(page):
    """What there is to click outside of pictures and grids, and does something."""
    return page.evaluate(
        """() => [...document.querySelectorAll(
          "a[href], button, input, select, textarea, summary, [role=tab]")].filter((one) => {
            const { width, height, top } = (one.closest("label") ?? one).getBoundingClientRect();
            return width > 1 && height > 1 && top < innerHeight && one.checkVisibility()
              && !one.closest("[class*=st-key-tab-here], [data-testid=stDataFrame]")
              && !one.disabled && !one.checked && one.ariaChecked !== "true"
              && one.ariaSelected !== "true";
          }).map((one) => (one.ariaLabel ?? (one.closest("label") ?? one).innerText).trim())"""
    )


def uploader(page, label):
    """The field with this label; "" is the window, which takes any file."""
    if not label:
        return page.locator(".st-key-drop-zone")
    return page.get_by_test_id("stFileUploader").filter(has_text=label)


def upload(page, label, *files):
    chosen = [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in files]
    uploader(page, label).locator("input[type=file]").set_input_files(chosen)


def train_from_counts(page, name, counts, size):
    """In Build: from a small file of word counts."""
    page.get_by_role("combobox", name="Words from").click()
    pick(page.get_by_role("option", name="a file of word counts"))
    idle(page)
    upload(page, "Word counts", (name, counts))
    idle(page)
    field = page.get_by_role("spinbutton", name="Types", exact=True)
    field.fill(str(size))
    field.press("Enter")
    idle(page)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("button", name="Put it beside BPE")).to_be_visible(timeout=PATIENCE)
    idle(page)


def metric(page, label):
    """A figure; F1 is that of the bar."""
    if label == "F1 %":
        return page.locator("[class*=st-key-f1-] button strong").first
    exact = re.compile(f"^{re.escape(label)}$")
    shown = page.get_by_test_id("stMetric").filter(has=page.get_by_text(exact))
    return shown.get_by_test_id("stMetricValue").first


def value_of(page, label):
    return metric(page, label).inner_text()


def expect_value(page, label, value):
    expect(metric(page, label)).to_have_text(value)


def grid_with(page, column):
    """The table with a column of this name; what its canvas shows is in it for screen readers."""
    exact = re.compile(f"^{re.escape(column)}$")
    return page.get_by_test_id("stDataFrame").filter(has=page.locator("th", has_text=exact))


def cell_of(grid, row, column):
    """A cell of a table, both numbers from 0, if it is in sight; a box in front of rows is none."""
    return grid.locator(f'tr[aria-rowindex="{row + 2}"] td[aria-colindex="{column + 1}"]')


class Line:
    """The connection of a page, on which what the app says can be held up."""

    def __init__(self, page):
        self.page, self.is_slow = page, False
        self.held = []
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def _connect(self, browser):
        app = browser.connect_to_server()

        def pass_on(message):
            if self.is_slow:
                self.held.append((browser, message))
            else:
                browser.send(message)

        app.on_message(pass_on)

    def wait_for_answer(self):
        """Until the app has answered the last click, and said all it has to."""
        before = -1
        while not self.held or len(self.held) > before:
            before = len(self.held)
            self.page.wait_for_timeout(500)

    def send_one(self):
        browser, message = self.held.pop(0)
        browser.send(message)

    def catch_up(self):
        while self.held:  # more may come meanwhile
            self.send_one()
        self.is_slow = False
        idle(self.page)
