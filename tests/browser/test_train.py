"""A tokeniser is trained in the browser, compared with the open one, and opened."""

import re

import pytest
from playwright.sync_api import Page, expect

from morphgraph.corpus.counts import parse_word_counts
from morphgraph.segment.training import train
from tests.browser_steps import PATIENCE, go_to, idle, start, train_from_counts, value_of

pytestmark = pytest.mark.browser

COUNTS = b"undo\t50\nundoing\t20\ndoing\t30\ndo\t90\nredo\t12\n"


def test_from_words_to_an_open_tokeniser(page: Page, app_address: str) -> None:
    start(page, app_address)
    go_to(page, "Train")
    page.get_by_text("Scaffold-BPE", exact=True).first.click()
    idle(page)
    page.get_by_text("BPE", exact=True).first.click()
    idle(page)
    train_from_counts(page, "counts.tsv", COUNTS, 260)
    trained = train("bpe", parse_word_counts(COUNTS, "counts.tsv"), 260)
    assert value_of(page, "Types") == str(trained.vocabulary_size)

    page.get_by_role("button", name="Compare with the open one").click()
    table = page.get_by_role("region", name="Comparison of segmentations")
    expect(table).to_be_visible(timeout=PATIENCE)
    idle(page)
    heads = page.get_by_role("button", name=re.compile("^BPE · plain · 260 · "))
    expect(heads.first).to_be_visible(timeout=PATIENCE)

    go_to(page, "Train")
    page.get_by_role("button", name="Open it").click()
    idle(page)
    go_to(page, "Merge graph")
    assert value_of(page, "Types") == str(trained.vocabulary_size)
