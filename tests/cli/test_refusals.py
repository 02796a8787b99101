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
        "nope.json": "nope.json: no such file",
        "'dropout(p=2)'": "p=2 does not fit. Give a number from 0 to 1.",
        "trimmed": "word counts",
        "picky": "picky needs a model that was trained so",
        "gold.tsv": "gold.tsv segments none of the 607 words of demo:nl",
        "--out words.pdf": ".csv, .tex or .html",
    },
    "count texts --out o": {
        "--memory 12": "'12' is not an amount of memory. Give one such as 512M or 2G.",
        "--memory 63M": "bytes of memory are too few. Give at least 64M.",
        "--pipeline plain": "Use one of: whitespace, knockout, rebpe.",
        "--workers 0": "There cannot be 0 workers. Give 1 or more.",
        "--min-count 0": "The least count is 0. Give 1 or more.",
        "--column words --workers 1": "there is no column “words”",
        "nothing.txt": "nothing.txt: no such file or folder. Check the path.",
        "--workers 2 --scheduler tcp://x:1": "Tasks run in one place.",
        "bad.txt --bad-lines stop": "line 2: it is not valid UTF-8",
    },
    "evaluate": {
        "": "Name a YAML file or an evaluation that ships (--list).",
        "none.yaml --out run": "none.yaml: no such file or directory. Check the path",
        "demos --dry-run": "nor does an evaluation of that name ship … Those that ship: demo, "
        "atlas, flota-classification, knockout-ablations",
        "tiny.yaml": "The run needs a folder. Add --out DIR.",
        "tiny.yaml --out x --workers 2 --scheduler tcp://127.0.0.1:1": "Tasks run in one place.",
        "tiny.yaml --languages xx --dry-run": "has no language “xx”. It has: en.",
        "tiny.yaml --out /proc/run": "/proc/run: ",
    },
    "export --out out": {
        "demo:en --method trimmed": "needs the word counts of a second corpus",
        "demo:en --method picky": "Export the model that train picky saved",
        "demo:en --method 'dropout(queue=true)'": "Export bpe",
        "demo:en --read format=celex": "--read says how gold is read",
        "demo:en --out types.txt": "types.txt: file exists. Choose another place with --out.",
        "demo:en --out types.txt/y": "types.txt is a file, not a folder",
    },
    "rebpe demo:nl demo:nl": {
        "--threshold 1.5": "Invalid value for '--threshold': Input should be less than or equal",
        "--set nope=1": "“nope” is none of its names … Give some of: threshold, scope",
        "--set reify=maybe": "reify='maybe' does not fit. Give true or false.",
        "--threshold 0.4 --set threshold=0.3": "threshold is given twice",
        "--holdout 1": "--holdout",
    },
    "blame demo:nl demo:nl": {
        "--threshold nan": "threshold=nan is not a share. Give a number from 0 to 1.",
        "--scope x": "'--scope' … 'x' is not one of 'morphemic'",
        "--weighting tokens": "Scores over word tokens need word frequencies",
        "--frequencies missing.tsv": "missing.tsv: cannot be read",
        "--limit -1": "Usage:",
    },
    "knockout demo:nl demo:nl": {
        "--threshold nan": "Invalid value for '--threshold': Input should be less than or equal to",
        "--count -1": "Usage:",
        "--set select=last --count 99999": "99,999 types cannot be chosen",
        "--recipe missing.json": "missing.json: no such file",
        "--recipe empty.json": "empty.json: this is not a recipe.",
        "--recipe step.json": "Step 1 of the recipe: “no such type” is not a type",
        "--out types.txt": "types.txt … Choose another place with --out.",
        "--out types.txt/below": "types.txt … Choose another place with --out.",
    },
    "prune tokenizer.json": {
        "--count 2": "By leaf-frequency, types are pruned by their use. Give word counts.",
        "--by last": "Nothing says how many types are to go. Give a count.",
        "--by last --count 7": "7 types cannot be pruned. Give a number from 0 to 6.",
        "--by last --count 1 --keep-script Latin": "By last, scripts say nothing.",
        "--by script": "Nothing says which scripts are to go.",
        "--by script --drop-script Elvish": "“Elvish” is no script.",
        "--by last --count 1 --read layer=x": "--read says how gold is read. Name some",
    },
    "extend tokenizer.json --add 2": {
        "": "Name word counts.",
        "counts.tsv --replace": "No ids are free to be used again.",
    },
    "score tokenizer.json gold.tsv": {
        "--scores nope": "“nope” is not a score … precision, recall, f1",
        "--scope words": "'--scope' … 'words' is not one of 'morphemic'",
        "--weighting 'both of them'": "'--weighting' … 'both of them' is not one of",
        "--weighting tokens": "need word frequencies",
        "--set baseline=2": "baseline=2: there",
        "--methods bpe,flota,ideal --set baseline=3": "baseline=3",
        "--set resamples=99": "resamples=99 are too few. Give 100 or more, or 0.",
        "--out scores.pdf": "scores.pdf … .csv, .tex or .md",
        "--by nope": "“nope” is not a breakdown … boundaries, affixes, formation",
        "--by frequency": "--by frequency needs --frequencies",
        "--methods nope": "There is no method “nope” … bpe, dropout",
        "--methods ,": "There is nothing to score … --methods",
        "--methods trimmed": "Trimmed BPE … needs the word counts",
        "nowhere.tsv": "nowhere.tsv",
        "catalogue:nope": "no source 'nope' … morphgraph reference list",
        "catalogue:sigmorphon2022-eng": "is not downloaded yet … "
        "morphgraph reference get sigmorphon2022-eng",
        "catalogue:celex": "fetched by yourself … --read format=celex",
        "--methods nowhere.json": "nowhere.json: no such file",
        "--recipe nowhere.json": "nowhere.json",
    },
    "score demo:en": {
        "": "Usage:",
        "missing.tsv": "missing.tsv: no such file or directory",
        "texts": "texts: it is a folder",
        "bad.txt": "bad.txt, line 2: the byte 0xFF is not UTF-8 … Save the",
        "tiny.yaml": "cannot be detected … Choose one of: plain",
        "gold.tsv --read format=celex": "line 1 … Check the file, or choose another format",
    },
    "nope": {"": "Usage:"},
    "score bad.txt gold.tsv": {"": "bad.txt, line 2: byte 0xFF is not valid UTF-8"},
    "score gold.tsv gold.tsv": {"--recipe empty.json": "this looks like a gold segmentation"},
    "segment": {
        "demo:en word --method picky": "needs a model that was trained so",
        "demo:en word --method bpe --samples 2": "--samples is for dropout",
        "demo:en word --method 'flota(counts=3)'": "flota has no parameter “counts”",
        "demo:en word --method trimmed": "needs the word counts of a second corpus",
        "demo:en word --method unigram": "has no log-probabilities",
        "demo:en word 'two words'": "Word 2, “two words”, has a space in it.",
        "texts word": "holds no tokeniser. Give a tokenizer.json, or vocab",
        "missing.json word": "missing.json: no such file or directory. Check the path",
        "tokenizer.json/x.json word": "not a directory",
    },
    "train --vocab-size 300 --out out.json": {
        "bpe": "name either counts or --text",
        "bpe counts.tsv --text counts.tsv": "and not both",
        "bpe counts.tsv --pipeline nope": "nope",
        "bpe counts.tsv --column x": "--column names",
        "unigram counts.tsv --special x": "Unigram takes no special tokens",
        "unigram counts.tsv --checkpoint c": "Unigram trains in one go",
        "bpe --text texts/b.csv --column title": "there is no column “title”",
        "bpe --vocab-size many counts.tsv": "Usage:",
        "bpe --vocab-size -5 counts.tsv": "no room for the 256",
        "bpe empty.json": "empty.json: no line is a word and a count",
        "bpe counts.tsv --special ''": "The special token “” is empty or repeated",
        "bpe counts.tsv --special x --special x": "The special token “x” is empty or repeated",
        "bpe counts.tsv --special d": "The special token “d” is also a trained type",
        "bpe counts.tsv --special Ġdo": "The special token “Ġdo” is also a trained type",
        "bpe counts.tsv --out texts": "texts: is a directory.",
        "bpe counts.tsv --out types.txt/x.json": "Choose another place with --out.",
    },
    "vocabulary demo:en": {
        "--alpha 0": "above 0",
        "--list nonsense": "is not a figure",
        "--list renyi": "no list behind",
        "--set parallel": "--set is for --corpus",
        "--corpus texts --frequencies wordfreq:en": "measures texts alone",
        "--corpus texts --set workers=0": "workers=0 does not fit",
        "--corpus missing.txt": "no such file",
        "--corpus bad.txt": "line 2",
    },
    # What takes one reference joins several only if it is asked to.
    f"knockout demo:en {ON_BOTH}": {"": "There are 2 golds … --read join"},
    f"rebpe demo:en {ON_BOTH}": {"": "There are 2 golds … --read join"},
    f"compare demo:en {ON_BOTH}": {"": "morphs holds segmentations, not a model"},
    # What is not a tokeniser here says what to do; nothing is looked up on a hub.
    **{f"{name} {OF_TYPES}": {"": NO_MERGES} for name in ("blame", "knockout", "rebpe")},
    f"score {OF_TYPES}": {"--methods rebpe": NO_MERGES},
    "segment gpt2 word": {"": NO_FILE},
    "vocabulary gpt2": {"": NO_FILE},
    "knockout gpt2 demo:en": {"": NO_FILE},
    "score": {
        "openai-community/gpt2 demo:en": f"openai-community/{NO_FILE}",
        "meta-llama/Llama-3.1-8B demo:en": 'from_pretrained("meta-llama/Llama-3.1-8B")',
    },
}
"""Commands in `folder`, their further options, and what each message says, in order."""

STEP = '{"edit": "knockout", "types": ["no such type"]}'
RECIPES = {
    "empty.json": "{}",
    "step.json": f'{{"format": "morphgraph recipe", "version": 1, "steps": [{STEP}]}}',
}


def visible_files(folder: Path) -> set[Path]:
    """All files but those that say how far a counting came."""
    return {path for path in folder.rglob("[!.]*") if path.is_file() and ".o." not in str(path)}


@pytest.mark.parametrize(
    ("command", "options"), [(command, each) for command in REFUSED for each in REFUSED[command]]
)
def test_it_is_refused(
    morphgraph: Callable[..., Any], folder: Path, command: str, options: str
) -> None:
    for name, text in RECIPES.items():
        (folder / name).write_text(text, encoding="utf-8")
    before = visible_files(folder)
    run = morphgraph(*shlex.split(command), *shlex.split(options))
    assert (run.code, run.out) == (2, "")
    place = 0
    for part in REFUSED[command][options].split(" … "):
        place = run.err.index(part, place) + len(part)
    assert "Traceback" not in run.err
    assert visible_files(folder) == before
