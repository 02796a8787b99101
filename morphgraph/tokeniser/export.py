"""Export a tokeniser for `tokenizers` and `transformers`, compared with ours before it leaves."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle, islice, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from morphgraph.core.demos import DEMOS
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum, read_bytes, write_file, writing
from morphgraph.core.text import counted, shortened
from morphgraph.tokeniser.export_texts import merges_text, readme, transformers_config
from morphgraph.tokeniser.hugging_face import new_ids, to_tokenizer_json
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.recipe import lineage_of, read_recipe, write_whole_recipe
from morphgraph.tokeniser.tokeniser import Tokeniser
from morphgraph.tokeniser.words import UNKNOWN

ExportKind = Literal["tokenizer.json", "folder"]

WORDS_TO_CHECK = 10_000
SENTENCES_TO_CHECK = 500
_LANGUAGES = ("en", "de", "nl", "fr", "es")
_EXPORTED = Path(__file__).parent / "exported"
_CODE = ("tokenization_bte.py", "bte.py")
_BATCH = 500

_short = partial(shortened, length=60)


class ExportError(MorphGraphError):
    """A tokeniser that segments otherwise once it is exported, with the word."""


@dataclass(frozen=True)
class Export:
    """An exported tokeniser: its files by name, and what was checked.

    ``kind``: "tokenizer.json", which the `tokenizers` library reads by itself, or "folder", which
    `transformers` reads with the code in it; ``reason`` says why. ``checked_words`` and
    ``checked_sentences``: how many got the same ids as from our own segmentation.
    ``new_types``: how many have no id in the first tokeniser of the chain.
    """

    kind: ExportKind
    reason: str
    files: dict[str, bytes] = field(repr=False)
    vocab_size: int
    merges: int
    tuple_merges: int
    checked_words: int
    checked_sentences: int
    seconds: float
    signature: str
    new_types: int

    def to_dict(self) -> dict[str, Any]:
        """All but the files' contents, as JSON holds it."""
        return {**vars(self), "files": list(self.files)}


def export(tokeniser: Tokeniser, words: Sequence[str]) -> Export:
    """Make the files of an export, and compare ids for ``words`` and sentences made of them.

    If every merge is a pair, and the `tokenizers` library gives the same ids as our own
    segmentation, it is a ``tokenizer.json``; else a folder with code for `transformers`, compared
    in the same way. `ExportError` if that differs too.
    """
    started = time.perf_counter()
    data, id_map = to_tokenizer_json(tokeniser)
    ids = new_ids(tokeniser)
    merges = tokeniser.graph.merges()
    tuples = sum(merge.is_tuple for merge in merges.values())
    prepared = tokeniser.preprocessor.sentencepiece
    symbols = [text.replace("▁", " ") for text in prepared.symbols] if prepared else []
    sentences = sentences_to_check(words) + [f"a{symbol}a {symbol}" for symbol in symbols]
    space = " " if tokeniser.preprocessor.leading_space else ""
    texts = [space + word for word in words] + sentences
    expected = our_ids(tokeniser, words, ids) + our_ids(tokeniser, sentences, ids, bare=True)
    vocabulary = {tokeniser.types[number]: new for number, new in ids.items()}
    difference = partial(_difference, texts=texts, expected=expected, vocabulary=vocabulary)
    kind: ExportKind = "tokenizer.json"
    reason = "every merge is a pair, so the tokenizers library reads it by itself"
    if tuples:
        kind = "folder"
        reason = (
            counted(tuples, "merge is", "merges are")
            + " of more than two parts, which no tokenizer.json holds"
        )
    elif problem := difference(lambda: _library(data)):
        kind = "folder"
        reason = f"as a tokenizer.json it would be another tokeniser: {problem}"
    document = json.loads(data)
    files = {"tokenizer.json": data}
    if kind == "folder":
        if problem := difference(lambda: _exported_class(document)):
            raise ExportError(
                f"The exported tokeniser would differ from this one: {problem}. Save the recipe "
                "instead, and report it."
            )
        document["model"]["type"] = "BTE"
        data = json.dumps(document, ensure_ascii=False, indent=1).encode()
        files = {"tokeniser.bte.json": data}
        files |= {name: (_EXPORTED / name).read_bytes() for name in _CODE}
    config = transformers_config(document, own_class=kind == "folder")
    files["tokenizer_config.json"] = json.dumps(config, ensure_ascii=False, indent=1).encode()
    files["ids.json"] = json.dumps(id_map, indent=0).encode()
    files["merges.txt"] = merges_text(document["model"]["merges"])
    files["recipe.json"] = write_whole_recipe(tokeniser)
    made = Export(
        kind,
        reason,
        files,
        len(ids),
        len(merges),
        tuples,
        len(words),
        len(sentences),
        time.perf_counter() - started,
        tokeniser.signature(),
        len(ids) - len(id_map),
    )
    text = readme(lineage_of(tokeniser).name, document, made.to_dict(), checksum(data))
    files["README.md"] = text.encode()
    return made


