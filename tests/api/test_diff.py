"""What changes where one tokeniser takes the place of another, by hand."""

import json

import pytest
from effort import share_of
from refusals import refused
from small import small_document

import morphgraph as mg
from morphgraph.api.diff import TokenChange
from morphgraph.formats.framing import frame_template
from morphgraph.formats.pipeline_parts import special_token

UNDO = [("u", "n"), ("un", "d"), ("d", "o"), ("s", "un")]
TEXTS = ["undo undo", "do sun", "us"]
SPECIAL = special_token("<s>", 9)


@pytest.fixture
def tokeniser(tmp_path):
    """Make a tokeniser of merges of the letters u n d o s, whose words are pieces."""

    def made(merges=UNDO, types=UNDO, name="one", template="", **settings):
        document = small_document(
            types, "undos", pre_tokenizer={"type": "WhitespaceSplit"}, decoder={"type": "Fuse"}
        )
        document["model"]["merges"] = merges
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "tokenizer.json").write_text(json.dumps(document | settings), encoding="utf-8")
        if template:
            (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
        return mg.load(folder)

    return made


def test_another_tokeniser(tokeniser):
    """und o | und o, do | sun, u s; then undo | undo, do | sun, u s, with dense ids."""
    others = [("u", "n"), ("d", "o"), ("s", "un"), ("un", "do")]
    found = mg.diff(tokeniser(), tokeniser(others, others), TEXTS)
    assert (found.texts, found.changed_texts, found.words) == (3, 2, 5)
    assert (found.tokens, found.changed_tokens, found.cost) == ((8, 6), 6, -0.25)
    assert found.to_dict()["tokens_per_word"] == [1.6, 1.2]
    assert found.changes == (
        TokenChange(("und", "o"), ("undo",), 2, "undo undo", "lost: un + d → und"),
    )
    assert (dict(found.lost), dict(found.new)) == ({"und": 2, "o": 2}, {"undo": 2})
    assert found.remapped == (("do", 7, 6), ("sun", 8, 7))
    assert (found.special, found.prompts) == ((), None)


def test_a_merge_that_is_gone(tokeniser):
    """und o becomes un do; und keeps its id, which a model still generates: undoundo."""
    found = mg.diff(tokeniser(), tokeniser([UNDO[0], *UNDO[2:]]), TEXTS)
    assert (found.changed_texts, found.tokens, found.changed_tokens) == (1, (8, 8), 4)
    [change] = found.changes
    assert (change.before, change.after, change.count) == (("und", "o"), ("un", "do"), 2)
    assert (found.remapped, found.cost) == ((), 0)
    assert (found.returned, found.not_returned, found.behind) == (3, 1, (("und", 2), ("o", 2)))
    back = mg.diff(tokeniser([UNDO[0], *UNDO[2:]]), tokeniser(name="two"), TEXTS)
    assert [each.cause for each in back.changes] == ["new: un + d → und"]


def test_the_same_merges_in_another_order(tokeniser):
    merges = [("u", "n"), ("n", "d")]
    found = mg.diff(tokeniser(merges, merges), tokeniser(merges[::-1], merges, "two"), ["und"])
    assert found.changes[0].cause == "another order, or other pieces"


def test_special_tokens(tokeniser):
    """Without the token it is < s >, of which s has an id."""
    frame = frame_template(["<s>", "$A"], ["<s>", "$A", "$B"], {"<s>": 9})
    with_token = tokeniser(added_tokens=[SPECIAL])
    assert mg.diff(with_token, tokeniser(name="two"), TEXTS).special == ("<s>",)
    assert mg.diff(tokeniser(name="two"), with_token, TEXTS).special == ("<s>",)
    framed = tokeniser(name="three", added_tokens=[SPECIAL], post_processor=frame)
    assert mg.diff(with_token, framed, TEXTS).special == ("around a text",)
    assert mg.diff(with_token, with_token, [*TEXTS, "do<s>"]).special == ()


def test_prompts(tokeniser):
    """A template that refuses the system has two prompts; a folder without one gets the other's."""
    own = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
    own += "undo {% endfor %}"
    without = [UNDO[0], *UNDO[2:]]
    before = tokeniser(template=own)
    changed = ("user", "user → assistant → user")
    assert mg.diff(before, tokeniser(without, name="two"), TEXTS).prompts == changed
    assert mg.diff(before, before, TEXTS).prompts == ()
    other = tokeniser(name="three", template=own.replace("undo", "us"))
    assert mg.diff(before, other, TEXTS).prompts == changed


def test_another_kind(tokeniser, tmp_path):
    """WordPiece: un ##do | un ##do, do | [UNK], [UNK], whose cause is no merge."""
    types = tmp_path / "types.txt"
    types.write_text("[UNK]\nun\n##do\ndo\n", encoding="utf-8")
    found = mg.diff(mg.load(types), tokeniser(), TEXTS)
    assert (found.tokens, found.changed_texts) == ((7, 8), 3)
    assert found.changes[0] == TokenChange(("un", "##do"), ("und", "o"), 2, "undo undo", "")


def test_the_same_and_no_texts(tokeniser):
    one = tokeniser()
    found = mg.diff(one, one)
    assert (found.texts, found.changed_texts, found.changes) == (share_of(1000), 0, ())
    assert f"of {share_of(1000):,}" in str(found)
    assert "<table" in found._repr_html_()
    with refused():
        mg.diff(one, one, [])
    with refused():
        mg.diff(one, "two", TEXTS)
