"""Tokenisers out: as Hugging Face's ``tokenizer.json``, or our own layout for tuple merges."""

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.tokeniser.hugging_face import assumed_document, special_token
from morphgraph.tokeniser.lineage import FIELD
from morphgraph.tokeniser.recipe import lineage_of, write_whole_recipe
from morphgraph.tokeniser.tokeniser import Tokeniser


def new_ids(tokeniser: Tokeniser) -> dict[int, int]:
    """The ids that the present types get in a saved file, by their ids in the graph.

    They are dense: what was removed leaves no hole. Types of the loaded file come first, in order
    of their ids in it; then those that edits added: atoms by code point, then the others by the
    rank of the merge that makes them.
    """
    graph, known = tokeniser.graph, len(tokeniser.vocabulary_ids)

    def place(number: int) -> tuple[int, int, str]:
        if number < known:
            return 0, tokeniser.vocabulary_ids[number], ""
        if graph.is_atom(number):
            return 1, 0, graph.types[number]
        return 2, graph.merge(graph.producer(number)).rank, graph.types[number]

    return {number: new for new, number in enumerate(sorted(graph.type_ids(), key=place))}


def to_tokenizer_json(tokeniser: Tokeniser) -> tuple[bytes, dict[int, int]]:
    """The tokeniser with its edits, as JSON, and the map from old to new ids (see `new_ids`).

    Old ids are those of the first tokeniser: where the loaded one was saved by this library, of
    the one that it was made from, at whatever remove. The JSON says so in turn, in the model's
    field ``morphgraph`` (see `Lineage`). A type that the first one lacks has no old id, so the map
    lacks it. With tuple merges the model's type is ``BTE``, which this library and the exported
    class read.
    """
    graph = tokeniser.graph
    ids = new_ids(tokeniser)
    known = len(tokeniser.vocabulary_ids)
    in_file = {
        tokeniser.vocabulary_ids[number]: new for number, new in ids.items() if number < known
    }
    lineage = lineage_of(tokeniser)
    first = lineage.ids
    id_map = {
        first[text]: new for number, new in ids.items() if (text := graph.types[number]) in first
    }
    merges = list(graph.merges().values())
    document = copy.deepcopy(tokeniser.document)
    document["added_tokens"] = [
        {**token, "id": in_file[token["id"]]} for token in document.get("added_tokens") or []
    ]
    model = document["model"]
    tuples = any(merge.is_tuple for merge in merges)
    model["type"] = "BTE" if tuples else "BPE"
    in_model = _model_types(tokeniser)
    model["vocab"] = {graph.types[number]: new for number, new in ids.items() if number in in_model}
    numbers = list(graph.merges())
    if not tuples:
        # Of several merges of the same pair the first one applies; Hugging Face takes the last.
        by_parts = {merge.parts: number for number, merge in reversed(list(graph.merges().items()))}
        numbers = [number for number in numbers if by_parts[graph.merge(number).parts] == number]
    model["merges"] = [[graph.types[part] for part in graph.merge(n).parts] for n in numbers]
    if graph.ties:
        model["levels"] = [graph.levels()[number] for number in numbers]
    if lineage.steps or any(old != new for old, new in in_file.items()):
        model[FIELD] = lineage.document()
    _renumber_post_processor(document.get("post_processor"), in_file)
    padding = document.get("padding")
    if isinstance(padding, dict) and padding.get("pad_id") in in_file:
        padding["pad_id"] = in_file[padding["pad_id"]]
    return json.dumps(document, ensure_ascii=False, indent=1).encode(), id_map


def _model_types(tokeniser: Tokeniser) -> set[int]:
    graph = tokeniser.graph
    return {
        number
        for number in graph.type_ids()
        # An edit may have added a merge that makes what was only an added token.
        if graph.types[number] not in tokeniser.only_added or not graph.is_atom(number)
    }


def _renumber_post_processor(processor: Any, id_map: Mapping[int, int]) -> None:
    """Give special tokens inside a post-processor their new ids, wherever they are listed."""
    if isinstance(processor, dict):
        for key, value in processor.items():
            if key == "ids" and isinstance(value, list):
                processor[key] = [id_map.get(n, n) if isinstance(n, int) else n for n in value]
            elif (
                key in ("sep", "cls")
                and isinstance(value, list)
                and len(value) == 2
                and isinstance(value[1], int)
            ):
                processor[key] = [value[0], id_map.get(value[1], value[1])]
            else:
                _renumber_post_processor(value, id_map)
    elif isinstance(processor, list):
        for value in processor:
            _renumber_post_processor(value, id_map)


def byte_level_document(
    alphabet_and_types: Iterable[str], merges: Iterable[Sequence[str]], special: Sequence[str]
) -> dict[str, Any]:
    """A byte-level ``tokenizer.json`` for a trained BPE: special tokens first, then the types."""
    vocabulary = {text: n for n, text in enumerate([*special, *alphabet_and_types])}
    if len(vocabulary) == 0:
        raise MorphGraphError("There is nothing to save. Train on at least one word.")
    listed = [list(parts) for parts in merges]
    document = assumed_document({"Ġ": 0}, listed)
    document["added_tokens"] = [special_token(text, n) for n, text in enumerate(special)]
    document["model"]["vocab"] = vocabulary
    document["model"]["merges"] = listed
    return document


def saved_files(tokeniser: Tokeniser) -> dict[str, bytes]:
    """All files of a saved tokeniser, by name: itself, its recipe, and the map of ids.

    It is called ``tokenizer.json`` if every merge is a pair, so that Hugging Face's library reads
    it, else ``tokeniser.bte.json``. ``ids.json`` maps the ids of the first tokeniser to the new
    ones, ``recipe.json`` has all edits since.
    """
    data, id_map = to_tokenizer_json(tokeniser)
    graph = tokeniser.graph
    pairs = not any(merge.is_tuple for merge in graph.merges().values())
    return {
        "tokenizer.json" if pairs else "tokeniser.bte.json": data,
        "recipe.json": write_whole_recipe(tokeniser),
        "ids.json": json.dumps(id_map, indent=0).encode(),
    }
