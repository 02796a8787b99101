"""Whether all programs that read a tokeniser give the same ids, and what is wrong if not."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from morphgraph.api.readings import (
    OURS,
    ProgramReading,
    own_reading,
    pattern_of,
    read_all,
    readings_of,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import demo_tokeniser_path, parse_json
from morphgraph.core.text import base_name, counted, shortened, visible, without_nan
from morphgraph.formats.checks import Check
from morphgraph.formats.file_checks import (
    CONFIGS,
    check_formed,
    check_ids,
    check_special,
    named,
    text_of_type,
)
from morphgraph.formats.hugging_face import are_numbered, listed_ids, model_in
from morphgraph.formats.opening import WHOLE, files_of, format_of
from morphgraph.formats.programs import ProgramError
from morphgraph.formats.sample_texts import sample_texts
from morphgraph.formats.stages import DECODER, FRAME, Side, mend_of, stage_of
from morphgraph.formats.tokeniser_files import TokeniserFiles
from morphgraph.tables.model import Column, Table, plain_table
from morphgraph.tables.result import Result
from morphgraph.tokeniser.merging import unreachable_types
from morphgraph.tokeniser.parts import PARTS_OF_TEXT

_MOST_ADDED = 30
"""The added tokens that sample texts are made with."""


@dataclass(frozen=True)
class Verdict:
    """What a program makes of a file, beside the reference.

    ``problem``: why it made nothing of it, else empty. ``differ``: how many of the ``texts``, which
    are samples and the types' own strings, have other ids, or are decoded otherwise; ``example``:
    the first of them, with the ids ``expected`` and ``found`` from where they part, or with what it
    is ``decoded`` to. ``stage``: the one at fault; ``mend``: what mends it.
    """

    program: str
    file: str
    problem: str = ""
    texts: int = 0
    differ: int = 0
    example: str = ""
    expected: tuple[int, ...] = ()
    found: tuple[int, ...] = ()
    decoded: str = ""
    stage: str = ""
    mend: str = ""


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """How programs read the files of a tokeniser, and the checks of these files.

    ``reference``: the program and the file whose ids count.

    >>> made = tokeniser.export("folder", words=["undesirable"])
    >>> found = mg.doctor("folder")
    >>> found.fine, found.reference.partition(" ")[0]
    (True, 'tokenizers')
    """

    name: str
    reference: str
    verdicts: tuple[Verdict, ...]
    checks: tuple[Check, ...]

    @property
    def fine(self) -> bool:
        """Whether no program gives other ids, and no check fails.

        >>> made = tokeniser.export("folder", words=["undesirable"])
        >>> mg.doctor("folder").fine
        True
        """
        is_equal = not any(verdict.differ for verdict in self.verdicts)
        return is_equal and all(check.fine is not False for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON data.

        >>> made = tokeniser.export("folder", words=["undesirable"])
        >>> mg.doctor("folder").to_dict()["verdicts"][0]["differ"]
        0
        """
        return dict(without_nan({**asdict(self), "fine": self.fine}))

    def table(self) -> Table:
        """Return a row for each program and file, and for each check.

        >>> made = tokeniser.export("folder", words=["undesirable"])
        >>> [row.names[0] for row in mg.doctor("folder").table().rows][-1]
        'types that do not return from their own text'
        """
        rows = [
            (v.program, v.file, _told(v, self.reference), v.stage, v.mend) for v in self.verdicts
        ]
        for check in self.checks:
            number = {None: "n/a", 0: "none"}.get(check.number, f"{check.number or 0:,}")
            told = ": ".join(filter(None, (number, check.explanation)))
            rows.append((check.name, "", told, "check" * (check.fine is False), ""))
        columns = map(Column, ("program, or check", "file", "result", "at fault", "mend"))
        return plain_table("Diagnosis", [*columns], rows)

    def __repr__(self) -> str:
        read = [verdict for verdict in self.verdicts if not verdict.problem]
        other = counted(sum(v.differ > 0 for v in read), "differs", "differ")
        failed = counted(sum(c.fine is False for c in self.checks), "check fails", "checks fail")
        return f"<Diagnosis {visible(self.name)}: of {len(read)} readings {other}; {failed}>"