def words_to_check(
    reference_words: Iterable[str], count: int = WORDS_TO_CHECK, name: str = ""
) -> list[str]:
    """Different words to compare on: the reference's, then the commonest of wordfreq.

    ``name`` is the tokeniser's: a demo's language comes first, then English, German and others.

    >>> words_to_check(["Türöffner", "undo", "undo", ""], count=4, name="demo:de")
    ['Türöffner', 'undo', 'die', 'der']
    """
    import wordfreq

    own = name.removeprefix("demo:")
    languages = [own] if name.startswith("demo:") and own in DEMOS else []
    found = dict.fromkeys(word for word in reference_words if word and _is_whole(word))
    for language in dict.fromkeys([*languages, *_LANGUAGES]):
        if len(found) >= count:
            break
        found |= dict.fromkeys(wordfreq.top_n_list(language, count))
    return list(found)[:count]


def _is_whole(word: str) -> bool:
    """Whether there is no half of a surrogate pair in it."""
    return not any("\ud800" <= character <= "\udfff" for character in word)


_FRAMES = (
    "{} {} {}.",
    "{}, {} – and {}?",
    "  {}  {}\n\n{}\t{} ",
    "“{}” ({}/{}) costs 1234.50 € in 2024!",
    "{}-{}'s {}…\r\n- {}; {}",
    "{}\u00a0{}\u3000{} e\u0301te\u0301 ﬁn ½ 10²",
    "日本語 {} Ελλάδα {} 😀👩‍👩‍👧 {}",
    "{}{} {}__{} #{} @{} https://{}.org/{}?a=1&b=2",
    "{} don't we'll {} {} {} {} {} {} {} {}",
)


def sentences_to_check(words: Sequence[str], count: int = SENTENCES_TO_CHECK) -> list[str]:
    """Whole texts made of words, with punctuation, numbers, rare characters and all white space.

    >>> sentences_to_check(["un", "do"], 2)
    ['un do Un.', 'do, un – and DO?']
    """
    if not words:
        return []
    # A step that is not a divisor takes words from everywhere in the list.
    step = max(1, len(words) // 7)
    order = (words[(start * step + start // 7) % len(words)] for start in range(10**9))
    cased = (
        word.capitalize() if i % 5 == 2 else word.upper() if i % 11 == 5 else word
        for i, word in enumerate(order)
    )
    texts = []
    for frame in islice(cycle(_FRAMES), count):
        texts.append(frame.format(*islice(cased, frame.count("{}"))))
    return texts


def _difference(
    build: Callable[[], Any],
    texts: Sequence[str],
    expected: Sequence[Sequence[int]],
    vocabulary: Mapping[str, int],
) -> str:
    """Where a tokeniser of the `tokenizers` library differs; an empty text if it does not."""
    try:
        library = build()
        known = library.get_vocab()
        if known != vocabulary:
            text, _ = min(known.items() ^ vocabulary.items())
            return f"the type “{_short(text)}” has another id"
        library.no_truncation()
        library.no_padding()
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            found = library.encode_batch(batch, add_special_tokens=False)
            for text, ours, theirs in zip(batch, expected[start:], found, strict=False):
                if ours != theirs.ids:
                    return f"“{_short(text.strip())}” gets other tokens"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        return f"the tokenizers library cannot use it ({shortened(str(error), 120)})"
    return ""


def our_ids(
    tokeniser: Tokeniser, texts: Sequence[str], ids: dict[int, int], *, bare: bool = False
) -> list[list[int]]:
    """Our segmentation under new ids; what has none, being outside the alphabet, is left out."""
    found = segment(tokeniser.graph, tokeniser.encode(texts, bare=bare))
    tokens, ends = found.token_at, found.words.word_offsets
    renumbered = np.full(len(tokeniser.graph.types), -1, np.int64)
    renumbered[list(ids)] = list(ids.values())
    kept = np.flatnonzero((tokens >= 0) & (tokens != UNKNOWN))
    numbers = renumbered[tokens[kept]].tolist()
    bounds = np.searchsorted(kept, ends).tolist()
    return [numbers[start:end] for start, end in pairwise(bounds)]


def _library(data: bytes) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_str(data.decode())


def _exported_class(document: dict[str, Any]) -> Any:
    """What the exported class stands on, from the very files that are exported."""
    from morphgraph.tokeniser.exported.bte import load, plug_in

    library, merging = load(document)
    plug_in(library, merging)
    return library


def save_folder(files: Mapping[str, bytes], folder: Path, hint: str = "") -> dict[Path, Path]:
    """Write files into a folder; others of these names are set aside, never overwritten.

    Those that an earlier run wrote, which its recipe names, make room for the new ones. Returns
    what is set aside, and the name that it has now. ``hint``: see `core.files.writing`.
    """
    aside: dict[Path, Path] = {}
    with writing(folder, hint):
        # A folder with both would be loaded as the other one.
        others = {"tokenizer.json", "tokeniser.bte.json"} - files.keys()
        if not _is_ours(folder):
            others |= {name for name, data in files.items() if _differs(folder / name, data)}
        for path in (folder / name for name in sorted(others)):
            if path.is_file():
                names = (path.with_name(f"{path.name}.old{number or ''}") for number in count())
                aside[path] = path.replace(next(name for name in names if not name.exists()))
    for name, data in files.items():
        write_file(folder / name, data, hint)
    return aside


def _is_ours(folder: Path) -> bool:
    try:
        read_recipe(read_bytes(folder / "recipe.json"), "recipe.json")
    except MorphGraphError:
        return False
    return True


def _differs(path: Path, data: bytes) -> bool:
    return path.is_file() and (path.stat().st_size != len(data) or path.read_bytes() != data)
