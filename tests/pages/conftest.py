"""The app without a browser, and small files to upload to it."""

import json
import re
from concurrent.futures import wait
from functools import cache, partial
from pathlib import Path

import pytest
import streamlit as st
from effort import EFFORT
from small import small_document
from streamlit.components.v2 import manifest_scanner
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Dataframe

from web import sources
from web.edits import CANVAS
from web.sources import references_there

# Each app of a test would read what is said of all installed packages, for half a second.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)

# The short lists of wordfreq show what the long ones do, which are for a soak.
if EFFORT != "soak":
    sources.wordfreq_counts = partial(sources.wordfreq_counts, wordlist="small")

ROOT = Path(__file__).resolve().parents[2]

PAGES = {
    "start": "app.py",
    "types": "app.py",
    "repair": "pages/1_Repair.py",
    "build": "pages/3_Build.py",
    "compare": "pages/2_Compare.py",
}


def as_shown(table):
    """A table as a person reads it: numbers that are shown in another form are texts."""
    found = convert_arrow_bytes_to_pandas_df(table.proto.arrow_data.data)
    written = table.proto.arrow_data.styler.display_values
    if not written:
        return found
    texts = convert_arrow_bytes_to_pandas_df(written)
    texts.columns = found.columns
    config = json.loads(table.proto.columns)
    for name in found.columns:
        column = config.get(str(name), {})
        if column.get("alignment") == "right" and "format" not in column["type_config"]:
            found[name] = texts[name]
    return found


Dataframe.value = property(as_shown)