def _told(verdict: Verdict, reference: str) -> str:
    if verdict.problem:
        return verdict.problem
    if f"{verdict.program}, {verdict.file}" == reference:
        return f"the reference: {verdict.texts:,} texts"
    if not verdict.differ:
        return f"equal: {verdict.texts:,} texts"
    ids = f"is {[*verdict.found[:6]]} instead of {[*verdict.expected[:6]]}"
    if not verdict.found and not verdict.expected:
        ids = f"is decoded to “{shortened(visible(verdict.decoded), 40)}”"
    first = f"“{shortened(visible(verdict.example), 40)}” {ids}"
    return f"{verdict.differ:,} of {verdict.texts:,} texts differ: {first}"


def doctor(path: str | os.PathLike[str]) -> Diagnosis:
    """Report whether all programs that are installed read a tokeniser's files alike.

    ``path``: a file, or a folder whose files are one tokeniser. Each program reads what it can in
    it, and gets 300 sample texts, some with added tokens, and each type's own string. Their ids are
    compared with those of `tokenizers` by the ``tokenizer.json``, or else with ours. Programs run
    in processes of their own, and no code of the folder is run. Errors: `MorphGraphError` if
    nothing reads it.

    >>> made = tokeniser.export("folder", words=["undesirable"])
    >>> mg.doctor("folder").fine
    True
    """
    source = Path(path)
    if str(path).startswith("demo:"):
        source = demo_tokeniser_path(str(path).removeprefix("demo:"))
    files = files_of(source)
    is_folder = source.is_dir()
    mains = [*dict.fromkeys((files.main, *files.mains()))] if is_folder else [files.main]
    kinds = {main: format_of(replace(files, main=main)) for main in mains}
    whole = next((main for main in mains if kinds[main] == WHOLE), "")
    raw = _document(files, whole) if whole else None
    pattern = pattern_of(raw or {})
    own = list[ProgramReading]()
    error: MorphGraphError | None = None
    for main in mains:
        place = source if main == files.main else Path(files.place + main)
        made = own_reading(place, main, kinds[main], pattern)
        if isinstance(made, MorphGraphError):
            error = error or made
            made = ProgramReading(OURS, main, problem=f"it does not read this: {made}")
        own.append(made)
    documents = {each.file: each.document for each in own if each.document is not None}
    documents |= {whole: raw} if raw else {}
    if not documents:
        assert error is not None
        raise error
    others = readings_of(files, kinds, documents, str(source) if is_folder else "")
    document = raw or next(iter(documents.values()))
    added = [token["content"] for token in document.get("added_tokens") or []]
    texts = [*sample_texts(), *(f"a{text} {text}b " for text in added[:_MOST_ADDED])]
    types = _type_texts(document, {*added})
    readings = sorted([*own, *others], key=lambda each: not _decides(each, whole))
    read_all(readings, texts, [*types])
    read = [each for each in readings if each.found]
    if not read:
        raise error or MorphGraphError(f"{source}: no program reads it. Choose another file.")
    reference = read[0]
    every = [*texts, *types]
    verdicts = [_verdict(each, reference, every, len(texts)) for each in readings]
    checks = [
        *check_ids(document),
        check_special(document, files.settings(), _configs(files), bool(raw)),
        *_checks_of_types(reference, own, types, len(texts)),
    ]
    name = f"{reference.program}, {reference.file}"
    return Diagnosis(base_name(str(path)), name, tuple(verdicts), tuple(checks))


def _document(files: TokeniserFiles, whole: str) -> Mapping[str, Any] | None:
    """Return a ``tokenizer.json`` as it stands; None if its faults are for our reader to refuse."""
    fields = replace(files, main=whole).fields
    usual = model_in(fields) and are_numbered(fields.get("added_tokens") or [])
    is_plain = usual and {*map(type, listed_ids(model_in(fields)).values())} == {int}
    return fields if is_plain else None


def _decides(reading: ProgramReading, whole: str) -> bool:
    return reading.program.startswith("tokenizers") and reading.file == whole != ""


def _configs(files: TokeniserFiles) -> dict[str, Any]:
    there = [name for name in CONFIGS if name in files.names]
    parsed = {name: parse_json(files.content(name), files.place + name) for name in there}
    return {name: held for name, held in parsed.items() if isinstance(held, dict)}


