"""Files that would do harm: each made by a script, small to make and costly to read.

``FILES`` has for each its kind (how it is opened), its name, what makes its bytes, and a part of
the one-line error that it must give.
"""

import base64
import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

MILLION = 1_000_000


class Hostile(NamedTuple):
    """A file; ``kind``: a tokeniser, a reference, frequencies, a text or an evaluation.

    ``error``: what it gives on one's own machine; ``public``: what a public server says, if that is
    not the same.
    """

    kind: str
    name: str
    make: Callable[[], bytes]
    error: str | None
    public: str = ""


def tokeniser(**parts):
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model, **parts}).encode()


def replace(pattern, content, kind="String"):
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def steps(*parts):
    return {"type": "Sequence", "normalizers": list(parts)}


def split(pattern):
    kind = {"type": "Split", "behavior": "Isolated", "invert": False}
    return {**kind, "pattern": {"Regex": pattern}}


def in_a_row(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def metaspaces(count):
    """Each puts its sign before what the one before it cut, so that pieces grow like Fibonacci."""
    kind = {"type": "Metaspace", "prepend_scheme": "always", "split": True}
    return in_a_row(*({**kind, "replacement": "▁_"[number % 2]} for number in range(count)))


def precompiled(charsmap):
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}


def charsmap(units, texts, size=None):
    """SentencePiece's map: the trie's size, its units, and the texts that its values point at."""
    size = 4 * len(units) if size is None else size
    return struct.pack(f"<I{len(units)}I", size, *units) + texts


def beyond():
    """A trie whose root leads a thousand million places beyond its end."""
    return [(2**22 - 1) << 10 | 1 << 9, *([0] * 511)]


def piece(text, score, kind=1):
    body = text.encode()
    fields = b"\n" + _varint(len(body)) + body + b"\x15" + struct.pack("<f", score)
    fields += b"\x18" + bytes([kind])
    return b"\n" + _varint(len(fields)) + fields


def _varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def sentencepiece(rules):
    from sentencepiece import sentencepiece_model_pb2

    messages = sentencepiece_model_pb2
    model = messages.ModelProto()
    for text, kind in (("<unk>", 2), ("a", 1), ("b", 1), ("ab", 1)):
        model.pieces.add(piece=text, score=-1.0, type=kind)
    model.trainer_spec.model_type = 2
    model.normalizer_spec.precompiled_charsmap = rules
    return bytes(model.SerializeToString())


def model_of(pieces):
    """A model of SentencePiece of the kind BPE."""
    return piece("<unk>", 0, 2) + b"".join(pieces) + b"\x12\x02\x18\x02"


def side_by_side(*columns):
    """The bytes of columns beside each other, of which one text may stand in all rows."""
    count = max(map(len, columns))
    texts = (np.frombuffer(each, np.uint8) if isinstance(each, bytes) else each for each in columns)
    return np.hstack([np.broadcast_to(each, (count, each.shape[-1])) for each in texts]).tobytes()


def digits(numbers, base=16):
    """Numbers of six digits, and of seven if they are decimal, as bytes."""
    powers = base ** np.arange(7 if base == 10 else 6)[::-1]
    found = numbers[:, None] // powers % base
    return (found + np.where(found < 10, ord("0"), ord("a") - 10)).astype(np.uint8)


def many_pieces(count):
    scores = -np.arange(count, dtype="<f4")[:, None]
    head, tail = b"\n\x0f\n\x06", b"\x18\x01"
    return side_by_side(head, digits(np.arange(count)), b"\x15", scores.view(np.uint8), tail)


def vocabulary(count):
    ids = digits(MILLION + np.arange(count), 10)
    inner = side_by_side(b',"', digits(np.arange(count)), b'":', ids)[1:]
    return b'{"model":{"type":"BPE","vocab":{' + inner + b'},"merges":[]}}'


def parquet(word, count, **options):
    import pyarrow as pa
    from pyarrow import parquet as library

    written = io.BytesIO()
    table = pa.table({"word": word, "text": word, "count": count})
    library.write_table(table, written, compression="zstd", **options)
    return written.getvalue()


