"""What every command refuses: one message that says what to do, exit code 2, and no file."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ON_BOTH = "--reference gold.tsv --reference morphs.tsv"
NO_MERGES = (
    "types.txt: this is a list of types, which has no merges. Choose a BPE … "
    "segment, score and compare take it with --model."
)
NO_FILE = "gpt2: there is no such file or folder, and nothing … .save_pretrained("
OF_TYPES = "--tokenizer types.txt --reference demo:en"

REFUSED = {
    "compare --tokenizer demo:nl --reference demo:nl": {
        "--methods nope": "There is no method “nope”",
        "--methods 'dropout(p=2)'": "p=2 does not fit. Give a number from 0 to 1.",
        "--methods trimmed": "word counts",
        "--methods rebpe": "rebpe learns from the reference",
        "--methods picky": "picky needs a model that was trained so",
        "--methods ,": "no method",
        "--out words.pdf": ".csv, .tex or .html",
    },
    "count texts --out o": {
        "--memory 12": "'12' is not an amount of memory. Give one such as 512M or 2G.",
        "--memory 63M": "bytes of memory are too few. Give at least 64M.",
        "--pipeline plain": "Choose one of whitespace, knockout, rebpe.",
        "--workers 0": "There cannot be 0 workers. Give 1 or more.",
        "--min-count 0": "The least count is 0. Give 1 or more.",
        "--column words --workers 1": "there is no column “words”",
        "nothing.txt": "nothing.txt: no such file or folder. Check the path.",
        "--workers 2 --scheduler tcp://x:1": "Tasks run in one place.",
        "bad.txt --bad-lines stop": "line 2: byte 0xFF",
    },
    "evaluate": {
        "": "Name a YAML file or an evaluation that ships (--list), or use --reproduce, --merge",
        "none.yaml": "none.yaml: no such file or directory. Check the path",
        "demos --dry-run": "nor does an evaluation of that name ship … Those that ship: demo, "
        "atlas, flota-classification, flota-table1",
        "tiny.yaml": "The run needs a folder. Add --out DIR.",
        "tiny.yaml --out x --workers 2 --scheduler tcp://127.0.0.1:1": "Tasks run in one place.",
        "tiny.yaml --languages xx --dry-run": "has no language “xx”. It has: en.",
        "tiny.yaml --out /proc/run": "/proc/run: ",
    },
    "export --out out --tokenizer": {
        "demo:en --method 'flota(z=2)'": "flota has no parameter “z”",
        "demo:en --method flotilla": "There is no method “flotilla”",
        "demo:en --method 'flota(k=-1)'": "k=-1 does not fit",
        "demo:en --method trimmed": "needs the word counts of a second corpus",
        "demo:en --method picky": "Export the model that train --method picky saved",
        "demo:en --method 'dropout(queue=true)'": "Export bpe",
        "demo:en --format celex": "--reference",
        "demo:en --out types.txt": "types.txt: file exists. Choose another place with --out.",
        "demo:en --out types.txt/y": "types.txt is a file, not a folder",
    },
    "rebpe --tokenizer demo:nl --reference demo:nl": {
        "--threshold 1.5": "Invalid value for '--threshold': Input should be less than or equal",
        "--min-ratio -1": "Invalid value for '--min-ratio': Input should be greater than or equal",
        "--holdout 1": "holdout=1.0 does not fit. Give a number from 0 to below 1.",
        "--scope word": "'--scope': Value error, 'word' is not one of 'morphemic'",
    },
    "blame --tokenizer demo:nl --reference demo:nl": {
        "--threshold nan": "--threshold=nan is not a share. Give a number from 0 to 1.",
        "--scope x": "'--scope' … 'x' is not one of 'morphemic'",
        "--weighting tokens": "Scores over word tokens need word frequencies",
        "--frequencies wordfreq:xx": "wordfreq has no best word list for 'xx'. Choose one",
        "--frequencies missing.tsv": "missing.tsv: cannot be read",
        "--threshold x": "Usage:",
        "--limit -1": "Usage:",
    },
    "knockout --tokenizer demo:nl --reference demo:nl": {
        "--select x": "'--select': Value error, 'x' is not one of 'blame'",
        "--threshold nan": "Invalid value for '--threshold': Input should be less than or equal to",
        "--weighting x": "'--weighting': Value error, 'x' is not one of 'types'",
        "--percent 101": "Invalid value for '--percent': Input should be less than or equal to 100",
        "--seed -1": "Usage:",
        "--count -1": "Usage:",
        "--select last --count 99999": "99,999 types cannot be chosen",
        "--recipe missing.json": "missing.json: no such file",
        "--recipe empty.json": "empty.json: this is not a recipe.",
        "--recipe step.json": "Step 1 of the recipe: “no such type” is not a type",
        "--out types.txt": "types.txt … Choose another place with --out.",
        "--out types.txt/below": "types.txt … Choose another place with --out.",
    },
    "prune --tokenizer tokenizer.json": {
        "--count 2": "By leaf-frequency, types are pruned by their use. Give word counts.",
        "--by last": "Nothing says how many types are to go. Give a count.",
        "--by last --count 7": "7 types cannot be pruned. Give a number from 0 to 6.",
        "--by last --count 1 --keep-script Latin": "By last, scripts say nothing.",
        "--by script": "Nothing says which scripts are to go.",
        "--by script --drop-script Elvish": "“Elvish” is no script.",
        "--keep-corpus": "Name these with --counts",
        "--by last --count 1 --layer x": "Name one with --reference.",
    },
    "extend --tokenizer tokenizer.json --add 2": {
        "": "Give --counts.",
        "--counts counts.tsv --replace": "No ids are free to be used again.",
    },
    "score --tokenizer tokenizer.json --reference gold.tsv": {
        "--scores nope": "“nope” is not a score … precision, recall, f1",
        "--scores f1,,exact": "“” is not a score",
        "--scope words": "'--scope' … 'words' is not one of 'morphemic'",
        "--weighting 'both of them'": "'--weighting' … 'both of them' is not one of",
        "--weighting tokens": "need word frequencies",
        "--baseline 2": "--baseline 2",
        "--methods bpe,flota --baseline 3 --ideal": "--baseline 3",
        "--baseline -1": "--baseline",
        "--resamples -1": "--resamples",
        "--resamples 100001": "--resamples",
        "--resamples 99": "--resamples 99 are too few. Give 100 or more, or 0.",
        "--out scores.pdf": "scores.pdf … .csv, .tex or .md",
        "--out scores": ".csv, .tex or .md",
        "--by nope": "“nope” is not a breakdown … boundaries, affixes, formation",
        "--by frequency": "--by frequency needs --frequencies",
        "--methods nope": "There is no method “nope” … bpe, dropout",
        "--methods ,": "There is nothing to score … --tokenizer",
        "--methods trimmed": "Trimmed BPE … needs the word counts",
        "--methods 'knockout(chosen=0)'": "knockout has no parameter “chosen”. It takes threshold",
        "--reference nowhere.tsv": "nowhere.tsv",
        "--reference catalogue:nope": "no source 'nope' … morphgraph reference list",
        "--reference catalogue:sigmorphon2022-eng": "is not downloaded yet … "
        "morphgraph reference get sigmorphon2022-eng",
        "--reference catalogue:celex": "fetched by yourself … --format celex",
        "--model nowhere.json": "nowhere.json",
        "--recipe nowhere.json": "nowhere.json",
    },
    "score --tokenizer demo:en": {
        "": "Usage:",
        "--reference missing.tsv": "missing.tsv: no such file or directory",
        "--reference texts": "texts: it is a folder",
        "--reference demo:fr": "There is no demo “fr”",
        "--reference bad.txt": "bad.txt, line 2: the byte 0xFF is not UTF-8 … Save the",
        "--reference tiny.yaml": "cannot be detected … Choose one of: plain",
        "--reference gold.tsv --format nope": "the format 'nope' is unknown … morphynet-derivation",
        "--reference gold.tsv --format celex": "line 1 … Check the file, or choose another format",
    },
    "nope": {"": "Usage:"},
    "score --reference gold.tsv --predictions bad.txt": {
        "": "the byte 0xFF is not UTF-8",
        "--predictions-format celex": "Choose one of: plain, sigmorphon2022, morfessor",
    },
    "segment": {
        "word --method lzw": "no method “lzw”",
        "word --method picky": "needs a model that was trained so",
        "word --method 'bpe(k=2)'": "has no parameter “k”",
        "word --method bpe --samples 2": "--samples is for dropout",
        "word --method trimmed": "needs the word counts of a second corpus",
        "word --method unigram": "has no log-probabilities",
        "word --method 'dropout(p=2)'": "p=2 does not fit. Give a number from 0 to 1.",
        "word --model missing.json": "no such file or directory",
        "word 'two words'": "Word 2, “two words”, has a space in it.",
        "word --tokenizer texts": "holds no tokeniser. Give a tokenizer.json, or vocab",
        "word --tokenizer missing.json": "missing.json: no such file or directory. Check the path",
        "word --tokenizer tokenizer.json/x.json": "not a directory",
        "word --tokenizer demo:xx": "There is no demo “xx”",
    },
    "train --vocab-size 300 --out out.json": {
        "": "give either --counts or --text",
        "--counts counts.tsv --text counts.tsv": "and not both",
        "--counts counts.tsv --pipeline plain": "needs a method",
        "--counts counts.tsv --column x": "--column names",
        "--counts counts.tsv --method lzw": "no method “lzw” of",
        "--counts counts.tsv --method bpe --special x": "--special does not go",
        "--counts counts.tsv --method 'bpe(threshold=1)'": "bpe has no parameter “threshold”",
        "--counts counts.tsv --method bpe --vocab-size 9": "no room for the 256",
        "--counts counts.tsv --method unigram --checkpoint c": "Unigram trains in one go",
        "--text texts/b.csv --method bpe --column title": "there is no column “title”",
        "--vocab-size many --counts counts.tsv": "Usage:",
        "--vocab-size -5 --counts counts.tsv": "no room for the 256 bytes",
        "--counts empty.json": "empty.json: no line is a word and a count",
        "--counts wordfreq:tlh": "wordfreq has no best word list for 'tlh'. Choose one of",
        "--counts counts.tsv --special ''": "The special token “” is empty or repeated",
        "--counts counts.tsv --special x --special x": "The special token “x” is empty or repeated",
        "--counts counts.tsv --special d": "The special token “d” is also a trained type",
        "--counts counts.tsv --special Ġdo": "The special token “Ġdo” is also a trained type",
        "--counts counts.tsv --out texts": "texts: is a directory.",
        "--counts counts.tsv --out types.txt/x.json": "Choose another place with --out.",
    },
    "vocabulary": {
        "--alpha 0": "above 0",
        "--list nonsense": "is not a figure",
        "--list renyi": "no list behind",
        "--parallel": "are for --corpus",
        "--corpus texts --frequencies wordfreq:en": "measures texts alone",
        "--corpus missing.txt": "no such file",
        "--corpus bad.txt": "line 2",
    },
    # What takes one reference joins several only if it is asked to.
    f"knockout --tokenizer demo:en {ON_BOTH}": {"": "names 2 references … --join"},
    f"rebpe --tokenizer demo:en {ON_BOTH}": {
        "--weights 1": "2 references and 1 weights",
        "--weights 1,x": "numbers separated by commas",
        "--weights 1,-1": "not above 0",
        "--weights 1,2 --join": "leave out --join",
        "--portable": "Leave out --portable",
    },
    "rebpe --tokenizer demo:en --reference demo:en": {"--weights 1": "several references"},
    f"compare --tokenizer demo:en {ON_BOTH}": {"": "names 2 references … --join"},
    # What is not a tokeniser here says what to do; nothing is looked up on a hub.
    **{f"{name} {OF_TYPES}": {"": NO_MERGES} for name in ("blame", "knockout", "rebpe", "compare")},
    f"score {OF_TYPES}": {"": NO_MERGES},
    "segment --tokenizer gpt2 word": {"": NO_FILE},
    "vocabulary --tokenizer gpt2": {"": NO_FILE},
    "knockout --tokenizer gpt2 --reference demo:en": {"": NO_FILE},
    "score --reference demo:en --tokenizer": {
        "openai-community/gpt2": f"openai-community/{NO_FILE}",
        "meta-llama/Llama-3.1-8B": 'AutoTokenizer.from_pretrained("meta-llama/Llama-3.1-8B")',
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
