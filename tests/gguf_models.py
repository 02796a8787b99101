"""Models in GGUF files, as `gguf` of llama.cpp writes them."""

import gguf
import numpy as np
from sentencepiece import SentencePieceProcessor

WEIGHTS = np.arange(50, dtype=np.float32)


def write_model(path, model, rows, kinds=(), alignment=32, tensors=False, **more):
    """A model as llama.cpp's converter writes it, with fields before and after the tokeniser's."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(alignment)
    writer.add_tokenizer_model(model)
    writer.add_string("first.field", "before")
    writer.add_token_list(rows)
    for key, value in more.items():
        getattr(writer, f"add_{key}")(value)
    if kinds:
        writer.add_token_types(kinds)
    writer.add_array("last.field", [1, 2, 3])
    if tensors:
        writer.add_tensor("first", WEIGHTS)
        writer.add_tensor("second", WEIGHTS[:7])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_merges(path, tokeniser, **more):
    """The model of a byte-level tokeniser of the library."""
    vocabulary, merges = (tokeniser.document["model"][key] for key in ("vocab", "merges"))
    rows = sorted(vocabulary, key=vocabulary.__getitem__)
    merges = [m if isinstance(m, str) else " ".join(m) for m in merges]
    kinds = [3 if text in tokeniser.special else 1 for text in rows]
    more = {"token_merges": merges, "tokenizer_pre": "gpt-2", **more}
    return write_model(path, "gpt2", rows, kinds, **more)


def write_pieces(path, data, **more):
    """The model of a SentencePiece model of merges."""
    model = SentencePieceProcessor(model_proto=data)
    numbers = range(model.vocab_size())
    asked = (model.IsUnknown, model.IsControl, model.IsByte)
    kinds = [
        next((k for k, is_so in zip((2, 3, 6), asked, strict=True) if is_so(n)), 1) for n in numbers
    ]
    rows, scores = (list(map(ask, numbers)) for ask in (model.IdToPiece, model.GetScore))
    more = {"token_scores": scores, "add_space_prefix": True, **more}
    return write_model(path, "llama", rows, kinds, **more)
