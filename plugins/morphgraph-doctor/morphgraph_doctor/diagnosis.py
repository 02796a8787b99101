"""Whether all programs that read a tokeniser give the same ids, and what is wrong if not."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import demo_tokeniser_path, parse_json
from morphgraph.core.text import base_name, counted, visible, without_nan
from morphgraph.formats.checks import Check
from morphgraph.formats.hugging_face import are_numbered, listed_ids, model_in
from morphgraph.formats.opening import LONE_MERGES, RANKS, WHOLE, files_of, format_of
from morphgraph.formats.tokeniser_files import TokeniserFiles
from morphgraph.tables.model import Column, Table, plain_table
from morphgraph.tables.result import Result
from morphgraph.tokeniser.merging import unreachable_types
from morphgraph.tokeniser.parts import PARTS_OF_TEXT
from morphgraph.tokeniser.preprocess import BYTES
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph_doctor.file_checks import (
    CONFIGS,
    check_formed,
    check_ids,
    check_special,
    named,
    text_of_type,
)
from morphgraph_doctor.readings import (
    OUR_NAME,
    ProgramReading,
    own_reading,
    pattern_of,
    read_all,
    readings_of,
)
from morphgraph_doctor.sample_texts import sample_texts
from morphgraph_doctor.stages import normal_text
from morphgraph_doctor.verdicts import Verdict, verdict_of

_MOST_ADDED = 30
"""The added tokens that sample texts are made with."""


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
        rows = [(v.program, v.file, v.told(self.reference), v.stage, v.mend) for v in self.verdicts]
        for check in self.checks:
            number = {None: "n/a", 0: "none"}.get(check.number, f"{check.number or 0:,}")
            told = ": ".join(filter(None, (number, check.explanation)))
            rows.append((check.name, "", told, "check" * (check.fine is False), ""))
        columns = map(Column, ("program, or check", "file", "result", "at fault", "fix"))
        return plain_table("Diagnosis", [*columns], rows)

    def __repr__(self) -> str:
        read = [verdict for verdict in self.verdicts if not verdict.problem]
        other = counted(sum(v.differ > 0 for v in read), "differs", "differ")
        failed = counted(sum(c.fine is False for c in self.checks), "check fails", "checks fail")
        return f"<Diagnosis {visible(self.name)}: of {len(read)} readings {other}; {failed}>"


def doctor(path: str | os.PathLike[str]) -> Diagnosis:
    """Report whether all installed programs read a tokeniser's files alike.

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
    mains = [files.main]
    if is_folder:
        mains = [*dict.fromkeys((*mains, *files.mains(), *files.mains(["*tekken*.json"])))]
    each_file = {main: files if main == files.main else replace(files, main=main) for main in mains}
    kinds = {main: format_of(one) for main, one in each_file.items()}
    mains = [main for main in mains if main == files.main or kinds[main] != LONE_MERGES]
    whole = next((main for main in mains if kinds[main] == WHOLE), "")
    raw = _document(each_file[whole].fields) if whole else None
    pattern = pattern_of(raw or {})
    own = list[ProgramReading]()
    error: MorphGraphError | None = None
    for main in mains:
        place = source if main == files.main else Path(files.place + main)
        made = own_reading(place, main, kinds[main], pattern if kinds[main] == RANKS else None)
        if isinstance(made, MorphGraphError):
            error = error or made
            made = ProgramReading(OUR_NAME, main, problem=f"it does not read this: {made}")
        own.append(made)
    documents = {each.file: each.document for each in own if each.document is not None}
    documents |= {whole: raw} if raw else {}
    if not documents:
        assert error is not None
        raise error
    document = raw or next(iter(documents.values()))
    others = readings_of(files, kinds, documents, document, str(source) if is_folder else "")
    added = [token["content"] for token in document.get("added_tokens") or []]
    texts = [*sample_texts(), *(f"a{text} {text}b " for text in added[:_MOST_ADDED])]
    types = _type_texts(document, {*added})
    readings = [*own, *others]
    if whole and (first := [each for each in others if each.file == whole]):
        readings = [*first, *own, *(each for each in others if each.file != whole)]
    read_all(readings, texts, [*types], whole if readings[0] in others else "")
    read = [each for each in readings if each.found]
    if not read:
        raise error or MorphGraphError(f"{source}: no program reads it. Choose another file.")
    reference = read[0]
    if len(reference.found["plain"]) < len(texts) + len(types):  # ours, as another one failed
        reference.read(texts, [*types])
    document = reference.document or document
    every = [*texts, *types]
    verdicts = [verdict_of(each, reference, every, len(texts)) for each in readings]
    checks = [
        *check_ids(document),
        check_special(document, files.settings(), _configs(files), reference.file == whole),
        *_checks_of_types(reference, own, types, len(texts)),
    ]
    name = f"{reference.program}, {reference.file}"
    return Diagnosis(base_name(str(path)), name, tuple(verdicts), tuple(checks))


def _document(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return a ``tokenizer.json`` as it stands; None if its faults are for our reader to refuse."""
    usual = model_in(fields) and are_numbered(fields.get("added_tokens") or [])
    is_plain = usual and {*map(type, listed_ids(model_in(fields)).values())} == {int}
    return fields if is_plain else None


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


def _checks_of_types(
    reference: ProgramReading, own: Sequence[ProgramReading], types: Mapping[str, int], some: int
) -> list[Check]:
    """Return the checks that types come out of their own text, and decode to it."""
    what = "types that do not return from their own text"
    tokeniser = next((each.tokeniser for each in own if each.tokeniser is not None), None)
    if tokeniser is None:
        return [check_formed(None), Check(what, None, None, "only for files that we read")]
    ids = reference.found["plain"][some:]
    merges = tokeniser._segmenter.editable
    unformed = None
    if merges is not None:
        numbers = {id_: n for n, id_ in enumerate(merges.vocabulary_ids)}
        missed = {id_ for found, id_ in zip(ids, types.values(), strict=True) if found != [id_]}
        texts_of = {*types.values()}
        odd = [n for id_, n in numbers.items() if id_ in missed or id_ not in texts_of]
        dead = _never_formed(merges, odd)
        unformed = [merges.readable(merges.graph.types[n]) for n in dead]
    way = tokeniser._segmenter.undrawn.preprocessor
    if not (way.byte_level or way.byte_fallback):
        return [check_formed(unformed), Check(what, None, None, "of bytes only")]
    decoded = tokeniser._library.decode_batch(ids, skip_special_tokens=False)
    lost = [
        text
        for text, there in zip(types, decoded, strict=True)
        if there.lstrip(" ") not in (text.lstrip(" "), normal_text(way, text).lstrip(" "))
    ]
    return [check_formed(unformed), Check(what, len(lost), not lost, named(lost))]


def _never_formed(merges: BpeTokeniser, among: Sequence[int]) -> list[int]:
    """Return those of some types that no text is cut into: by a lost merge, or one too late."""
    graph = merges.graph
    if graph.never_whole is not None:
        return []
    alone = [
        n
        for n in among
        if len(graph.types[n]) > 1
        and not graph.incoming(n)
        and n not in graph.fixed
        and graph.types[n] not in BYTES
    ]
    return [*unreachable_types(graph, among), *alone]
