"""What every command refuses: one message that says what to do, exit code 2, and no file."""

import shlex

import pytest
from refusals import expect

ON_BOTH = "gold.tsv morphs.tsv"
OF_TYPES = "types.txt demo:en"

REFUSED = {
    "compare demo:nl demo:nl": ["nope", "gold.tsv", "--out words.pdf"],
    "count texts --out o": ["--workers 2 --scheduler tcp://x:1"],
    "evaluate": [
        "",
        "demos --dry-run",
        "tiny.yaml",
        "tiny.yaml --out /proc/run",
        "own.yaml --out texts/run",
    ],
    "export --out out": [
        "demo:en --method picky",
        "demo:en --read format=celex",
    ],
    "rebpe demo:nl demo:nl": [
        "--threshold 1.5",
        "--set nope=1",
        "--set reify=maybe",
        "--threshold 0.4 --set threshold=0.3",
    ],
    "blame demo:nl demo:nl": ["--limit -1"],
    "knockout demo:nl demo:nl": ["--out types.txt"],
    "prune tokenizer.json": [
        "--count 2",
        "--by last",
        "--by last --count 1 --keep-script Latin",
        "--by script",
        "--by script --drop-script Elvish",
    ],
    "extend tokenizer.json --add 2": ["", "--from demo:en"],
    "score tokenizer.json gold.tsv": [
        "--set baseline=2",
        "--set resamples=99",
        "--out scores.pdf",
        "--by frequency",
        "--methods ,",
    ],
    "score demo:en": ["", "tokenizer.json"],
    "nope": [""],
    "segment": [
        "demo:en word --method bpe --samples 2",
        "demo:en word 'two words'",
        "demo:en word --gold demo:en",
    ],
    "train --vocab-size 300 --out out.json": [
        "bpe",
        "bpe counts.tsv --text counts.tsv",
        "bpe counts.tsv --column x",
        "unigram counts.tsv --special x",
        "unigram counts.tsv --checkpoint c",
        "bpe --vocab-size many counts.tsv",
        "bpe counts.tsv --special ''",
        "bpe counts.tsv --special d",
        "bpe counts.tsv --out texts",
    ],
    "vocabulary demo:en": ["--alpha 0", "--list renyi"],
    f"knockout demo:en {ON_BOTH}": [""],
    f"compare demo:en {ON_BOTH}": [""],
    f"knockout {OF_TYPES}": [""],
    "segment gpt2 word": [""],
}
"""Commands in `folder`, and options of theirs."""


def visible_files(folder):
    """All files but those that say how far a counting came."""
    return {path for path in folder.rglob("[!.]*") if path.is_file() and ".o." not in str(path)}


@pytest.mark.parametrize(
    ("command", "options"), [(command, each) for command in REFUSED for each in REFUSED[command]]
)
def test_it_is_refused(morphgraph, folder, command, options):
    before = visible_files(folder)
    run = morphgraph(*shlex.split(command), *shlex.split(options))
    assert (run.code, run.out) == (2, "")
    if "Usage:" not in run.err:  # which is the command's help, as wide as the terminal
        expect(run.err.splitlines()[-1])
    assert visible_files(folder) == before
