"""Exported tokenisers: their form, ids, merges and texts, and that a difference is found."""

import json
import subprocess
import sys
from pathlib import Path

import oracles
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused
from small import small_document, small_tokeniser
from strategies import graph_of, with_words

from morphgraph import standalone
from morphgraph.formats.export import ExportError, our_ids
from morphgraph.formats.export_files import escaped, merges_text, transformers_config
from morphgraph.formats.hugging_face import (
    from_tokenizer_json,
    new_ids,
    special_token,
    to_tokenizer_json,
)
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.tokeniser_files import settings_beside
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter
from morphgraph.standalone.merges import Merging
from morphgraph.standalone.piece_methods import load, method_of, plug_in

pytestmark = pytest.mark.slow


TEXTS = [
    "",
    " ",
    "  the newest  lowlands\n\n\tunbreakable. ",
    "Der Ärger über die Größe, naïve café e\u0301a ﬁn ½ ①",
    "日本語 x語y 😀👩‍👩‍👧 Ελλάδα",
    "un<ent>do <ent>s sing<ent>ab <unk>x <pad>",
    "aaaaaaaaaaaaa ababababab don't we'll 1234.50",
]


def exported_library(made):
    """What the exported class stands on, from the exported file."""
    return plugged(made.files["tokeniser.bte.json"])


def plugged(data):
    document = json.loads(data)
    library = load(document)
    plug_in(library, method_of(document["model"], {"BTE": Merging}))
    return library


def middle_types(tokeniser, step=5):
    """Some types that merges use and that can be knocked out."""
    graph = tokeniser.graph
    used = [n for n in graph.type_ids() if graph.is_removable(n) and graph.fan_out(n)]
    return [graph.types[number] for number in used[::step]]


# ------------------------------------------------------------------------------------ the form


@examples(60)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
@example(texts=TEXTS)
def test_any_text(variant, texts):
    edited = variant.tokeniser.fork()
    edited.graph.knockout(middle_types(edited, 3))
    library = plugged(to_tokenizer_json(edited)[0])
    theirs = [library.encode(text, add_special_tokens=False).ids for text in texts]
    assert theirs == our_ids(edited, texts, new_ids(edited), bare=True)


def test_the_folder_has_everything_and_opens_here_again():
    tokeniser = small_tokeniser([("a", "b"), ("ab", "c"), ("abc", "ab")], "abc")
    tokeniser.graph.knockout(["ab"])
    made = export_segmenter(Bte(tokeniser), ["abcab"])
    code = {"merges.py", "methods.py", "piece_methods.py", "tokenization_morphgraph.py"}
    others = {"merges.txt", "recipe.json", "ids.json", "README.md", "tokenizer_config.json"}
    assert {*made.files} == {"tokeniser.bte.json", *code, *others}
    folder = Path(str(standalone.__file__)).parent
    for name in code - {"methods.py"}:
        assert made.files[name] == (folder / name).read_bytes(), "no upload becomes code"
    graph = from_tokenizer_json(made.files["tokeniser.bte.json"], "again.json").graph
    merges = [graph.describe(n) for n in graph.merge_ids()]
    assert merges == ["a + b + c → abc", "abc + a + b → abcab"]
    assert made.files["merges.txt"].decode() == "#version: 0.2\na b c\nabc a b\n"
    assert json.loads(made.files["ids.json"]) == {"0": 0, "1": 1, "2": 2, "4": 3, "5": 4}


def test_a_file_that_the_library_reads_otherwise_becomes_a_folder():
    # Both merges are equally good, so the leftmost goes first; the library takes the first listed.
    tokeniser = small_tokeniser([("b", "c"), ("a", "b")], levels=[0, 0])
    made = export_segmenter(Bte(tokeniser), ["ab", "abc"])
    assert made.kind == "folder"
    assert "“abc”" in made.reason
    assert made.tuple_merges == 0
    assert exported_library(made).encode("abc").tokens == ["ab", "c"]
    # Pairs in the layout of our own stay readable.
    assert from_tokenizer_json(made.files["tokeniser.bte.json"], "t").graph.merge_count == 2


