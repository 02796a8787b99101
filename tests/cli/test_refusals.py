"""What every command refuses: one message that says what to do, exit code 2, and no file."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ON_BOTH = "gold.tsv morphs.tsv"
NO_MERGES = (
    "types.txt: this is a list of types, which has no merges. Choose a BPE … "
    "Only segment, score, compare, vocabulary and export need no merges."
)
NO_FILE = "gpt2: there is no such file or folder, and nothing … .save_pretrained("
OF_TYPES = "types.txt demo:en"

REFUSED = {
    "compare demo:nl demo:nl": {
        "nope": "There is no method “nope”",
        "gold.tsv": "gold.tsv segments none of the 607 words of demo:nl",
        "--out words.pdf": ".csv, .tex or .html",
    },
    "count texts --out o": {
        "--memory 12": "'12' is not an amount of memory. Give one such as 512M or 2G.",
        "--memory 63M": "bytes of memory are too few. Give at least 64M.",
        "--pipeline plain": "Use one of: whitespace, knockout, rebpe.",
        "--workers 2 --scheduler tcp://x:1": "Tasks run in one place.",
    },
    "evaluate": {
        "": "Name a YAML file or an evaluation that ships (--list).",
        "demos --dry-run": "nor does an evaluation of that name ship … Those that ship: demo, "
        "atlas, languages",
        "tiny.yaml": "The run needs a folder. Add --out DIR.",
        "tiny.yaml --out /proc/run": "/proc/run: ",
    },
    "export --out out": {
        "demo:en --method picky": "Export the model that train picky saved",
        "demo:en --method 'dropout(queue=true)'": "Export bpe",
        "demo:en --read format=celex": "--read says how gold is read",
        "demo:en --out types.txt": "types.txt: file exists. Choose another place with --out.",
    },
    "rebpe demo:nl demo:nl": {
        "--threshold 1.5": "Invalid value for '--threshold': Input should be less than or equal",
        "--set nope=1": "“nope” is none of its names … Give some of: threshold, scope",
        "--set reify=maybe": "reify='maybe' does not fit. Give true or false.",
        "--threshold 0.4 --set threshold=0.3": "threshold is given twice",
    },
    "blame demo:nl demo:nl": {
        "--limit -1": "Usage:",
    },
    "knockout demo:nl demo:nl": {
        "--recipe empty.json": "empty.json: this is not a recipe.",
        "--out types.txt": "types.txt … Choose another place with --out.",
    },
    "prune tokenizer.json": {
        "--count 2": "By leaf-frequency, types are pruned by their use. Give word counts.",
        "--by last": "Nothing says how many types are to go. Give a count.",
        "--by last --count 1 --keep-script Latin": "By last, scripts say nothing.",
        "--by script": "Nothing says which scripts are to go.",
        "--by script --drop-script Elvish": "“Elvish” is no script.",
    },
    "extend tokenizer.json --add 2": {
        "": "Name word counts",
        "--from demo:en": "or name another tokeniser",
    },
    "score tokenizer.json gold.tsv": {
        "--weighting tokens": "need word frequencies",
        "--set baseline=2": "baseline=2: there",
        "--set resamples=99": "resamples=99 are too few. Give 100 or more, or 0.",
        "--out scores.pdf": "scores.pdf … .csv, .tex or .md",
        "--by frequency": "--by frequency needs --frequencies",
        "--methods ,": "There is nothing to score … --methods",
        "catalogue:nope": "no source 'nope' … morphgraph reference list",
        "catalogue:celex": "fetched by yourself … --read format=celex",
    },
    "score demo:en": {
        "": "Usage:",
        "bad.txt": "bad.txt, line 2: the byte 0xFF is not UTF-8 … Save the",
    },
    "nope": {"": "Usage:"},
    "score gold.tsv gold.tsv": {"--recipe empty.json": "this looks like a gold segmentation"},
    "segment": {
        "demo:en word --method bpe --samples 2": "--samples is for dropout",
        "demo:en word 'two words'": "Word 2, “two words”, has a space in it.",
        "texts word": "holds no tokeniser. Give a tokenizer.json, or vocab",
    },
    "train --vocab-size 300 --out out.json": {
        "bpe": "name either counts or --text",
        "bpe counts.tsv --text counts.tsv": "and not both",
        "bpe counts.tsv --pipeline nope": "nope",
        "bpe counts.tsv --column x": "--column names",
        "unigram counts.tsv --special x": "Unigram takes no special tokens",
        "unigram counts.tsv --checkpoint c": "Unigram trains in one go",
        "bpe --vocab-size many counts.tsv": "Usage:",
        "bpe counts.tsv --special ''": "The special token “” is empty or repeated",
        "bpe counts.tsv --special d": "The special token “d” is also a trained type",
        "bpe counts.tsv --out texts": "texts: is a directory.",
    },
    "vocabulary demo:en": {
        "--alpha 0": "above 0",
        "--list renyi": "no list behind",
    },
    # What takes one reference joins several only if it is asked to.
    f"knockout demo:en {ON_BOTH}": {"": "There are 2 golds … --read join"},
    f"compare demo:en {ON_BOTH}": {"": "morphs holds segmentations, not a model"},
    # What is not a tokeniser here says what to do; nothing is looked up on a hub.
    f"knockout {OF_TYPES}": {"": NO_MERGES},
    "segment gpt2 word": {"": NO_FILE},
    "score": {
        "openai-community/gpt2 demo:en": f"openai-community/{NO_FILE}",
        "meta-llama/Llama-3.1-8B demo:en": 'from_pretrained("meta-llama/Llama-3.1-8B")',
    },
}
"""Commands in `folder`, their further options, and what each message says, in order."""


def visible_files(folder: Path) -> set[Path]:
    """All files but those that say how far a counting came."""
    return {path for path in folder.rglob("[!.]*") if path.is_file() and ".o." not in str(path)}


@pytest.mark.parametrize(
    ("command", "options"), [(command, each) for command in REFUSED for each in REFUSED[command]]
)
def test_it_is_refused(
    morphgraph: Callable[..., Any], folder: Path, command: str, options: str
) -> None:
    (folder / "empty.json").write_text("{}", encoding="utf-8")
    before = visible_files(folder)
    run = morphgraph(*shlex.split(command), *shlex.split(options))
    assert (run.code, run.out) == (2, "")
    place = 0
    for part in REFUSED[command][options].split(" … "):
        place = run.err.index(part, place) + len(part)
    assert "Traceback" not in run.err
    assert visible_files(folder) == before
