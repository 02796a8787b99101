"""Exported tokenisers in transformers, in Python and with the kernels, against the library's BPE.

Run: ``python -m benchmarks.exported``
"""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common import data_folder, in_turns, median, one_thread, save, table

WORDS = 60_000
WORDS_PER_TEXT = 20
ROUNDS = 5
METHODS: dict[str, dict[str, Any]] = {
    "flota": {},
    "flota(k=2)": {"k": 2},
    "longest(k=2)": {"k": 2},
    "dropout(p=0.1)": {"p": 0.1},
}


def main() -> None:
    """Print seconds and ratios."""
    one_thread()
    os.environ["HF_HUB_OFFLINE"] = "1"
    import wordfreq
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    import morphgraph as mg

    path = data_folder() / "tokenizers" / "oscar-de-40k" / "tokenizer.json"
    found = (word for word in wordfreq.get_frequency_dict("de", "large") if word.isalpha())
    words = sorted(found)
    words = words[:: len(words) // WORDS][:WORDS]
    step = WORDS_PER_TEXT
    texts = [" ".join(["", *words[at : at + step]]) for at in range(0, len(words), step)]

    tokeniser = mg.load(path)
    removed = tokeniser.knock_out(mg.read_gold("demo:de")).tokeniser
    leaving: dict[str, Any] = {"BPE with merges of three parts": removed}
    for spelled, parameters in METHODS.items():
        leaving[spelled] = tokeniser.method(spelled.partition("(")[0], **parameters)

    # One for each round, because it caches segmentations.
    fresh = [
        PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(str(path)))
        for _ in range(ROUNDS + 1)
    ]
    contestants: dict[str, Callable[[], Any]] = {"library": lambda: fresh.pop()(texts)}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HF_MODULES_CACHE"] = f"{folder}/modules"
        for number, (name, segmenter) in enumerate(leaving.items()):
            segmenter.export(f"{folder}/m{number}", words=words[:100])
            for where in ("Python", "kernels"):
                if where == "kernels" and name.startswith("dropout"):
                    continue  # its samples are drawn in Python
                place = f"{folder}/m{number}"
                loaded = AutoTokenizer.from_pretrained(place, trust_remote_code=True)
                if where == "Python":
                    loaded._drawing._kernel = False
                contestants[f"{name}, {where}"] = partial(_encode_uncached, loaded, texts)
    seconds = {name: median(times) for name, times in in_turns(ROUNDS, **contestants).items()}
    print(
        f"{len(words):,} distinct German words in {len(texts):,} texts, oscar-de-40k, one thread, "
        f"medians of {ROUNDS} rounds in turn; nothing is looked up\n"
    )
    rows = [
        [
            "`tokenizers`, BPE" if name == "library" else name,
            f"{taken:.2f}",
            f"{len(words) / taken:,.0f}",
            f"{taken / seconds['library']:.1f}",
        ]
        for name, taken in seconds.items()
    ]
    table(["work", "seconds", "words a second", "× tokenizers"], rows)
    save("exported", {"words": len(words), "seconds": seconds})


def _encode_uncached(loaded: Any, texts: list[str]) -> None:
    """Encode texts with empty caches."""
    loaded._drawing._known.clear()
    loaded(texts)


if __name__ == "__main__":
    main()