def test_what_the_library_cannot_use():
    # An unknown token that is not a type: the library fails at the first unknown character.
    made = export_segmenter(Bte(small_tokeniser([("a", "b")], unk_token="<unk>")), ["ab"])
    assert made.kind == "folder"
    assert "cannot use it (Unk token" in made.reason
    with refused(ExportError):
        export_segmenter(
            Bte(small_tokeniser([("a", "b")], post_processor={"type": "None such"})), ["ab"]
        )


def test_a_folder_that_differs_is_not_offered(monkeypatch):
    tokeniser = small_tokeniser([("a", "b"), ("ab", "c")])
    tokeniser.graph.knockout(["ab"])
    merged = Merging._merged

    def forgetful(self, atoms):
        if len(atoms) > 3:
            return merged(self, atoms)
        return ((number, at, at) for at, (number, *_) in enumerate(atoms))

    monkeypatch.setattr(Merging, "_merged", forgetful)
    with refused(ExportError):
        export_segmenter(Bte(tokeniser), ["a", "abc"])


# ------------------------------------------------------------------------------------ ids


def test_special_tokens_keep_their_content():
    document = small_document([("a", "b"), ("ab", "c")], unk_token="<unk>")
    document["model"]["vocab"]["<unk>"] = 5
    document["added_tokens"] = [special(6, "[PAD]"), special(5, "<unk>")]
    padding = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None}
    document["padding"] = {**padding, "pad_id": 6, "pad_type_id": 0, "pad_token": "[PAD]"}
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "t.json")
    tokeniser.graph.knockout(["ab"])
    made = export_segmenter(Bte(tokeniser), ["abc"])
    assert json.loads(made.files["ids.json"])["6"] == 5
    library = exported_library(made)
    assert library.token_to_id("[PAD]") == 5
    rows = library.encode_batch(["abc", "abcx[PAD]a"])
    assert [row.ids for row in rows] == [[3, 5, 5, 5], [3, 4, 5, 0]]
    config = json.loads(made.files["tokenizer_config.json"])
    assert config["pad_token"]["content"] == "[PAD]"
    assert config["unk_token"]["content"] == "<unk>"


def special(number, content, **flags):
    return {**special_token(content, number), **flags}


@pytest.mark.parametrize(
    ("contents", "processor", "roles"),
    [
        (
            ["<s>", "</s>", "<pad>", "<mask>"],
            {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]},
            "bos_token=<s> eos_token=</s> pad_token=<pad> cls_token=<s> sep_token=</s> "
            "mask_token=<mask>",
        ),
        (["<|endoftext|>"], None, "bos_token=<|endoftext|> eos_token=<|endoftext|>"),
        (["<x>"], None, ""),
    ],
)
def test_roles_of_special_tokens(contents, processor, roles):
    document = small_document([("a", "b")], post_processor=processor)
    document["added_tokens"] = [
        special(n, text, lstrip=text == "<mask>") for n, text in enumerate(contents)
    ]
    config = transformers_config(document, own_class=True)
    found = {k: v for k, v in config.items() if k.endswith("_token")}
    assert {f"{k}={v['content']}" for k, v in found.items()} == set(roles.split())
    assert [v["lstrip"] for v in found.values()] == [k == "mask_token" for k in found]


PAIR = {
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {},
}