class App:
    """An `AppTest` of the whole app that fails at the first exception a page shows."""

    def __init__(self, page="start"):
        self.test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        self.open(page) if page != "start" else self.run()

    def run(self):
        self.test.run()
        shown = [exception.message for exception in self.test.exception]
        assert not shown, shown
        return self

    def settle(self):
        """Run Compare again until no method is still made beside it."""
        for _ in range(20):
            rows = self.component("comparison")["rows"]
            if all(cell is not None for row in rows for cell in row["cells"]):
                return self
            wait([work for _, work in self.test.session_state["worker beside"].known.values()])
            self.run()
        raise AssertionError("a method is never made")

    def open(self, page):
        """Go to a page by its name in `PAGES`, to "start", its state "types", or the drawer."""
        if page == "history":
            return self.press("History, export")
        if page == "types":
            self.test.session_state[CANVAS] = "All types"
        self.test.switch_page(PAGES[page])
        return self.run()

    def remedy(self, name):
        """Go to Repair, and choose a remedy: blame, rebpe, prune, extend or list."""
        self.test.switch_page(PAGES["repair"])
        self.put("remedy", name)
        return self.put("kept remedy", name)

    @property
    def session(self):
        return self.test.session_state["morphgraph session"]

    @property
    def graph(self):
        return self.session.study.graph

    @property
    def types(self):
        return {self.graph.types[number] for number in self.graph.type_ids()}

    @property
    def knocked_out(self):
        return [step["types"] for step in self.graph.recipe()]

    def knock_out(self, *types):
        """One knockout of each type, by hand."""
        for text in types:
            self.graph.knockout([text])
        return self.run()

    def knock_out_all(self):
        """Press the button of a remedy."""
        return self.press(next(name for name in self.buttons() if name.startswith("Knock out ")))

    def upload(self, label, *files):
        """Upload one file, or several at once, to the field with this label; "" drops them."""
        label = label or "Open a file of any kind"
        [field] = [f for f in self.test.file_uploader if f.label == label]
        for name, content in files:
            field.upload(name, content)
        return self.run()

    def press(self, label):
        """Press the button with this label, which must not be disabled."""
        [button] = [b for b in self.test.button if b.label == label]
        assert not button.disabled, f"{label} is disabled"
        button.click()
        return self.run()

    def find(self, kind, label):
        [found] = [widget for widget in getattr(self.test, kind) if widget.label == label]
        return found

    def set(self, kind, label, value):
        self.find(kind, label).set_value(value)
        return self.run()

    def opening(self):
        """Open the list behind the reference in the bar."""
        return self.put(f"open reference {self.session.study_number}", True).run()

    def put(self, key, value):
        """Set what the session keeps under a key, such as the open tab."""
        self.test.session_state[key] = value
        return self.run()

    def choose(self, label, value):
        """Choose in the list with this label; of "Demo" as in the bar."""
        if label == "Demo":
            self.session.open_demo(value)
            return self.run()
        return self.set("selectbox", label, value)

    def click(self, key):
        self.test.button(key=key).click()
        return self.run()

    def buttons(self):
        return [button.label for button in self.test.button]

    def table(self, column):
        [found] = [d.value for d in self.test.dataframe if column in d.value]
        return found

    def component(self, name):
        """What the first component of this name was given, or nothing without one."""
        elements = self.test.get("bidi_component")
        found = [e.proto for e in elements if e.proto.component_name.endswith(name)]
        return json.loads(found[0].json) if found else None

    @property
    def address(self):
        """What the page puts into its address, without the number of its step."""
        elements = self.test.get("bidi_component")
        written = [e.proto for e in elements if e.proto.component_name.endswith(".address")]
        found = [json.loads(proto.json) for proto in written]
        return {one["name"]: one["value"] for one in found if one["value"]}

    def metrics(self):
        """Value and difference of each metric by its label."""
        return {metric.label: (metric.value, metric.delta) for metric in self.test.metric}

    @property
    def f1(self):
        return self.metrics()["F1 %"][0]

    @property
    def scored(self):
        """The words that figures of the bar are over, "" where they are all words."""
        labels = [block.proto.popover.label for block in self.test.get("popover")]
        [f1] = [label for label in labels if label.startswith(":small[F1 % ")]
        said = re.sub("(, partial gold|, silver)?].*", "", f1.removeprefix(":small[F1 % "))
        return said.replace("on the ", "on ") if said.startswith("on ") else ""

    @property
    def edits(self):
        """What the open drawer lists: the state, what was done, its gain, and F1."""
        found = [b for b in self.test.button if (b.key or "").startswith("edit ")]
        label = re.compile(r"(.*?) :\w+\[(.*?)\] (.*)")
        rows = [(b.key, label.fullmatch(as_read(b.label))) for b in found]
        return [[key.split()[2], row[1], row[2].strip("*"), row[3]] for key, row in rows]

    def said(self):
        """All that stands in Markdown on the page, as a person reads it."""
        text = as_read("\n".join(each.value for each in self.test.markdown))
        return text.replace("**", "").replace("\xa0", " ")

    def errors(self):
        """The error messages on the page, as a person reads them."""
        refused = [toast for toast in self.test.toast if "error" in toast.icon]
        return [as_read(error.value) for error in [*self.test.error, *refused]]

    def warnings(self):
        return [as_read(warning.value) for warning in self.test.warning]

    def captions(self):
        return as_read("\n".join(c.value for c in self.test.caption))


def as_read(markdown):
    """Markdown without escapes and invisible joiners."""
    return markdown.replace("\\", "").replace("\u2060", "")


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    """A folder of its own for what the app keeps between visits."""
    folder = tmp_path / "state"
    monkeypatch.setenv("MORPHGRAPH_STATE", str(folder))
    monkeypatch.setattr("web.idle._PAUSE", None)  # a test is never idle
    references_there.clear()
    return folder


@pytest.fixture
def app(state_folder):
    """The app with the English demo."""
    return App()


@pytest.fixture
def downloads(monkeypatch):
    """What makes the file behind each download button that was shown last, by the button's key."""
    found = {}
    show = st.download_button

    def button(label, data, **options):
        found[options["key"]] = data
        return show(label, data, **options)

    monkeypatch.setattr(st, "download_button", button)
    return found


@pytest.fixture
def tokenizer_json():
    """A small tokeniser that cuts some words as their morphs do."""
    merges = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("do", "ing")]
    return json.dumps(small_document(merges, "undoig")).encode()


@pytest.fixture
def visit(state_folder, monkeypatch):
    """Opens the app once more: as a new browser, or as that with a store, and with its tab."""
    sent = {}
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _: sent))

    def come(store=None, *, tab=True):
        sent.clear()
        if store is not None:
            sent["morphgraph"] = store.token
            sent.update({"morphgraph-tab": store.tab} if tab else {})
        return App()

    return come
