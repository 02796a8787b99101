"""What all components share, in a page of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

SHARED = Path(__file__).resolve().parents[2] / "web" / "components" / "shared.js"
CALLS = """
class View {
  constructor() { made.push(this); }
  update({ data }) { this.shown = data; }
  dispose() { this.gone = (this.gone ?? 0) + 1; }
}
const made = [], show = component(View), parentElement = document.createElement("div");
document.body.append(parentElement);
const [late, last] = [1, 2].map((data) => show({ data, parentElement }));
late();
const during = made.map(({ shown, gone }) => [shown, gone ?? 0]);
parentElement.remove();
last();
last();
return [during, made.map(({ gone }) => gone)];
"""


def test_a_view_lives_as_long_as_its_element(page: Page) -> None:
    """Streamlit cleans up a call that newer data overtook, though its element stays."""
    code = SHARED.read_text(encoding="utf-8") + CALLS
    assert page.evaluate(f"() => {{ {code} }}") == [[[2, 0]], [1]]
