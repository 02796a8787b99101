"""Strings from files in places where Markdown is read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.widgets import code, plain

ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def test_every_sign_that_markdown_reads_is_escaped():
    escaped = "".join("\\" + sign for sign in ASCII_PUNCTUATION)
    assert plain(ASCII_PUNCTUATION).replace("\u2060", "") == escaped
    assert plain("# title\n* item") == "\\# title \\* item"
    assert plain("Ġwählen ▁x") == "Ġwählen ▁x"


ARROWS = ("a->b", "<-", "--", ">=", "<=", "~=", "<->", ":streamlit:")
ADDRESSES = ("https://a.b", "HTTP://a.b", "WWW.a.b", "foo@a.b", "mailto:foo")


@pytest.mark.parametrize("text", [*ARROWS, *ADDRESSES])
def test_what_escapes_do_not_protect_is_taken_apart(text):
    assert "\u2060" in plain(text)


@given(st.text().filter(lambda text: "\u2060" not in text))
def test_the_text_itself_is_kept(text):
    bare = plain(text).replace("\u2060", "")
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", bare) == " ".join(text.split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[<*_`\[$:]", bare)


@given(st.text(alphabet="`ab ->"))
def test_code_holds_any_text(text):
    found = code(text)
    fence = re.match("`+", found).group()
    inner = found.removeprefix(fence).removesuffix(fence)
    assert inner.strip() == " ".join(text.split())
    assert max((len(run) for run in re.findall("`+", inner)), default=0) < len(fence)