@pytest.mark.parametrize(
    ("decoder", "settings", "expected"),
    [
        ("ByteLevel", {}, False),
        ("ByteLevel", {"tokenizer_class": "TokenizersBackend"}, False),
        ("ByteLevel", {"tokenizer_class": "GPT2Tokenizer"}, False),
        ("WordPiece", {}, True),
        ("WordPiece", {"tokenizer_class": "DistilBertTokenizer"}, False),
        ("Metaspace", {"tokenizer_class": "XLNetTokenizerFast"}, True),
        ("WordPiece", {"model_input_names": ["input_ids"]}, False),
    ],
)
def test_type_ids_are_for_models_that_take_them(decoder, settings, expected):
    """All files that transformers saves number the texts of a pair, GPT-2's as well."""
    document = small_document([("a", "b")], post_processor=PAIR, decoder={"type": decoder})
    config = transformers_config(document, own_class=True, settings=settings)
    assert ("token_type_ids" in config["model_input_names"]) is expected


def test_settings_of_the_source_go_along(tmp_path):
    end = "<|endoftext|>"
    document = small_document([("a", "b")])
    document["added_tokens"] = [special(90, end), special(91, "<x>")]
    settings = {
        "pad_token": end,
        "eos_token": {"__type": "AddedToken", "content": end},
        "bos_token": None,
        "mask_token": "<gone>",
        "extra_special_tokens": ["<x>", "<gone>"],
        "padding_side": "left",
        "truncation_side": "left",
        "model_max_length": 7,
        "clean_up_tokenization_spaces": True,
        "tokenizer_class": "GPT2Tokenizer",
    }
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "special_tokens_map.json").write_text('{"unk_token": "ab"}')
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    read = settings_beside(tmp_path / "tokenizer.json")
    assert read == settings_beside(tmp_path)
    config = transformers_config(document, own_class=False, settings=read)
    roles = {k: v for k, v in config.items() if k.endswith("_token")}
    contents = {k: v if isinstance(v, str) else v["content"] for k, v in roles.items()}
    assert contents == {"pad_token": end, "eos_token": end, "unk_token": "ab"}
    kept = {k: config[k] for k in settings if not k.endswith("_token")}
    own = {"extra_special_tokens": ["<x>"], "tokenizer_class": "PreTrainedTokenizerFast"}
    assert kept == {k: v for k, v in settings.items() if k in kept} | own
    assert config["chat_template"] == "{{ messages }}"
    assert settings_beside("demo:en") == settings_beside(tmp_path / "other.json") == {}


# ------------------------------------------------------------------------------------ merging


def tokens(merging, text):
    return [token.value for token in merging(text)]


def model_of(merges, **settings):
    graph = graph_of(merges)
    return {"vocab": graph.ids, "merges": [list(parts) for parts in merges], **settings}


@examples(400)
@given(case=with_words())
@example(case=([("a", "b", "c"), ("a", "b"), ("ab", "a", "b")], ["abcab", "ababab", "aabbcc"]))
@example(case=([("ab", "c"), ("a", "b"), ("b", "c", "a")], ["abca", "bcabc"]))
def test_merging_is_as_the_plain_one(case):
    """Merges in any order, of two to four parts; d is outside the alphabet, so it is left out."""
    merges, words = case
    merging = Merging(model_of(merges))
    for word in words:
        plain, _ = oracles.segment(oracles.listed(merges), word.replace("d", ""))
        assert tokens(merging, word) == plain


def test_bytes_of_offsets_and_unknown_characters():
    model = model_of([("a", "b")], unk_token="<u>", fuse_unk=True)
    model["vocab"] = {**model["vocab"], "<u>": 90}
    found = [(t.id, t.value, t.offsets) for t in Merging(model)("abé語ab")]
    ab = model["vocab"]["ab"]
    assert found == [(ab, "ab", (0, 2)), (90, "<u>", (2, 7)), (ab, "ab", (7, 9))]
    apart = Merging({**model, "fuse_unk": False})("é語")
    assert [(t.id, t.offsets) for t in apart] == [(90, (0, 2)), (90, (2, 5))]
    vocabulary = {**model["vocab"], "<0xC3>": 91, "<0xA9>": 92}
    as_bytes = Merging({**model, "vocab": vocabulary, "byte_fallback": True})("éé語")
    assert [t.id for t in as_bytes] == [91, 92, 91, 92, 90], "語 lacks its bytes"


