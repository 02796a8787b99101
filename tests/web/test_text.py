"""Strings from files in places where Markdown is read."""

import re

from hypothesis import given
from hypothesis import strategies as st

from web.text import plain, shortened, signed

ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def test_every_sign_that_markdown_reads_is_escaped() -> None:
    assert plain(ASCII_PUNCTUATION) == "".join("\\" + sign for sign in ASCII_PUNCTUATION)
    assert plain("<img src=x onerror=alert(1)>").startswith("\\<img")
    assert plain("# title\n* item") == "\\# title \\* item"
    assert plain("Ġwählen ▁x") == "Ġwählen ▁x"


@given(st.text())
def test_the_text_itself_is_kept(text: str) -> None:
    unescaped = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", plain(text))
    assert unescaped == " ".join(text.split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[<*_`\[$:]", plain(text))


def test_a_long_text_is_cut() -> None:
    assert shortened("a" * 40) == "a" * 40
    assert shortened("a" * 41) == "a" * 39 + "…"
    assert shortened("abcdef", 3) == "ab…"


def test_a_difference_has_a_sign_and_an_undefined_one_is_na() -> None:
    assert signed(0.0) == "+0.00"
    assert signed(-1234.5) == "−1,234.50"
    assert signed(float("nan")) == "n/a"
    assert signed(0.25, 1, " %") == "+0.2 %"
