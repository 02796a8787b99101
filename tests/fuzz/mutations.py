"""Damage to the bytes of a file, chosen by a seed: what cut-off, wrong or hostile files look like.

`mutated` is deterministic: the same seed, data and donors always give the same bytes.
"""

import io
import json
import random
import zipfile

ODD_TEXTS = (
    *("\0", "\ufeff", "\u202e", "\u2028", "\x85", "\x0b", "\u00a0", "\u3000", "\r", "\t", " ", ""),
    *("👩‍👩‍👧‍👦", "e\u0301\u0323\u0308", "\u0301" * 300, "שלום", "مرحبا", "ﬁ"),
    *("ß", "İ", "日本", "𝔘"),
    *("\U0010ffff", "▁", "Ġ", "##", "</w>", "<unk>", "[UNK]", "<0x41>", "@@", "-", "~", "|", "'"),
    *('"', "\\", "#", "<script>alert(1)</script>", "../../etc/passwd", "%s%n{0}", "=1+1", "$(id)"),
    *("a" * 20_000, "-1", "0", "1e999", "NaN", "9" * 400, "18446744073709551616"),
    *("-9223372036854775809", "0.1", "[" * 3000, "(" * 3000, "{" * 3000, "(((", ")))", "[N|", "{}"),
    *("<>", ",,,", "\\\\", "a b " * 400),
)
ODD_BYTES = (
    *(b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe\0\0", b"\x80", b"\xc3"),
    *(b"\xed\xa0\x80", b"\0" * 50, b"\xff" * 20, b"PK\x03\x04", b"\x1f\x8b\x08", b"%PDF-"),
    *(b"\r\r\n", b"\\ud800", b"\\u0000"),
)
ODD_VALUES = (
    *(None, True, False, 0, -1, 1, 2, 7, 2**31 - 1, 2**31, 2**32, 2**63, -(2**63), 10**30, 10**400),
    *(0.0, -0.5, 1e308, float("inf"), float("nan"), "", "a", "ab", "\0", "\ud800", "e\u0301", "▁"),
    *("<unk>", [], {}, [[]], ["a", "b"], ["a", 1], {"a": 0}, {"type": "Sequence"}),
    {"a": {"a": {"a": []}}},
)


def _span(choose, length):
    start = choose.randrange(length + 1)
    return start, min(length, start + choose.choice((1, 2, 5, 20, 100, 1000)))


def flip(choose, data, _):
    """Some bytes become others."""
    changed = bytearray(data)
    for _number in range(choose.choice((1, 1, 2, 5, 20))):
        if changed:
            changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
    return bytes(changed)


def cut(choose, data, _):
    """The end is missing, or the beginning."""
    at = choose.randrange(len(data) + 1)
    return data[:at] if choose.random() < 0.8 else data[at:]


def move_span(choose, data, _):
    """A part is missing, there twice or often, or somewhere else."""
    start, end = _span(choose, len(data))
    part, rest = data[start:end], data[:start] + data[end:]
    way = choose.randrange(4)
    if way == 0:
        return rest
    if way == 1:
        return data[:end] + part * choose.choice((1, 2, 30)) + data[end:]
    at = choose.randrange(len(rest) + 1)
    if way == 2:
        return rest[:at] + part + rest[at:]
    return data[:at] + bytes(choose.sample(part, len(part))) + data[at:]


def insert(choose, data, _):
    """Something odd is in it."""
    odd = choose.choice((*ODD_BYTES, *ODD_TEXTS))
    inserted = odd.encode() if isinstance(odd, str) else odd
    at = choose.randrange(len(data) + 1)
    return data[:at] + inserted + data[at:]


def shuffle_lines(choose, data, _):
    """Lines are missing, there twice, in another order, or joined."""
    lines = data.split(b"\n")
    way = choose.randrange(5)
    first, second = choose.randrange(len(lines)), choose.randrange(len(lines))
    if way == 0:
        lines[first], lines[second] = lines[second], lines[first]
    elif way == 1:
        del lines[first]
    elif way == 2:
        lines.insert(first, lines[second])
    elif way == 3:
        choose.shuffle(lines)
    return (b"" if way == 4 else choose.choice((b"\n", b"\n", b"\r\n", b"\r"))).join(lines)


def replace_token(choose, data, donors):
    """A field of a line becomes another one, or something odd; also one of another format."""
    text = data.decode("utf-8", "surrogateescape")
    separator = choose.choice("\t \n,;:|+()[]{}<>\"'/@-")
    fields = text.split(separator)
    source = choose.choice((data, *donors)).decode("utf-8", "replace").split(separator)
    for _number in range(choose.choice((1, 1, 2, 4))):
        at = choose.randrange(len(fields))
        fields[at] = choose.choice(source) if choose.random() < 0.5 else choose.choice(ODD_TEXTS)
    return separator.join(fields).encode("utf-8", "surrogateescape")


def splice(choose, data, donors):
    """It begins as one format and goes on as another."""
    if not donors:
        return data
    other = choose.choice(donors)
    return data[: choose.randrange(len(data) + 1)] + other[choose.randrange(len(other) + 1) :]


def recode(choose, data, _):
    """In another encoding, or with another byte order mark."""
    text = data.decode("utf-8", "replace")
    encoding = choose.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig"))
    encoded = text.encode(encoding, "replace")
    return choose.choice((b"", b"", b"\xef\xbb\xbf", b"\xff\xfe")) + encoded


def widen(choose, data, _):
    """Characters become odd ones of Unicode."""
    text = [*data.decode("utf-8", "replace")]
    for _number in range(choose.choice((1, 3, 10))):
        if text:
            at = choose.randrange(len(text))
            random_character = chr(
                choose.choice((choose.randrange(0xD800), 0xE000 + choose.randrange(0x2000)))
            )
            text[at] = choose.choice(
                (random_character, choose.choice(ODD_TEXTS), text[at][:1] * 500)
            )
    return "".join(text).encode("utf-8", "replace")


PLAIN = (
    *(flip, cut, move_span, insert, shuffle_lines, replace_token, replace_token),
    *(splice, recode, widen),
)


def _places(value, found):
    keys = [*value] if isinstance(value, dict) else range(len(value))
    for key in keys:
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            _places(value[key], found)
    return found


def change_json(choose, data, donors):
    """Fields of JSON are missing, renamed, of another kind, swapped, or of another document."""
    document = json.loads(data)
    for _number in range(choose.choice((1, 1, 1, 2, 4))):
        # Small structures first: else nearly every change would hit the list of types.
        places = _places(document, [])
        top = [
            (parent, key) for parent, key in places if isinstance(parent, dict) and len(parent) < 25
        ]
        parent, key = choose.choice(top if top and choose.random() < 0.6 else places)
        way = choose.randrange(9)
        other, other_key = choose.choice(places)
        if way == 0:
            del parent[key]
        elif way == 1 and isinstance(parent, dict):
            parent[choose.choice((*ODD_TEXTS, f"{key}x"))[:100]] = parent.pop(key)
        elif way == 2:
            parent[key], other[other_key] = other[other_key], json.loads(json.dumps(parent[key]))
        elif way == 3 and isinstance(parent, list):
            parent.insert(choose.randrange(len(parent) + 1), json.loads(json.dumps(parent[key])))
        elif way == 4 and isinstance(parent, list):
            choose.shuffle(parent)
        elif way == 5:
            parent[key] = json.loads(json.dumps(other[other_key]))
        elif way == 6 and donors:
            parent[key] = _from_donor(choose, donors, parent[key])
        elif way == 7 and isinstance(parent[key], int):
            parent[key] += choose.choice((-1, 1, 1000, -(10**10), 2**40))
        elif way == 8 and isinstance(parent[key], str):
            parent[key] = choose.choice(
                (parent[key] * 2, parent[key][::-1], parent[key][:1], *ODD_TEXTS)
            )
        else:
            parent[key] = json.loads(json.dumps(choose.choice(ODD_VALUES)))
        if not isinstance(document, (dict, list)) or not document:
            break
    return _dumped(document)


def _dumped(document):
    try:
        return json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(document).encode()
    except ValueError:  # two swapped places, one in the other: no tree any more
        return b'{"model": ' * 50 + b"0" + b"}" * 50


def _from_donor(choose, donors, default):
    try:
        parent, key = choose.choice(_places(json.loads(choose.choice(donors)), []))
    except (ValueError, IndexError, TypeError):
        return default
    return parent[key]


def change_sentencepiece(choose, data, _):
    """Types of a SentencePiece model are others, and so are its settings."""
    from sentencepiece import sentencepiece_model_pb2

    messages = sentencepiece_model_pb2
    model = messages.ModelProto.FromString(data)
    settings = model.normalizer_spec
    for _number in range(choose.choice((1, 1, 1, 2, 4))):
        at, other = choose.randrange(len(model.pieces)), choose.choice(model.pieces)
        way = choose.randrange(10)
        if way == 0:
            model.pieces[at].piece = choose.choice(ODD_TEXTS)
        elif way == 1:
            model.pieces[at].piece = other.piece
        elif way == 2:
            model.pieces[at].score = choose.choice((0.0, 1e30, -1e38, float("inf"), float("nan")))
        elif way == 3:
            model.pieces[at].type = choose.randrange(1, 7)
        elif way == 4:
            del model.pieces[at : at + choose.choice((1, 5, 100))]
        elif way == 5:
            model.pieces.extend([other] * choose.choice((1, 300)))
        elif way == 6:
            model.trainer_spec.model_type = choose.randrange(1, 5)
        elif way == 7:
            model.trainer_spec.byte_fallback = not model.trainer_spec.byte_fallback
        elif way == 8:
            charsmap = settings.precompiled_charsmap or bytes(range(64))
            settings.precompiled_charsmap = flip(choose, charsmap, ())
        else:
            settings.add_dummy_prefix = choose.random() < 0.5
            settings.remove_extra_whitespaces = choose.random() < 0.5
            settings.escape_whitespaces = choose.random() < 0.5
        if not model.pieces:
            break
    return bytes(model.SerializeToString())


def change_archive(choose, data, donors):
    """A member of a zip archive is damaged, missing, there twice or of another name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at = choose.randrange(len(members))
    name, content = members[at]
    way = choose.randrange(8)
    if way == 0:
        del members[at]
    elif way == 1:
        members[at] = choose.choice(("../x.xml", "", "xl/worksheets/sheet9.xml")), content
    else:
        members[at] = name, choose.choice(PLAIN)(choose, content, donors)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name or "x", content)
    return packed.getvalue()


def mutated(seed, data, donors):
    """Data damaged in one to three ways; JSON and archives mostly inside their structure."""
    choose = random.Random(seed)
    structure = None
    if data[:1] == b"{":
        structure = change_json
    elif data[:2] == b"PK":
        structure = change_archive
    elif data[:1] == b"\n" and b"\0" in data:
        structure = change_sentencepiece
    if structure and choose.random() < 0.75:
        data = structure(choose, data, donors)
        if choose.random() < 0.9:
            return data
    for _number in range(choose.choice((1, 1, 1, 2, 3))):
        data = choose.choice(PLAIN)(choose, data, donors)
    return data
