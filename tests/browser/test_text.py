"""A text as chips: cut in the browser as the library does, typed in place, chosen by hand."""

import base64
import random
from pathlib import Path

import pytest
from browser_steps import PATIENCE, Line, idle, start, text_field
from effort import one_of
from playwright.sync_api import expect

from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.draw.cutting import cutting_tables
from morphgraph.formats.loading import load_tokeniser
from morphgraph.tokeniser.merging import segment

pytestmark = pytest.mark.browser

ENGINE = Path(__file__).resolve().parents[2] / "web" / "components" / "segment.js"
ODD = [
    "naïve",
    "don't",
    "I'LL",
    "co-op",
    "Ünlü😀",
    "a\u200bb",
    "x\u0301y",
    "日本語",
    "Ⅷ½",
    "\ufeff",
]
CUT = """([packed, words]) => {
  const [, cutter] = Cutter.unpack(Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0)));
  return words.map((word) => cutter.shown(word)?.map(({ text, type }) => [text, type]));
}"""
TEXTS = [
    "The bakeries were carrying 😀  x\n\nnaïve\n",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrikantenvereinigung " * 2,
    "abc שלום def עולם 123",
    "日本語のテキストを入力するとどうなるでしょうか。" * 3,
]
LAYOUT = """(area) => {
  const words = area.parentElement.querySelector(".words");
  const plain = document.createElement("div");
  const style = getComputedStyle(area);
  for (const name of style) plain.style[name] = style.getPropertyValue(name);
  Object.assign(plain.style, { position: "absolute", height: "auto" });
  [plain.dir, plain.textContent] = ["auto", area.value];
  area.parentElement.append(plain);
  const placed = (element) => {
    const { left, top } = element.getBoundingClientRect();
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const places = [];
    for (let node; (node = walker.nextNode()); ) {
      for (let at = 0; at < node.data.length; at += 1) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = range.getBoundingClientRect();
        places.push([node.data[at], box.left - left, box.top + box.height / 2 - top]);
      }
    }
    return places.filter(([sign]) => sign !== "\\u200b");
  };
  const both = [placed(plain), placed(words)];
  plain.remove();
  return both;
}"""


@pytest.mark.parametrize("code", one_of("de", "en", "nl"))
def test_a_demo_is_cut_as_by_the_library(page, code):
    cuts_as_the_library(page, f"demo:{code}", code)


@pytest.mark.parametrize(("name", "language"), one_of(("gpt2", "en"), ("oscar-de-40k", "de")))
def test_a_real_one_is_cut_as_by_the_library(page, data_folder, name, language):
    cuts_as_the_library(page, str(data_folder / "tokenizers" / name), language)


def cuts_as_the_library(page, name, language):
    """Before any edit, and without ten types, whose users become merges of more parts."""
    tokeniser = load_tokeniser(name)
    graph, names = tokeniser.graph, tokeniser.readable_types
    words = [*wordfreq_counts(language).words[:10_000], *ODD]
    encoded = tokeniser.encode(words)
    page.add_script_tag(content=ENGINE.read_text("utf-8") + "globalThis.Cutter = Cutter;")
    merged = list(dict.fromkeys(graph.columns().results[:3_000].tolist()))
    for number in [None, *random.Random(1).sample(merged, 10)]:
        if number is not None:
            graph.knockout([graph.types[number]])
            if len(graph.history) < 10:
                continue
        found = segment(graph, encoded)
        expected = [[[names[t], t] for t in found.tokens(n)] for n in range(len(words))]
        tables = cutting_tables(tokeniser)
        assert len(tables.packed) < 400_000
        assert page.evaluate(CUT, [base64.b64encode(tables.packed).decode(), words]) == expected
    assert graph.has_tuples


def test_words_are_cut_before_the_app_answers(page, app_address):
    line = Line(page)
    start(page, app_address)
    line.is_slow = True
    area = text_field(page)
    area.focus()
    area.press("Control+a")
    area.press_sequentially("undesirable things,")
    first = page.locator(".word").first
    expect(first.locator(".token")).to_have_text(["und", "es", "ir", "able"])
    expect(page.locator(".figures")).to_have_text("2 words · 6 tokens")
    area.press_sequentially(" he")  # on while the app has yet to answer
    line.wait_for_answer()
    line.catch_up()
    expect(area).to_have_value("undesirable things, he")
    expect(first).to_have_attribute("title", "gold: un · desir · able")
    area.press("Escape")
    expect(page.locator(".words")).to_be_focused()
    expect(first.locator(".covering")).to_have_text(["und"])


def test_letters_stay_as_typed_and_chips_stand_in_their_place_and_choose(page, app_address):
    """While one composes a sign, too, and the app answers in the middle of it."""
    start(page, app_address)
    area = text_field(page)
    page.locator(".words").click(position={"x": 5, "y": 5})
    page.keyboard.press("F2")
    expect(area).to_be_focused()
    area.fill("")
    said = "a<b>に"
    area.press_sequentially("a<b>")
    client = page.context.new_cdp_session(page)
    client.send("Input.imeSetComposition", {"text": "n", "selectionStart": 1, "selectionEnd": 1})
    expect(page.locator(".words")).to_contain_text("a<b>n")
    idle(page)
    page.wait_for_timeout(700)  # the app answers
    client.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    client.send("Input.insertText", {"text": "に"})
    expect(area).to_have_value(said)
    idle(page)
    area.press("Control+z")
    expect(area).not_to_have_value(said)
    area.press("Control+Shift+z")
    area.press("Enter")
    idle(page)
    expect(area).to_have_value(said)
    # A click on a chip, or an arrow, chooses.
    area.fill("undesirable carrying things")
    idle(page)
    area.press("Escape")
    words = page.get_by_role("option")
    expect(words).to_have_count(3)
    words.nth(1).locator(".token").last.click()
    idle(page)
    expect(words.nth(1)).to_have_attribute("aria-selected", "true")
    expect(words.nth(1).locator(".looked")).to_have_count(1)
    expect(area).not_to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(words.nth(0)).to_have_attribute("aria-selected", "true")
    expect(words.nth(0)).to_have_attribute("data-gold", "un · desir · able")
    page.keyboard.press("ArrowDown")
    expect(words.nth(0).locator(".looked")).to_have_text("und")
    idle(page)
    expect(page.get_by_role("heading", name="und")).to_be_visible(timeout=PATIENCE)
    # In lines, in long words, in both directions, and without spaces.
    for text in TEXTS:
        area.fill(text)
        idle(page)
        typed, shown = area.evaluate(LAYOUT)
        assert [sign for sign, *_ in shown] == [sign for sign, *_ in typed]
        for (_, *place), (_, *other) in zip(typed, shown, strict=True):
            assert place == pytest.approx(other, abs=1)


@pytest.mark.parametrize("touch", one_of(False, True))
def test_the_first_click_elsewhere_arrives(new_page, app_address, touch):
    """Chips of a long word take other room than its letters: they wait for the click."""
    page = new_page(has_touch=touch)
    start(page, app_address)
    text_field(page).fill("antidisestablishment" * 9)
    idle(page)
    other = page.get_by_role("radio", name="All types", exact=True)
    before = other.bounding_box()
    (other.tap if touch else other.click)()
    expect(other).to_be_checked()
    expect(page.locator(".text.editing")).to_have_count(0)
    assert other.bounding_box() != before
