"""The F1 that Blame promises of a threshold is the one that then appears, wherever one looks."""

import re
from pathlib import Path

import pytest
from browser_steps import (
    PATIENCE,
    cell_of,
    choose_demo,
    expect_value,
    go_to,
    grid_with,
    idle,
    scored,
    sidebar,
    start,
    uploader,
    value_of,
)
from playwright.sync_api import Page, expect

import morphgraph as mg
from morphgraph.core.text import from_to, percent

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("language", ["en", "de"])
def test_f1_is_as_promised(page: Page, app_address: str, language: str) -> None:
    start(page, app_address)
    if language == "de":
        choose_demo(page, "German", "de")
    knock_out_as_promised(page, f"demo:{language}", f"demo:{language}")


def test_f1_of_a_large_tokeniser_is_as_promised(
    page: Page, app_address: str, data_folder: Path
) -> None:
    tokeniser = data_folder / "tokenizers" / "oscar-de-40k" / "tokenizer.json"
    gold = data_folder / "references" / "morphynet" / "deu.derivational.v1.tsv"
    start(page, app_address)
    for label, path in (("Reference", gold), ("Tokeniser", tokeniser)):
        uploader(page, label).locator("input[type=file]").first.set_input_files(str(path))
        expect(sidebar(page)).to_contain_text(path.name[:20], timeout=PATIENCE)
        idle(page)
    knock_out_as_promised(page, str(tokeniser), str(gold))


def knock_out_as_promised(page: Page, tokeniser: str, gold: str) -> None:
    """Knock out by a threshold on the page Blame, beside the library on the same files."""
    go_to(page, "Blame")
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(12):
        slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^blame ≥ 38\s%"))
    idle(page)

    result = mg.load(tokeniser).knock_out(gold, threshold=0.38)
    before, after = (score.f1 for score in (result.before, result.after))
    assert not result.is_held_in
    promise = f"F1 {from_to(before, after)} on {result.on}"
    expect(page.get_by_text(promise)).to_be_visible(timeout=PATIENCE)
    assert promise in (slider.get_attribute("aria-valuetext") or "")
    assert (value_of(page, "F1 %"), scored(page)) == (percent(before), f"on {result.on}")

    page.get_by_role("button", name=f"Knock out all {len(result.removed):,}").click()
    expect_value(page, "F1 %", percent(after))
    idle(page)
    assert scored(page) == f"on {result.on}"
    go_to(page, "History and export")
    assert (value_of(page, "F1 %"), scored(page)) == (percent(after), f"on {result.on}")
    edits = grid_with(page, "ΔF1")
    for row, f1 in enumerate((before, after)):
        expect(cell_of(edits, row, 3)).to_have_text(percent(f1))
    expect(page.get_by_text(f"F1 is on {result.on}.")).to_be_visible()
