"""A corpus measured: equal to every word segmented on its own, and parity by hand."""

import bz2
import gzip
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from refusals import refused
from tokenizers import Tokenizer

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import demo_tokeniser_path
from morphgraph.formats.loading import vocabulary_of
from morphgraph.score.vocabulary_health import renyi_efficiency
from morphgraph.segment.bte import Bte, tokeniser_of_types
from morphgraph.segment.flota import Flota
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import Segmenter
from morphgraph_corpora import measures
from morphgraph_corpora.measures import CorpusMeasures, TextMeasure, gini, measure_corpus

TYPES = [*"abcdöñ€😀", "ab", "abc", "öñ", "d€"]
BPE = Bte(tokeniser_of_types("tiny", TYPES, ["ab", ("ab", "c"), "öñ", "d€"]))
FLOTA = Flota(vocabulary_of(BPE.tokeniser), k=1)
BOTH = {"BPE": BPE, "FLOTA": FLOTA}

LINES = st.text(alphabet="abcdöñ€😀x \t  ", max_size=12).filter(lambda text: "\n" not in text)
TEXTS = st.lists(LINES, max_size=8)
LANGUAGES = st.lists(st.tuples(st.sampled_from(["en", "de", "nv"]), LINES), max_size=12)


# ----------------------------------------------------------------------------- the naive oracle


def naive(text: str, label: str, segmenter: Segmenter, lines: Sequence[str]) -> TextMeasure:
    """Each running word segmented on its own, and each sum written out."""
    words = [word for line in lines for word in line.split()]
    counts: Counter[int] = Counter()
    characters = kept = kept_bytes = 0
    for word in words:
        encoded = segmenter.encode([word])
        found = segmenter.segment(encoded)
        counts.update(found.tokens(0))
        characters += len(word)
        for character, is_kept in zip(word, found.covered[:-1], strict=True):
            kept += bool(is_kept)
            kept_bytes += len(character.encode()) if is_kept else 0
    typed = [counts[number] for number in range(len(segmenter.types))]
    tokens = sum(counts.values())

    def over(part: float, whole: float) -> float:
        return part / whole if whole else math.nan

    return TextMeasure(
        text,
        label,
        lines=sum(bool(line.strip()) for line in lines),
        words=len(words),
        characters=characters,
        bytes=sum(len(word.encode()) for word in words),
        tokens=tokens,
        fertility=over(tokens, len(words)),
        characters_per_token=over(kept, tokens),
        bytes_per_token=over(kept_bytes, tokens),
        renyi=renyi_efficiency(typed, segmenter.vocabulary_size),
        never_used=sum(not number for number in typed),
        ordinary_types=len(TYPES),
    )


def check(found: Sequence[TextMeasure], texts: Mapping[str, Sequence[str]]) -> None:
    expected = [
        naive(text, label, segmenter, lines)
        for label, segmenter in BOTH.items()
        for text, lines in texts.items()
    ]
    assert [plain(one) for one in found] == [
        pytest.approx(plain(one), nan_ok=True) for one in expected
    ]


