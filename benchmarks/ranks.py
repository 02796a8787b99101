"""Rank and Tekken files that are written here, beside what tiktoken and mistral-common make."""

import gzip
import random
import sys
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from unicodedata import normalize

import tiktoken
import wordfreq

from benchmarks import ROOT, data, table
from morphgraph.core.errors import MorphGraphError
from morphgraph.formats.export import our_ids
from morphgraph.formats.hugging_face import new_ids
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.pipeline_parts import PATTERNS
from morphgraph.formats.ranks import to_ranks
from morphgraph.formats.tekken import to_tekken
from morphgraph.refine.portable_edits import preview_keeping
from morphgraph.refine.pruning import preview_prune
from morphgraph.tokeniser.tokeniser import BpeTokeniser

RANKED = {
    "cl100k": ("tokenizers/tiktoken/cl100k_base.tiktoken", "cl100k_base"),
    "o200k": ("tokenizers/tiktoken/o200k_base.tiktoken", "o200k_base"),
    "GPT-2": ("tokenizers/gpt2", "r50k_base"),
    "Qwen 2.5": ("tokenizers/qwen2.5", "qwen2"),
}
KNOCKED_OUT, PRUNED = 200, 5_000
SPACES = (" ", "  ", " " * 9, "\t", "\t\t ", "\n", "\n\n\n", "\r\n", " \n ", "\u00a0", "\u3000 ")
EMOJI = ("😀", "👩‍👩‍👧", "👍🏽", "🇳🇱", "❤️", "1️⃣", "🏴‍☠️", "🙂🙂", "…", "→", "½", "∑")


def some_texts(count: int) -> list[str]:
    """Return texts of six kinds: Multi30k, code, CJK, Arabic, emoji, and runs of white space."""
    drawn, each = random.Random(0), count // 6
    words = {
        language: wordfreq.top_n_list(language, 5_000, wordlist="small")
        for language in ("en", "de", "ar", "zh", "ja", "ko")
    }
    code = "\n".join(path.read_text("utf-8") for path in sorted(ROOT.glob("*/*/*.py")))
    # Here special tokens are looked for in texts.
    code = code.replace("<", "< ").replace("[", "[ ")

    def joined(signs: tuple[str, ...], *languages: str) -> str:
        some = (drawn.choice(words[drawn.choice(languages)]) for _ in range(drawn.randint(3, 20)))
        return "".join(word + drawn.choice(signs) for word in some)

    def each_kind() -> Iterator[str]:
        for language in ("en", "de"):
            packed = data(f"text/multi30k/train.{language}.gz").read_bytes()
            yield from drawn.sample(gzip.decompress(packed).decode().splitlines(), each // 2)
        for start in (drawn.randrange(len(code)) for _ in range(each)):
            yield code[start : start + drawn.randint(20, 400)]
        for _ in range(each):
            yield joined(("", "", "，", "。", " "), "zh", "ja", "ko")
            yield joined((" ", " ", "، ", "؟ ", "."), "ar")
            yield joined((*EMOJI, " "), "en", "de")
            yield joined(SPACES, "en", "de")

    return [normalize("NFC", text) for text in each_kind()]


def edited(tokeniser: BpeTokeniser) -> Iterator[tuple[str, BpeTokeniser]]:
    """Yield a tokeniser as it is, after a portable knockout, and pruned with dense ids or not."""
    yield "as loaded", tokeniser
    graph = tokeniser.graph
    removable = [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]
    one = tokeniser.copy()
    one.graph.knockout(random.Random(0).sample(removable, KNOCKED_OUT))
    one.graph.apply(preview_keeping(one.graph))
    yield f"{KNOCKED_OUT} knocked out, ids kept", one
    two = tokeniser.copy()
    two.graph.apply(preview_prune(two, PRUNED, "last"))
    yield f"{PRUNED:,} pruned, ids dense", two
    three = two.copy()
    three.id_choice = "keep"
    yield f"{PRUNED:,} pruned, ids kept", three


def by_tiktoken(pattern: str, lines: bytes) -> Callable[[list[str]], list[list[int]]]:
    """Return what tiktoken makes of texts by a rank file."""
    ranks = {b64decode(type_): int(rank) for type_, rank in map(bytes.split, lines.splitlines())}
    encoding = tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding.encode_ordinary_batch


def by_mistral(file: bytes) -> Callable[[list[str]], list[list[int]]]:
    """Return what mistral-common makes of texts by a Tekken file."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tekken.json"
        path.write_bytes(file)
        theirs = Tekkenizer.from_file(path)
    return lambda texts: [theirs.encode(text, bos=False, eos=False) for text in texts]


def ranks(count: int = 3_000, only: str = "") -> None:
    """Texts with other ids by the file that is written, of all: 0 is right.

    ``only``: the name of one tokeniser. Tekken is compared where ``pip install mistral-common``
    was, with the files that it brings.
    """
    texts, rows = some_texts(count), []

    def compare(
        name: str,
        tokeniser: BpeTokeniser,
        program: Callable[[BpeTokeniser], Callable[[list[str]], list[list[int]]]],
    ) -> None:
        for state, one in edited(tokeniser):
            print(name, state, file=sys.stderr, flush=True)
            try:
                theirs = program(one)(texts)
            except MorphGraphError as error:
                rows.append((name, state, len(texts), str(error)[:80], one.vocabulary_size))
                continue
            ours = our_ids(one, texts, new_ids(one), bare=True)
            differing = sum(x != y for x, y in zip(ours, theirs, strict=True))
            rows.append((name, state, len(texts), differing, one.vocabulary_size))

    for name, (path, pattern) in RANKED.items():
        if only not in ("", name):
            continue
        compare(
            name,
            load_tokeniser(data(path)),
            lambda one, pattern=pattern: by_tiktoken(PATTERNS[pattern], to_ranks(one)),
        )
    if find_spec("mistral_common") is None:
        print("Tekken is left out: pip install mistral-common", file=sys.stderr)
    else:
        for path in sorted(Path(str(files("mistral_common"))).glob("data/tekken*.json")):
            if only not in ("", path.stem):
                continue
            compare(path.stem, load_tokeniser(path), lambda one: by_mistral(to_tekken(one)))
    table(["tokeniser", "state", "texts {:,}", "with other ids {:,}", "types {:,}"], rows)