def test_a_long_piece_takes_no_quadratic_time():
    merges = [("a",) * 3, ("aaa", "aaa"), ("b", "a")]
    merging = Merging(model_of(merges))
    assert tokens(merging, "a" * 60_000) == ["aaaaaa"] * 10_000
    assert not merging._known, "long pieces are not kept"


# ------------------------------------------------------------------------------------ texts

HOSTILE = ['"', "\n", "\\", '"""', " ", "<b>", "`", "\u2028", "\r", "'''", "{}", "${x}", "\x00"]


@pytest.fixture(scope="module")
def hostile():
    characters = "".join(dict.fromkeys("".join(HOSTILE)))
    merges = [
        ('"', '"'),
        ('""', '"'),
        ("\\", "n"),
        ("\n", " "),
        ("\n ", "\r"),
        ("<", "b"),
        ("<b", ">"),
    ]
    document = small_document(merges, characters)
    name = "x`\n# Title\n<b>.json"
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), name)
    tokeniser.graph.knockout(['""', "\n ", "<b"])
    made = export_segmenter(Bte(tokeniser), [*HOSTILE, "".join(HOSTILE), '"""\n \r<b>\\n'])
    assert made.tuple_merges == 3
    return made


def test_hostile_types_in_the_list_of_merges(hostile):
    first, *lines = hostile.files["merges.txt"].decode().split("\n")[:-1]
    assert first.startswith("#version") and "escaped" in first
    back = {"\\\\": "\\", "\\s": " ", "\\n": "\n", "\\r": "\r"}
    parts = [
        ["".join(back.get(bit, bit) for bit in pieces(part)) for part in line.split(" ")]
        for line in lines
    ]
    assert parts == json.loads(hostile.files["tokeniser.bte.json"])["model"]["merges"]
    cut = exported_library(hostile).encode('"""\n \r<b>\\n').tokens
    assert cut == ['"""', "\n \r", "<b>", "\\n"]


def pieces(text):
    """A text cut into escapes and single characters."""
    found, at = [], 0
    while at < len(text):
        length = 2 if text[at] == "\\" else 1
        found.append(text[at : at + length])
        at += length
    return found


def test_hostile_names_in_the_readme(hostile):
    text = hostile.files["README.md"].decode()
    signed = f"`` {' '.join(hostile.signature.split())} ``"
    assert signed in text
    assert "\n# Title" not in text
    assert "BTE, made from `` x` # Title <b>.json ``: " in text
    assert "<b>" not in text.replace("`` x` # Title <b>.json ``", "").replace(signed, "")
    assert escaped("<img src=x>\n# b `c` [d](e)") == r"\<img src=x\> \# b \`c\` \[d\](e)"


def test_the_list_of_merges_is_read_back(tmp_path):
    (tmp_path / "merges.txt").write_bytes(merges_text([("#version", "a"), ("\\", "n")]))
    types = ["#version", "a", "#versiona", "\\", "n", "\\n"]
    (tmp_path / "vocab.json").write_text(json.dumps({t: n for n, t in enumerate(types)}))
    graph = load_tokeniser(tmp_path / "merges.txt").graph
    merges = [graph.describe(n) for n in graph.merge_ids()]
    assert merges == ["#version + a → #versiona", "\\ + n → \\n"]


def test_transformers_is_not_imported():
    code = (
        "import sys; sys.modules['transformers'] = None\n"
        "from morphgraph.segment.bte import Bte\n"
        "from morphgraph.segment.models import export_segmenter\n"
        "from morphgraph.formats.export import words_to_check\n"
        "from morphgraph.formats.loading import load_tokeniser\n"
        "tokeniser = load_tokeniser('demo:nl')\n"
        "tokeniser.graph.knockout(['en'])\n"
        "print(export_segmenter(Bte(tokeniser), words_to_check([], 200, 'demo:nl')).kind)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "folder", ran.stderr