def _type_texts(document: Mapping[str, Any], added: set[str]) -> dict[str, int]:
    """Return the strings that types stand for, but for those that are added tokens, with ids."""
    model = document["model"]
    ids, suffix = listed_ids(model), model.get("end_of_word_suffix") or ""
    in_bytes = "Ġ" in ids and '"ByteLevel"' in json.dumps(
        [document.get(key) for key in PARTS_OF_TEXT]
    )
    texts = {text_of_type(t, suffix, in_bytes): n for t, n in ids.items() if t not in added}
    texts.pop("", None)
    return {text: number for text, number in texts.items() if text not in added}


def _verdict(
    reading: ProgramReading, reference: ProgramReading, texts: Sequence[str], some: int
) -> Verdict:
    """Compare a reading with the reference; ``some``: texts that are samples."""
    program, file = reading.program, reading.file
    if not reading.found:
        return Verdict(program, file, reading.problem)
    one, other = Side(reference.ids, reference.document), Side(reading.ids, reading.document)
    names = () if reading.sees_special and reference.sees_special else {*one.added, *other.added}
    known = [n for n, text in enumerate(texts) if not any(name in text for name in names)]

    def differing(key: str, numbers: Sequence[int]) -> list[int]:
        here, there = reference.found[key], reading.found[key]
        return [n for n in numbers if here[n] != there[n]] if here and there else []

    samples = [*takewhile(lambda n: n < some, known)]
    for key, stage, numbers in (
        ("plain", "", known),
        ("framed", FRAME, samples),
        ("decoded", DECODER, samples),
    ):
        if not (others := differing(key, numbers)):
            continue
        text = texts[others[0]]
        here, there = reference.found[key][others[0]], reading.found[key][others[0]]
        if not stage:
            try:
                stage = stage_of(text, one, other)
            except (ProgramError, MorphGraphError):
                stage = ""
        mend = mend_of(stage, program, reading.kind, one.document or {}, reference.file)
        if key == "decoded":
            return Verdict(
                program,
                file,
                "",
                len(known),
                len(others),
                text,
                decoded=there,
                stage=stage,
                mend=mend,
            )
        same = len([*takewhile(lambda both: both[0] == both[1], zip(here, there, strict=False))])
        ids = tuple(here[same:]), tuple(there[same:])
        return Verdict(
            program, file, "", len(known), len(others), text, *ids, stage=stage, mend=mend
        )
    return Verdict(program, file, "", len(known))


def _checks_of_types(
    reference: ProgramReading, own: Sequence[ProgramReading], types: Mapping[str, int], some: int
) -> list[Check]:
    """Return the checks that types come out of their own text, and decode to it."""
    what = "types that do not return from their own text"
    tokeniser = next((each.tokeniser for each in own if each.tokeniser is not None), None)
    if tokeniser is None:
        return [check_formed(None), Check(what, None, None, "of what we read only")]
    ids = reference.found["plain"][some:]
    merges = tokeniser._segmenter.editable
    unformed = None
    if merges is not None:
        numbers = {id_: n for n, id_ in enumerate(merges.vocabulary_ids)}
        missed = {id_ for found, id_ in zip(ids, types.values(), strict=True) if found != [id_]}
        texts_of = {*types.values()}
        odd = [n for id_, n in numbers.items() if id_ in missed or id_ not in texts_of]
        dead = unreachable_types(merges.graph, odd)
        unformed = [merges.readable(merges.graph.types[n]) for n in dead]
    way = tokeniser._segmenter.undrawn.preprocessor
    if not (way.byte_level or way.byte_fallback):
        return [check_formed(unformed), Check(what, None, None, "of bytes only")]
    decoded = tokeniser._library.decode_batch(ids, skip_special_tokens=False)
    lost = [
        text
        for text, there in zip(types, decoded, strict=True)
        if there.lstrip(" ") not in (text.lstrip(" "), _normal(way, text).lstrip(" "))
    ]
    return [check_formed(unformed), Check(what, len(lost), not lost, named(lost))]


def _normal(way: Any, text: str) -> str:
    part = way.sentencepiece or way.normalizer
    return text if part is None else str(part.normalize_str(text)).replace("▁", " ")