def plain(one: TextMeasure) -> dict[str, Any]:
    values = dict(vars(one))
    names = values.pop("text"), values.pop("tokeniser")
    return {"names": hash(names), **values}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is segmented at once."""
    monkeypatch.setattr(measures, "_AT_ONCE", 8)


def write(folder: Path, name: str, lines: Sequence[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    packed: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress}
    (folder / name).write_bytes(packed.get(Path(name).suffix, bytes)(data))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_files_are_as_every_word_on_its_own(a: list[str], b: list[str], c: list[str]) -> None:
    texts = a, b, c
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = dict(zip("abc", texts, strict=True))
        write(folder, "a.txt", texts[0])
        write(folder, "b.txt.gz", texts[1])
        write(folder, "c.jsonl", [json.dumps({"text": line}) for line in texts[2]])
        if not any(word for lines in texts for line in lines for word in line.split()):
            with pytest.raises(MorphGraphError, match="no words"):
                measure_corpus(BOTH, [folder])
            return
        measured = measure_corpus(BOTH, [folder])
        # An empty file, which has no block, is not listed.
        known = {text: lines for text, lines in found.items() if lines or text == "b"}
        check(measured.texts, known)
        check(measured.totals, {"all": [line for lines in texts for line in lines]})
        assert (measured.by, measured.unit, measured.base) == ("file", "words", None)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(LANGUAGES, st.sampled_from(["jsonl", "csv", "parquet"]))
def test_languages_of_a_table(rows: list[tuple[str, str]], kind: str) -> None:
    rows = [("en", "abc d"), *rows]
    with TemporaryDirectory() as name:
        path = table(Path(name), rows, kind)
        measured = measure_corpus(BOTH, [path], language_column="lang")
    found: dict[str, list[str]] = {}
    for language, line in sorted(rows, key=lambda row: row[0]):
        found.setdefault(language, []).append(line)
    check(measured.texts, found)
    assert measured.by == "language"


def table(folder: Path, rows: Sequence[tuple[str, str]], kind: str) -> Path:
    path = folder / f"rows.{kind}"
    if kind == "jsonl":
        write(folder, path.name, [json.dumps({"lang": a, "text": b}) for a, b in rows])
    elif kind == "csv":
        write(folder, path.name, ["lang,text", *(f'{a},"{b}"' for a, b in rows)])
    else:
        columns = {"lang": [row[0] for row in rows], "text": [row[1] for row in rows]}
        parquet.write_table(pyarrow.table(columns), path, row_group_size=3)
    return path


@pytest.mark.slow
def test_lines_are_what_the_library_makes_of_them(tmp_path: Path) -> None:
    lines = ["The dogs  run home.", "  Houses\tstand there ", "Don't!", "Straße 12"]
    (tmp_path / "a.txt").write_text("\r\n".join([*lines, "", lines[0]]), newline="")
    measured = measure_corpus({"en": load_segmenter("demo:en")}, [tmp_path], unit="lines")
    library = Tokenizer.from_file(str(demo_tokeniser_path("en")))
    encoded = library.encode_batch([*lines, lines[0]], add_special_tokens=False)
    [all_text] = measured.totals
    assert all_text.tokens == sum(map(len, encoded))
    assert (all_text.lines, all_text.words) == (5, 14)
    assert all_text.bytes == sum(len(line.encode()) for line in [*lines, lines[0]])


# ----------------------------------------------------------------------------- parity


@pytest.fixture
def parallel(tmp_path: Path) -> Path:
    """abc is a token, so are ab and c; x is none, and all else are characters."""
    write(tmp_path, "en.dev", ["abc", "ab"])
    write(tmp_path, "de.dev", ["abcab", "dd"])
    write(tmp_path, "fr.dev", ["öñöñd", "d"])
    return tmp_path


def measured(folder: Path, **options: Any) -> CorpusMeasures:
    return measure_corpus({"BPE": BPE}, [folder / "*.dev"], parallel=True, **options)


def test_parity_by_hand(parallel: Path) -> None:
    """Tokens: 1 + 1 of en, 2 + 2 of de, 3 + 1 of fr; per line 1, 2, 2; bytes: 5, 7 and 10."""
    found = measured(parallel, base="en")
    by_language = {one.text: one for one in found.texts}
    assert list(by_language) == ["de", "en", "fr"]
    assert {text: one.tokens for text, one in by_language.items()} == {"de": 4, "en": 2, "fr": 4}
    assert {text: one.relative_tokens for text, one in by_language.items()} == {
        "de": 2,
        "en": 1,
        "fr": 2,
    }
    # Characters: 5 of en, 7 of de, 6 of fr.
    assert {text: one.premium for text, one in by_language.items()} == {
        "de": 7 / 5,
        "en": 1,
        "fr": 6 / 5,
    }
    assert found.matched_sizes(1001) == {"de": 1401, "en": 1001, "fr": 1201}
    assert by_language["fr"].tokens_per_line == 2
    assert by_language["fr"].tokens_per_byte == 4 / 10
    assert math.isnan(found.totals[0].relative_tokens)
    # Costs 1, 2, 2: differences of 1, four times, over 2 · 9 · 5/3.
    assert found.gini("BPE") == pytest.approx(4 / 30)
    assert list(found.costs("BPE")) == ["en", "de", "fr"]
    # 4/7, 2/5 and 4/10.
    a, b = 4 / 7, 4 / 10
    assert found.gini("BPE", "byte") == pytest.approx(4 * (a - b) / (2 * 3 * (a + 2 * b)))
    assert (found.unit, found.by) == ("lines", "language")
    assert "|unit:lines|base:en|" in found.signature


def test_what_is_not_parallel(parallel: Path) -> None:
    write(parallel, "fr.dev", ["öñ"])
    with refused():
        measured(parallel)
    (parallel / "fr.dev").write_bytes(b"")
    with refused():
        measured(parallel)
    (parallel / "fr.dev").unlink()
    with refused():
        measured(parallel, base="it")
    (parallel / "de.dev").unlink()
    with refused():
        measured(parallel)
    with refused():
        measure_corpus({"BPE": BPE}, [])
    with refused():
        measure_corpus({"BPE": BPE}, [parallel], base="en")


# ----------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_texts_without_language(tmp_path: Path, kind: str) -> None:
    path = table(tmp_path, [("en", "ab"), (" ", "abc"), ("de", "d")], kind)
    with refused():
        measure_corpus(BOTH, [path], language_column="lang")
    found = measure_corpus(BOTH, [path], language_column="lang", bad_lines="skip")
    assert [one.text for one in found.of("BPE")] == ["de", "en"]
    assert found.bad == 1
    assert "“lang”" in found.first_bad[0]


def test_lines_that_are_too_long_are_refused(
    parallel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measures, "LONGEST_WORD", 8)
    write(parallel, "fr.dev", ["öñöñd", "d", "d", "d"])
    write(parallel, "en.dev", ["abc", "ab abc abc", "ab", "ab abc abc"])
    write(parallel, "de.dev", ["abcab", "dd"])
    with refused():
        measured(parallel)


def test_words_that_are_too_long_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", [f"ab {'c' * (2**20 + 1)} abc d"])
    with refused():
        measure_corpus(BOTH, [tmp_path])


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_the_order_of_the_efficiency(tmp_path: Path, alpha: float) -> None:
    write(tmp_path, "a.txt", ["abc d d ab"])
    [found] = measure_corpus({"BPE": BPE}, [tmp_path], alpha=alpha).totals
    assert found.renyi == renyi_efficiency([1, 2, 1], len(TYPES), alpha)


def test_too_many_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORPHGRAPH_MAX_CORPUS_LANGUAGES", "2")
    path = table(tmp_path, [("a", "ab"), ("b", "ab"), ("c", "ab")], "jsonl")
    with refused():
        measure_corpus(BOTH, [path], language_column="lang")


def test_the_signature_does_not_depend_on_the_order(tmp_path: Path) -> None:
    rows = [("en", "ab"), ("de", "d"), ("en", "abc")]
    one = measure_corpus(BOTH, [table(tmp_path, rows, "csv")], language_column="lang")
    other = measure_corpus(BOTH, [table(tmp_path, rows[::-1], "csv")], language_column="lang")
    changed = measure_corpus(BOTH, [table(tmp_path, rows[:2], "csv")], language_column="lang")
    swapped = [("de" if language == "en" else "en", text) for language, text in rows]
    exchanged = measure_corpus(BOTH, [table(tmp_path, swapped, "csv")], language_column="lang")
    assert repr(one) == repr(other), "n/a is n/a"
    assert len({one.signature, changed.signature, exchanged.signature}) == 3


@pytest.mark.slow
def test_blocks_may_come_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", ["abc d", "ab", "öñ öñ d"] * 5)
    write(tmp_path, "b.txt", ["d€ d"] * 9)

    def backwards(function: Any, tasks: Sequence[Any], *common: Any) -> Iterator[Any]:
        return (function(task, *common) for task in reversed(tasks))

    for name in ("a.txt", "b.txt"):
        with (tmp_path / name).open("ab") as file:
            file.write(b"ab\xff\n" * 9)
    options: dict[str, Any] = {"bad_lines": "skip"}
    found = measure_corpus(BOTH, [tmp_path], **options)
    assert found.bad == 18
    assert "a.txt, line 16: it is not valid UTF-8" in found.first_bad[0]
    assert repr(measure_corpus(BOTH, [tmp_path], run=backwards, **options)) == repr(found)


COSTS = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=30)


def test_what_is_undefined() -> None:
    for costs in ([], [0, 0], [1, math.nan]):
        assert math.isnan(gini(costs))


@given(COSTS)
def test_gini_is_the_sum_of_all_differences(costs: list[float]) -> None:
    n, mean = len(costs), sum(costs) / len(costs)
    naive = sum(abs(a - b) for a in costs for b in costs) / (2 * n * n * mean)
    assert gini(costs) == pytest.approx(naive, abs=1e-9)