def repeated(text):
    """One text in a million rows: a dictionary with one value, and its number, which is 0."""
    import pyarrow as pa

    zeros = np.zeros(MILLION, np.int8)
    return parquet(pa.DictionaryArray.from_arrays(zeros, pa.array([text])), zeros)


def bomb(size):
    """A page of one text that packs to next to nothing."""
    return parquet(["a" * size], [1], use_dictionary=False, write_statistics=False)


def workbook(rows, sheets="", styles=""):
    """A sheet of MorphoLex with these rows of XML, and more sheets and formats of cells."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        'content-types"><Override PartName="/xl/workbook.xml" '
        f'ContentType="{kind}sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{kind}worksheet+xml"/><Override PartName="/xl/styles.xml" '
        f'ContentType="{kind}styles+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        'relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument'
        '/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
        'main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
        f'<sheets><sheet name="0-1-0" sheetId="1" r:id="r1"/>{sheets}</sheets></workbook>',
        "xl/styles.xml": '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
        f'main"><cellXfs><xf/>{styles}</cellXfs></styleSheet>',
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/'
        'package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/'
        'officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": '<worksheet xmlns="http://schemas.openxmlformats.org/'
        f'spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def many_sheets(count):
    names = (f'<sheet name="s{n}" sheetId="{n}" r:id="r1"/>' for n in range(2, count))
    return workbook("", sheets="".join(names))


def last_cells(rows):
    """Rows with nothing but a cell in the last column."""
    cells = (f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, rows + 1))
    return workbook("".join(cells))


EVALUATION = "name: x\nlanguages: [en]\ntokenisers:\n  - file: demo:en\nreferences: [demo]\n"


def added(length):
    token = {"id": 3, "content": "a" * length, "normalized": True, "special": False}
    return {"added_tokens": [token]}


OPENS = None
"""It is opened: only words that it was not tried on here would take long."""
NOT_HERE = "a public server does not run this part"
MAP_DAMAGED = "map of characters is damaged"


GROWING = {
    "Replace that doubles 60 times": lambda: {"normalizer": steps(*[replace("a", "aa")] * 60)},
    "Replace by a pattern that grows": lambda: {
        "normalizer": steps(*[replace(".", "x" * 99, "Regex")] * 5)
    },
    "Replace by 9,000 characters": lambda: {"normalizer": replace("a", "b" * 9000)},
    "Replace of nothing": lambda: {"normalizer": steps(*[replace("", "ab", "Regex")] * 30)},
    "Prepend and Replace": lambda: {
        "normalizer": steps({"type": "Prepend", "prepend": "a" * 9000}, replace("a", "b" * 9000))
    },
    "a hundred times bytes": lambda: {"normalizer": steps(*[{"type": "ByteLevel"}] * 100)},
    "an added token that grows": lambda: {"normalizer": replace("a", "b" * 9000), **added(5000)},
    "Metaspaces that grow": lambda: {"pre_tokenizer": metaspaces(60)},
}
"""Pipelines that make too many characters of one."""

SLOW = {
    "a pattern with repetitions in one another": lambda: {"pre_tokenizer": split("(?:a+a+)+[^a]")},
    "a pattern with repetitions in a row": lambda: {"pre_tokenizer": split("a*" * 9 + "[^a]")},
    "a pattern with choices": lambda: {
        "normalizer": replace("(?:a|b|ab)?" * 40 + "$", "", "Regex")
    },
    "a pattern that tries all ways": lambda: {"pre_tokenizer": split("(?:a|a){2}a*a*a*!")},
    "900 patterns": lambda: {
        "pre_tokenizer": in_a_row(
            *(split("|".join(f"a{n}b{way}" for way in range(900))) for n in range(900))
        )
    },
}
"""Patterns that take long on words which they are not tried on."""

PIPELINES = {
    **{name: (parts, "characters; the limit is", NOT_HERE) for name, parts in GROWING.items()},
    "Prepend of 50 MB": (
        lambda: {"normalizer": {"type": "Prepend", "prepend": "a" * 50 * MILLION}},
        "bytes of memory, or fails",
        NOT_HERE,
    ),
    "Precompiled with a false size": (
        lambda: {"normalizer": precompiled(charsmap([0] * 256, b"a\0", 0xFFFF_FFFC))},
        MAP_DAMAGED,
        "",
    ),
    "Precompiled that leaves its array": (
        lambda: {"normalizer": precompiled(charsmap(beyond(), b"a\0"))},
        MAP_DAMAGED,
        "",
    ),
    "Precompiled of 50 MB": (
        lambda: {"normalizer": precompiled(charsmap([0] * 256, b"a" * 50 * MILLION))},
        "bytes in its precompiled map of characters; the limit is",
        "",
    ),
    "a decoder that grows": (
        lambda: {
            "decoder": {
                "type": "Sequence",
                "decoders": [replace("a", "aaaa"), replace("aa", "a" * 4)],
            }
        },
        "no published tokeniser has such a decoder",
        NOT_HERE,
    ),
    "a pattern that calls itself": (
        lambda: {"pre_tokenizer": split(r"(?<x>a\g<x>?a|\g<x>)")},
        "they fail on a simple word",
        NOT_HERE,
    ),
    "a pattern of 10 MB": (
        lambda: {"pre_tokenizer": split("(" * 10 * MILLION)},
        "pre_tokenizer",
        NOT_HERE,
    ),
    "a normaliser of 300,000 steps": (
        lambda: {"normalizer": steps(*[{"type": "NFC"}] * 300_000)},
        "parts in its normaliser",
        "",
    ),
    "a pre-tokeniser of 300,000 steps": (
        lambda: {"pre_tokenizer": in_a_row(*[{"type": "Whitespace"}] * 300_000)},
        "parts in its normaliser",
        "",
    ),
}
"""Parts of a tokenizer.json, the error, and that of a public server if it is another one."""

DOCUMENTS = {
    "33 million empty objects": (
        lambda: b"[" + b"{}," * 33 * MILLION + b"0]",
        "bytes of values; the limit is",
    ),
    "33 million empty objects in a tokeniser": (
        lambda: b'{"model":{"merges":[' + b"{}," * 33 * MILLION + b"0]}}",
        "bytes of values; the limit is",
    ),
    "16 million halves of pairs": (
        lambda: b'{"a":"' + b"\\ud83d\\ude00" * 8 * MILLION + b'\\ud83d"}',
        "half of a surrogate pair",
    ),
    "one wide character and 90 MB": (
        lambda: b'{"a":"' + "😀".encode() + b"a" * 90 * MILLION + b'","b":[]}',
        "bytes of values; the limit is",
    ),
    "a number of 90 MB": (lambda: b'{"model":' + b"9" * 90 * MILLION + b".5}", ""),
    "6 million types": (lambda: vocabulary(6 * MILLION), "the limit is"),
}
"""The bytes of a tokenizer.json, and the error."""

MODELS = {
    "SentencePiece with a false size": (
        lambda: sentencepiece(charsmap([0] * 256, b"a\0", 0xFFFF_FFFC)),
        MAP_DAMAGED,
    ),
    "SentencePiece that leaves its array": (
        lambda: sentencepiece(charsmap(beyond(), b"a\0")),
        MAP_DAMAGED,
    ),
    "3 million types of SentencePiece": (
        lambda: model_of([many_pieces(3 * MILLION)]),
        "types; the limit is",
    ),
    # each is longer by one letter, so that any two neighbours make a third one
    "types of SentencePiece that all may merge": (
        lambda: model_of(piece("a" * length, -length) for length in range(1, 4000)),
        "characters in its types",
    ),
}
"""The bytes of a SentencePiece model, and the error."""

WORKBOOKS = {
    "a cell in the last column": (lambda: last_cells(1), ""),
    "300,000 cells in the last column": (lambda: last_cells(300_000), ""),
    "a cell in the last row": (
        lambda: workbook('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        "",
    ),
    "300,000 sheets": (lambda: many_sheets(300_000), "reading it takes"),
    "4 million formats of cells": (
        lambda: workbook("", styles="<xf/>" * 4 * MILLION),
        "reading it takes",
    ),
    "a comment of 200 MB": (
        lambda: workbook("<!--" + " " * 200 * MILLION + "-->"),
        "reading it takes",
    ),
}

EVALUATIONS = {
    "190,000 seeds": (
        f"seeds: [{','.join(map(str, range(190_000)))}]\n",
        "characters; the limit is",
    ),
    "40,000 seeds": (f"seeds: [{','.join(map(str, range(40_000)))}]\n", "at most 1000 items"),
    "150,000 keys": (
        "".join(f"k{n}: 1\n" for n in range(150_000)),
        "characters; the limit is",
    ),
    "25,000 keys": ("".join(f"k{n}: 1\n" for n in range(25_000)), "there is no such field"),
}
"""What follows in an evaluation, and the error."""


def named(kind, file, made):
    return {name: Hostile(kind, file, *each) for name, each in made.items()}


FILES = {
    **{
        name: Hostile(
            "tokeniser", "tokenizer.json", lambda parts=parts: tokeniser(**parts()), *said
        )
        for name, (parts, *said) in {
            **PIPELINES,
            **{name: (parts, OPENS, NOT_HERE) for name, parts in SLOW.items()},
        }.items()
    },
    **named("tokeniser", "tokenizer.json", DOCUMENTS),
    **named("tokeniser", "m.model", MODELS),
    "3 million merges of fastBPE": Hostile(
        "tokeniser", "codes", lambda: b"a b 1\n" * 3 * MILLION, "merges; the limit is"
    ),
    "merges that are longer by one letter each": Hostile(
        "tokeniser",
        "codes",
        lambda: b"".join(b"%b a 1\n" % (b"a" * n) for n in range(1, 9000)),
        "characters in all types together; the limit is",
    ),
    "a gzip file that expands": Hostile(
        "tokeniser",
        "tokenizer.json.gz",
        lambda: gzip.compress(bytes(500 * MILLION), 1),
        "bytes; the limit is",
    ),
    "one line of 90 MB of base64": Hostile(
        "tokeniser", "merges.bin", lambda: b"QUJD" * 22 * MILLION, "looks like data in base64"
    ),
    "a list with a line of 90 MB": Hostile(
        "tokeniser", "types", lambda: b"a\n" + "é".encode() * 45 * MILLION, "too long for a type"
    ),
    "90 MB of zeros": Hostile("tokeniser", "types", lambda: bytes(90 * MILLION), "binary data"),
    "6 million types, one a line": Hostile(
        "tokeniser",
        "types.txt",
        lambda: side_by_side(digits(np.arange(6 * MILLION)), b"\n"),
        "types",
    ),
    "a dictionary of parquet that expands": Hostile(
        "frequencies",
        "counts.parquet",
        lambda: repeated("a" * 3600),
        "it unpacks to more than",
    ),
    "a page of parquet that expands": Hostile(
        "frequencies", "counts.parquet", lambda: bomb(500 * MILLION), "it unpacks to more than"
    ),
    "a text of parquet that expands": Hostile(
        "text", "text.parquet", lambda: repeated("a " * 1800), "it unpacks to more than"
    ),
    **named("reference", "gold.xlsx", WORKBOOKS),
    "25 million lines": Hostile(
        "reference", "gold.tsv", lambda: b"a\tb\n" * 25 * MILLION, "lines; the limit is"
    ),
    "40 MB of trees": Hostile(
        "reference",
        "gold.cd",
        lambda: b"a\t(((a)[N],(b)[A|N.])[A],(c)[B|A.])[B]\n" * MILLION,
        "nodes in its trees of morphemes; the limit is",
    ),
    "one line of counts": Hostile(
        "frequencies", "counts.tsv", lambda: b"\t" * 77 * MILLION, "the line has more than"
    ),
    "one line of 100 MB": Hostile(
        "reference", "gold.tsv", lambda: "😀".encode() + b"a" * 99 * MILLION, "the limit is"
    ),
    **{
        name: Hostile("evaluation", "x.yaml", lambda rest=rest: (EVALUATION + rest).encode(), error)
        for name, (rest, error) in EVALUATIONS.items()
    },
}
